"""A real Chromium drives the pages: no script of a page is refused, nothing is wider than a phone, axe finds nothing serious."""

import json
import shutil
import time
import urllib.error
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.pages.registry import ADDRESSES, SQL, list_registrations, post
from tests.real.running import Running, serving

SCHEMES = ("light", "dark")
SHARE = ("compare", "schema")
"""Pages that `make test` shows in a browser; the soak shows all."""
LEFT_OUT = ("raw", "pause")
"""A text without a page, and a page that the registry of these tests has no query for."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("pages")
    with serving(folder, "--log", f"sqlite://{folder / 'log.db'}") as running:
        for subject, body in list_registrations():
            post(running, f"/subjects/{subject}/versions", body)
        post(running, "/metastore/v1/statements", {"sql": SQL})
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert path, "no Chromium is installed: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def open_page(chromium: Browser, *, width: int = 1280, scheme: str = "light", scripts: bool = True) -> Page:
    context = chromium.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
        java_script_enabled=scripts,
        timezone_id="Asia/Kathmandu",
    )
    return context.new_page()


def listen(page: Page, faults: list[str]) -> None:
    """Remember what the browser complains of: an error of a script, or something that the policy does not allow."""
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))


def check_pages(chromium: Browser, server: Running, names: tuple[str, ...]) -> None:
    for scheme in SCHEMES:
        page, faults = open_page(chromium, scheme=scheme), list[str]()
        listen(page, faults)
        narrow = open_page(chromium, width=360, scheme=scheme)
        for name in names:
            address = f"{server.base}/ui/{ADDRESSES[name]}"
            page.goto(address)
            found = Axe().run(page).response["violations"]
            assert not [
                (one["id"], one["nodes"][0]["target"]) for one in found if one["impact"] in {"serious", "critical"}
            ], name
            narrow.goto(address)
            assert narrow.evaluate("document.documentElement.scrollWidth") <= 360, name
        assert not faults
        page.context.close()
        narrow.context.close()


def test_some_pages_in_a_browser(chromium: Browser, server: Running) -> None:
    check_pages(chromium, server, SHARE)


@pytest.mark.soak
def test_every_page_in_a_browser(chromium: Browser, server: Running) -> None:
    check_pages(chromium, server, tuple(name for name in ADDRESSES if name not in LEFT_OUT))


def test_times_are_in_the_zone_of_the_reader_and_in_utc_without_scripts(chromium: Browser, server: Running) -> None:
    page, plain = open_page(chromium), open_page(chromium, scripts=False)
    for one in (page, plain):
        one.goto(f"{server.base}/ui/subject?name=flights-value")
    assert page.locator("time").first.get_attribute("datetime") == plain.locator("time").first.get_attribute("datetime")
    assert plain.locator("time").first.inner_text().endswith("UTC")
    assert page.locator("time").first.get_attribute("title") == plain.locator("time").first.inner_text()
    assert not page.locator("time").first.inner_text().endswith("UTC")


def test_the_keyboard_alone_leads_everywhere(chromium: Browser, server: Running) -> None:
    page = open_page(chromium)
    page.goto(f"{server.base}/ui/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_change_is_tried_shown_and_made(chromium: Browser, server: Running, scripts: bool) -> None:  # noqa: FBT001
    page = open_page(chromium, scripts=scripts)
    subject = f"tried-{scripts}"
    page.goto(f"{server.base}/ui/try")
    page.fill("input[name=subject]", subject)
    page.fill(
        "textarea[name=text]", json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]})
    )
    page.click("text=Try it")
    assert "It would be accepted" in page.inner_text("#verdict")
    page.click("text=Register it")
    assert f"treaty schema register {subject}" in page.inner_text("pre")
    page.click("text=Yes, do it")
    assert page.inner_text("h1") == f"{subject} version 1"
    page.click("text=Try a change >> nth=-1")
    page.fill(
        "textarea[name=text]", json.dumps({"type": "record", "name": "R", "fields": [{"name": "b", "type": "int"}]})
    )
    page.click("text=Try it")
    assert "It would be refused" in page.inner_text("#verdict")
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in page.inner_text(".sides")


def test_the_five_questions_are_answered_in_a_few_clicks(chromium: Browser, server: Running) -> None:
    page, clicks = open_page(chromium), dict[str, int]()

    def ask(question: str, *steps: str) -> None:
        page.goto(f"{server.base}/ui/")
        for step in steps:
            page.click(step)
        clicks[question] = len(steps)

    page.goto(f"{server.base}/ui/")
    wait_for_search(server)
    page.fill(".find input", "field:*mail*")
    page.press(".find input", "Enter")
    page.click("text=flights-value")
    assert "PII" in page.inner_text("table.fields"), "which subjects have a field with an e-mail address?"
    assert "Read by" in page.inner_text("table.fields"), "who reads this field?"
    ask("why was it refused?", "text=Why is my schema refused?")
    page.fill("input[name=subject]", "flights-value")
    page.fill(
        "textarea[name=text]",
        json.dumps({"type": "record", "name": "Flight", "fields": [{"name": "gate", "type": "int"}]}),
    )
    page.click("button:has-text('Try it')")
    assert "It would be refused" in page.inner_text("#verdict")
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in page.inner_text("main")
    ask("may I delete this?", "text=May I delete this?", "main >> text=money", "main >> text=Delete")
    assert "It would be refused" in page.inner_text("main")
    ask("what changed last week?", "text=What changed last week?", "text=what changed >> nth=0")
    assert "FIELD_ADDED" in page.inner_text("main")
    assert max(clicks.values()) <= 3
    page.context.close()


def wait_for_search(server: Running) -> None:
    """Wait until the index of a server has what was registered."""
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        try:
            if server.get("/treaty/v1/search?q=field:delay")["hits"]:
                return
        except urllib.error.HTTPError:
            pass
        time.sleep(0.2)
    pytest.fail("the search index has not come up to date in 30 s")
