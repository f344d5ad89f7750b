"""Texts of schemas in files and in a server's answers: whether two are the same schema, and how one is laid out in a file."""

import json
import re
from decimal import Decimal
from typing import Any

from treaty.client.iglu.server_client import JSON_SCHEMA
from treaty.core.iglu_key import IgluKey

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


def is_same_schema(key: IgluKey, text: bytes, other: bytes) -> bool:
    """Return whether two texts are one schema: JSON of equal values, whatever its layout and the order of its members.

    ``$supersededBy`` does not count: a server adds it. `true` and 1, and 1 and 1.0, are different. A schema of another
    format is compared byte by byte.
    """
    if key.format != JSON_SCHEMA:
        return text == other
    try:
        return _normalize(text) == _normalize(other)
    except (ValueError, RecursionError):
        return False


def _normalize(data: bytes) -> str:
    document: Any = json.loads(data, parse_float=Decimal)
    if isinstance(document, dict):
        document.pop("$supersededBy", None)
    return json.dumps(document, sort_keys=True, default=lambda number: {"decimal": str(number)})


def indent_json(data: bytes) -> bytes:
    """Return a JSON text on indented lines; order, numbers and escapes stay as they are. What is no JSON is returned as it is."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return data
    tokens = _TOKEN.findall(data)
    indented, depth = bytearray(), 0
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else b""
        if token in {b"}", b"]"}:
            depth -= 1
            if tokens[at - 1] not in {b"{", b"["}:
                indented += b"\n" + b"  " * depth
        indented += token
        if token in {b"{", b"["}:
            depth += 1
            if following not in {b"}", b"]"}:
                indented += b"\n" + b"  " * depth
        elif token == b",":
            indented += b"\n" + b"  " * depth
        elif token == b":":
            indented += b" "
    return bytes(indented) + b"\n"
