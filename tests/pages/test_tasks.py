"""Questions that people come with: each is answered on a page, a few clicks from Home."""

import re
from itertools import pairwise

from tests.pages.browser import PageBrowser, SeenPage
from tests.pages.conftest import Tell
from tests.pages.registry import add_query
from tests.pages.test_query_pages import runner_that_says
from treaty.core.messages.metastore.runners import AcquireRunner, AssignQueries, QueryPart
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.web.pages.column_readers import ColumnReaders
from treaty.web.pages.page import ROWS
from treaty.web.schemas.texts import show_text

USER = '{"type": "record", "name": "U", "fields": [{"name": "order", "type": "Order"}]}'


def cells(page: SeenPage, column: str) -> dict[str, str]:
    """Return the cells of a column of the first table of a page that has it, by the text of the first cell."""
    table = next(part for part in page.html.split("<table")[1:] if f"<th>{column}</th>" in part).partition("</table>")[
        0
    ]
    head, *rows = (re.split("<t(?=[hd][ >])", row)[1:] for row in table.split("<tr")[1:])
    at = next(place for place, cell in enumerate(head) if cell.startswith(f"h>{column}<"))
    return {text_of(row[0]): text_of(row[at]) for row in rows if len(row) > at}


def text_of(cell: str) -> str:
    """Return the text of a cell whose beginning was cut off."""
    return "".join(part.partition(">")[2] for part in f"<t{cell}".split("<")).strip()


