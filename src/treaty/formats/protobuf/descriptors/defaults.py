"""Default values: the text in a descriptor as a constant of the model, and the constant as that text."""

import re
import struct

from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from treaty.formats.protobuf.model import Constant, IdentifierValue
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
        return float.fromhex(text) if bare.startswith("0x") else float(text)
    try:
        whole = int(bare, 8) if bare[0] == "0" and bare.isdecimal() else int(bare, 0)
    except ValueError:
        return IdentifierValue(text)
    return -whole if "-" in text else whole


_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}


def print_default(kind: str, value: Constant) -> bytes:
    """The text of a default; `kind` is the field's type as it was written."""
    if isinstance(value, IdentifierValue):
        return value.text.encode()
    if isinstance(value, bytes):
        return _escape_bytes(value) if kind == "bytes" else value
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


def _escape_bytes(value: bytes) -> bytes:
    """Bytes as they would stand between quotes."""
    return "".join(_ESCAPES.get(one) or (chr(one) if 32 <= one < 127 else f"\\{one:03o}") for one in value).encode()
