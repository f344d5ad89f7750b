"""PostgreSQL's and the network's errors in the log's words, each with its remedy."""

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from treaty.log.log import LogDamagedError, LogUnavailableError

LOST = (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError, asyncpg.PostgresConnectionError)
"""The connection is gone, does not answer in time, or was cut off while a statement was on its way."""

_DAMAGE = {"XX001": "data of a table is damaged", "XX002": "an index is damaged"}
_REMEDIES = {
    "28": "check user and password of the log's URL",
    "3D": "make that database, or name another one in the log's URL",
    "42501": "give this user the right to use, or to make, the schema of the log",
    "53": "the server is short of disk, memory or connections",
    "55P03": "another node holds the log's lock for long",
    "57014": "it took longer than the statement time-out: see what else the server does",
    "57P": "the server is shutting down or starting; it is tried again",
    "25006": "this server only reads: connect to the primary one",
}


@contextmanager
def told(where: str, doing: str) -> Iterator[None]:
    """Raise `LogDamagedError` or `LogUnavailableError` for what goes wrong in the block."""
    try:
        yield
    except asyncpg.PostgresError as error:
        state = error.sqlstate or ""
        if state in _DAMAGE or state in {"42P01", "3F000"}:
            what = _DAMAGE.get(state, "a table of it is missing")
            message = f"{where}: {what} ({error}, while {doing}): stop all nodes and restore a backup"
            raise LogDamagedError(message) from error
        remedy = next((text for code, text in _REMEDIES.items() if state.startswith(code)), "see the message")
        raise LogUnavailableError(f"{where} can't be used ({error}, while {doing}): {remedy}") from error
    except LOST as error:
        what = str(error) or type(error).__name__
        message = f"{where} does not answer ({what}, while {doing}): check that it runs and can be reached"
        raise LogUnavailableError(message) from error


def silent(error: BaseException | None) -> bool:
    """Tell whether `error` says that no answer came in time: the connection may be dead without a word."""
    return error is not None and isinstance(error.__cause__, TimeoutError)
