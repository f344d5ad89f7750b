"""Bad rows of sources decoded again after a mend: appended once to what each query fills, whatever is killed or comes twice."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from tests.frames import frame
from tests.real.query_places import FLIGHTS, ROWS, Place
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.cli.metastore.bad.bad_report import read_report
from treaty.cli.metastore.bad.tables import find_tables
from treaty.client.connection import Connection
from treaty.core.messages.metastore.sources import ChangeSource, DescribeSource
from treaty.metastore.bad_rows import REPLAY_LOG
from treaty.plan.rows import BadRowFilter
from treaty.spark.pipelines.replay_lock import ReplayRunsError, lock_replays
from treaty.spark.runner.query_start import QueryStarter
from treaty.spark.runner.replays.replay import BadRowReplayer, SourceReplay

pytestmark = pytest.mark.jvm
BROKEN = b"\0"
ALL = BadRowFilter()
EXPECTED = {("", "good"): 2, ("late", "appended"): 2, ("delays", "refused"): 2, ("newest", "unread"): 2}


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Connection]:
    """One that a command can open too."""
    with connect(f"sqlite://{tmp_path / 'registry.db'}") as opened:
        yield opened


def run_command(place: Place, *words: str) -> dict[tuple[str, str], int]:
    """The results that `treaty bad replay` counts, in the session of Spark that is there."""
    url = f"sqlite://{place.root.parent / 'registry.db'}"
    command = ["bad", "replay", "flights", "--files", str(place.root), "--registry", url, "--json", *words]
    done = CliRunner().invoke(group, command)
    assert done.exit_code == 1, (done.output, done.exception)
    (replay,) = json.loads(done.stdout)
    return {(one["query"], one["outcome"]): one["rows"] for one in replay["results"]}


def replayer(place: Place) -> BadRowReplayer:
    starter = QueryStarter(
        place.spark, place.registry.registry, place.root, str(place.root / "_checkpoints"), clusters=place.clusters
    )
    bad = place.registry.ask(DescribeSource("flights_bad")).answer.source
    return BadRowReplayer(starter, bad)


def results(done: SourceReplay) -> dict[tuple[str, str], int]:
    return {(one.reader, one.outcome): done.count(one.outcome, one.reader) for one in done.counts}


def write_records(place: Place, name: str, values: dict[int, bytes]) -> None:
    """One more file of records, with the schema of those that an INSERT writes."""
    stored = next((place.root / "flights").glob("*.parquet"))
    record = pq.read_table(stored).to_pylist()[0]
    rows = [{**record, "key": key.to_bytes(8), "value": value} for key, value in values.items()]
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(stored)), place.root / "flights" / f"{name}.parquet")


def early_frames(place: Place, *keys: int) -> tuple[str, dict[int, bytes]]:
    """Frames of a version that is not registered yet, under the id that it will get."""
    text = place.registry.version("flights-value", -1).text
    schema = json.loads(text)
    schema["fields"].append({"name": "note", "type": ["null", "string"], "default": None})
    newer = json.dumps(schema)
    highest = place.registry.version("flights-value", -1).schema_id
    value = {"carrier": "UA", "ts": None, "note": "new"}
    return newer, {key: frame(highest + 1, newer, {**value, "delay": key}) for key in keys}


def was_killed(place: Place, log: Path, before_append: Path | None = None) -> None:
    """Leave what a replay leaves that is killed before its end: behind its append, or before it."""
    (log / "1.done").unlink()
    if before_append is not None:
        shutil.rmtree(place.root / "tables" / "late")
        shutil.copytree(before_append, place.root / "tables" / "late")


def listed(place: Place) -> dict[tuple[str, str], int]:
    """What `treaty bad list` counts."""
    tables = find_tables(place.registry, "flights", place.root)
    reports = [read_report(one, ALL, 20, with_replayed=False) for one in tables]
    return {(one["state"], one["code"]): one["rows"] for report in reports for one in report["counts"]}


def test_rows_of_a_schema_that_came_late_are_appended_once(place: Place) -> None:
    place.metastore.run(FLIGHTS.replace("VALUE_FORMAT", "BAD_ROWS = 'true', VALUE_FORMAT"))
    place.create("late", "STREAM", "SELECT id, delay FROM STREAM flights WHERE delay > 15", "flights")
    place.create("delays", "TABLE", "SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier", "flights")
    place.insert("flights", ROWS)
    newer, frames = early_frames(place, 40, 5)
    write_records(place, "early", {**frames, 7: BROKEN})
    place.run()
    assert place.rows("late") == [(2, 20), (3, 30)]
    assert len(place.bad_rows("flights_bad")) == 3
    place.registry.register("flights-value", newer)
    place.create("newest", "STREAM", "SELECT id, delay, _offset AS row FROM STREAM flights WHERE delay > 15", "flights")
    tried = run_command(place, "--dry-run")
    late = shutil.copytree(place.root / "tables" / "late", place.root / "late")
    done = replayer(place).run(BadRowFilter(("UNKNOWN_ID",)))[0]
    assert tried == {("", "bad"): 1, **EXPECTED}
    assert results(done) == EXPECTED
    assert done.remedies == (("delays", "REFRESH delays FULL"),)
    assert place.rows("late") == [(2, 20), (3, 30), (40, 40)]
    log = next((place.root / "_bad").glob(f"*{REPLAY_LOG}"))
    was_killed(place, log, before_append=late)
    assert [results(one) for one in replayer(place).run(BadRowFilter(("TRAILING",)))] == [EXPECTED]
    assert place.rows("late") == [(2, 20), (3, 30), (40, 40)]
    was_killed(place, log)
    (log / "2.json").write_text("")  # as a replay leaves it that has not decided yet
    place.run()
    again = replayer(place).run(ALL)
    assert [one.number for one in again] == [1, 2]
    assert results(again[1]) == {("", "bad"): 1, ("", "good"): 2, ("newest", "had"): 2, ("delays", "refused"): 2}
    assert place.rows("late") == [(2, 20), (3, 30), (40, 40)]
    assert [one[:2] for one in place.rows("newest")] == [(2, 20), (3, 30), (40, 40)]
    with (
        lock_replays(log, "flights_bad"),
        pytest.raises(ReplayRunsError, match="another replay of flights_bad runs now"),
    ):
        replayer(place).run(ALL)
    assert listed(place) == {("open", "TOO_SHORT"): 1, ("open", "NEEDS_REFRESH"): 2}


@pytest.mark.soak  # the test before has what a replay appends, refuses and leaves
@pytest.mark.rest
def test_rows_that_were_left_out_come_although_source_and_query_are_others_by_now(place: Place) -> None:
    place.metastore.run(FLIGHTS.replace("VALUE_FORMAT", "BAD_ROWS = 'true', VALUE_FORMAT"))
    place.create("late", "STREAM", "SELECT id, delay FROM STREAM flights WHERE delay > 15", "flights")
    place.insert("flights", ROWS)
    newer, frames = early_frames(place, 40, 5)
    write_records(place, "early", frames)
    place.run()
    place.registry.register("flights-value", newer)
    place.metastore.run("ALTER STREAM flights REFRESH SCHEMA")  # with a column that no former plan knows
    place.metastore.run(FLIGHTS.replace("flights", "planes"))
    both = "SELECT id, delay FROM STREAM planes UNION ALL SELECT id, delay FROM STREAM flights WHERE delay > 15"
    place.insert("planes", "(7, 'AA', 1, NULL)")
    place.create("late", "STREAM", both, "planes", "flights", replace=True, on_change="EMPTY")
    assert not place.run()["late"].error
    old = [(2, 20), (3, 30)]
    assert place.rows("late") == [*old, (7, 1)]
    appended = {("", "good"): 2, ("late", "appended"): 2}
    assert [results(one) for one in replayer(place).run(ALL)] == [appended]
    assert place.rows("late") == [*old, (40, 40), (7, 1)]
    assert [one.number for one in replayer(place).run(ALL)] == [0]
    place.registry.ask(ChangeSource("late", restart="ROLLBACK"))
    place.run("late")
    assert place.rows("late") == old, "the table is as it was before the second query"
    assert [results(one) for one in replayer(place).run(ALL)] == [appended]
    assert place.rows("late") == [*old, (40, 40)]
