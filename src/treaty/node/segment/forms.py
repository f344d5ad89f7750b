"""How the value of a row is kept in a segment: as its text, as text that can be decoded fast, or without its digests.

Which form does is tried when a segment is built: every form gives the very same text and the very same value back.
"""

import re
from typing import Any

import msgspec

from treaty.core.codec import dumps
from treaty.core.identity import guid, likeness
from treaty.core.rows import SHAPES, Encoded, Row, Value, decode_row, encode_row
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


_SHORT = msgspec.json.Decoder(_Short)
_FAST: dict[str, msgspec.json.Decoder[Any]] = {
    table: msgspec.json.Decoder(shape.value)
    for table, shape in SHAPES.items()
    if table in {"version", "subject", "counter"}
}


def kept_form(row: Encoded, value: Value) -> str:
    """Return the form in which the value of a row is kept."""
    text = row.value or ""
    forms = []
    if isinstance(value, Schema):
        forms.append(SHORT + _LIKENESS.sub("", _GUID.sub("", text, count=1), count=1))
    elif row.table in _FAST:
        forms.append(FAST + text)
    for form in forms:
        try:
            if text_of(form) == text and value_of(row.table, form) == value:
                return form
        except (msgspec.DecodeError, UnicodeEncodeError):  # members of its own, half characters
            continue
    return text


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
