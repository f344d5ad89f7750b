"""Goals about a value as a whole: its type, its values, bounds of numbers, strings and counts."""

from collections.abc import Callable, Generator, Iterator
from decimal import Decimal

from treaty.formats.jsonschema.compare.differences import DifferenceReport
from treaty.formats.jsonschema.compare.exact import divides, freeze
from treaty.formats.jsonschema.compare.fixpoint import PairQuestion, Task
from treaty.formats.jsonschema.compare.proof.facts import NUMERIC, ValueFacts, get_allowed_types
from treaty.formats.jsonschema.compare.proof.prover import Goal, ProofClaim, SchemaProver
from treaty.formats.jsonschema.compare.proof.subvalues import (
    get_others_source,
    get_property_source,
    least_items,
    list_names,
    most_items,
)
from treaty.formats.jsonschema.compare.rules import treaty as rules
from treaty.formats.jsonschema.compare.view import matches
from treaty.formats.jsonschema.model import Json
from treaty.formats.rule import CompatibilityRule

Check = Callable[[SchemaProver, ValueFacts, str, Json], bool]
"""Whether a keyword with this value follows from what is known."""


def _type(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    if not claim.known.types <= get_allowed_types(claim.goal):
        prover.add_missing(report, claim, rules.TYPE_NOT_READ, "type")
    yield from ()
    return report


def _values(prover: SchemaProver, claim: ProofClaim) -> Task:
    report = prover.start_report()
    words = claim.goal.words
    for word in ("enum", "const"):
        if word in words:
            held = words[word]
            allowed = set(map(freeze, held)) if word == "enum" and isinstance(held, list) else {freeze(held)}
            possible = claim.known.values
            if possible is None and claim.known.types <= {"boolean", "null"}:
                possible = (*((True, False) if "boolean" in claim.known.types else ()),)
                possible += (None,) if "null" in claim.known.types else ()
            if possible is None or not all(freeze(one) in allowed for one in possible):
                prover.add_missing(report, claim, rules.VALUE_NOT_READ, word)
    yield from ()
    return report


def _check_keywords(
    checks: dict[str, Check], types: frozenset[str], rule: CompatibilityRule | dict[str, CompatibilityRule]
) -> Goal:
    """A goal of keywords that each follow or not; they mean something for these types only."""

    def prove_keywords(
        prover: SchemaProver, claim: ProofClaim
    ) -> Generator[PairQuestion, DifferenceReport, DifferenceReport]:
        report = prover.start_report()
        if not types.isdisjoint(claim.known.types):
            for word, check in checks.items():
                if word in claim.goal.words and not check(prover, claim.known, word, claim.goal.words[word]):
                    prover.add_missing(report, claim, rule[word] if isinstance(rule, dict) else rule, word)
        yield from ()
        return report

    return prove_keywords


def _numbers(facts: ValueFacts) -> list[int | Decimal] | None:
    if facts.values is None:
        return None
    return [one for one in facts.values if isinstance(one, int | Decimal) and not isinstance(one, bool)]


def _strings(facts: ValueFacts) -> list[str] | None:
    return None if facts.values is None else [one for one in facts.values if isinstance(one, str)]


def _limit(prover: SchemaProver, facts: ValueFacts, word: str, limit: Json) -> bool:
    """A bound of a number, itself allowed or not."""
    assert isinstance(limit, int | Decimal)
    upper, strict = word.endswith("aximum"), word.startswith("exclusive")
    sign = 1 if upper else -1
    numbers = _numbers(facts)
    if numbers is not None:
        return all((one - limit) * sign < 0 or (one == limit and not strict) for one in map(Decimal, numbers))
    plain = facts.bound("maximum" if upper else "minimum", upper=upper)
    sharp = facts.bound("exclusiveMaximum" if upper else "exclusiveMinimum", upper=upper)
    if plain is not None and ((plain < limit) if upper else (plain > limit)):
        return True
    if plain is not None and plain == limit and not strict:
        return True
    return sharp is not None and (sharp <= limit if upper else sharp >= limit)


def _multiple(prover: SchemaProver, facts: ValueFacts, word: str, divisor: Json) -> bool:
    numbers = _numbers(facts)
    if numbers is not None:
        return all(divides(divisor, one) for one in numbers)
    if any(divides(divisor, view.words[word]) for view in facts.views if word in view.words):
        return True
    return "number" not in facts.types and bool(divides(divisor, 1))


def _length(prover: SchemaProver, facts: ValueFacts, word: str, limit: Json) -> bool:
    assert isinstance(limit, int | Decimal)
    strings = _strings(facts)
    upper = word == "maxLength"
    if strings is not None:
        return all(len(one) <= limit if upper else len(one) >= limit for one in strings)
    return _is_bounded(facts, word, limit) or (not upper and limit <= 0)


def _is_bounded(facts: ValueFacts, word: str, limit: int | Decimal) -> bool:
    upper = word.startswith("max")
    bound = facts.bound(word, upper=upper)
    return bound is not None and (bound <= limit if upper else bound >= limit)


def _pattern(prover: SchemaProver, facts: ValueFacts, word: str, pattern: Json) -> bool:
    assert isinstance(pattern, str)
    strings = _strings(facts)
    if strings is not None:
        return all(matches(pattern, one) for one in strings)
    return _is_written(prover, facts, word, pattern)


def _is_written(prover: SchemaProver, facts: ValueFacts, word: str, value: Json) -> bool:
    """A keyword that follows only from itself."""
    return any(view.words.get(word) == value for view in facts.views)


def _item_count(prover: SchemaProver, facts: ValueFacts, word: str, limit: Json) -> bool:
    assert isinstance(limit, int | Decimal)
    if word == "minItems":
        return least_items(facts) >= limit
    max_items = most_items(facts)
    return max_items is not None and max_items <= limit


def _has_unique_items(prover: SchemaProver, facts: ValueFacts, word: str, value: Json) -> bool:
    if facts.values is not None:
        arrays = [one for one in facts.values if isinstance(one, list)]
        return all(len(set(map(freeze, one))) == len(one) for one in arrays)
    max_items = most_items(facts)
    return any(word in view.words for view in facts.views) or (max_items is not None and max_items <= 1)


def _property_count(prover: SchemaProver, facts: ValueFacts, word: str, limit: Json) -> bool:
    assert isinstance(limit, int | Decimal)
    if facts.values is not None:
        counts = [len(one) for one in facts.values if isinstance(one, dict)]
        return all(one >= limit if word == "minProperties" else one <= limit for one in counts)
    if word == "minProperties":
        return len(facts.required) >= limit or _is_bounded(facts, word, limit)
    if _is_bounded(facts, word, limit):
        return True
    possible = [
        name
        for name in list_names(facts)
        if not prover.is_impossible(prover.get_facts(get_property_source(facts, name)), 1)
    ]
    source = get_others_source(facts, ())
    return len(possible) <= limit and (source is None or prover.is_impossible(prover.get_facts(source), 1))


def _rows() -> Iterator[tuple[frozenset[str], Goal]]:
    yield frozenset({"type"}), _type
    yield frozenset({"enum", "const"}), _values
    limits: dict[str, Check] = dict.fromkeys(("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"), _limit)
    limits["multipleOf"] = _multiple
    yield frozenset(limits), _check_keywords(limits, NUMERIC, rules.BOUND_NOT_READ)
    texts: dict[str, Check] = {"maxLength": _length, "minLength": _length, "pattern": _pattern}
    texts |= dict.fromkeys(("format", "contentEncoding", "contentMediaType"), _is_written)
    rules_by_keyword = dict.fromkeys(texts, rules.BOUND_NOT_READ) | {"format": rules.FORMAT_ADDED}
    rules_by_keyword |= dict.fromkeys(("contentEncoding", "contentMediaType"), rules.CONTENT_ENCODING_ADDED)
    yield frozenset(texts), _check_keywords(texts, frozenset({"string"}), rules_by_keyword)
    items: dict[str, Check] = {"minItems": _item_count, "maxItems": _item_count, "uniqueItems": _has_unique_items}
    yield frozenset(items), _check_keywords(items, frozenset({"array"}), rules.ITEMS_NOT_READ)
    counts: dict[str, Check] = dict.fromkeys(("minProperties", "maxProperties"), _property_count)
    yield frozenset(counts), _check_keywords(counts, frozenset({"object"}), rules.PROPERTY_COUNT_NOT_READ)


SCALAR_GOALS: tuple[tuple[frozenset[str], Goal], ...] = tuple(_rows())
"""Groups of keywords about a value as a whole, and what proves them."""
