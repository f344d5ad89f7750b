"""A log as one portable file: its place in history, every live row, and digests that say whether the file is whole.

Lines of JSON in ASCII. The first one is the head, with the state root that the log states and what each table adds to it; then
a list ``[table, key, value]`` for each row, sorted, and last the number of rows and the SHA-256 of all lines before.
"""

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from treaty.core.commit import Position
from treaty.core.limits import DUMP_LINE_BYTES
from treaty.core.root import add, roots_of
from treaty.core.rows import Encoded
from treaty.log.log import LogDelta
from treaty.log.state_roots import find_root_mismatches

FORMAT = 2
"""The format of dumps that this version writes and reads."""
KIND = "treaty log"


class DumpError(ValueError):
    """Bytes that are no whole dump; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a dump says of itself. `position` has the state root that its rows must come to, `roots` what each table adds to
    it; `time` is in ms.
    """

    place: str
    position: Position
    roots: Mapping[str, int] = field(repr=False)
    rows: int
    time: int


def head_of(delta: LogDelta, place: str, time: int, roots: Mapping[str, int] | None = None) -> Head:
    """Return the head for the whole state of a log, as `Log.read` of the start gave it.

    `roots` is what each table adds as the log itself keeps it; where it keeps none, they are those of the rows.
    """
    return Head(place, delta.tip, roots_of(delta.rows) if roots is None else roots, len(delta.rows), time)


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
        "root": head.position.root.hex(),
        "tables": {table: f"{share:064x}" for table, share in sorted(head.roots.items())},
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
    """Read the first line. Raises `DumpError` where it is none of ours, or of another format."""
    members = _json(line, 1)
    if not isinstance(members, dict) or members.get("kind") != KIND:
        raise DumpError("line 1 is no head of a dump: this file was not written by `treaty log dump`")
    found = members.get("format")
    if found != FORMAT:
        old = type(found) is int and found < FORMAT
        remedy = "carry it into a new log with `treaty log upgrade FILE NEW`" if old else "upgrade Treaty"
        raise DumpError(f"the dump has format {found}, known here is {FORMAT}: {remedy}")
    try:
        identity, digest, root = (bytes.fromhex(members[name]) for name in ("identity", "digest", "root"))
        roots = {table: int(share, 16) for table, share in members["tables"].items()}
        position = Position(identity, int(members["sequence"]), digest, root)
        return Head(str(members["log"]), position, roots, int(members["rows"]), int(members.get("time", 0)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DumpError(f"line 1, the head, is damaged: {error!r}") from None


def read_rows(head: Head, first: bytes, lines: Iterable[bytes], *, lenient: bool = False) -> Iterator[Encoded]:
    """Yield the rows after the head, whose line is `first`.

    Raises `DumpError`: at once for a line that is no row, at the end where lines are missing or changed. So nothing
    may be believed before the last row was yielded and the iteration has ended. Who is `lenient` compares the rows with the
    head himself: what was changed is then no error, only what is missing.
    """
    told = hashlib.sha256(first)
    found: dict[str, int] = {}
    count, number, before = 0, 1, ("", "")
    for number, line in enumerate(lines, 2):
        value = _json(line, number)
        if isinstance(value, dict):
            _refuse_end(head, value, count, number)
            if not lenient:
                _refuse_changed(head, value, told.hexdigest(), found)
            return
        row = _row(value, number)
        if count and not lenient and before >= _place(row):
            raise DumpError(
                f"line {number}, row {row.key} of {row.table}, is not in its order, or there twice; copy it again"
            )
        told.update(line)
        add(found, row.table, row.digest)
        count, before = count + 1, _place(row)
        yield row
    raise DumpError(f"the dump was cut short after line {number}: {count} of {head.rows} rows are there; copy it again")


def _refuse_end(head: Head, end: dict[str, object], count: int, number: int) -> None:
    if (end.get("end"), count) != (head.rows, head.rows):
        raise DumpError(f"line {number}: {count} rows are there, {head.rows} should be; copy the dump again")


def _refuse_changed(head: Head, end: dict[str, object], sha256: str, found: Mapping[str, int]) -> None:
    whole = end.get("sha256") == sha256
    cure = "it is what the log was: see `treaty log verify`" if whole else "it was changed: copy it again"
    refuse_disagreement(head, found, f"the dump does not add up, and {cure}")
    if not whole:
        raise DumpError("the dump was changed: the SHA-256 of its lines is another one; copy it again")


def refuse_disagreement(head: Head, found: Mapping[str, int], what: str) -> None:
    """Raise `DumpError` where rows do not come to what a head says, with the tables that do not."""
    wrong = "; ".join(
        f"{fault.table or 'the state'}: {fault.message}"
        for fault in find_root_mismatches(head.position.root, head.roots, found)
    )
    if wrong:
        raise DumpError(f"{what} ({wrong})")


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
