"""Tables with one row per key: what a model says after every crash, late rows, deletes that stay, Debezium's envelopes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from tests.frames import frame, record
from tests.real.arriving import arrive
from tests.shares import REST
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.spark import DEBEZIUM, BatchEvent, KeyedTableOptions, LakeTable, Pipeline, start
from treaty.spark.keyed import upsert
from treaty.spark.keyed.upsert import KeyedMerge, NoMergeError, merge_changes, tombstone_table
from treaty.spark.lake import tables
from treaty.spark.lake.table import WriteId

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

KEY = record(("id", "int"), name="Key")
V1 = record({"name": "name", "type": "string", "doc": "what it is called"}, ("rev", ["null", "int"], None))
V2 = record(("name", "string"), ("rev", ["null", "long"], None), ("note", ["null", "string"], None))
SHOP = {"name": "shop", "type": ["null", "string"], "default": None}
ROW = {
    "type": "record",
    "name": "Row",
    "fields": [SHOP, {"name": "id", "type": "int"}, {"name": "name", "type": "string"}],
}
EVENT = record(
    ("before", ["null", ROW], None), ("after", ["null", "shop.Row"], None), ("op", "string"), ("ts_ms", "long"),
    name="Envelope",
)  # fmt: skip


def put(registry: Connection, text: str, subject: str) -> int:
    return registry.ask(Register(subject_of(subject), Draft(text))).answer.version.schema_id


class CrashError(Exception):
    """The driver is gone."""


class Source:
    """Files of keys, values and offsets; every file is a batch."""

    def __init__(self, root: Path) -> None:
        self.root, self.files, self.offset = root / "in", 0, 0
        self.root.mkdir()

    def write(self, rows: list[tuple[bytes | None, bytes | None]]) -> None:
        offsets = range(self.offset, self.offset + len(rows))
        self.offset += len(rows)
        columns = {
            "offset": pa.array(offsets, pa.int64()),
            "key": pa.array([key for key, _ in rows], pa.binary()),
            "value": pa.array([value for _, value in rows], pa.binary()),
        }
        arrive(self.root, self.files, columns)
        self.files += 1

    def run(self, spark: SparkSession, pipeline: Pipeline, registry: Connection, watch: Any = lambda _: None) -> None:
        stream = spark.readStream.schema("offset BIGINT, key BINARY, value BINARY").option("maxFilesPerTrigger", 1)
        query = start(pipeline, stream.parquet(str(self.root)), registry, on_event=watch, available=True)
        try:
            query.awaitTermination()
        finally:
            query.stop()


def pipeline(root: Path, format_: str, keyed: KeyedTableOptions) -> Pipeline:
    good, bad = (LakeTable(str(root / name), format_) for name in ("good", "bad"))
    return Pipeline("orders-value", good, bad, str(root / "checkpoint"), keyed=keyed)


CHANGES = "id INT, offset BIGINT, name STRING, rev INT, _version INT, _deleted BOOLEAN, _emptied BOOLEAN"
Change = tuple[int, int, str | None, int | None]


@pytest.mark.parametrize("cut_off", [(1,), pytest.param((0, 1, 2), marks=REST)], ids=str)
@pytest.mark.parametrize("format_", ["delta", pytest.param("iceberg", marks=REST)])
def test_a_batch_that_is_cut_short_or_comes_late_leaves_the_greatest_change_of_each_key(
    format_: str, cut_off: tuple[int, ...], spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[list[Change]] = [  # key, offset, name (None deletes), version
        [(1, 0, "a", 1), (2, 1, "b", 5), (1, 2, "a2", 3), (1, 3, "late in the batch", 2), (3, 4, "c", 1), (4, 5, "d", 1),
         (4, 6, None, None), (5, 7, "e", 1), (6, 8, "f", 9), (8, 9, None, None)],
        [(2, 13, "late", 4), (3, 14, None, None), (4, 15, "late after its delete", 0), (5, 16, "e2", 2**30),
         (6, 17, "without a version", None), (8, 18, "h", 1)],
        [(3, 19, "late after its delete", 0), (4, 20, "again", 2), (5, 21, None, None)],
    ]  # fmt: skip
    table = LakeTable(str(tmp_path / "keyed"), format_)
    into = KeyedMerge(table, KeyedTableOptions(("id",), version="rev"), ("id",))
    whole = upsert._write_rows

    def cut(*_: Any) -> None:
        raise CrashError

    def run(number: int) -> None:
        rows = [(*one, one[3], one[2] is None, False) for one in batches[number]]
        merge_changes(spark.createDataFrame(rows, CHANGES).repartition(3), into, WriteId("writer", number))

    for number in range(3):
        if number in cut_off:
            monkeypatch.setattr(upsert, "_write_rows", cut)  # what was deleted is remembered, the table is as it was
            with pytest.raises(CrashError):
                run(number)
        monkeypatch.setattr(upsert, "_write_rows", whole)
        run(number)
    into = replace(into, table=replace(table, place=f"{table.folder}/"))
    merge_changes(  # all of it again, as one batch of another writer
        spark.createDataFrame([(*one, one[3], one[2] is None, False) for batch in batches for one in batch], CHANGES),
        into,
        WriteId("other", 0),
    )
    rows = tables.read(spark, table).select("id", "name", "rev", "_version", "offset").orderBy("id").collect()
    assert [tuple(row) for row in rows] == [
        (1, "a2", 3, 3, 2), (2, "b", 5, 5, 1), (4, "again", 2, 2, 20), (6, "without a version", None, 9, 17),
        (8, "h", 1, 1, 18),
    ]  # fmt: skip
    dead = {row["id"]: (row["_version"], row["offset"]) for row in tables.read(spark, tombstone_table(table)).collect()}
    assert dead == {3: (1, 14), 4: (1, 6), 5: (2**30, 21), 8: (None, 9)}


def test_a_stream_with_keys_of_their_own_is_exact_through_crashes(
    spark: SparkSession, registry: Connection, tmp_path: Path
) -> None:
    key, one = put(registry, KEY, "orders-key"), put(registry, V1, "orders-value")
    keys = [frame(key, KEY, {"id": number}) for number in range(5)]
    source = Source(tmp_path)

    def v1(name: str) -> bytes:
        return frame(one, V1, {"name": name, "rev": 1})

    source.write([
        (keys[1], v1("a")), (keys[2], v1("b")), (keys[3], v1("c")), (None, v1("no key")), (keys[4][:-1], v1("bad key")),
        (keys[4], b"\0"), (keys[3], None),
    ])  # fmt: skip
    seen: list[tuple[int, str]] = []
    pipe = pipeline(tmp_path, "delta", KeyedTableOptions(subject="orders-key"))

    def watch(step: BatchEvent) -> None:
        seen.append((step.batch, step.name))
        if seen.count((step.batch, step.name)) > 1 or step.name == "bad":
            return
        if step.name == "planned":
            if step.batch == 1:
                put(registry, V2, "orders-value")  # once the batch has its plan, so that the plan must be extended
            else:
                two = put(registry, V2, "elsewhere-value")
                new = frame(two, V2, {"name": "new", "rev": 2**40, "note": "x"})
                source.write([(keys[1], None), (keys[2], new), (keys[4], v1("old")), (keys[4], new)])
            return
        if step.name == "done":
            return
        raise CrashError(step.name)

    for _ in range(9):
        try:
            source.run(spark, pipe, registry, watch)
            if (1, "bad") in seen:
                break
        except StreamingQueryException:
            assert seen
    assert {(0, "good"), (1, "good"), (1, "extended"), (1, "late"), (1, "bad")} <= set(seen)
    found = tables.read(spark, pipe.good_table)
    rows = found.select("id", "name", "rev", "note", "offset").orderBy("id").collect()
    assert [tuple(row) for row in rows] == [(2, "new", 2**40, "x", 8), (4, "new", 2**40, "x", 10)]
    assert found.schema["name"].metadata["comment"] == "what it is called"
    bad = {row["offset"]: (row["code"], row["message"][:4]) for row in tables.read(spark, pipe.bad_table).collect()}
    assert bad == {3: ("INVALID", "the "), 4: ("MALFORMED", "key:"), 5: ("TOO_SHORT", "fewe")}


@pytest.mark.parametrize("way", ["grown", "new"])
@pytest.mark.parametrize("format_", ["delta", "iceberg"])
def test_names_that_differ_in_case_alone_are_bad_rows_whether_the_table_is_new_or_grew(
    format_: str, way: str, spark: SparkSession, registry: Connection, tmp_path: Path
) -> None:
    inner = {"type": "record", "name": "S", "fields": [{"name": "n", "type": "int", "default": 0}]}
    first = record(("name", "string"), ("s", inner))
    nested = record(("name", "string"), ("s", {**inner, "fields": [{"name": "N", "type": "int", "default": 0}]}))
    top = record(("name", "string"), ("Name", "string", ""), ("s", inner))
    key = put(registry, KEY, "orders-key")
    source, pipe = Source(tmp_path), pipeline(tmp_path, format_, KeyedTableOptions(subject="orders-key"))
    values = ((first, {"name": "a", "s": {"n": 1}}), (nested, {"name": "b", "s": {"N": 2}}), (top, {"name": "c", "Name": "d", "s": {"n": 3}}))  # fmt: skip
    rows: list[tuple[bytes | None, bytes | None]] = []
    for number, (text, value) in enumerate(values):
        rows.append((frame(key, KEY, {"id": number}), frame(put(registry, text, "orders-value"), text, value)))
        if way == "grown":
            source.write(rows[-1:])
            source.run(spark, pipe, registry)
    if way == "new":
        source.write(rows)
        source.run(spark, pipe, registry)

    good = tables.read(spark, pipe.good_table).select("id", "name", "s").collect()
    assert [(row["id"], row["name"], row["s"]["n"]) for row in good] == [(0, "a", 1)]
    bad = tables.read(spark, pipe.bad_table).orderBy("offset").collect()
    assert [row["code"] for row in bad] == ["RESOLUTION", "RESOLUTION"]
    assert all("differ in nothing but upper and lower case" in row["message"] for row in bad)


def test_envelopes_of_debezium_become_the_table_that_they_come_from(
    spark: SparkSession, registry: Connection, tmp_path: Path
) -> None:
    one, source = put(registry, EVENT, "orders-value"), Source(tmp_path)

    def event(op: str, number: int, name: str = "", ts: int = 0, shop: str | None = "a") -> tuple[bytes | None, bytes]:
        row = {"shop": shop, "id": number, "name": name}
        sides = {"before": row if op == "d" else None, "after": row if op in "cru" else None}
        return None, frame(one, EVENT, {**sides, "op": op, "ts_ms": ts})

    source.write([
        event("r", 1, "old"), event("r", 2, "old"), event("t", 0), event("c", 3, "new"), event("c", 3, "of another shop", shop="b"),
        event("c", 5, "of no shop", shop=None), event("d", 9),
    ])  # fmt: skip
    source.write([
        event("c", 4, "made"), event("u", 4, "changed"), event("d", 3), (None, None), event("x", 5), event("c", 1, "again"),
        event("m", 1), event("u", 4, "late", -1), event("d", 1, ts=-1), event("c", 9, "late after its delete", -1),
    ])  # fmt: skip
    pipe = pipeline(tmp_path, "iceberg", KeyedTableOptions(("shop", "id"), version="ts_ms", envelope=DEBEZIUM))
    source.run(spark, pipe, registry)

    def read(table: LakeTable, *names: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in tables.read(spark, table).select(*names).orderBy("offset").collect()]

    names = ("shop", "id", "name", "_version", "offset")
    assert read(pipe.good_table, *names) == [
        ("b", 3, "of another shop", 0, 4), ("a", 4, "changed", 0, 8), ("a", 1, "again", 0, 12),
    ]  # fmt: skip
    graves = tombstone_table(pipe.good_table)
    assert read(graves, "shop", "id", "offset") == [(None, None, 2), ("a", 9, 6), ("a", 3, 9)]
    bad = [
        (row["offset"], row["message"][:7]) for row in tables.read(spark, pipe.bad_table).orderBy("offset").collect()
    ]
    assert bad == [(5, "the key"), (11, "the ope"), (13, "the ope")]

    source.write([event("c", 7, "before it"), event("t", 0), event("t", 0, ts=-1), event("c", 8, "behind it")])
    source.run(spark, pipe, registry)
    assert read(pipe.good_table, *names) == [("a", 8, "behind it", 0, 20)], "all was emptied once more"
    assert read(graves, "shop", "id", "offset") == [("a", 9, 6), ("a", 3, 9), (None, None, 18)]


def test_what_can_have_no_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoMergeError, match=r"is parquet: .* one of delta, iceberg"):
        pipeline(tmp_path, "parquet", KeyedTableOptions(("id",)))
    with pytest.raises(ValueError, match="there is no key"):
        KeyedTableOptions()
    with pytest.raises(ValueError, match="order names no column"):
        replace(KeyedTableOptions(("id",)), order=())
