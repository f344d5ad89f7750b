"""Versions that sources pin, read through blocking and asyncio registries: found, not found, and not now."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest

from tests.frames import record
from treaty.assemble import connect
from treaty.client.async_connection import run_exchange_async
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound, SchemaNotFound, SubjectNotFound, Unavailable, VersionNotFound
from treaty.core.registry import CALL, CallOptions, Exchange, Reply, run_exchange
from treaty.core.schema import Draft, Reference
from treaty.metastore.columns.from_schema import columns_of_schema
from treaty.metastore.columns.pins import PinnedVersion, find_latest_version, find_pinned_version, find_version_with_id

A = TypeVar("A")
S, OTHER = subject_of("t-value"), subject_of("other-value")
ONE, TWO = Draft(record(("a", "int"))), Draft(record(("a", "int"), ("b", "int", 0)))


class Awaited:
    """A registry for asyncio over a blocking one."""

    def __init__(self, registry: Connection) -> None:
        self.registry = registry

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        await asyncio.sleep(0)
        return self.registry.ask(request, call)

    async def close(self) -> None:
        self.registry.close()


class Away:
    """A registry that can't answer now."""

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        raise Unavailable("the log can't be read now")

    def close(self) -> None:
        return


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as found:
        yield found


Run = Callable[[Connection, Exchange[Any]], Any]


@pytest.fixture(params=["blocking", "asyncio"])
def run(request: pytest.FixtureRequest) -> Run:
    if request.param == "blocking":
        return run_exchange
    return lambda registry, exchange: asyncio.run(run_exchange_async(Awaited(registry), exchange))


def test_a_version_is_found_as_latest_by_number_and_by_id(registry: Connection, run: Run) -> None:
    first, second = (registry.ask(Register(S, draft)).answer.version for draft in (ONE, TWO))
    latest: PinnedVersion = run(registry, find_pinned_version(S))
    assert (latest.subject, latest.ordinal, latest.number, latest.schema_id) == (S, 1, 2, second.schema_id)
    assert latest.generation > 0
    assert [one.name for one in columns_of_schema(latest.schema)] == ["a", "b"]
    assert run(registry, find_latest_version(S)) == latest
    assert run(registry, find_pinned_version(S, 1)) == run(registry, find_version_with_id(S, first.schema_id))
    assert latest.as_registered().ordinal == 1


def test_a_version_has_the_texts_behind_its_references(registry: Connection, run: Run) -> None:
    registry.ask(Register(subject_of("address"), Draft(record(("city", "string"), name="Address"))))
    refers = Draft(record(("home", "Address")), references=(Reference("Address", "address", 1),))
    registry.ask(Register(S, refers))
    found: PinnedVersion = run(registry, find_pinned_version(S))
    assert found.references == refers.references
    assert [one.name for one in columns_of_schema(found.schema)] == ["home"]


def test_a_subject_that_was_made_again_has_another_generation(registry: Connection, run: Run) -> None:
    registry.ask(Register(S, ONE))
    before: PinnedVersion = run(registry, find_pinned_version(S))
    registry.ask(DeleteSubject(S))
    registry.ask(DeleteSubject(S, permanent=True))
    registry.ask(Register(S, ONE))
    after: PinnedVersion = run(registry, find_pinned_version(S))
    assert after.generation > before.generation
    assert (after.ordinal, after.number) == (before.ordinal, before.number)


def test_what_is_missing_is_refused_with_what_would_help(registry: Connection, run: Run) -> None:
    assert run(registry, find_latest_version(S)) is None
    with pytest.raises(
        SubjectNotFound,
        match=r"t-value has no schema here: .* Register one, name another subject, or write the columns",
    ):
        run(registry, find_pinned_version(S))
    with pytest.raises(SchemaNotFound, match="no live version in the default context has the schema id 7"):
        run(registry, find_version_with_id(S, 7))
    found = registry.ask(Register(OTHER, ONE)).answer.version
    with pytest.raises(VersionNotFound) as refused:
        run(registry, find_version_with_id(S, found.schema_id, "VALUE_SUBJECT"))
    assert str(refused.value) == (
        f"the schema id {found.schema_id} is no version of t-value; it is other-value version 1: say VALUE_SUBJECT='other-value', or "
        "register it in t-value"
    )
    registry.ask(Register(S, TWO))
    with pytest.raises(VersionNotFound, match="it is other-value version 1: register it in t-value"):
        run(registry, find_version_with_id(S, found.schema_id))


def test_a_softly_deleted_version_is_not_found(registry: Connection, run: Run) -> None:
    first = registry.ask(Register(S, ONE)).answer.version
    registry.ask(Register(S, TWO))
    registry.ask(DeleteVersion(S, 1))
    with pytest.raises(SchemaNotFound, match="register the schema first"):
        run(registry, find_version_with_id(S, first.schema_id))
    with pytest.raises(NotFound):
        run(registry, find_pinned_version(S, 1))


@pytest.mark.parametrize(
    "exchange",
    [lambda: find_pinned_version(S), lambda: find_latest_version(S), lambda: find_version_with_id(S, 1)],
    ids=["pinned", "latest", "by id"],
)
def test_a_registry_that_can_not_answer_is_not_one_without_the_schema(exchange: Callable[[], Exchange[Any]]) -> None:
    with pytest.raises(Unavailable, match="the log can't be read now"):
        run_exchange(Away(), exchange())


def test_a_subject_of_a_context_is_found_there(registry: Connection, run: Run) -> None:
    place = Subject(".x", "t-value")
    made = registry.ask(Register(place, ONE)).answer.version
    found: PinnedVersion = run(registry, find_version_with_id(place, made.schema_id))
    assert found.subject == place


def test_work_on_a_long_schema_leaves_the_event_loop(registry: Connection) -> None:
    long = record(*((f"field_with_a_long_name_{at}", "int") for at in range(400)))
    registry.ask(Register(S, Draft(long)))
    registry.ask(Register(OTHER, ONE))

    def note_thread(subject: Subject) -> Exchange[threading.Thread]:
        yield from find_pinned_version(subject)
        return threading.current_thread()

    async def run_both() -> list[bool]:
        here = threading.current_thread()
        return [await run_exchange_async(Awaited(registry), note_thread(one)) is here for one in (S, OTHER)]

    assert asyncio.run(run_both()) == [False, True]
