"""Avro as a `Format`: the record of functions that the other packages use."""

from collections.abc import Mapping
from dataclasses import replace

from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.canonical import print_plainly, print_sameness, print_schema
from treaty.formats.avro.compatibility import compare
from treaty.formats.avro.data.columns import derive_columns
from treaty.formats.avro.data.example import generate_example
from treaty.formats.avro.data.value import check_value
from treaty.formats.avro.differences import list_harmless
from treaty.formats.avro.fingerprint import crc64, md5, pravega, print_parsing_form, sha256
from treaty.formats.avro.lint.documentation import DOCUMENTATION
from treaty.formats.avro.lint.evolution import EVOLUTION
from treaty.formats.avro.lint.places import list_elements
from treaty.formats.avro.lint.portability import PORTABILITY
from treaty.formats.avro.logical_types import from_logical, to_logical
from treaty.formats.avro.model import (
    PRIMITIVES,
    AvroEnum,
    AvroFixed,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
)
from treaty.formats.avro.normal_form import to_normal_form
from treaty.formats.avro.parser import parse_schema, spend_reading
from treaty.formats.avro.references import find_references
from treaty.formats.avro.rules import EXPECTED, RULES
from treaty.formats.avro.tags import list_entities, write_tags
from treaty.formats.content import has_json_schema_words, list_members, skip_comments
from treaty.formats.format import Format, SchemaTexts, TagSupport
from treaty.formats.rule import LintRule

TYPES = frozenset({"record", "error", "enum", "fixed", "map", "bytes", "int", "long", "float", "double"})
"""Types by which a text is known, because JSON Schema has none of these names."""


def recognize(text: str) -> bool:
    """Whether a text, valid or not, looks like an Avro schema."""
    at = skip_comments(text)
    if text[at : at + 1] != "{":
        return text[at : at + 1] in {'"', "["}
    members = list_members(text)
    type_ = members.get("type")
    return not has_json_schema_words(members) and isinstance(type_, str) and type_ in TYPES


LINTS: Mapping[str, LintRule[AvroSchema]] = {lint.id: lint for lint in (*DOCUMENTATION, *EVOLUTION, *PORTABILITY)}
"""Every lint, off unless it is asked for."""


_NOTHING = AvroSchema(PRIMITIVES["null"], {}), SchemaTexts("", "", "")
_LAST: list[tuple[AvroSchema, SchemaTexts, bool]] = [(*_NOTHING, False)]
"""The schema that was printed last, and whether its canonical text is read as an equal one. One in normal form is asked
for twice in a row, as it is and in that form; and a new one is compared right after it was read as it was sent.
"""


def parse(resolved: ResolvedSchema, strict: bool) -> AvroSchema:  # noqa: FBT001 - the signature of `Format.parse`
    """The model of a text and its references; see `parse_schema`. The canonical text that was printed last is not read."""
    last, texts, is_equal = _LAST[0]
    if strict or not is_equal or resolved.bindings or texts.canonical != resolved.text:
        return parse_schema(resolved, strict)
    spend_reading(resolved.text)
    return replace(last, text=resolved.text)


def print_texts(schema: AvroSchema, normalize: bool) -> SchemaTexts:  # noqa: FBT001 - the signature of `Format.show`
    """Canonical text, the same with references inlined, the top-level type's full name and its fields."""
    chosen = to_normal_form(schema) if normalize else schema
    last, texts, _ = _LAST[0]
    if last is not chosen:
        texts, is_equal = _print_texts(chosen)
        _LAST[0] = (chosen, texts, is_equal and chosen is schema)
    return texts


def _print_texts(chosen: AvroSchema) -> tuple[SchemaTexts, bool]:
    canonical, is_equal = print_plainly(chosen, chosen.outside)
    resolved = print_schema(chosen) if chosen.outside else canonical
    root = chosen.root
    name = root.full if isinstance(root, AvroRecord | AvroEnum | AvroFixed | AvroReference) else ""
    top = chosen.names[root.full] if isinstance(root, AvroReference) else root
    fields = tuple(field.name for field in top.fields) if isinstance(top, AvroRecord) else ()
    same = print_sameness(chosen, resolved)
    return SchemaTexts(canonical, resolved, name, fields, _type_names(root), same), is_equal


def _type_names(root: AvroType) -> tuple[str, ...]:
    """Full names of named types, kinds of the others; of a union those of its branches."""
    branches = root.branches if isinstance(root, AvroUnion) else (root,)
    return tuple(
        branch.full if isinstance(branch, AvroRecord | AvroEnum | AvroFixed | AvroReference) else branch.kind
        for branch in branches
    )


FORMAT = Format(
    name="AVRO",
    parse=parse,
    show=print_texts,
    references=find_references,
    compare=compare,
    harmless=list_harmless,
    fingerprints={"CRC-64-AVRO": crc64, "MD5": md5, "SHA-256": sha256, "PRAVEGA": pravega},
    views={"resolved": print_schema, "parsing": print_parsing_form, "logical": to_logical},
    faults=EXPECTED,
    rules=RULES,
    lints=LINTS,
    columns=derive_columns,
    check=check_value,
    example=generate_example,
    suffixes=(".avsc",),
    tagging=TagSupport(list_entities, write_tags),
    from_logical=from_logical,
    elements=list_elements,
    recognize=recognize,
)
