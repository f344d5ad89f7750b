"""Whenever a reader is said to read a writer, no value that the writer allows is refused by the reader.

The judge is jsonschema-rs, which knows nothing of Treaty. A reader puts in the defaults of required properties first.
Its `covers` is a second opinion on the verdict itself.
"""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs
import pytest

from tests.oracle.jsonschema_aliases import make_alias_pair
from tests.oracle.jsonschema_pairs import document, pair
from tests.oracle.jsonschema_values import URIS, refused, samples
from treaty.formats.jsonschema.compare.compatibility import compare, find_unproven
from treaty.formats.jsonschema.compare.view import SchemaSide
from treaty.formats.jsonschema.compare.walk.pairs import compare_views

PAIRS = 400
SOAK = 5_000
VALUES = 60
SHARE = 0.3
"""The share of all pairs that each verdict has at least."""


@dataclass
class Judged:
    """What came out for a number of pairs."""

    verdicts: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    opinions: Counter[str] = field(default_factory=Counter)
    filled: int = 0
    shown: int = 0
    wrong: list[tuple[int, Any, Any, Any]] = field(default_factory=list)
    contradicted: list[tuple[int, Any, Any]] = field(default_factory=list)


def without_defaults(schema: Any) -> Any:
    """The same schema with no default anywhere."""
    if isinstance(schema, list):
        return [without_defaults(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without_defaults(one) for name, one in schema.items() if name != "default"}


def opinion(old: Any, new: Any) -> str:
    """What `covers` says: yes, no or unknown, or that it can't read one of the schemas."""
    try:
        writer, reader = (jsonschema_rs.canonicalize(one, offline=True) for one in (old, new))
        return str(reader.covers(writer)).rpartition(".")[2].lower()
    except jsonschema_rs.canonical.CanonicalizationError:
        return "unreadable"


def proven(old: Any, new: Any) -> bool:
    """Whether the proof alone, without the established rules, finds nothing wrong."""
    writer, reader = (SchemaSide(one).view(one.root) for one in (document(old), document(new)))
    return not find_unproven(writer, reader, "STRICT").harms


def judged(draft: int, first: int, count: int, make: Callable[[int, int], tuple[Any, Any]] = pair) -> Judged:
    """Ask about so many pairs of one draft, which `make` makes of seeds."""
    result = Judged()
    for seed in range(first, first + count):
        old, new = make(seed, draft)
        findings = compare(document(new), document(old))
        said = "no" if findings else "yes"
        result.verdicts[said] += 1
        result.rules.update({one.rule for one in findings})
        second = opinion(old, new)
        result.opinions[f"{said}/{second}"] += 1
        # The proof has to hold by itself too: the established rules would hide what is wrong with it.
        shown = not findings or proven(old, new)
        result.shown += shown
        if not shown:
            continue
        lost, saved = refused(old, new, samples(seed, old, new, VALUES))
        result.filled += saved
        if lost:
            result.wrong.append((seed, old, new, lost[0]))
        if not findings and second == "no" and not compare(document(without_defaults(new)), document(old)):
            result.contradicted.append((seed, old, new))
    return result


def told(draft: int, result: Judged) -> str:
    agree = result.opinions["yes/yes"] + result.opinions["no/no"]
    disagree = result.opinions["yes/no"] + result.opinions["no/yes"]
    count = sum(result.verdicts.values())
    return (
        f"draft {draft}: {count} pairs, {result.verdicts['yes']} compatible, {len(result.wrong)} of them wrong; covers: "
        f"{agree} agree, {count - agree - disagree} unknown, {result.opinions['no/yes']} stricter, "
        f"{result.opinions['yes/no']} looser; {result.shown} proven; {len(result.rules)} rules told, {result.filled} values saved by defaults"
    )


@pytest.mark.parametrize("draft", list(URIS))
def test_what_is_called_compatible_breaks_no_value(draft: int, figure: Callable[[str], None]) -> None:
    result = judged(draft, 0, PAIRS)

    figure(told(draft, result))
    assert not result.wrong
    assert not result.contradicted
    assert min(result.verdicts["yes"], result.verdicts["no"]) >= SHARE * PAIRS


@pytest.mark.soak
@pytest.mark.parametrize("draft", list(URIS))
def test_what_is_called_compatible_breaks_no_value_in_a_long_run(draft: int, figure: Callable[[str], None]) -> None:
    first = int(os.environ.get("SEED", "1000000"))
    result = judged(draft, first, SOAK)

    figure(told(draft, result))
    figure(f"draft {draft}: {sorted(result.rules.items(), key=lambda row: -row[1])}")
    assert not result.wrong
    assert not result.contradicted
    assert min(result.verdicts["yes"], result.verdicts["no"]) >= SHARE * SOAK


ALIASES = 100


@pytest.mark.parametrize("draft", list(URIS))
def test_choices_of_references_and_aliases_break_no_value(draft: int, figure: Callable[[str], None]) -> None:
    result = judged(draft, 0, ALIASES, make_alias_pair)

    figure(told(draft, result))
    assert not result.wrong
    assert min(result.verdicts["yes"], result.verdicts["no"]) >= SHARE * ALIASES


@pytest.mark.soak
@pytest.mark.parametrize("draft", list(URIS))
def test_choices_of_references_and_aliases_break_no_value_in_a_long_run(
    draft: int, figure: Callable[[str], None]
) -> None:
    result = judged(draft, 1_000_000, SOAK, make_alias_pair)

    figure(told(draft, result))
    assert not result.wrong


@pytest.mark.parametrize("draft", list(URIS))
@pytest.mark.parametrize("count", [2, 3, 20])
def test_a_branch_that_is_there_twice_lets_no_value_through(draft: int, count: int) -> None:
    home = "definitions" if draft < 2019 else "$defs"
    e, alias = {"$ref": f"#/{home}/e"}, {"$ref": f"#/{home}/alias"}
    more = [{"enum": [f"only {at}"], "type": "null"} for at in range(count - 2)]
    held = {home: {"e": {"type": "string"}, "alias": e}}
    for second in (e, alias, {**alias, "title": "t"}, {"allOf": [alias]}, {"type": "string"}):
        old, new = ({"$schema": URIS[draft], "oneOf": several, **held} for several in ([e, *more], [e, *more, second]))
        assert [one.rule for one in compare(document(new), document(old))] == ["ONE_OF_OVERLAP"], second
        for word in ("properties", "items"):
            before, after = (
                {"$schema": URIS[draft], word: {"a": inner} if word == "properties" else inner, **held}
                for inner in ({"oneOf": [e, *more]}, {"oneOf": [e, *more, second]})
            )
            assert [one.rule for one in compare(document(after), document(before))] == ["ONE_OF_OVERLAP"], second
    overlapping = {"$schema": URIS[draft], "oneOf": [e, alias], **held}
    assert compare(document(overlapping), document(overlapping)) == ()


def test_the_judge_catches_what_the_established_rules_alone_let_pass(figure: Callable[[str], None]) -> None:
    passed, caught = 0, 0
    for seed in range(400):
        old, new = pair(seed, 7)
        writer, reader = (SchemaSide(one).view(one.root) for one in (document(old), document(new)))
        if not compare_views(writer, reader, "STRICT").harms:
            passed += 1
            caught += bool(refused(old, new, samples(seed, old, new, VALUES))[0])

    figure(f"of {passed} pairs that the established rules alone call compatible, {caught} break a value")
    assert caught >= 5
