"""Goals about combined schemas: allOf, anyOf, oneOf, not, and conditions."""

from collections.abc import Generator, Iterator
from typing import NamedTuple

from treaty.formats.budget import spend
from treaty.formats.jsonschema.compare.differences import DifferenceReport
from treaty.formats.jsonschema.compare.discriminator import LARGE, list_constants
from treaty.formats.jsonschema.compare.fixpoint import PairQuestion, Task
from treaty.formats.jsonschema.compare.proof.facts import FactCase, FactSource, ValueFacts
from treaty.formats.jsonschema.compare.proof.prover import DefaultFilling, Goal, ProofClaim, SchemaProver
from treaty.formats.jsonschema.compare.rules import treaty as rules
from treaty.formats.jsonschema.compare.view import SchemaView

_FEW = 8


class ChoiceBranch(NamedTuple):
    """A schema of a choice, and which one it is: two references to one schema are two branches of one view."""

    at: int
    view: SchemaView


def _branch(filling: DefaultFilling) -> DefaultFilling:
    """Whether defaults may be put in for one schema of several: that schema alone decides."""
    return DefaultFilling.ASK if filling is DefaultFilling.YES else DefaultFilling.NO


def _all_of(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    for at, inner in enumerate(claim.goal.list_schemas("allOf")):
        report.add_nested((yield PairQuestion(claim._replace(goal=inner), deeper=False)), "allOf", at)
    return report


def _any_of(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    for _, inner in _list_likely(claim.known, _list_near(prover, claim, "anyOf")):
        answer = yield PairQuestion(claim._replace(goal=inner, filling=_branch(claim.filling)), deeper=False)
        if not answer.harms:
            return report
    prover.add_missing(report, claim, rules.ANY_OF_NOT_READ, "anyOf")
    return report


def _list_near(prover: SchemaProver, claim: ProofClaim, word: str) -> list[ChoiceBranch]:
    """The branches of the goal's choice without those that no value can fit, by a table; one that is equal comes first."""
    several = [ChoiceBranch(at, view) for at, view in enumerate(claim.goal.list_schemas(word))]
    if len(several) < LARGE:
        return several
    table, facts = prover.get_branch_table(claim.goal, word), claim.known
    equal = [at for view in facts.views if not _is_choice(view) and (at := table.find_equal(view)) is not None]
    near: list[int] | None = None
    if facts.types <= {"object"}:
        constants = {name: one for view in facts.views for name, one in list_constants(view).items()}
        near = table.find_near(constants, facts.required)
    indexes = range(len(several)) if near is None else near
    return [several[at] for at in dict.fromkeys((*(one for one in equal if near is None or one in near), *indexes))]


def _is_choice(view: SchemaView) -> bool:
    return "anyOf" in view.words or "oneOf" in view.words


def _list_likely(facts: ValueFacts, near: list[ChoiceBranch]) -> Iterator[ChoiceBranch]:
    """The first branch, and then all others with those first that name the same properties as what is known."""
    if len(near) < LARGE:
        yield from _likely_first(facts, near)
        return
    yield near[0]
    yield from _likely_first(facts, near[1:])


def _likely_first(facts: ValueFacts, several: list[ChoiceBranch]) -> list[ChoiceBranch]:
    """Schemas in an order in which those come first that name the same properties as what is known."""
    spend(len(several))
    if len(several) < _FEW:
        return several
    names = {name for view in facts.views for name in view.names("properties")}
    return sorted(several, key=lambda one: -len(names.intersection(one.view.names("properties"))))


def _one_of(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    near = _list_near(prover, claim, "oneOf")
    overlap = False
    fillings = [DefaultFilling.NO]
    if claim.filling is DefaultFilling.YES and prover.fill_all(claim.goal, "oneOf"):
        fillings.append(DefaultFilling.ASK)
    for filling in fillings:
        lasting = None if filling is DefaultFilling.NO else frozenset(claim.known.required)
        for inner in _list_likely(claim.known, near):
            answer = yield PairQuestion(claim._replace(goal=inner.view, filling=filling), deeper=False)
            if answer.harms:
                continue
            apart = True
            for other in near:
                if other.at == inner.at:
                    continue
                apart = yield from _is_excluded(prover, claim.known, other.view, lasting=lasting)
                if not apart:
                    break
            if apart:
                return report
            overlap = True
    prover.add_missing(report, claim, rules.ONE_OF_OVERLAP if overlap else rules.ONE_OF_NOT_READ, "oneOf")
    return report


def _is_excluded(
    prover: SchemaProver, facts: ValueFacts, view: SchemaView, *, lasting: frozenset[str] | None = None
) -> Generator[PairQuestion, DifferenceReport, bool]:
    """Whether no value of which this is known fits a schema."""
    spend(2 + (len(facts.excluded) >> 1))
    if lasting is None and any(prover.is_same_structure(view, other) for other in facts.excluded):
        return True
    if prover.is_impossible(prover.extend_facts(facts, FactCase((view,))), lasting=lasting):
        return True
    if lasting is not None:
        return False
    for other in facts.excluded:
        answer = yield PairQuestion(
            ProofClaim(prover.get_facts(FactSource((view,))), other, DefaultFilling.NO), deeper=False
        )
        if not answer.harms:
            return True
    return False


def _not(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    inner = claim.goal.get_part("not")
    assert inner is not None
    if not (yield from _is_excluded(prover, claim.known, inner)):
        prover.add_missing(report, claim, rules.NOT_ADDED, "not")
    return report


def _condition(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    test = claim.goal.get_part("if")
    assert test is not None
    for word, case in (("then", FactCase((test,))), ("else", FactCase((), (test,)))):
        goal = claim.goal.get_part(word)
        if goal is None:
            continue
        facts = prover.extend_facts(claim.known, case)
        if not prover.is_impossible(facts):
            answer = yield PairQuestion(ProofClaim(facts, goal, DefaultFilling.NO), deeper=False)
            if answer.harms:
                prover.add_missing(report, claim, rules.CONDITION_ADDED, word)
    return report


CHOICE_GOALS: tuple[tuple[frozenset[str], Goal], ...] = (
    (frozenset({"allOf"}), _all_of),
    (frozenset({"anyOf"}), _any_of),
    (frozenset({"oneOf"}), _one_of),
    (frozenset({"not"}), _not),
    (frozenset({"if"}), _condition),
)
"""Groups of keywords that combine schemas, and what proves them."""
