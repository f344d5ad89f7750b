"""Default values as text, as a descriptor holds them."""

import struct

from treaty.formats.protobuf.model import Constant, IdentifierValue

_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}


def default_text(kind: str, value: Constant) -> bytes:
    """The text of a default; `kind` is the field's type as it was written."""
    if isinstance(value, IdentifierValue):
        return value.text.encode()
    if isinstance(value, bytes):
        return _escaped(value) if kind == "bytes" else value
    if kind == "double" and isinstance(value, int | float):
        return _digits(float(value), 15, 17, "<d")
    if kind == "float" and isinstance(value, int | float):
        return _digits(_single(float(value)), 6, 9, "<f")
    return str(value).encode()


def _single(value: float) -> float:
    """The nearest number of 32 bits."""
    try:
        (near,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return float(near)


def _digits(value: float, few: int, many: int, form: str) -> bytes:
    """The shorter of two precisions that still means the same number."""
    if value != value:  # noqa: PLR0124 - the one value that differs from itself
        return b"nan"
    if value in (float("inf"), float("-inf")):
        return b"inf" if value > 0 else b"-inf"
    short = f"{value:.{few}g}"
    try:
        same = struct.pack(form, float(short)) == struct.pack(form, value)
    except OverflowError:
        same = False
    return (short if same else f"{value:.{many}g}").encode()


def _escaped(value: bytes) -> bytes:
    """Bytes as they would stand between quotes."""
    return "".join(_ESCAPES.get(one) or (chr(one) if 32 <= one < 127 else f"\\{one:03o}") for one in value).encode()
