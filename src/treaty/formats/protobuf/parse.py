"""Protobuf text or descriptor to a linked schema."""

import base64
import re

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.format import InvalidSchemaError, ReferenceName
from treaty.formats.protobuf.descriptors.files import file as described
from treaty.formats.protobuf.encoding.binary import custom, decoded
from treaty.formats.protobuf.judging.check import check
from treaty.formats.protobuf.known.files import PATHS
from treaty.formats.protobuf.linking.faults import Faults
from treaty.formats.protobuf.linking.link import gathered, link
from treaty.formats.protobuf.linking.rules import EXPECTED
from treaty.formats.protobuf.model import File, Schema
from treaty.formats.protobuf.syntax.file import imports, read

_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")


def parse(meaning: ResolvedSchema, strict: bool) -> Schema:  # noqa: FBT001 - the signature of `Format.parse`
    """The linked schema of a text and its references; the text may be a descriptor in base64.

    With `strict` it is judged by all rules of its syntax or edition; without it only its grammar and imports are, and of
    two texts under one path the first one counts.
    References are never judged again. Raises `InvalidSchemaError` with the faults found, the first one first.
    """
    faults = Faults(EXPECTED)
    texts = gathered(meaning.bindings, strict=strict)
    file, protos = _file(meaning.text)
    if protos:
        texts = {**{one.name: _bound(one) for one in protos[1:]}, **texts}
    schema = link(file, texts, _read, faults)
    if protos and not faults.found:
        informed = custom(protos[0], schema)
        if informed is not None:
            file = informed
            schema = link(file, texts, _read, faults)
    if strict and not faults.found:
        check(schema, faults)
    faults.stop()
    return schema


def references(text: str) -> tuple[ReferenceName, ...]:
    """Paths that a text imports and that are not known without a reference, each once, with line and column."""
    protos = decoded(text) if _BASE64.fullmatch(text) else ()
    if protos:
        brought = {one.name for one in protos}
        listed = [(path, "") for path in (*protos[0].dependency, *protos[0].option_dependency) if path not in brought]
    else:
        listed = [(one.path, f"{one.place.line}:{one.place.column}") for one in imports(text)]
    found: dict[str, ReferenceName] = {}
    for path, place in listed:
        if path not in PATHS:
            found.setdefault(path, ReferenceName(path, place))
    return tuple(found.values())


def _file(text: str) -> tuple[File, tuple[FileDescriptorProto, ...]]:
    """The model of a text, and the descriptors that it was in if it was no text."""
    if _BASE64.fullmatch(text):
        try:
            return read(text), ()
        except InvalidSchemaError:
            protos = decoded(text)
            if not protos:
                raise
            return described(protos[0]), protos
    return read(text), ()


def _read(text: str) -> File:
    return _file(text)[0]


def _bound(proto: FileDescriptorProto) -> ResolvedReference:
    """A descriptor that came with the schema's own, as a reference."""
    text = base64.b64encode(proto.SerializeToString(deterministic=True)).decode()
    return ResolvedReference(proto.name, "", 0, ResolvedSchema("PROTOBUF", text))
