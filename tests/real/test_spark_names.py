"""Names that differ in case alone on Spark: right rows or a `PlanError`, in all shapes, and the same table whenever its versions came."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.frames import frame, header, record
from tests.real.pipeline_files import Lines, ended
from treaty.arrow import decode as decode_to_arrow
from treaty.client.connection import Connection
from treaty.core.schema import Draft
from treaty.plan.errors import PlanError
from treaty.plan.strictness import find_case_twins
from treaty.plan.value import DecodePlan
from treaty.spark import Names, decode, explain, make_plan
from treaty.spark.functions import from_avro
from treaty.spark.lake import tables
from treaty.spark.lake.table import FORMATS

pytestmark = pytest.mark.jvm

SENSITIVE = "spark.sql.caseSensitive"
TWINS = {"type": "record", "name": "S", "fields": [{"name": "Id", "type": "int"}, {"name": "id", "type": "string"}]}
OTHER = {"type": "record", "name": "O", "fields": [{"name": "x", "type": "int"}]}
VALUE = {"Id": 1, "id": "a"}
PLACES: dict[str, tuple[Any, Any]] = {
    "record": (TWINS, VALUE),
    "nullable": (["null", TWINS], None),
    "list": ({"type": "array", "items": TWINS}, [VALUE]),
    "map": ({"type": "map", "values": {"type": "array", "items": TWINS}}, {"k": [VALUE]}),
    "member": ([OTHER, TWINS], VALUE),
}
"""Where the names stand in a field: its type, and a value."""


def put(registry: Connection, subject: str, *texts: str, format_: str = "AVRO") -> list[int]:
    return [registry.register(subject, Draft(one, format_)).version.schema_id for one in texts]


@pytest.fixture
def case_sensitive(spark: SparkSession) -> Iterator[Callable[[bool], None]]:
    """Sets whether names that differ in case alone are two to the session."""
    yield lambda wanted: spark.conf.set(SENSITIVE, str(wanted).lower())
    spark.conf.unset(SENSITIVE)


def make_plans(registry: Connection) -> list[tuple[DecodePlan, list[bytes]]]:
    """Plans whose columns have such names, by every reader and in every place, with frames of all their versions."""
    made = []
    for at, (type_, value) in enumerate(PLACES.values()):
        text = record(("n", "int"), ("f", type_))
        (number,) = put(registry, f"p{at}-value", text)
        frames = [frame(number, text, {"n": one, "f": value}) for one in range(2)]
        made += [(make_plan(registry, f"p{at}-value", reader=reader), frames) for reader in ("latest", "union", 1)]
    old, new = (
        record(("s", {"type": "record", "name": "S", "fields": [{"name": name, "type": "int", "default": 0}]}))
        for name in ("userId", "userID")
    )
    ids = put(registry, "two-value", old, new)
    frames = [frame(ids[0], old, {"s": {"userId": 1}}), frame(ids[1], new, {"s": {"userID": 2}})]
    made.append((make_plan(registry, "two-value", reader="union"), frames))
    top = record(("Id", "int"), ("id", "string"))
    (number,) = put(registry, "top-value", top)
    made.append((make_plan(registry, "top-value"), [frame(number, top, VALUE)]))
    document = json.dumps(
        {
            "type": "object",
            "properties": {
                "s": {"type": "object", "properties": {"Id": {"type": "integer"}, "id": {"type": "string"}}},
                "S": {"type": "integer"},
            },
        }
    )
    (number,) = put(registry, "j-value", document, format_="JSON")
    frames = [
        header(number) + b'{"s":{"id":"a","Id":1},"S":7}',
        header(number) + b'{"S":1.0}',
        header(number) + b'{"s":{"Id":"a"}}',
    ]
    made += [(make_plan(registry, "j-value", engine=engine), frames) for engine in ("arrow", "spark")]
    proto = 'syntax = "proto3"; message T { S s = 1; int32 Mm = 2; int32 mm = 3; } message S { int32 Id = 1; string id = 2; }'
    (number,) = put(registry, "b-value", proto, format_="PROTOBUF")
    made.append((make_plan(registry, "b-value"), [header(number) + b"\0\x0a\x05\x08\x01\x12\x01a\x10\x07\x18\x08"]))
    return made


@pytest.mark.parametrize("sensitive", [False, True])
def test_rows_are_those_of_arrow_whether_the_session_tells_case_or_not(
    spark: SparkSession, registry: Connection, case_sensitive: Callable[[bool], None], *, sensitive: bool
) -> None:
    case_sensitive(sensitive)
    plans = make_plans(registry)
    most = max(len(frames) for _, frames in plans)
    columns = [[*frames, *[None] * (most - len(frames))] for _, frames in plans]
    kinds = ", ".join(("at INT", *(f"v{at} BINARY" for at in range(len(plans)))))
    source = spark.createDataFrame([(at, *row) for at, row in enumerate(zip(*columns, strict=True))], kinds)
    for at, (plan, _) in enumerate(plans):
        assert find_case_twins(plan.engine_type)
        source = decode(source, plan, column=f"v{at}", names=Names(f"r{at}", f"e{at}"))
    found = sorted(source.toArrow().to_pylist(), key=lambda row: int(row["at"]))
    for at, (plan, _) in enumerate(plans):
        expected = decode_to_arrow(pa.array(columns[at], pa.binary()), plan).to_pylist()
        assert [(row[f"r{at}"], row[f"e{at}"]) for row in found] == [
            (row["record"], row["error"]) for row in expected
        ], at
    assert ("read by" in explain(plans[0][0], spark)) != sensitive


def test_what_cannot_be_read_is_refused_before_a_row(
    spark: SparkSession, registry: Connection, case_sensitive: Callable[[bool], None]
) -> None:
    put(registry, "s-value", record(("s", TWINS)))
    put(registry, "top-value", record(("Id", "int"), ("id", "string")))
    frames = spark.createDataFrame([(b"",)], "value BINARY")
    nested, top = make_plan(registry, "s-value"), make_plan(registry, "top-value")
    wide = make_plan(registry, "s-value", reader="wide")
    refused: dict[str, Callable[[], DataFrame]] = {
        "s.Id and s.id": lambda: decode(frames, nested, analyze=False),
        "Id and id": lambda: decode(frames, top, analyze=False),
        "called id": lambda: decode(frames, top, flatten=True),
        "be called id": lambda: decode(frames, top, flatten=True, analyze=False),
        "s.Id and s.id d": lambda: frames.select(from_avro("value", subject="s-value", registry=registry)),
        "read with reader = 'types'": lambda: decode(frames, wide),
    }
    for words, ask in refused.items():
        with pytest.raises(PlanError, match=words):
            ask()
    case_sensitive(True)
    for ask in refused.values():
        assert ask().schema


@pytest.mark.parametrize("format_", FORMATS)
def test_a_new_table_is_the_one_that_was_filled_while_the_versions_came(
    spark: SparkSession, registry: Connection, tmp_path: Path, format_: str
) -> None:
    """Nested and topmost names; rows of the version that has no part in the table are bad, with the reason."""
    kept = record(
        ("name", "string"),
        ("s", {"type": "record", "name": "S", "fields": [{"name": "n", "type": "int", "default": 0}]}),
    )
    lost = record(
        ("name", "string"),
        ("s", {"type": "record", "name": "S", "fields": [{"name": "N", "type": "int", "default": 0}]}),
    )
    last = record(("name", "string"), ("Name", "string", ""), ("s", {"type": "record", "name": "S", "fields": []}))
    messages = {}
    for way in ("grown", "new"):
        (tmp_path / way).mkdir()
        lines, ids = Lines(spark, tmp_path / way, format_), list[int]()
        for text, value, code in (
            (kept, {"name": "a", "s": {"n": 1}}, ""),
            (lost, {"name": "b", "s": {"N": 2}}, "RESOLUTION"),
            (last, {"name": "c", "Name": "d", "s": {}}, "RESOLUTION"),
        ):
            ids += put(registry, "orders-value", text)
            lines.write((frame(ids[-1], text, value), code))
            if way == "grown":
                ended(lines.pipeline, registry, spark)
        ended(lines.pipeline, registry, spark)
        messages[way] = lines.check()
        columns = tables.read(spark, lines.pipeline.good_table).drop("offset").dtypes
        assert columns == [("name", "string"), ("s", "struct<n:int>")]
        assert "s.n and s.N differ in nothing but upper and lower case" in messages[way][1]
        assert "name and Name differ in nothing but upper and lower case" in messages[way][2]
    assert messages["grown"] == messages["new"]
