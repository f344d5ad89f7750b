"""Protobuf text or descriptor to a linked schema."""

from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import ReferenceName
from treaty.formats.protobuf.described import descriptors, from_descriptors, read_any
from treaty.formats.protobuf.judging.check import check
from treaty.formats.protobuf.known.files import PATHS
from treaty.formats.protobuf.linking.faults import Faults
from treaty.formats.protobuf.linking.link import gathered, link
from treaty.formats.protobuf.linking.rules import EXPECTED
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.syntax.file import imports, read


def parse(meaning: ResolvedSchema, strict: bool) -> ProtoSchema:  # noqa: FBT001 - the signature of `Format.parse`
    """The linked schema of a text and its references; the text may be a descriptor in base64.

    With `strict` it is judged by all rules of its syntax or edition; without it only its grammar and imports are, and of
    two texts under one path the first one counts.
    References are never judged again. Raises `InvalidSchemaError` with the faults found, the first one first.
    """
    faults = Faults(EXPECTED)
    texts = gathered(meaning.bindings, strict=strict)
    protos = descriptors(meaning.text)
    if protos:
        schema = from_descriptors(protos, texts, faults, strict=strict)
    else:
        schema = link(read(meaning.text), texts, read_any, faults)
        if strict and not faults.found:
            check(schema, faults)
    faults.stop()
    return schema


def references(text: str) -> tuple[ReferenceName, ...]:
    """Paths that a text imports and that are not known without a reference, each once, with line and column."""
    protos = descriptors(text)
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
