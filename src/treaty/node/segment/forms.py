"""How the value of a row is kept in a segment: as its text, as text that can be decoded fast, or without its digests.

Which form does is tried when a segment is built: every form gives the very same text and the very same value back.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from treaty.core.codec import dumps
from treaty.core.identity import guid, likeness
from treaty.core.rows import SHAPES, Encoded, Row, Value, decode_key, decode_row, encode_row
from treaty.core.values import Schema

FAST = "!"
"""Begins a text that msgspec reads as the value's class, and reads whole."""
SHORT = "~"
"""Begins the row of a schema without guid and likeness: they follow from its text, and being random they would take most
of the space. JSON begins with neither sign.
"""
_GUID = re.compile('"guid":"[0-9a-f-]{36}",')
_LIKENESS = re.compile('"likeness":"[0-9a-f]{64}",')


class _Short(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    text: str
    v: int
    type_name: str = ""


class _Full(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    text: str
    v: int
    guid: str
    likeness: str
    type_name: str = ""


_SHORT = msgspec.json.Decoder(_Short)
_FULL = msgspec.json.Decoder(_Full)
_FAST: dict[str, msgspec.json.Decoder[Any]] = {
    table: msgspec.json.Decoder(shape.value)
    for table, shape in SHAPES.items()
    if table in {"version", "subject", "counter"}
}


def read_row(row: Encoded) -> tuple[Row, str]:
    """Read a live row, and return the form in which its value is kept.

    What is read fast is believed only where it gives the very same text again: then reading it slowly would give the same.
    """
    text = row.value or ""
    if row.table in _READ:
        try:
            value = _READ[row.table](text)
            key = decode_key(row.key)
            if encode_row(Row(row.table, key, value)) == row:
                return Row(row.table, key, value), _form(row.table, text, value)
        except (msgspec.DecodeError, UnicodeEncodeError):  # members of its own, half characters
            pass
    return decode_row(row), text


def _form(table: str, text: str, value: Value) -> str:
    if table in _FAST:
        return FAST + text
    assert isinstance(value, Schema)
    short = SHORT + _LIKENESS.sub("", _GUID.sub("", text, count=1), count=1)
    return short if _schema(short) == value else text


def text_of(form: str) -> str:
    """Return the value's text as it stands in the log."""
    if form.startswith(FAST):
        return form[1:]
    if not form.startswith(SHORT):
        return form
    text = encode_row(Row("schema", (".", 0), _schema(form))).value
    assert text is not None
    return text


def value_of(table: str, form: str) -> Value | None:
    """Return the value."""
    if form.startswith(FAST):
        value: Value = _FAST[table].decode(form[1:])
        return value
    if form.startswith(SHORT):
        return _schema(form)
    return decode_row(Encoded(table, _ANY_KEY[table], form)).value


def _read_schema(text: str) -> Schema:
    full = _FULL.decode(text)
    return Schema(full.guid, full.format, full.text, full.likeness, type_name=full.type_name)


_READ: dict[str, Callable[[str], Any]] = {
    "schema": _read_schema,
    **{table: decoder.decode for table, decoder in _FAST.items()},
}
"""What reads the values of a table fast, where they are plain."""
_ANY_KEY = {table: dumps(tuple(kind() for _, kind in shape.key)) for table, shape in SHAPES.items()}
"""A key that fits each table: what a value is does not depend on it."""


def _schema(form: str) -> Schema:
    short = _SHORT.decode(form[1:])
    return Schema(
        guid(short.text, (), None, None),
        short.format,
        short.text,
        likeness(short.format, short.text, None, None),
        type_name=short.type_name,
    )
