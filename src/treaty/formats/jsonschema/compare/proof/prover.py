"""The proof: every keyword of the reader has to follow from what is known of the writer's value. It distinguishes cases (branches, single
values, types) to a depth, and past that a keyword counts as not proven.
"""

from collections.abc import Callable, Generator, Hashable, Iterator
from enum import IntEnum
from typing import NamedTuple

from treaty.formats.budget import current_budget
from treaty.formats.jsonschema.compare.differences import DifferenceReport
from treaty.formats.jsonschema.compare.discriminator import LARGE, BranchTable
from treaty.formats.jsonschema.compare.fixpoint import FixpointSolver, PairQuestion, Task
from treaty.formats.jsonschema.compare.proof.facts import NUMERIC, FactCase, FactSource, ValueFacts
from treaty.formats.jsonschema.compare.proof.same_structure import is_same_structure
from treaty.formats.jsonschema.compare.proof.subvalues import get_item_source, get_property_source
from treaty.formats.jsonschema.compare.rules import treaty as rules
from treaty.formats.jsonschema.compare.view import UNRESOLVED, SchemaView
from treaty.formats.jsonschema.model import Json
from treaty.formats.rule import CompatibilityRule


class DefaultFilling(IntEnum):
    """Whether a reader may put defaults in at a place."""

    NO = 0
    YES = 1
    ASK = 2
    """If nothing that the reader demands there depends on what is missing."""


class ProofClaim(NamedTuple):
    """A claim: every value of which this is known fits the goal, after defaults are put in where that is allowed."""

    known: ValueFacts
    goal: SchemaView
    filling: DefaultFilling


Goal = Callable[["SchemaProver", ProofClaim], Task]
"""Proves what one group of keywords demands; returns what could not be shown."""

_KINDS = tuple(
    frozenset(kind)
    for kind in (("null",), ("boolean",), ("string",), ("array",), ("object",), ("integer", "whole"), ("number",))
)
_SPLITS = 2
"""Distinctions that are made one inside the other."""
_WIDE = 4
"""Distinctions that are tried one after the other."""
_VALUES = 64
"""Values that are looked at one by one."""
_INSIDE = 3
"""Levels of properties inside each other that are looked at for a contradiction."""


