"""Rights: pages show what the API shows, to whom it does; sessions, forms, and what ends them."""

import re
from collections.abc import Mapping

import pytest

from tests.facades.doors import basic, write_passwords
from tests.pages.browser import BROWSER, PageBrowser
from tests.pages.conftest import Tell

RULES = """
[[rule]]
who = "user:root"
may = "admin"
contexts = "*"
private = true

[[rule]]
who = "user:ada"
may = ["read", "register", "delete", "config"]
subjects = ["open-*"]

[[rule]]
who = "user:eve"
may = ["read"]
subjects = ["open-*"]
"""
ANYBODY = "anonymous = true\n"
ROOT, ADA, EVE = basic("root"), basic("ada"), basic("eve")
RECORD = '{"type":"record","name":"R","fields":[{"name":"secret_field","type":"S"}]}'
NAMED = '{"type":"record","name":"S","fields":[{"name":"shut_inside","type":"int"}]}'


async def fill(browser: PageBrowser) -> None:
    await browser.register("open-a", '"string"', ROOT)
    await browser.register("shut-s", NAMED, ROOT)
    await browser.register("open-r", RECORD, ROOT, references=[{"name": "S", "subject": "shut-s", "version": 1}])
    await browser.register("shut-user", RECORD, ROOT, references=[{"name": "S", "subject": "shut-s", "version": 1}])
    await browser.register("shut-a", '"string"', ROOT)
    await browser.register(":.hidden:shut-z", '"long"', ROOT)
    sql = "CREATE STREAM shut_stream (shut_column BIGINT) WITH (TOPIC='shut-topic', VALUE_FORMAT='AVRO');"
    await browser.post("/metastore/v1/statements", {"sql": sql}, ROOT)


PAGES = [
    "", "subjects", "subjects?state=all", "subjects?q=shut", "subjects?context=.hidden", "changes", "sources", "queries", "types", "subjects?origin=confluent",
    "subject?name=open-a", "subject?name=open-r", "subject?name=shut-s", "subject?name=shut-nothing", "schema?subject=open-r",
    "schema?subject=open-a", "schema?subject=shut-s&version=1", "schema?id=2", "schema?id=99", "raw?subject=shut-s", "source?name=shut_stream",
    "graph?subject=open-r", "graph?subject=shut-s", "graph?source=shut_stream", "compare?left=open-a@1&right=shut-s@1",
    "compare?left=shut-s@1&right=shut-a@1", "try?subject=shut-s", "try?subject=open-r", "register?subject=shut-s", "policy?name=shut-s",
    "delete?name=shut-s", "delete?name=shut-s&version=1", "pause?name=shut_stream", "search?q=shut", "search?q=field:shut_inside", "node", "limits",
]  # fmt: skip


async def check_hidden_names(browser: PageBrowser, who: Mapping[str, str]) -> None:
    """No page shows a name that the address did not have, or a text, of what may not be read."""
    for address in PAGES:
        page = await browser.follow(address, who)
        assert page.status in {200, 400, 401, 403, 404, 409}, (address, page.text)
        for word in (
            "shut_inside",
            "shut_column",
            "shut-topic",
            "shut-user",
            ".hidden",
            "shut-z",
            "shut-s",
            "shut_stream",
            "shut-a",
        ):
            if word not in address and not (
                word == "shut-s" and "open-r" in address
            ):  # the text of open-r names what it refers to
                assert word not in page.html.replace(re.escape(address), ""), (address, word)


@pytest.mark.parametrize("who", [ADA, EVE], ids=["ada", "eve"])
def test_no_page_shows_what_may_not_be_read(tell: Tell, who: dict[str, str]) -> None:
    async def story(browser: PageBrowser) -> None:
        await fill(browser)
        await check_hidden_names(browser, who)

    tell(story, rights=RULES)


