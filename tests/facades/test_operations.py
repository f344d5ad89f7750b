"""What those who run a server see of it: lines for requests, ids, limits by name, answers that are compressed, `/status`."""

import asyncio
import gzip
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Message, Scope

from tests.facades.peers import PLAIN, running
from tests.facades.twin import SCHEMA, TOKEN, Fixed
from treaty.api import http_server
from treaty.api.application import ServerApplication, build_application
from treaty.api.bodies import accepts_gzip
from treaty.api.confluent.server import LEVEL
from treaty.cli.logging_setup import JsonFormatter, TextFormatter
from treaty.core.limits import GZIP_BYTES, REQUEST_BYTES
from treaty.core.messages.listings import ListSubjects, Subjects
from treaty.core.messages.schemas import GetSchema, SchemaFound
from treaty.core.state import values
from treaty.core.state.commit import Position
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.tables import DictTables
from treaty.distribution import VERSION
from treaty.node.segment.layered import LayeredTables
from treaty.node.status import StoredCounts

NAMES = tuple(f"orders-{number}-value" for number in range(1000))
FEW = NAMES[: GZIP_BYTES // 32]


# ------------------------------------------------------------------------------------------------------------ lines


def accessed(caplog: pytest.LogCaptureFixture) -> list[Any]:
    """The members of the lines about requests."""
    return [vars(record)["members"] for record in caplog.records if record.name == "treaty.access"]


def test_a_line_for_each_request_where_lines_are_wanted(http: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    http.get("/subjects", headers={"X-Request-ID": "r0"})
    assert accessed(caplog) == []
    with caplog.at_level(logging.INFO, "treaty.access"):
        http.get("/subjects?deleted=true", headers={"X-Request-ID": "r1"})
        http.get("/subjects/a%0Ab/versions/x")
        http.request("BREW", "/pot")
    lines = accessed(caplog)
    assert [(one["method"], one["path"], one["route"], one["status"]) for one in lines] == [
        ("GET", "/subjects", "/subjects", 200),
        ("GET", "/subjects/a%0Ab/versions/x", "/subjects/{}/versions/{}", 422),
        ("BREW", "/pot", "other", 404),
    ]
    assert [one["sequence"] for one in lines] == [TOKEN.sequence, None, None]
    assert all(one["ms"] > 0 for one in lines)


def test_lines_carry_the_id_of_their_request(member: Fixed) -> None:
    printed: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            printed.append(self.format(record))

    member.answers[ListSubjects] = ZeroDivisionError()
    http = TestClient(build_application(member).dispatcher, raise_server_exceptions=False)
    for formatter in (JsonFormatter(), TextFormatter("%(message)s%(request)s")):
        handler = Keeping()
        handler.setFormatter(formatter)
        root = logging.getLogger("treaty.api")
        root.addHandler(handler)
        try:
            http.get("/subjects", headers={"X-Request-ID": "r1"})
            root.error("between requests")
        finally:
            root.removeHandler(handler)
    first, between, third, last = printed
    told = json.loads(first)
    assert (told["request"], told["logger"], told["level"]) == ("r1", "treaty.api", "error")
    assert "ZeroDivisionError" in told["traceback"]
    assert "request" not in json.loads(between)
    assert third.splitlines()[0].endswith(" (request r1)")
    assert last == "between requests"


# ----------------------------------------------------------------------------------------------------------- limits


def test_one_client_leaves_room_for_others(member: Fixed) -> None:
    app = build_application(member)
    app.dispatcher.in_flight_by_client["testclient"] = app.dispatcher.in_flight_each
    http = TestClient(app.dispatcher)
    got = http.get("/subjects")
    assert (got.status_code, got.headers["retry-after"], got.json()["error_code"]) == (429, "1", 429)
    assert "limit IN_FLIGHT_EACH" in got.json()["message"]
    assert http.get("/readyz").status_code == 200
    assert TestClient(app.dispatcher, client=("other", 1)).get("/subjects").status_code == 200
    assert dict(app.dispatcher.in_flight_by_client) == {"testclient": app.dispatcher.in_flight_each}


def test_requests_are_given_back_however_they_end(member: Fixed) -> None:
    app = build_application(member)
    http = TestClient(app.dispatcher, raise_server_exceptions=False)
    member.answers[ListSubjects] = ZeroDivisionError()
    for path in ("/subjects", "/nowhere", "/schemas/ids/7"):
        http.get(path)
    assert (dict(app.dispatcher.in_flight_by_client), app.metrics.in_flight) == ({}, 0)


def test_limits_that_were_passed_are_named(member: Fixed) -> None:
    app = build_application(member)
    http = TestClient(app.dispatcher)
    large = http.post("/subjects/s", content=b" " * (REQUEST_BYTES + 1))
    assert large.status_code == 413
    assert "limit REQUEST_BYTES" in large.json()["message"]
    app.metrics.in_flight = 10_000
    busy = http.get("/subjects")
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
    assert "limit IN_FLIGHT)" in busy.json()["message"]


# ------------------------------------------------------------------------------------------------------ compression


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ("gzip, deflate", True),
        ("gzip, compress, deflate, br", True),
        ("GZIP;q=0.5", True),
        ("*", True),
        ("*;q=0.1, identity", True),
        ("", False),
        ("identity", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("x-gzip-not", False),
    ],
)
def test_who_takes_gzip(header: str, taken: bool) -> None:  # noqa: FBT001 (a row of a table)
    assert accepts_gzip(header) is taken


def fetched(app: ServerApplication, path: bytes, encoding: bytes) -> tuple[dict[bytes, bytes], bytes]:
    """An answer as it is on the wire, not unpacked by a client."""
    told: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        told.append(message)

    scope: Scope = {"type": "http", "method": "GET", "path": path.decode(), "raw_path": path, "query_string": b"",
                    "headers": [(b"accept-encoding", encoding)], "client": ("h", 1)}  # fmt: skip
    asyncio.run(app.dispatcher(scope, receive, send))
    return dict(told[0]["headers"]), b"".join(message.get("body", b"") for message in told[1:])


def test_large_answers_are_compressed_for_clients_that_take_it(member: Fixed) -> None:
    app = build_application(member)
    member.answers[ListSubjects] = Subjects(NAMES)
    headers, body = fetched(app, b"/subjects", b"gzip")
    assert (headers[b"content-encoding"], headers[b"vary"]) == (b"gzip", b"accept, accept-encoding")
    assert int(headers[b"content-length"]) == len(body) < GZIP_BYTES
    assert json.loads(gzip.decompress(body)) == list(NAMES)
    plain, whole = fetched(app, b"/subjects", b"identity")
    assert (plain.get(b"content-encoding"), plain[b"vary"]) == (None, b"accept, accept-encoding")
    assert json.loads(whole) == list(NAMES)
    member.answers[ListSubjects] = Subjects(FEW)
    small, _ = fetched(app, b"/subjects", b"gzip")
    assert not {b"content-encoding", b"vary"} & small.keys()


def test_huge_answers_are_compressed_aside(member: Fixed) -> None:
    member.answers[ListSubjects] = Subjects(NAMES * 20)
    _, body = fetched(build_application(member), b"/subjects", b"gzip")
    assert json.loads(gzip.decompress(body)) == list(NAMES * 20)


def test_hot_answers_are_kept_in_both_forms() -> None:
    async def story() -> None:
        async with running() as server:
            text = json.dumps({"type": "enum", "name": "E", "symbols": [f"S{number}" for number in range(3000)]})
            server.member.answers[GetSchema] = SchemaFound(7, SCHEMA.guid, "AVRO", text)
            peer = await server.connect()
            for _ in range(3):
                packed = await peer.ask(b"/schemas/ids/7", PLAIN + b"Accept-Encoding: gzip\r\n")
                plain = await peer.ask(b"/schemas/ids/7")
                assert json.loads(gzip.decompress(packed.partition(b"\r\n\r\n")[2]))["schema"] == text
                assert json.loads(plain.partition(b"\r\n\r\n")[2])["schema"] == text
            assert (server.app.cache.hits, len(server.member.asked)) == (4, 2)
            await peer.close()

    asyncio.run(story())


# --------------------------------------------------------------------------------------------------------- the end


def test_what_takes_longer_than_the_server_waits_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "DRAIN_SECONDS", 0.2)

    async def story() -> None:
        async with running() as server:
            never = asyncio.Event()
            monkeypatch.setattr(server.member, "ask", lambda *_: never.wait())
            read, write = await server.connect(), await server.connect()
            read.writer.write(b"GET /subjects HTTP/1.1\r\n" + PLAIN + b"\r\n")
            write.writer.write(b"POST /subjects/s HTTP/1.1\r\n" + PLAIN + b"Content-Length: 2\r\n\r\n{}")
            while server.app.metrics.in_flight < 2:  # noqa: ASYNC110 (a number has no event)
                await asyncio.sleep(0.01)
            server.stopping.set()
            assert (await read.answer()).startswith(b"HTTP/1.1 503 ")
            told = await write.answer()
            assert told.startswith(b"HTTP/1.1 504 ")
            assert b"may have been written" in told
            await read.close()
            await write.close()

    asyncio.run(story())


