"""Files of sources that are gone are removed once, after the grace; what a row names, and what no query made, stays."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from tests.real.query_places import FLIGHTS, ROWS, Place
from treaty.core.messages.metastore.kept_files import ListKeptFiles
from treaty.core.messages.metastore.sources import ChangeSource, DescribeSource
from treaty.core.messages.request import Request
from treaty.core.registry import CALL, CallOptions, Registry, Reply
from treaty.core.sources import Incarnation
from treaty.spark.runner.checkpoint_files import CheckpointFiles
from treaty.spark.runner.file_records import CHECKPOINT, TABLE, FileRecords, QueryFileRecord
from treaty.spark.runner.leftovers import REMOVED_AFTER, LeftoverFiles, now_in_ms
from treaty.spark.runner.once import FILES, OnceRunner

pytestmark = pytest.mark.jvm
A = TypeVar("A")
BODY = "SELECT id, delay FROM STREAM flights WHERE delay > 15"
OTHER = "CREATE STREAM late (x STRING) WITH (CONNECTOR = 'files', PATH = 'x', KEY_FORMAT = 'NONE', VALUE_FORMAT = 'AVRO'); DROP STREAM late"


def sweep(place: Place, later: int = 0) -> tuple[list[tuple[str, str, bool]], list[tuple[str, str]]]:
    """What is leaving and what was removed, as if so many ms had gone by."""
    files = CheckpointFiles(place.spark, str(place.root / "_checkpoints"))
    data = CheckpointFiles(place.spark, str(place.root))
    swept = LeftoverFiles(files, place.registry.registry, data, lambda: now_in_ms() + later).sweep()
    assert not swept.errors
    return sorted((one.record.name, one.record.kind, one.returns) for one in swept.leaving), sorted(
        (one.name, one.kind) for one in swept.removed
    )


def query_of(place: Place, name: str) -> Incarnation:
    query = place.registry.ask(DescribeSource(name)).answer.source.query
    assert query is not None
    return query


def test_files_go_after_the_grace_and_never_what_is_named_or_not_made_by_a_query(place: Place) -> None:
    checkpoints, tables = place.root / "_checkpoints", place.root / "tables"
    place.metastore.run(FLIGHTS)
    place.insert("flights", ROWS)
    place.create("late", "STREAM", BODY, "flights", properties=(("CHECKPOINT_ROOT", "team/a"),))
    place.create("kept", "STREAM", BODY, "flights")
    place.spark.range(0).selectExpr("id", "0 AS delay").write.format("delta").save(str(tables / "kept"))  # a user's own
    assert {name: one.error for name, one in place.run().items()} == {"late": "", "kept": ""}
    late, kept = (query_of(place, name).began for name in ("late", "kept"))
    assert (checkpoints / "team" / "a" / str(late) / str(late) / "offsets" / "0").exists()
    assert sweep(place, 2 * REMOVED_AFTER) == ([], [])
    place.metastore.run("DROP STREAM late")
    assert sweep(place) == ([("late", "checkpoint", True), ("late", "table", True)], [])
    assert sweep(place, 2 * REMOVED_AFTER)[1] == [], "it can come back"
    place.metastore.run("UNDROP STREAM late")
    assert sweep(place, 2 * REMOVED_AFTER) == ([], [])
    place.metastore.run("DROP STREAM late; " + OTHER)  # now it can't
    place.metastore.run("DROP STREAM kept; " + OTHER.replace("late", "kept"))
    (tables / "link").symlink_to(tables / "kept")
    records = FileRecords(CheckpointFiles(place.spark, str(checkpoints)))
    outside = place.root.parent / "outside"
    outside.mkdir()
    (tables / "late-replays" / "own").mkdir(parents=True)
    records.write(QueryFileRecord(CHECKPOINT, 77_777, "elsewhere", str(outside)))
    records.write(QueryFileRecord(TABLE, 77_778, "above", str(outside), "../outside"))
    records.write(QueryFileRecord(TABLE, 77_779, "link", str(tables / "link"), "tables/link"))
    leaving, removed = sweep(place)
    assert (len(leaving), removed) == (6, [])
    shutil.rmtree(checkpoints / "team" / "a" / str(late) / str(late))  # a run that was killed in the middle
    assert sweep(place, REMOVED_AFTER - 60_000)[1] == []
    removed = sweep(place, REMOVED_AFTER + 60_000)[1]
    assert [name for name, _ in removed] == ["kept", "late", "late"], "only what is gone is said to be"
    assert (tables / "late-replays" / "own").exists(), "a folder that is called like one of bad rows is its user's"
    assert not (tables / "late").exists()
    assert not (checkpoints / str(kept) / str(kept)).exists()
    assert (tables / "kept" / "_delta_log").exists()
    assert outside.exists()
    assert sweep(place, 3 * REMOVED_AFTER) == ([], [])
    place.create("late", "STREAM", BODY, "flights")
    assert place.run("late")["late"].written == 2, "a source of the same place begins anew"


@dataclass
class CreatingRegistry:
    """A registry in which a source is created over a place, and gets its first rows, right after some question about this place."""

    registry: Registry
    create: Callable[[], None]
    after: int
    asked: int = 0

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        reply = self.registry.ask(request, call)
        if isinstance(request, ListKeptFiles) and request.places:
            self.asked += 1
            if self.asked == self.after:
                self.create()
        return reply

    def close(self) -> None:
        """Nothing: the registry is another's."""


