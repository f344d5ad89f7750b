"""Default values: the text in a descriptor as a constant of the model, and the constant as that text."""

import re
import struct
from math import isfinite

from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from treaty.formats.protobuf.model import Constant, IdentifierValue, SignedZero
from treaty.formats.protobuf.syntax.literals import InvalidLiteralError, parse_string

_NUMBER = re.compile(
    r"\s*[+-]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?"
    r"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])",
    re.ASCII,
)
"""What ``strtod`` reads to its end; for whole numbers, and before floating point numbers, less is right."""


def parse_default(proto: FieldDescriptorProto) -> Constant:
    """The default of a descriptor as a constant; a text that is none of its type becomes a word, which fits nowhere."""
    text: str | bytes = proto.default_value
    if isinstance(text, bytes):  # what is no UTF-8 comes as bytes, whatever the types say
        return text
    kind = FieldDescriptorProto.Type.Name(proto.type).removeprefix("TYPE_").lower()
    if not proto.HasField("type") and proto.type_name:  # a message has no default, so this is an enum
        kind = "enum"
    if kind == "string":
        return text.encode("utf-8", "surrogateescape")
    if kind == "bytes":
        if (len(text) - len(text.rstrip("\\"))) % 2:
            return IdentifierValue(text)  # the last character begins an escape
        try:
            return parse_string(f'"{text}"')
        except InvalidLiteralError:
            return IdentifierValue(text)
    if kind in ("bool", "enum", "message", "group"):
        return IdentifierValue(text)
    return _number(text, kind)


def _number(text: str, kind: str) -> Constant:
    """A number as protoc reads it; one that it does not read stays a word."""
    if not _NUMBER.fullmatch(text):
        return IdentifierValue(text)
    bare = text.strip().lstrip("+-").lower()
    if kind in ("float", "double"):
        if text[0] == "+" or text[0].isspace():  # which whole numbers may begin with
            return IdentifierValue(text)
        if text in ("inf", "nan"):
            return IdentifierValue(text)
        number = float.fromhex(text) if bare.startswith("0x") else float(text)
        return round_to_float(number) if kind == "float" else number
    try:
        integer = int(bare, 8) if bare[0] == "0" and bare.isdecimal() else int(bare, 0)
    except ValueError:
        return IdentifierValue(text)
    return -integer if "-" in text else integer


_SMALLEST_NORMAL = 2.0**-126
"""The smallest number of 32 bits with full precision."""
_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}


def print_default(kind: str, value: Constant) -> bytes:
    """The text of a default; `kind` is the field's type as it was written."""
    if isinstance(value, IdentifierValue):
        return value.text.encode()
    if isinstance(value, bytes):
        return _escape_bytes(value) if kind == "bytes" else value
    if kind in ("double", "float") and isinstance(value, SignedZero):
        return b"-0"
    if kind == "double" and isinstance(value, int | float):
        return _digits(float(value), 15, 17, "<d")
    if kind == "float" and isinstance(value, int | float):
        near = _round_to_single(float(value))
        return _digits(
            near, 9 if 0 < abs(near) < _SMALLEST_NORMAL else 6, 9, "<f"
        )  # as protoc, whose strtof warns below
    return str(value).encode()


def round_to_float(value: float) -> float:
    """The number with the fewest decimal digits that means the same number of 32 bits: ``0.1`` and not its 24 digits.

    Nine digits always suffice (IEEE 754, 5.12.2). What is no number stays as it is.
    """
    near = _round_to_single(value)
    if not isfinite(near):
        return value
    texts = (f"{near:.{digits}g}" for digits in range(1, 9))
    return next((short for short in map(float, texts) if _round_to_single(short) == near), float(f"{near:.9g}"))


def _round_to_single(value: float) -> float:
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


def _escape_bytes(value: bytes) -> bytes:
    """Bytes as they would stand between quotes."""
    return "".join(_ESCAPES.get(one) or (chr(one) if 32 <= one < 127 else f"\\{one:03o}") for one in value).encode()
