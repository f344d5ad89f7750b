"""Self-describing events on Spark: every bad event with its reason, no good one lost, and nobody asked but once."""

import json
from collections import Counter
from functools import reduce
from operator import add
from random import Random

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.self_describing import DAMAGE, SCHEMAS, expect, make_events, make_resolver, part, registry, uri
from treaty.client.iglu import REMOTE, SchemaDocument, memory_registry, repo_failure
from treaty.client.iglu.registries import LocalSource, RegistryAnswer, RegistryQuestion
from treaty.plan.errors import PlanError
from treaty.spark.iglu import FAILURES, shred, to_snowplow_bad_rows, validate_self_describing

pytestmark = pytest.mark.jvm


def check_events(spark: SparkSession, seed: int, count: int, plain: int) -> None:
    """Validate events on Spark; the first `plain` ones are judged by a plain pass besides."""
    events = make_events(seed, count)
    texts = pa.table({"number": list(range(count)), "value": [text for text, _ in events]})
    frame = spark.createDataFrame(texts).repartition(4)
    with make_resolver() as resolver:
        checked = validate_self_describing(frame, resolver)
        rows = checked.rows.cache()
        good = {row["number"]: row["value"] for row in rows.filter(rows[FAILURES].isNull()).toLocalIterator()}
        assert good == {place: text for place, (text, damage) in enumerate(events) if not damage}
        bad = {
            row["number"]: [(one["code"], one["keyword"] or "") for one in row[FAILURES]]
            for row in rows.filter(rows[FAILURES].isNotNull()).select("number", FAILURES).toLocalIterator()
        }
        assert bad == {place: [DAMAGE[damage]] for place, (_, damage) in enumerate(events) if damage}
        rows.unpersist()
        for place in range(min(plain, count)):
            assert bad.get(place, []) == expect(resolver, events[place][0])
    kinds = Counter(damage for _, damage in events)
    print(f"{count} events: {kinds.pop('')} good, bad ones {dict(kinds)}")


def test_every_bad_event_has_its_reason_and_no_good_one_is_lost(spark: SparkSession) -> None:
    check_events(spark, 1, 5_000, 1_000)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_million_events(spark: SparkSession) -> None:
    check_events(spark, 2, 1_000_000, 1_000_000)


def test_the_driver_asks_once_for_each_schema_and_workers_ask_nobody(spark: SparkSession) -> None:
    """A function that counts can't be sent to a worker unnoticed: it would count there, in another process."""
    asked: Counter[str] = Counter()
    source = registry().source
    assert isinstance(source, LocalSource)

    def count(question: RegistryQuestion) -> RegistryAnswer:
        asked[str(question)] += 1
        return source.ask(question)

    chance = Random(3)
    frame = spark.createDataFrame([(json.dumps(part(chance)),) for _ in range(2_000)], "value STRING").repartition(3)
    with make_resolver(memory_registry("counting", count, priority=-1)) as resolver:
        checked = validate_self_describing(frame, resolver)
        assert checked.good.count() == checked.rows.count() == 2_000
        again = validate_self_describing(frame, resolver, schemas=checked.schemas)
        assert again.bad.count() + again.unresolved.count() == 0
    assert len(checked.schemas.versions) == SCHEMAS
    assert set(asked.values()) <= {1}


def test_events_of_a_registry_that_cannot_answer_are_unresolved_and_come_again(spark: SparkSession) -> None:
    late, answers = "iglu:com.late/event/jsonschema/1-0-0", [False]

    def answer(question: RegistryQuestion) -> RegistryAnswer:
        return SchemaDocument({"type": "object", "required": ["id"]}) if answers[0] else repo_failure("restarting")

    values = [{"schema": late, "data": {"id": 1}}, {"schema": late, "data": {}}, {"schema": uri(1), "data": {}}]
    frame = spark.createDataFrame([(json.dumps(one),) for one in values], "value STRING")
    with make_resolver(memory_registry("late", answer, class_priority=REMOTE)) as resolver:
        first = validate_self_describing(frame, resolver)
        assert [first.good.count(), first.bad.count(), first.unresolved.count()] == [0, 1, 2]
        answers[0] = True
        second = validate_self_describing(first.unresolved.drop(FAILURES), resolver, schemas=first.schemas, patience=10)
        assert [second.good.count(), second.bad.count(), second.unresolved.count()] == [1, 1, 0]


