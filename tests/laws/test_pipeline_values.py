"""What a pipeline decides without its rows: limits, sums, options of its source, columns that it needs, tables beside its own. No Spark runs here."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.spark_columns import read_columns
from treaty.assemble import connect
from treaty.core.schema import Draft
from treaty.plan.decode_plans import make_plan
from treaty.spark import BatchReport, FilesSource, KafkaSource, LakeTable, Pipeline, StreamTrigger
from treaty.spark.keyed.options import DEBEZIUM, DebeziumEnvelope, KeyedTableOptions
from treaty.spark.keyed.rows import select_docs
from treaty.spark.keyed.upsert import KeyedMerge, tombstone_table
from treaty.spark.lake.detection import detect_format, find_frame_column
from treaty.spark.lake.local_files import NeedsSparkError, find_local_folder, list_parquet_files
from treaty.spark.pipelines.batch import find_columns_ahead
from treaty.spark.pipelines.batch_history import BatchHistory, list_counts
from treaty.spark.pipelines.plan_store import FIRST, LATE, parse_plans
from treaty.spark.pipelines.replay import result_table
from treaty.spark.pipelines.route import TopicRoute, make_route
from treaty.spark.pipelines.rows import BAD_COLUMNS, list_source_columns, refuse_kept
from treaty.spark.pipelines.source import TOPIC_COLUMNS, SourceError, _kafka_options, read_client_settings
from treaty.spark.pipelines.source_check import list_missing_columns, refuse_missing_columns
from treaty.spark.pipelines.trigger import make_trigger_options
from treaty.spark.pipelines.value import PipelineError

NONE: Any = None
PIPELINE = Pipeline("s", "lake/good", "lake/bad", "c")


# ------------------------------------------------------------------------------------------------------- counts and limits


def test_totals_are_those_of_all_batches_and_one_that_runs_again_counts_once() -> None:
    history = BatchHistory(NONE, "c")
    batches = [
        {"a": {(1, ""): 2}},
        {"b": {(2, ""): 3, (-1, "TOO_SHORT"): 1}},
        {"a": {(1, ""): 4, (1, "TRAILING"): 5}},
        {},
    ]
    for number, rows in enumerate(batches):
        for _ in range(2):
            total = history.sum_until(number, rows)
            history.reports[number] = BatchReport(number, 1.0, 2.0, rows, total)
    expected = {"a": {(1, ""): 6, (1, "TRAILING"): 5}, "b": {(-1, "TOO_SHORT"): 1, (2, ""): 3}}
    assert total == expected
    assert history.last is history.reports[3]
    assert history.sum_until(1, batches[1]) == {"a": {(1, ""): 2}, "b": {(-1, "TOO_SHORT"): 1, (2, ""): 3}}
    assert list_counts(expected) == [
        {"topic": "a", "id": 1, "code": "", "rows": 6}, {"topic": "a", "id": 1, "code": "TRAILING", "rows": 5},
        {"topic": "b", "id": -1, "code": "TOO_SHORT", "rows": 1}, {"topic": "b", "id": 2, "code": "", "rows": 3},
    ]  # fmt: skip
    assert BatchHistory(NONE, "c").last is None


def test_stored_plans_come_back_by_topic_and_batch() -> None:
    with connect("memory:") as registry:
        registry.register("s", Draft('"int"'))
        plan = make_plan(registry, "s")
    text = plan.to_json()
    stored = parse_plans([
        {"batch": 1, "part": FIRST, "plan": text, "topic": None}, {"batch": 1, "part": LATE, "plan": "", "topic": "a"},
        {"batch": 2, "part": LATE, "plan": text, "topic": "a"}, {"batch": 3, "part": LATE, "plan": "", "topic": ""},
        {"batch": 4, "part": FIRST, "plan": text},
    ])  # fmt: skip
    assert stored.plans == {("", 1, FIRST): plan, ("a", 2, LATE): plan, ("", 4, FIRST): plan}
    assert stored.settled == {("a", 1), ("", 3)}


# ------------------------------------------------------------------------------------------------------------------ sources


def test_each_member_of_a_source_is_an_option_of_spark(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("! a comment\n\n # no comment of Java's\na.b = of the file = 7\nc=1\n", "utf-8")
    usual = {"failOnDataLoss": "true", "includeHeaders": "false"}
    assert _kafka_options(KafkaSource("h:1", ("a", "b"))) == {
        "kafka.bootstrap.servers": "h:1", "subscribe": "a,b", **usual
    }  # fmt: skip
    told = KafkaSource(
        "h:1", pattern="a.*", settings=(("c", "2"), ("bootstrap.servers", "other")), file=str(file), most=5,
        min_partitions=3, headers=True, lossy=True,
    )  # fmt: skip
    assert _kafka_options(told) == {
        "kafka.a.b": "of the file = 7", "kafka.c": "2", "kafka.bootstrap.servers": "h:1", "subscribePattern": "a.*",
        "failOnDataLoss": "false", "includeHeaders": "true", "maxOffsetsPerTrigger": "5", "minPartitions": "3",
    }  # fmt: skip
    many = KafkaSource("h:1", ("a",), settings=(("x", "${A}-${B_2}"), ("y", "$A {A}")))
    assert read_client_settings(many, {"A": "1", "B_2": "2"}) == {"x": "1-2", "y": "$A {A}"}
    with pytest.raises(SourceError, match="names the variable B_2, which is not set"):
        read_client_settings(many, {"A": "1"})
    assert [KafkaSource("h:1", topics).many for topics in (("a",), ("a", "b"))] == [False, True]
    assert KafkaSource("h:1", pattern="a").many


def test_each_trigger_is_one_of_spark() -> None:
    options = [make_trigger_options(StreamTrigger(kind, "3 minutes")) for kind in ("available", "once", "every")]
    assert options == [{"availableNow": True}, {"once": True}, {"processingTime": "3 minutes"}]


def test_columns_are_missing_by_the_rule_of_the_session_about_case() -> None:
    columns = read_columns("a INT, value BINARY, Key BINARY")
    for case_sensitive, missing in ((False, ["z"]), (True, ["A", "z"])):
        assert list_missing_columns(columns, ["A", "value", "z", "a"], case_sensitive=case_sensitive) == missing
    frames, bare, headed = (read_columns(ddl) for ddl in ("a INT, b BINARY", "a INT, n INT", "VALUE BINARY"))
    keyed = replace(
        PIPELINE, framing="header", keyed=KeyedTableOptions(subject="k", order=("offset",)), keep=("a", "a")
    )
    for pipeline, source, told in (
        (PIPELINE, frames, 'no column value, which holds the frames; column = "b" names it'),
        (replace(PIPELINE, part="key"), headed, 'no column key, which holds the frames; column = "VALUE" names it'),
        (PIPELINE, bare, "which holds the frames; none is BINARY: there are a, n"),
        (keyed, headed, "no column a, headers, offset, key, which `keep` or `keyed` names; there are VALUE"),
    ):
        with pytest.raises(ValueError, match=told):
            refuse_missing_columns(pipeline, source, case_sensitive=False)
    refuse_missing_columns(PIPELINE, read_columns("Value BINARY"), case_sensitive=False)
    with pytest.raises(ValueError, match='column = "Value" names it'):
        refuse_missing_columns(PIPELINE, read_columns("Value BINARY"), case_sensitive=True)


def test_a_pipeline_reads_the_columns_that_it_needs_and_keeps_none_of_its_own_names() -> None:
    keyed = KeyedTableOptions(("id",), subject="k", column="k2", order=("partition", "offset"))
    assert keyed.sources == ("partition", "offset", "k2")
    assert replace(keyed, subject="").sources == ("partition", "offset")
    pipeline = replace(PIPELINE, keep=("offset", "x"), keyed=keyed, framing="header")
    assert list_source_columns(pipeline) == ("value", "offset", "x", "headers", "partition", "k2")
    assert list_source_columns(replace(PIPELINE, column="v", keep=("v",))) == ("v",)
    named = replace(PIPELINE, with_id="id", with_version="v")
    refuse_kept(replace(named, keep=("a", "a", "value")))
    for name in ("ID", "v", *BAD_COLUMNS):
        with pytest.raises(PipelineError, match="two columns of a table would be called"):
            refuse_kept(replace(named, keep=("a", name)))
    assert {"key", "headers", "topic", "offset"} < {*TOPIC_COLUMNS}


# ------------------------------------------------------------------------------------------------------------------- routes


def test_a_route_is_one_of_many_where_its_source_has_several_topics() -> None:
    several, one = KafkaSource("h:1", ("a", "b")), KafkaSource("h:1", ("a",))
    pipeline = Pipeline("", "x/{topic}/{topic}", LakeTable("y/{topic}", "iceberg", ("p",)), "c", source=several)
    assert make_route(pipeline, "a").is_one_of_many
    assert make_route(replace(pipeline, source=KafkaSource("h:1", pattern="a")), "a").is_one_of_many
    assert not make_route(replace(pipeline, source=one), "a").is_one_of_many
    assert not TopicRoute(replace(pipeline, subject="s")).is_one_of_many
    assert not TopicRoute(replace(PIPELINE, source=FilesSource("in"))).is_one_of_many
    routed = make_route(pipeline, "a").pipeline
    assert (routed.good, routed.bad) == (LakeTable("x/a/a"), LakeTable("y/a", "iceberg", ("p",)))


@pytest.mark.parametrize(
    ("make", "path", "name"), [(tombstone_table, "-deleted", "_deleted"), (result_table, "-replays", "_replays")]
)
def test_a_table_beside_another_one_has_its_format_and_a_place_like_it(make: Any, path: str, name: str) -> None:
    for format_ in ("delta", "iceberg"):
        for place in ("/lake/t", "/lake/t/", "s3://b/t//"):
            assert make(LakeTable(place, format_, ("d",))) == LakeTable(place.rstrip("/") + path, format_)
        assert make(LakeTable("shop.t", format_)) == LakeTable(f"shop.t{name}", format_)


# ------------------------------------------------------------------------------------------------------------- keyed tables


def test_a_key_of_several_columns_is_compared_whole_and_changes_by_version_first() -> None:
    keyed = KeyedTableOptions(("id", "a`b"), version="at.rev", order=("partition", "offset"))
    merge = KeyedMerge(LakeTable("/t"), keyed, keyed.key)
    assert merge.at == ("_version", "partition", "offset")
    assert replace(merge, keyed=replace(keyed, version="")).at == ("partition", "offset")
    assert merge.print_key_match("t", "s") == "t.`id` = s.`id` AND t.`a``b` = s.`a``b`"
    assert merge.place("s") == "struct(s.`_version`, s.`partition`, s.`offset`)"
    assert merge.place("t", ("x",)) == "struct(t.`x`)"


def test_what_a_schema_says_of_a_row_in_an_envelope_is_said_of_the_tables_columns() -> None:
    inner = '{"type": "record", "name": "R", "fields": [{"name": "id", "type": "int", "doc": "whose"}, {"name": "at", "type": {"type": "record", "name": "P", "fields": [{"name": "x", "type": "int", "doc": "east"}]}}]}'
    text = f'{{"type": "record", "name": "E", "fields": [{{"name": "before", "type": ["null", {inner}], "doc": "old"}}, {{"name": "after", "type": ["null", "R"], "doc": "new"}}]}}'
    with connect("memory:") as registry:
        registry.register("s", Draft(text))
        plan = make_plan(registry, "s")
    assert select_docs(plan, None) == plan.docs != ()
    assert dict(select_docs(plan, DEBEZIUM)) == {("id",): "whose", ("at", "x"): "east"}
    assert select_docs(plan, DebeziumEnvelope(after="none")) == ()


# ----------------------------------------------------------------------------------------------------- tables and their files


@pytest.mark.parametrize(
    ("have", "rows", "ahead"),
    [
        (None, "a INT, gone VOID", "a INT"), ("a INT", "a INT", None), ("a INT, b INT", "a INT", None), ("a INT", "a BIGINT", "a BIGINT"),
        ("a INT", "a INT COMMENT 'x', b INT", "a INT COMMENT 'x', b INT"), ("a BIGINT", "a INT", None), ("a INT", "b INT", "b INT"),
    ],
)  # fmt: skip
def test_a_table_grows_ahead_of_its_rows_only_where_they_need_it(
    have: str | None, rows: str, ahead: str | None
) -> None:
    columns = find_columns_ahead(None if have is None else read_columns(have), read_columns(rows))
    assert columns == (None if ahead is None else read_columns(ahead))


def test_the_format_of_a_folder_is_that_of_what_lies_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, inside in {"d": "_delta_log", "i": "metadata", "p": "_columns", "f": ""}.items():
        (tmp_path / name / inside).mkdir(parents=True)
    assert [detect_format(str(tmp_path / name)) for name in "dipf"] == ["delta", "iceberg", "parquet", "files"]
    assert [detect_format(one) for one in (str(tmp_path / "none"), "shop.orders", "s3://b/t")] == ["", "", ""]
    monkeypatch.chdir(tmp_path)
    assert [detect_format(one) for one in ("d", "./d", "f", "none")] == ["delta", "delta", "files", ""]


@pytest.mark.parametrize(
    ("ddl", "named", "column"),
    [
        ("value BINARY, payload BINARY, x BINARY", "", "value"), ("x BINARY, payload BINARY", "", "payload"), ("a INT, x BINARY", "", "x"),
        ("value STRING, payload BINARY", "", "payload"), ("value BINARY, x BINARY", "x", "x"), ("x BINARY, y BINARY", "", None),
        ("a INT", "", None), ("value BINARY, a INT", "a", None), ("value BINARY", "b", None),
    ],
)  # fmt: skip
def test_the_column_with_frames_is_the_named_one_or_the_only_one_that_it_can_be(
    ddl: str, named: str, column: str | None
) -> None:
    columns = read_columns(ddl)
    if column is None:
        with pytest.raises(
            ValueError, match=f"the column with the frames is unknown: {named or 'none is named'}; there is"
        ):
            find_frame_column(columns, named)
    else:
        assert find_frame_column(columns, named) == column


def test_files_below_a_folder_are_those_that_spark_lists(tmp_path: Path) -> None:
    kept = ["a.parquet", "_batch=1/b.parquet", "x=1/y=2/c.parquet"]
    for name in (
        *kept,
        "_a.parquet",
        ".b.parquet",
        "_temporary/c.parquet",
        ".hidden=1/d.parquet",
        "x=1/_tmp/e.parquet",
        "f.crc",
    ):
        (tmp_path / "_t" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "_t" / name).touch()
    assert list_parquet_files(tmp_path / "_t") == sorted(tmp_path / "_t" / one for one in kept)
    for place in ("/lake/t", "file:/lake/t", "file:///lake/t"):
        assert find_local_folder(place) == Path("/lake/t")
    assert find_local_folder("./t") == Path("t")
    for place, told in {
        "s3a://b/t": "not on a disk",
        "hdfs:/t": "not on a disk",
        "shop": "a name in a catalog",
    }.items():
        with pytest.raises(NeedsSparkError, match=told):
            find_local_folder(place)
