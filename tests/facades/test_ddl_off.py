"""A server with --ddl off: statements of clients that change sources and types are refused through every API, and nothing else is."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.facades.doors import basic, door, opened
from treaty.api.auth.authorization import CHANGING_COMMANDS
from treaty.api.protection import ProtectionSettings
from treaty.core.declarations.metastore import DECLARED

STATEMENTS = "/metastore/v1/statements"
STREAM = "CREATE STREAM s (a INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')"


@pytest.mark.parametrize(
    ("sql", "members", "status"),
    [
        (STREAM, {}, 403),
        (STREAM, {"dryRun": True}, 200),
        ("CREATE TYPE t AS INT", {}, 403),
        ("DROP STREAM s", {}, 403),
        ("DROP TYPE t", {}, 403),
        ("UNDROP STREAM s", {}, 403),
        ("PAUSE s", {}, 403),
        ("ALTER STREAM s SET PROTECTED = true", {}, 403),
        ("CREATE TYPE t AS INT", {"atomic": True}, 403),
        ("CREATE TYPE t AS INT", {"atomic": True, "dryRun": True}, 200),
        ("CREATE STREAM q AS SELECT a FROM s", {}, 403),
        ("CREATE TABLE q AS SELECT a, count(*) AS n FROM s GROUP BY a", {}, 403),
        ("SHOW STREAMS", {}, 200),
    ],
)
def test_statements_that_change_something_are_refused(sql: str, members: dict[str, Any], status: int) -> None:
    async def run() -> None:
        async with door(ProtectionSettings(ddl=False)) as opened:
            answer = await opened.http.post(STATEMENTS, json={"sql": sql, **members})
            assert answer.status_code == status
            assert (answer.json().get("code") == "DDL_OFF") is (status == 403)

    asyncio.run(run())


def test_every_command_of_the_metastore_is_refused_but_those_of_planners_and_runners() -> None:
    """What they plan was asked for by somebody whose command was let in, such as the server itself for its project."""
    theirs = {
        "take-planning-job", "finish-planning-job", "withdraw-plan", "acquire-runner", "release-runner", "assign-queries", "lease-topics",
    }  # fmt: skip
    refused = {operation.name for operation in DECLARED if operation.request in CHANGING_COMMANDS}
    assert refused | theirs == {operation.name for operation in DECLARED if operation.writes}
    assert not refused & theirs


def test_schemas_are_registered_all_the_same_and_the_native_path_is_no_way_round() -> None:
    async def run() -> None:
        async with door(ProtectionSettings(ddl=False)) as opened:
            registered = await opened.http.post("/subjects/s-value/versions", json={"schema": '"string"'})
            assert registered.status_code == 200
            asked = {"operation": "create-type", "request": {"name": "t", "definition": "INT"}}
            answer = await opened.http.post("/treaty/v1/ask", json=asked)
            assert answer.status_code == 403
            assert "--ddl off" in answer.text
            assert (await opened.http.get("/metastore/v1/types")).json()["types"] == []
            asked["request"] = {"name": "t", "definition": "INT", "importer": True}
            refused = await opened.http.post("/treaty/v1/ask", json=asked)
            assert refused.status_code == 403, "whoever says that they import is no importer"
            assert "--ddl import" in refused.text

    asyncio.run(run())


def test_an_import_is_taken_where_the_server_says_so_and_nothing_else_is() -> None:
    async def run() -> None:
        async with door(ProtectionSettings(ddl=False, imports=True)) as opened:
            asked: dict[str, Any] = {"operation": "create-type", "request": {"name": "t", "definition": "INT"}}
            refused = await opened.http.post("/treaty/v1/ask", json=asked)
            assert (refused.status_code, "started with --ddl import" in refused.text) == (403, True)
            asked["request"]["importer"] = True
            assert (await opened.http.post("/treaty/v1/ask", json=asked)).status_code == 200

    asyncio.run(run())


def test_with_rights_an_import_is_taken_of_who_may_import(tmp_path: Path) -> None:
    extra = '[[rule]]\nwho = ["user:writer"]\nmay = ["register"]\nsources = ["*"]\n'

    async def run() -> None:
        async with opened(tmp_path, extra, ddl=False) as door_:
            statuses = []
            for name, importer in (("writer", True), ("root", False), ("root", True)):
                request = {"name": "t", "definition": "INT", "importer": importer}
                asked = {"operation": "create-type", "request": request}
                answer = await door_.http.post("/treaty/v1/ask", json=asked, headers=basic(name))
                statuses.append(answer.status_code)
            assert statuses == [403, 403, 200]

    asyncio.run(run())
