"""Can a reader's JSON Schema read what a writer's allowed: the findings, and everything that differs at all."""

from treaty.core.finding import Finding
from treaty.formats.jsonschema.compare.fixpoint import StepsError
from treaty.formats.jsonschema.compare.found import Difference, Found, pointed
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
    found = _compared(reader, writer, "STRICT")
    return tuple(one.finding() for one in (*found.harms, *found.notes))


def _compared(reader: Document, writer: Document, policy: str) -> Found:
    """The established rules, and where these find no harm a proof; a lenient reader asks for no proof."""
    old, new = _root(writer), _root(reader)
    try:
        found = walked(old, new, policy)
        if policy != "LENIENT":
            told = [pointed(one.way) for one in found.harms]
            further = unproven(old, new, policy).harms
            known = {one.place for one in further if any(_near(pointed(one.way), path) for path in told)}
            found.harms += [one for one in further if one.place not in known]
    except StepsError as stop:
        found = Found(policy)
        found.harms.append(Difference(COMPARISON_TOO_LARGE, None, None, None, stop.limit))
    return found


def _near(one: str, other: str) -> bool:
    """Whether one of two paths leads to the other: then the same trouble would be told twice."""
    left, right = (path.rstrip("/") + "/" for path in (one, other))
    return left.startswith(right) or right.startswith(left)


def _root(document: Document) -> View:
    return Side(document).view(document.root)