# ----------------------------------------------------------------------------------------------------------- status


def test_status_tells_of_the_server(http: TestClient) -> None:
    first = http.get("/status").json()["server"]
    time.sleep(0.01)
    later = http.get("/status").json()["server"]
    assert (first["version"], first["apiLevel"]) == (VERSION, LEVEL)
    assert later["uptimeSeconds"] > first["uptimeSeconds"] >= 0
    assert list(http.get("/status").json()) == ["server", "node", "worker", "workers", "limits"]


@pytest.mark.parametrize("make", [DictTables, lambda: LayeredTables(small=0)], ids=["dictionaries", "a segment"])
def test_what_is_kept_is_counted(make: Callable[[], DictTables | LayeredTables]) -> None:
    tables = make()
    assert StoredCounts.of(tables) == StoredCounts(0, 0, 0, 1)
    rows = [Row("subject", (".", name), values.SubjectValue(1)) for name in ("a", "b")]
    rows += [Row("context", (name,), values.Context()) for name in (".x", ".y")]
    tables.load([encode_row(one) for one in rows], Position(b"i" * 16, 1, bytes(32)))
    assert StoredCounts.of(tables) == StoredCounts(2, 0, 0, 3)
    later = [Row("subject", (".", "a"), None), Row("context", (".",), values.Context()), Row("context", (".x",), None)]
    tables.apply([encode_row(one) for one in later], Position(b"i" * 16, 2, bytes(32)))
    assert StoredCounts.of(tables) == StoredCounts(1, 0, 0, 2)
