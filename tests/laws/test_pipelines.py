"""Pipelines as values, and what is told of them: no Spark runs here."""

import random
import urllib.request
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql.types import ArrayType, IntegerType, LongType, MapType, StringType, StructField, StructType

from tests.laws.asked import planner_of
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.names import subject_of
from treaty.core.refusals import Unavailable
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Draft
from treaty.plan.decode_plans import make_plan
from treaty.plan.value import DecodePlan
from treaty.spark import (
    BatchReport,
    FilesSource,
    KafkaSource,
    LakeTable,
    Pipeline,
    PipelineError,
    PipelineMetrics,
    StreamTrigger,
    TooManyBadRowsError,
)
from treaty.spark.keyed.options import KeyedTableOptions
from treaty.spark.lake.comments import add_comments
from treaty.spark.pipelines.batch import check_limits
from treaty.spark.pipelines.batch_history import sum_topics
from treaty.spark.pipelines.counts import DELETE, NO_SCHEMA_ID, add_counts, read_counts, sum_counts
from treaty.spark.pipelines.plan_store import FIRST, LATE, PlanStore
from treaty.spark.pipelines.reports.lag import count_behind, parse_offsets
from treaty.spark.pipelines.route import list_routes, make_route
from treaty.spark.pipelines.source import SourceError, read_client_settings

TOPICS = KafkaSource("127.0.0.1:9092", ("a", "b"))


def test_a_source_is_topics_or_a_pattern_and_tells_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("# comment\nsecurity.protocol = SASL_SSL\nsasl.mechanism=PLAIN\n", "utf-8")
    settings = (("sasl.mechanism", "SCRAM-SHA-256"), ("sasl.jaas.config", "it is ${SECRET}"))
    source = KafkaSource("host:9092", ("a",), settings=settings, file=str(file))
    assert read_client_settings(source, {"SECRET": "s3cret"}) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.jaas.config": "it is s3cret",
    }
    assert "SECRET" not in repr(source)
    with pytest.raises(SourceError, match=r"'sasl\.jaas\.config' of Kafka names the variable SECRET, which is not set"):
        read_client_settings(source, {})
    with pytest.raises(SourceError, match="can't be read: No such file"):
        read_client_settings(KafkaSource("host:9092", ("a",), file=str(tmp_path / "none")), {})
    for topics, pattern in (((), ""), (("a",), "a.*")):
        with pytest.raises(SourceError, match="either topics or a pattern"):
            KafkaSource("host:9092", topics, pattern)


def test_topics_have_subjects_and_tables_of_their_own() -> None:
    pipeline = Pipeline("", "lake/{topic}", "lake/bad", "c", source=TOPICS, part="key", keep=("topic",))
    found = list_routes(pipeline)
    assert found is not None
    assert [(one.topic, one.pipeline.subject, one.pipeline.good_table.place) for one in found] == [
        ("a", "a-key", "lake/a"),
        ("b", "b-key", "lake/b"),
    ]
    assert (pipeline.frames, found[0].pipeline.bad_table, found[0].writer("q")) == ("key", LakeTable("lake/bad"), "q/a")
    by_pattern = Pipeline("", "x/{topic}", "y/{topic}", "c", source=KafkaSource("h:1", pattern="a.*"))
    assert list_routes(by_pattern) is None
    assert make_route(by_pattern, "ab").pipeline.bad_table.place == "y/ab"
    one = list_routes(Pipeline("s", "x/good", "x/bad", "c"))
    assert one is not None
    assert (one[0].topic, one[0].writer("q")) == ("", "q")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"subject": "", "source": FilesSource("in")}, "reads topics of Kafka"),
        ({"subject": "", "source": TOPICS}, "a table each"),
        ({"subject": "", "source": TOPICS, "good": "x/{topic}"}, "need 'topic' in keep"),
        ({"part": "header"}, "'header' is no part of a record"),
    ],
)
def test_what_can_not_run_is_refused(said: dict[str, object], told: str) -> None:
    with pytest.raises(PipelineError, match=told):
        Pipeline(**{"subject": "s", "good": "x/good", "bad": "x/bad", "checkpoint": "c", **said})  # type: ignore[arg-type] # by name