@pytest.mark.parametrize("after", [1, 2])
def test_a_source_that_is_created_over_a_place_while_its_table_goes_keeps_its_first_rows(
    place: Place, after: int
) -> None:
    files = CheckpointFiles(place.spark, str(place.root / "_checkpoints"))
    table = place.root / "tables" / "gone"
    (table / "old").mkdir(parents=True)
    for number, name in ((77_780, "/tables//gone/"), (77_781, "tables/other")):
        FileRecords(files).write(QueryFileRecord(TABLE, number, "gone", str(table), name, left=1))
    (table.parent / "other").mkdir()

    def create() -> None:
        place.metastore.run(OTHER.split(";", maxsplit=1)[0].replace("'x',", "'tables/gone',"))
        (table / "first").mkdir(parents=True)

    registry = CreatingRegistry(place.registry.registry, create, after)
    swept = LeftoverFiles(files, registry, CheckpointFiles(place.spark, str(place.root))).sweep()
    assert (table / "first").exists()
    assert [one.number for one in swept.removed] == [77_781, *([77_780] if after == 2 else [])][::-1]
    assert [one.name for one in table.parent.iterdir()] == ["gone"]
    assert (table / "old").exists() == (after == 1)


def test_files_that_stay_are_said_and_the_others_go(place: Place) -> None:
    files = CheckpointFiles(place.spark, str(place.root / "_checkpoints"))
    (place.root / "tables" / "gone{leaving}").mkdir(parents=True)
    (place.root / "tables" / "gone").mkdir()
    (place.root / "tables" / "other").mkdir()
    place.metastore.run(OTHER.split(";", maxsplit=1)[0].replace("'x',", "'tables/gone',"))
    for number, name in ((77_780, "gone"), (77_781, "other")):
        folder = place.root / "tables" / name
        FileRecords(files).write(QueryFileRecord(TABLE, number, name, str(folder), f"tables/{name}", left=1))
    swept = LeftoverFiles(files, place.registry.registry, CheckpointFiles(place.spark, str(place.root))).sweep()
    assert [one.name for one in swept.removed] == ["other"]
    assert "a source was created over its place meanwhile" in swept.errors[0]
    assert (place.root / "tables" / "gone{leaving}").exists()
    notes: list[tuple[str, str]] = []
    runner = OnceRunner(
        place.spark, place.registry.registry, place.root, place.root / "_checkpoints", on_note=lambda *note: notes.append(note)
    )  # fmt: skip
    assert runner.run(lambda _: None)
    assert notes == [(FILES, swept.errors[0])]


def test_a_checkpoint_that_is_gone_and_one_of_another_spark_are_told_before_the_start(place: Place) -> None:
    place.metastore.run(FLIGHTS)
    place.insert("flights", ROWS)
    place.create("late", "STREAM", BODY, "flights")
    place.run()
    began = query_of(place, "late").began
    (record,) = (place.root / "_checkpoints" / "records").glob(f"checkpoint-{began}-{began}.json")
    record.write_text(json.dumps(json.loads(record.read_text()) | {"spark": "3.5.1"}))
    (record.parent / f".{record.name}.crc").unlink(missing_ok=True)
    notes: list[str] = []
    runner = OnceRunner(
        place.spark, place.registry.registry, place.root, place.root / "_checkpoints", on_note=lambda _, text: notes.append(text)
    )  # fmt: skip
    assert runner.run(lambda _: None)
    assert [text.split(",")[0] for text in notes] == ["its checkpoint is of Spark 3.5.1"]
    assert runner.run(lambda _: None)
    assert len(notes) == 1, "it is said once"
    shutil.rmtree(place.root / "_checkpoints" / str(began) / str(began))
    error = place.run()["late"].error
    assert f"the checkpoint of late is not at {place.root}/_checkpoints/{began}/{began}" in error
    assert "RESET CHECKPOINT late KEEP DATA" in error
    place.registry.ask(ChangeSource("late", restart="RESET"))
    assert place.run()["late"].error == ""


@pytest.mark.parametrize(
    ("named", "reason"),
    [("/elsewhere/a", "which is not below"), ("s3a://b/a", "which is not below"), ("a/../b", "'..'"), ("12", "'12'"), ("a/records", "'records'")],
)  # fmt: skip
def test_a_folder_of_checkpoints_that_is_not_the_runners_is_refused(place: Place, named: str, reason: str) -> None:
    place.metastore.run(FLIGHTS)
    place.insert("flights", ROWS)
    place.create("late", "STREAM", BODY, "flights", properties=(("CHECKPOINT_ROOT", named),))
    error = place.run()["late"].error
    assert reason in error
    assert f"name a folder below {Path(place.root)}" in error


def test_a_first_start_that_was_killed_while_it_wrote_its_offsets_is_done_again(place: Place) -> None:
    place.metastore.run(FLIGHTS)
    place.insert("flights", ROWS)
    place.create("counts", "TABLE", "SELECT delay, count(*) AS n FROM STREAM flights GROUP BY delay", "flights")
    query = place.registry.ask(DescribeSource("counts")).answer.source.query
    assert query is not None
    offsets = place.root / "_checkpoints" / str(query.began) / str(query.began) / "offsets"
    offsets.mkdir(parents=True)
    (offsets / ".0.a-name.tmp").write_text("v1\n{")
    report = place.run("counts")["counts"]
    assert (report.error, report.written > 0) == ("", True)
