"""The layout of a log in a SQLite file: how it is created and recognised, and the meaning of SQLite's errors."""

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from treaty.log.log import LogDamagedError, LogUnavailableError
from treaty.log.sqlite.compression import DICTIONARY_TABLE

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


def result_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, or 0 where the error came from the Python side."""
    extended: int = getattr(error, "sqlite_errorcode", 0)
    return extended & 0xFF


class translate_errors:  # noqa: N801 - reads as what it does; a generator takes half as long again, in each append
    """Raise `LogDamagedError` or `LogUnavailableError` for what goes wrong in a block."""

    __slots__ = ("_doing", "_path")

    def __init__(self, path: str, doing: str) -> None:
        """Say of which file, and while doing what."""
        self._path, self._doing = path, doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, sqlite3.Error | UnicodeDecodeError | OSError):
            raise _translate(error, self._path, self._doing) from error


def _translate(error: sqlite3.Error | UnicodeDecodeError | OSError, path: str, doing: str) -> Exception:
    if isinstance(error, UnicodeDecodeError):
        return LogDamagedError(
            f"{path} is damaged (a text in it is not UTF-8, while {doing}): "
            "stop all nodes, keep a copy of it and of the files beside it, and restore a backup"
        )
    if isinstance(error, OSError):
        remedy = "check that its folder exists or can be made, and that this user may write there"
        return LogUnavailableError(f"{path} can't be used ({error.strerror}, while {doing}): {remedy}")
    if result_code(error) in _DAMAGE or str(error).startswith("no such "):
        return LogDamagedError(
            f"{path} is damaged, or no log of Treaty ({error}, while {doing}): "
            "stop all nodes, keep a copy of it and of the files beside it, and restore a backup"
        )
    remedy = _REMEDIES.get(result_code(error), "see the message")
    return LogUnavailableError(f"{path} can't be used ({error}, while {doing}): {remedy}")


APPLICATION = 0x54525459
"""`TRTY`, in the file's head: says whose file it is."""
BACKUP = 0x54525442
"""``TRTB``: a copy that `treaty log backup` has made, which no node opens as a log."""
LAYOUT = 1
"""The newest layout of the tables that this version knows (`PRAGMA user_version`)."""
WAL_BYTES = 8_388_608
"""Size to which the file beside it, which takes the commits first, is cut back when it has grown beyond."""
WAL_MOST = 67_108_864
"""Size beyond which writers stop for readers, so that it can be cut: readers that overlap for ever keep it growing."""

MIGRATIONS: tuple[str, ...] = (
    f"""
create table state_row (
  state_table text not null,
  key text not null,         -- canonical JSON
  value text,                -- canonical JSON, or a blob of it that is compressed; null is a tombstone
  sequence integer not null, -- of the append's end that last changed it
  primary key (state_table, key)
);
create index state_row_by_sequence on state_row (sequence);
create index tombstone on state_row (sequence) where value is null;
create table log_append (
  last integer primary key,
  first integer not null,
  identity blob not null,
  attempt blob not null,
  digest blob not null,
  root blob not null         -- the state root after it, 32 bytes
);
create table table_root (
  state_table text primary key,
  root blob not null         -- what the table adds to the state root of the last append, 32 bytes
) without rowid;
{DICTIONARY_TABLE}
""",
)
"""What makes the tables of the first layout, and what leads from each layout to the next one. Nodes of an older
version may have the file open meanwhile: a step after which they would write wrongly gives another name to what they
write to, so that they stop.
"""
_OURS = "select count(*) from sqlite_master where type = 'table' and name in ('state_row', 'log_append', 'table_root')"
_TABLES = 3
_ANYTHING = "select count(*) from sqlite_master"
RETRY_SECONDS = 0.001
"""Seconds between two tries of what SQLite doesn't wait for by itself."""


