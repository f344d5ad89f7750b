"""Keywords of the reader about what is inside objects and arrays (properties, names, dependencies, items): whether each follows from what `subvalues` knows of the writer."""

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


def _get_inner_filling(filling: DefaultFilling) -> DefaultFilling:
    """Whether defaults may be put into the values inside."""
    return DefaultFilling.ASK if filling is DefaultFilling.YES else DefaultFilling.NO


def _ask(
    prover: SchemaProver, claim: ProofClaim, source: FactSource | None, goal: SchemaView | None
) -> Generator[PairQuestion, DifferenceReport, DifferenceReport]:
    """Whether a value inside fits a goal; nothing is said of what can't be there."""
    if source is None or goal is None:
        return prover.start_report()
    facts = prover.get_facts(source)
    if prover.is_impossible(facts, 1):
        return prover.start_report()
    return (yield PairQuestion(ProofClaim(facts, goal, _get_inner_filling(claim.filling))))


def _properties(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    if "object" not in claim.known.types:
        return report
    facts, goal = claim.known, claim.goal
    for name in goal.names("properties"):
        if not _same_property(facts, goal, name):
            inner = goal.get_schema("properties", name)
            report.add_nested(
                (yield from _ask(prover, claim, get_property_source(facts, name), inner)), "properties", name
            )
    for pattern, inner in goal.map_schemas("patternProperties").items():
        steps = ("patternProperties", pattern)
        for name in list_names(facts):
            if matches(pattern, name) is not False:
                report.add_nested((yield from _ask(prover, claim, get_property_source(facts, name), inner)), *steps)
        report.add_nested((yield from _ask(prover, claim, get_others_source(facts, (), pattern), inner)), *steps)
    if "additionalProperties" in goal.words:
        handled = goal.names("properties"), tuple(goal.names("patternProperties"))
        yield from _prove_other_properties(prover, claim, report, handled, "additionalProperties")
    if "unevaluatedProperties" in goal.words:
        evaluated = collect_evaluated(goal, surely=True)
        if not evaluated.all_names:
            yield from _prove_other_properties(
                prover, claim, report, (evaluated.names, tuple(evaluated.patterns)), "unevaluatedProperties"
            )
    return report


def _same_property(facts: ValueFacts, goal: SchemaView, name: str) -> bool:
    """Whether a property is written the same way on both sides."""
    written = goal.get_written("properties", name)
    return any(
        name in view.names("properties")
        and view.node.draft.number == goal.node.draft.number
        and written_alike(view.get_written("properties", name), written)
        for view in facts.views
    )


def _prove_other_properties(
    prover: SchemaProver,
    claim: ProofClaim,
    report: DifferenceReport,
    handled: tuple[Iterable[str], tuple[str, ...]],
    word: str,
) -> Inside:
    """Properties that the goal does not handle by name or pattern fit what it says about all others."""
    goal = claim.goal.get_part(word)
    facts = claim.known
    handled_names = set(handled[0])
    for name in list_names(facts):
        if name not in handled_names and not any(matches(pattern, name) for pattern in handled[1]):
            report.add_nested(
                (yield from _ask(prover, claim, get_property_source(facts, name), goal)), "properties", name
            )
    report.add_nested((yield from _ask(prover, claim, get_others_source(facts, handled[1]), goal)), word)


def _prove_required(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    if "object" not in claim.known.types:
        return report
    goal, facts = claim.goal, claim.known
    needed = goal.words["required"]
    assert isinstance(needed, list)
    for name in needed:
        if not isinstance(name, str) or _has(facts, name):
            continue
        default = goal.side.get_default(goal, name) if name in goal.names("properties") else None
        if default is None:
            prover.add_missing(report, claim, rules.REQUIRED_NAME_ADDED, "required", name)
        elif claim.filling is not DefaultFilling.YES:
            prover.add_missing(report, claim, rules.DEFAULT_NOT_VALID, "required", name)
        else:
            value = prover.get_facts(FactSource((), values=default))
            answer = yield PairQuestion(ProofClaim(value, goal.get_schema("properties", name), DefaultFilling.ASK))
            if answer.harms:
                report.add(rules.DEFAULT_NOT_VALID, "properties", name, "default", reader=default)
    return report


def _has(facts: ValueFacts, name: str) -> bool:
    if name in facts.required:
        return True
    return facts.values is not None and all(name in one for one in facts.values if isinstance(one, dict))


def _names(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    goal = claim.goal.get_part("propertyNames")
    if "object" not in claim.known.types or goal is None:
        return report
    facts = claim.known
    others_source = get_others_source(facts, ())
    if others_source is None or prover.is_impossible(prover.get_facts(others_source), 1):
        sources = [
            get_name_source(facts)._replace(values=(name,))
            for name in list_names(facts)
            if not prover.is_impossible(prover.get_facts(get_property_source(facts, name)), 1)
        ]
    else:
        sources = [get_name_source(facts)]
    for source in sources:
        answer = yield PairQuestion(ProofClaim(prover.get_facts(source), goal, DefaultFilling.NO))
        if answer.harms:
            prover.add_missing(report, claim, rules.PROPERTY_NAMES_ADDED, "propertyNames")
            break
    return report


def _dependencies(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    if "object" not in claim.known.types:
        return report
    facts, goal = claim.known, claim.goal
    held = goal.words.get("dependentRequired")
    for name, needed in held.items() if isinstance(held, dict) else ():
        present_facts = _assume_present(prover, facts, name)
        if present_facts is not None and not all(_has(present_facts, one) for one in needed if isinstance(one, str)):  # type: ignore[union-attr]
            prover.add_missing(report, claim, rules.DEPENDENCY_NOT_READ, "dependencies", name, word="dependentRequired")
    for name, inner in goal.dependent():
        present_facts = _assume_present(prover, facts, name)
        if present_facts is not None:
            answer = yield PairQuestion(ProofClaim(present_facts, inner, DefaultFilling.NO), deeper=False)
            report.add_nested(answer, "dependencies", name)
    return report


def _assume_present(prover: SchemaProver, facts: ValueFacts, name: str) -> ValueFacts | None:
    """What is known of an object that has a property; None if it can't have it."""
    if prover.is_impossible(prover.get_facts(get_property_source(facts, name)), 1):
        return None
    if facts.values is not None:
        having = tuple(one for one in facts.values if isinstance(one, dict) and name in one)
        return prover.extend_facts(facts, FactCase(()), values=having) if having else None
    return prover.extend_facts(facts, FactCase(()), present=facts.source.present | {name}, types=frozenset({"object"}))


def _items(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    if "array" not in claim.known.types:
        return report
    facts, goal = claim.known, claim.goal
    max_items = most_items(facts)
    prefix = goal.list_schemas("prefixItems")
    for at, inner in enumerate(prefix):
        if max_items is None or at < max_items:
            report.add_nested((yield from _ask(prover, claim, get_item_source(facts, at), inner)), "items", at)
    word, start = "items", len(prefix)
    if "items" not in goal.words:
        evaluated = collect_evaluated(goal, surely=True)
        word, start = "unevaluatedItems", evaluated.prefix
        if word not in goal.words or evaluated.all_items:
            return report
    yield from _prove_further_items(prover, claim, report, start, word)
    return report


def _prove_further_items(
    prover: SchemaProver, claim: ProofClaim, report: DifferenceReport, start: int, word: str
) -> Inside:
    facts, goal = claim.known, claim.goal.get_part(word)
    max_items, longest = most_items(facts), longest_tuple(facts)
    for at in range(start, longest):
        if max_items is None or at < max_items:
            report.add_nested((yield from _ask(prover, claim, get_item_source(facts, at), goal)), "items", at)
    if max_items is None or max_items > max(start, longest):
        step = "additionalItems" if word == "items" and (start or longest) else word
        report.add_nested((yield from _ask(prover, claim, get_item_source(facts, None), goal)), step)


def _contains(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    goal, facts = claim.goal.get_part("contains"), claim.known
    if "array" not in facts.types or goal is None:
        return report
    min_contains, max_contains = claim.goal.words.get("minContains", 1), claim.goal.words.get("maxContains")
    if min_contains != 0 and not (yield from _contains_enough(prover, claim, goal, min_contains)):  # type: ignore[arg-type]
        counted = "minContains" in claim.goal.words and any("contains" in view.words for view in facts.views)
        prover.add_missing(report, claim, rules.CONTAINS_ADDED, "minContains" if counted else "contains")
    if max_contains is not None and not (yield from _contains_few(prover, claim, goal, max_contains)):  # type: ignore[arg-type]
        prover.add_missing(report, claim, rules.CONTAINS_ADDED, "maxContains")
    return report


def _contains_few(
    prover: SchemaProver, claim: ProofClaim, goal: SchemaView, max_contains: int
) -> Generator[PairQuestion, DifferenceReport, bool]:
    upper = most_items(claim.known)
    if upper is not None and upper <= max_contains:
        return True
    for view in claim.known.views:
        limit, inner = view.words.get("maxContains"), view.get_part("contains")
        if limit is not None and inner is not None and limit <= max_contains:  # type: ignore[operator]
            answer = yield PairQuestion(ProofClaim(prover.get_facts(FactSource((goal,))), inner, DefaultFilling.NO))
            if not answer.harms:
                return True
    return False


def _contains_enough(
    prover: SchemaProver, claim: ProofClaim, goal: SchemaView, min_contains: int
) -> Generator[PairQuestion, DifferenceReport, bool]:
    facts = claim.known
    for view in facts.views:
        inner = view.get_part("contains")
        if inner is not None and view.words.get("minContains", 1) >= min_contains:  # type: ignore[operator]
            answer = yield PairQuestion(ProofClaim(prover.get_facts(FactSource((inner,))), goal, DefaultFilling.NO))
            if not answer.harms:
                return True
    if least_items(facts) < min_contains:
        return False
    for at in (*range(longest_tuple(facts)), None):
        answer = yield PairQuestion(ProofClaim(prover.get_facts(get_item_source(facts, at)), goal, DefaultFilling.NO))
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
