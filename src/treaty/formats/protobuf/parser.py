"""Protobuf text or descriptor to a linked schema, and the imports that a text needs."""

from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import ReferenceName
from treaty.formats.protobuf.descriptor_schema import link_descriptors, parse_any, parse_descriptors
from treaty.formats.protobuf.linker.diagnostics import EXPECTED, DiagnosticList
from treaty.formats.protobuf.linker.link import collect_references, link_file
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.syntax.file import parse_file, parse_imports
from treaty.formats.protobuf.validation.check import check_file
from treaty.formats.protobuf.well_known import PATHS


def parse_schema(resolved: ResolvedSchema, strict: bool) -> ProtoSchema:  # noqa: FBT001 - the signature of `Format.parse`
    """The linked schema of a text and its references; the text may be a descriptor in base64.

    With `strict` it is checked by all rules of its syntax or edition; without it only its grammar and imports are, and of
    two texts under one path the first one counts.
    References are never checked again. Raises `InvalidSchemaError` with the faults found, the first one first.
    """
    faults = DiagnosticList(EXPECTED)
    texts = collect_references(resolved.bindings, strict=strict)
    protos = parse_descriptors(resolved.text)
    if protos:
        schema = link_descriptors(protos, texts, faults, strict=strict)
    else:
        schema = link_file(parse_file(resolved.text), texts, parse_any, faults)
        if strict and not faults.found:
            check_file(schema, faults)
    faults.raise_if_any()
    return schema


def find_references(text: str) -> tuple[ReferenceName, ...]:
    """Paths that a text imports and that are not known without a reference, each once, with line and column."""
    protos = parse_descriptors(text)
    if protos:
        brought = {one.name for one in protos}
        listed = [(path, "") for path in (*protos[0].dependency, *protos[0].option_dependency) if path not in brought]
    else:
        listed = [(one.path, f"{one.place.line}:{one.place.column}") for one in parse_imports(text)]
    by_path: dict[str, ReferenceName] = {}
    for path, place in listed:
        if path not in PATHS:
            by_path.setdefault(path, ReferenceName(path, place))
    return tuple(by_path.values())
