"""Goals about the values inside a value: properties, names, dependencies, items."""

from collections.abc import Generator, Iterable

from treaty.formats.jsonschema.compare.fixpoint import Question, Task
from treaty.formats.jsonschema.compare.found import Found
from treaty.formats.jsonschema.compare.proof.inside import (
    evaluated,
    least_items,
    longest_tuple,
    most_items,
    names,
    of_item,
    of_name,
    of_others,
    of_property,
)
from treaty.formats.jsonschema.compare.proof.known import Case, Known, Source
from treaty.formats.jsonschema.compare.proof.prover import Filling, Goal, Prover, Sequent
from treaty.formats.jsonschema.compare.rules import own as rules
from treaty.formats.jsonschema.compare.view import View, matches, written_alike

Inside = Generator[Question, Found, None]


def _inner(filling: Filling) -> Filling:
    """Whether defaults may be put into the values inside."""
    return Filling.ASK if filling is Filling.YES else Filling.NO


def _ask(prover: Prover, claim: Sequent, source: Source | None, goal: View | None) -> Generator[Question, Found, Found]:
    """Whether a value inside fits a goal; nothing is said of what can't be there."""
    if source is None or goal is None:
        return prover.found()
    known = prover.known(source)
    if prover.impossible(known, 1):
        return prover.found()
    return (yield Question(Sequent(known, goal, _inner(claim.filling))))


def _properties(prover: Prover, claim: Sequent) -> Task:
    found = prover.found()
    if "object" not in claim.known.types:
        return found
    known, goal = claim.known, claim.goal
    for name in goal.names("properties"):
        if not _same_property(known, goal, name):
            inner = goal.at("properties", name)
            found.take((yield from _ask(prover, claim, of_property(known, name), inner)), "properties", name)
    for pattern, inner in goal.named("patternProperties").items():
        at = ("patternProperties", pattern)
        for name in names(known):
            if matches(pattern, name) is not False:
                found.take((yield from _ask(prover, claim, of_property(known, name), inner)), *at)
        found.take((yield from _ask(prover, claim, of_others(known, (), pattern), inner)), *at)
    if "additionalProperties" in goal.words:
        handled = goal.names("properties"), tuple(goal.names("patternProperties"))
        yield from _others(prover, claim, found, handled, "additionalProperties")
    if "unevaluatedProperties" in goal.words:
        seen = evaluated(goal, surely=True)
        if not seen.all_names:
            yield from _others(prover, claim, found, (seen.names, tuple(seen.patterns)), "unevaluatedProperties")
    return found


def _same_property(known: Known, goal: View, name: str) -> bool:
    """Whether a property is written the same way on both sides."""
    said = goal.written("properties", name)
    return any(
        name in view.names("properties")
        and view.node.draft.number == goal.node.draft.number
        and written_alike(view.written("properties", name), said)
        for view in known.views
    )


def _others(
    prover: Prover, claim: Sequent, found: Found, handled: tuple[Iterable[str], tuple[str, ...]], word: str
) -> Inside:
    """Properties that the goal does not handle by name or pattern fit what it says about all others."""
    goal = claim.goal.part(word)
    known = claim.known
    done = set(handled[0])
    for name in names(known):
        if name not in done and not any(matches(pattern, name) for pattern in handled[1]):
            found.take((yield from _ask(prover, claim, of_property(known, name), goal)), "properties", name)
    found.take((yield from _ask(prover, claim, of_others(known, handled[1]), goal)), word)


def _required(prover: Prover, claim: Sequent) -> Task:
    found = prover.found()
    if "object" not in claim.known.types:
        return found
    goal, known = claim.goal, claim.known
    needed = goal.words["required"]
    assert isinstance(needed, list)
    for name in needed:
        if not isinstance(name, str) or _has(known, name):
            continue
        default = goal.side.default(goal, name) if name in goal.names("properties") else None
        if default is None:
            prover.missing(found, claim, rules.REQUIRED_NAME_ADDED, "required", name)
        elif claim.filling is not Filling.YES:
            prover.missing(found, claim, rules.DEFAULT_NOT_VALID, "required", name)
        else:
            value = prover.known(Source((), values=default))
            answer = yield Question(Sequent(value, goal.at("properties", name), Filling.ASK))
            if answer.harms:
                found.tell(rules.DEFAULT_NOT_VALID, "properties", name, "default", reader=default)
    return found


def _has(known: Known, name: str) -> bool:
    if name in known.required:
        return True
    return known.values is not None and all(name in one for one in known.values if isinstance(one, dict))


def _names(prover: Prover, claim: Sequent) -> Task:
    found = prover.found()
    goal = claim.goal.part("propertyNames")
    if "object" not in claim.known.types or goal is None:
        return found
    known = claim.known
    others = of_others(known, ())
    if others is None or prover.impossible(prover.known(others), 1):
        sources = [
            of_name(known)._replace(values=(name,))
            for name in names(known)
            if not prover.impossible(prover.known(of_property(known, name)), 1)
        ]
    else:
        sources = [of_name(known)]
    for source in sources:
        answer = yield Question(Sequent(prover.known(source), goal, Filling.NO))
        if answer.harms:
            prover.missing(found, claim, rules.PROPERTY_NAMES_ADDED, "propertyNames")
            break
    return found


