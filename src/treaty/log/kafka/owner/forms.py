"""What lies in the topic: a record for each row, and the mark that ends every transaction."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from treaty.core.codec import dumps
from treaty.core.commit import Append, Position
from treaty.core.rows import Encoded

MARK = b'{"log":"sequence"}'
"""Key of the record that says where the log ends. No row has it: keys of rows are lists."""
MARK_FORMAT = 2
STRANGE = "?record"
"""Table under which a record is shown whose key is none of ours; its key is the record's, in hexadecimal."""

Pair = tuple[bytes, bytes | None]
"""Key and value of a record; a value of None takes the row away."""

_DECODER = json.JSONDecoder()


class MarkError(ValueError):
    """A mark that can't be read: damaged or deleted."""


class OtherMarkError(MarkError):
    """A mark of another format than this version's; `newer` tells on which side."""

    def __init__(self, message: str, *, newer: bool) -> None:
        """Keep which."""
        super().__init__(message)
        self.newer = newer


@dataclass(frozen=True, slots=True)
class Mark:
    """The last record of a transaction: which append it was, and how many rows came before it in the transaction."""

    identity: bytes
    attempt: bytes
    parent: bytes
    first: int
    last: int
    digest: bytes
    root: bytes
    """The state root after the append."""
    rows: int

    @property
    def position(self) -> Position:
        """The place right after the append."""
        return Position(self.identity, self.last, self.digest, self.root)


def transaction(append: Append) -> list[Pair]:
    """Return the records of an append: its rows in their last state, each once, then the mark."""
    rows = {(row.table, row.key): row for commit in append.commits for row in commit.rows}
    records: list[Pair] = [(record_key(row), _bytes(row.value)) for row in rows.values()]
    members = {
        "attempt": append.attempt.hex(),
        "digest": append.digest.hex(),
        "first": append.first,
        "identity": append.identity.hex(),
        "last": append.last,
        "parent": append.parent.hex(),
        "root": append.root.hex(),
        "rows": len(rows),
        "v": MARK_FORMAT,
    }
    return [*records, (MARK, dumps({**members, "check": _check(members)}).encode())]


def _check(members: Mapping[str, object]) -> str:
    """What a mark says of itself, so that a bit of it that has changed is noticed: SHA-256 over all other members, cut short."""
    return hashlib.sha256(dumps(members).encode()).hexdigest()[:32]


def read_mark(value: bytes | None) -> Mark:
    """Read a mark. Raises `MarkError` for one that this version can't read."""
    if value is None:
        message = "the record that says where the log ends was deleted"
        raise MarkError(message)
    try:
        members = json.loads(value)
        version, check = members["v"], members.pop("check", None)
        fits = check == _check({**members, "v": MARK_FORMAT})
        if version != MARK_FORMAT and not fits:
            message = f"the record that says where the log ends has format {version}, known is {MARK_FORMAT}"
            raise OtherMarkError(message, newer=version > MARK_FORMAT)
        if version != MARK_FORMAT or not fits:
            message = "the record that says where the log ends was changed: its check does not fit"
            raise MarkError(message)
        identity, attempt, parent, digest, root = (
            bytes.fromhex(members[name]) for name in ("identity", "attempt", "parent", "digest", "root")
        )
        mark = Mark(identity, attempt, parent, members["first"], members["last"], digest, root, members["rows"])
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        if isinstance(error, MarkError):
            raise
        message = f"the record that says where the log ends can't be read ({error!r})"
        raise MarkError(message) from error
    if not all(type(number) is int for number in (mark.first, mark.last, mark.rows)):
        message = "the record that says where the log ends has numbers that are none"
        raise MarkError(message)
    return mark


def record_key(row: Encoded) -> bytes:
    """Return the key of a row's record: JSON of table and key, or what it was for a record that is none of ours."""
    if row.table == STRANGE:
        try:
            strange = bytes.fromhex(json.loads(row.key)[0])
            if strange != MARK:  # no row may take its place
                return strange
        except (ValueError, TypeError, LookupError, RecursionError):
            pass
    return f"[{dumps(row.table)},{row.key}]".encode("utf-8", "surrogatepass")


def read_row(key: bytes, value: bytes | None) -> Encoded:
    """Return the row that a record holds. Never fails: what is none of ours is shown as it is, and kept."""
    table, text = _table_and_key(key)
    if value is None:
        return Encoded(table, text, None)
    try:
        return Encoded(table, text, value.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return Encoded(table, text, dumps(value.hex()))  # no row is a JSON string: it can't be taken for one of ours


def _table_and_key(key: bytes) -> tuple[str, str]:
    try:
        text = key.decode("utf-8", "surrogatepass")
        end = text.find('",', 2)
        plain = text[2:end]
        if text.startswith('["') and text.endswith("]") and plain.isidentifier() and plain.isascii():
            return plain, text[end + 2 : -1]  # as nearly all are, and a load has millions of them
        table, end = _DECODER.raw_decode(text, 1)
        row = Encoded(table, text[end + 1 : -1], None)
        if type(table) is str and record_key(row) == key:
            return table, row.key
    except (ValueError, RecursionError):
        pass
    return STRANGE, dumps([key.hex()])


def _bytes(value: str | None) -> bytes | None:
    return None if value is None else value.encode("utf-8", "surrogatepass")
