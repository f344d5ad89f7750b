"""Rows of state tables, and their portable form: JSON, canonical, with a format number.

A row of an unknown table, of a newer row format, or with an invalid value is an unreadable row: it is kept unchanged,
shown in the status (quarantine), and makes the node read-only.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

from treaty.core.refusals import Unavailable
from treaty.core.state.codec import DecodeError, decode, dumps, encode
from treaty.core.state.state_tables import TABLES, UNROOTED
from treaty.core.state.table import K, Key, Table, V
from treaty.core.state.values import StoredValue
from treaty.light_dataclass import dataclass

ROW_FORMAT = 1
"""The newest row format that this version of Treaty understands."""


@dataclass(frozen=True, slots=True)
class UnreadableValue:
    """A value that this version can't read, as its JSON text, and why."""

    text: str
    why: str


Value = StoredValue | UnreadableValue


class UnreadableRowError(Unavailable):
    """An unreadable row prevents an answer, or might."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its table, its key, and its value; None is a tombstone."""

    table: str
    key: Key
    value: Value | None


def make_row(table: Table[K, V], key: K, value: V) -> Row:
    """Return a row of a table."""
    return Row(table.name, key, value)


def make_tombstone(table: Table[K, V], key: K) -> Row:
    """Return what takes a row of a table away."""
    return Row(table.name, key, None)


@dataclass(frozen=True, slots=True)
class EncodedRow:
    """A row's portable form: key and value as JSON texts, canonical where this version wrote them; value None is a
    tombstone.
    """

    table: str
    key: str
    value: str | None
    _digest: int | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def digest(self) -> int:
        """The row's share of the state root: 256 bits of SHA-256 over table, key and value as stored in the log; 0 for
        a tombstone, and for tables that describe their own log. Computed once.
        """
        digest = self._digest
        if digest is None:
            digest = _digest_of(self.table, self.key, self.value)
            object.__setattr__(self, "_digest", digest)
        return digest


DecodedRow = tuple[EncodedRow, Row, bool]
"""A row, what was read of it, and whether encoding that gives the same text."""


def _digest_of(table: str, key: str, value: str | None) -> int:
    if value is None or table in UNROOTED:
        return 0
    parts = f"{len(table)}:{table}{len(key)}:{key}{value}"
    return int.from_bytes(hashlib.sha256(parts.encode("utf-8", "surrogatepass")).digest(), "big")


def encode_row(row: Row, write: Callable[[Any], str] = dumps) -> EncodedRow:
    """Return the portable form of a row, by `dumps` or a function like it; `decode_row` gives the same row back."""
    if row.value is None or isinstance(row.value, UnreadableValue):
        return EncodedRow(row.table, key_text(row.key), row.value.text if row.value else None)
    members = encode(row.value)
    members["v"] = ROW_FORMAT
    for name, text in row.value.extra:
        members[name] = json.loads(text)
    return EncodedRow(row.table, dumps(row.key), write(members))


def decode_row(encoded: EncodedRow) -> Row:
    """Read a row. Never fails: a value that can't be read becomes an `UnreadableValue`, a strange key stands for itself."""
    key, table = decode_key(encoded.key), TABLES.get(encoded.table)
    typed = None if table is None else table.typed_key(key)
    if encoded.value is None:
        return Row(encoded.table, key if typed is None else typed, None)
    if table is None:
        return Row(encoded.table, key, UnreadableValue(encoded.value, f"unknown table {encoded.table!r}"))
    if typed is None:
        return Row(
            encoded.table, key, UnreadableValue(encoded.value, f"key {key!r} is not one of table {encoded.table!r}")
        )
    return Row(encoded.table, typed, _value(table, encoded.value))


def gives_back(row: Row, text: str | None) -> bool:
    """Return whether `encode_row` gives back the text of a value that was read as this row: not for a text in another
    form, or with unknown nested members.
    """
    try:
        return encode_row(row).value == text
    except (ValueError, RecursionError):
        return False


def decode_key(text: str) -> Key:
    """Read a key, two texts never to one key. A text that is no list of words and numbers as this version writes it
    becomes ``(0, text)``, which no table has: as a part it might not be hashable, or equal to another (1, 1.0, true).
    """
    try:
        parts = json.loads(text)
        plain = type(parts) is list and all(type(part) is str or type(part) is int for part in parts)
        if plain and parts and type(parts[0]) is str and dumps(parts) == text:
            return tuple(parts)
    except (ValueError, RecursionError):
        pass
    return (0, text)


def key_text(key: Key) -> str:
    """Return the text of a key; `decode_key` gives the same key back."""
    return str(key[1]) if key[0] == 0 else dumps(key)


def _value(table: Table[Any, Any], text: str) -> Value:
    try:
        members = json.loads(text)
        if type(members) is not dict or members.get("v", ROW_FORMAT) != ROW_FORMAT:
            return UnreadableValue(
                text, f"row format {members.get('v') if type(members) is dict else '?'}, known is {ROW_FORMAT}"
            )
        members.pop("v", None)
        decoded: tuple[Any, tuple[tuple[str, str], ...]] = decode(table.value, members)
    except (DecodeError, ValueError, RecursionError) as error:
        return UnreadableValue(text, str(error))
    value: StoredValue = decoded[0]
    return replace(value, extra=decoded[1]) if decoded[1] else value
