"""Statements that write records have their line in the audit log, accepted or not, and a read-only server refuses them."""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.facades.doors import RIGHTS, USERS, basic, write_passwords
from treaty.api.application import ServerParts, build_application
from treaty.api.audit_log import AuditFile, AuditLog
from treaty.api.protection import ProtectionSettings, open_protection
from treaty.assemble import open_node
from treaty.client.kafka.producer import OutgoingRecord
from treaty.core.messages.metastore.deleted_topics import LeaseTopics
from treaty.core.messages.metastore.runners import AcquireRunner, AssignQueries, QueryPart, ReleaseRunner
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal
from treaty.core.registry import CallOptions
from treaty.core.sources import Source
from treaty.metastore.records.destinations import RecordDestinations, RecordsUncertainError
from treaty.metastore.records.steps import RecordDestination

STATEMENTS = "/metastore/v1/statements"
MADE = """
CREATE TABLE lines (id BIGINT PRIMARY KEY, name STRING) WITH (CONNECTOR = 'files', PATH = 'lines', VALUE_FORMAT = 'AVRO');
CREATE STREAM topical (id BIGINT KEY, name STRING) WITH (KAFKA_TOPIC = 'records', VALUE_FORMAT = 'AVRO')
"""
ROOT, READER = basic("root"), basic("reader")
LINES = {"source": "lines", "path": "lines"}

Asked = tuple[dict[str, str], dict[str, Any]]
"""The headers of who asks, and the body."""


class UncertainDestination:
    """No acknowledgement comes."""

    def write(self, source: Source, records: Sequence[OutgoingRecord]) -> str:
        raise RecordsUncertainError("may have been written")

    def close(self) -> None:
        """Close nothing."""


async def run(
    folder: Path, asked: Sequence[Asked], destination: RecordDestination, *, read_only: bool = False
) -> list[int]:
    """The statuses of requests in their order, of a server over a registry that has the sources."""
    write_passwords(folder / "passwords", **dict.fromkeys(USERS, "secret"))
    (folder / "rights.toml").write_text(RIGHTS)
    statuses = []
    async with open_node("memory:") as node:
        for settings in (
            ProtectionSettings(),
            ProtectionSettings(folder / "rights.toml", folder / "audit.jsonl", read_only),
        ):
            async with open_protection(settings) as active:
                app = build_application(node, protection=active, parts=ServerParts(destination=destination))
                transport = httpx2.ASGITransport(app=app.dispatcher)
                async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
                    for who, body in asked if settings else [({}, {"sql": MADE})]:
                        got = await http.post(STATEMENTS, json=body, headers=who)
                        statuses.append(got.status_code)
    return statuses[1:]


def lines_of(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]
    for line in lines:
        assert line.pop("time").endswith("+00:00")
        assert line.pop("request")
        line.pop("sequence", None)
    return lines


@pytest.mark.parametrize(
    ("sql", "line"),
    [
        ("INSERT INTO lines VALUES (1, 'a'), (2, 'b')", LINES | {"kind": "insert-records", "records": 2, "outcome": "done"}),
        ("UPDATE Lines SET name = 'c' WHERE id = 1", LINES | {"kind": "update-records", "records": 1, "outcome": "done"}),
        ("DELETE FROM lines WHERE id = 1", LINES | {"kind": "delete-records", "records": 1, "outcome": "done"}),
        ("INSERT INTO lines VALUES (1, 2)", LINES | {"kind": "insert-records", "records": 1, "outcome": "refused", "rule": "VALUE_UNFIT"}),
        ("INSERT INTO lines (x) VALUES (1)", LINES | {"kind": "insert-records", "records": 1, "outcome": "refused", "rule": "COLUMN_UNKNOWN"}),
        ("INSERT INTO nowhere VALUES (1)", {"source": "nowhere", "kind": "insert-records", "records": 1, "outcome": "refused", "rule": "SOURCE_NOT_FOUND"}),
        ("INSERT INTO topical VALUES (1, 'a')", {"source": "topical", "topic": "records", "kind": "insert-records", "records": 1, "outcome": "not now"}),
    ],
)  # fmt: skip
def test_each_statement_has_a_line(tmp_path: Path, sql: str, line: dict[str, object]) -> None:
    with closing(RecordDestinations(files=tmp_path)) as destination:
        (status,) = asyncio.run(run(tmp_path, [(ROOT | {"Treaty-Command": "c1"}, {"sql": sql})], destination))
    assert (status == 200) is (line["outcome"] == "done")
    assert lines_of(tmp_path) == [{"principal": "user:root", "command": "c1", **line}]


