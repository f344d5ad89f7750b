"""What a PostgreSQL server says, or does not say, becomes an error of the log with what to do; one that is away is asked less and less often."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise

import asyncpg
import pytest
from asyncpg import exceptions as said

from treaty.log.log import LogDamagedError, LogUnavailableError
from treaty.log.postgres.connection import (
    PAUSE_FIRST,
    PAUSE_MOST,
    PostgresConnection,
    ReconnectBackoff,
    ask_again,
    is_cut,
    is_timeout,
    translate_errors,
)
from treaty.log.postgres.log import PostgresLog

REMEDIES: dict[type[Exception], str] = {
    said.InvalidPasswordError: "check user and password",
    said.InvalidAuthorizationSpecificationError: "check user and password",
    said.InvalidCatalogNameError: "make that database",
    said.InsufficientPrivilegeError: "give this user the right",
    said.DiskFullError: "short of disk, memory or connections",
    said.TooManyConnectionsError: "short of disk, memory or connections",
    said.LockNotAvailableError: "another node holds the log's lock",
    said.QueryCanceledError: "statement time-out",
    said.AdminShutdownError: "shutting down or starting",
    said.CannotConnectNowError: "shutting down or starting",
    said.ReadOnlySQLTransactionError: "connect to the primary one",
    said.DivisionByZeroError: "see the message",
    ConnectionRefusedError: "check that it runs",
    TimeoutError: "check that it runs",
    asyncpg.InterfaceError: "check that it runs",
    asyncpg.InternalClientError: "check that it runs",
    said.ConnectionDoesNotExistError: "check that it runs",
}
DAMAGE: dict[type[Exception], str] = {
    said.DataCorruptedError: "data of a table is damaged",
    said.IndexCorruptedError: "an index is damaged",
    said.UndefinedTableError: "a table of it is missing",
    said.InvalidSchemaNameError: "a table of it is missing",
}
CUT = {said.AdminShutdownError, asyncpg.InterfaceError, asyncpg.InternalClientError, said.ConnectionDoesNotExistError}


def translated(error: Exception) -> Exception:
    with pytest.raises((LogUnavailableError, LogDamagedError)) as caught, translate_errors("the server", "reading"):
        raise error
    assert caught.value.__cause__ is error
    assert "the server" in str(caught.value)
    assert "while reading" in str(caught.value)
    return caught.value


@pytest.mark.parametrize("kind", [*REMEDIES, *DAMAGE], ids=lambda kind: kind.__name__)
def test_an_error_of_the_server_says_what_to_do(kind: type[Exception]) -> None:
    error = translated(kind("its words"))
    assert isinstance(error, LogDamagedError) == (kind in DAMAGE)
    assert (DAMAGE | REMEDIES)[kind] in str(error)
    assert "its words" in str(error)


@pytest.mark.parametrize("kind", sorted({*REMEDIES, *CUT}, key=str), ids=lambda kind: kind.__name__)
def test_a_read_is_asked_again_once_where_its_connection_was_cut_and_nowhere_else(kind: type[Exception]) -> None:
    errors = [kind("a"), kind("b")]
    calls = 0

    async def read() -> str:
        nonlocal calls
        calls += 1
        if errors:
            with translate_errors("the server", "reading"):
                raise errors.pop()
        return "read"

    with pytest.raises(LogUnavailableError):
        asyncio.run(ask_again(read))
    assert calls == (2 if kind in CUT else 1)
    if kind in CUT:
        errors.append(kind("a"))
        assert asyncio.run(ask_again(read)) == "read"
    error = translated(kind("a"))
    assert is_cut(error) == (kind in CUT)
    assert is_timeout(error) == (kind is TimeoutError)


def test_a_server_that_stays_away_is_asked_less_and_less_often_and_one_that_is_back_at_once() -> None:
    backoff, pauses = ReconnectBackoff(), list[float]()
    for at in range(10):
        backoff.note_failure(100.0 * at, f"no {at}")
        pauses.append(backoff.next_try - 100.0 * at)
        assert backoff.last == f"no {at}"
    assert pauses[0] == pytest.approx(PAUSE_FIRST)
    assert all(later == pytest.approx(min(2 * one, PAUSE_MOST)) for one, later in pairwise(pauses))
    assert pauses[-1] == pytest.approx(PAUSE_MOST)
    backoff.note_success()
    assert backoff.next_try <= 0
    backoff.note_failure(0.0, "again")
    assert backoff.next_try == pytest.approx(PAUSE_FIRST)


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port at which nobody listens."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def test_between_two_tries_both_connections_fail_at_once_with_what_the_last_try_met(closed_port: int) -> None:
    async def prepare(connection: object) -> None: ...

    async def story() -> None:
        backoff = ReconnectBackoff()
        dsn = f"postgresql://a@127.0.0.1:{closed_port}/b"
        one, other = (PostgresConnection(dsn, name, prepare, backoff) for name in ("the writer", "the reader"))
        with pytest.raises(LogUnavailableError, match="the writer does not answer") as met:
            await one.get()
        for connection in (one, other):
            with pytest.raises(LogUnavailableError) as again:
                await connection.get()
            assert str(again.value) == str(met.value)
        backoff.note_success()
        with pytest.raises(LogUnavailableError, match="the reader does not answer"):
            await other.get()
        await one.close()
        with pytest.raises(LogUnavailableError, match="closed"):
            await one.get()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("given", "shown", "asked"),
    [
        ("postgresql://u:secret@h:5/db", "postgresql://h:5/db", "postgresql://u:secret@h:5/db"),
        ("postgresql://u:secret@[::1]:5/db", "postgresql://[::1]:5/db", "postgresql://u:secret@[::1]:5/db"),
        ("postgresql://[fe80::1]/db", "postgresql://[fe80::1]/db", "postgresql://[fe80::1]/db"),
        ("postgresql://h/db?schema=treaty&durable=yes", "postgresql://h/db", "postgresql://h/db"),
        ("postgresql://h/db?schema=a%20b", "postgresql://h/db?schema=a%20b", "postgresql://h/db"),
        (
            "postgresql://h/db?sslmode=require&schema=x&durable=no",
            "postgresql://h/db?schema=x&durable=no",
            "postgresql://h/db?sslmode=require",
        ),
    ],
)
def test_a_url_is_shown_without_secrets_and_the_server_is_asked_without_our_words(
    given: str, shown: str, asked: str
) -> None:
    log = PostgresLog(given)
    assert log.url == shown
    assert PostgresLog(shown).url == shown
    assert {log._write_connection._dsn, log._read_connection._dsn} == {asked}
