"""Changes from pages: each is shown with its command first, made when it is confirmed, and refused as the API refuses it."""

import json

from tests.pages.browser import PageBrowser
from tests.pages.conftest import Tell

V1 = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}'
V2 = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "string"}]}'


def test_a_version_is_registered_after_it_was_shown_with_its_command(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        start = await browser.see("register", subject="orders value")
        form = {**start.hidden(), "subject": "orders value", "format": "AVRO", "text": V1, "references": ""}
        shown = await browser.send("register", form)
        assert "treaty schema register 'orders value' 'orders value.avsc'" in shown.text
        assert (await browser.see("subject", name="orders value")).status == 404
        done = await browser.send("register", shown.hidden())
        assert (done.status, done.address) == (200, "http://test/ui/schema?subject=orders+value&version=1")
        refused = await browser.send("register", {**shown.hidden(), "text": V2})
        assert refused.status == 409
        assert "READER_FIELD_MISSING_DEFAULT_VALUE" in refused.text
        invalid = await browser.send("register", {**shown.hidden(), "text": '{"type": "record"}'})
        assert (invalid.status, "no valid schema" in invalid.text) == (422, True)

    tell(story)


def test_a_policy_is_set_and_unset(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await browser.register("a", V1)
        start = await browser.see("policy", name="a")
        shown = await browser.send("policy", {**start.hidden(), "level": "FULL"})
        assert "treaty config set a --level FULL" in shown.text
        assert "this subject in force FULL" in (await browser.send("policy", shown.hidden())).text
        unset = await browser.send("policy", {**start.hidden(), "level": ""})
        assert "--unset level" in unset.text
        assert "this subject not set" in (await browser.send("policy", unset.hidden())).text

    tell(story)


def test_a_version_and_a_subject_are_deleted_softly_and_then_for_good(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await browser.register("a", V1)
        await browser.post("/subjects/a/versions", {"schema": V1.replace("int", "long")})
        shown = await browser.see("delete", name="a", version=1)
        assert "treaty schema delete a 1" in shown.text
        assert "softly" in shown.text
        assert (await browser.send("delete", shown.hidden())).status == 200
        shown = await browser.see("delete", name="a", version=1)
        assert "for good" in shown.text
        assert (await browser.send("delete", shown.hidden())).status == 200
        assert (await browser.see("schema", subject="a", version=1)).status == 404
        assert (await browser.send("delete", (await browser.see("delete", name="a")).hidden())).status == 200
        shown = await browser.see("delete", name="a")
        assert "--permanent" in shown.text
        assert (await browser.send("delete", shown.hidden())).status == 200
        assert (await browser.see("subject", name="a")).status == 404

    tell(story)


def test_trying_writes_nothing_and_says_what_would_come_of_it(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await browser.register("a", V1)
        user = {"type": "record", "name": "U", "fields": [{"name": "r", "type": "R"}]}
        await browser.register("user", json.dumps(user), references=[{"name": "R", "subject": "a", "version": 1}])
        before = (await browser.http.get("/status")).json()["node"]["sequence"]
        form = {**(await browser.see("try", subject="a")).hidden(), "subject": "a", "format": "AVRO", "references": ""}
        refused = await browser.send("try", {**form, "text": V2})
        assert "It would be refused" in refused.text
        assert "READER_FIELD_MISSING_DEFAULT_VALUE" in refused.text
        assert 'href="subject?name=user"' in refused.html
        accepted = await browser.send("try", {**form, "text": V2.replace('"string"}', '"string", "default": ""}')})
        assert "It would be accepted" in accepted.text
        assert "It is there already, as version 1" in (await browser.send("try", {**form, "text": V1})).text
        assert "no valid schema" in (await browser.send("try", {**form, "text": "{"})).text
        sql = await browser.send(
            "try-sql", {**form, "sql": "CREATE STREAM s (a BIGINT) WITH (TOPIC='t', VALUE_FORMAT='AVRO');"}
        )
        assert "would be carried out" in sql.text
        assert "would be refused" in (await browser.send("try-sql", {**form, "sql": "DROP STREAM nothing;"})).text
        assert (await browser.http.get("/status")).json()["node"]["sequence"] == before

    tell(story)


def test_a_server_that_is_read_only_says_so(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        shown = await browser.send(
            "register", {**(await browser.see("register")).hidden(), "subject": "a", "format": "AVRO", "text": V1}
        )
        assert "--read-only" in (await browser.send("register", shown.hidden())).text

    tell(story, read_only=True)
