"""Laws of comparing JSON Schemas, over random schemas and random changes."""

import copy
import json
import random
from collections.abc import Hashable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.jsonschema_pairs import Maker, accepted, document, pair
from tests.oracle.jsonschema_values import URIS, resolved
from treaty.core.finding import Finding
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.engine import FormatEngine
from treaty.formats.history import check_compatibility
from treaty.formats.jsonschema.compare.compatibility import compare, find_differences
from treaty.formats.jsonschema.compare.differences import DifferenceReport
from treaty.formats.jsonschema.compare.fixpoint import FixpointSolver, PairQuestion, Task
from treaty.formats.jsonschema.compare.rules.value import TYPE_CHANGED
from treaty.formats.jsonschema.compare.walk.bipartite import match_bipartite
from treaty.formats.registry import FormatRegistry
from treaty.formats.rule import POLICIES

PARSER = FormatEngine(FormatRegistry.of({"JSON": "treaty.formats.jsonschema.format:FORMAT"}))

seeds = st.integers(0, 2**32 - 1)
drafts = st.sampled_from(list(URIS))


def places(findings: tuple[Finding, ...]) -> set[tuple[str, str]]:
    return {(one.rule, one.path) for one in findings}


def verdicts(old: Any, new: Any) -> list[bool]:
    """Whether each policy lets the change pass, both ways."""
    before, after = document(old), document(new)
    return [not compare(*sides, policy) for policy in POLICIES for sides in ((after, before), (before, after))]


def shuffled(node: Any, chance: random.Random) -> Any:
    """The same JSON with the members of all objects in another order."""
    if isinstance(node, dict):
        members = [(name, shuffled(value, chance)) for name, value in node.items()]
        chance.shuffle(members)
        return dict(members)
    return [shuffled(value, chance) for value in node] if isinstance(node, list) else node


def renamed(node: Any) -> Any:
    """The same schema with other names for its definitions."""
    if isinstance(node, list):
        return [renamed(one) for one in node]
    if not isinstance(node, dict):
        return node
    found: dict[str, Any] = {}
    for name, value in node.items():
        if name in ("definitions", "$defs"):
            found[name] = {f"other {key}~/": renamed(inner) for key, inner in value.items()}
        elif name == "$ref":
            head, _, key = value.rpartition("/")
            found[name] = f"{head}/other%20{key}~0~1"
        else:
            found[name] = renamed(value)
    return found


def inlined(root: Any, node: Any, depth: int = 0) -> Any:
    """The same schema with references written out, but for those that lie deep."""
    if isinstance(node, list):
        return [inlined(root, one, depth) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return inlined(root, copy.deepcopy(resolved(root, node)), depth + 1) if depth < 2 else node
    return {name: inlined(root, value, depth) for name, value in node.items()}


@given(seeds, drafts)
def test_a_schema_reads_itself(seed: int, draft: int) -> None:
    schema = Maker(random.Random(seed), draft).whole()
    if accepted(schema):
        assert find_differences(document(schema), document(copy.deepcopy(schema))) == ()


@given(seeds, drafts)
def test_full_is_backward_and_forward(seed: int, draft: int) -> None:
    old, new = (ResolvedSchema("JSON", json.dumps(one)) for one in pair(seed, draft))
    said = {level: check_compatibility(PARSER, old, new, level).fits for level in ("BACKWARD", "FORWARD", "FULL")}

    assert said["FULL"] == (said["BACKWARD"] and said["FORWARD"])


@given(seeds, drafts)
def test_what_is_refused_is_a_difference_and_lenient_refuses_less(seed: int, draft: int) -> None:
    old, new = map(document, pair(seed, draft))
    strict, lenient = places(compare(new, old)), places(compare(new, old, "LENIENT"))

    assert lenient <= strict <= places(find_differences(new, old))
    assert strict == places(compare(new, old, "LOGICAL"))


@given(seeds, drafts)
def test_the_order_of_members_does_not_change_the_verdict(seed: int, draft: int) -> None:
    old, new = pair(seed, draft)
    chance = random.Random(seed)

    assert verdicts(old, new) == verdicts(shuffled(old, chance), shuffled(new, chance))


@given(seeds, drafts)
def test_names_of_definitions_do_not_change_the_verdict(seed: int, draft: int) -> None:
    old, new = pair(seed, draft)

    assert verdicts(old, new) == verdicts(old, renamed(new)) == verdicts(renamed(old), renamed(new))


@given(seeds, drafts)
def test_a_reference_may_be_written_out(seed: int, draft: int) -> None:
    old, new = pair(seed, draft)
    written = inlined(new, new)
    if accepted(written):
        assert verdicts(old, new) == verdicts(old, written)


def reached(edges: list[list[int]], start: int) -> set[int]:
    """All places that a way leads to."""
    seen = {start}
    waiting = [start]
    while waiting:
        for one in edges[waiting.pop()]:
            if one not in seen:
                seen.add(one)
                waiting.append(one)
    return seen


@given(
    st.integers(2, 7).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n),
            st.sets(st.integers(0, n - 1), max_size=2),
            st.lists(st.integers(0, n - 1), min_size=1, max_size=8),
        )
    )
)
def test_what_was_concluded_from_a_wrong_assumption_is_asked_anew(
    graph: tuple[list[list[int]], set[int], list[int]],
) -> None:
    edges, broken, asked = graph
    answers: list[tuple[int, bool]] = []

    def begin(at: Hashable) -> Task:
        assert isinstance(at, int)
        found = DifferenceReport("STRICT")
        for one in asked if at < 0 else edges[at]:
            answer = yield PairQuestion(one)
            if at < 0:
                answers.append((one, bool(answer.harms)))
            elif answer.harms:
                found.add(TYPE_CHANGED)
        if at in broken:
            found.add(TYPE_CHANGED)
        return found

    FixpointSolver(begin, DifferenceReport("STRICT"), DifferenceReport("STRICT")).answer(-1)

    assert answers == [(one, bool(reached(edges, one) & broken)) for one in asked]


