"""Goals about combined schemas: allOf, anyOf, oneOf, not, and conditions."""

from collections.abc import Generator

from treaty.formats.budget import spend
from treaty.formats.jsonschema.compare.fixpoint import Question, Task
from treaty.formats.jsonschema.compare.found import Found
from treaty.formats.jsonschema.compare.proof.known import Case, Known, Source
from treaty.formats.jsonschema.compare.proof.prover import Filling, Goal, Prover, Sequent
from treaty.formats.jsonschema.compare.rules import own as rules
from treaty.formats.jsonschema.compare.view import View

_FEW = 8


def _branch(filling: Filling) -> Filling:
    """Whether defaults may be put in for one schema of several: that schema alone decides."""
    return Filling.ASK if filling is Filling.YES else Filling.NO


def _all_of(prover: Prover, claim: Sequent) -> Task:
    found = prover.found()
    for at, inner in enumerate(claim.goal.listed("allOf")):
        found.take((yield Question(claim._replace(goal=inner), deeper=False)), "allOf", at)
    return found


def _any_of(prover: Prover, claim: Sequent) -> Task:
    found = prover.found()
    for inner in _likely_first(claim.known, claim.goal.listed("anyOf")):
        answer = yield Question(claim._replace(goal=inner, filling=_branch(claim.filling)), deeper=False)
        if not answer.harms:
            return found
    prover.missing(found, claim, rules.ANY_OF_NOT_READ, "anyOf")
    return found


def _likely_first(known: Known, several: tuple[View, ...]) -> list[View]:
    """Schemas in an order in which those come first that name the same properties as what is known."""
    spend(len(several))
    if len(several) < _FEW:
        return list(several)
    names = {name for view in known.views for name in view.names("properties")}
    return sorted(several, key=lambda view: -len(names.intersection(view.names("properties"))))


def _one_of(prover: Prover, claim: Sequent) -> Task:
    found = prover.found()
    several = claim.goal.listed("oneOf")
    overlap = False
    fillings = [Filling.NO]
    if claim.filling is Filling.YES and all(map(prover.fills, several)):
        fillings.append(Filling.ASK)
    for filling in fillings:
        lasting = None if filling is Filling.NO else frozenset(claim.known.required)
        for inner in _likely_first(claim.known, several):
            answer = yield Question(claim._replace(goal=inner, filling=filling), deeper=False)
            if answer.harms:
                continue
            apart = True
            for other in several:
                if other is inner:
                    continue
                apart = yield from _excluded(prover, claim.known, other, lasting=lasting)
                if not apart:
                    break
            if apart:
                return found
            overlap = True
    prover.missing(found, claim, rules.ONE_OF_OVERLAP if overlap else rules.ONE_OF_NOT_READ, "oneOf")
    return found


def _excluded(
    prover: Prover, known: Known, view: View, *, lasting: frozenset[str] | None = None
) -> Generator[Question, Found, bool]:
    """Whether no value of which this is known fits a schema."""
    spend(2 + (len(known.excluded) >> 1))
    if lasting is None and any(prover.alike(view, other) for other in known.excluded):
        return True
    if prover.impossible(prover.also(known, Case((view,))), lasting=lasting):
        return True
    if lasting is not None:
        return False
    for other in known.excluded:
        answer = yield Question(Sequent(prover.known(Source((view,))), other, Filling.NO), deeper=False)
        if not answer.harms:
            return True
    return False


def _not(prover: Prover, claim: Sequent) -> Task:
    found = prover.found()
    inner = claim.goal.part("not")
    assert inner is not None
    if not (yield from _excluded(prover, claim.known, inner)):
        prover.missing(found, claim, rules.NOT_ADDED, "not")
    return found


def _condition(prover: Prover, claim: Sequent) -> Task:
    found = prover.found()
    test = claim.goal.part("if")
    assert test is not None
    for word, case in (("then", Case((test,))), ("else", Case((), (test,)))):
        goal = claim.goal.part(word)
        if goal is None:
            continue
        known = prover.also(claim.known, case)
        if not prover.impossible(known):
            answer = yield Question(Sequent(known, goal, Filling.NO), deeper=False)
            if answer.harms:
                prover.missing(found, claim, rules.CONDITION_ADDED, word)
    return found


CHOICE_GOALS: tuple[tuple[frozenset[str], Goal], ...] = (
    (frozenset({"allOf"}), _all_of),
    (frozenset({"anyOf"}), _any_of),
    (frozenset({"oneOf"}), _one_of),
    (frozenset({"not"}), _not),
    (frozenset({"if"}), _condition),
)
"""Groups of keywords that combine schemas, and what proves them."""
