"""What an operator asks of a SQLite file that holds a log: what it looks like, and to be packed anew."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from treaty.log.log import Facts
from treaty.log.sqlite import layout
from treaty.log.sqlite.connection import BUSY_SECONDS, SqlFile
from treaty.log.sqlite.layout import code, told

_FACTS = """
select (select count(*) from state_row where value is not null), (select count(*) from state_row where value is null),
       (select count(*) from log_append), (select coalesce(min(last), 0) from log_append)
"""


def facts(file: SqlFile) -> Facts:
    """Count rows and bytes, those of the file beside it included."""
    with told(file.path, "looking at the store"):
        live, tombstones, appends, oldest = file.connection.execute(_FACTS).fetchone()
        beside = (Path(f"{file.path}{ending}") for ending in ("", "-wal"))
        size = sum(one.stat().st_size for one in beside if one.exists())
    return Facts("sqlite", layout.LAYOUT, size, live, tombstones, appends, oldest)


def compact(file: SqlFile) -> None:
    """Compress texts, forget appends and tombstones that are due, write the file anew without gaps, and cut the one beside it.

    Raises `LogUnavailableError` where others write or read for so long that it does not come to its turn.
    """
    pack(file)
    with told(file.path, "compacting"):
        while file.prune():
            continue
        end = time.monotonic() + BUSY_SECONDS
        for statement in ("vacuum", "pragma wal_checkpoint(truncate)"):
            while not _done(file.connection, statement, end):
                time.sleep(layout.PAUSE * 10)


def pack(file: SqlFile) -> None:
    """Make a dictionary once there are rows to learn from, and compress what is not, a bounded number at a time."""
    with told(file.path, "compressing"):
        _alone(file, file.texts.learn)
        file.texts.refresh()
        after = 0
        while file.texts.packs and (after := _alone(file, lambda: file.texts.pack(after))):
            continue


def _alone(file: SqlFile, work: Callable[[], int]) -> int:
    """Do some work in a transaction of its own."""
    file.lock()
    try:
        found = work()
        file.connection.execute("commit")
        file.locked = False
        return found
    finally:
        file.unlock()


def _done(connection: sqlite3.Connection, statement: str, end: float) -> bool:
    """Run a statement; False where somebody else is in the way, and there is time to try again."""
    try:
        connection.execute(statement).fetchall()
    except sqlite3.OperationalError as error:
        if code(error) not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} or time.monotonic() > end:
            raise
        return False
    return True