def test_triggers_are_of_three_kinds() -> None:
    assert [StreamTrigger(kind).bounded for kind in ("available", "once", "every")] == [True, True, False]
    with pytest.raises(ValueError, match="'never' is no trigger; there are available, once, every"):
        StreamTrigger("never")


def test_counts_are_read_from_keys_and_added() -> None:
    keys = [
        Row(item=7 * 16, count=5),
        Row(item=7 * 16 + 5, count=2),
        Row(item=-16 + 3, count=4),
        Row(item=-16 + 14, count=1),
    ]
    counts = read_counts({"rows": 12, "keys": keys})
    assert counts == {(7, ""): 5, (7, "MALFORMED"): 2, (-1, "UNKNOWN_ID"): 4, (-1, "DELETE"): 1}
    seen = sum_counts(counts)
    assert (seen.rows, seen.good, seen.bad, seen.deletes, seen.unknown) == (12, 5, 6, 1, 4)
    assert add_counts(counts, {(7, ""): 1, (-1, "UNKNOWN_ID"): -4})[7, ""] == 6
    assert (-1, "UNKNOWN_ID") not in add_counts(counts, {(-1, "UNKNOWN_ID"): -4})
    assert read_counts({"rows": 0, "keys": None}) == {}
    with pytest.raises(AssertionError):
        read_counts({"rows": 13, "keys": keys})


@cache
def number_plan(number: int) -> DecodePlan:
    """A plan that differs from those of other numbers."""
    with connect("memory:") as registry:
        registry.register("s", '"int"')
        return make_plan(registry, "s", depth=1 + number)


PLAN_KEYS = st.tuples(st.sampled_from(["", "a", "b"]), st.integers(0, 4), st.sampled_from([FIRST, LATE]))


@given(st.sets(PLAN_KEYS), PLAN_KEYS)
def test_a_batch_begins_with_the_last_plan_of_its_topic(
    keys: set[tuple[str, int, int]], asked: tuple[str, int, int]
) -> None:
    """Its own first one, else the last one of an earlier batch, also where that was extended."""
    topic, batch, part = asked
    plans = {key: number_plan(key[1] * 10 + key[2]) for key in keys}
    store = PlanStore(None, LakeTable("plans"), "w", plans, set())  # type: ignore[arg-type]  # nothing is stored here
    mine = sorted(key for key in keys if key[0] == topic)
    before = [key for key in mine if key[1] < batch or key[1:] == (batch, FIRST)]
    assert store.find_first(batch, topic) == (plans[before[-1]] if before else None)
    assert store.find_own(batch, part, topic) == plans.get(asked)


def test_a_batch_that_may_be_written_begins_with_the_plan_that_it_had() -> None:
    """The first one of a run may have been written with a plan of an earlier batch; every other one has its own, or a new one."""
    plan = number_plan(1)
    store = PlanStore(None, LakeTable("plans"), "w", {("", 0, FIRST): plan, ("", 2, LATE): plan, ("a", 1, FIRST): plan})  # type: ignore[arg-type]  # nothing is stored here
    assert [store.is_bound(batch, may_be_written=True) for batch in range(4)] == [True] * 4
    assert [store.is_bound(batch, may_be_written=False) for batch in range(4)] == [True, False, False, False]
    assert [store.is_bound(batch, "a", may_be_written=False) for batch in range(3)] == [False, True, False]


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("most", [None, 0, 1, 3])
def test_a_stream_ends_where_more_rows_are_bad_than_either_limit_says(most: int | None, share: float) -> None:
    """Of all rows, deletions among them, and of all reasons; a limit of none at all is a limit."""
    pipeline = Pipeline("s", "good", "bad", "c", most_bad=most, worst_share=share)
    for good, deletes, unknown, torn in product(range(4), (0, 2), range(3), range(3)):
        counts = {
            (1, ""): good,
            (NO_SCHEMA_ID, DELETE): deletes,
            (NO_SCHEMA_ID, "UNKNOWN_ID"): unknown,
            (2, "TRAILING"): torn,
        }
        bad, rows = unknown + torn, good + deletes + unknown + torn
        if (most is None or bad <= most) and (bad == 0 or bad / rows <= share):
            check_limits(pipeline, 7, counts)
        else:
            with pytest.raises(TooManyBadRowsError, match=f"batch 7 of s: {bad} of {rows} rows are bad"):
                check_limits(pipeline, 7, counts)


