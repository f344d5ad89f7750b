"""Every schema of a text that advice can be about, and advice as a row."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from treaty.core.finding import Diagnostic
from treaty.core.limits import FINDINGS
from treaty.formats.json_pointer import find_positions
from treaty.formats.jsonschema.model import JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import get_child, ignores_siblings, list_subschemas
from treaty.formats.rule import LintRule

NEAR = 50
"""Schemas, by references and allOf, that are looked at to learn what is said about one place."""

Advice = tuple[str, str, str]
"""Where advice is not followed as a JSON pointer, what stands there, and what was expected."""

Inspection = Callable[[JsonSchema], Iterator[Advice]]


@lru_cache(maxsize=4)
def list_schemas(document: JsonSchema) -> tuple[SchemaNode, ...]:
    """Every schema of the text in its order; what references lead to elsewhere is not part of it.

    Schemas that a ``$ref`` beside them silences are left out.
    """
    schemas = []
    waiting = [document.root]
    while waiting:
        node = waiting.pop()
        if isinstance(node.value, dict):
            schemas.append(node)
            waiting += reversed(list(list_subschemas(node, only_kept=ignores_siblings(node))))
    return tuple(schemas)


def list_properties(document: JsonSchema) -> Iterator[tuple[str, SchemaNode]]:
    """Every property that the text names, and its schema."""
    for node in list_schemas(document):
        held = node.value.get("properties") if isinstance(node.value, dict) and not ignores_siblings(node) else None
        for name in held if isinstance(held, dict) else ():
            yield name, get_child(node, "properties", name)


def make_lint(id_: str, purpose: str, inspect: Inspection) -> LintRule[JsonSchema]:
    """Advice as a row: what `inspect` yields becomes faults with line and column, in the text's order."""

    def find(document: JsonSchema) -> tuple[Diagnostic, ...]:
        advice = [
            Diagnostic(id_, path, message, expected) for path, message, expected in islice(inspect(document), FINDINGS)
        ]
        places = find_positions(document.written, {one.path for one in advice}) if advice else {}
        placed = (replace(one, line=places[one.path][0], column=places[one.path][1]) for one in advice)
        return tuple(sorted(placed, key=lambda one: (one.line, one.column)))

    return LintRule(id_, purpose, find)
