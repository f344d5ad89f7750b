"""A query takes over from the one before it, while rows come: what its table has then, whenever the runner was killed."""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from treaty.client.connection import Connection
from treaty.core.messages.metastore.sources import ChangeSource, CreateSource, DescribeSource, SourceDefinition
from treaty.core.sources import Source
from treaty.metastore import Metastore
from treaty.metastore.records.destinations import RecordDestinations
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.questions import QueryBody, ReadableSource
from treaty.spark.runner import takeovers
from treaty.spark.runner.checkpoint_files import CheckpointFiles
from treaty.spark.runner.once import OnceRunner, QueryReport
from treaty.spark.runner.sinks import TableSink

pytestmark = pytest.mark.jvm
EVENTS = "CREATE STREAM events (id BIGINT, k STRING) WITH (CONNECTOR = 'files', PATH = '{0}', VALUE_FORMAT = 'AVRO', KEY_FORMAT = 'NONE')"
ALL = "SELECT k, count(*) AS n FROM STREAM events GROUP BY k"
EVEN = "SELECT k, count(*) AS n FROM STREAM events WHERE id % 2 = 0 GROUP BY k"
ONCE = "SELECT concat('once {0}', substring(k, 1, 0)) AS k, min(id - id + {0}) AS n FROM STREAM events GROUP BY concat('once {0}', substring(k, 1, 0))"
"""A row of its own, whatever came."""
ODD = "SELECT k, count(*) AS n FROM STREAM events WHERE id % 2 = 1 GROUP BY k"


@dataclass
class Place:
    """A registry with a stream of files, a table that a query fills, and runners that may be killed."""

    registry: Connection
    spark: SparkSession
    root: Path
    planner: BodyPlanner
    metastore: Metastore
    came: list[tuple[int, str]] = field(default_factory=list)

    def define(
        self,
        body: str,
        on_change: str = "",
        kind: str = "TABLE",
        *,
        name: str = "t",
        source: str = "events",
        once: bool = False,
    ) -> None:
        there: Source = self.registry.ask(DescribeSource(source)).answer.source
        readable = ReadableSource(
            there.name, there.kind, there.generation, there.columns, value=there.value.pin if there.value else None,
            revision=there.revision,
        )  # fmt: skip
        planned = self.planner.plan(QueryBody(name, kind, body, (readable,)))
        definition = SourceDefinition(
            name, kind, body, planned.columns, connector="delta", place=name, query=planned.plan
        )
        self.registry.ask(CreateSource(definition, replace=True, on_change=on_change, once=once))

    def restart(self, way: str, name: str = "t") -> None:
        way, _, cascade = way.partition(" ")
        self.registry.ask(ChangeSource(name, restart=way, cascade=bool(cascade)))

    def insert(self, *rows: tuple[int, str]) -> None:
        self.came += rows
        values = ", ".join(f"({number}, '{key}')" for number, key in rows)
        self.metastore.run(f"INSERT INTO events (id, k) VALUES {values}")

    def run(self) -> QueryReport:
        reports: list[QueryReport] = []
        OnceRunner(self.spark, self.registry.registry, self.root, self.root / "_checkpoints").run(reports.append)
        (report,) = reports
        assert not report.error, report.error
        return report

    def run_all(self, only: str = "") -> None:
        """Run all queries until they rest, or one of them alone."""
        reports: list[QueryReport] = []
        runner = OnceRunner(self.spark, self.registry.registry, self.root, self.root / "_checkpoints")
        if only:
            reports.append(runner._run_query(self.registry.ask(DescribeSource(only)).answer.source))
        else:
            runner.run(reports.append)
        assert not [one for one in reports if one.error or one.note], reports

    def rows(self, name: str = "t") -> list[Any]:
        frame = self.spark.read.format("delta").load(str(self.root / name))
        return sorted(map(tuple, frame.collect()))

    def count(self, after: int = 0, *, odd: bool = False) -> dict[str, int]:
        return dict(Counter(key for number, key in self.came[after:] if not odd or number % 2))


def open_place(spark: SparkSession, registry: Connection, tmp_path: Path) -> Iterator[Place]:
    """Yield a place with the stream of events."""
    root = tmp_path / "data"
    root.mkdir()
    with closing(RecordDestinations(files=root)) as destination:
        metastore = Metastore(registry.registry, destination=destination)
        metastore.run(EVENTS.format("events"))
        yield Place(registry, spark, root, BodyPlanner(spark, tmp_path / "views"), metastore)


place = pytest.fixture(open_place)


