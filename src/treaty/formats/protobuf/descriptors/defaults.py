"""Default values: the text in a descriptor, and the constant in a model."""

import re

from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from treaty.formats.protobuf.model import Constant, IdentifierValue
from treaty.formats.protobuf.syntax.literals import InvalidLiteralError, string

_NUMBER = re.compile(
    r"\s*[+-]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?"
    r"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])",
    re.ASCII,
)
"""What ``strtod`` reads to its end; for whole numbers less is right."""


def default(proto: FieldDescriptorProto) -> Constant:
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
            return string(f'"{text}"')
        except InvalidLiteralError:
            return IdentifierValue(text)
    if kind in ("bool", "enum", "message", "group"):
        return IdentifierValue(text)
    return _number(text, kind)


def _number(text: str, kind: str) -> Constant:
    """A number as the C library reads it; one that it does not read stays a word."""
    if not _NUMBER.fullmatch(text):
        return IdentifierValue(text)
    bare = text.strip().lstrip("+-").lower()
    if kind in ("float", "double"):
        if text in ("inf", "nan"):
            return IdentifierValue(text)
        return float.fromhex(text) if bare.startswith("0x") else float(text)
    try:
        whole = int(bare, 8) if bare[0] == "0" and bare.isdecimal() else int(bare, 0)
    except ValueError:
        return IdentifierValue(text)
    return -whole if "-" in text else whole
