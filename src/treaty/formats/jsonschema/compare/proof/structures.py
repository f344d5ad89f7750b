"""Goals about the values inside a value: properties, names, dependencies, items."""

from collections.abc import Generator, Iterable

from treaty.formats.jsonschema.compare.differences import DifferenceReport
from treaty.formats.jsonschema.compare.fixpoint import PairQuestion, Task
from treaty.formats.jsonschema.compare.proof.facts import FactCase, FactSource, ValueFacts
from treaty.formats.jsonschema.compare.proof.prover import DefaultFilling, Goal, ProofClaim, SchemaProver
from treaty.formats.jsonschema.compare.proof.subvalues import (
    collect_evaluated,
    get_item_source,
    get_name_source,
    get_others_source,
    get_property_source,
    least_items,
    list_names,
    longest_tuple,
    most_items,
)
from treaty.formats.jsonschema.compare.rules import treaty as rules
from treaty.formats.jsonschema.compare.view import SchemaView, matches, written_alike

Inside = Generator[PairQuestion, DifferenceReport, None]


def _inner(filling: DefaultFilling) -> DefaultFilling:
    """Whether defaults may be put into the values inside."""
    return DefaultFilling.ASK if filling is DefaultFilling.YES else DefaultFilling.NO


def _ask(
    prover: SchemaProver, claim: ProofClaim, source: FactSource | None, goal: SchemaView | None
) -> Generator[PairQuestion, DifferenceReport, DifferenceReport]:
    """Whether a value inside fits a goal; nothing is said of what can't be there."""
    if source is None or goal is None:
        return prover.start_report()
    known = prover.known(source)
    if prover.is_impossible(known, 1):
        return prover.start_report()
    return (yield PairQuestion(ProofClaim(known, goal, _inner(claim.filling))))


def _properties(prover: SchemaProver, claim: ProofClaim) -> Task:
    found = prover.start_report()
    if "object" not in claim.known.types:
        return found
    known, goal = claim.known, claim.goal
    for name in goal.names("properties"):
        if not _same_property(known, goal, name):
            inner = goal.get_schema("properties", name)
            found.add_nested(
                (yield from _ask(prover, claim, get_property_source(known, name), inner)), "properties", name
            )
    for pattern, inner in goal.map_schemas("patternProperties").items():
        at = ("patternProperties", pattern)
        for name in list_names(known):
            if matches(pattern, name) is not False:
                found.add_nested((yield from _ask(prover, claim, get_property_source(known, name), inner)), *at)
        found.add_nested((yield from _ask(prover, claim, get_others_source(known, (), pattern), inner)), *at)
    if "additionalProperties" in goal.words:
        handled = goal.names("properties"), tuple(goal.names("patternProperties"))
        yield from _others(prover, claim, found, handled, "additionalProperties")
    if "unevaluatedProperties" in goal.words:
        seen = collect_evaluated(goal, surely=True)
        if not seen.all_names:
            yield from _others(prover, claim, found, (seen.names, tuple(seen.patterns)), "unevaluatedProperties")
    return found


def _same_property(known: ValueFacts, goal: SchemaView, name: str) -> bool:
    """Whether a property is written the same way on both sides."""
    said = goal.get_written("properties", name)
    return any(
        name in view.names("properties")
        and view.node.draft.number == goal.node.draft.number
        and written_alike(view.get_written("properties", name), said)
        for view in known.views
    )


def _others(
    prover: SchemaProver,
    claim: ProofClaim,
    found: DifferenceReport,
    handled: tuple[Iterable[str], tuple[str, ...]],
    word: str,
) -> Inside:
    """Properties that the goal does not handle by name or pattern fit what it says about all others."""
    goal = claim.goal.get_part(word)
    known = claim.known
    done = set(handled[0])
    for name in list_names(known):
        if name not in done and not any(matches(pattern, name) for pattern in handled[1]):
            found.add_nested(
                (yield from _ask(prover, claim, get_property_source(known, name), goal)), "properties", name
            )
    found.add_nested((yield from _ask(prover, claim, get_others_source(known, handled[1]), goal)), word)


def _prove_required(prover: SchemaProver, claim: ProofClaim) -> Task:
    found = prover.start_report()
    if "object" not in claim.known.types:
        return found
    goal, known = claim.goal, claim.known
    needed = goal.words["required"]
    assert isinstance(needed, list)
    for name in needed:
        if not isinstance(name, str) or _has(known, name):
            continue
        default = goal.side.get_default(goal, name) if name in goal.names("properties") else None
        if default is None:
            prover.add_missing(found, claim, rules.REQUIRED_NAME_ADDED, "required", name)
        elif claim.filling is not DefaultFilling.YES:
            prover.add_missing(found, claim, rules.DEFAULT_NOT_VALID, "required", name)
        else:
            value = prover.known(FactSource((), values=default))
            answer = yield PairQuestion(ProofClaim(value, goal.get_schema("properties", name), DefaultFilling.ASK))
            if answer.harms:
                found.add(rules.DEFAULT_NOT_VALID, "properties", name, "default", reader=default)
    return found


def _has(known: ValueFacts, name: str) -> bool:
    if name in known.required:
        return True
    return known.values is not None and all(name in one for one in known.values if isinstance(one, dict))


def _names(prover: SchemaProver, claim: ProofClaim) -> Task:
    found = prover.start_report()
    goal = claim.goal.get_part("propertyNames")
    if "object" not in claim.known.types or goal is None:
        return found
    known = claim.known
    others = get_others_source(known, ())
    if others is None or prover.is_impossible(prover.known(others), 1):
        sources = [
            get_name_source(known)._replace(values=(name,))
            for name in list_names(known)
            if not prover.is_impossible(prover.known(get_property_source(known, name)), 1)
        ]
    else:
        sources = [get_name_source(known)]
    for source in sources:
        answer = yield PairQuestion(ProofClaim(prover.known(source), goal, DefaultFilling.NO))
        if answer.harms:
            prover.add_missing(found, claim, rules.PROPERTY_NAMES_ADDED, "propertyNames")
            break
    return found


