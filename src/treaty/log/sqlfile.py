"""A SQLite file that holds a log: its tables, appending, reading. Synchronous; one connection, one thread at a time."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from treaty.core.commit import START, Append, Position
from treaty.core.limits import APPENDS_KEPT
from treaty.core.rows import Encoded
from treaty.log.log import Delta, Fate, LogDamagedError, LogUnavailableError

APPLICATION = 0x54525459
"""`TRTY`, in the file's head: says whose file it is."""
LAYOUT = 1
"""The newest layout of the tables that this version knows (`PRAGMA user_version`)."""
BUSY_MS = 10_000
"""How long a writer waits for others, in milliseconds."""
PRUNED_AT_ONCE = 512
"""Appends and tombstones that one append forgets at most, so that none of them is slow."""
PRUNED_EVERY = 64
"""Appends between two prunings."""

_TABLES = """
create table if not exists entry (
  kind text not null,        -- the state table
  key text not null,         -- canonical JSON
  value text,                -- canonical JSON; null is a tombstone
  sequence integer not null, -- of the append's end that last changed it
  primary key (kind, key)
);
create index if not exists entry_by_sequence on entry (sequence);
create table if not exists append (
  last integer primary key,
  first integer not null,
  identity blob not null,
  attempt blob not null,
  digest blob not null
);
"""
_TIP = "select identity, last, digest from append order by last desc limit 1"
_KNOWN = "select 1 from append where last = ? and identity = ? and digest = ?"
_SINCE = "select kind, key, value from entry where sequence > ?"
_LIVE = "select kind, key, value from entry where value is not null"
_PUT = (
    "insert into entry (kind, key, value, sequence) values (?, ?, ?, ?) "
    "on conflict (kind, key) do update set value = excluded.value, sequence = excluded.sequence"
)
_NOTE = "insert into append (last, first, identity, attempt, digest) values (?, ?, ?, ?, ?)"
_FORGET = (
    "delete from append where last in (select last from append where last <= "
    "(select last from append order by last desc limit 1 offset ?) order by last limit ?)"
)
_SWEEP = (
    "delete from entry where rowid in (select rowid from entry "
    "where sequence <= (select min(last) from append) and value is null limit ?)"
)

_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}


@contextmanager
def told(path: str, doing: str) -> Iterator[None]:
    """Turn SQLite's errors into the log's, with the remedy."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGE:
            message = f"{path} is damaged ({error}) while {doing}: stop all nodes, keep a copy, restore a backup"
            raise LogDamagedError(message) from error
        remedy = {
            sqlite3.SQLITE_FULL: "free space on its disk",
            sqlite3.SQLITE_READONLY: "make the file and its folder writable",
            sqlite3.SQLITE_CANTOPEN: "check that the folder exists and may be written",
            sqlite3.SQLITE_BUSY: "another process holds it for long",
        }.get(code, "see the message")
        message = f"{path} can't be used while {doing}: {error} ({remedy})"
        raise LogUnavailableError(message) from error


class SqlFile:
    """One connection to the file. `append` and `since` run in a transaction of their own, or in one begun by `lock`."""

    def __init__(self, path: str) -> None:
        """Open the file, and make it where it is missing. Raises `LogUnavailableError` or `LogDamagedError`."""
        self.path = path
        self._appends = 0
        self.locked = False
        with told(path, "opening"):
            if not Path(path).exists():
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000)
            self._prepare()

    def _prepare(self) -> None:
        self._db.execute("pragma synchronous = full")
        application = self._one("pragma application_id")[0]
        layout = self._one("pragma user_version")[0]
        if application == APPLICATION and layout == LAYOUT:
            self._db.execute("pragma journal_mode = wal")
            return
        if application not in {0, APPLICATION} or (
            not application and self._one("select count(*) from sqlite_master")[0]
        ):
            raise LogDamagedError(f"{self.path} is somebody else's SQLite file, not a log of Treaty: name another one")
        if layout > LAYOUT:
            raise LogDamagedError(f"{self.path} has layout {layout}, known is {LAYOUT}: upgrade this node")
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("begin immediate")
        for statement in _TABLES.split(";\n"):
            self._db.execute(statement)
        self._db.execute(f"pragma application_id = {APPLICATION}")
        self._db.execute(f"pragma user_version = {LAYOUT}")
        self._db.execute("commit")

    def _one(self, statement: str) -> tuple[int, ...]:
        row: tuple[int, ...] = self._db.execute(statement).fetchone()
        return row

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        self._db.close()

    def version(self) -> int:
        """A number that changes when another connection has committed."""
        with told(self.path, "looking for changes"):
            return self._one("pragma data_version")[0]

    def lock(self) -> None:
        """Begin a transaction that keeps all other writers out."""
        with told(self.path, "waiting for other writers"):
            self._db.execute("begin immediate")
        self.locked = True

    def unlock(self) -> None:
        """End the transaction of `lock`, undoing what was not committed."""
        if self.locked:
            self.locked = False
            with told(self.path, "ending a transaction"):
                self._db.execute("rollback")

    def append(self, append: Append) -> Fate:
        """Append if the parent is the last append. A transaction that `lock` began ends here."""
        if not self.locked:
            self.lock()
        try:
            with told(self.path, "appending"):
                if not self._follows(append):
                    self.unlock()
                    return Fate.CONFLICT
                self._write(append)
        except BaseException:
            self._give_up()
            raise
        return self._commit()

    def _give_up(self) -> None:
        self.locked = False
        if self._db.in_transaction:
            self._db.execute("rollback")

    def _follows(self, append: Append) -> bool:
        tip = self._tip()
        if append.parent != tip.digest or append.first != tip.sequence + 1:
            return False
        return not tip.sequence or append.identity == tip.identity

    def _write(self, append: Append) -> None:
        rows = ((row.table, row.key, row.value, append.last) for commit in append.commits for row in commit.rows)
        self._db.executemany(_PUT, rows)
        self._db.execute(_NOTE, (append.last, append.first, append.identity, append.attempt, append.digest))
        self._appends += 1
        if self._appends % PRUNED_EVERY == 0:
            self._db.execute(_FORGET, (APPENDS_KEPT, PRUNED_AT_ONCE))
            self._db.execute(_SWEEP, (PRUNED_AT_ONCE,))

    def _commit(self) -> Fate:
        """Commit. Where that fails the fate is open: the disk may or may not have the frame that says so."""
        self.locked = False
        try:
            self._db.execute("commit")
        except sqlite3.Error:
            if self._db.in_transaction:
                self._db.execute("rollback")
            return Fate.UNKNOWN
        return Fate.ACCEPTED

    def tip(self) -> Position:
        """The place after the last append."""
        with told(self.path, "looking at the tip"):
            return self._tip()

    def _tip(self) -> Position:
        row = self._db.execute(_TIP).fetchone()
        return Position(*row) if row else START

    def since(self, after: Position) -> Delta:
        """What came after a place, in one consistent cut; everything where the place is not remembered."""
        with told(self.path, "reading"):
            if self.locked:
                return self._since(after)
            self._db.execute("begin")
            try:
                return self._since(after)
            finally:
                if self._db.in_transaction:
                    self._db.execute("commit")

    def _since(self, after: Position) -> Delta:
        tip = self._tip()
        if after == tip:
            return Delta(tip, ())
        if self._db.execute(_KNOWN, (after.sequence, after.identity, after.digest)).fetchone():
            return Delta(tip, tuple(Encoded(*row) for row in self._db.execute(_SINCE, (after.sequence,))))
        return Delta(tip, tuple(Encoded(*row) for row in self._db.execute(_LIVE)), reload=True)
