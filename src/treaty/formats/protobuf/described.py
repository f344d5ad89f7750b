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
from treaty.formats.protobuf.descriptors.files import file as described
from treaty.formats.protobuf.encoding.binary import custom, decoded
from treaty.formats.protobuf.encoding.files import build_descriptor
from treaty.formats.protobuf.encoding.kept import check_kept
from treaty.formats.protobuf.judging.check import check
from treaty.formats.protobuf.judging.shape import check_shape
from treaty.formats.protobuf.linking.faults import Faults
from treaty.formats.protobuf.linking.link import link
from treaty.formats.protobuf.linking.rules import EXPECTED
from treaty.formats.protobuf.model import ProtoFile, ProtoSchema
from treaty.formats.protobuf.printing.text import text as printed
from treaty.formats.protobuf.syntax.file import read

_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")
Texts = Mapping[str, ResolvedReference]
"""References by import path."""


def descriptors(text: str) -> tuple[FileDescriptorProto, ...]:
    """The descriptors that a text is the base64 of, its own file first; none where it can be read as a text."""
    if not _BASE64.fullmatch(text):
        return ()
    try:
        read(text)
    except InvalidSchemaError:
        return decoded(text)
    return ()


def read_any(text: str) -> ProtoFile:
    """The model of a text or of a descriptor in base64."""
    protos = descriptors(text)
    return described(protos[0]) if protos else read(text)


def from_descriptors(
    protos: Sequence[FileDescriptorProto], texts: Texts, faults: Faults, *, strict: bool
) -> ProtoSchema:
    """The linked schema of the first descriptor, with the others as its imports where `texts` has none of that path.

    With `strict` all of them that it needs are checked as a compiler does, and none may say what no text can.
    """
    brought = {one.name: one for one in protos[1:] if one.name not in texts}
    needed = _find_needed(protos[0], brought) if strict else ()
    for one in needed:
        _check_file(one.name, partial(check_shape, one))
    if strict:
        check_shape(protos[0], faults)
        faults.stop()
    texts = {**{path: _bind(one) for path, one in brought.items()}, **texts}
    schema = _link_descriptor(protos[0], texts, faults)
    if strict and not faults.found:
        for one in needed:
            home = schema.files.get(one.name)
            if home is not None and home.own:  # otherwise a known file took its place
                _check_file(one.name, partial(_check_linked, one, home, texts))
        _check_linked(protos[0], schema, texts, faults)
    return schema


def _find_needed(
    root: FileDescriptorProto, brought: Mapping[str, FileDescriptorProto]
) -> tuple[FileDescriptorProto, ...]:
    """Those of the files that came with a descriptor which it needs, directly or not."""
    found: dict[str, FileDescriptorProto] = {}
    waiting = [root]
    while waiting:
        one = waiting.pop()
        for path in (*one.dependency, *one.option_dependency):
            if path in brought and path not in found:
                found[path] = brought[path]
                waiting.append(brought[path])
    return tuple(found.values())


def _check_file(path: str, check_one: Callable[[Faults], None]) -> None:
    """Check a file that came with a descriptor. Raises `InvalidSchemaError` with faults that name the file."""
    faults = Faults(EXPECTED)
    try:
        check_one(faults)
        faults.stop()
    except InvalidSchemaError as wrong:
        found = tuple(replace(one, message=f"the file {path!r}: {one.message}") for one in wrong.faults)
        raise InvalidSchemaError(found) from None


def _check_linked(proto: FileDescriptorProto, schema: ProtoSchema, texts: Texts, faults: Faults) -> None:
    """Check a linked file by all rules, and its descriptor by what its text keeps of it."""
    check(schema, faults)
    if not faults.found:
        check_kept(proto, build_descriptor(_link_own_text(schema, texts)), faults)


def _link_descriptor(proto: FileDescriptorProto, texts: Texts, faults: Faults) -> ProtoSchema:
    """The linked schema of a descriptor, with the custom options that its imports define."""
    schema = link(described(proto), texts, read_any, faults)
    informed = custom(proto, schema) if not faults.found else None
    return schema if informed is None else link(informed, texts, read_any, faults)


def _link_own_text(schema: ProtoSchema, texts: Texts) -> ProtoSchema:
    """The schema of a schema's own text. Raises `InvalidSchemaError` where that is none."""
    try:
        return link(read(printed(schema.file)), texts, read_any, Faults(EXPECTED))
    except InvalidSchemaError as wrong:
        first = wrong.faults[0]
        fault = Diagnostic("DESCRIPTOR_INVALID", first.path, f"no text says the same: {first.message}", first.expected)
        raise InvalidSchemaError((fault,)) from None


def _bind(proto: FileDescriptorProto) -> ResolvedReference:
    """A descriptor that came with the schema's own, as a reference."""
    text = base64.b64encode(proto.SerializeToString(deterministic=True)).decode()
    return ResolvedReference(proto.name, "", 0, ResolvedSchema("PROTOBUF", text))
