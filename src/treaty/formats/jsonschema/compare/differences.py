"""What a comparison has found: differences with their places, apart by whether they are refused."""

from collections.abc import Hashable
from typing import NamedTuple

from treaty.core.finding import Finding
from treaty.core.limits import FINDINGS
from treaty.formats.budget import spend
from treaty.formats.json_pointer import escape_step
from treaty.formats.jsonschema.compare.exact import print_short
from treaty.formats.jsonschema.model import Json
from treaty.formats.rule import CompatibilityRule

SchemaPath = tuple[str | int, "SchemaPath"] | None
"""The way from a schema to a place inside it, the first step first: cheap to put another step before it."""


class SchemaDifference(NamedTuple):
    """One difference at a place, and what stands there on both sides; None says that nothing does."""

    rule: CompatibilityRule
    way: SchemaPath
    writer: tuple[Json] | None
    reader: tuple[Json] | None
    detail: str = ""
    place: Hashable = None
    """The schema of the reader that it is about, where a schema may be met at several places."""

    def finding(self) -> Finding:
        """This difference as it is reported, with its path from the root: ``#/`` and so on."""
        path = format_path(self.way)
        sides = [print_short(side[0]) if side else "nothing" for side in (self.writer, self.reader)]
        return self.rule.finding(path, self.detail, writer=sides[0], reader=sides[1])


def format_path(way: SchemaPath) -> str:
    """A way as a path: ``#/properties/x``, or ``#/`` for the root."""
    steps = []
    while way is not None:
        step, way = way
        steps.append(escape_step(str(step)))
    return f"#/{'/'.join(steps)}"


class NestedDifferences(NamedTuple):
    """Differences found at the end of these steps, in a list that grows no more."""

    inner: "list[SchemaDifference | NestedDifferences]"
    steps: tuple[str | int, ...]


DifferenceTree = list[SchemaDifference | NestedDifferences]


class DifferenceReport:
    """A growing list of differences under one policy: `harms` are refused by it, `notes` are not.

    What was found at another place is not copied but pointed to, since one place may be met on many ways; `list_differences`
    walks it. Each list stops at the limit FINDINGS; that something is refused is never forgotten.
    """

    __slots__ = ("harms", "notes", "policy")

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.harms: DifferenceTree = []
        self.notes: DifferenceTree = []

    def add(
        self,
        rule: CompatibilityRule,
        *steps: str | int,
        writer: tuple[Json] | None = None,
        reader: tuple[Json] | None = None,
        place: Hashable = None,
    ) -> None:
        """Add one difference at the end of these steps."""
        way: SchemaPath = None
        for step in reversed(steps):
            way = (step, way)
        differences = self.harms if self.policy in rule.policies else self.notes
        if len(differences) < FINDINGS:
            differences.append(SchemaDifference(rule, way, writer, reader, "", place))

    def add_nested(self, inner: "DifferenceReport", *steps: str | int) -> None:
        """Add what was found at the end of these steps."""
        for outer, more in ((self.harms, inner.harms), (self.notes, inner.notes)):
            if more and len(outer) < FINDINGS:
                outer.append(NestedDifferences(more, steps))


def list_differences(differences: DifferenceTree) -> list[SchemaDifference]:
    """The first FINDINGS differences with their whole ways, in order."""
    listed: list[SchemaDifference] = []
    waiting: list[tuple[SchemaDifference | NestedDifferences, SchemaPath]] = [
        (difference, None) for difference in reversed(differences)
    ]
    while waiting and len(listed) < FINDINGS:
        difference, before = waiting.pop()
        if isinstance(difference, NestedDifferences):
            for step in difference.steps:
                before = (step, before)
            spend(1 + len(difference.inner))
            waiting += [(inner, before) for inner in reversed(difference.inner)]
            continue
        way = difference.way
        cost = 8
        while before is not None:
            step, before = before
            way = (step, way)
            cost += 1
        spend(cost)
        listed.append(difference._replace(way=way))
    return listed