def _dependencies(prover: Prover, claim: Sequent) -> Task:
    found = prover.found()
    if "object" not in claim.known.types:
        return found
    known, goal = claim.known, claim.goal
    held = goal.words.get("dependentRequired")
    for name, needed in held.items() if isinstance(held, dict) else ():
        there = _present(prover, known, name)
        if there is not None and not all(_has(there, one) for one in needed if isinstance(one, str)):  # type: ignore[union-attr]
            prover.missing(found, claim, rules.DEPENDENCY_NOT_READ, "dependencies", name, word="dependentRequired")
    for name, inner in goal.dependent():
        there = _present(prover, known, name)
        if there is not None:
            answer = yield Question(Sequent(there, inner, Filling.NO), deeper=False)
            found.take(answer, "dependencies", name)
    return found


def _present(prover: Prover, known: Known, name: str) -> Known | None:
    """What is known of an object that has a property; None if it can't have it."""
    if prover.impossible(prover.known(of_property(known, name)), 1):
        return None
    if known.values is not None:
        having = tuple(one for one in known.values if isinstance(one, dict) and name in one)
        return prover.also(known, Case(()), values=having) if having else None
    return prover.also(known, Case(()), present=known.source.present | {name}, types=frozenset({"object"}))


def _items(prover: Prover, claim: Sequent) -> Task:
    found = prover.found()
    if "array" not in claim.known.types:
        return found
    known, goal = claim.known, claim.goal
    most = most_items(known)
    prefix = goal.listed("prefixItems")
    for at, inner in enumerate(prefix):
        if most is None or at < most:
            found.take((yield from _ask(prover, claim, of_item(known, at), inner)), "items", at)
    word, start = "items", len(prefix)
    if "items" not in goal.words:
        seen = evaluated(goal, surely=True)
        word, start = "unevaluatedItems", seen.prefix
        if word not in goal.words or seen.all_items:
            return found
    yield from _further(prover, claim, found, start, word)
    return found


def _further(prover: Prover, claim: Sequent, found: Found, start: int, word: str) -> Inside:
    known, goal = claim.known, claim.goal.part(word)
    most, longest = most_items(known), longest_tuple(known)
    for at in range(start, longest):
        if most is None or at < most:
            found.take((yield from _ask(prover, claim, of_item(known, at), goal)), "items", at)
    if most is None or most > max(start, longest):
        step = "additionalItems" if word == "items" and (start or longest) else word
        found.take((yield from _ask(prover, claim, of_item(known, None), goal)), step)


def _contains(prover: Prover, claim: Sequent) -> Task:
    found = prover.found()
    goal, known = claim.goal.part("contains"), claim.known
    if "array" not in known.types or goal is None:
        return found
    least, most = claim.goal.words.get("minContains", 1), claim.goal.words.get("maxContains")
    if least != 0 and not (yield from _contains_enough(prover, claim, goal, least)):  # type: ignore[arg-type]
        counted = "minContains" in claim.goal.words and any("contains" in view.words for view in known.views)
        prover.missing(found, claim, rules.CONTAINS_ADDED, "minContains" if counted else "contains")
    if most is not None and not (yield from _contains_few(prover, claim, goal, most)):  # type: ignore[arg-type]
        prover.missing(found, claim, rules.CONTAINS_ADDED, "maxContains")
    return found


def _contains_few(prover: Prover, claim: Sequent, goal: View, most: int) -> Generator[Question, Found, bool]:
    upper = most_items(claim.known)
    if upper is not None and upper <= most:
        return True
    for view in claim.known.views:
        limit, inner = view.words.get("maxContains"), view.part("contains")
        if limit is not None and inner is not None and limit <= most:  # type: ignore[operator]
            answer = yield Question(Sequent(prover.known(Source((goal,))), inner, Filling.NO))
            if not answer.harms:
                return True
    return False


def _contains_enough(prover: Prover, claim: Sequent, goal: View, least: int) -> Generator[Question, Found, bool]:
    known = claim.known
    for view in known.views:
        inner = view.part("contains")
        if inner is not None and view.words.get("minContains", 1) >= least:  # type: ignore[operator]
            answer = yield Question(Sequent(prover.known(Source((inner,))), goal, Filling.NO))
            if not answer.harms:
                return True
    if least_items(known) < least:
        return False
    for at in (*range(longest_tuple(known)), None):
        answer = yield Question(Sequent(prover.known(of_item(known, at)), goal, Filling.NO))
        if answer.harms:
            return False
    return True


STRUCTURE_GOALS: tuple[tuple[frozenset[str], Goal], ...] = (
    (frozenset({"required"}), _required),
    (frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"}), _properties),
    (frozenset({"propertyNames"}), _names),
    (frozenset({"dependentRequired", "dependentSchemas"}), _dependencies),
    (frozenset({"prefixItems", "items", "unevaluatedItems"}), _items),
    (frozenset({"contains"}), _contains),
)
"""Groups of keywords about the values inside, and what proves them."""
