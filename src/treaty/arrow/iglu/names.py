"""Finds the schemas that self-describing values of a column name, over the bytes of a whole batch at once."""

import re
from collections.abc import Iterable
from itertools import islice

import msgspec
import pyarrow as pa

from treaty.plan.iglu.resolution import is_schema_uri

NAME = re.compile(rb'iglu:(?<="iglu:)[^"]{0,511}(?=")')
"""A text in JSON that begins like the URI of a schema; a longer one names no schema. The quote is looked at last: `re` finds the rarer
letter sooner.
"""
ESCAPED = re.compile(rb"\\(?:/|u00[2-7])")
"""Escapes that may stand for a letter of a URI, or of the member ``schema``."""
URI = "iglu:"
ROWS = 128
"""Values that are searched at once: few enough to stay in the processor's cache."""


def gather_schemas(batches: Iterable[pa.RecordBatch], most: int) -> set[str]:
    """Return the URIs of schemas that batches of JSON columns name. Where these are more than `most`, some more are enough."""
    found: set[str] = set()
    for batch in batches:
        for column in batch.columns:
            if len(found) <= most:
                found.update(name for name in find_schema_names(column) - found if is_schema_uri(name))
    return set(islice(found, most + 1))


def find_schema_names(column: pa.Array) -> set[str]:
    """Return all texts of JSON values in a column of texts or bytes that begin like the URI of a schema.

    A value may name more schemas than those of its parts; it never names fewer.
    """
    data, places = bytes_of(column)
    found: set[bytes] = set()
    has_escapes = False
    for row in range(0, len(column), ROWS):
        piece = bytes(data[places[row] : places[min(row + ROWS, len(column))]])
        found.update(NAME.findall(piece))
        has_escapes = has_escapes or (b"\\" in piece and ESCAPED.search(piece) is not None)
    names = {str(one, "utf-8", "replace") for one in found}
    return names | _find_escaped(column) if has_escapes else names


def bytes_of(column: pa.Array) -> tuple[memoryview, list[int]]:
    """Return a view of the values of a column of texts or bytes, one after the other, and where each begins and ends."""
    plain = column.cast(pa.binary())
    _, offsets, data = plain.buffers()
    if not len(plain) or data is None:
        return memoryview(b""), [0] * (len(plain) + 1)
    return memoryview(data), memoryview(offsets).cast("i")[plain.offset : plain.offset + len(plain) + 1].tolist()


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
