"""Maintenance of a log in a SQLite file: its facts, and its compaction."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from treaty.log.log import StoreStats
from treaty.log.sqlite import layout
from treaty.log.sqlite.connection import BUSY_SECONDS, SqliteConnection
from treaty.log.sqlite.layout import result_code, translate_errors

_STATS = """
select (select count(*) from state_row where value is not null), (select count(*) from state_row where value is null),
       (select count(*) from log_append), (select coalesce(min(last), 0) from log_append)
"""


def read_stats(file: SqliteConnection) -> StoreStats:
    """Count rows and bytes, those of the file beside it included."""
    with translate_errors(file.path, "looking at the store"):
        live, tombstones, appends, oldest = file.database.execute(_STATS).fetchone()
        beside = (Path(f"{file.path}{ending}") for ending in ("", "-wal"))
        size = sum(file.stat().st_size for file in beside if file.exists())
    return StoreStats("sqlite", layout.LAYOUT, size, live, tombstones, appends, oldest)


def compact(file: SqliteConnection) -> None:
    """Compress texts, forget appends and tombstones that are due, write the file again without gaps, and cut the one
    beside it.

    Raises `LogUnavailableError` where others write or read for so long that it does not come to its turn.
    """
    compress_rows(file)
    with translate_errors(file.path, "compacting"):
        while file.prune():
            continue
        end = time.monotonic() + BUSY_SECONDS
        for statement in ("vacuum", "pragma wal_checkpoint(truncate)"):
            while not _run_unless_busy(file.database, statement, end):
                time.sleep(layout.RETRY_SECONDS * 10)


def compress_rows(file: SqliteConnection) -> None:
    """Make a dictionary once there are rows to learn from, and compress what is not, a bounded number at a time."""
    with translate_errors(file.path, "compressing"):
        _run_in_transaction(file, file.compressor.train_dictionary)
        file.compressor.load_dictionaries()
        after = 0
        while file.compressor.can_compress and (
            after := _run_in_transaction(file, lambda: file.compressor.compress_some(after))
        ):
            continue


def _run_in_transaction(file: SqliteConnection, work: Callable[[], int]) -> int:
    """Do some work in a transaction of its own."""
    file.lock()
    try:
        result = work()
        file.database.execute("commit")
        file.locked = False
        return result
    finally:
        file.unlock()


def _run_unless_busy(connection: sqlite3.Connection, statement: str, end: float) -> bool:
    """Run a statement; False where somebody else is in the way, and there is time to try again."""
    try:
        connection.execute(statement).fetchall()
    except sqlite3.OperationalError as error:
        if result_code(error) not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} or time.monotonic() > end:
            raise
        return False
    return True
