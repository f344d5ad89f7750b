"""How the value of a row is kept in a segment: as its text, as text that can be decoded fast, or without its digests.

Which form does is tried when a segment is built: every form gives the very same text and the very same value back.
"""

import binascii
import json
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

from treaty.core.schema import Reference, guid, plain_lookup_digest
from treaty.core.state.codec import dumps
from treaty.core.state.rows import ROW_FORMAT, EncodedRow, Row, Value, decode_key, decode_row
from treaty.core.state.state_tables import TABLES
from treaty.core.state.table import Key
from treaty.core.state.values import Content, Outcome, Schema

FAST = "!"
"""Begins a text that msgspec reads as the value's class, and reads whole."""
SHORT = "~"
"""Begins the row of a schema without guid and lookup_digest: they follow from its text, and being random they would
take most of the space.
"""
PROVEN = "#"
"""Begins the text of any other schema whose guid follows from its content: that is tried again when it is read. JSON
begins with none of these signs.
"""


class _Short(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    format: str
    text: str
    type_name: str = ""
    v: int


class _Full(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Members in the order of the canonical text, so that encoding gives it again."""

    format: str
    guid: str
    lookup_digest: str
    text: str
    type_name: str = ""
    v: int


class ListedVersion(msgspec.Struct):
    """What lists and searches need of a version; members as in `Version`."""

    number: int
    schema_id: int
    state: str = "live"


_SHORT = msgspec.json.Decoder(_Short)
_LISTED = msgspec.json.Decoder(ListedVersion)
_FULL = msgspec.json.Decoder(_Full)
_ENCODE = msgspec.json.Encoder().encode
_TABLES = ("version", "subject", "counter")
_FAST: dict[str, msgspec.json.Decoder[Any]] = {
    table: msgspec.json.Decoder(TABLES[table].value) for table in _TABLES
}  # what reads the values of a table fast, where they are plain
_KEYS: Mapping[str, msgspec.json.Decoder[Any]] = {
    name: msgspec.json.Decoder(table.key) for name, table in TABLES.items()
}

_MANY = msgspec.json.Decoder(list[tuple[str | int, ...]])


def _mirror(kind: type[Any], **more: type) -> type[msgspec.Struct]:
    """A struct that has the members of a value's class in the order of its canonical text, and leaves the same ones
    out.

    Members whose portable form is not plain are not in it: a row that has them is read slowly.
    """
    hints = get_type_hints(kind)
    members: dict[str, Any] = {name: (name, hint) for name, hint in more.items()}
    for field in fields(kind):
        hint = _mirror_hint(hints[field.name])
        if hint is not None and field.name != "extra":
            members[field.name] = (field.name, hint) if field.default is MISSING else (field.name, hint, field.default)
    return msgspec.defstruct(
        kind.__name__,
        [members[name] for name in sorted(members)],
        kw_only=True,
        omit_defaults=True,
        forbid_unknown_fields=True,
    )


def _mirror_hint(hint: Any) -> Any:
    if hint in {str, int, bool} or hint == tuple[str, ...]:
        return hint
    if get_origin(hint) in {Union, types.UnionType}:
        (inner,) = (kind for kind in get_args(hint) if kind is not type(None))
        plain = _mirror_hint(inner)
        return None if plain is None else plain | None
    return _mirror(hint) if is_dataclass(hint) and isinstance(hint, type) else None


_CANON = {table: msgspec.json.Decoder(_mirror(TABLES[table].value, v=int)) for table in _TABLES}


class _Outcome(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    kind: str
    members: dict[str, str] = msgspec.field(default_factory=dict)
    private: bool = False
    sequence: int
    v: int


class _Content(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    data: str
    v: int


_OUTCOME = msgspec.json.Decoder(_Outcome)
_CONTENT = msgspec.json.Decoder(_Content)


def quick_row(row: EncodedRow) -> Row | None:
    """Read a live row fast, as `decode_row` does; None where that would not give its text back."""
    quick = _QUICK.get(row.table)
    try:
        if quick is not None:
            return Row(row.table, _read_key(row), quick(row.value or ""))
    except (
        msgspec.DecodeError,
        ValueError,
        _NoCompactFormError,
    ):  # members of its own, half characters, bytes that are none
        pass
    return None


def _refuse_unless_same(struct: Any, text: str) -> None:
    """A fast reading is used if it is encoded to the same text again."""
    if struct.v != ROW_FORMAT or _ENCODE(struct).decode() != text:
        raise _NoCompactFormError


def _quick_schema(text: str) -> Schema:
    full = _FULL.decode(text)
    _refuse_unless_same(full, text)
    return Schema(full.guid, full.format, full.text, full.lookup_digest, type_name=full.type_name)


def _quick_content(text: str) -> Content:
    content = _CONTENT.decode(text)
    _refuse_unless_same(content, text)
    data = binascii.a2b_base64(content.data)
    if (
        binascii.b2a_base64(data, newline=False).decode() != content.data
    ):  # other characters, or bits behind the last byte
        raise _NoCompactFormError
    return Content(data)


def _quick_outcome(text: str) -> Outcome:
    outcome = _OUTCOME.decode(text)
    _refuse_unless_same(outcome, text)
    members = tuple(outcome.members.items())
    if members != tuple(sorted(members)):
        raise _NoCompactFormError
    return Outcome(outcome.sequence, outcome.kind, members, outcome.private)


def _make_quick_reader(table: str) -> Callable[[str], Value]:
    canon, fast = _CANON[table], _FAST[table]

    def read(text: str) -> Value:
        if "{}" in text or "[]" in text:  # an empty member inside another one is left out when it is encoded slowly
            raise _NoCompactFormError
        _refuse_unless_same(canon.decode(text), text)
        value: Value = fast.decode(text)
        return value

    return read


_QUICK: Mapping[str, Callable[[str], Value]] = {
    "schema": _quick_schema,
    "content": _quick_content,
    "outcome": _quick_outcome,
    **{table: _make_quick_reader(table) for table in _TABLES},
}


def read_row(row: EncodedRow) -> tuple[Row, str]:
    """Read a live row, and return the form in which its value is kept.

    A fast reading is used only if it is encoded to the same text again: then the slow one has the same result.
    """
    text = row.value or ""
    try:
        if row.table == "schema":
            return _read_schema(row, text)
        if row.table in _FAST:
            return Row(row.table, _read_key(row), _QUICK[row.table](text)), FAST + text
    except (msgspec.DecodeError, UnicodeEncodeError, _NoCompactFormError):  # members of its own, half characters
        pass
    read = decode_row(row)
    return read, PROVEN + text if isinstance(read.value, Schema) and has_its_guid(read.value) else text


class _NoCompactFormError(Exception):
    """It takes the slow way."""


def _read_schema(row: EncodedRow, text: str) -> tuple[Row, str]:
    schema = _quick_schema(text)
    read = Row("schema", _read_key(row), schema)
    if schema.guid == guid(schema.text, (), None, None) and schema.lookup_digest == plain_lookup_digest(
        schema.format, schema.text
    ):
        short = _Short(format=schema.format, text=schema.text, type_name=schema.type_name, v=ROW_FORMAT)
        return read, SHORT + _ENCODE(short).decode()
    return read, PROVEN + text if has_its_guid(schema) else text


def has_its_guid(schema: Schema) -> bool:
    """Whether the guid of a schema follows from its content. It need not: sealed metadata hide what it was taken over."""
    try:
        sent = tuple(Reference(used.name, used.subject, used.version) for used in schema.references)
        return schema.guid == guid(schema.text, sent, schema.metadata, schema.rules, imports=schema.imports)
    except (UnicodeEncodeError, OverflowError):  # references that nobody could have sent
        return False


def _read_key(row: EncodedRow) -> Key:
    try:
        key: Key = _KEYS[row.table].decode(row.key)
        if _ENCODE(key).decode() == row.key:
            return key
    except (msgspec.DecodeError, UnicodeEncodeError):
        pass
    typed_key: Key | None = TABLES[row.table].typed_key(decode_key(row.key))
    if typed_key is None:
        raise _NoCompactFormError
    return typed_key


def key_of(table: str, text: bytes) -> Key:
    """Return a key that is in a segment: it has the shape of its table."""
    try:
        key: Key = _KEYS[table].decode(text)
    except msgspec.DecodeError:  # half characters
        return tuple.__new__(TABLES[table].key, _parse_key(text))
    return key


def keys_of(texts: list[bytes]) -> list[Key]:
    """Return keys, or entries of an index, from their texts."""
    try:
        return _MANY.decode(b"[" + b",".join(texts) + b"]")
    except msgspec.DecodeError:
        return [*map(_parse_key, texts)]


def _parse_key(text: bytes) -> Key:
    return tuple(json.loads(str(text, "utf-8", "surrogatepass")))


def text_of(form: str) -> str:
    """Return the value's text as stored in the log."""
    if form.startswith((FAST, PROVEN)):
        return form[1:]
    if not form.startswith(SHORT):
        return form
    schema = _schema(form)
    full = _Full(
        format=schema.format,
        guid=schema.guid,
        lookup_digest=schema.lookup_digest,
        text=schema.text,
        type_name=schema.type_name,
        v=ROW_FORMAT,
    )
    return _ENCODE(full).decode()  # as `_refuse_unless_same` has compared it


def value_of(table: str, form: str) -> Value | None:
    """Return the value. Raises `ValueError` or `msgspec.DecodeError` for what no segment holds."""
    if form.startswith(FAST):
        value: Value = _FAST[table].decode(form[1:])
        return value
    if form.startswith(SHORT):
        return _schema(form)
    return decode_row(EncodedRow(table, _ANY_KEY[table], form.removeprefix(PROVEN))).value


def content_of(table: str, form: bytes) -> Value | ListedVersion | None:
    """Return what lists and searches need of a value: it costs a tenth.

    A schema has neither guid nor digest where they follow from its text, and a version may be a `ListedVersion`. Raises as `value_of` does.
    """
    if table == "version" and form.startswith(FAST.encode()):
        return _LISTED.decode(form[1:])
    if form.startswith(SHORT.encode()):
        with suppress(msgspec.DecodeError):  # half characters
            short = _SHORT.decode(form[1:])
            return Schema("", short.format, short.text, "", type_name=short.type_name)
    return value_of(table, str(form, "utf-8", "surrogatepass"))


_ANY_KEY = {name: dumps(tuple(kind() for _, kind in table.parts)) for name, table in TABLES.items()}
"""A key that fits each table: what a value is does not depend on it."""


def _schema(form: str) -> Schema:
    short = _SHORT.decode(form[1:])
    return Schema(
        guid(short.text, (), None, None),
        short.format,
        short.text,
        plain_lookup_digest(short.format, short.text),
        type_name=short.type_name,
    )