@pytest.mark.parametrize(
    ("bad", "limits", "words"),
    [
        (LakeTable("/lake/bad", "parquet", ("day",)), {"most_bad": 1}, "allowed are 1 at most; see /lake/bad"),
        ("/lake/bad", {"most_bad": 1, "worst_share": 0.125}, "allowed are 1 and 12.50% at most; see /lake/bad"),
        ("/lake/bad", {"worst_share": 0.5}, "allowed are 50.00% at most; see /lake/bad"),
    ],
    ids=["most", "both", "share"],
)
def test_the_end_of_a_stream_says_which_limits_there_are_and_where_the_rows_lie(
    bad: str | LakeTable, limits: dict[str, Any], words: str
) -> None:
    pipeline = Pipeline("s", "good", bad, "c", **limits)
    with pytest.raises(TooManyBadRowsError) as ended:
        check_limits(pipeline, 7, {(1, ""): 1, (2, "TRAILING"): 3})
    assert str(ended.value) == f"batch 7 of s: 3 of 4 rows are bad, {words}"


def test_reports_come_back_from_their_stored_form() -> None:
    dice = random.Random(3)
    for _ in range(50):
        rows = {
            f"t{at}": {(dice.randrange(-1, 9), code): dice.randrange(1, 99) for code in ("", "TRAILING")}
            for at in range(3)
        }
        report = BatchReport(dice.randrange(99), 0.5, 1.25, rows, rows)
        assert BatchReport.from_json(report.to_json()) == report
        assert sum_topics(report.rows).rows == sum(count for some in rows.values() for count in some.values())


def test_lag_counts_offsets_that_were_not_read() -> None:
    read, end = parse_offsets('{"a":{"0":5,"1":7}}'), parse_offsets({"a": {"0": 9, "1": 7, "2": 3}})
    assert (count_behind(read, end).read, count_behind(read, end).total, count_behind(read, end).lag) == (12, 19, 7)
    assert count_behind(parse_offsets({"a": {"0": 99}}), {"a": {0: 9}}).lag == 0
    for strange in ("{}", "no json", '{"logOffset": 3}', None, 7):
        assert parse_offsets(strange) == {}


def test_prometheus_is_told_rows_by_id_and_error() -> None:
    numbers = PipelineMetrics("orders", lambda: 17)
    assert b"treaty_pipeline_batches_total" in numbers.text()
    rows = {"": {(7, ""): 5, (-1, "UNKNOWN_ID"): 2}}
    numbers.add_report(BatchReport(3, 1000.0, 2.5, rows, {"": {(7, ""): 50, (-1, "UNKNOWN_ID"): 2}}))
    text = numbers.text().decode()
    for line in (
        'treaty_pipeline_rows_total{code="",pipeline="orders",schema_id="7",topic=""} 50.0',
        'treaty_pipeline_rows_total{code="UNKNOWN_ID",pipeline="orders",schema_id="",topic=""} 2.0',
        'treaty_pipeline_batches_total{pipeline="orders"} 1.0',
        'treaty_pipeline_last_batch_seconds{pipeline="orders"} 2.5',
        'treaty_pipeline_lag_records{pipeline="orders"} 17.0',
    ):
        assert line in text.splitlines()
    end, port = numbers.serve(0)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            assert answer.read() == numbers.text()
    finally:
        end()


