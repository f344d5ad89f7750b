"""Random bodies made by a grammar: two have one fingerprint only where the plans below their groups mean the same."""

import random
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.sql import SparkSession

from tests.query_bodies import make_body
from treaty.core.sources import StateFingerprint
from treaty.spark.planner.bodies import BodyPlanner

pytestmark = pytest.mark.jvm
Choice = tuple[str, str]
"""A text, and what it means: texts with one meaning are spellings of the same."""
FILTERS: tuple[Choice, ...] = (
    ("", ""),
    ("WHERE delay > 1", "> 1"),
    ("WHERE 1 < delay", "> 1"),
    ("WHERE delay > 2", "> 2"),
    ("WHERE delay >= 1", ">= 1"),
    ("WHERE carrier = '1'", "carrier is 1"),
    ("WHERE delay = 1", "delay is 1"),
    ("WHERE delay > 1 AND carrier = 'AA'", "both"),
    ("WHERE carrier = 'AA' AND delay > 1", "both"),
    ("WHERE try_add(delay, 1) > 2", "try"),
    ("WHERE delay + 1 > 2", "plus"),
)
KEYS: tuple[Choice, ...] = (
    ("carrier", "carrier"),
    ("upper(carrier)", "upper"),
    ("s.b", "s.b"),
    ("concat(carrier, s.b)", "both"),
    ("concat(s.b, carrier)", "turned"),
)
AGGREGATES: tuple[Choice, ...] = (
    ("count(*)", "count"),
    ("count(1)", "count"),
    ("count(delay)", "count of delay"),
    ("sum(delay)", "sum"),
    ("sum(delay + 1)", "sum of more"),
    ("sum(try_add(delay, 1))", "sum of more or null"),
    ("try_sum(delay)", "sum or null"),
    ("max(hash(carrier, 1))", "hash of an INT"),
    ("max(hash(carrier, 1L))", "hash of a BIGINT"),
    ("max(concat_ws('-', s.b, 'a, b'))", "one text"),
    ("max(concat_ws('-', s.b, 'a', 'b'))", "two texts"),
    ("max(id)", "newest"),
    ("max(id) FILTER (WHERE delay > 1)", "newest of the late"),
)
ABOVE = ("{}", "{} AS again, {}", "upper(string({})) AS shown, {}")


class RandomBody(NamedTuple):
    """A body, and what its plan below the groups means."""

    text: str
    meaning: tuple[str, str, tuple[str, ...]]


class Meaning(NamedTuple):
    """What a body means below its groups: a filter and aggregates by their meanings, and a key."""

    condition: str
    key: Choice
    aggregates: tuple[str, ...]


def choose_meaning(draw: random.Random) -> Meaning:
    """Draw a filter, a key, and one to three aggregates, each by its meaning."""
    meanings = [*dict.fromkeys(meaning for _, meaning in AGGREGATES)]
    return Meaning(draw.choice(FILTERS)[1], draw.choice(KEYS), tuple(draw.sample(meanings, draw.randint(1, 3))))


def spell_body(draw: random.Random, chosen: Meaning) -> str:
    """A text of that meaning below its groups, with some expressions above them."""
    condition = draw.choice([text for text, meaning in FILTERS if meaning == chosen.condition])
    texts = [draw.choice([text for text, meaning in AGGREGATES if meaning == wanted]) for wanted in chosen.aggregates]
    names = [f"{draw.choice('abcxyz')}{place}" for place in range(len(texts))]
    inner = ", ".join(f"{text} AS {name}" for text, name in zip(texts, names, strict=True))
    source = draw.choice(("flights", "STREAM flights", "STREAM(flights)"))
    text = f"SELECT {chosen.key[0]} AS k, {inner} FROM {source} {condition} GROUP BY {chosen.key[0]}"
    if draw.random() < 0.5:
        return text
    above = draw.choice(ABOVE).replace("{}", names[0])
    rest = ", ".join(names[1:])
    return f"SELECT k, {above}{', ' if rest else ''}{rest} FROM ({text})"


def make_random(draw: random.Random) -> RandomBody:
    chosen = choose_meaning(draw)
    return RandomBody(spell_body(draw, chosen), (chosen.condition, chosen.key[1], chosen.aggregates))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
def test_states_are_equal_only_where_plans_mean_the_same(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    planner = BodyPlanner(spark, tmp_path)
    bodies = [make_random(draw) for _ in range(20)]
    found: list[tuple[RandomBody, StateFingerprint]] = []
    for body in bodies:
        found.append((body, planner.plan(make_body(body.text, "TABLE")).plan.fingerprint))
    wrong = [
        (one.text, other.text)
        for (one, state), (other, same) in combinations(found, 2)
        if state == same and one.meaning != other.meaning
    ]
    assert not wrong, f"seed {seed}"


@pytest.mark.soak
def test_another_spelling_is_the_same_state(spark: SparkSession, tmp_path: Path) -> None:
    planner = BodyPlanner(spark, tmp_path)
    draw = random.Random(1)
    for _ in range(20):
        key, chosen = draw.choice(KEYS), draw.choice(AGGREGATES)
        one = f"SELECT {key[0]} AS k, {chosen[0]} AS n FROM STREAM flights GROUP BY {key[0]}"
        other = f"WITH g AS (SELECT {key[0]} AS key, {chosen[0]} AS value FROM flights GROUP BY 1) SELECT string(value) AS shown, key FROM g"
        if "try" in one:
            continue
        states = [planner.plan(make_body(text, "TABLE")).plan.fingerprint for text in (one, other)]
        assert states[0] == states[1], one
