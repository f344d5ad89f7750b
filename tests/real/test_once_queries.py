"""INSERT INTO ONCE: rows of another query come into a table once, whatever becomes of the rows, and whenever a runner is killed."""

import random

import pytest

from tests.real.test_query_takeovers import EVENTS, Killer, Place, open_place, run_killed
from treaty.spark.runner.once import OnceRunner, QueryReport
from treaty.spark.runner.once_queries.ledger import EXCHANGED, RESTORED, WRITTEN, OnceEvent, find_contained

pytestmark = pytest.mark.jvm
place = pytest.fixture(open_place)
FILLED = "SELECT id, k FROM STREAM events"
OLD = [(1, "a"), (2, "b"), (2, "b")]


def begin(place: Place) -> None:
    """A stream that a query fills, and another one with rows from before."""
    place.metastore.run(EVENTS.replace("events", "old").format("old"))
    place.metastore.run(f"INSERT INTO old (id, k) VALUES {', '.join(map(repr, OLD))}")
    place.define(FILLED, kind="STREAM")
    place.insert((1, "a"))
    place.run()


def insert_once(place: Place, number: int) -> None:
    place.define(f"SELECT id + {1000 * number} AS id, k FROM STREAM old", kind="STREAM", source="old", once=True)


def compute_rows(place: Place, number: int) -> list[tuple[int, str]]:
    """Each event once, and the old rows once for each of so many queries."""
    return sorted([*place.came, *((1000 * one + id_, key) for one in range(1, number + 1) for id_, key in OLD)])


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_run_once_is_there_once(place: Place, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    draw, killer = random.Random(seed), Killer(monkeypatch)
    begin(place)
    number = exchanges = 0
    ways = (
        ("ONCE", "REFRESH", "ROLLBACK")
        if seed == 0
        else [draw.choice(("ONCE", "ONCE", "REFRESH", "ROLLBACK")) for _ in range(4)]
    )
    for turn, way in enumerate(ways):
        place.insert((10 + turn, draw.choice("abc")))
        if way == "ONCE":
            number += 1
            insert_once(place, number)
        elif way == "REFRESH" or exchanges:
            exchanges += 1
            place.restart(way)
        run_killed(place, killer, draw.randint(1, 16))
        if draw.random() < 0.7:  # else the next change comes before this one is carried out
            place.run()
            assert place.rows() == compute_rows(place, number), f"seed {seed}, turn {turn}: {ways}"
    place.run()
    place.run()
    assert place.rows() == compute_rows(place, number), f"seed {seed}: {ways}"


def test_a_body_sees_the_columns_of_what_it_reads(place: Place) -> None:
    """Not the place of a row, and those that DEDUPLICATE names too."""
    begin(place)
    properties = "WATERMARK = '_timestamp DELAY OF INTERVAL 1 minute', DEDUPLICATE = '_offset', VALUE_FORMAT"
    place.metastore.run(EVENTS.replace("events", "later").replace("VALUE_FORMAT", properties).format("later"))
    place.metastore.run("INSERT INTO later (id, k) VALUES (7, 'x'), (7, 'x')")
    place.define(
        "SELECT id, string(hash(*) = hash(id, k)) AS k FROM STREAM old", kind="STREAM", source="old", once=True
    )
    place.define("SELECT id, k FROM STREAM later", kind="STREAM", source="later", once=True)
    place.run()
    texts = [(id_, "true") for id_, _ in OLD]
    assert place.rows() == sorted([(1, "a"), *texts, (7, "x"), (7, "x")])


@pytest.mark.soak
def test_a_query_that_can_t_be_run_once_keeps_no_other_from_running(place: Place) -> None:
    begin(place)
    place.define("SELECT 1 div (id - 1) AS id, k FROM STREAM old", kind="STREAM", source="old", once=True)
    place.insert((5, "c"))
    notes: list[str] = []
    reports: list[QueryReport] = []
    OnceRunner(
        place.spark,
        place.registry.registry,
        place.root,
        place.root / "_checkpoints",
        on_note=lambda _, text: notes.append(text),
    ).run(reports.append)
    assert [one.error for one in reports] == [""]
    assert any("is tried again at the next start" in text and "DIVIDE_BY_ZERO" in text for text in notes), notes
    assert place.rows() == compute_rows(place, 0)


def test_events_say_what_a_table_has() -> None:
    """A version that comes back has what it had, and nothing that came since."""
    written = [OnceEvent(WRITTEN, 7, 3), OnceEvent(EXCHANGED, 8, 4), OnceEvent(WRITTEN, 7, 5), OnceEvent(WRITTEN, 9, 6)]
    assert find_contained(written) == {7, 9}
    assert find_contained(written[:2]) == set()
    back = [*written, OnceEvent(RESTORED, 10, 7, to=3)]
    assert find_contained(back) == {7}
    assert find_contained([*back, OnceEvent(RESTORED, 11, 8, to=6)]) == {7, 9}
    assert find_contained([*back, OnceEvent(RESTORED, 11, 8, to=7), OnceEvent(RESTORED, 12, 9, to=2)]) == set()
