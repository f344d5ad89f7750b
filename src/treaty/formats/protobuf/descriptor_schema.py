"""Descriptors in base64 as schemas: what is in them, linked, and whether a text says the same."""

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from treaty.core.finding import Diagnostic
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.descriptors.files import read_file as described
from treaty.formats.protobuf.encoding.binary import decode_descriptors, read_custom
from treaty.formats.protobuf.encoding.files import build_descriptor
from treaty.formats.protobuf.encoding.round_trip import check_round_trip
from treaty.formats.protobuf.linker.diagnostics import EXPECTED, DiagnosticList
from treaty.formats.protobuf.linker.link import link_file
from treaty.formats.protobuf.model import ProtoFile, ProtoSchema
from treaty.formats.protobuf.printer.text import print_file as printed
from treaty.formats.protobuf.syntax.file import parse_file
from treaty.formats.protobuf.validation.check import check_file
from treaty.formats.protobuf.validation.shape import check_shape

_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")
Texts = Mapping[str, ResolvedReference]
"""References by import path."""


def parse_descriptors(text: str) -> tuple[FileDescriptorProto, ...]:
    """The descriptors that a text is the base64 of, its own file first; none where it can be read as a text."""
    if not _BASE64.fullmatch(text):
        return ()
    try:
        parse_file(text)
    except InvalidSchemaError:
        return decode_descriptors(text)
    return ()


def parse_any(text: str) -> ProtoFile:
    """The model of a text or of a descriptor in base64."""
    protos = parse_descriptors(text)
    return described(protos[0]) if protos else parse_file(text)


def link_descriptors(
    protos: Sequence[FileDescriptorProto], texts: Texts, faults: DiagnosticList, *, strict: bool
) -> ProtoSchema:
    """The linked schema of the first descriptor, with the others as its imports where `texts` has none of that path.

    With `strict` all of them that it needs are checked as a compiler does, and none may say what no text can.
    """
    brought = {one.name: one for one in protos[1:] if one.name not in texts}
    needed = _find_needed(protos[0], brought) if strict else ()
    for file in needed:
        _check_file(file.name, partial(check_shape, file))
    if strict:
        check_shape(protos[0], faults)
        faults.raise_if_any()
    texts = {**{path: _bind(one) for path, one in brought.items()}, **texts}
    schema = _link_descriptor(protos[0], texts, faults)
    if strict and not faults.found:
        for file in needed:
            home = schema.files.get(file.name)
            if home is not None and home.own:  # otherwise a known file took its place
                _check_file(file.name, partial(_check_linked, file, home, texts))
        _check_linked(protos[0], schema, texts, faults)
    return schema


def _find_needed(
    root: FileDescriptorProto, brought: Mapping[str, FileDescriptorProto]
) -> tuple[FileDescriptorProto, ...]:
    """Those of the files that came with a descriptor which it needs, directly or not."""
    needed: dict[str, FileDescriptorProto] = {}
    waiting = [root]
    while waiting:
        file = waiting.pop()
        for path in (*file.dependency, *file.option_dependency):
            if path in brought and path not in needed:
                needed[path] = brought[path]
                waiting.append(brought[path])
    return tuple(needed.values())


def _check_file(path: str, check_one: Callable[[DiagnosticList], None]) -> None:
    """Check a file that came with a descriptor. Raises `InvalidSchemaError` with faults that name the file."""
    faults = DiagnosticList(EXPECTED)
    try:
        check_one(faults)
        faults.raise_if_any()
    except InvalidSchemaError as error:
        faults_of_file = tuple(replace(one, message=f"the file {path!r}: {one.message}") for one in error.faults)
        raise InvalidSchemaError(faults_of_file) from None


def _check_linked(proto: FileDescriptorProto, schema: ProtoSchema, texts: Texts, faults: DiagnosticList) -> None:
    """Check a linked file by all rules, and its descriptor by what its text keeps of it."""
    check_file(schema, faults)
    if not faults.found:
        check_round_trip(proto, build_descriptor(_link_own_text(schema, texts)), faults)


def _link_descriptor(proto: FileDescriptorProto, texts: Texts, faults: DiagnosticList) -> ProtoSchema:
    """The linked schema of a descriptor, with the custom options that its imports define."""
    schema = link_file(described(proto), texts, parse_any, faults)
    informed = read_custom(proto, schema) if not faults.found else None
    return schema if informed is None else link_file(informed, texts, parse_any, faults)


def _link_own_text(schema: ProtoSchema, texts: Texts) -> ProtoSchema:
    """The schema of a schema's own text. Raises `InvalidSchemaError` where that is none."""
    try:
        return link_file(parse_file(printed(schema.file)), texts, parse_any, DiagnosticList(EXPECTED))
    except InvalidSchemaError as error:
        first = error.faults[0]
        fault = Diagnostic("DESCRIPTOR_INVALID", first.path, f"no text says the same: {first.message}", first.expected)
        raise InvalidSchemaError((fault,)) from None


def _bind(proto: FileDescriptorProto) -> ResolvedReference:
    """A descriptor that came with the schema's own, as a reference."""
    text = base64.b64encode(proto.SerializeToString(deterministic=True)).decode()
    return ResolvedReference(proto.name, "", 0, ResolvedSchema("PROTOBUF", text))