def test_of_a_script_each_statement_has_a_line_and_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    sql = "INSERT INTO lines VALUES (1, 'a'); SHOW STREAMS; DELETE FROM lines WHERE id = 1"
    with closing(RecordDestinations(files=tmp_path)) as destination:
        asked: list[Asked] = [(ROOT, {"sql": sql, "dryRun": True}), (ROOT, {"sql": sql})]
        assert asyncio.run(run(tmp_path, asked, destination)) == [200, 200]
    assert [(one["kind"], one["outcome"]) for one in lines_of(tmp_path)] == [
        ("insert-records", "unchanged"), ("delete-records", "unchanged"), ("insert-records", "done"), ("delete-records", "done"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("who", "read_only", "rule"), [(READER, False, "RIGHTS"), (ROOT, True, "READ_ONLY"), (READER, True, "RIGHTS")]
)
def test_what_is_refused_before_it_is_looked_at_has_a_line_and_writes_nothing(
    tmp_path: Path, who: dict[str, str], *, read_only: bool, rule: str
) -> None:
    asked = [
        (who, {"sql": sql})
        for sql in ("INSERT INTO lines VALUES (1, 'a')", "UPDATE lines SET name = 'c' WHERE id = 1", "DELETE FROM lines WHERE id = 1")
    ]  # fmt: skip
    with closing(RecordDestinations(files=tmp_path)) as destination:
        assert (
            asyncio.run(run(tmp_path, asked, destination, read_only=read_only))
            == [403 if rule == "RIGHTS" else 409] * 3
        )
    assert not (tmp_path / "lines").exists()
    assert [(one["outcome"], one["rule"], one["source"]) for one in lines_of(tmp_path)] == [
        ("refused", rule, "lines")
    ] * 3


def test_a_write_that_nobody_knows_of_is_unknown(tmp_path: Path) -> None:
    asked = [(ROOT, {"sql": "INSERT INTO topical VALUES (1, 'a')"})]
    assert asyncio.run(run(tmp_path, asked, UncertainDestination())) == [504]
    (line,) = lines_of(tmp_path)
    assert (line["outcome"], line["topic"]) == ("unknown", "records")


def test_changes_of_sources_and_types_are_named(tmp_path: Path) -> None:
    sql = "CREATE TYPE Point AS INT; DROP STREAM topical; UNDROP STREAM topical; ALTER TABLE lines SET PROTECTED = true; PAUSE lines"
    with closing(RecordDestinations(files=tmp_path)) as destination:
        asyncio.run(run(tmp_path, [(ROOT, {"sql": sql})], destination))
    assert [(one["kind"], one.get("source") or one.get("type")) for one in lines_of(tmp_path)] == [
        ("create-type", "Point"), ("drop-source", "topical"), ("undrop-source", "topical"), ("change-source", "lines"),
        ("set-source-state", "lines"),
    ]  # fmt: skip


def test_a_change_of_a_name_has_both_names(tmp_path: Path) -> None:
    rename, swap = "ALTER STREAM topical RENAME TO other", "ALTER STREAM other SWAP WITH lines"
    with closing(RecordDestinations(files=tmp_path)) as destination:
        asked: list[Asked] = [(ROOT, {"sql": rename}), (ROOT, {"sql": swap, "atomic": True})]
        assert asyncio.run(run(tmp_path, asked, destination)) == [200, 200]
    renamed, swapped = lines_of(tmp_path)
    assert (renamed["source"], renamed["rename"]) == ("topical", "other")
    assert swapped["members"] == [{"kind": "change-source", "name": "other", "swap": "lines"}]


def test_leases_and_assignments_are_named(tmp_path: Path) -> None:
    """What is done with a lease says whose it is, also where it is refused."""
    lines = AuditFile(tmp_path / "audit.jsonl")
    part = QueryPart("lines", 3)
    requests: list[tuple[Request[Any], dict[str, object]]] = [
        (AcquireRunner("r1", "h"), {"runner": "r1", "epoch": 0}),
        (ReleaseRunner("r1", 5), {"runner": "r1", "epoch": 5}),
        (AssignQueries("r1", 5, take=(part,)), {"runner": "r1", "take": [{"source": "lines", "generation": 3, "part": "query"}], "release": []}),
        (LeaseTopics("main", "h", begin=("t",)), {"cluster": "main", "holder": "h", "begin": ["t"], "gone": []}),
    ]  # fmt: skip

    async def ask() -> None:
        async with open_node("memory:") as node:
            log = AuditLog(node, lines)
            for request, _ in requests:
                with contextlib.suppress(Refusal):
                    await log.record_command(request, CallOptions(), node.ask)

    lines.open()
    asyncio.run(ask())
    lines.close()
    written = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert len(written) == len(requests)
    for (_, members), line in zip(requests, written, strict=True):
        assert line.items() >= members.items()


def test_a_script_of_one_commit_has_one_line_with_its_commands(tmp_path: Path) -> None:
    """One of many commands is decided outside of the event loop."""
    many = "; ".join(f"CREATE TYPE t{n} AS INT" for n in range(100))
    sql = "CREATE TYPE Point AS INT; ASSERT SCHEMA SUBJECT 'records-value'; ALTER TABLE lines SET PROTECTED = true"
    with closing(RecordDestinations(files=tmp_path)) as destination:
        asked: list[Asked] = [(ROOT, {"sql": text, "atomic": True}) for text in (sql, many)]
        asked.append((READER, {"sql": "CREATE TYPE u AS INT; DROP TYPE nosuch", "atomic": True}))
        assert asyncio.run(run(tmp_path, asked, destination)) == [200, 200, 403]
    first, second, third = lines_of(tmp_path)
    assert (first["kind"], first["outcome"], third["rule"]) == ("run-script", "done", "RIGHTS")
    assert first["members"] == [
        {"kind": "create-type", "name": "Point"},
        {"kind": "assert-schema", "subject": "records-value", "id": 0},
        {"kind": "change-source", "name": "lines"},
    ]
    assert len(second["members"]) == 100
