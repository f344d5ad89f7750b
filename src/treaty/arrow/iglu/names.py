"""Finds the schemas that self-describing values of a column name, over the bytes of a whole batch at once."""

import re

import msgspec
import pyarrow as pa

NAME = re.compile(rb'"(iglu:[^"]{0,511})(?=")')
"""A text in JSON that begins like the URI of a schema; a longer one names no schema."""
ESCAPED = re.compile(rb"\\(?:/|u00[2-7])")
"""Escapes that may stand for a letter of a URI, or of the member ``schema``."""
URI = "iglu:"


def find_schema_names(column: pa.Array) -> set[str]:
    """Return all texts of JSON values in a column of texts or bytes that begin like the URI of a schema.

    A value may name more schemas than those of its parts; it never names fewer.
    """
    data = bytes_of(column)[0]
    found = {str(one, "utf-8", "replace") for one in set(NAME.findall(data))}
    if b"\\" in data and ESCAPED.search(data):
        found |= _find_escaped(column)
    return found


def bytes_of(column: pa.Array) -> tuple[bytes, list[int]]:
    """Return the bytes of all values of a column of texts or bytes, one after the other, and where each begins and ends."""
    plain = column.cast(pa.binary())
    if not len(plain):
        return b"", [0]
    _, offsets, data = plain.buffers()
    places = memoryview(offsets).cast("i")[plain.offset : plain.offset + len(plain) + 1].tolist()
    first = places[0]
    whole = b"" if data is None else bytes(memoryview(data)[first : places[-1]])
    return whole, [one - first for one in places] if first else places


def _find_escaped(column: pa.Array) -> set[str]:
    found: set[str] = set()
    for value in column.cast(pa.binary()).to_pylist():
        if value is None or not ESCAPED.search(value):
            continue
        try:
            _collect(msgspec.json.decode(value), found)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue  # the validation says so
    return found


def _collect(value: object, found: set[str]) -> None:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str) and one.startswith(URI):
            found.add(one)