def _dependencies(prover: SchemaProver, claim: ProofClaim) -> Task:
    found = prover.start_report()
    if "object" not in claim.known.types:
        return found
    known, goal = claim.known, claim.goal
    held = goal.words.get("dependentRequired")
    for name, needed in held.items() if isinstance(held, dict) else ():
        there = _present(prover, known, name)
        if there is not None and not all(_has(there, one) for one in needed if isinstance(one, str)):  # type: ignore[union-attr]
            prover.add_missing(found, claim, rules.DEPENDENCY_NOT_READ, "dependencies", name, word="dependentRequired")
    for name, inner in goal.dependent():
        there = _present(prover, known, name)
        if there is not None:
            answer = yield PairQuestion(ProofClaim(there, inner, DefaultFilling.NO), deeper=False)
            found.add_nested(answer, "dependencies", name)
    return found


def _present(prover: SchemaProver, known: ValueFacts, name: str) -> ValueFacts | None:
    """What is known of an object that has a property; None if it can't have it."""
    if prover.is_impossible(prover.known(get_property_source(known, name)), 1):
        return None
    if known.values is not None:
        having = tuple(one for one in known.values if isinstance(one, dict) and name in one)
        return prover.extend_facts(known, FactCase(()), values=having) if having else None
    return prover.extend_facts(known, FactCase(()), present=known.source.present | {name}, types=frozenset({"object"}))


def _items(prover: SchemaProver, claim: ProofClaim) -> Task:
    found = prover.start_report()
    if "array" not in claim.known.types:
        return found
    known, goal = claim.known, claim.goal
    most = most_items(known)
    prefix = goal.list_schemas("prefixItems")
    for at, inner in enumerate(prefix):
        if most is None or at < most:
            found.add_nested((yield from _ask(prover, claim, get_item_source(known, at), inner)), "items", at)
    word, start = "items", len(prefix)
    if "items" not in goal.words:
        seen = collect_evaluated(goal, surely=True)
        word, start = "unevaluatedItems", seen.prefix
        if word not in goal.words or seen.all_items:
            return found
    yield from _further(prover, claim, found, start, word)
    return found


def _further(prover: SchemaProver, claim: ProofClaim, found: DifferenceReport, start: int, word: str) -> Inside:
    known, goal = claim.known, claim.goal.get_part(word)
    most, longest = most_items(known), longest_tuple(known)
    for at in range(start, longest):
        if most is None or at < most:
            found.add_nested((yield from _ask(prover, claim, get_item_source(known, at), goal)), "items", at)
    if most is None or most > max(start, longest):
        step = "additionalItems" if word == "items" and (start or longest) else word
        found.add_nested((yield from _ask(prover, claim, get_item_source(known, None), goal)), step)


def _contains(prover: SchemaProver, claim: ProofClaim) -> Task:
    found = prover.start_report()
    goal, known = claim.goal.get_part("contains"), claim.known
    if "array" not in known.types or goal is None:
        return found
    least, most = claim.goal.words.get("minContains", 1), claim.goal.words.get("maxContains")
    if least != 0 and not (yield from _contains_enough(prover, claim, goal, least)):  # type: ignore[arg-type]
        counted = "minContains" in claim.goal.words and any("contains" in view.words for view in known.views)
        prover.add_missing(found, claim, rules.CONTAINS_ADDED, "minContains" if counted else "contains")
    if most is not None and not (yield from _contains_few(prover, claim, goal, most)):  # type: ignore[arg-type]
        prover.add_missing(found, claim, rules.CONTAINS_ADDED, "maxContains")
    return found


def _contains_few(
    prover: SchemaProver, claim: ProofClaim, goal: SchemaView, most: int
) -> Generator[PairQuestion, DifferenceReport, bool]:
    upper = most_items(claim.known)
    if upper is not None and upper <= most:
        return True
    for view in claim.known.views:
        limit, inner = view.words.get("maxContains"), view.get_part("contains")
        if limit is not None and inner is not None and limit <= most:  # type: ignore[operator]
            answer = yield PairQuestion(ProofClaim(prover.known(FactSource((goal,))), inner, DefaultFilling.NO))
            if not answer.harms:
                return True
    return False


def _contains_enough(
    prover: SchemaProver, claim: ProofClaim, goal: SchemaView, least: int
) -> Generator[PairQuestion, DifferenceReport, bool]:
    known = claim.known
    for view in known.views:
        inner = view.get_part("contains")
        if inner is not None and view.words.get("minContains", 1) >= least:  # type: ignore[operator]
            answer = yield PairQuestion(ProofClaim(prover.known(FactSource((inner,))), goal, DefaultFilling.NO))
            if not answer.harms:
                return True
    if least_items(known) < least:
        return False
    for at in (*range(longest_tuple(known)), None):
        answer = yield PairQuestion(ProofClaim(prover.known(get_item_source(known, at)), goal, DefaultFilling.NO))
        if answer.harms:
            return False
    return True


STRUCTURE_GOALS: tuple[tuple[frozenset[str], Goal], ...] = (
    (frozenset({"required"}), _prove_required),
    (frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"}), _properties),
    (frozenset({"propertyNames"}), _names),
    (frozenset({"dependentRequired", "dependentSchemas"}), _dependencies),
    (frozenset({"prefixItems", "items", "unevaluatedItems"}), _items),
    (frozenset({"contains"}), _contains),
)
"""Groups of keywords about the values inside, and what proves them."""
