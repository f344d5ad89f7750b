"""Makes the texts, bytes and fingerprints of a linked Protobuf file."""

import base64
import hashlib
from collections.abc import Iterator

from treaty.formats.format import SchemaTexts
from treaty.formats.protobuf.encoding.files import build_descriptor_set, serialize_descriptor
from treaty.formats.protobuf.model import Message, ProtoSchema
from treaty.formats.protobuf.printer.normal_form import to_normal_form
from treaty.formats.protobuf.printer.plain import strip_extensions
from treaty.formats.protobuf.printer.text import print_file
from treaty.formats.protobuf.well_known import PATHS


def print_texts(schema: ProtoSchema, normalize: bool) -> SchemaTexts:  # noqa: FBT001 - the signature of `Format.show`
    """Canonical text, the same with what it imports, the full name of the first message or enum, and its fields."""
    file = schema.file
    canonical = print_file(to_normal_form(schema) if normalize else file)
    names = [one.name for one in file.messages[:1]] or [one.name for one in file.enums[:1]]
    full = ".".join([file.package, *names] if file.package else names) if names else ""
    fields = tuple(one.name for one in file.messages[0].all_fields) if file.messages else ()
    types = tuple(_message_names(file.package, file.messages)) or ((full,) if full else ())
    return SchemaTexts(canonical, _with_imports(schema, canonical), full, fields, types)


def _message_names(scope: str, messages: tuple[Message, ...]) -> Iterator[str]:
    """Full names of messages and of those inside them, in the order of the text."""
    for message in messages:
        full = f"{scope}.{message.name}" if scope else message.name
        yield full
        yield from _message_names(full, message.messages)


def _with_imports(schema: ProtoSchema, canonical: str) -> str:
    """A text followed by those of all files that it needs, but for the known ones: two that differ there differ."""
    brought = [one for path, one in sorted(schema.files.items()) if one is not schema and path not in PATHS]
    return "".join((canonical, *(f"\n// {one.path}\n{print_file(one.file)}" for one in brought)))


def print_resolved(schema: ProtoSchema) -> str:
    """The canonical text: nothing is written into it from other files."""
    return print_file(schema.file)


def print_plain(schema: ProtoSchema) -> str:
    """The canonical text without custom options and extensions."""
    return print_file(strip_extensions(schema.file))


def print_descriptor(schema: ProtoSchema) -> str:
    """The descriptor of the file in base64, without what it imports."""
    return base64.b64encode(serialize_descriptor(schema)).decode()


def sha256(schema: ProtoSchema) -> bytes:
    """SHA-256 of the canonical text."""
    return hashlib.sha256(print_file(schema.file).encode()).digest()


def pravega(schema: ProtoSchema) -> bytes:
    """SHA-256 of the descriptors of the file and of all that it imports, in the order in which they need each other."""
    return hashlib.sha256(build_descriptor_set(schema).SerializeToString(deterministic=True)).digest()
