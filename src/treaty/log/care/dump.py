"""A log as one portable file: its place in history, every live row, and a digest that says whether the file is whole.

Lines of JSON in ASCII. The first one is the head, then a list ``[table, key, value]`` for each row, sorted, and last
the number of rows and the SHA-256 of all lines before.
"""

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from treaty.core.commit import Position
from treaty.core.limits import DUMP_LINE_BYTES
from treaty.core.rows import Encoded
from treaty.log.log import Delta

FORMAT = 1
"""The newest format of dumps that this version writes and reads."""
KIND = "treaty log"
_MODULUS = 2**256


class DumpError(ValueError):
    """Bytes that are no whole dump; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a dump says of itself. `state` is the state root (hex) that its rows must come to; `time` is in ms."""

    place: str
    position: Position
    state: str
    rows: int
    time: int


def head_of(delta: Delta, place: str, time: int) -> Head:
    """Return the head for the whole state of a log, as `Log.read` of the start gave it."""
    return Head(place, delta.tip, f"{state_root(delta.rows):064x}", len(delta.rows), time)


def state_root(rows: Iterable[Encoded]) -> int:
    """Return the state root of rows: the sum of their digests modulo 2**256."""
    return sum(row.digest for row in rows) % _MODULUS


def write_dump(head: Head, rows: Iterable[Encoded]) -> Iterator[bytes]:
    """Yield the lines of a dump; the same state gives the same lines but for head and time."""
    told = hashlib.sha256()
    members = {
        "kind": KIND,
        "format": FORMAT,
        "log": head.place,
        "identity": head.position.identity.hex(),
        "sequence": head.position.sequence,
        "digest": head.position.digest.hex(),
        "state": head.state,
        "rows": head.rows,
        "time": head.time,
    }
    count = 0
    values: Iterator[object] = ([row.table, row.key, row.value] for row in sorted(rows, key=_place))
    for value in itertools.chain([members], values):
        line = _line(value)
        told.update(line)
        count += 1
        yield line
    yield _line({"end": count - 1, "sha256": told.hexdigest()})


def _place(row: Encoded) -> tuple[str, str]:
    return row.table, row.key


def _line(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"


def read_head(line: bytes) -> Head:
    """Read the first line. Raises `DumpError` where it is none of ours, or of a newer format."""
    members = _json(line, 1)
    if not isinstance(members, dict) or members.get("kind") != KIND:
        raise DumpError("line 1 is no head of a dump: this file was not written by `treaty log dump`")
    if members.get("format") != FORMAT:
        raise DumpError(f"the dump has format {members.get('format')}, known here is {FORMAT}: upgrade Treaty")
    try:
        position = Position(
            bytes.fromhex(members["identity"]), int(members["sequence"]), bytes.fromhex(members["digest"])
        )
        return Head(
            str(members["log"]), position, str(members["state"]), int(members["rows"]), int(members.get("time", 0))
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DumpError(f"line 1, the head, is damaged: {error!r}") from None


def read_rows(head: Head, first: bytes, lines: Iterable[bytes]) -> Iterator[Encoded]:
    """Yield the rows after the head, whose line is `first`.

    Raises `DumpError`: at once for a line that is no row, at the end where lines are missing or changed. So nothing
    may be believed before the last row was yielded and the iteration has ended.
    """
    told = hashlib.sha256(first)
    state, count, number = 0, 0, 1
    for number, line in enumerate(lines, 2):
        value = _json(line, number)
        if isinstance(value, dict):
            _refuse_end(head, value, (count, told.hexdigest(), f"{state:064x}"), number)
            return
        row = _row(value, number)
        told.update(line)
        state = (state + row.digest) % _MODULUS
        count += 1
        yield row
    raise DumpError(f"the dump was cut short after line {number}: {count} of {head.rows} rows are there; copy it again")


def _refuse_end(head: Head, end: dict[str, object], seen: tuple[int, str, str], number: int) -> None:
    count, sha256, state = seen
    if (end.get("end"), count) != (head.rows, head.rows):
        raise DumpError(f"line {number}: {count} rows are there, {head.rows} should be; copy the dump again")
    if end.get("sha256") != sha256:
        raise DumpError("the dump was changed: the SHA-256 of its lines is another one; copy it again")
    if state != head.state:
        raise DumpError("the rows of the dump do not come to the state root that its head names")


def _row(value: object, number: int) -> Encoded:
    if not isinstance(value, list) or len(value) != 3 or not all(isinstance(part, str) for part in value):
        raise DumpError(f"line {number} is no row: a list of table, key and value")
    return Encoded(value[0], value[1], value[2])


def _json(line: bytes, number: int) -> object:
    if len(line) > DUMP_LINE_BYTES:
        raise DumpError(f"line {number} has {len(line)} bytes, at most {DUMP_LINE_BYTES} (DUMP_LINE_BYTES) are read")
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DumpError(f"line {number} is no JSON: {error}") from None
