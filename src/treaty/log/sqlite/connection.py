"""One connection to a SQLite file that holds a log. Synchronous; one thread at a time."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from treaty.core.limits import APPENDS_KEPT
from treaty.core.state.commit import START, Append, Position
from treaty.core.state.rows import EncodedRow
from treaty.log.log import AppendResult, LogDamagedError, LogDelta
from treaty.log.sql import TableRootWriter, bind_text, decode_text, read_position, read_table_roots
from treaty.log.sqlite import layout
from treaty.log.sqlite.compression import RowCompressor
from treaty.log.sqlite.layout import result_code, translate_errors
from treaty.log.state_roots import warn_of_wrong_table_roots

log = logging.getLogger("treaty.log")

BUSY_SECONDS = 10.0
"""How long a writer waits for others."""
TIDY_SECONDS = 1.0
"""How long writers stop for readers."""
PRUNED_EVERY = 64
"""Sequences between two prunings."""
PRUNED_AT_ONCE = 512
"""Appends, and tombstones, that one pruning forgets at most, so that no append is slow."""

_TIP = "select identity, last, digest, root from log_append order by last desc limit 1"
_KNOWN = "select 1 from log_append where last = ? and identity = ? and digest = ? and root = ?"
_SINCE = "select state_table, key, value from state_row where sequence > ?"
_LIVE = "select state_table, key, value from state_row where value is not null"
# Texts are bound as bytes: SQLite's binding refuses half characters, which JSON can carry.
_PUT = (
    "insert into state_row (state_table, key, value, sequence) "
    "values (cast(?1 as text), cast(?2 as text), case when ?4 then ?3 else cast(?3 as text) end, ?5) "
    "on conflict (state_table, key) do update set value = excluded.value, sequence = excluded.sequence"
)
_NOTE = "insert into log_append (last, first, identity, attempt, digest, root) values (?, ?, ?, ?, ?, ?)"
_ROOTS = "select state_table, root from table_root"
_PUT_ROOT = "insert or replace into table_root (state_table, root) values (cast(? as text), ?)"
_CUT_ROOT = "delete from table_root where state_table = cast(? as text)"
_FORGET = (
    "delete from log_append where last in (select last from log_append where last <= "
    "(select last from log_append order by last desc limit 1 offset ?) order by last limit ?)"
)
_SWEEP = (
    "delete from state_row where rowid in (select rowid from state_row indexed by tombstone "
    "where value is null and sequence <= (select min(last) from log_append) limit ?)"
)


def _return_false() -> bool:
    return False


class SqliteConnection:
    """`append` and `read_since` run in a transaction of their own, or in one that `lock` began.

    All raise `LogUnavailableError` or `LogDamagedError`.
    """

    def __init__(
        self, path: str, *, appends_kept: int = APPENDS_KEPT, durable: bool = True, backup: bool = False
    ) -> None:
        """Open the file, and make it and its folder where they are missing; remember the last `appends_kept` appends.

        What is not `durable` may lose its last commits when the machine, not only a process, goes down. A `backup` is
        there, and nothing is appended to it.
        """
        self.path = path
        self.locked = False
        self.wal_overgrown = False
        """Whether `truncate_wal` is due."""
        self._wal_bound = layout.WAL_MOST
        self._sqlite_waits = True
        """Whether SQLite itself waits for others; not on a connection that has its own way of waiting."""
        self._appends_kept = appends_kept
        self._root_writer = TableRootWriter()
        with translate_errors(path, "opening"):
            if not backup:
                layout.create_file(path)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
            self._db.text_factory = decode_text
            try:
                if backup:
                    layout.prepare_backup(self._db, path)
                else:
                    layout.prepare_log(self._db, path, BUSY_SECONDS, durable=durable)
                self._inode = self._file_id()
                self.compressor = RowCompressor(self._db, path)
            except BaseException:
                self._db.close()
                raise

    def _file_id(self) -> tuple[int, int]:
        status = os.stat(self.path)  # noqa: PTH116 - runs at every look
        return status.st_dev, status.st_ino

    def _refuse_replaced(self) -> None:
        """Refuse a file that was taken away: what is written to it no later reader sees."""
        try:
            if self._file_id() == self._inode:
                return
        except FileNotFoundError:
            pass
        raise LogDamagedError(
            f"{self.path} was removed or replaced while in use: restart this node to use the file that is there now"
        )

    @property
    def database(self) -> sqlite3.Connection:
        """The connection itself, for who looks after the file."""
        return self._db

    def prune(self) -> bool:
        """Forget appends and tombstones that are due, a bounded number; return whether there were any."""
        self.lock()
        try:
            forgotten = self._db.execute(_FORGET, (self._appends_kept, PRUNED_AT_ONCE)).rowcount
            swept = self._db.execute(_SWEEP, (PRUNED_AT_ONCE,)).rowcount
            self._db.execute("commit")
        finally:
            self.unlock()
        return forgotten + swept > 0

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        self._db.close()

    def data_version(self) -> int:
        """A number that changes when another connection has committed."""
        with translate_errors(self.path, "looking for changes"):
            number: int = self._db.execute("pragma data_version").fetchone()[0]
            return number

    # ---------------------------------------------------------------------------------------------------- writing

    def lock(self, given_up: Callable[[], bool] = _return_false) -> None:
        """Begin a transaction that keeps all other writers out; stop waiting for them when `given_up` says so.

        SQLite's own waiting grows to a tenth of a second per try, in which others come first again and again.
        """
        end = time.monotonic() + BUSY_SECONDS
        with translate_errors(self.path, "waiting for other writers"):
            self._refuse_replaced()
            if self._sqlite_waits:
                self._sqlite_waits = False
                self._db.execute("pragma busy_timeout = 0")
            while not self.locked:
                try:
                    self._db.execute("begin immediate")
                    self.locked = True
                except sqlite3.OperationalError as error:
                    if result_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end or given_up():
                        raise
                    time.sleep(layout.RETRY_SECONDS)

    def unlock(self) -> None:
        """End the transaction of `lock`, undoing what was not committed."""
        if self.locked:
            self._roll_back()

    def _roll_back(self) -> None:
        """Undo. An error of the disk has undone it already, and its own error is the one to report."""
        self.locked = False
        with suppress(sqlite3.Error):
            if self._db.in_transaction:
                self._db.execute("rollback")

    def append(self, append: Append) -> AppendResult:
        """Append if the parent is the last append. A transaction that `lock` began ends here.

        Raises only where surely nothing was written.
        """
        if not self.locked:
            self.lock()
        try:
            with translate_errors(self.path, "appending"):
                if not self._is_next(append):
                    self._roll_back()
                    return AppendResult.CONFLICT
                self._write(append)
                result = self._commit()
                if result is AppendResult.ACCEPTED:
                    self._root_writer.note_append(append)
                return result
        except BaseException:
            self._roll_back()
            raise

    def _is_next(self, append: Append) -> bool:
        tip = self._tip()
        if append.parent != tip.digest or append.first != tip.sequence + 1:
            return False
        return not tip.sequence or append.identity == tip.identity

    def _write(self, append: Append) -> None:
        last = append.last
        compress = self.compressor.compress
        rows = [
            (bind_text(row.table), bind_text(row.key), *compress(row.table, row.value), last)
            for commit in append.commits
            for row in commit.rows
        ]
        self._db.executemany(_PUT, rows)
        self._db.execute(_NOTE, (last, append.first, append.identity, append.attempt, append.digest, append.root))
        roots = self._root_writer.changes(append)
        if roots.others_go:
            self._db.execute("delete from table_root")
        if roots.gone:
            self._db.executemany(_CUT_ROOT, [(bind_text(table),) for table in roots.gone])
        self._db.executemany(_PUT_ROOT, [(bind_text(table), root) for table, root in roots.put])
        if last // PRUNED_EVERY != (append.first - 1) // PRUNED_EVERY:
            self._db.execute(_FORGET, (self._appends_kept, PRUNED_AT_ONCE))
            self._db.execute(_SWEEP, (PRUNED_AT_ONCE,))
            self.compressor.load_dictionaries()
            self.wal_overgrown = self._wal_bytes() > self._wal_bound

    def _commit(self) -> AppendResult:
        """Commit. Where that fails the result is open: the disk may have the whole transaction, and show it after a
        crash.

        Only a disk that is full surely has not: what says that it is whole is written last.
        """
        try:
            self._db.execute("commit")
        except sqlite3.Error as error:
            self._roll_back()
            if result_code(error) == sqlite3.SQLITE_FULL:
                raise
            log.warning("%s did not say whether a commit is in it (%s): see what its disk reports", self.path, error)
            return AppendResult.UNKNOWN
        self.locked = False
        return AppendResult.ACCEPTED

    def truncate_wal(self) -> None:
        """Stop for readers, if they end soon, and cut the file that takes the commits first. Tries again when it is
        twice as large: somebody may read for hours.
        """
        with suppress(sqlite3.Error, OSError):
            self._db.execute(f"pragma busy_timeout = {TIDY_SECONDS * 1000:.0f}")
            self._db.execute("pragma wal_checkpoint(truncate)")
            self._db.execute("pragma busy_timeout = 0")
            self._wal_bound = max(layout.WAL_MOST, 2 * self._wal_bytes())
        self.wal_overgrown = False

    def _wal_bytes(self) -> int:
        return os.stat(f"{self.path}-wal").st_size  # noqa: PTH116 - runs inside a transaction

    # ---------------------------------------------------------------------------------------------------- reading

    def tip(self) -> Position:
        """The position after the last append."""
        with translate_errors(self.path, "looking at the tip"):
            self._refuse_replaced()
            return self._tip()

    def _tip(self) -> Position:
        row = self._db.execute(_TIP).fetchone()
        return read_position(row) if row else START

    def read_since(self, after: Position) -> LogDelta:
        """What came after a position, in one consistent cut; everything where the position is not remembered."""
        with translate_errors(self.path, "reading"):
            if self.locked:
                return self._read_since(after)
            self._db.execute("begin")
            try:
                return self._read_since(after)
            finally:
                if self._db.in_transaction:
                    self._db.execute("commit")

    def table_roots(self) -> tuple[Position, Mapping[str, int]]:
        """The tip, and what each table adds to the state root there as the file has it, in one consistent cut."""
        with translate_errors(self.path, "reading"):
            self._db.execute("begin")
            try:
                return self._tip(), self._table_roots()
            finally:
                self._db.execute("commit")

    def _table_roots(self) -> Mapping[str, int]:
        return read_table_roots(self._db.execute(_ROOTS))

    def live_rows(self) -> Iterator[EncodedRow]:
        """All live rows, one by one, in the transaction that is open."""
        return self._decode_rows(self._db.execute(_LIVE))

    def _decode_rows(self, stored_rows: Iterable[tuple[str, str, str | bytes | None]]) -> Iterator[EncodedRow]:
        text = self.compressor.decompress
        return (EncodedRow(kind, key, text(kind, key, value)) for kind, key, value in stored_rows)

    def _read_since(self, after: Position) -> LogDelta:
        tip = self._tip()
        if after.agrees(tip):
            return LogDelta(tip, ())
        if self._db.execute(_KNOWN, (after.sequence, after.identity, after.digest, after.root)).fetchone():
            return LogDelta(tip, tuple(self._decode_rows(self._db.execute(_SINCE, (after.sequence,)))))
        rows = tuple(self.live_rows())
        warn_of_wrong_table_roots(self.path, tip, self._table_roots(), rows)
        return LogDelta(tip, rows, reload=True)
