"""A schema that is sent as a descriptor in base64: whether a text is one, and which file of a set is the schema (`decode_descriptors`)."""

import base64
import binascii
from collections.abc import Iterable

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from treaty.core.limits import REFERENCES, SCHEMA_BYTES
from treaty.formats.protobuf.descriptors.classes import build_file_class, get_file_class, get_set_class
from treaty.formats.protobuf.descriptors.files import read_file
from treaty.formats.protobuf.descriptors.names import descriptor_error
from treaty.formats.protobuf.encoding.files import build_descriptor_set
from treaty.formats.protobuf.model import ProtoFile, ProtoSchema


def decode_descriptors(text: str) -> tuple[FileDescriptorProto, ...]:
    """The descriptors in a text: the schema's own comes first. Empty where the text is no base64 of any.

    The text is a ``FileDescriptorProto``, or a ``FileDescriptorSet`` whose last file that no other one imports is the
    schema.
    """
    if len(text) > 2 * SCHEMA_BYTES:
        return ()
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return ()
    try:
        single = get_file_class().FromString(data)
    except DecodeError:
        return _read_set(data)
    if single.HasField("syntax") or single.message_type or single.enum_type or single.service or single.extension:
        return (single,)
    return _read_set(data) or ((single,) if _is_bare(single) else ())


def _is_bare(proto: FileDescriptorProto) -> bool:
    """Whether this is a file without definitions: with a name or package that is text, and with nothing unknown."""
    words = (proto.name, proto.package)
    return any(words) and all(str(one).isprintable() for one in words) and not len(UnknownFieldSet(proto))


def _read_set(data: bytes) -> tuple[FileDescriptorProto, ...]:
    """The files of a ``FileDescriptorSet``, first the last one that no other imports; empty where the bytes are no set of named files, or
    of more than a schema may refer to.

    Raises `InvalidSchemaError` where each file is imported by another.
    """
    try:
        files = list(get_set_class().FromString(data).file)
    except DecodeError:
        return ()
    if not files or len(files) > REFERENCES + 1 or not all(file.name for file in files):
        return ()
    imported = {path for file in files for path in (*file.dependency, *file.option_dependency)}
    roots = [file for file in files if file.name not in imported]
    if not roots:
        raise descriptor_error("files that all import each other", "one file that no other one needs")
    root = roots[-1]
    return (root, *(file for file in files if file is not root))


def read_custom(proto: FileDescriptorProto, schema: ProtoSchema) -> ProtoFile | None:
    """The file of a descriptor once more, with the options that it and its imports define; None where there are none.

    `schema` is the same file without those options.
    """
    if not any(symbol.kind == "extension" for symbol in schema.offered.values()):
        return None
    try:
        file_class = build_file_class(_drop_named(build_descriptor_set(schema).file, proto.name))
        return read_file(file_class.FromString(proto.SerializeToString()))
    except (TypeError, DecodeError):
        return None


def _drop_named(files: Iterable[FileDescriptorProto], name: str) -> Iterable[FileDescriptorProto]:
    """Files without those that have the name of another."""
    names: set[str] = set()
    for file in files:
        if file.name not in names:
            names.add(file.name)
            yield file
