"""JSON Schema as a `Format`: the record of functions that the other packages use."""

from collections.abc import Mapping

from treaty.formats.content import has_json_schema_words, list_members, skip_comments
from treaty.formats.format import Format, TagSupport
from treaty.formats.jsonschema.canonical import pravega, print_resolved, print_texts, sha256
from treaty.formats.jsonschema.compare.compatibility import compare, find_differences
from treaty.formats.jsonschema.compare.rules.bound import BOUND_RULES
from treaty.formats.jsonschema.compare.rules.combination import COMBINATION_RULES
from treaty.formats.jsonschema.compare.rules.item import ITEM_RULES
from treaty.formats.jsonschema.compare.rules.property import PROPERTY_RULES
from treaty.formats.jsonschema.compare.rules.treaty import OWN_RULES
from treaty.formats.jsonschema.compare.rules.value import VALUE_RULES
from treaty.formats.jsonschema.data.columns import derive_columns
from treaty.formats.jsonschema.data.example import generate_example
from treaty.formats.jsonschema.data.value import check_value
from treaty.formats.jsonschema.elements import list_elements
from treaty.formats.jsonschema.lint.documentation import DOCUMENTATION
from treaty.formats.jsonschema.lint.evolution import EVOLUTION
from treaty.formats.jsonschema.lint.slips import SLIPS
from treaty.formats.jsonschema.logical_types import from_logical, to_logical
from treaty.formats.jsonschema.model import JsonSchema
from treaty.formats.jsonschema.parser import find_references, parse_schema
from treaty.formats.jsonschema.tags import list_entities, write_tags
from treaty.formats.jsonschema.validity import EXPECTED
from treaty.formats.rule import CompatibilityRule, LintRule

ESTABLISHED: Mapping[str, CompatibilityRule] = {
    **VALUE_RULES,
    **BOUND_RULES,
    **PROPERTY_RULES,
    **ITEM_RULES,
    **COMBINATION_RULES,
}
"""The rules of Confluent's registry that anything produces (source: its 8.x checker)."""

RULES: Mapping[str, CompatibilityRule] = {**ESTABLISHED, **OWN_RULES}
"""All rules by their identifiers."""


TYPES = frozenset({"object", "number", "integer"})
"""Types by which a text is known, because Avro has none of these names."""


def recognize(text: str) -> bool:
    """Whether a text, valid or not, looks like a JSON Schema."""
    at = skip_comments(text)
    if text[at : at + 1] != "{":
        return text[at:].strip() in {"true", "false"}
    members = list_members(text)
    type_ = members.get("type")
    return has_json_schema_words(members) or isinstance(type_, list) or (isinstance(type_, str) and type_ in TYPES)


LINTS: Mapping[str, LintRule[JsonSchema]] = {lint.id: lint for lint in (*DOCUMENTATION, *EVOLUTION, *SLIPS)}
"""Every lint, off unless it is asked for."""


FORMAT = Format(
    name="JSON",
    parse=parse_schema,
    show=print_texts,
    references=find_references,
    compare=compare,
    differences=find_differences,
    fingerprints={"SHA-256": sha256, "PRAVEGA": pravega},
    views={"resolved": print_resolved, "logical": to_logical},
    faults=EXPECTED,
    rules=RULES,
    lints=LINTS,
    columns=derive_columns,
    check=check_value,
    example=generate_example,
    suffixes=(".schema.json", ".jsonschema", ".json"),
    tagging=TagSupport(list_entities, write_tags),
    from_logical=from_logical,
    elements=list_elements,
    recognize=recognize,
    finding_form='{errorType:"{rule}", description:"{sentence}\'}',  # the odd closing quote is on the wire so
)
