"""Dumps: a log as one portable file, with its position, every live row, and digests that prove its integrity.

Lines of JSON in ASCII. The first one is the head, with the state root that the log states and what each table adds to
it; then a list ``[table, key, value]`` for each row, sorted, and last the number of rows and the SHA-256 of all lines
before. Files are compressed with zstandard, as a stream.
"""

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO

import zstandard

from treaty.core.limits import DUMP_LINE_BYTES
from treaty.core.state.commit import Position, add_share, roots_of
from treaty.core.state.rows import EncodedRow
from treaty.log.log import LogDelta
from treaty.log.state_roots import find_root_mismatches

FORMAT = 1
"""The format of dumps that this version writes and reads."""
KIND = "treaty log"


class DumpError(ValueError):
    """Bytes that are no whole dump; the message says where and why."""


@dataclass(frozen=True, slots=True)
class DumpHead:
    """What a dump says of itself. `position` has the state root that its rows must come to, `roots` what each table
    adds to it; `time` is in ms.
    """

    log_url: str
    position: Position
    roots: Mapping[str, int] = field(repr=False)
    rows: int
    time: int


def make_head(delta: LogDelta, log_url: str, time: int, roots: Mapping[str, int] | None = None) -> DumpHead:
    """Return the head for the whole state of a log, as `Log.read` of the start gave it.

    `roots` is what each table adds as the log itself keeps it; where it keeps none, they are those of the rows.
    """
    return DumpHead(log_url, delta.tip, roots_of(delta.rows) if roots is None else roots, len(delta.rows), time)


def write_dump(head: DumpHead, rows: Iterable[EncodedRow]) -> Iterator[bytes]:
    """Yield the lines of a dump; the same state gives the same lines but for head and time."""
    checksum = hashlib.sha256()
    members = {
        "kind": KIND,
        "format": FORMAT,
        "log": head.log_url,
        "identity": head.position.identity.hex(),
        "sequence": head.position.sequence,
        "digest": head.position.digest.hex(),
        "root": head.position.root.hex(),
        "tables": {table: f"{share:064x}" for table, share in sorted(head.roots.items())},
        "rows": head.rows,
        "time": head.time,
    }
    count = 0
    values: Iterator[object] = ([row.table, row.key, row.value] for row in sorted(rows, key=_sort_key))
    for value in itertools.chain([members], values):
        line = _encode_line(value)
        checksum.update(line)
        count += 1
        yield line
    yield _encode_line({"end": count - 1, "sha256": checksum.hexdigest()})


def _sort_key(row: EncodedRow) -> tuple[str, str]:
    return row.table, row.key


def _encode_line(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"


def read_head(line: bytes) -> DumpHead:
    """Read the first line. Raises `DumpError` where it is none of ours, or of another format."""
    members = _parse_json(line, 1)
    if not isinstance(members, dict) or members.get("kind") != KIND:
        raise DumpError("line 1 is not the head of a dump: this file was not written by `treaty log dump`")
    format_number = members.get("format")
    if format_number != FORMAT:
        raise DumpError(f"the dump has format {format_number}, known here is {FORMAT}: upgrade Treaty")
    try:
        identity, digest, root = (bytes.fromhex(members[name]) for name in ("identity", "digest", "root"))
        roots = {table: int(share, 16) for table, share in members["tables"].items()}
        position = Position(identity, int(members["sequence"]), digest, root)
        return DumpHead(str(members["log"]), position, roots, int(members["rows"]), int(members.get("time", 0)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DumpError(f"line 1, the head, is damaged: {error!r}") from None


def read_rows(head: DumpHead, first: bytes, lines: Iterable[bytes], *, lenient: bool = False) -> Iterator[EncodedRow]:
    """Yield the rows after the head, whose line is `first`.

    Raises `DumpError`: at once for a line that is no row, at the end where lines are missing or changed. So no row may
    be trusted before the last row was yielded and the iteration has ended. Who is `lenient` compares the rows with the
    head himself: what was changed is then no error, only what is missing.
    """
    checksum = hashlib.sha256(first)
    shares: dict[str, int] = {}
    count, number, before = 0, 1, ("", "")
    for number, line in enumerate(lines, 2):
        value = _parse_json(line, number)
        if isinstance(value, dict):
            _refuse_end(head, value, count, number)
            if not lenient:
                _refuse_changed(head, value, checksum.hexdigest(), shares)
            return
        row = _parse_row(value, number)
        if count and before >= _sort_key(row):
            raise DumpError(
                f"line {number}, row {row.key} of {row.table}, is not in its order, or there twice; copy it again"
            )
        checksum.update(line)
        add_share(shares, row.table, row.digest)
        count, before = count + 1, _sort_key(row)
        yield row
    raise DumpError(f"the dump was cut short after line {number}: {count} of {head.rows} rows are there; copy it again")


def _refuse_end(head: DumpHead, end: dict[str, object], count: int, number: int) -> None:
    if (end.get("end"), count) != (head.rows, head.rows):
        raise DumpError(f"line {number}: the dump has {count} rows instead of {head.rows}; copy it again")


def _refuse_changed(head: DumpHead, end: dict[str, object], sha256: str, shares: Mapping[str, int]) -> None:
    is_unchanged = end.get("sha256") == sha256
    cure = "it is what the log was: see `treaty log verify`" if is_unchanged else "it was changed: copy it again"
    refuse_root_mismatch(head, shares, f"the dump does not add up, and {cure}")
    if not is_unchanged:
        raise DumpError("the dump was changed: the SHA-256 of its lines is wrong; copy it again")


def refuse_root_mismatch(head: DumpHead, shares: Mapping[str, int], what: str) -> None:
    """Raise `DumpError` where rows do not come to what a head says, with the tables that do not."""
    faults = "; ".join(
        f"{fault.table or 'the state'}: {fault.message}"
        for fault in find_root_mismatches(head.position.root, head.roots, shares)
    )
    if faults:
        raise DumpError(f"{what} ({faults})")


def _parse_row(value: object, number: int) -> EncodedRow:
    if not isinstance(value, list) or len(value) != 3 or not all(isinstance(part, str) for part in value):
        raise DumpError(f"line {number} is not a row: a list of table, key and value")
    return EncodedRow(value[0], value[1], value[2])


def _parse_json(line: bytes, number: int) -> object:
    if len(line) > DUMP_LINE_BYTES:
        raise DumpError(f"line {number} has {len(line)} bytes, at most {DUMP_LINE_BYTES} (DUMP_LINE_BYTES) are read")
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DumpError(f"line {number} is no JSON: {error}") from None


COMPRESSION_LEVEL = 10
"""Dumps are written seldom and kept long."""
MAX_WINDOW_BYTES = 134_217_728
"""The largest window that is read: what asks for more is refused, whatever it claims."""


def compress_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Compress lines; the frame is closed at their end."""
    work = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compressobj()
    for line in lines:
        piece = work.compress(line)
        if piece:
            yield piece
    yield work.flush()


def decompress_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a compressed file. Raises `OSError` where it is damaged."""
    rest = b""
    try:
        with zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).stream_reader(file) as reader:
            while piece := reader.read(1 << 20):
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    yield line + b"\n"
                if len(rest) > DUMP_LINE_BYTES:
                    break
    except zstandard.ZstdError as error:
        raise OSError(0, f"damaged: {error}", getattr(file, "name", None)) from None
    if rest:
        yield rest
