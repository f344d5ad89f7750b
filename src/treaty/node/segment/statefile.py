"""The state file: a segment of all live rows at one place of the log, mapped into the memory of all who open it.

It is a cache. It is written beside its final place and renamed, so that it is there as a whole or not at all; what does
not fit this version, this log or its own checksums is left aside, and the log is read instead. Checksums and roots are
there for faults. Against attackers the owner of the file is checked: a process that may write it is trusted.
"""

import hashlib
import json
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treaty.core.state.commit import Position, as_root
from treaty.core.state.rows import ROW_FORMAT
from treaty.distribution import VERSION
from treaty.node.segment.build import Column, SegmentContents
from treaty.node.segment.segment import Segment, SegmentDamagedError, totals

RELEASE = VERSION
"""The version of the package: a newer one may find rows by other entries."""
INDEX_FORMAT = 2
"""Goes up when rows are kept or found by other entries, so that a file of the same version of the package is left aside."""
KIND = int.from_bytes(hashlib.sha256(f"{RELEASE} {INDEX_FORMAT}".encode()).digest()[:8], "big")
"""The same as a number, by which a log that keeps state files for several releases distinguishes them."""


# ------------------------------------------------------------------------------------------------------------- the file

MAGIC = b"TRTYSTAT"
FORMAT = 1
"""The layout of files that this version writes and reads."""
_HEAD = struct.Struct(">8sII")
"""Magic, format, bytes of the JSON that follows."""
ALIGN = 64
HEAD_BYTES = 1_048_576
"""Bytes that the JSON may have."""


class StateFileError(Exception):
    """A file that can't be used; the message says why. The log has everything that is in it."""


@dataclass(frozen=True, slots=True)
class StateFile:
    """A state file that was opened: its rows, the place in the log that they show, and when it was written (ms)."""

    segment: Segment
    position: Position
    written: int
    bytes: int
    check: Callable[[], None]
    """Looks at every byte; raises `SegmentDamagedError`."""
    bookmark: int | None = None
    """The bookmark of the position, for logs that need one (see `ResumableLog`)."""

    @property
    def roots(self) -> Mapping[str, int]:
        """What each table adds to the state root, as the file says. Raises `SegmentDamagedError`."""
        return totals(self.segment.roots, self.segment.raw_rows())


