"""Compatibility of a reader's JSON Schema with a writer's: the findings, and all other differences."""

from typing import Any

from treaty.core.finding import Finding
from treaty.core.limits import COMPARE_STEPS, PROOF_STEPS
from treaty.formats.budget import StepsError, limit_steps, spend
from treaty.formats.jsonschema.compare.differences import (
    DifferenceReport,
    SchemaDifference,
    SchemaPath,
    list_differences,
)
from treaty.formats.jsonschema.compare.proof.choices import CHOICE_GOALS
from treaty.formats.jsonschema.compare.proof.prover import SchemaProver
from treaty.formats.jsonschema.compare.proof.scalars import SCALAR_GOALS
from treaty.formats.jsonschema.compare.proof.structures import STRUCTURE_GOALS
from treaty.formats.jsonschema.compare.rules.treaty import COMPARISON_TOO_LARGE
from treaty.formats.jsonschema.compare.view import SchemaSide, SchemaView
from treaty.formats.jsonschema.compare.walk.pairs import compare_views
from treaty.formats.jsonschema.model import JsonSchema

GOALS = SCALAR_GOALS + STRUCTURE_GOALS + CHOICE_GOALS


def find_unproven(writer: SchemaView, reader: SchemaView, policy: str) -> DifferenceReport:
    """What could not be shown to follow for the reader; raises `StepsError` past the limit."""
    return SchemaProver(policy, GOALS).prove(writer, reader)


def compare(reader: JsonSchema, writer: JsonSchema, policy: str = "STRICT") -> tuple[Finding, ...]:
    """What stops `reader` from reading data that `writer` allows, by the rules of a policy; empty if nothing does."""
    return tuple(_make_finding(one) for one in _compare_documents(reader, writer, policy)[0])


def find_differences(reader: JsonSchema, writer: JsonSchema) -> tuple[Finding, ...]:
    """Everything that differs, what the strict policy refuses first and then what does no harm."""
    harms, notes = _compare_documents(reader, writer, "STRICT", noted=True)
    return tuple(_make_finding(one) for one in (*harms, *notes))


def _make_finding(difference: SchemaDifference) -> Finding:
    spend(20)
    return difference.finding()


def _compare_documents(
    reader: JsonSchema, writer: JsonSchema, policy: str, *, noted: bool = False
) -> tuple[list[SchemaDifference], list[SchemaDifference]]:
    """Harms and notes by the established rules, and where these find no harm a proof; a lenient reader asks for no
    proof.

    Where there is harm already the proof only looks for more of it, and gives up sooner.
    """
    old, new = _view_root(writer, noted=noted), _view_root(reader, noted=noted)
    try:
        with limit_steps(COMPARE_STEPS, "COMPARE_STEPS"):
            report = compare_views(old, new, policy)
            harms, notes = list_differences(report.harms), list_differences(report.notes)
            if policy != "LENIENT" and not harms:
                harms = list_differences(find_unproven(old, new, policy).harms)
    except StepsError as stop:
        return _too_large(stop, "COMPARE_STEPS", "COMBINATION_BRANCHES"), []
    if policy != "LENIENT" and report.harms:
        harms += _more_harms(harms, old, new, policy)
    return harms, notes


def _more_harms(harms: list[SchemaDifference], old: SchemaView, new: SchemaView, policy: str) -> list[SchemaDifference]:
    try:
        with limit_steps(PROOF_STEPS, "PROOF_STEPS"):
            return _drop_reported(harms, list_differences(find_unproven(old, new, policy).harms))
    except StepsError as stop:
        _too_large(stop, "PROOF_STEPS")
        return []


def _too_large(stop: StepsError, *own: str) -> list[SchemaDifference]:
    """The one difference that says so; a budget of those who ask is theirs to check."""
    if stop.limit not in own:
        raise stop
    return [SchemaDifference(COMPARISON_TOO_LARGE, None, None, None, stop.message)]


def _drop_reported(harms: list[SchemaDifference], unproven: list[SchemaDifference]) -> list[SchemaDifference]:
    """What was not reported yet: nothing at a place that leads to one that was, or the other way round."""
    tree: dict[object, Any] = {}
    for difference in harms:
        node = tree
        for step in _flatten_path(difference.way):
            node = node.setdefault(step, {})
        node[_END] = True
    reported_places = {one.place for one in unproven if _overlaps(tree, _flatten_path(one.way))}
    return [one for one in unproven if one.place not in reported_places]


_END = object()
"""Marks the end of a way in a tree of ways."""


def _overlaps(tree: dict[object, Any], way: list[str | int]) -> bool:
    """Whether a way ends on one of the ways of a tree, or leads past the end of one."""
    for step in way:
        if _END in tree:
            return True
        if step not in tree:
            return False
        tree = tree[step]
    return True


def _flatten_path(way: SchemaPath) -> list[str | int]:
    """A way in one piece, where a property is the same one whether it is required or described."""
    steps: list[str | int] = []
    while way is not None:
        step, way = way
        steps.append("properties" if step == "required" else step)
    spend(2 + (len(steps) >> 1))
    return steps


def _view_root(document: JsonSchema, *, noted: bool) -> SchemaView:
    return SchemaSide(document, noted=noted).view(document.root)