def create_file(path: str) -> None:
    """Make an empty file that only this user can read, and its folder, where they are missing.

    An existing file is not even opened: closing it would take away the locks of this process's other connections.
    """
    folder = Path(path).parent
    missing = [missing_folder for missing_folder in (folder, *folder.parents) if not missing_folder.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for missing_folder in missing:
        sync_folder(missing_folder.parent)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def sync_folder(folder: Path) -> None:
    """Have what was made in a folder survive a crash. SQLite does so for its files, not for folders above them."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def prepare_log(connection: sqlite3.Connection, path: str, seconds: float, *, durable: bool = True) -> None:
    """Recognise the file as a log, bring an older one up to date, or make a log of an empty one; wait at most `seconds`
    for others who do the same.

    A copy that SQLite made of a log has lost WAL, and gets it back. Raises `LogDamagedError` for what is no log, and
    leaves it as it is.
    """
    connection.execute(f"pragma synchronous = {'full' if durable else 'normal'}")
    connection.execute(f"pragma journal_size_limit = {WAL_BYTES}")
    layout = _read_layout_in(connection, path, "begin")
    end = time.monotonic() + seconds
    while _fetch_value(connection, "pragma journal_mode") != "wal":
        try:
            connection.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if result_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(RETRY_SECONDS)
    if layout == LAYOUT or _read_layout_in(connection, path, "begin immediate", keep_open=True) == LAYOUT:
        return
    _migrate(connection, read_layout(connection, path), APPLICATION)


def prepare_backup(connection: sqlite3.Connection, path: str) -> None:
    """Recognise the file as a backup, and bring one of an older version up to date. Raises `LogDamagedError` for
    another thing.
    """
    layout = read_layout(connection, path, BACKUP)
    if not layout:
        raise LogDamagedError(f"{path} is empty, not a backup of a log")
    if layout < LAYOUT:
        connection.execute("begin immediate")
        _migrate(connection, layout, BACKUP)


def _migrate(connection: sqlite3.Connection, layout: int, mark: int) -> None:
    """Take the steps that are missing, in the transaction that is open, and end it."""
    for script in MIGRATIONS[layout:LAYOUT]:
        for statement in script.split(";\n"):
            connection.execute(statement)
    connection.execute(f"pragma application_id = {mark}")
    connection.execute(f"pragma user_version = {LAYOUT}")
    connection.execute("commit")


def _read_layout_in(connection: sqlite3.Connection, path: str, begin: str, *, keep_open: bool = False) -> int:
    """Look at the file in one transaction: others may be making a log of it. Keep it open where there is work to do."""
    connection.execute(begin)
    layout = read_layout(connection, path)
    if layout == LAYOUT or not keep_open:
        connection.execute("rollback")
    return layout


def read_layout(connection: sqlite3.Connection, path: str, mark: int = APPLICATION) -> int:
    """Return the layout of a log, 0 for an empty file. Raises `LogDamagedError` where it is another thing than `mark`
    says, or has a newer layout.
    """
    application = _fetch_value(connection, "pragma application_id")
    layout = int(_fetch_value(connection, "pragma user_version"))
    if application == mark and 0 < layout <= LAYOUT:
        if _fetch_value(connection, _OURS) != _TABLES:
            raise LogDamagedError(f"{path} has lost its tables: stop all nodes and restore a backup")
        return layout
    if application == BACKUP and mark == APPLICATION:
        raise LogDamagedError(
            f"{path} is a backup, not a log: make a log of it with `treaty log restore {path} NEW-LOG`"
        )
    if application == mark and layout > LAYOUT:
        raise LogDamagedError(f"{path} has layout {layout}, known here is {LAYOUT}: upgrade this node")
    if application or layout or _fetch_value(connection, _ANYTHING):
        raise LogDamagedError(f"{path} is a SQLite file of another program, not a log of Treaty: give another file")
    return 0


def _fetch_value(connection: sqlite3.Connection, statement: str) -> int | str:
    value: int | str = connection.execute(statement).fetchone()[0]
    return value