def test_docs_of_all_versions_become_comments_at_every_depth() -> None:
    inner = '{"type": "record", "name": "Line", "fields": [{"name": "count", "type": "int", "doc": "%s"}]}'
    text = (
        '{"type": "record", "name": "Order", "fields": [{"name": "n", "type": "long", "doc": "its number"},'
        ' {"name": "lines", "type": {"type": "array", "items": %s}}, {"name": "by", "type": {"type": "map", "values": "Line"}}%s]}'
    )
    later = ', {"name": "at", "type": ["null", "long"], "default": null, "doc": "when"}'
    with connect("memory:") as registry:
        for body in (text % (inner % "how many", ""), text % (inner % "how many pieces", later)):
            registry.ask(Register(subject_of("orders-value"), Draft(body)))
        docs = make_plan(registry, "orders-value", reader="union").docs
    assert dict(docs) == {
        ("n",): "its number",
        ("lines", "[]", "count"): "how many pieces",
        ("by", "{}", "count"): "how many pieces",
        ("at",): "when",
    }
    line = StructType([StructField("count", IntegerType())])
    plain = StructType(
        [
            StructField("n", LongType()),
            StructField("lines", ArrayType(line)),
            StructField("by", MapType(StringType(), line)),
        ]
    )
    told = add_comments(plain, docs)
    assert told["n"].metadata == {"comment": "its number"}
    lines, by = told["lines"].dataType, told["by"].dataType
    assert isinstance(lines, ArrayType)
    assert isinstance(by, MapType)
    for kind in (lines.elementType, by.valueType):
        assert isinstance(kind, StructType)
        assert kind["count"].metadata == {"comment": "how many pieces"}
    assert add_comments(plain, ()).simpleString() == plain.simpleString()


A = TypeVar("A")


class _AwayAt:
    """A registry that can't be reached at one of the questions that it is asked."""

    def __init__(self, registry: Connection, away_at: int) -> None:
        self.registry, self.left = registry, away_at

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        self.left -= 1
        if self.left == -1:
            raise Unavailable("it is away", 0.0)
        return self.registry.ask(request, call)

    def close(self) -> None:
        self.registry.close()


@pytest.mark.parametrize("schema_format", ["JSON", "PROTOBUF"])
def test_what_a_registry_could_not_say_is_asked_again_at_the_next_batch(schema_format: str) -> None:
    """The registry goes away at each question of a refresh in turn. No session of Spark is asked for these formats and tables with a key."""
    texts = {
        "JSON": [
            '{"type":"object","properties":{"a":{"type":"integer"}}}',
            '{"type":"object","properties":{"b":{"type":"string"}}}',
        ],
        "PROTOBUF": [
            'syntax = "proto3"; message M { int32 a = 1; }',
            'syntax = "proto3"; message M { int32 a = 1; string b = 2; }',
        ],
    }[schema_format]
    questions, reached = 0, False
    while not reached:
        with connect("memory:") as registry:
            registry.set_level("", "NONE")
            first, second = (Draft(text, schema_format) for text in texts)
            registry.register("s", first)
            away = _AwayAt(registry, 1_000)
            pipeline = Pipeline("s", "good", "bad", "checkpoint", tries=1, keyed=KeyedTableOptions(("a",)))
            planner = planner_of(pipeline, away)
            plan = planner.plan()
            registry.register("s", second)
            away.left = questions
            refreshed = planner.refresh(plan)
            reached = away.left >= 0  # it was asked less often
            assert reached or refreshed is plan
            assert len(planner.refresh(refreshed).writers) == 2
            questions += 1
    assert questions > 2
