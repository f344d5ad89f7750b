"""Names in a descriptor: those that a compiler derives, and what a text could hold."""

import re
from collections.abc import Mapping

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import Edition, FileDescriptorProto
from google.protobuf.message import Message

from treaty.core.finding import Diagnostic
from treaty.core.limits import FULL_NAME
from treaty.formats.budget import spend
from treaty.formats.format import InvalidSchemaError


def get_json_name(name: str) -> str:
    """A field's name in JSON: without underscores, the letter after each in upper case."""
    if "_" not in name:
        return name
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def get_entry_name(name: str) -> str:
    """The name of the message that stands for an entry of the map field `name`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) + "Entry"


def get_synthetic_name(name: str, used: set[str]) -> str:
    """The name of the oneof that stands for a proto3 field with the label ``optional``."""
    oneof_name = name if name.startswith("_") else f"_{name}"
    while oneof_name in used:
        oneof_name = f"X{oneof_name}"
    return oneof_name


_ANY_BYTES = frozenset(("default_value", "json_name"))
"""Names of fields that are a string in the descriptor, and any bytes in a text."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_DOTTED = re.compile(r"\.?[A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z_][A-Za-z0-9_]*+)*+")


_STEPS: Mapping[str, int] = {"FileDescriptorProto": 100, "DescriptorProto": 22, "FieldDescriptorProto": 8}
"""What reading a part takes beside its text. A new descriptor is walked through twice, and costs twice as much."""
_OTHER_STEPS = 3


def descriptor_error(message: str, expected: str) -> InvalidSchemaError:
    """A descriptor that can't be what a compiler made of a text."""
    return InvalidSchemaError((Diagnostic("DESCRIPTOR_INVALID", "", message, expected),))


def check_text(proto: Message) -> None:
    """Refuse names and paths that are no UTF-8: they come as bytes then, whatever the types say.

    Before the parts are read it spends the steps of that.
    """
    waiting: list[Message] = [proto]
    while waiting:
        part = waiting.pop()
        spend(_STEPS.get(part.DESCRIPTOR.name, _OTHER_STEPS))
        for field, value in part.ListFields():
            values = value if field.is_repeated else (value,)
            if field.message_type is not None:
                waiting += () if field.name == "options" else values
            elif (
                field.type == FieldDescriptor.TYPE_STRING
                and field.name not in _ANY_BYTES
                and any(isinstance(one, bytes) for one in values)
            ):
                raise descriptor_error(f"a {field.name} that is no UTF-8", "UTF-8")


def get_dialect(proto: FileDescriptorProto) -> str:
    """What a descriptor's file is written in: proto2, proto3, or its edition; an edition counts before a syntax."""
    if not proto.HasField("edition"):
        return proto.syntax or "proto2"
    return Edition.Name(proto.edition).removeprefix("EDITION_").lower()


def check_name(text: str) -> str:
    """A name that is valid in a text."""
    if len(text) > FULL_NAME:
        raise descriptor_error(f"a name of {len(text)} characters", f"at most {FULL_NAME}")
    if not _NAME.fullmatch(text):
        raise descriptor_error(f"the name {text[:40]!r}", "letters, digits and underscores, not beginning with a digit")
    return text


def check_dotted_name(text: str) -> str:
    """A name of several parts that is valid in a text."""
    if not _DOTTED.fullmatch(text):
        raise descriptor_error(f"the name {text[:40]!r}", "names with points between them")
    return text