def test_what_may_not_be_read_and_what_is_not_there_look_alike(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await fill(browser)
        for pattern in (
            "subject?name={}",
            "schema?subject={}&version=1",
            "graph?subject={}",
            "raw?subject={}",
            "try?subject={}",
        ):
            shut = await browser.follow(pattern.format("shut-s"), EVE)
            missing = await browser.follow(pattern.format("shut-x"), EVE)
            assert (shut.status, shut.text.replace("shut-s", "shut-x")) == (missing.status, missing.text), pattern
        assert (
            (await browser.follow("schema?id=2", EVE)).status
            == (await browser.follow("schema?id=77", EVE)).status
            == 404
        )

    tell(story, rights=RULES)


def test_administrators_see_all_of_it(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await fill(browser)
        seen = [
            (await browser.follow(address, ROOT)).html
            for address in ("subjects", "sources", "subject?name=shut-s", "node")
        ]
        assert all(name in seen[0] for name in ("shut-s", "shut-user", ".hidden"))
        assert "shut_stream" in seen[1]
        assert "shut-user" in seen[2]
        assert "state root" in seen[3].lower()

    tell(story, rights=RULES)


def test_who_has_no_credentials_is_asked_for_them_on_a_page(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        page = await browser.see("subject", name="open-a")
        assert page.status == 401
        assert "www-authenticate" not in page.headers, "the browser would ask in a window of its own"
        assert page.hidden()["next"] == "subject?name=open-a"
        for path in ("/", "/ui", "/ui/some/where"):
            led = await browser.http.get(path, headers={"accept": BROWSER}, follow_redirects=True)
            assert (led.status_code, str(led.url)) == (401, "http://test/ui/"), (
                "addresses in a page are relative to this one"
            )
        assert (await browser.http.get("/subjects")).headers["www-authenticate"].startswith("Basic")

    tell(story, rights=RULES)


async def log_in(browser: PageBrowser, user: str, password: str = "secret", next_page: str = "") -> object:
    page = await browser.see("login")
    return await browser.send("login", {**page.hidden(), "user": user, "password": password, "next": next_page})


def test_a_session_lets_in_until_it_is_left(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await fill(browser)
        wrong = await browser.send(
            "login", {**(await browser.see("login")).hidden(), "user": "ada", "password": "guess"}
        )
        assert (wrong.status, "wrong" in wrong.text) == (401, True)
        page = await browser.send(
            "login",
            {
                **(await browser.see("login")).hidden(),
                "user": "ada",
                "password": "secret",
                "next": "subject?name=open-a",
            },
        )
        assert (page.status, page.address) == (200, "http://test/ui/subject?name=open-a")
        assert "user:ada" in page.text
        cookie = browser.http.cookies["treaty_session"]
        assert (await browser.http.get("/subjects")).status_code == 401, "the API takes no cookie"
        assert (await browser.http.get("/ui", follow_redirects=True)).status_code == 200
        assert (await browser.send("logout", page.hidden())).status == 200
        assert "treaty_session" not in browser.http.cookies
        assert (await browser.see("")).status == 401
        assert "." in cookie

    tell(story, rights=RULES)


@pytest.mark.parametrize("change", ["password", "rules", "forged", "user"])
def test_a_change_of_password_or_rules_ends_a_session(tell: Tell, change: str) -> None:
    async def story(browser: PageBrowser) -> None:
        await log_in(browser, "ada")
        assert (await browser.see("subjects")).status == 200
        if change == "password":
            write_passwords(browser.folder / "passwords", root="secret", ada="another", eve="secret")
        elif change == "user":
            write_passwords(browser.folder / "passwords", root="secret", eve="secret")
        elif change == "rules":
            path = browser.folder / "rights.toml"
            path.write_text(path.read_text().replace('subjects = ["open-*"]', 'subjects = ["other-*"]', 1))
        else:
            body, _, signature = browser.http.cookies["treaty_session"].partition(".")
            browser.http.cookies.clear()
            browser.http.cookies.set("treaty_session", f"{body[:-2]}AA.{signature}", domain="test")
        assert browser.authenticator is not None
        for _ in range(3):  # a file that may be in writing is read by a later look
            await browser.authenticator.refresh()
        assert (await browser.see("subjects")).status == 401

    tell(story, rights=RULES)


@pytest.mark.parametrize(
    "where",
    ["//evil.example/", "https://evil.example/", "/\\evil", "javascript:alert(1)", "../../x", "logout", "a?b c"],
)
def test_logging_in_leads_to_pages_of_this_server_alone(tell: Tell, where: str) -> None:
    async def story(browser: PageBrowser) -> None:
        page = await browser.see("login")
        form = {**page.hidden(), "user": "ada", "password": "secret", "next": where}
        answer = await browser.http.post("/ui/login", data=form, headers={"accept": BROWSER})
        assert (answer.status_code, answer.headers["location"]) == (303, "./")
        flags = answer.headers["set-cookie"].lower()
        assert "httponly" in flags
        assert "samesite=lax" in flags

    tell(story, rights=RULES)


def test_the_form_for_logging_in_is_valid_in_the_browser_that_was_shown_it_alone(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        form = {**(await browser.see("login")).hidden(), "user": "ada", "password": "secret"}
        flags = (await browser.http.get("/ui/login", headers={"cookie": ""})).headers["set-cookie"].lower()
        assert "treaty_visit=" in flags
        assert "httponly" in flags
        browser.http.cookies.clear()
        assert (await browser.send("login", form)).status == 403, "a browser that was not shown the form"
        await browser.see("login")
        assert (await browser.send("login", form)).status == 403, "a browser that was shown another form"
        assert "treaty_session" not in browser.http.cookies
        shown = (await browser.see("subjects")).hidden()
        assert (await browser.send("login", {**form, **shown})).status == 200

    tell(story, rights=RULES)


def test_a_form_of_another_site_or_of_another_person_is_refused(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await fill(browser)
        form = {"name": "open-a", "confirmed": "yes"}
        theirs = (await browser.see("delete", EVE, name="open-a")).hidden()["token"]
        mine = (await browser.see("delete", ADA, name="open-a")).hidden()["token"]
        assert (await browser.send("delete", form, ADA)).status == 403
        assert (await browser.send("delete", {**form, "token": theirs}, ADA)).status == 403
        assert (await browser.send("delete", {**form, "token": mine}, ADA, sec_fetch_site="same-site")).status == 403
        assert (await browser.send("delete", {**form, "token": mine}, ADA, sec_fetch_site="cross-site")).status == 403
        assert (await browser.see("subject", ADA, name="open-a")).status == 200
        assert (await browser.send("delete", {**form, "token": mine}, ADA, sec_fetch_site="same-origin")).status == 200
        assert (await browser.see("subject", ADA, name="open-a")).text.count("deleted")

    tell(story, rights=RULES)


def test_who_may_only_read_sees_no_button_and_is_refused(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await fill(browser)
        page = await browser.see("subject", EVE, name="open-a")
        assert not [one for one in page.links if one.startswith(("register?", "policy?", "delete?"))]
        assert (
            len(
                [
                    one
                    for one in (await browser.see("subject", ADA, name="open-a")).links
                    if one.startswith(("register?", "policy?", "delete?"))
                ]
            )
            == 3
        )
        token = (await browser.see("delete", EVE, name="open-a")).hidden()["token"]
        for form, name in (
            ({"subject": "open-a", "format": "AVRO", "text": '"string"', "confirmed": "yes"}, "register"),
            ({"name": "open-a", "level": "NONE", "confirmed": "yes"}, "policy"),
            ({"name": "open-a", "confirmed": "yes"}, "delete"),
            ({"name": "shut_stream", "state": "PAUSED", "confirmed": "yes"}, "pause"),
        ):
            assert (await browser.send(name, {**form, "token": token}, EVE)).status == 403, name

    tell(story, rights=RULES)