def test_who_reads_this_field(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await add_query(browser.registry)
        assert cells(await browser.see("source", name="orders"), "Read by") == {"id": "", "buyer": "mails"}
        fields = cells(await browser.see("schema", subject="orders-value"), "Read by")
        assert fields == {"id": "", "buyer": "mails", "mail": "mails", "age": ""}
        links = (await browser.see("source", name="mails")).links
        assert "source?name=orders" in links
        assert "schema?subject=orders-value&version=1" in (await browser.see("source", name="orders")).links

    tell(story)


def test_who_reads_this_field_and_when_it_last_did(tell: Tell) -> None:
    status: dict[str, object] = {}

    async def story(browser: PageBrowser) -> None:
        await add_query(browser.registry)
        orders = (await browser.registry.ask(DescribeSource("orders"))).answer.source
        query = (await browser.registry.ask(DescribeSource("mails"))).answer.source
        read = {"source": "orders", "generation": orders.generation, "columns": ["buyer.mail"]}
        pages = "source?name=orders", "schema?subject=orders-value"
        with runner_that_says(lambda: status) as address:
            lease = (await browser.registry.ask(AcquireRunner("r1", "holder", address))).answer
            part = QueryPart("mails", query.generation, "query")
            await browser.registry.ask(AssignQueries("r1", lease.epoch, (part,)))
            for reads, words in (
                (
                    [{**read, "rows": 12_345, "time": 1_764_400_000_000}],
                    "mails 12,345 rows, last read 2025-11-29 07:06 UTC",
                ),
                ([{**read, "rows": None, "time": 1_764_400_000_000}], "mails last read 2025-11-29 07:06 UTC"),
                ([{**read, "rows": 0, "time": 0}], "mails has read no row yet"),
                ([{**read, "generation": orders.generation + 1, "rows": 7, "time": 0}], "mails"),
                ([3, {"generation": -1}, {"rows": 1}], "mails"),
                ("many", "mails"),
            ):
                status["queries"] = [{"part": "query", "generation": query.generation, "reads": reads}]
                for page in pages:
                    readers = cells(await browser.follow(page), "Read by")
                    assert readers["buyer"] == words, (page, reads)
                    assert readers["id"] == ""
        for page in pages:
            assert cells(await browser.follow(page), "Read by")["buyer"] == "mails", "the runner is gone"

    tell(story)


def test_a_query_may_be_called_as_a_member_of_what_a_template_looks_into(tell: Tell) -> None:
    name = "items"

    async def story(browser: PageBrowser) -> None:
        await add_query(browser.registry, name)
        for page in ("source?name=orders", "schema?subject=orders-value", "graph?source=orders"):
            seen = await browser.follow(page)
            assert f"source?name={name}" in seen.html, page
            assert "graph" in page or cells(seen, "Read by")["buyer"] == name

    tell(story)


def test_fields_of_lists_and_maps_are_met_by_their_paths() -> None:
    readers = ColumnReaders({("lines", "element", "price"): ["a"], ("tags", "value"): ["b"], ("whole",): ["c"]})
    assert readers.of(["lines"]) == readers.of(["Lines", "price"]) == ("a",)
    assert readers.of(["lines", "count"]) == ()
    assert readers.of(["tags"]) == ("b",)
    assert readers.of(["whole", "part"]) == ("c",)


def test_may_i_delete_this(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await add_query(browser.registry)
        await browser.register("free", '"string"')
        reference = [{"name": "Order", "subject": "orders-value", "version": 1}]
        for address, words in (
            ({"name": "free"}, "Nobody uses it"),
            ({"name": "orders-value"}, "It is used"),
            ({"name": "orders-value", "version": 1}, "It is used"),
        ):
            page = await browser.see("delete", **address)
            assert words in page.text
            assert page.links.count("source?name=orders") == ("orders-value" in address.values())
        await browser.register("user", USER, references=reference)
        for address in ({"name": "orders-value"}, {"name": "orders-value", "version": 1}):
            page = await browser.see("delete", **address)
            assert "It would be refused" in page.text
            assert "schema?subject=user&version=1" in page.links
            assert (await browser.send("delete", page.hidden())).status == 422, "and it is"
        assert (await browser.send("delete", (await browser.see("delete", name="user")).hidden())).status == 200
        soft = await browser.send("delete", (await browser.see("delete", name="orders-value")).hidden())
        assert soft.status == 200, "a soft deletion is taken, as the page said"
        page = await browser.see("delete", name="orders-value")
        assert "for good" in page.text
        assert "It would be refused" in page.text
        assert (await browser.send("delete", page.hidden())).status == 422

    tell(story)


def test_a_deletion_of_many_versions_says_which_were_looked_at(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await browser.http.put("/config/many", json={"compatibility": "NONE"})
        for number in range(ROWS + 2):
            await browser.register("many", f'{{"type": "enum", "name": "E", "symbols": ["s{number}"]}}')
        assert "the 2 oldest versions were not looked at" in (await browser.see("delete", name="many")).text
        assert "not looked at" not in (await browser.see("delete", name="many", version=1)).text

    tell(story)


def test_what_changed_last_week(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        names = [f"s{number:03}" for number in range(230)]
        for name in names:
            where = "" if int(name[1:]) % 3 else ":.other:"
            await browser.register(where + name, f'{{"type": "enum", "name": "E", "symbols": ["{name}"]}}')
        await add_query(browser.registry)
        page, pages, seen = await browser.see("changes", days=7), 0, list[str]()
        while True:
            pages += 1
            rows = [one for one in page.links if one.startswith(("schema?", "source?"))]
            assert len(rows) <= 2 * ROWS
            seen += rows
            following = [one for one in page.links if "before=" in one]
            if not following:
                break
            page = await browser.follow(following[0])
        assert (len(seen), len(set(seen)), pages) == (233, 233, 3)
        newest = [one for one in seen if "=s" in one or "%3As" in one]
        numbers = [int(one.partition("&")[0][-3:]) for one in newest]
        assert all(one > other - 25 for one, other in pairwise(numbers)), (
            "newest first, but for those of one millisecond"
        )
        assert (await browser.see("changes", before="x")).status == 400
        assert (await browser.see("changes", days=-1)).status == 400

    tell(story)


def test_what_changed_in_this_version_and_why_there_is_no_version_4(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await browser.register("e", '{"type": "record", "name": "E", "fields": []}')
        await browser.register(
            "e", '{"type": "record", "name": "E", "fields": [{"name": "n", "type": "int", "default": 1}]}'
        )
        page = await browser.follow("changes")
        (link,) = [one for one in page.links if one.startswith("compare?")]
        assert "e version 1" in (await browser.follow(link)).text
        assert "try" in (await browser.see("schema", subject="e", version=4)).links

    tell(story)


def test_a_text_has_as_many_lines_as_were_written() -> None:
    for format_, text in (
        ("AVRO", '{"a":\n1}'),
        ("SQL", "SELECT 1\nFROM x"),
        ("PROTOBUF", "message A {}\n"),
        ("TEXT", "a\n\nb"),
    ):
        shown = show_text(format_, text, lambda line: line)  # type: ignore[arg-type, return-value]
        assert len(shown.lines) == len(text.splitlines()), format_
