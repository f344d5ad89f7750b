"""Hostile schemas on every page: nothing of them becomes an element, nothing breaks, everything is shown."""

import json
from collections.abc import Mapping, Sequence

import pytest

from tests.pages.browser import PageBrowser
from tests.pages.conftest import Tell

SCRIPT = (
    "</code></textarea><script>alert(1)</script><svg onload=alert(2)><style>*{}</style>\"'><img src=x onerror=alert(3)>"
)
BIDI = "pay\u202eload\u200b\u2066x\ufeff\u00ad"


def record(
    doc: str = "", fields: Sequence[object] = ({"name": "a", "type": "int"},), more: Mapping[str, object] | None = None
) -> str:
    return json.dumps({"type": "record", "name": "R", "doc": doc, "fields": fields, **(more or {})})


def nest(depth: int) -> str:
    inner: object = "int"
    for level in range(depth):
        inner = {"type": "record", "name": f"N{level}", "fields": [{"name": "n", "type": inner}]}
    return json.dumps(inner)


SCHEMAS: dict[str, tuple[str, str]] = {
    "script in docs": ("AVRO", record(doc=SCRIPT, fields=[{"name": "a", "type": "string", "doc": SCRIPT, "default": SCRIPT}])),
    "script in members": ("AVRO", record(more={SCRIPT: SCRIPT, "confluent:tags": [SCRIPT]})),
    "script in symbols": ("AVRO", record(fields=[{"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A"], "doc": SCRIPT}, "confluent:tags": [SCRIPT]}])),
    "script in names": ("JSON", json.dumps({"type": "object", "title": SCRIPT, "properties": {SCRIPT: {"type": "string", "description": SCRIPT, "enum": [SCRIPT], "default": SCRIPT}}})),
    "script in comments": ("PROTOBUF", f'syntax = "proto3"; // {SCRIPT}\nmessage M {{ string s = 1; }}'),
    "bidirectional": ("AVRO", record(doc=BIDI, fields=[{"name": "a", "type": "string", "doc": BIDI}])),
    "control characters": ("JSON", json.dumps({"type": "object", "properties": {"\x01\x7f\x1b[31m": {"type": "string"}}})),
    "template words": ("AVRO", record(doc="{{ 7*7 }} {% raw %} ${x}")),
    "long doc": ("AVRO", record(doc="d" * 900_000)),
    "many fields": ("AVRO", record(fields=[{"name": f"f{n}", "type": "int"} for n in range(9_000)])),
    "deep": ("AVRO", nest(60)),
    "recursive": ("AVRO", record(fields=[{"name": "r", "type": ["null", "R"], "default": None}])),
    "json true": ("JSON", "true"),
    "huge numbers": ("JSON", '{"type": "number", "minimum": -1e400, "maximum": 123456789012345678901234567890.50}'),
}  # fmt: skip
ALLOWED = frozenset({
    "a", "b", "bdi", "body", "br", "button", "code", "col", "colgroup", "datalist", "dd", "defs", "details", "div", "dl", "dt", "footer", "form", "g", "h1", "h2",
    "head", "header", "html", "input", "label", "li", "link", "main", "marker", "meta", "nav", "ol", "option", "p", "path", "pre", "rect", "script",
    "section", "select", "span", "summary", "svg", "table", "tbody", "td", "text", "textarea", "th", "thead", "time", "title", "tr", "ul",
})  # fmt: skip
UNSEEN = ("\u202e", "\u200b", "\u2066", "\ufeff", "\u00ad", "\x01", "\x1b")


async def check_pages(browser: PageBrowser, subject: str) -> None:
    pages = [
        await browser.see("subjects"),
        await browser.see("subject", name=subject),
        await browser.see("schema", subject=subject, version=1),
        await browser.see("schema", subject=subject, version=2),
        await browser.see("compare", left=f"{subject}@1", right=f"{subject}@2"),
        await browser.see("graph", subject=subject),
        await browser.see("try", subject=subject),
        await browser.see("register", subject=subject),
        await browser.see("delete", name=subject),
        await browser.see("policy", name=subject),
        await browser.see("changes"),
        await browser.see(""),
    ]
    for page in pages:
        parsed = page.parsed
        assert page.status == 200, (page.address, page.text[:300])
        assert {tag for tag, _ in parsed.elements} <= ALLOWED, page.address
        assert sum(tag == "script" for tag, _ in parsed.elements) == 1, page.address
        assert not [
            members for _, members in parsed.elements if any(one.startswith("on") or one == "style" for one in members)
        ]
        assert not parsed.faults, page.address
        shown = page.html if "<textarea" not in page.html else page.html.partition("<textarea")[0]
        values = [value for _, members in parsed.elements for value in members.values()]
        for one in UNSEEN:
            assert one not in shown or any(one in value for value in values), (page.address, hex(ord(one)))
        assert len(page.html) < 2_500_000, page.address


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_hostile_schema_is_shown_and_does_nothing(tell: Tell, name: str) -> None:
    async def story(browser: PageBrowser) -> None:
        format_, text = SCHEMAS[name]
        subject = "plain-value"
        await browser.http.put(f"/config/{subject}", json={"compatibility": "NONE"})
        other = {"AVRO": '"int"', "JSON": "{}", "PROTOBUF": 'syntax = "proto3"; message M { int32 i = 1; }'}[format_]
        await browser.register(subject, other, schemaType=format_)
        await browser.register(subject, text, schemaType=format_)
        await check_pages(browser, subject)

    tell(story)


@pytest.mark.parametrize(
    "subject",
    [SCRIPT, '" onfocus=alert(1) x="', "a&b=c#d?e", "a/b\\c", "  blanks  ", "{{ 7*7 }}", "x" * 3000, "%2e%2e/%00"],
)
def test_a_hostile_name_of_a_subject_is_shown_and_does_nothing(tell: Tell, subject: str) -> None:
    async def story(browser: PageBrowser) -> None:
        for schema in ('"int"', '"long"'):
            await browser.register(subject, schema)
        await check_pages(browser, subject)
        page = await browser.see("subject", name=subject)
        assert subject.strip() in "".join(page.parsed.texts)

    tell(story)


def test_the_whole_text_is_behind_a_link(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        text = record(doc="d" * 900_000)
        await browser.register("a", text)
        page = await browser.see("schema", subject="a", version=1)
        assert len(page.html) < 1_000_000
        raw = await browser.follow(next(link for link in page.links if link.startswith("raw?")))
        assert json.loads(raw.html) == json.loads(text)
        assert raw.headers["content-type"].startswith("text/plain")

    tell(story)
