"""Advice about what makes later versions, tables and validators harder."""

import re
from collections.abc import Iterator

from treaty.formats.json_pointer import escape_step
from treaty.formats.jsonschema.constraints import merge_constraints
from treaty.formats.jsonschema.lint.places import NEAR, Advice, list_properties, list_schemas, make_lint
from treaty.formats.jsonschema.model import JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import ignores_siblings
from treaty.formats.jsonschema.regex import is_linear

_BRANCHES = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
_TYPED = frozenset(
    {"type", "enum", "const", "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if"}
)

_ASIDE = re.compile(r"\\.|\[(?:\\.|[^\]])*\]", re.DOTALL)
"""Escapes and sets, which contain no anchors."""


def _is_branch(node: SchemaNode) -> bool:
    steps = node.place.split("/")
    return any(step in _BRANCHES for step in steps[-2:])


def _additional_unspecified(document: JsonSchema) -> Iterator[Advice]:
    for node in list_schemas(document):
        value = node.value
        assert isinstance(value, dict)
        is_specified = "additionalProperties" in value or (
            "unevaluatedProperties" in value and node.draft.number >= 2019
        )
        if (
            isinstance(value.get("properties"), dict)
            and not is_specified
            and not _is_branch(node)
            and not ignores_siblings(node)
        ):
            message = "the object takes any members beside the named ones, so no property can be added compatibly"
            yield node.place, message, '"additionalProperties", true or false'


def _type_missing(document: JsonSchema) -> Iterator[Advice]:
    for name, node in list_properties(document):
        value = node.value
        if (
            isinstance(value, dict)
            and value
            and not _TYPED & value.keys()
            and merge_constraints(document, [node], NEAR).silent
        ):
            yield node.place, f"the property {name!r} takes values of any type", 'a member "type"'


def _patterns(document: JsonSchema) -> Iterator[tuple[str, str]]:
    for node in list_schemas(document):
        value = node.value
        assert isinstance(value, dict)
        if isinstance(value.get("pattern"), str):
            yield f"{node.place}/pattern", str(value["pattern"])
        held = value.get("patternProperties")
        for regex in held if isinstance(held, dict) else ():
            yield f"{node.place}/patternProperties/{escape_step(regex)}", regex


def _pattern_not_anchored(document: JsonSchema) -> Iterator[Advice]:
    for path, regex in _patterns(document):
        plain = _ASIDE.sub("", regex)
        free = {"^": regex.startswith(".*"), "$": regex.endswith(".*")}
        ends = [mark for mark in "^$" if mark not in plain and not free[mark]]
        if ends:
            message = f"the pattern {regex[:60]!r} is searched for, not compared: it has no {' and no '.join(ends)}"
            yield path, message, "a pattern from ^ to $, or one that says .* where more may stand"


def _regex_not_linear(document: JsonSchema) -> Iterator[Advice]:
    for path, regex in _patterns(document):
        if not is_linear(regex):
            message = f"the pattern {regex[:60]!r} can't be searched in linear time"
            yield path, message, "no looks around, no backward references, and small counts"


def _integer_unbounded(document: JsonSchema) -> Iterator[Advice]:
    for node in list_schemas(document):
        value = node.value
        assert isinstance(value, dict)
        kind = value.get("type")
        if kind != "integer" and not (isinstance(kind, list) and "integer" in kind and "number" not in kind):
            continue
        low = "minimum" in value or "exclusiveMinimum" in value
        high = "maximum" in value or "exclusiveMaximum" in value
        if not (low and high) and not {"enum", "const"} & value.keys() and not ignores_siblings(node):
            ends = " and no ".join(word for word, there in (("minimum", low), ("maximum", high)) if not there)
            yield node.place, f"the integer has no {ends}: languages and tables hold 64 bits at most", "both bounds"


EVOLUTION = (
    make_lint(
        "ADDITIONAL_PROPERTIES_UNSPECIFIED", "Objects say whether they take other members.", _additional_unspecified
    ),
    make_lint("TYPE_MISSING", "Every property has a type.", _type_missing),
    make_lint("PATTERN_NOT_ANCHORED", "Patterns say where they begin and end.", _pattern_not_anchored),
    make_lint("REGEX_NOT_LINEAR", "Patterns can be searched in linear time.", _regex_not_linear),
    make_lint("INTEGER_UNBOUNDED", "Integers have bounds.", _integer_unbounded),
)
"""Advice about evolution and use."""