class SchemaProver:
    """One proof under one policy; `goals` are the groups of keywords with what proves them."""

    __slots__ = ("_alike", "_budget", "_filled", "_fixpoint", "_kept", "_plain", "_tables", "goals", "policy")

    def __init__(self, policy: str, goals: tuple[tuple[frozenset[str], Goal], ...]) -> None:
        self.policy = policy
        self.goals = goals
        self._budget = current_budget()
        self._kept: dict[Hashable, ValueFacts] = {}
        self._alike: dict[tuple[int, int], bool] = {}
        self._plain: dict[int, bool] = {}
        self._filled: dict[tuple[int, str], bool] = {}
        self._tables: dict[tuple[int, str], BranchTable] = {}
        circular = DifferenceReport(policy)
        circular.add(rules.REFERENCE_UNRESOLVED)
        self._fixpoint = FixpointSolver(self._begin, DifferenceReport(policy), circular)

    def prove(self, writer: SchemaView, reader: SchemaView) -> DifferenceReport:
        """What could not be shown of the two roots; raises `StepsError` past the limit."""
        return self._fixpoint.answer(ProofClaim(self.get_facts(FactSource((writer,))), reader, DefaultFilling.ASK))

    def get_facts(self, source: FactSource) -> ValueFacts:
        """The knowledge of a source, made only once."""
        size = len(source.fits) + len(source.excluded) + (0 if source.values is None else len(source.values))
        self._budget.spend(3 + (size >> 2))
        key = source.key
        if key not in self._kept:
            facts = self._kept[key] = ValueFacts(source)
            self._budget.spend(12 + 2 * len(facts.views) + (len(facts.excluded) >> 2))
        return self._kept[key]

    def extend_facts(self, facts: ValueFacts, case: FactCase, **changes: object) -> ValueFacts:
        """The same knowledge and more."""
        source = facts.source
        fits, excluded = source.fits + case.fits, source.excluded + case.excluded
        return self.get_facts(source._replace(fits=fits, excluded=excluded, **changes))  # type: ignore[arg-type]

    def start_report(self) -> DifferenceReport:
        """An empty list of what could not be shown."""
        return DifferenceReport(self.policy)

    def add_missing(
        self, report: DifferenceReport, claim: ProofClaim, rule: CompatibilityRule, *steps: str | int, word: str = ""
    ) -> None:
        """Note that a keyword of the goal could not be shown: `word`, or the first step to it."""
        word = word or (str(steps[0]) if steps else "")
        self._budget.spend(4 + (len(claim.known.views) >> 2))
        value = next((view.words[word] for view in claim.known.views if word in view.words), None)
        is_written = any(word in view.words for view in claim.known.views)
        goal: Json = claim.goal.words.get(word, claim.goal.node.value)
        place = (claim.goal.node.key, *steps)
        report.add(rule, *steps, writer=(value,) if is_written else None, reader=(goal,), place=place)

    def get_branch_table(self, choice: SchemaView, word: str) -> BranchTable:
        """The table of a large choice."""
        key = (id(choice), word)
        if key not in self._tables:
            self._tables[key] = BranchTable(choice.list_schemas(word))
        return self._tables[key]

    def is_same_structure(self, first: SchemaView, other: SchemaView) -> bool:
        """Whether two schemas are built the same way."""
        if first is other:
            return True
        answer = self._alike.get((id(first), id(other)))
        return is_same_structure(first, other, self._alike, self._budget) if answer is None else answer

    def is_impossible(self, facts: ValueFacts, depth: int = _INSIDE, *, lasting: frozenset[str] | None = None) -> bool:
        """Whether no value can be as it is known to be, by a simple contradiction; False does not say that one can.

        With `lasting`, only by contradictions that stay when defaults are put into objects: these are the properties
        that are there before.
        """
        if not facts.types:
            return True
        self._budget.spend(3 + (len(facts.views) * len(facts.excluded) >> 1))
        if lasting is None and any(self._contradicts(facts, one) for one in facts.excluded):
            return True
        if depth == 0:
            return False
        inner = None if lasting is None else frozenset[str]()
        for _, cases in facts.cases[:_WIDE]:
            if len(cases) <= _VALUES and all(
                self.is_impossible(self._assume_case(facts, case), depth - 1, lasting=lasting) for case in cases
            ):
                return True
        if facts.types <= NUMERIC:
            return _no_number(facts)
        if facts.types == {"object"}:
            return any(
                self.is_impossible(self.get_facts(get_property_source(facts, name)), depth - 1, lasting=inner)
                for name in (facts.required if lasting is None else lasting)
            )
        if facts.types == {"array"} and (facts.bound("minItems", upper=False) or 0) > 0:
            return self.is_impossible(self.get_facts(get_item_source(facts, 0)), depth - 1, lasting=inner)
        return False

    def _contradicts(self, facts: ValueFacts, excluded: SchemaView) -> bool:
        if not excluded.words and not excluded.never:
            return True
        return any(self.is_same_structure(view, excluded) for view in facts.views)

    def _assume_case(self, facts: ValueFacts, case: FactCase) -> ValueFacts:
        return self.extend_facts(facts, case, settled=facts.source.settled | {name for name, _ in facts.cases})

    def attempt(
        self, goal: Goal, claim: ProofClaim, depth: int = _SPLITS
    ) -> Generator[PairQuestion, DifferenceReport, DifferenceReport]:
        """Show one group of keywords directly, or in every case of a distinction."""
        large = depth > 0 and _meets_choice(claim)
        report = self.start_report()
        if not large:
            # What a case knows is known in all of it: of two large choices each branch is looked for by itself.
            report = yield from goal(self, claim)
            if not report.harms or depth == 0:
                return report
        closest = None
        for cases in self._distinctions(claim):
            for facts in cases:
                if self.is_impossible(facts):
                    continue
                inner = yield from self.attempt(goal, claim._replace(known=facts), depth - 1)
                if inner.harms:
                    closest = closest or inner
                    break
            else:
                return self.start_report()
        return closest or report

    def _distinctions(self, claim: ProofClaim) -> Iterator[list[ValueFacts]]:
        """Ways to distinguish cases of which one always holds."""
        facts = claim.known
        source = facts.source
        for name, cases in facts.cases[:_WIDE]:
            yield [self.extend_facts(facts, case, settled=source.settled | {name}) for case in cases]
        if facts.values is not None:
            if 1 < len(facts.values) <= _VALUES:
                yield [self.get_facts(source._replace(values=(value,))) for value in facts.values]
        elif "anyOf" in claim.goal.words or "oneOf" in claim.goal.words:
            kinds = [kind & facts.types for kind in _KINDS if kind & facts.types]
            if len(kinds) > 1:
                yield [self.get_facts(source._replace(types=kind)) for kind in kinds]

    def _begin(self, pair: Hashable) -> Task:
        assert isinstance(pair, ProofClaim)
        return self._prove_claim(pair)

    def _prove_claim(self, claim: ProofClaim) -> Task:
        report = self.start_report()
        facts, goal = claim.known, claim.goal
        self._budget.spend(2 + len(facts.views))
        if (
            not facts.types
            or not (goal.words or goal.never)
            or any(self.is_same_structure(one, goal) for one in facts.views)
        ):
            return report
        if goal.never or UNRESOLVED in goal.words:
            if not self.is_impossible(facts):
                self.add_missing(report, claim, rules.NOTHING_ALLOWED if goal.never else rules.REFERENCE_UNRESOLVED)
            return report
        if claim.filling is DefaultFilling.ASK:
            claim = claim._replace(filling=DefaultFilling.YES if self.fills(goal) else DefaultFilling.NO)
        target = goal.target()
        if target is not None:
            report.add_nested((yield PairQuestion(claim._replace(goal=target), deeper=False)))
        for words, prove in self.goals:
            if not words.isdisjoint(goal.words):
                report.add_nested((yield from self.attempt(prove, claim)))
        return report

    def fill_all(self, choice: SchemaView, word: str) -> bool:
        """Whether `fills` is true for all branches of a choice."""
        key = (id(choice), word)
        if key not in self._filled:
            branches = choice.list_schemas(word)
            self._budget.spend(2 * len(branches))
            self._filled[key] = all(map(self.fills, branches))
        return self._filled[key]

    def fills(self, goal: SchemaView) -> bool:
        """Whether a default that is put in at a place changes nothing for anything else that is demanded there."""
        if id(goal) not in self._plain:
            self._plain[id(goal)] = _is_plain(goal)
        return self._plain[id(goal)]


