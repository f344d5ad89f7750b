"""Pages of queries and of the processes of a registry: how each is, why, and where more of it is told."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.pages.browser import PageBrowser
from tests.pages.conftest import Tell
from tests.pages.registry import add_query
from treaty.core.messages.groups import GroupSettings
from treaty.core.messages.metastore.query_feed import AssignedPart, FedQuery, FedRunner
from treaty.core.messages.metastore.runners import AcquireRunner, AssignQueries, QueryPart, ReleaseRunner
from treaty.core.messages.metastore.sources import DescribeSource, SetSourceState
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.messages.transfers import ImportSubject
from treaty.core.names import Subject
from treaty.core.sources import PAUSED, Incarnation, QueryPlan, Source
from treaty.web.pages.operator import list_members
from treaty.web.pages.page import LeadingNode, PageRequest, PageViewer, ServerFacts
from treaty.web.pages.sources import list_revisions, list_states
from treaty.web.pages.templates import status_link

QUERY = Source("STREAM", "mails", "", (), 7, query=Incarnation(7, 1, QueryPlan("SELECT 1")))
RUNNER = FedRunner("r1", 3, "h", "http://runner.example:9000/")


def test_a_query_is_running_waiting_lost_or_paused() -> None:
    held = (AssignedPart("query", "r1", 3),)
    for fed, runners, words in (
        (FedQuery(QUERY, held), {"r1": RUNNER}, [("query", "running", "http://runner.example:9000/status")]),
        (FedQuery(QUERY), {"r1": RUNNER}, [("query", "waiting", "")]),
        (FedQuery(QUERY, held), {}, [("query", "lost", "")]),
        (FedQuery(replace(QUERY, desired=PAUSED)), {}, [("query", "paused", "")]),
        (FedQuery(replace(QUERY, query=None, origin="x"), (AssignedPart("bad", "r1", 3),)), {"r1": RUNNER},
         [("bad", "running", "http://runner.example:9000/status")]),
    ):  # fmt: skip
        assert [(one.part, one.word, one.address) for one in list_states(fed, runners)] == words


def test_revisions_of_a_query_are_the_newest_first() -> None:
    former = tuple(Incarnation(7, revision, QueryPlan("SELECT 1")) for revision in (3, 2, 1))
    now = replace(QUERY, query=Incarnation(7, 4, QueryPlan("SELECT 1")), previous=former)
    assert [one.revision for one in list_revisions(now)] == [4, 3, 2, 1]
    assert list_revisions(replace(now, query=None)) == ()


def test_an_address_that_a_browser_should_not_open_is_no_link() -> None:
    for address in (
        "javascript:alert(1)",
        "java\nscript:alert(1)",
        "",
        "runner:80",
        "//x",
        "http://",
        "http://[",
        "data:x",
    ):
        assert status_link(address) == "", address
    assert status_link("https://a.example:1/") == "https://a.example:1/status"


def test_queries_are_listed_with_their_states_and_a_source_has_its_revisions_and_bad_rows(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await add_query(browser.registry)
        page = await browser.see("queries")
        assert "source?name=mails" in page.links
        assert "source?name=orders" in page.links, "what it reads"
        assert "waiting" in page.text
        assert "No runner is registered" in page.text
        await browser.registry.ask(SetSourceState("mails", PAUSED))
        source = await browser.see("source", name="mails")
        assert "RESUME mails continues it" in source.text
        assert "Checkpoint since" in source.text
        assert source.text.count("SELECT buyer . mail FROM STREAM orders") == 1
        sql = "CREATE STREAM flights (a INT) WITH (TOPIC='flights', VALUE_FORMAT='AVRO', BAD_ROWS='true');"
        await browser.post("/metastore/v1/statements", {"sql": sql})
        assert "source?name=flights_bad" in (await browser.see("source", name="flights")).links
        bad = await browser.see("source", name="flights_bad")
        assert "waiting" in bad.text
        assert "source?name=flights" in bad.links

    tell(story)


def test_a_query_that_a_runner_has_is_running_until_the_runner_goes(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await add_query(browser.registry)
        query = (await browser.registry.ask(DescribeSource("mails"))).answer.source
        lease = (await browser.registry.ask(AcquireRunner("r1", "holder", "http://runner.example:9000"))).answer
        part = QueryPart("mails", query.generation, "query")
        await browser.registry.ask(AssignQueries("r1", lease.epoch, (part,)))
        for page in (await browser.see("queries"), await browser.see("source", name="mails")):
            assert "Runner r1 has it" in page.text
            assert "http://runner.example:9000/status" in page.links
        assert "runner r1" in (await browser.see("node")).text
        await browser.registry.ask(ReleaseRunner("r1", lease.epoch))
        assert "No runner has it" in (await browser.see("source", name="mails")).text

    tell(story)


@contextmanager
def runner_that_says(status: Callable[[], object]) -> Iterator[str]:
    """The address of a program that answers `/status` with what a function returns, while the block runs."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/status" else 404)
            self.end_headers()
            self.wfile.write(json.dumps(status()).encode())

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_numbers_and_bad_rows_by_reason_are_those_of_the_runner(tell: Tell) -> None:
    said: list[object] = [None]

    async def story(browser: PageBrowser) -> None:
        await add_query(browser.registry)
        query = (await browser.registry.ask(DescribeSource("mails"))).answer.source
        with runner_that_says(lambda: said[0]) as address:
            lease = (await browser.registry.ask(AcquireRunner("r1", "holder", address))).answer
            part = QueryPart("mails", query.generation, "query")
            await browser.registry.ask(AssignQueries("r1", lease.epoch, (part,)))
            numbers = {
                "part": "query",
                "generation": query.generation,
                "rows_in": 12_345,
                "rows_out": 12_300,
                "lag_records": 7,
            }
            bad = {"DECODE": 40, "<script>alert(1)</script>\u202e": 5, "text": "many", "true": True, "much": 1 << 70}
            other = {**numbers, "generation": query.generation + 1, "rows_in": 99_999}
            said[0] = {"name": "r1", "queries": [{**numbers, "bad": bad, "batches": 2, "batch_ms": 1_250}, other, 3]}
            for page in (await browser.see("queries"), await browser.see("source", name="mails")):
                assert "12,345 rows in, 12,300 out, 7 behind, last batch 1.2 s." in page.text
                assert "Bad rows: 40 DECODE, 5 <script>alert(1)</script>" in page.text
                assert "99,999" not in page.text
                assert "many" not in page.text
                assert "\u202e" not in page.text
            for said[0] in (
                {"queries": 3},
                [1],
                {"queries": [{"part": 3}, {"part": "query", "rows_in": -1}]},
                "x" * 5_000_000,
            ):
                page = await browser.see("queries")
                assert "Runner r1 has it" in page.text
                assert "rows in" not in page.text
        assert "Runner r1 has it" in (await browser.see("queries")).text, "it does not answer"

    tell(story)


