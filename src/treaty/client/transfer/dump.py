"""Dump files: one record a line, as JSON or as key, tab and value, the way console consumers print a topic."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from treaty.client.transfer.snapshot import Folding, Problem, Snapshot, records
from treaty.core.limits import DUMP_LINE_BYTES
from treaty.wire.confluent.records import RecordError, record_of

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.encode


@dataclass(frozen=True, slots=True)
class Line:
    """A line's key and value as JSON texts; a value of None is a tombstone."""

    key: bytes
    value: bytes | None


def line_of(text: bytes) -> Line:
    """Read a line: ``{"key": …, "value": …}`` (each an object or its text), or key, tab, value. Raises `RecordError`."""
    if len(text) > DUMP_LINE_BYTES:
        message = f"a line of {len(text)} bytes, more than the limit DUMP_LINE_BYTES of {DUMP_LINE_BYTES}"
        raise RecordError(message)
    head, tab, tail = text.partition(b"\t")
    if tab:
        return Line(head.strip(), None if tail.strip() in {b"null", b""} else tail.strip())
    try:
        members: Any = _decode(text)
    except msgspec.MsgspecError as wrong:
        message = f"neither JSON nor key, tab and value: {wrong}"
        raise RecordError(message) from None
    if not isinstance(members, dict) or "key" not in members:
        message = 'expected {"key": …, "value": …}, or key, tab and value'
        raise RecordError(message)
    key, value = members["key"], members.get("value")
    return Line(_text(key), None if value is None else _text(value))


def _text(member: Any) -> bytes:
    return member.encode() if isinstance(member, str) else _encode(member)


def read_lines(lines: Iterable[bytes]) -> Snapshot:
    """What a dump holds; lines that can't be read become problems, and the others count."""
    folding = Folding()
    for number, text in enumerate(lines, 1):
        if text.strip():
            try:
                line = line_of(text.strip(b"\r\n"))
                folding.add(record_of(line.key, line.value), f"line {number}")
            except RecordError as wrong:
                folding.problems.append(Problem(f"line {number}", "a record", str(wrong)))
    return folding.snapshot()


def write_lines(snapshot: Snapshot) -> Iterator[bytes]:
    """A dump of a snapshot: JSON lines with `key` and `value` as objects."""
    for key, value in records(snapshot):
        yield b'{"key":' + key + b',"value":' + value + b"}\n"
