"""1,000 random pairs of bodies, made by a grammar: groups, windows and joins of streams, the second body a spelling of the first or one part apart."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import pytest
from pyspark.sql import SparkSession

from tests.query_bodies import make_body
from tests.real.test_query_states import AGGREGATES, FILTERS, KEYS, Choice, Meaning, choose_meaning, spell_body
from treaty.core.sources import StateFingerprint
from treaty.spark.planner.bodies import BodyPlanner

pytestmark = pytest.mark.jvm
PAIRS = 1_000
SEEDS = 20
WINDOWS: tuple[Choice, ...] = (
    ("window(ts, '1 minute')", "a minute"),
    ("window(ts, '60 seconds')", "a minute"),
    ("window(ts, '2 minutes')", "two minutes"),
    ("window(ts, '2 minutes', '1 minute')", "each minute"),
    ("window(ts, '2 minutes', '2 minutes')", "two minutes"),
)
GATES: tuple[Choice, ...] = (
    ("count(*)", "count"),
    ("count(1)", "count"),
    ("max(gate)", "newest"),
    ("max(upper(gate))", "newest in capitals"),
    ("min(id)", "first"),
)
ROWS: tuple[Choice, ...] = (
    ("", "all"),
    ("WHERE true", "all"),
    ("WHERE id > 1", "> 1"),
    ("WHERE NOT id <= 1", "> 1"),
    ("WHERE 1 < id", "> 1"),
    ("WHERE id > 2", "> 2"),
    ("WHERE gate = 'a'", "a"),
    ("WHERE gate = 'A'", "A"),
)
BOUNDS: tuple[Choice, ...] = (
    ("b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR", "an hour"),
    ("b.ts >= a.ts AND b.ts <= a.ts + INTERVAL 1 HOUR", "an hour"),
    ("b.ts <= a.ts + INTERVAL 60 MINUTES AND a.ts <= b.ts", "an hour"),
    ("b.ts BETWEEN a.ts AND a.ts + INTERVAL 2 HOURS", "two hours"),
    ("b.ts > a.ts AND b.ts <= a.ts + INTERVAL 1 HOUR", "an hour, later"),
)
JOINS: tuple[Choice, ...] = (
    ("JOIN", "inner"),
    ("INNER JOIN", "inner"),
    ("LEFT JOIN", "left"),
    ("LEFT OUTER JOIN", "left"),
)
SEATS: tuple[Choice, ...] = (
    ("", "all"),
    ("AND b.seat > 'a'", "> a"),
    ("AND 'a' < b.seat", "> a"),
    ("AND b.seat > 'b'", "> b"),
)
FORMS: dict[str, tuple[str, tuple[tuple[Choice, ...], ...]]] = {
    "TABLE": ("SELECT window.start AS start, {1} AS n FROM STREAM gates {2} GROUP BY {0}", (WINDOWS, GATES, ROWS)),
    "STREAM": (
        "SELECT a.gate AS gate, b.seat AS seat FROM STREAM gates AS a {1} STREAM bookings AS b ON a.id = b.id AND {0} {2}",
        (BOUNDS, JOINS, SEATS),
    ),
}
"""By kind of the result, the form of a body, and what stands in its places."""


class DrawnBody(NamedTuple):
    """A body, the kind of its result, and what its plan means up to its topmost operator with state."""

    kind: str
    text: str
    meaning: tuple[object, ...]


def spell(draw: random.Random, kind: str, meanings: tuple[str, ...]) -> DrawnBody:
    """A text of a window or a join with these meanings of its parts."""
    form, parts = FORMS[kind]
    texts = [
        draw.choice([text for text, meaning in part if meaning == wanted])
        for part, wanted in zip(parts, meanings, strict=True)
    ]
    return DrawnBody(kind, form.format(*texts), (kind, *meanings))


def change_part(draw: random.Random, kind: str, meanings: tuple[str, ...]) -> tuple[str, ...]:
    """Meanings of which one is another one."""
    place = draw.randrange(len(meanings))
    others = [meaning for _, meaning in FORMS[kind][1][place] if meaning != meanings[place]]
    return (*meanings[:place], draw.choice(others), *meanings[place + 1 :])


def change_group(draw: random.Random, one: Meaning) -> Meaning:
    """A meaning of groups of which the filter, the key, or an aggregate is another one."""
    part = draw.choice(("filter", "key", "aggregate"))
    if part == "filter":
        return one._replace(condition=draw.choice([m for _, m in FILTERS if m != one.condition]))
    if part == "key":
        return one._replace(key=draw.choice([key for key in KEYS if key != one.key]))
    others = [m for _, m in AGGREGATES if m not in one.aggregates]
    return one._replace(aggregates=(*one.aggregates[:-1], draw.choice(others)))


def group_body(draw: random.Random, one: Meaning) -> DrawnBody:
    return DrawnBody("TABLE", spell_body(draw, one), ("groups", one.condition, one.key[1], one.aggregates))


def draw_bodies(draw: random.Random) -> tuple[DrawnBody, DrawnBody]:
    """Two bodies: half of the pairs mean the same, the others differ in one part."""
    is_same = draw.random() < 0.5
    kind = draw.choice(("groups", "groups", *FORMS))
    if kind == "groups":
        chosen = choose_meaning(draw)
        return group_body(draw, chosen), group_body(draw, chosen if is_same else change_group(draw, chosen))
    meanings = tuple(draw.choice(part)[1] for part in FORMS[kind][1])
    return spell(draw, kind, meanings), spell(draw, kind, meanings if is_same else change_part(draw, kind, meanings))


@pytest.fixture(scope="module")
def state_of(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str, str], StateFingerprint]]:
    """The state of a body, which is planned once: pairs share many bodies."""
    planner = BodyPlanner(spark, tmp_path_factory.mktemp("views"))

    @cache
    def find(kind: str, text: str) -> StateFingerprint:
        return planner.plan(make_body(text, kind)).plan.fingerprint

    yield find
    find.cache_clear()


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_pair_has_one_state_only_where_it_means_the_same(
    state_of: Callable[[str, str], StateFingerprint], seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(seed)
    counts: Counter[str] = Counter()
    wrong = []
    for _ in range(PAIRS // SEEDS):
        old, new = draw_bodies(draw)
        states = [state_of(one.kind, one.text) for one in (old, new)]
        assert all(one.plan for one in states), "each keeps state"
        is_equal = states[0] == states[1]
        means = "the same" if old.meaning == new.meaning else "something else"
        counts[f"{'equal' if is_equal else 'unequal'}, means {means}"] += 1
        if is_equal and old.meaning != new.meaning:
            wrong.append((old.text, new.text))
    with capsys.disabled():
        print(f"\nseed {seed}: {dict(sorted(counts.items()))}, wrong {len(wrong)}")
    assert not wrong, f"seed {seed}"
