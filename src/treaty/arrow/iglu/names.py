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


def gather_schemas(batches: Iterable[pa.RecordBatch], limit: int) -> set[str]:
    """Return the URIs of schemas that batches of JSON columns name. Where these are more than `limit`, some more are enough."""
    uris: set[str] = set()
    for batch in batches:
        for column in batch.columns:
            if len(uris) <= limit:
                uris.update(name for name in find_schema_names(column) - uris if is_schema_uri(name))
    return set(islice(uris, limit + 1))


def find_schema_names(column: pa.Array) -> set[str]:
    """Return all texts of JSON values in a column of texts or bytes that begin like the URI of a schema.

    A value may name more schemas than those of its parts; it never names fewer.
    """
    data, places = bytes_of(column)
    names_found: set[bytes] = set()
    has_escapes = False
    for row in range(0, len(column), ROWS):
        piece = bytes(data[places[row] : places[min(row + ROWS, len(column))]])
        names_found.update(NAME.findall(piece))
        has_escapes = has_escapes or (b"\\" in piece and ESCAPED.search(piece) is not None)
    names = {str(one, "utf-8", "replace") for one in names_found}
    return names | _find_escaped(column) if has_escapes else names


def bytes_of(column: pa.Array) -> tuple[memoryview, list[int]]:
    """Return a view of the values of a column of texts or bytes, one after the other, and where each begins and ends."""
    plain = column.cast(pa.binary())
    _, offsets, data = plain.buffers()
    if not len(plain) or data is None:
        return memoryview(b""), [0] * (len(plain) + 1)
    return memoryview(data), memoryview(offsets).cast("i")[plain.offset : plain.offset + len(plain) + 1].tolist()


def _find_escaped(column: pa.Array) -> set[str]:
    uris: set[str] = set()
    for value in column.cast(pa.binary()).to_pylist():
        if value is None or not ESCAPED.search(value):
            continue
        try:
            _collect(msgspec.json.decode(value), uris)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue  # the validation says so
    return uris


def _collect(value: object, uris: set[str]) -> None:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, str) and item.startswith(URI):
            uris.add(item)
