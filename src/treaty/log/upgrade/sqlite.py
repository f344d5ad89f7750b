"""SQLite files of format 1: layouts 1 and 2, tables ``entry``, ``append`` and (layout 2) ``dictionary``; logs and backups."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import zstandard

from treaty.log.upgrade.old_format import (
    EMPTY,
    OldLogError,
    OldPosition,
    OldRow,
    OldState,
    make_concurrent_write_error,
    make_old_append,
)

LOG, BACKUP = 0x54525459, 0x54525442
"""What the head of a file says (`application_id`): that it is a log, or a backup of one."""
LAYOUTS = (1, 2)
BUSY_SECONDS = 10.0
_TIP = "select identity, last, digest from append order by last desc limit 1"
_LIVE = "select kind, key, value from entry where value is not null"
_PUT = (
    "insert into entry (kind, key, value, sequence) values (?, ?, ?, ?) "
    "on conflict (kind, key) do update set value = excluded.value, sequence = excluded.sequence"
)
_NOTE = "insert into append (last, first, identity, attempt, digest) values (?, ?, ?, ?, ?)"


def holds_old_log(path: Path) -> bool:
    """Return whether a file of SQLite holds a log of format 1, or a backup of one."""
    with closing(_connect(path, "ro")) as file:
        return _read_application_id(file) in {LOG, BACKUP} and _read_layout(file) in LAYOUTS


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    file = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=BUSY_SECONDS
    )
    file.text_factory = lambda data: str(data, "utf-8", "surrogatepass")
    return file


def _read_application_id(file: sqlite3.Connection) -> int:
    return int(file.execute("pragma application_id").fetchone()[0])


def _read_layout(file: sqlite3.Connection) -> int:
    return int(file.execute("pragma user_version").fetchone()[0])


class OldSqlite:
    """An `OldLog` in a file. Nothing but a seal is ever written to it."""

    def __init__(self, path: Path, url: str) -> None:
        """Look at the file. Raises `OldLogError` where it holds no log of format 1."""
        self.url, self._path = url, path
        if not path.exists():
            raise OldLogError(f"{url}: there is no such file")
        try:
            with closing(_connect(path, "ro")) as file:
                mark, layout = _read_application_id(file), _read_layout(file)
        except sqlite3.Error as error:
            raise OldLogError(f"{path} can't be read: {error}") from error
        if mark not in {LOG, BACKUP}:
            raise OldLogError(f"{path} is no log of Treaty")
        if layout not in LAYOUTS:
            raise OldLogError(f"{path} has layout {layout}, which is not of format 1: there is nothing to upgrade")
        self.living = mark == LOG

    async def read(self) -> OldState:
        """The state at the end, in one transaction."""
        try:
            with closing(_connect(self._path, "rw" if self.living else "ro")) as file:
                file.execute("begin")
                return OldState(self.url, _read_tip(file), tuple(_read_rows(file, self._path)))
        except sqlite3.Error as error:
            raise OldLogError(f"{self._path} can't be read: {error}") from error

    async def write(self, base: OldPosition, row: OldRow, time: int) -> None:
        """Append one row, in a transaction that keeps all others out."""
        append = make_old_append(base, os.urandom(16), [row], time)
        last = append.position.sequence
        try:
            with closing(_connect(self._path, "rw")) as file:
                file.execute("pragma synchronous = full")
                file.execute("begin immediate")
                if _read_tip(file) != base:
                    raise make_concurrent_write_error(self.url)
                file.execute(_PUT, (row.table, row.key, row.value, last))
                file.execute(_NOTE, (last, last, append.position.identity, append.attempt, append.position.digest))
                file.execute("commit")
        except sqlite3.Error as error:
            raise OldLogError(f"{self._path} can't be sealed: {error}; stop all its nodes, then try again") from error

    async def close(self) -> None:
        """Nothing is open between two calls."""


def _read_tip(file: sqlite3.Connection) -> OldPosition:
    found = file.execute(_TIP).fetchone()
    return OldPosition(*found) if found else EMPTY


def _read_rows(file: sqlite3.Connection, path: Path) -> Iterator[OldRow]:
    readers = {}
    if file.execute("select count(*) from sqlite_master where name = 'dictionary'").fetchone()[0]:
        for number, data in file.execute("select number, data from dictionary"):
            readers[number] = zstandard.ZstdDecompressor(dict_data=zstandard.ZstdCompressionDict(data))
    for table, key, value in file.execute(_LIVE):
        text = value
        if isinstance(value, bytes):
            try:
                text = str(readers[value[0]].decompress(value[1:], allow_extra_data=False), "utf-8", "surrogatepass")
            except (KeyError, IndexError, zstandard.ZstdError, UnicodeDecodeError) as error:
                raise OldLogError(
                    f"{path} is damaged: the text of row {key} in {table} can't be read ({error!r})"
                ) from None
        yield OldRow(table, key, text)
