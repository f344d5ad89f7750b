"""The state copy of a SQLite log: the bytes of the state file, in chunks, in the log's file."""

import logging
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from treaty.core.state.commit import Position
from treaty.core.state.rows import EncodedRow
from treaty.log.sqlite.connection import SqliteConnection
from treaty.log.sqlite.layout import translate_errors
from treaty.log.sqlite.maintenance import compress_rows

log = logging.getLogger("treaty.log")

T = TypeVar("T")
PIECE = 1_048_576
"""Bytes of a piece. Each is a transaction of its own, so that writers never wait for long."""
_TABLES = (
    "create table if not exists state_copy_piece (piece integer primary key, data blob not null)",
    "create table if not exists state_copy (pieces integer not null, crc integer not null)",
)
_THERE = "select count(*) from sqlite_master where type = 'table' and name in ('state_copy_piece', 'state_copy')"
_BEGIN = "delete from state_copy"
_PUT = "insert or replace into state_copy_piece (piece, data) values (?, ?)"
_CUT = "delete from state_copy_piece where piece in (select piece from state_copy_piece where piece >= ? order by piece limit 16)"
_END = "insert into state_copy (pieces, crc) values (?, ?)"


def estimate_rows(file: SqliteConnection) -> int:
    """About how many rows there are: the highest number that SQLite gave one."""
    with translate_errors(file.path, "looking at the store"):
        highest: int = file.database.execute("select coalesce(max(rowid), 0) from state_row").fetchone()[0]
        return highest


def write_state_copy(path: str, source: Path) -> None:
    """Write the bytes of a file as the copy, and compress what is not. While a copy is written there is none."""
    file = SqliteConnection(path, durable=False)
    try:
        with translate_errors(path, "keeping the state file"), source.open("rb") as data:
            _execute(file, *((statement, ()) for statement in (*_TABLES, _BEGIN)))
            pieces = crc = 0
            while piece := data.read(PIECE):
                crc = zlib.crc32(piece, crc)
                _execute(file, (_PUT, (pieces, piece)))
                pieces += 1
            while _execute(file, (_CUT, (pieces,))):
                continue
            _execute(file, (_END, (pieces, crc)))
        compress_rows(file)
    finally:
        file.close()


def _execute(file: SqliteConnection, *statements: tuple[str, tuple[object, ...]]) -> int:
    """Run statements in a transaction of their own; return the rows that the last one changed."""
    file.lock()
    try:
        for statement, values in statements:
            count = file.database.execute(statement, values).rowcount
        file.database.execute("commit")
        file.locked = False
        return count
    finally:
        file.unlock()


def read_state_copy(path: str, target: Path) -> bool:
    """Write the copy to a path; False where there is none that is whole."""
    file = SqliteConnection(path)
    half = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with translate_errors(path, "reading the state file"):
            file.database.execute("begin")
            if file.database.execute(_THERE).fetchone()[0] != 2:
                return False
            stated = file.database.execute("select pieces, crc from state_copy").fetchall()
            if not stated:  # it is being written, or who wrote it has died
                return False
            if [_copy_pieces(file.database, half)] != stated:
                log.warning(
                    "%s: the copy of the state file in it is damaged and not used; `treaty log state` replaces it", path
                )
                return False
            half.replace(target)
            return True
    finally:
        half.unlink(missing_ok=True)
        file.close()


def _copy_pieces(connection: sqlite3.Connection, target: Path) -> tuple[int, int]:
    pieces = crc = 0
    with os.fdopen(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        for number, data in connection.execute("select piece, data from state_copy_piece order by piece"):
            if number != pieces:
                break
            crc = zlib.crc32(data, crc)
            file.write(data)
            pieces += 1
    return pieces, crc


def scan_rows(path: str, into: Callable[[Iterable[EncodedRow]], T], given_up: Callable[[], bool]) -> tuple[Position, T]:
    """Go through all live rows of one consistent cut; raises `LogUnavailableError` when `given_up` says so."""
    file = SqliteConnection(path)
    try:
        with translate_errors(path, "reading"):
            file.database.execute("begin")
            tip = file.tip()
            return tip, into(_check_every(file.live_rows(), given_up))
    finally:
        file.close()


def _check_every(rows: Iterable[EncodedRow], given_up: Callable[[], bool]) -> Iterator[EncodedRow]:
    for number, row in enumerate(rows):
        if not number & 1023 and given_up():
            raise InterruptedError("the caller does not wait for these rows any more")
        yield row