def test_subjects_are_filtered_by_the_api_that_made_them(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        await browser.register("plain", '"string"')
        await browser.registry.ask(SetMode(Scope("."), "IMPORT", force=True))
        await browser.registry.ask(ImportSubject(Subject(".", "sensors"), GroupSettings("pravega")))
        await browser.registry.ask(SetMode(Scope("."), "READWRITE"))
        await browser.register("sensors", '"string"')
        for origin, names in (
            ("pravega", ["sensors"]),
            ("confluent", ["plain"]),
            ("iglu", []),
            ("", ["plain", "sensors"]),
        ):
            page = await browser.see("subjects", origin=origin)
            assert [one for one in page.links if one.startswith("subject?")] == [f"subject?name={one}" for one in names]
        assert (await browser.see("subjects", origin="else")).status == 400

    tell(story)


def test_home_and_node_show_the_other_processes_to_administrators(tell: Tell) -> None:
    async def story(browser: PageBrowser) -> None:
        async def find_leader() -> LeadingNode:
            return LeadingNode("https://other.example:8081")

        workers = {"0": {"sequence": 4.0}, "1": {"sequence": 3.0, "read_only": 1.0}, "2": {"trouble": 1.0}}
        facts = ServerFacts("1", lambda: None, workers=lambda: workers, leader=find_leader)
        members = await list_members(PageRequest(browser.registry, PageViewer(), facts, {}))
        assert [(one.name, one.health, one.address) for one in members] == [
            ("this node", "ok", "node"),
            ("worker 0", "ok", ""),
            ("worker 1", "warn", ""),
            ("worker 2", "bad", ""),
            ("another node", "ok", "https://other.example:8081/readyz"),
        ]
        assert "Works: reads and writes." in (await browser.see("node")).text

    tell(story)
