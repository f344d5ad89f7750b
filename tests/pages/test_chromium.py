"""A real Chromium drives the pages: no script of a page is refused, nothing is wider than a phone, axe finds nothing serious."""

import json
import shutil
import time
import urllib.error
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.pages.registry import ADDRESSES, SQL, list_registrations, post
from tests.real.running import Running, serving

pytestmark = pytest.mark.browser

SCHEMES = ("light", "dark")
SHARE = ("compare", "schema")
"""Pages that `make test` shows in a browser; the soak shows all."""
LEFT_OUT = ("raw", "pause")
"""A text without a page, and a page that the registry of these tests has no query for."""

GUIDE = Path(__file__).parents[2] / "docs/howto/pages.md"


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


class CountedVisit:
    """A visit that begins at Home; every press of a link or a button counts, writing into a field and Enter do not."""

    def __init__(self, page: Page, server: Running) -> None:
        self.page = page
        self.clicks = 0
        page.goto(f"{server.base}/ui/")

    def click(self, *steps: str) -> None:
        for step in steps:
            self.page.click(step)
            self.clicks += 1

    def search(self, text: str) -> None:
        self.page.fill(".find input", text)
        self.page.press(".find input", "Enter")
        self.page.wait_for_selector("text=Fields that fit")


def read_clicks() -> dict[str, int]:
    """The questions of the documentation, with the clicks that it says."""
    lines = GUIDE.read_text(encoding="utf-8").partition("| question | way from Home | clicks |\n")[2].splitlines()[1:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in takewhile(bool, lines)]
    return {question: int(clicks) for question, _, clicks in rows}


def test_the_five_questions_are_answered_in_as_many_clicks_as_the_documentation_says(
    chromium: Browser, server: Running
) -> None:
    page, clicks = open_page(chromium), list[int]()
    wait_for_search(server)
    visit = CountedVisit(page, server)
    visit.search("field:*mail*")
    assert "flights-value" in page.inner_text("main"), "which subjects have a field with an e-mail address?"
    clicks.append(visit.clicks)
    visit = CountedVisit(page, server)
    visit.click("text=Why is my schema refused?")
    page.fill("input[name=subject]", "flights-value")
    changed = {"type": "record", "name": "Flight", "fields": [{"name": "gate", "type": "int"}]}
    page.fill("textarea[name=text]", json.dumps(changed))
    visit.click("button:has-text('Try it')")
    assert "It would be refused" in page.inner_text("#verdict")
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in page.inner_text("main")
    clicks.append(visit.clicks)
    visit = CountedVisit(page, server)
    visit.search("field:mail")
    visit.click("main >> text=flights-value")
    assert "Read by" in page.inner_text("table.fields"), "who reads this field?"
    clicks.append(visit.clicks)
    visit = CountedVisit(page, server)
    visit.click("text=May I delete this?", "main >> text=money", "main >> text=Delete")
    assert "It would be refused" in page.inner_text("main")
    clicks.append(visit.clicks)
    visit = CountedVisit(page, server)
    visit.click("text=What changed last week?")
    assert "version 2, AVRO" in page.inner_text("main")
    clicks.append(visit.clicks)
    assert clicks == [*read_clicks().values()]
    visit.click("text=what changed >> nth=0")
    assert "FIELD_ADDED" in page.inner_text("main")
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
