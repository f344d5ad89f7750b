"""Methods of Spark's generated code stay below the size that the JVM compiles: wide records, many versions, many columns."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.frames import frame, record
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.spark import Names, decode, explain, make_plan
from treaty.spark.decode import check_frames
from treaty.spark.engines import method_size
from treaty.spark.explain import make_topic_frame, measure_largest_method
from treaty.spark.jars import COMPILED_BYTES, HUGE_METHOD

pytestmark = pytest.mark.jvm

WHOLE_STAGE = "spark.sql.codegen.wholeStage"
KINDS = ("string", "long", "double")
ALL_NAMES = Names(schema_id="_id", version="_version", subject="_subject")


@pytest.fixture(autouse=True)
def whole_stage(spark: SparkSession) -> Iterator[None]:
    """Sessions of tests generate no code; here they do, as sessions of others."""
    before = {name: spark.conf.get(name, None) for name in (WHOLE_STAGE, HUGE_METHOD)}
    spark.conf.set(WHOLE_STAGE, "true")
    spark.conf.unset(HUGE_METHOD)
    yield
    for name, value in before.items():
        if value is not None:
            spark.conf.set(name, value)


def wide(width: int, *more: Any) -> str:
    """A record with so many nullable fields, and some more."""
    return record(*((f"f{at}", ["null", KINDS[at % 3]], None) for at in range(width)), *more)


def growing(width: int, versions: int) -> list[str]:
    """Versions of a record, each a nullable field wider than the one before."""
    return [wide(width - versions + at) for at in range(1, versions + 1)]


def nested(width: int) -> str:
    """A record with all fields in a record of its own, which may be null."""
    return record(("inner", ["null", json.loads(wide(width).replace('"Order"', '"Inner"'))], None))


def at_scale(unit: str, width: int) -> str:
    """A record of times in a unit, at the top and in a record that may be null."""
    time = {"type": "long", "logicalType": f"timestamp-{unit}"}
    inner = {"type": "record", "name": "Inner", "fields": [{"name": f"g{at}", "type": time} for at in range(width)]}
    return record(*((f"t{at}", time) for at in range(width)), ("inner", ["null", inner], None))


def document(width: int) -> str:
    return json.dumps({"type": "object", "properties": {f"p{at}": {"type": "string"} for at in range(width)}})


CASES: dict[str, tuple[str, Sequence[str], dict[str, Any]]] = {
    "one version": ("AVRO", growing(20, 1), {}),
    "some versions": ("AVRO", growing(40, 30), {}),
    "many versions": ("AVRO", growing(61, 50), {}),
    "as wide as whole-stage code may be": ("AVRO", growing(92, 30), {}),
    "wider than whole-stage code may be": ("AVRO", growing(101, 30), {}),
    "with a field that is never null": ("AVRO", [wide(at, ("id", "long")) for at in range(18, 48)], {}),
    "with one that is never null, and many texts": ("AVRO", [wide(at, ("id", "long")) for at in range(62, 92)], {}),
    "texts alone": ("AVRO", [record(*((f"s{at}", ["null", "string"], None) for at in range(90)))], {}),
    "texts alone, and one that is never null": (
        "AVRO",
        [
            record(("id", "string"), *((f"s{at}", ["null", "string"], None) for at in range(at_most)))
            for at_most in (88, 89)
        ],
        {},
    ),
    "in a record that may be null": ("AVRO", [nested(20), nested(85)], {}),
    "times that may not fit": (
        "AVRO",
        [
            wide(at, *((f"t{n}", {"type": "long", "logicalType": "timestamp-millis"}) for n in range(3)))
            for at in (5, 6)
        ],
        {},
    ),
    "converted times": ("AVRO", [at_scale("millis", 20), at_scale("micros", 20)], {}),
    "a choice of records": (
        "AVRO",
        [json.dumps([json.loads(wide(30).replace('"Order"', f'"{name}"')) for name in ("One", "Two")])],
        {},
    ),
    "a document": ("JSON", [document(90)], {"engine": "spark"}),
    "a document with a column for the rest": ("JSON", [document(90)], {"engine": "spark", "rest": "map"}),
    "a document by Python workers": ("JSON", [document(90)], {"engine": "arrow"}),
}


def put(registry: Connection, format_: str, texts: Sequence[str]) -> list[int]:
    drafts = [Draft(text, format_) for text in texts]
    return [registry.ask(Register(subject_of("wide-value"), one)).answer.version.schema_id for one in drafts]


@pytest.mark.parametrize("name", CASES)
def test_no_method_is_too_large_to_be_compiled(spark: SparkSession, registry: Connection, name: str) -> None:
    format_, texts, options = CASES[name]
    put(registry, format_, texts)
    plan = make_plan(registry, "wide-value", **options)
    topic = make_topic_frame(spark, plan.framing.name)
    alone = topic.select("value")
    for source, names, flat in (
        (alone, Names(), False),
        (alone, Names(), True),
        (topic, ALL_NAMES, False),
        (topic, ALL_NAMES, True),
        (topic, Names(error=""), True),
    ):
        decoded = decode(source, plan, names=names, flatten=flat)
        assert measure_largest_method(decoded) <= COMPILED_BYTES, (names, flat, source.columns)


@pytest.mark.parametrize("name", [name for name, (format_, _, _) in CASES.items() if format_ == "AVRO"])
def test_no_method_is_too_large_where_fields_alone_are_taken(
    spark: SparkSession, registry: Connection, name: str
) -> None:
    _, texts, options = CASES[name]
    put(registry, "AVRO", texts)
    plan = make_plan(registry, "wide-value", **options)
    topic = make_topic_frame(spark, plan.framing.name)
    for source in (topic.select("value"), topic):
        if (checked := check_frames(source, plan)) is None:
            assert plan.recipe.layouts or not plan.columns  # type: ignore[union-attr]  # a plan of Avro
            continue
        fields = (one.alias(field) for field, one in checked.fields.items())
        taken = checked.frame.select(*fields, checked.code.alias("code"), checked.claimed_id.alias("id"))
        assert measure_largest_method(taken) <= COMPILED_BYTES, source.columns


def test_steps_that_are_left_out_of_whole_stage_code_give_the_same_rows(
    spark: SparkSession, registry: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = growing(24, 3)
    ids = put(registry, "AVRO", texts)
    good = [frame(number, text, {"f0": "é", "f1": 7}) for number, text in zip(ids, texts, strict=True)]
    text = good[0].replace("é".encode(), b"\xc3\x28")
    bad = [b"", b"\1" + good[0][1:], b"\0\x7f" + good[0][2:], good[0][:-1], good[0] + b"\0", text, None]
    values = [*good, *bad]
    plan = make_plan(registry, "wide-value")
    source = spark.createDataFrame(list(enumerate(values)), "at INT, value BINARY").coalesce(1)
    rows = []
    for most in (0, method_size.FUSED_BYTES, 10**6):
        monkeypatch.setattr(method_size, "FUSED_BYTES", most)
        rows.append([decode(source, plan, flatten=flat).orderBy("at").collect() for flat in (False, True)])
    assert rows[0] == rows[1] == rows[2]
    codes = [row["error"] and row["error"]["code"] for row in rows[0][0]]
    assert codes == [None] * 3 + ["TOO_SHORT", "BAD_MAGIC", "UNKNOWN_ID", "MALFORMED", "TRAILING", "MALFORMED", None]
    fast = replace(plan, engine="fastavro")
    assert rows[0][0] == decode(source, fast).orderBy("at").collect()


def test_explain_says_how_large_the_largest_method_is(spark: SparkSession, registry: Connection) -> None:
    put(registry, "AVRO", growing(61, 30))
    plan = make_plan(registry, "wide-value")
    line = next(one for one in explain(plan, spark).splitlines() if "largest method" in one)
    assert line.startswith("  compiled the largest method for rows of a topic has ")
    assert line.endswith(" bytes; the JVM compiles up to 8,000")
