"""Backups: copies of a SQLite log's file, made while nodes write, from which `treaty log restore` makes a new log.

A copy opened as a log would be a second history with the same identity: both would assign the same ids and accept each
other's position tokens. So a mark in its header says that it is a backup, and nodes refuse it.
"""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from treaty.core.state.commit import START, Position
from treaty.core.state.rows import EncodedRow
from treaty.log.log import LogDamagedError, LogUnavailableError
from treaty.log.maintenance.dump import DumpHead, make_head
from treaty.log.sqlite import layout
from treaty.log.sqlite.connection import SqliteConnection
from treaty.log.sqlite.layout import translate_errors

PAGES_AT_ONCE = 1_024
"""Pages of the file that are copied between two words on how far it is."""
MAGIC = b"SQLite format 3\x00"
"""How every file of SQLite begins."""


def write_backup(source: Path, target: Path, progress: Callable[[int, int], None]) -> Position:
    """Copy the state that is there now, whatever others write meanwhile; an older file of that name stays until then.

    `progress` gets pages done and of how many. Returns the position in the log that the copy is at. Raises
    `LogUnavailableError` or `LogDamagedError`, for a copy that can't be read too.
    """
    partial = target.with_name(f"{target.name}.part")
    file = SqliteConnection(str(source))
    try:
        partial.unlink(missing_ok=True)
        partial.touch(mode=0o600)  # as the log's own file: what stands in it is for who may read the log
        with translate_errors(str(source), "backing up"):
            position = _copy_state(file, partial, progress)
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(target)
        layout.sync_folder(target.parent)
    finally:
        file.close()
        partial.unlink(missing_ok=True)
    return position


def _copy_state(file: SqliteConnection, partial: Path, progress: Callable[[int, int], None]) -> Position:
    source = file.database
    with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
        source.execute("begin")  # one state: what is written from now on is not seen
        try:
            position = file.tip()
            if position == START:
                raise LogUnavailableError(f"{file.path} is empty: there is nothing to back up")
            source.backup(copy, pages=PAGES_AT_ONCE, progress=lambda _, left, of: progress(of - left, of))
        finally:
            source.execute("rollback")
        if copy.execute("pragma quick_check(1)").fetchall() != [("ok",)]:
            raise LogDamagedError(
                f"{file.path} is damaged: keep a copy of it and of the files beside it, and repair it"
            )
        copy.execute("pragma journal_mode = delete")  # one file, that says everything
        copy.execute(f"pragma application_id = {layout.BACKUP}")
    return position


def is_backup(path: Path) -> bool:
    """Return whether a file is one of SQLite's, which a dump never is."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_backup(path: Path) -> tuple[DumpHead, tuple[EncodedRow, ...]]:
    """Read a whole backup, whose rows may not come to what its head says.

    Raises `LogUnavailableError` or `LogDamagedError`, for a file that is a log too.
    """
    file = SqliteConnection(str(path), backup=True)
    try:
        delta, (_, roots) = file.read_since(START), file.table_roots()
        return make_head(delta, f"{path}", path.stat().st_mtime_ns // 1_000_000, roots), delta.rows
    finally:
        file.close()
