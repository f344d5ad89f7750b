"""The worlds that laws begin in: each history happens without a refusal, and leaves what it is there for."""

from collections import Counter

import pytest

from tests.laws.test_policy_cases import ENGINE
from tests.laws.toy import Bench, S, toy
from tests.worlds.drafts import Drafts, records, toys
from tests.worlds.histories import FORMER, NEIGHBOURS
from tests.worlds.world import World
from treaty.core.invariants import find_violations
from treaty.core.messages.registration import Register
from treaty.core.names import Subject
from treaty.core.state.state_tables import CODEC, COUNTER, ENCODING, SCHEMA, SUBJECT, VERSION
from treaty.core.state.values import Version


def begun(world: World, drafts: Drafts = toys) -> Bench:
    bench = Bench()
    if drafts is records:
        bench.engine = ENGINE
    world.begin(bench.do, S, drafts)
    assert [str(one) for one in find_violations(bench.tables)] == []
    return bench


@pytest.mark.parametrize("drafts", [toys, records])
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_each_history_of_neighbours_happens(name: str, drafts: Drafts) -> None:
    begun(World(neighbours=(name,)), drafts)


@pytest.mark.parametrize("drafts", [toys, records])
def test_a_world_is_irregular(drafts: Drafts) -> None:
    """With all histories: what a registry that was made yesterday lacks."""
    tables = begun(World(), drafts).tables
    versions = {key: tables.get(VERSION, key) or Version(0, 0, "") for key in tables.keys(VERSION)}
    schemas = [one for key in tables.keys(SCHEMA) if (one := tables.get(SCHEMA, key)) is not None]
    subjects = [home for key in tables.keys(SUBJECT) if (home := tables.get(SUBJECT, key)) is not None]
    assert {row.state for row in versions.values()} == {"live", "soft", "hidden"}
    assert sum(row.number != key.ordinal + 1 for key, row in versions.items()) > 5
    assert {row.revision_of >= 0 for row in versions.values()} == {True, False}
    assert len({row.text for row in schemas}) < len({(row.format, row.text) for row in schemas})
    assert any(row.references and row.references[0].subject.startswith(":") for row in schemas)
    assert any(row.metadata and row.rules for row in schemas)
    assert max(Counter(key[:2] for key in versions).values()) > 4
    assert len({key.context for key in versions}) > 3
    assert {row.private for row in subjects} == {True, False}
    encodings = sorted(key.encoding for key in tables.keys(ENCODING))
    assert encodings != list(range(len(encodings)))
    assert [*tables.keys(CODEC)]
    assert any(counter.kind == "encodings" for counter in tables.keys(COUNTER))


@pytest.mark.parametrize(
    ("former", "number", "ordinal"),
    [("nothing", 1, 0), ("deleted", 2, 1), ("purged", 2, 3), ("hidden", 3, 2), ("imported", 7, 2)],
)
@pytest.mark.parametrize("drafts", [toys, records])
def test_a_subject_goes_on_after_what_happened_in_it(former: str, number: int, ordinal: int, drafts: Drafts) -> None:
    assert former in FORMER
    bench = begun(World(neighbours=(), former=former), drafts)
    made = bench.do(Register(S, toy("new") if drafts is toys else records("new"))).version
    assert (made.number, made.ordinal) == (number, ordinal)


@pytest.mark.parametrize("place", [Subject(".", "w-"), Subject(".x", ""), Subject(".away", "w-")])
def test_the_same_histories_happen_in_any_context(place: Subject) -> None:
    begun(World(place=place))