def _meets_choice(claim: ProofClaim) -> bool:
    """Whether a large choice is known and the goal is one too."""
    words = claim.goal.words
    return ("oneOf" in words or "anyOf" in words) and any(len(cases) >= LARGE for _, cases in claim.known.cases[:_WIDE])


def _no_number(facts: ValueFacts) -> bool:
    lower = facts.bound("minimum", upper=False), facts.bound("exclusiveMinimum", upper=False)
    upper = facts.bound("maximum", upper=True), facts.bound("exclusiveMaximum", upper=True)
    for at, low in enumerate(lower):
        for to, high in enumerate(upper):
            if low is not None and high is not None and (low > high or (low == high and at + to > 0)):
                return True
    return False


_PLAIN = frozenset(
    {
        "type",
        "enum",
        "const",
        "properties",
        "required",
        "additionalProperties",
        "minProperties",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "contentEncoding",
        "contentMediaType",
        "allOf",
        "$ref",
        "$recursiveRef",
        "$dynamicRef",
    }
)
_CHOICES = (frozenset({"type", "anyOf"}), frozenset({"type", "oneOf"}))
_TOGETHER = 50


def _is_plain(goal: SchemaView) -> bool:
    """Whether a property that is put into an object changes nothing for anything else that the reader demands."""
    views: list[SchemaView] = []
    waiting = [goal]
    while waiting:
        view = waiting.pop()
        if view in views:
            continue
        views.append(view)
        if len(views) > _TOGETHER:
            return False
        waiting += view.list_schemas("allOf")
        target = view.target()
        if target is not None:
            waiting.append(target)
    if len(views) == 1 and any(goal.words.keys() <= words for words in _CHOICES):
        return True
    for view in views:
        if not view.words.keys() <= _PLAIN:
            return False
        held = view.words.get("enum", view.words.get("const"))
        if any(isinstance(one, dict | list) for one in (held if isinstance(held, list) else [held])):
            return False
    several = [view for view in views if "properties" in view.words or "additionalProperties" in view.words]
    if len(several) > 1:
        if any("additionalProperties" in view.words for view in several):
            return False
        together = [name for view in several for name in view.names("properties")]
        return len(set(together)) == len(together)
    return True
