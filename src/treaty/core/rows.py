"""Rows of state tables, and their portable form: JSON, canonical, with a format number.

A row of an unknown table, of a newer row format, or that can't be read is *alien*: it is kept as it is, shown in the
status (quarantine), and makes the node read-only.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Union

from treaty.core import values
from treaty.core.codec import DecodeError, decode, dumps, encode

Key = tuple[str | int, ...]

ROW_FORMAT = 2
"""The newest row format that this version of Treaty understands."""
UNROOTED = frozenset({"snapshot", "log_origin"})
"""Tables that describe their own log. They do not count in the state root, so that a log which names its snapshot repeats the
root of its base."""


@dataclass(frozen=True, slots=True)
class Alien:
    """A value that this version can't read, as its JSON text, and why."""

    text: str
    why: str


Value = Union[  # noqa: UP007 - a name for the type checker and for people
    values.Content, values.Schema, values.Subject, values.Version, values.Name, values.Encoding, values.Codec,
    values.Counter, values.ConfigValue, values.Mode, values.Association, values.Context,
    values.Source, values.Type, values.Outcome, values.Runner, values.Topic, values.LogOrigin, values.EncryptionKeyUse,
    values.QuarantinedRow, values.SnapshotPointer, Alien,
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its table, its key, and its value; None is a tombstone."""

    table: str
    key: Key
    value: Value | None


@dataclass(frozen=True, slots=True)
class Shape:
    """What the rows of a table look like: names and types of the key's parts, class of the value."""

    key: tuple[tuple[str, type], ...]
    value: type


_SUBJECT = (("context", str), ("subject", str))
_GENERATION = (*_SUBJECT, ("generation", int))
_SCOPE = (("scope", str), ("context", str), ("subject", str))
SHAPES: Mapping[str, Shape] = {
    "content": Shape((("sha256", str),), values.Content),
    "schema": Shape((("context", str), ("id", int)), values.Schema),
    "subject": Shape(_SUBJECT, values.Subject),
    "version": Shape((*_GENERATION, ("ordinal", int)), values.Version),
    "name": Shape((*_GENERATION, ("scheme", str), ("name", str)), values.Name),
    "encoding": Shape((*_SUBJECT, ("encoding", int)), values.Encoding),
    "codec": Shape((*_SUBJECT, ("name", str)), values.Codec),
    "counter": Shape((("kind", str), *_GENERATION, ("part", str)), values.Counter),
    "config": Shape(_SCOPE, values.ConfigValue),
    "mode": Shape(_SCOPE, values.Mode),
    "association": Shape((("resource", str), ("kind", str), ("subject", str)), values.Association),
    "context": Shape((("context", str),), values.Context),
    "source": Shape((("name", str),), values.Source),
    "type": Shape((("name", str),), values.Type),
    "outcome": Shape((("principal", str), ("command", str)), values.Outcome),
    "runner": Shape((("runner", str),), values.Runner),
    "topic": Shape((("topic", str),), values.Topic),
    "encryption_key": Shape((("key", str),), values.EncryptionKeyUse),
    "log_origin": Shape((("role", str),), values.LogOrigin),
    "snapshot": Shape((("which", str),), values.SnapshotPointer),
    "quarantine": Shape((("table", str), ("key", str)), values.QuarantinedRow),
}
"""Every state table. Adding a member with a default needs no new row format; changing a meaning does."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A row's portable form: key and value as JSON texts, canonical where this version wrote them; value None is a tombstone."""

    table: str
    key: str
    value: str | None
    _digest: int | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def digest(self) -> int:
        """The row's share of the state root: 256 bits of SHA-256 over table, key and value as they stand in the log; 0 for a
        tombstone, and for tables that describe their own log. Computed once.
        """
        digest = self._digest
        if digest is None:
            digest = _digest_of(self.table, self.key, self.value)
            object.__setattr__(self, "_digest", digest)
        return digest


def _digest_of(table: str, key: str, value: str | None) -> int:
    if value is None or table in UNROOTED:
        return 0
    parts = f"{len(table)}:{table}{len(key)}:{key}{value}"
    return int.from_bytes(hashlib.sha256(parts.encode("utf-8", "surrogatepass")).digest(), "big")


def encode_row(row: Row) -> Encoded:
    """Return the portable form of a row; `decode_row` gives the same row back."""
    if row.value is None or isinstance(row.value, Alien):
        return Encoded(row.table, key_text(row.key), row.value.text if row.value else None)
    members = encode(row.value)
    members["v"] = ROW_FORMAT
    for name, text in row.value.extra:
        members[name] = json.loads(text)
    return Encoded(row.table, dumps(row.key), dumps(members))


def decode_row(encoded: Encoded) -> Row:
    """Read a row. Never fails: a value that can't be read becomes an `Alien`, a strange key stands for itself."""
    key = decode_key(encoded.key)
    if encoded.value is None:
        return Row(encoded.table, key, None)
    return Row(encoded.table, key, _value(encoded.table, key, encoded.value))


def gives_back(row: Row, text: str | None) -> bool:
    """Tell whether `encode_row` gives back the text of a value that was read as this row: not where somebody wrote it in
    another way, or with members that nobody knows inside of others.
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


def _value(table: str, key: Key, text: str) -> Value:
    shape = SHAPES.get(table)
    if shape is None:
        return Alien(text, f"unknown table {table!r}")
    if len(key) != len(shape.key) or any(
        type(part) is not kind for part, (_, kind) in zip(key, shape.key, strict=True)
    ):
        return Alien(text, f"key {key!r} is not one of table {table!r}")
    try:
        members = json.loads(text)
        if type(members) is not dict or members.get("v", ROW_FORMAT) != ROW_FORMAT:
            return Alien(
                text, f"row format {members.get('v') if type(members) is dict else '?'}, known is {ROW_FORMAT}"
            )
        members.pop("v", None)
        decoded: tuple[Any, tuple[tuple[str, str], ...]] = decode(shape.value, members)
    except (DecodeError, ValueError, RecursionError) as error:
        return Alien(text, str(error))
    value: Value = decoded[0]
    return replace(value, extra=decoded[1]) if decoded[1] and not isinstance(value, Alien) else value
