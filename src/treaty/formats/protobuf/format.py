"""Protobuf as a `Format`: the record of functions that the other packages use."""

from collections.abc import Mapping

from treaty.formats.format import Format, TagSupport
from treaty.formats.protobuf.columns import derive_columns
from treaty.formats.protobuf.compare.comparison import compare, find_differences
from treaty.formats.protobuf.compare.rules.established import ESTABLISHED
from treaty.formats.protobuf.compare.rules.harmless import HARMLESS
from treaty.formats.protobuf.compare.rules.treaty import OWN
from treaty.formats.protobuf.elements import list_elements
from treaty.formats.protobuf.example import generate_example
from treaty.formats.protobuf.linker.diagnostics import EXPECTED
from treaty.formats.protobuf.lints import LINTS
from treaty.formats.protobuf.logical_types import from_logical, to_logical
from treaty.formats.protobuf.parser import find_references, parse_schema
from treaty.formats.protobuf.places import find_position, recognize
from treaty.formats.protobuf.tags import list_entities, write_tags
from treaty.formats.protobuf.value import check_value
from treaty.formats.protobuf.views import pravega, print_descriptor, print_plain, print_resolved, print_texts, sha256
from treaty.formats.rule import CompatibilityRule

RULES: Mapping[str, CompatibilityRule] = {**ESTABLISHED, **OWN, **HARMLESS}
"""All rules by their identifiers."""


FORMAT = Format(
    name="PROTOBUF",
    parse=parse_schema,
    show=print_texts,
    references=find_references,
    compare=compare,
    differences=find_differences,
    fingerprints={"SHA-256": sha256, "PRAVEGA": pravega},
    views={
        "resolved": print_resolved,
        "serialized": print_descriptor,
        "ignore_extensions": print_plain,
        "logical": to_logical,
    },
    faults=EXPECTED,
    rules=RULES,
    lints=LINTS,
    columns=derive_columns,
    check=check_value,
    example=generate_example,
    suffixes=(".proto",),
    tagging=TagSupport(list_entities, write_tags),
    from_logical=from_logical,
    elements=list_elements,
    recognize=recognize,
    locate=find_position,
    finding_form='{errorType:"{rule}", description:"{sentence}"}',
)
