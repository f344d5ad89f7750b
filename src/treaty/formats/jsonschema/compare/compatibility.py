"""Can a reader's JSON Schema read what a writer's allowed: the findings, and everything that differs at all."""

from typing import Any

from treaty.core.finding import Finding
from treaty.core.limits import COMPARE_STEPS, PROOF_STEPS
from treaty.formats.budget import StepsError, limit_steps, spend
from treaty.formats.jsonschema.compare.found import Difference, Way, list_differences
from treaty.formats.jsonschema.compare.proof.goals import unproven
from treaty.formats.jsonschema.compare.rules.own import COMPARISON_TOO_LARGE
from treaty.formats.jsonschema.compare.view import Side, View
from treaty.formats.jsonschema.compare.walk.pairs import walked
from treaty.formats.jsonschema.model import JsonSchema


def compare(reader: JsonSchema, writer: JsonSchema, policy: str = "STRICT") -> tuple[Finding, ...]:
    """What stops `reader` from reading data that `writer` allows, by the rules of a policy; empty if nothing does."""
    return tuple(_finding(one) for one in _compared(reader, writer, policy)[0])


def differences(reader: JsonSchema, writer: JsonSchema) -> tuple[Finding, ...]:
    """Everything that differs, what the strict policy refuses first and then what harms nobody."""
    harms, notes = _compared(reader, writer, "STRICT", noted=True)
    return tuple(_finding(one) for one in (*harms, *notes))


def _finding(one: Difference) -> Finding:
    spend(20)
    return one.finding()


def _compared(
    reader: JsonSchema, writer: JsonSchema, policy: str, *, noted: bool = False
) -> tuple[list[Difference], list[Difference]]:
    """Harms and notes by the established rules, and where these find no harm a proof; a lenient reader asks for no proof.

    Where there is harm already the proof only looks for more of it, and gives up sooner.
    """
    old, new = _root(writer, noted=noted), _root(reader, noted=noted)
    try:
        with limit_steps(COMPARE_STEPS, "COMPARE_STEPS"):
            found = walked(old, new, policy)
            harms, notes = list_differences(found.harms), list_differences(found.notes)
            if policy != "LENIENT" and not harms:
                harms = list_differences(unproven(old, new, policy).harms)
    except StepsError as stop:
        return _too_large(stop, "COMPARE_STEPS", "COMBINATION_BRANCHES"), []
    if policy != "LENIENT" and found.harms:
        harms += _more_harms(harms, old, new, policy)
    return harms, notes


def _more_harms(harms: list[Difference], old: View, new: View, policy: str) -> list[Difference]:
    try:
        with limit_steps(PROOF_STEPS, "PROOF_STEPS"):
            return _further(harms, list_differences(unproven(old, new, policy).harms))
    except StepsError as stop:
        _too_large(stop, "PROOF_STEPS")
        return []


def _too_large(stop: StepsError, *own: str) -> list[Difference]:
    """The one difference that says so; a budget of those who ask is theirs to judge."""
    if stop.limit not in own:
        raise stop
    return [Difference(COMPARISON_TOO_LARGE, None, None, None, stop.message)]


def _further(harms: list[Difference], unproven: list[Difference]) -> list[Difference]:
    """What was not told yet: nothing at a place that leads to one that was, or the other way round."""
    tree: dict[object, Any] = {}
    for one in harms:
        here = tree
        for step in _property(one.way):
            here = here.setdefault(step, {})
        here[_END] = True
    known = {one.place for one in unproven if _meets(tree, _property(one.way))}
    return [one for one in unproven if one.place not in known]


_END = object()
"""Marks the end of a way in a tree of ways."""


def _meets(tree: dict[object, Any], way: list[str | int]) -> bool:
    """Whether a way ends on one of the ways of a tree, or leads past the end of one."""
    for step in way:
        if _END in tree:
            return True
        if step not in tree:
            return False
        tree = tree[step]
    return True


def _property(way: Way) -> list[str | int]:
    """A way in one piece, where a property is the same one whether it is required or described."""
    steps: list[str | int] = []
    while way is not None:
        step, way = way
        steps.append("properties" if step == "required" else step)
    spend(2 + (len(steps) >> 1))
    return steps


def _root(document: JsonSchema, *, noted: bool) -> View:
    return Side(document, noted=noted).view(document.root)
