"""Every page over a small registry: it answers, it is well formed, its links lead somewhere, its headers are strict."""

import pytest

from tests.pages.browser import BROWSER, PageBrowser, open_pages
from tests.pages.conftest import Tell
from tests.pages.registry import ADDRESSES, SQL, list_registrations
from treaty.core.messages.groups import GroupSettings
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.messages.transfers import ImportSubject, ImportVersion
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.registry import find_formats
from treaty.web.pages.application import PAGES
from treaty.web.schemas.fields import read_notes

LEGACY = '{"type": "record", "name": "L", "fields": [{"name": "a", "type": "int"}]}'


async def fill(browser: PageBrowser) -> None:
    for subject, body in list_registrations():
        await browser.post(f"/subjects/{subject}/versions", body)
    await browser.post("/metastore/v1/statements", {"sql": SQL})


def test_each_page_has_an_address_here() -> None:
    assert ADDRESSES.keys() == PAGES.keys()


def test_every_page_is_well_formed_and_every_link_leads_to_a_page(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await fill(browser)
        waiting, seen = [*ADDRESSES.values()], set[str]()
        while waiting:
            address = waiting.pop()
            if address in seen or address.startswith(("../", "#", "http")):
                continue
            seen.add(address)
            page = await browser.follow(address)
            assert page.status == (409 if address.startswith("pause?") else 200), (address, page.text)
            if address.startswith("raw?"):
                continue
            parsed = page.parsed
            assert not parsed.faults, address
            assert not parsed.open, address
            identifiers = [members["id"] for _, members in parsed.elements if "id" in members]
            assert len(identifiers) == len(set(identifiers)), address
            assert not [
                tag
                for tag, members in parsed.elements
                if "style" in members or any(one.startswith("on") for one in members)
            ]
            assert sum(tag == "h1" for tag, _ in parsed.elements) == 1, address
            waiting += [link.partition("#")[0] for link in page.links if not link.startswith("#")]
        assert len(seen) > len(ADDRESSES)

    tell(story)


def test_headers_allow_nothing_from_elsewhere_and_no_script_inside_a_page(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        for address in ("", "nope", "static/nope.js", "schema?id=5"):
            page = await browser.follow(address)
            policy = page.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert page.headers["x-content-type-options"] == "nosniff"
            assert page.headers["x-frame-options"] == "DENY"
        home = await browser.see("")
        assert "no-cache" in home.headers["cache-control"]
        files = [
            members[name]
            for tag, members in home.parsed.elements
            for name in ("href", "src")
            if tag in {"link", "script"} and name in members
        ]
        assert len(files) == 3
        for file in files:
            answer = await browser.follow(file)
            assert (answer.status, "immutable" in answer.headers["cache-control"]) == (200, True), file

    tell(story)


JAVA = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"


@pytest.mark.parametrize(
    ("accept", "status", "location"),
    [(BROWSER, 303, "ui/"), (JAVA, 303, "/docs"), ("*/*", 200, ""), ("application/json", 200, ""), ("", 200, "")],
)
def test_the_root_leads_a_browser_to_the_pages_and_programs_to_what_they_ask_for(
    tell: Tell, accept: str, status: int, location: str
) -> None:
    async def story(browser: PageBrowser) -> None:
        answer = await browser.http.get("/", headers={"accept": accept})
        assert (answer.status_code, answer.headers.get("location", "")) == (status, location)

    tell(story)


def test_every_address_in_a_page_is_relative_so_that_a_prefix_of_a_proxy_does_no_harm(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await fill(browser)
        for address in ADDRESSES.values():
            page = await browser.follow(address)
            addresses = [
                members[name]
                for tag, members in page.parsed.elements
                for name in ("href", "src", "action")
                if name in members and tag not in {"svg", "use"}
            ]
            assert not [one for one in addresses if one.startswith("/") or ":" in one.partition("?")[0]], address
        for path in ("/", "/ui"):
            answer = await browser.http.get(path, headers={"accept": BROWSER})
            assert answer.headers["location"] == "ui/"

    tell(story)


def test_pages_can_be_turned_off(tmp_path: object) -> None:
    async def story(browser: PageBrowser) -> None:
        assert (await browser.http.get("/", headers={"accept": BROWSER})).headers["location"] == "/docs"
        assert (await browser.http.get("/ui/")).status_code == 404

    open_pages(tmp_path, story, pages=False)  # type: ignore[arg-type]


def test_lists_are_paged_by_the_server(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        names = {f"s{number:03}" for number in range(120)}
        for name in sorted(names):
            await browser.register(name, '"string"')
        page, seen = await browser.see("subjects"), list[str]()
        for _ in range(3):
            rows = [link for link in page.links if link.startswith("subject?")]
            assert len(rows) <= 50
            seen += [link.partition("=")[2] for link in rows]
            following = [link for link in page.links if "after=" in link]
            page = await browser.follow(following[0]) if following else page
        assert seen == sorted(names)

    tell(story)


def test_a_subject_shows_its_own_versions_deleted_ones_among_them_and_an_alias_those_of_another(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await fill(browser)
        await browser.post("/subjects/old/versions", {"schema": '"string"'})
        await browser.post("/subjects/old/versions", {"schema": '"bytes"'})
        assert (await browser.http.delete("/subjects/flights-value/versions/2")).status_code == 200
        page = await browser.see("subject?name=flights-value")
        assert "flights-value Avro PII Latest schema" in page.text  # the tags of the latest live version
        assert "2 versions, 1 of them deleted" in page.text
        assert [link for link in page.links if link.startswith("schema?")] == [
            "schema?subject=flights-value&version=1",
            "schema?subject=flights-value&version=2",
            "schema?subject=flights-value&version=1",
            "schema?subject=money&version=1",
        ]
        assert (await browser.http.put("/config/old", json={"alias": "flights-value"})).status_code == 200
        alias = await browser.see("subject?name=old")
        assert "This name is an alias of flights-value" in alias.text
        assert [link for link in alias.links if link.startswith("schema?subject=old")] == []

    tell(story)


def test_what_is_not_there_says_so_and_what_would_be_allowed(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await browser.register("a", '"string"')
        for address, status, words in (
            ("subject?name=b", 404, "Not found"),
            ("schema?subject=a&version=9", 404, "Not found"),
            ("schema?id=99", 404, "Not found"),
            ("subject", 400, "names no subject"),
            ("schema?subject=a&version=x", 400, "is no number"),
            ("subjects?state=odd", 400, "live, all, deleted"),
            ("nothing", 404, "there is no page"),
        ):
            page = await browser.follow(address)
            assert page.status == status, address
            assert words in page.text

    tell(story)


def test_a_source_leads_to_the_version_that_it_is_bound_to_whatever_its_number(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        subject = subject_of("legacy-value")
        await browser.registry.ask(SetMode(Scope(subject.context), "IMPORT", force=True))
        await browser.registry.ask(ImportSubject(subject, GroupSettings("confluent")))
        await browser.registry.ask(ImportVersion(subject, Draft(LEGACY), 3, 41))
        await browser.registry.ask(SetMode(Scope(subject.context), "READWRITE"))
        sql = "CREATE STREAM legacy WITH (TOPIC='legacy', VALUE_FORMAT='AVRO', VALUE_SUBJECT='legacy-value')"
        await browser.post("/metastore/v1/statements", {"sql": sql})
        page = await browser.see("source", name="legacy")
        (link,) = {one for one in page.links if one.startswith("schema?")}
        assert "version=41" in link
        assert (await browser.follow(link)).status == 200

    tell(story)


def test_an_address_with_too_many_members_and_numbers_with_too_many_digits_are_bad_requests(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await browser.register("a", '"string"')
        page = await browser.follow("subjects?" + "a&" * 149 + "a")
        assert (page.status, "150 members, and a page takes 100" in page.text) == (400, True)
        token = (await browser.see("try")).hidden()["token"]
        for digits, statuses in ((11, {400}), (5_000, {400}), (10, {200, 400, 404, 422})):
            number = "9" * digits
            text = {"token": token, "subject": "a", "format": "AVRO", "text": '"int"', "references": f"N=a:{number}"}
            for name, form in (
                ("try", text),
                ("register", {**text, "confirmed": "yes"}),
                ("delete", {"token": token, "name": "a", "version": number, "confirmed": "yes"}),
            ):
                assert (await browser.send(name, form)).status in statuses, (name, digits)
        for name in ("schema?subject=a&version=", "delete?name=a&version=", "compare?right=a@1&left=a@"):
            assert (await browser.follow(name + "9" * 5_000)).status in {400, 422}, name

    tell(story)


def test_fields_of_a_referred_record_have_its_types_and_tags(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        buyer = '{"type": "record", "name": "Buyer", "namespace": "n", "fields": [{"name": "mail", "type": "string", "confluent:tags": ["PII"]}]}'
        await browser.register("buyer", buyer)
        order = '{"type": "record", "name": "Order", "namespace": "n", "fields": [{"name": "buyer", "type": "Buyer"}]}'
        await browser.register("order", order, references=[{"name": "n.Buyer", "subject": "buyer", "version": 1}])
        page = await browser.see("schema", subject="order")
        assert "mail string STRING StringType() no PII" in page.text

    tell(story)


def test_fields_of_messages_have_their_declared_types() -> None:
    text = """syntax = "proto3";
package acme;
message Parcel {
  string id = 1;
  repeated Stop stops = 2;
  map<string, Stop> by = 3;
  oneof x { Other y = 5; }
  message Stop { string city = 1; .acme.Parcel next = 2; }
}
message Other { int32 n = 1; }
"""
    form = find_formats().find("PROTOBUF")
    assert form is not None
    types = read_notes(form, ResolvedSchema("PROTOBUF", text)).types
    wanted = {
        "id": "string",
        "stops": "repeated Stop",
        "stops.city": "string",
        "by": "map<string, Stop>",
        "by.city": "string",
        "y": "Other",
        "y.n": "int32",
    }
    assert {path: types[path] for path in wanted} == wanted