def test_a_new_query_begins_empty_at_the_offsets_of_the_old_one_and_goes_back(place: Place) -> None:
    place.define(ALL)
    place.insert((1, "a"), (2, "a"), (3, "b"))
    place.run()
    place.define(ODD, "EMPTY")
    place.run()
    assert place.rows() == [("a", 2), ("b", 1)]
    place.insert((5, "a"), (6, "b"), (7, "c"))
    assert place.run().rows == 3
    assert place.rows() == [("a", 1), ("b", 1), ("c", 1)]
    place.restart("ROLLBACK")
    place.run()
    assert place.rows() == [("a", 3), ("b", 2), ("c", 1)]
    place.insert((9, "c"))
    place.run()
    place.restart("ROLLBACK")
    place.run()
    assert place.rows() == [("a", 1), ("b", 1), ("c", 2)]


def test_a_query_that_reads_a_source_more_often_or_less_begins_at_its_offsets(place: Place) -> None:
    """Each read has offsets of its own; two reads of one relation share what Spark has noted of its files."""
    single = "SELECT id, k FROM STREAM events"
    double = f"{single} UNION ALL SELECT id + 100, k FROM STREAM events WHERE id > 2"
    written: list[tuple[int, str]] = []
    for number, body in enumerate((single, double, single, double), 1):
        place.define(body, "EMPTY" if number > 1 else "", "STREAM")
        place.run()
        place.insert((number, "x"), (number + 10, "y"))
        place.run()
        rows = [(number, "x"), (number + 10, "y")]
        written += rows + ([(id_ + 100, k) for id_, k in rows if id_ > 2] if body == double else [])
        assert place.rows() == sorted(written)


def test_all_rows_are_made_again_beside_the_table_and_put_in_its_place(place: Place) -> None:
    place.define(ALL)
    place.insert((1, "a"), (2, "a"), (3, "b"))
    place.run()
    place.define(ODD, "BACKFILL")
    place.insert((4, "c"), (5, "b"))
    place.run()
    assert place.rows() == [("a", 1), ("b", 2)]
    for done in (place.root / "_checkpoints").glob("*/takeovers/*.done*"):
        done.unlink()  # as a runner leaves it that is killed once the rows are exchanged
    place.insert((7, "c"))
    assert place.run().rows == 1
    assert place.rows() == [("a", 1), ("b", 2), ("c", 1)]
    place.restart("ROLLBACK")
    place.run()
    assert place.rows() == sorted(place.count().items())
    assert not [*(place.root / "_checkpoints").glob("**/*.rows")]


def test_queries_that_were_replaced_before_they_ran_leave_no_trace(place: Place) -> None:
    place.define(ALL)
    place.insert((1, "a"), (2, "a"), (3, "b"))
    place.run()
    place.define(ODD, "EMPTY")
    place.define(EVEN, "EMPTY")
    place.insert((4, "d"), (5, "c"))
    assert place.run().rows == 2
    assert place.rows() == [("a", 2), ("b", 1), ("d", 1)]
    place.restart("ROLLBACK")
    place.run()
    assert place.rows() == [("a", 2), ("b", 1), ("c", 1)]


def test_a_query_that_fails_is_replaced_by_one_that_begins_behind_its_last_batch(place: Place) -> None:
    place.define("SELECT k, sum(100 div (id - 3)) AS n FROM STREAM events GROUP BY k")
    place.insert((1, "a"), (2, "a"))
    place.run()
    place.insert((3, "b"))
    with pytest.raises(AssertionError, match="DIVIDE_BY_ZERO"):
        place.run()
    place.define(ODD, "EMPTY")
    place.run()
    assert place.rows() == [("a", -150), ("b", 1)]


def test_a_query_continues_while_its_source_has_another_name(place: Place) -> None:
    """Its state and its offsets stay, also where the former query's offsets are taken over, and no name leads to another source."""
    place.metastore.run(EVENTS.replace("events", "others").format("others"))
    place.define(ALL)
    place.insert((1, "a"), (2, "a"), (3, "b"))
    place.run()
    place.registry.ask(ChangeSource("events", swap="others"))
    place.metastore.run("INSERT INTO others (id, k) VALUES (4, 'a'), (5, 'c')")
    place.metastore.run("INSERT INTO events (id, k) VALUES (99, 'z')")
    assert place.run().rows == 2
    assert place.rows() == [("a", 3), ("b", 1), ("c", 1)]
    place.registry.ask(ChangeSource("events", swap="others"))
    place.define(ODD, "EMPTY")
    place.registry.ask(ChangeSource("events", rename="happened"))
    place.metastore.run("INSERT INTO happened (id, k) VALUES (7, 'c'), (8, 'c')")
    assert place.run().rows == 2
    assert place.rows() == [("a", 3), ("b", 1), ("c", 1)]
    place.restart("ROLLBACK")
    place.run()
    assert place.rows() == [("a", 3), ("b", 1), ("c", 3)]


