"""From what a command names to the log of format 1 there: the URL of a log, or the file of a dump or backup."""

import hashlib
import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from treaty.core.limits import DUMP_LINE_BYTES
from treaty.core.schema import Pairs
from treaty.distribution import install_command
from treaty.log.upgrade.old_format import FORMAT, MODULUS, OldLog, OldLogError, OldPosition, OldRow, OldState
from treaty.log.upgrade.sqlite import OldSqlite

KIND = "treaty log"


def read_old_dump(lines: Iterable[bytes], name: str) -> OldState:
    """Read a whole dump of format 1. Raises `OldLogError` where it is none, or not whole."""
    checksum, head, rows, total = hashlib.sha256(), None, [], 0
    for number, line in enumerate(lines, 1):
        value = _parse_json(line, number, name)
        if head is None:
            head = _parse_head(value, name)
        elif isinstance(value, list) and len(value) == 3 and all(isinstance(part, str) for part in value):
            row = OldRow(*value)
            rows.append(row)
            total = (total + row.digest_share) % MODULUS
        elif isinstance(value, dict):
            if (value.get("end"), value.get("sha256")) != (len(rows), checksum.hexdigest()) or head["rows"] != len(
                rows
            ):
                raise OldLogError(f"{name} was changed or cut: its last line does not fit; copy the dump again")
            if f"{total:064x}" != head["state"]:
                raise OldLogError(f"{name}: its rows do not come to the state digest that its head names")
            return OldState(name, _parse_position(head, name), tuple(rows))
        else:
            raise OldLogError(f"{name}: line {number} is no row: a list of table, key and value")
        checksum.update(line)
    raise OldLogError(f"{name} was cut short after {len(rows)} rows; copy the dump again")


def _parse_json(line: bytes, number: int, name: str) -> object:
    if len(line) > DUMP_LINE_BYTES:
        raise OldLogError(
            f"{name}: line {number} has {len(line)} bytes, at most {DUMP_LINE_BYTES} (DUMP_LINE_BYTES) are read"
        )
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise OldLogError(f"{name}: line {number} is no JSON: {error}") from None


def _parse_head(value: object, name: str) -> dict[str, object]:
    if not isinstance(value, dict) or value.get("kind") != KIND:
        raise OldLogError(f"{name} is no dump: it was not written by `treaty log dump`")
    if value.get("format") != FORMAT:
        raise OldLogError(
            f"{name} is a dump of format {value.get('format')}: only those of format {FORMAT} are upgraded"
        )
    return value


def _parse_position(head: dict[str, object], name: str) -> OldPosition:
    try:
        return OldPosition(
            bytes.fromhex(str(head["identity"])), int(str(head["sequence"])), bytes.fromhex(str(head["digest"]))
        )
    except (KeyError, ValueError) as error:
        raise OldLogError(f"{name}: its head is damaged: {error!r}") from None


DumpOpener = Callable[[str], AbstractContextManager[Iterable[bytes]]]
"""Opens a dump, whichever way it is compressed, and gives its lines."""
SQLITE_MAGIC = b"SQLite format 3\x00"


async def open_old_log(name: str, settings: Pairs, lines: DumpOpener) -> OldLog:
    """Open what holds a log of format 1. Raises `OldLogError` for what holds none, and as its store does."""
    parts = urlsplit(name)
    if parts.scheme == "sqlite":
        return OldSqlite(Path(unquote(parts.path)), name)
    if parts.scheme in {"postgresql", "postgres"}:
        old: OldLog = _import_backend("treaty.log.upgrade.postgres", "asyncpg", "postgres").OldPostgres(name)
        return old
    if parts.scheme == "kafka":
        topic: OldLog = await _import_backend("treaty.log.upgrade.topics", "confluent_kafka", "kafka").open_old_topic(
            name, settings
        )
        return topic
    return _open_file(name, lines)


def _open_file(name: str, lines: DumpOpener) -> OldLog:
    path = Path(name)
    if not path.is_file():
        raise OldLogError(
            f"{name!r} is no log: name a dump, a backup, or a URL that begins with sqlite:, postgresql: or kafka:"
        )
    with path.open("rb") as file:
        is_sqlite = file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
    return OldSqlite(path, name) if is_sqlite else OldDump(name, lines)


def _import_backend(name: str, needs: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != needs:
            raise
        raise OldLogError(f"this log needs {needs}: {install_command(extra)}") from missing


class OldDump:
    """An `OldLog` that is a dump: a copy, which is not written to."""

    living = False

    def __init__(self, name: str, lines: DumpOpener) -> None:
        """Take the file's name and what opens it."""
        self.url, self._opener = name, lines

    async def read(self) -> OldState:
        """The state that the dump holds."""
        with self._opener(self.url) as lines:
            return read_old_dump(lines, self.url)

    async def write(self, base: OldPosition, row: OldRow, time: int) -> None:
        """Nothing is written to a copy."""
        raise OldLogError(f"{self.url} is a copy: nothing is written to it")

    async def close(self) -> None:
        """Nothing is open between two calls."""