def size(left: list[int | None]) -> int:
    return sum(one is not None for one in left)


def best(edges: list[list[int]], at: int = 0, used: frozenset[int] = frozenset()) -> int:
    """The size of the largest matching, by trying all of them."""
    if at == len(edges):
        return 0
    options = [1 + best(edges, at + 1, used | {one}) for one in edges[at] if one not in used]
    return max([best(edges, at + 1, used), *options])


@given(st.lists(st.lists(st.integers(0, 5), max_size=4, unique=True), max_size=6))
def test_as_many_as_possible_have_a_partner_of_their_own(edges: list[list[int]]) -> None:
    left = match_bipartite(edges, 6)
    partners = [one for one in left if one is not None]

    assert len(set(partners)) == len(partners)
    assert all(partner is None or partner in edges[at] for at, partner in enumerate(left))
    assert size(left) == best(edges)


@pytest.mark.parametrize("count", [50, 400])
def test_partners_are_found_where_each_has_to_give_way(count: int) -> None:
    edges = [[at, at + 1] if at + 1 < count else [0] for at in range(count)]

    assert size(match_bipartite(edges, count)) == count


@pytest.mark.parametrize("draft", [draft for draft in URIS if draft >= 2019])
@pytest.mark.parametrize("words", [("dependencies", "dependentRequired"), ("dependentRequired", "dependencies")])
def test_what_two_keywords_say_of_one_property_counts_together(draft: int, words: tuple[str, str]) -> None:
    """`dependencies` counts beside the keywords that took its place: a list and a list, and a schema beside either."""
    one, other = words

    def verdict(old: Any, new: Any) -> bool:
        before, after = (document({"$schema": URIS[draft], **each}) for each in (old, new))
        return not compare(after, before)

    both = {one: {"a": ["b"]}, other: {"a": ["c"]}}
    for less in ({one: {"a": ["b"]}}, {other: {"a": ["c"]}}, {one: {"a": ["c"]}}, {other: {"a": ["b"]}}):
        assert (verdict(less, both), verdict(both, less)) == (False, True)
    for whole in ({one: {"a": ["b", "c"]}}, {other: {"a": ["c", "b"]}}):
        assert (verdict(whole, both), verdict(both, whole)) == (True, True)
    schemas = {"dependentSchemas": {"a": {"required": ["c"]}}, one: {"a": ["b"]}}
    assert (verdict({one: {"a": ["b"]}}, schemas), verdict(schemas, {one: {"a": ["b"]}})) == (False, True)