def test_bad_events_become_rows_of_snowplow_and_columns_are_named(spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        [(1, json.dumps({"schema": uri(1), "data": {}}), b"[1]")], "n INT, first STRING, second BINARY"
    )
    with make_resolver() as resolver:
        checked = validate_self_describing(frame, resolver, columns=("first", "second"))
        (row,) = to_snowplow_bad_rows(checked.bad).collect()
        data = json.loads(row["value"])["data"]
        assert data["failure"]["messages"][0]["schemaKey"] == uri(1)
        assert [parameter["name"] for parameter in data["payload"]["raw"]["parameters"]] == ["first", "second"]
        with pytest.raises(PlanError, match="no column 'third'; there are n, first, second"):
            to_snowplow_bad_rows(checked.bad, columns="third")
        forgotten = spark.createDataFrame([], "first STRING, failures ARRAY<STRUCT<code: STRING>>")
        with pytest.raises(PlanError, match=r"does not say which columns were validated.*columns=\('value',\)"):
            to_snowplow_bad_rows(forgotten)
        with pytest.raises(PlanError, match="no column 'failures'"):
            to_snowplow_bad_rows(checked.good)
        with pytest.raises(PlanError, match="no column 'none'; there are n, first, second"):
            validate_self_describing(frame, resolver, columns="none")
        with pytest.raises(PlanError, match="the column 'n' is int"):
            validate_self_describing(frame, resolver, columns="n")


def test_good_events_are_shredded_into_columns_and_tables(spark: SparkSession) -> None:
    events = make_events(4, 1_000, 0.05)
    frame = spark.createDataFrame([(place, text) for place, (text, _) in enumerate(events)], "number INT, value STRING")
    with make_resolver() as resolver:
        parts = shred(validate_self_describing(frame, resolver), resolver)
    rows = {row["number"]: row.asDict(recursive=True) for row in parts.good.collect()}
    assert sorted(rows) == [place for place, (_, damage) in enumerate(events) if not damage]
    for place, row in rows.items():
        wanted: dict[str, list[object]] = {}
        for one in json.loads(events[place][0])["data"]:
            wanted.setdefault(f"{one['schema'].split('/')[1]}_1", []).append(
                {"_schema_version": "1-0-0", **one["data"]}
            )
        found = {
            name.removeprefix("com_acme_shop_"): value
            for name, value in row.items()
            if name.startswith("com") and value
        }
        assert found == wanted
    assert parts.bad.count() == 0
    table = parts.table("com_acme_shop_event_07_1", keep=("number",))
    assert table.columns == ["number", "_schema_version", "id", "count", "price", "kind", "tags"]
    assert table.count() == sum(len(row["com_acme_shop_event_07_1"] or ()) for row in rows.values())


@pytest.mark.parametrize("columns", [("value", "contexts"), ("contexts", "a b"), ("contexts",)])
def test_parts_of_all_validated_columns_are_shredded(spark: SparkSession, columns: tuple[str, ...]) -> None:
    """`value` is a column of the frame in each case: where it was not validated it is no event, and no part is taken of it."""
    chance, names = Random(6), ("value", "contexts", "a b")
    events = [{name: part(chance) for name in names} for _ in range(300)]
    for place in range(0, 300, 7):
        del events[place][columns[place % len(columns)]]["data"]["id"]
    rows = [(place, *(json.dumps(event[name]) for name in names)) for place, event in enumerate(events)]
    frame = spark.createDataFrame(rows, "n INT, value STRING, contexts STRING, `a b` STRING")
    expected = Counter(
        (number, name, event[name]["data"]["id"])
        for number, event in enumerate(events)
        for name in columns
        if number % 7
    )
    with make_resolver() as resolver:
        validated = validate_self_describing(frame, resolver, columns=columns)
        shredded = shred(validated, resolver)
        models = [column.name for column in shredded.plan.columns]
        ids = Counter(
            (row["n"], one["id"]) for row in shredded.good.collect() for name in models for one in row[name] or ()
        )
        assert ids == Counter((number, identifier) for number, _, identifier in expected.elements())
        texts = [
            json.loads(row["value"])["data"]["payload"]["raw"] for row in to_snowplow_bad_rows(validated.bad).collect()
        ]
        assert len(texts) == len(range(0, 300, 7))
        assert {tuple(parameter["name"] for parameter in text["parameters"]) for text in texts} == {columns}
        with pytest.raises(PlanError, match="the column 'n' was not validated"):
            shred(validated, resolver, columns=("n",))
        alone = shred(validated, resolver, columns=columns[-1])
        sizes = [F.coalesce(F.size(F.col(column.name)), F.lit(0)) for column in alone.plan.columns]
        assert alone.good.agg(F.sum(reduce(add, sizes))).first() == (300 - len(range(0, 300, 7)),)
