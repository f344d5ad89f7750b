"""Records of the topic: one per row, and the end record of every transaction."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from treaty.core.state.codec import dumps
from treaty.core.state.commit import Append, Position
from treaty.core.state.rows import EncodedRow

END_KEY = b'{"log":"sequence"}'
"""Key of the record that says where the log ends. No row has it: keys of rows are lists."""
END_FORMAT = 1
FOREIGN_TABLE = "?record"
"""Table under which a record is shown whose key is none of ours; its key is the record's, in hexadecimal."""

KeyedValue = tuple[bytes, bytes | None]
"""Key and value of a record; a value of None takes the row away."""

_DECODER = json.JSONDecoder()


class EndRecordError(ValueError):
    """An end record that can't be read: damaged or deleted."""


class EndRecordFormatError(EndRecordError):
    """An end record of another format than this version's."""


@dataclass(frozen=True, slots=True)
class EndRecord:
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
        """The position right after the append."""
        return Position(self.identity, self.last, self.digest, self.root)


def make_transaction(append: Append) -> list[KeyedValue]:
    """Return the records of an append: its rows in their last state, each once, then the end record."""
    rows = {(row.table, row.key): row for commit in append.commits for row in commit.rows}
    records: list[KeyedValue] = [(make_record_key(row), _encode_value(row.value)) for row in rows.values()]
    members = {
        "attempt": append.attempt.hex(),
        "digest": append.digest.hex(),
        "first": append.first,
        "identity": append.identity.hex(),
        "last": append.last,
        "parent": append.parent.hex(),
        "root": append.root.hex(),
        "rows": len(rows),
        "v": END_FORMAT,
    }
    return [*records, (END_KEY, dumps({**members, "check": _checksum(members)}).encode())]


def _checksum(members: Mapping[str, object]) -> str:
    """What an end record says of itself, so that a bit of it that has changed is noticed: SHA-256 over all other
    members, cut short.
    """
    return hashlib.sha256(dumps(members).encode()).hexdigest()[:32]


def read_end_record(value: bytes | None) -> EndRecord:
    """Read an end record. Raises `EndRecordError` for one that this version can't read."""
    if value is None:
        message = "the record that says where the log ends was deleted"
        raise EndRecordError(message)
    try:
        members = json.loads(value)
        version, check = members["v"], members.pop("check", None)
        fits = check == _checksum({**members, "v": END_FORMAT})
        if version != END_FORMAT and not fits:
            message = f"the record that says where the log ends has format {version}, known is {END_FORMAT}"
            raise EndRecordFormatError(message)
        if version != END_FORMAT or not fits:
            message = "the record that says where the log ends was changed: its check does not fit"
            raise EndRecordError(message)
        identity, attempt, parent, digest, root = (
            bytes.fromhex(members[name]) for name in ("identity", "attempt", "parent", "digest", "root")
        )
        end = EndRecord(identity, attempt, parent, members["first"], members["last"], digest, root, members["rows"])
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        if isinstance(error, EndRecordError):
            raise
        message = f"the record that says where the log ends can't be read ({error!r})"
        raise EndRecordError(message) from error
    if not all(type(number) is int for number in (end.first, end.last, end.rows)):
        message = "the record that says where the log ends has numbers that are none"
        raise EndRecordError(message)
    return end


def make_record_key(row: EncodedRow) -> bytes:
    """Return the key of a row's record: JSON of table and key, or what it was for a record that is none of ours."""
    if row.table == FOREIGN_TABLE:
        try:
            strange = bytes.fromhex(json.loads(row.key)[0])
            if strange != END_KEY:  # no row may have its key
                return strange
        except (ValueError, TypeError, LookupError, RecursionError):
            pass
    return f"[{dumps(row.table)},{row.key}]".encode("utf-8", "surrogatepass")


def read_row(key: bytes, value: bytes | None) -> EncodedRow:
    """Return the row that a record holds. Never fails: what is none of ours is shown as it is, and kept."""
    table, text = _parse_key(key)
    if value is None:
        return EncodedRow(table, text, None)
    try:
        return EncodedRow(table, text, value.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return EncodedRow(table, text, dumps(value.hex()))  # no row is a JSON string: it can't be taken for one of ours


def _parse_key(key: bytes) -> tuple[str, str]:
    try:
        text = key.decode("utf-8", "surrogatepass")
        end = text.find('",', 2)
        plain = text[2:end]
        if text.startswith('["') and text.endswith("]") and plain.isidentifier() and plain.isascii():
            return plain, text[end + 2 : -1]  # as nearly all are, and a load has millions of them
        table, end = _DECODER.raw_decode(text, 1)
        row = EncodedRow(table, text[end + 1 : -1], None)
        if type(table) is str and make_record_key(row) == key:
            return table, row.key
    except (ValueError, RecursionError):
        pass
    return FOREIGN_TABLE, dumps([key.hex()])


def _encode_value(value: str | None) -> bytes | None:
    return None if value is None else value.encode("utf-8", "surrogatepass")