def write_state(
    path: Path, built: SegmentContents, position: Position, written: int, bookmark: int | None = None
) -> int:
    """Write a state file and return its size in bytes. Raises `OSError`; an older file then stays."""
    columns, offset = {}, 0
    for name, data in built.columns.items():
        columns[name] = [offset, _size(data), _crc(data)]
        offset += -(-_size(data) // ALIGN) * ALIGN
    head = {
        "rowFormat": ROW_FORMAT,
        "release": RELEASE,
        "indexFormat": INDEX_FORMAT,
        "identity": position.identity.hex(),
        "sequence": position.sequence,
        "digest": position.digest.hex(),
        "root": position.root.hex(),
        "roots": {table: f"{total:064x}" for table, total in built.roots.items()},
        "written": written,
        "counts": built.counts,
        "columns": columns,
        **({} if bookmark is None else {"bookmark": bookmark}),
    }
    text = json.dumps(head).encode("ascii")
    half = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with half.open("xb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(_HEAD.pack(MAGIC, FORMAT, len(text)) + zlib.crc32(text).to_bytes(4, "big") + text)
            start = -(-file.tell() // ALIGN) * ALIGN
            for name, data in built.columns.items():
                file.seek(start + columns[name][0])
                for part in data:
                    file.write(part)
            file.truncate(start + offset)
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
    return start + offset


def _size(column: Column) -> int:
    return sum(map(len, column))


def _crc(column: Column) -> int:
    checksum = 0
    for part in column:
        checksum = zlib.crc32(part, checksum)
    return checksum


def is_state(path: Path) -> bool:
    """Return whether something is a file that begins as state files do."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def open_state(path: Path, *, to_check: bool = False) -> StateFile:
    """Map a state file. Columns are checked when they are first needed, its place by who reads the log from there on.

    Raises `StateFileError` where there is none, none that this version can use, or none that can be trusted. `to_check`
    is for who looks for faults: a file of anybody, whatever it comes to. Raises `SegmentDamagedError` as reading it
    does.
    """
    try:
        with path.open("rb") as file:
            if not to_check:
                _refuse_others(path, os.fstat(file.fileno()))
            memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    except (OSError, ValueError) as error:
        raise StateFileError(f"{path} can't be read: {error}") from None
    head, start = _head(path, memory)
    try:
        identity, digest, root = (bytes.fromhex(head[name]) for name in ("identity", "digest", "root"))
        place = Position(identity, int(head["sequence"]), digest, root)
        columns = {str(name): (int(at), int(size), int(crc)) for name, (at, size, crc) in head["columns"].items()}
        counts = {str(name): int(count) for name, count in head["counts"].items()}
        roots = {str(table): int(total, 16) for table, total in head["roots"].items()}
        written = int(head["written"])
        bookmark = int(head["bookmark"]) if "bookmark" in head else None
    except (KeyError, TypeError, ValueError) as error:
        raise StateFileError(f"{path}: its head is damaged: {error!r}") from None
    if any(start + at + size > len(memory) for at, size, _ in columns.values()):
        raise StateFileError(f"{path} was cut short")
    mapped = memoryview(memory)
    parts = {name: (mapped[start + at : start + at + size], crc) for name, (at, size, crc) in columns.items()}
    segment = Segment(_column(path, parts), counts, roots, careful=not to_check)
    state_file = StateFile(segment, place, written, len(memory), lambda: _check(path, parts), bookmark)
    if not to_check and as_root(state_file.roots) != place.root:
        come = as_root(state_file.roots).hex()
        raise StateFileError(f"{path}: its tables come to the state root {come}, its head says {place.root.hex()}")
    return state_file


def _refuse_others(path: Path, status: os.stat_result) -> None:
    """Refuse a file that somebody else may have written. Who may write its folder can put a file there, but none of
    this user.
    """
    if not hasattr(os, "geteuid"):  # Windows
        return
    if status.st_uid not in {os.geteuid(), 0}:
        raise StateFileError(
            f"{path} belongs to user {status.st_uid}: a state file is taken from this process's user ({os.geteuid()}) "
            f"and from root; remove it, or change its owner"
        )
    if status.st_mode & 0o022:
        mode = f"{status.st_mode & 0o777:04o}"
        raise StateFileError(f"{path} may be written by its group or by others (mode {mode}): chmod 600, or remove it")


def _head(path: Path, memory: mmap.mmap) -> tuple[dict[str, Any], int]:
    if len(memory) < _HEAD.size + 4:
        raise StateFileError(f"{path} is no state file")
    magic, layout, size = _HEAD.unpack_from(memory)
    if magic != MAGIC:
        raise StateFileError(f"{path} is no state file")
    if layout != FORMAT or size > HEAD_BYTES:
        raise StateFileError(f"{path} has format {layout}, known here is {FORMAT}")
    begin = _HEAD.size + 4
    text = memory[begin : begin + size]
    if zlib.crc32(text) != int.from_bytes(memory[_HEAD.size : begin], "big"):
        raise StateFileError(f"{path}: its head is damaged")
    head = json.loads(text)
    if head.get("rowFormat") != ROW_FORMAT or head.get("release") != RELEASE or head.get("indexFormat") != INDEX_FORMAT:
        raise StateFileError(f"{path} was written by release {head.get('release')} of Treaty, this is {RELEASE}")
    return head, -(-(begin + size) // ALIGN) * ALIGN


def _column(path: Path, parts: dict[str, tuple[memoryview, int]]) -> Callable[[str], memoryview]:
    """Give columns by name. Blocks of rows have checksums of their own, all others are checked here."""

    def column(name: str) -> memoryview:
        if name not in parts:
            return memoryview(b"")
        if not name.startswith("data:"):
            _check(path, {name: parts[name]})
        return parts[name][0]

    return column


def _check(path: Path, parts: dict[str, tuple[memoryview, int]]) -> None:
    for name, (part, crc) in parts.items():
        if zlib.crc32(part) != crc:
            raise SegmentDamagedError(f"the state file {path}: column {name} is damaged; the log is read again")
