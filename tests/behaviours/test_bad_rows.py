"""Bad rows without Spark: what became of them, who collects them, and where they stay when a source comes back."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from treaty.arrow.bad_rows import count_reasons, filter_rows, join_results, select_listed
from treaty.arrow.delta_log import NoTableError
from treaty.assemble import connect
from treaty.cli.metastore.queries.watch import read_statuses
from treaty.core.limits import FORMER_GENERATIONS
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.messages.request import Request
from treaty.core.refusals import Invalid, SourceNotFound
from treaty.core.registry import CALL, CallOptions, Registry, Reply
from treaty.core.sources import BAD
from treaty.metastore import Metastore
from treaty.metastore.bad_rows import find_origin, first_generation, name_bad_folder
from treaty.metastore.execution.pages import NO_RUNNER
from treaty.metastore.records.tables import find_folder, writer_of
from treaty.plan.rows import OPEN, REPLAYED, SOURCE_COLUMNS, BadRowFilter
from treaty.spark.runner.service.part_status import FieldReads, PartStatus, add_bad, add_progress

LINES = "CREATE STREAM lines (id BIGINT) WITH (CONNECTOR = 'files', PATH = 'lines', VALUE_FORMAT = 'JSON', FRAMING = 'none', KEY_FORMAT = 'NONE', BAD_ROWS = true)"
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def bad_rows() -> pa.Table:
    ids = ["a", "b", "c"]
    members = {
        "bad_id": ids,
        "code": ["UNKNOWN_ID", "UNKNOWN_ID", "TOO_SHORT"],
        "message": ids,
        "schema_id": [7, 8, None],
    }
    places = {"_topic": ["t"] * 3, "_partition": [0] * 3, "_offset": [1, 2, 3], "_timestamp": [FIRST] * 3}
    return pa.table(members | places | {"found_at": [FIRST + timedelta(hours=at) for at in range(3)]})


def test_a_row_is_open_until_no_result_of_its_last_replay_says_otherwise() -> None:
    marks = pa.table(
        {
            "bad_id": ["a", "a", "b", "b", "b"],
            "replay": pa.array([1, 2, 1, 1, 1], pa.int32()),
            "passed": [False, True, True, False, True],
            "code": ["MALFORMED", None, None, "NEEDS_REFRESH", None],
            "message": ["torn", None, None, "delays keeps state", None],
            "at": pa.array([FIRST] * 5, pa.timestamp("us", "UTC")),
        }
    )
    rows = join_results(bad_rows(), marks).sort_by("bad_id").to_pylist()
    assert [(one["state"], one["code"], one["first_code"], one["replay"]) for one in rows] == [
        (REPLAYED, "UNKNOWN_ID", "UNKNOWN_ID", 2),
        (OPEN, "NEEDS_REFRESH", "UNKNOWN_ID", 1),
        (OPEN, "TOO_SHORT", "TOO_SHORT", None),
    ]
    assert rows[1]["message"] == "delays keeps state"


def test_rows_are_chosen_by_reason_id_and_time_and_the_newest_come_first() -> None:
    rows = join_results(bad_rows(), None)
    wanted = {
        BadRowFilter(("UNKNOWN_ID",)): ["b", "a"],
        BadRowFilter(schema_id=8): ["b"],
        BadRowFilter(since=FIRST + timedelta(hours=1)): ["c", "b"],
        BadRowFilter(("TRAILING",)): [],
    }
    for some, ids in wanted.items():
        listed = select_listed(filter_rows(rows, some, SOURCE_COLUMNS), SOURCE_COLUMNS, with_replayed=False)
        assert listed["bad_id"].to_pylist() == ids
    assert next((one["code"], one["rows"]) for one in count_reasons(rows)) == ("TOO_SHORT", 1)


def test_streams_of_bad_rows_are_watched_too() -> None:
    with connect("memory:") as registry:
        Metastore(registry.registry).run(LINES)
        statuses = [(one["name"], one["part"], one["state"]) for one in read_statuses(registry)]
    assert statuses == [("lines_bad", BAD, NO_RUNNER)]


def test_a_source_keeps_its_first_generation_however_often_it_comes_back() -> None:
    with connect("memory:") as registry:
        metastore = Metastore(registry.registry)
        metastore.run(LINES)
        bad = registry.ask(DescribeSource("lines_bad")).answer.source
        for _ in range(FORMER_GENERATIONS + 2):
            metastore.run("DROP STREAM lines_bad")
            metastore.run("UNDROP STREAM lines_bad")
        back = registry.ask(DescribeSource("lines_bad")).answer.source
    assert back.generation != bad.generation == first_generation(back)
    assert (name_bad_folder(back), len(back.former)) == (name_bad_folder(bad), FORMER_GENERATIONS)


def test_the_source_of_bad_rows_is_found_by_the_name_that_it_has_now() -> None:
    """Whoever holds the row of the stream from before a rename or a swap gets no other source, and no source where it is gone."""
    other = LINES.replace("lines", "notes").replace(", BAD_ROWS = true", "")
    with connect("memory:") as registry:
        metastore = Metastore(registry.registry)
        metastore.run(f"{LINES};{other}")
        bad, lines = (registry.ask(DescribeSource(name)).answer.source for name in ("lines_bad", "lines"))
        for sql, name in (("SWAP WITH notes", "notes"), ("RENAME TO words", "words")):
            metastore.run(f"ALTER STREAM {lines.name} {sql}")
            lines = find_origin(registry.registry, bad)
            assert (lines.name, lines.generation) == (name, bad.generation)
        assert registry.ask(DescribeSource(bad.origin)).answer.source.place == "notes"
        metastore.run(
            "DROP STREAM lines_bad; CREATE STREAM lines_bad (id BIGINT) WITH (CONNECTOR = 'delta', PATH = 'x')"
        )
        with pytest.raises(SourceNotFound, match="lines_bad has the bad rows of another source by now"):
            find_origin(registry.registry, bad)


@dataclass(frozen=True)
class ChangingRegistry:
    """A registry in which statements are carried out right before some of its questions, by their number."""

    registry: Registry
    statements: dict[int, str]
    asked: list[object] = field(default_factory=list)

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        self.asked.append(request)
        if len(self.asked) in self.statements:
            Metastore(self.registry).run(self.statements[len(self.asked)])
        return self.registry.ask(request, call)


def test_a_swap_between_two_questions_makes_no_other_source_the_one_of_bad_rows() -> None:
    other = LINES.replace("lines", "notes").replace(", BAD_ROWS = true", "")
    with connect("memory:") as registry:
        Metastore(registry.registry).run(f"{LINES};{other}")
        bad = registry.ask(DescribeSource("lines_bad")).answer.source
        changes = {2: "ALTER STREAM lines SWAP WITH notes", 5: "ALTER STREAM notes RENAME TO words"}
        source = find_origin(cast("Registry", ChangingRegistry(registry.registry, changes)), bad)
    assert (source.name, source.generation) == ("words", bad.generation)


def test_a_table_of_bad_rows_is_read_where_it_is(tmp_path: Path) -> None:
    """It has no PATH; SELECT and `read_table` look below the root, by the generation of the stream."""
    with connect("memory:") as registry:
        metastore = Metastore(registry.registry)
        metastore.run(LINES)
        bad = registry.ask(DescribeSource("lines_bad")).answer.source
        assert find_folder(bad, tmp_path) == tmp_path / "_bad" / str(bad.generation)
        assert writer_of(bad) == f"treaty-bad-{bad.generation}"
        with pytest.raises(NoTableError, match=f"_bad/{bad.generation}"):
            metastore.read_table("lines_bad", tmp_path)
        for time in ("yesterday", "2026-01-31T10:00:00"):
            with pytest.raises(Invalid, match="is no time in ISO 8601 with its zone"):
                metastore.read_table("lines_bad", tmp_path, time=time)


def test_rows_of_each_source_are_counted_and_rows_that_were_not_written_too() -> None:
    reads = (FieldReads("flights", 3, ("id",)), FieldReads("late", 4), FieldReads("carriers", 5, ("code",), None))
    progress = {
        "batchId": 7,
        "numInputRows": 12,
        "observedMetrics": {"bad_3": {"rows": 10, "bad": 1, "bad_TOO_SHORT": 1}, "bad_4": {"rows": 0, "bad": 0}},
    }
    status = add_bad(add_progress(PartStatus("q", "query", 1, 1, reads=reads), progress, 99), "NULL_KEY", 2)
    assert status.bad == (("NULL_KEY", 2), ("TOO_SHORT", 1))
    assert [(one["rows"], one["time"]) for one in status.to_json()["reads"]] == [(10, 99), (0, 0), (None, 99)]
    alone = add_progress(PartStatus("b", "bad", 1, 1, reads=(FieldReads("flights", 3),)), {"numInputRows": 5}, 99)
    assert alone.reads == (FieldReads("flights", 3, (), 5, 99),)
