"""ASSERT SCHEMA waits for a schema to come or to go; and what needs what is one walk over pages."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from treaty import connect, connect_async
from treaty.client.connection import Connection
from treaty.core.messages.metastore.sources import ListDependents, ListSources
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import UsesOf
from treaty.core.messages.versions import GetVersion
from treaty.core.registry import CALL, CallOptions, Registry, Reply
from treaty.metastore import AsyncMetastore, Metastore
from treaty.metastore.execution.assertions import AssertFailedError

STREAM = "CREATE STREAM {0} (id BIGINT KEY, {1}) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"


class CountingRegistry:
    """Counts the questions of each kind, and does something at a question that is one of many."""

    def __init__(self, registry: Registry, at: int = -1, then: Any = None) -> None:
        self.registry = registry
        self.asked: list[type] = []
        self.at = at
        self.then = then

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        self.asked.append(type(request))
        if len(self.asked) == self.at:
            self.then()
        return self.registry.ask(request, call)

    def close(self) -> None:
        """Close nothing."""


@pytest.fixture
def one() -> Iterator[Connection]:
    with connect("memory:") as connection:
        yield connection


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("ASSERT SCHEMA SUBJECT 's' TIMEOUT 9 SECONDS", GetVersion),
        ("ASSERT SCHEMA SUBJECT 's' ID 1 TIMEOUT 9 SECONDS", UsesOf),
    ],
)
def test_an_assertion_holds_once_the_schema_is_there(one: Connection, sql: str, kind: type) -> None:
    counting = CountingRegistry(one.registry, 3, lambda: one.register("s", '"string"'))
    assert Metastore(counting).run_one(sql).message.endswith("exists")
    assert counting.asked == [kind] * 3


def test_an_assertion_that_a_schema_is_gone_holds_once_it_is(one: Connection) -> None:
    one.register("s", '"string"')
    counting = CountingRegistry(one.registry, 3, lambda: one.delete_subject("s"))
    assert (
        Metastore(counting)
        .run_one("ASSERT NOT EXISTS SCHEMA SUBJECT 's' TIMEOUT 9 SECONDS")
        .message.endswith("not exist")
    )


@pytest.mark.parametrize(
    ("timeout", "dry_run", "most"), [("0 SECONDS", False, 1), ("9 SECONDS", True, 1), ("100 MILLISECONDS", False, 3)]
)
def test_an_assertion_fails_at_the_end_of_its_time_and_a_dry_run_does_not_wait(
    one: Connection, timeout: str, *, dry_run: bool, most: int
) -> None:
    counting = CountingRegistry(one.registry)
    with pytest.raises(AssertFailedError):
        Metastore(counting).run(f"ASSERT SCHEMA SUBJECT 's' TIMEOUT {timeout}", dry_run=dry_run)
    assert len(counting.asked) == most


def test_a_coroutine_that_asserts_lets_others_run() -> None:
    async def run() -> None:
        async with connect_async("memory:") as it:
            waiting = asyncio.create_task(
                AsyncMetastore(it.registry).run("ASSERT SCHEMA SUBJECT 's' TIMEOUT 9 SECONDS")
            )
            await asyncio.sleep(0.02)
            await it.register("s", '"string"')
            assert (await waiting)[0].message == "A schema with subject s exists"

    asyncio.run(run())


def test_dependencies_are_asked_for_by_pages_and_not_by_sources(one: Connection) -> None:
    metastore = Metastore(one.registry)
    metastore.run("CREATE TYPE p AS INT; CREATE TYPE q AS ARRAY<p>")
    metastore.run("; ".join(STREAM.format(f"s{n}", "x q") for n in range(20)), atomic=True)
    counting = CountingRegistry(one.registry)
    rows = Metastore(counting).run_one("SELECT * FROM treaty.dependencies ORDER BY name").rows
    assert counting.asked.count(ListDependents) == 0
    assert counting.asked.count(ListSources) == 1
    assert rows[0] == ("q", "TYPE", "p", "TYPE", "refuses")
    assert {row for row in rows if row[0] == "s7"} == {
        ("s7", "SOURCE", "q", "TYPE", "refuses"),
        ("s7", "SOURCE", "s7-value version 1", "VERSION", "refuses"),
    }