@pytest.mark.soak
@pytest.mark.parametrize("way", ["RESET", "REFRESH"])
def test_a_query_reads_all_again(place: Place, way: str) -> None:
    place.define("SELECT id FROM STREAM events WHERE id > 1", kind="STREAM")
    place.insert((1, "a"), (2, "a"), (3, "b"))
    place.run()
    place.restart(way)
    place.run()
    assert place.rows() == [(2,), (2,), (3,), (3,)] if way == "RESET" else [(2,), (3,)]


# ---------------------------------------------------------------------------------------------------------------- kills


@dataclass
class Filled:
    """A query as a computation over the rows that came: how many of them it has read, and its counts."""

    odd: bool
    position: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    before: dict[str, int] = field(default_factory=dict)
    """The table before this one took over."""


@dataclass
class Expected:
    """What the table has to have: by the rows that came, and by who took over when."""

    place: Place
    running: Filled = field(default_factory=lambda: Filled(odd=False))
    former: Filled | None = None
    table: dict[str, int] = field(default_factory=dict)
    once: int = 0
    """How many queries were run once: the table has the rows of all of them, whatever became of the others."""

    def change(self, way: str) -> None:
        if way == "ONCE":
            self.once += 1
            return
        if way == "ROLLBACK":
            assert self.former is not None
            left, self.running = self.running, self.former
            self.table, self.running.before = dict(left.before), dict(self.table)
            self.former = left
            return
        old, self.former = self.running, self.running
        self.running = Filled(not old.odd, old.position if way == "EMPTY" else 0, before=dict(self.table))
        if way == "BACKFILL":
            self.table = {}

    def work_off(self) -> None:
        fresh = [key for number, key in self.place.came[self.running.position :] if not self.running.odd or number % 2]
        self.running.counts.update(fresh)
        self.running.position = len(self.place.came)
        self.table |= {key: self.running.counts[key] for key in fresh}

    @property
    def rows(self) -> list[tuple[str, int]]:
        return sorted({**self.table, **{f"once {number}": number for number in range(self.once)}}.items())


class Killer:
    """Ends a run at one of its steps: before or after something is written."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.left = -1
        for owner, name in (
            *((CheckpointFiles, name) for name in ("write", "move", "copy", "remove")),
            (TableSink, "write"),
        ):
            self._wrap(patch, owner, name)
        self._wrap(patch, takeovers.QueryTakeover, "_note_version")

    def _wrap(self, patch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        inner = getattr(owner, name)

        def step(*values: Any) -> Any:
            self._pass_step()
            answer = inner(*values)
            self._pass_step()
            return answer

        patch.setattr(owner, name, step)

    def _pass_step(self) -> None:
        self.left -= 1
        if self.left == 0:
            message = "killed"
            raise RuntimeError(message)


SEEDS = [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(3, 100))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_takeover_that_is_killed_loses_and_doubles_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    draw = random.Random(seed)
    expected, killer = Expected(place), Killer(monkeypatch)
    place.define(ALL)
    place.insert(*((number, draw.choice("abc")) for number in range(1, 5)))
    place.run()
    expected.work_off()
    for turn in range(1 if seed < 3 else 3):
        way = (
            ("EMPTY", "BACKFILL", "ONCE")[(seed + turn) % 3]
            if turn == 0
            else draw.choice(("EMPTY", "BACKFILL", "ROLLBACK", "ONCE"))
        )
        place.insert(*((10 * seed + 5 + number, draw.choice("abcd")) for number in range(draw.randint(1, 4))))
        old = expected.rows
        if way == "ONCE":
            place.define(ONCE.format(expected.once), once=True)
        elif way == "ROLLBACK":
            if expected.former is None:
                continue
            place.restart(way)
        else:
            place.define(ALL if expected.running.odd else ODD, way)
        expected.change(way)
        expected.work_off()
        run_killed(place, killer, draw.randint(1, 14))
        if way == "BACKFILL":
            assert leave_once(place.rows()) in map(leave_once, (old, expected.rows)), (
                f"seed {seed}: neither the old rows nor the new ones"
            )
        place.run()
        assert place.rows() == expected.rows, f"seed {seed}, turn {turn}: {way}"


def leave_once(rows: list[Any]) -> list[Any]:
    """The rows of the query that fills the table: those that came once are made again after them."""
    return [row for row in rows if not row[0].startswith("once")]


def run_killed(place: Place, killer: Killer, step: int) -> None:
    """Run until a step, at which the run ends; or to its end where it has fewer."""
    killer.left = step
    runner = OnceRunner(place.spark, place.registry.registry, place.root, place.root / "_checkpoints")
    with suppress(RuntimeError):
        runner.run(lambda _: None)
    killer.left = -1
