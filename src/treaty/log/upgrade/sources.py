"""From what a command names to the log of format 1 there: the URL of a log, or the file of a dump or backup."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from treaty.core.schema import Pairs
from treaty.log.upgrade.dumps import read_dump
from treaty.log.upgrade.old import OldLog, OldLogError, OldPlace, OldRow, OldState
from treaty.log.upgrade.sqlite import OldSqlite

Lines = Callable[[str], AbstractContextManager[Iterable[bytes]]]
"""Opens a dump, whichever way it is compressed, and gives its lines."""
SQLITE = b"SQLite format 3\x00"


async def open_old(name: str, settings: Pairs, lines: Lines) -> OldLog:
    """Open what holds a log of format 1. Raises `OldLogError` for what holds none, and as its store does."""
    parts = urlsplit(name)
    if parts.scheme == "sqlite":
        return OldSqlite(Path(unquote(parts.path)), name)
    if parts.scheme in {"postgresql", "postgres"}:
        old: OldLog = _module("treaty.log.upgrade.postgres", "asyncpg", "postgres").OldPostgres(name)
        return old
    if parts.scheme == "kafka":
        topic: OldLog = await _module("treaty.log.upgrade.topics", "confluent_kafka", "kafka").open_topic(
            name, settings
        )
        return topic
    return _file(name, lines)


def _file(name: str, lines: Lines) -> OldLog:
    path = Path(name)
    if not path.is_file():
        raise OldLogError(
            f"{name!r} is no log: name a dump, a backup, or a URL that begins with sqlite:, postgresql: or kafka:"
        )
    with path.open("rb") as file:
        is_sqlite = file.read(len(SQLITE)) == SQLITE
    return OldSqlite(path, name) if is_sqlite else OldDump(name, lines)


def _module(name: str, needs: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != needs:
            raise
        raise OldLogError(f"this log needs {needs}: pip install 'treaty[{extra}]'") from missing


class OldDump:
    """An `OldLog` that is a dump: a copy, which nobody writes to."""

    living = False

    def __init__(self, name: str, lines: Lines) -> None:
        """Take the file's name and what opens it."""
        self.url, self._lines = name, lines

    async def read(self) -> OldState:
        """The state that the dump holds."""
        with self._lines(self.url) as lines:
            return read_dump(lines, self.url)

    async def write(self, base: OldPlace, row: OldRow, time: int) -> None:
        """Nothing is written to a copy."""
        raise OldLogError(f"{self.url} is a copy: nothing is written to it")

    async def close(self) -> None:
        """Nothing is open between two calls."""
