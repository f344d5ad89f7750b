"""Can a reader's JSON Schema read what a writer's allowed: the findings, and everything that differs at all."""

from treaty.core.finding import Finding
from treaty.formats.jsonschema.compare.fixpoint import StepsError
from treaty.formats.jsonschema.compare.found import Difference, Found, Way
from treaty.formats.jsonschema.compare.proof.goals import unproven
from treaty.formats.jsonschema.compare.rules.own import COMPARISON_TOO_LARGE
from treaty.formats.jsonschema.compare.view import Side, View
from treaty.formats.jsonschema.compare.walk.pairs import walked
from treaty.formats.jsonschema.model import Document


def compare(reader: Document, writer: Document, policy: str = "STRICT") -> tuple[Finding, ...]:
    """What stops `reader` from reading data that `writer` allows, by the rules of a policy; empty if nothing does."""
    return tuple(one.finding() for one in _compared(reader, writer, policy).harms)


def differences(reader: Document, writer: Document) -> tuple[Finding, ...]:
    """Everything that differs, what the strict policy refuses first and then what harms nobody."""
    found = _compared(reader, writer, "STRICT", noted=True)
    return tuple(one.finding() for one in (*found.harms, *found.notes))


def _compared(reader: Document, writer: Document, policy: str, *, noted: bool = False) -> Found:
    """The established rules, and where these find no harm a proof; a lenient reader asks for no proof."""
    old, new = _root(writer, noted=noted), _root(reader, noted=noted)
    try:
        found = walked(old, new, policy)
    except StepsError as stop:
        return _too_large(Found(policy), stop)
    if policy == "LENIENT":
        return found
    try:
        found.harms += _further(found.harms, unproven(old, new, policy).harms)
    except StepsError as stop:
        return found if found.harms else _too_large(found, stop)
    return found


def _too_large(found: Found, stop: StepsError) -> Found:
    found.harms.append(Difference(COMPARISON_TOO_LARGE, None, None, None, stop.limit))
    return found


def _further(told: list[Difference], unproven: list[Difference]) -> list[Difference]:
    """What was not told yet: nothing at a place that leads to one that was, or the other way round."""
    if not told:
        return unproven
    places = {_property(one.way) for one in told}
    ways = {way[:length] for way in places for length in range(len(way) + 1)}
    known = set()
    for one in unproven:
        way = _property(one.way)
        if way in ways or any(way[:length] in places for length in range(len(way))):
            known.add(one.place)
    return [one for one in unproven if one.place not in known]


def _property(way: Way) -> tuple[str | int, ...]:
    """A way in one piece, where a property is the same one whether it is required or described."""
    steps: list[str | int] = []
    while way is not None:
        step, way = way
        steps.append("properties" if step == "required" else step)
    return tuple(steps)


def _root(document: Document, *, noted: bool) -> View:
    return Side(document, noted=noted).view(document.root)
