"""SQLite's and the system's errors in the log's words, each with its remedy."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from treaty.log.log import LogDamagedError, LogUnavailableError

_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_REMEDIES = {
    sqlite3.SQLITE_FULL: "free space on its disk",
    sqlite3.SQLITE_READONLY: "make the file, the files beside it and their folder writable for this user",
    sqlite3.SQLITE_PERM: "make the file, the files beside it and their folder writable for this user",
    sqlite3.SQLITE_CANTOPEN: "check that it is a file, and that its folder may be written by this user",
    sqlite3.SQLITE_BUSY: "another process holds it for long",
    sqlite3.SQLITE_PROTOCOL: "another process holds it for long",
    sqlite3.SQLITE_IOERR: "its disk or file system reports errors",
}


def code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, or 0 where the error came from the Python side."""
    extended: int = getattr(error, "sqlite_errorcode", 0)
    return extended & 0xFF


@contextmanager
def told(path: str, doing: str) -> Iterator[None]:
    """Raise `LogDamagedError` or `LogUnavailableError` for what goes wrong in the block."""
    try:
        yield
    except sqlite3.Error as error:
        if code(error) in _DAMAGE or str(error).startswith("no such "):
            raise LogDamagedError(
                f"{path} is damaged, or no log of Treaty ({error}, while {doing}): "
                "stop all nodes, keep a copy of it and of the files beside it, and restore a backup"
            ) from error
        remedy = _REMEDIES.get(code(error), "see the message")
        raise LogUnavailableError(f"{path} can't be used ({error}, while {doing}): {remedy}") from error
    except UnicodeDecodeError as error:
        raise LogDamagedError(
            f"{path} is damaged (a text in it is not UTF-8, while {doing}): "
            "stop all nodes, keep a copy of it and of the files beside it, and restore a backup"
        ) from error
    except OSError as error:
        remedy = "check that its folder exists or can be made, and that this user may write there"
        raise LogUnavailableError(f"{path} can't be used ({error.strerror}, while {doing}): {remedy}") from error
