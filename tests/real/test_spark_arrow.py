"""Spark and Arrow read the same frames to the same rows: records, codes and sentences, of good rows and of damaged ones."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf.message_factory import GetMessageClass
from pyspark.sql import SparkSession

from tests.documents import ODD, make_frames, make_schema
from tests.frames import SPOILT, frame, header, record
from tests.messages import filled, proto, spoilt
from tests.orders import sorted_maps
from tests.shares import REST
from treaty import arrow
from treaty.arrow.protobuf.rows import message_of
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.spark import DecodePlan, Names, decode, make_plan

pytestmark = pytest.mark.jvm

LINE = {
    "type": "array",
    "items": json.loads(
        record(
            ("sku", "string"),
            ("price", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}),
            name="Line",
        )
    ),
}
AVRO = (
    record(("name", "string"), ("at", {"type": "long", "logicalType": "timestamp-millis"}), ("day", {"type": "int", "logicalType": "date"}), ("lines", LINE)),
    record(("name", "string"), ("at", {"type": "long", "logicalType": "timestamp-micros"}), ("by", {"type": "map", "values": ["null", "double"]}, {}), ("lines", LINE)),
)  # fmt: skip
PROPERTIES: dict[str, Any] = {
    "s": {"type": "string"}, "n": {"type": "integer"}, "d": {"type": "number"}, "b": {"type": "boolean"},
    "day": {"type": "string", "format": "date"}, "at": {"type": "string", "format": "date-time"},
    "dec": {"type": "number", "minimum": 0, "maximum": 999, "multipleOf": 0.01},
    "list": {"type": "array", "items": {"type": "integer"}}, "any": {},
    "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "in": {"type": "object", "properties": {"x": {"type": "integer", "maximum": 100}}},
}  # fmt: skip
VALUES: dict[str, tuple[str, ...]] = {
    "s": ('"a"', '"ä€😀"', '""', "null", "7", "1.50", "true", '{"k": [1, null, "x"]}', r'"\u0041\n\u001f\ud83d\ude00"', r'"\ud800"', "1e3", "-0.0", "[1.0E+2,1e-7,0.001,12345678.9,100.0]"),
    "n": ("7", "-0", "9223372036854775807", "9223372036854775808", "7.0", "1e2", '"7"', "true", "[7]", "007"),
    "d": ("7", "1.5", "1e400", "-1e-400", '"1.5"', '"NaN"', "NaN", "Infinity", "0.1", "123456789012345678901234567890"),
    "b": ("true", "false", '"true"', "1", "null"),
    "day": ('"2024-02-29"', '"2023-02-29"', '"2024-2-9"', '"x"', "5", "null", '"2024-02-29T25:00:00Z"', '"2024-02-29 x"', '"2024-02-29x"', '"2024-02"', '"2024"'),
    "at": ('"2024-02-29T12:00:00Z"', '"2024-02-29T12:00:00.123456789+02:00"', '"2024-02-29T12:00:00"', '"2024-02-29 12:00:00"', '"2024-02-29T25:00:00Z"', "5", '"1969-12-31T23:59:59.9999Z"', '"2024-02-29t12:00:00z"', "1.5"),
    "dec": ("1", "1.25", "1.255", "999.999", "1000", '"1.5"', "-0.005"),
    "list": ("[]", "[1,null,2]", '["1"]', "{}", "null", "7", "[[1]]"),
    "any": ("null", '"x"', "1", "[1, {}]", '{"b": 1, "a": 2, "b": 3}', "1.10"),
    "map": ("{}", '{"a": 1, "b": null}', '{"a": "1"}', "[]", '{"": 1}'),
    "in": ("{}", '{"x": 5}', '{"x": 500}', '{"y": 1}', "[]", "null", '{"x": null}'),
}  # fmt: skip
TEXTS = (
    "", "null", "{}", "[]", "[{}]", "{} ", " {}", "{}}", "{}{}", "{} x", "{}]", '{"s": "a",}', "{'s': 'a'}", '{"s": "a"', "{s: 1}", '{"s": "a\nb"}',
    '{"s": "a", "s": "b"}', '{"n": 1, "n": null}', '{"zz": 1.10, "yy": {"b": [1.0, 2e3, "q"], "a": null}, "S": true, "n": 3}', '{"zz": 1, "zz": 2}',
    '// no\n{"s": "a"}', '{"s": "a"} // no', "true", "7", '"x"', '{"big": 123456789012345678901234567890, "huge": 1e300, "tiny": 0.000001}',
)  # fmt: skip


def put(registry: Connection, format_: str, *texts: str, subject: str) -> list[int]:
    drafts = [Draft(text, format_) for text in texts]
    return [registry.ask(Register(subject_of(subject), one)).answer.version.schema_id for one in drafts]


def alike(spark: SparkSession, folder: Path, plan: DecodePlan, values: list[bytes | None]) -> list[dict[str, Any]]:
    """The rows as Arrow has them, once they are those that Spark has."""
    assert DecodePlan.from_json(plan.to_json()) == plan
    table = pa.table({"at": range(len(values)), "value": pa.array(values, pa.binary())})
    path = folder / f"{len(list(folder.iterdir()))}.parquet"
    pq.write_table(table, path)
    # Arrow's own form of a frame: Python's rows would have time zones, and no instants before the year 1.
    theirs = decode(spark.read.parquet(str(path)), plan).drop("value").toArrow().sort_by("at").to_pylist()
    ours: list[dict[str, Any]] = arrow.decode(table, plan).drop_columns(["value"]).to_pylist()
    different = []
    for mine, other, value in zip(ours, theirs, values, strict=True):
        if sorted_maps(mine) != sorted_maps(other):
            different.append((value, mine["record"], mine["error"], other["record"], other["error"]))
    assert different == [], "\n".join(map(str, different))
    return ours


def test_avro(spark: SparkSession, registry: Connection, tmp_path: Path) -> None:
    ids = put(registry, "AVRO", *AVRO, subject="a-value")
    dice = random.Random(1)
    values: list[bytes | None] = [None]
    for at in range(400):
        version = at % 2
        row = {
            "name": "ö" * dice.randrange(9),
            "at": dice.randrange(2**40),
            "day": dice.randrange(20_000),
            "by": {"a": None, "b": 0.5},
            "lines": [{"sku": "x", "price": b"\x04\xd2"}] * dice.randrange(3),
        }
        value = frame(ids[version], AVRO[version].replace('"logicalType"', '"plain"'), row)
        values.append(value)
        if not at % 4:
            values.append(dice.choice(list(SPOILT.values()))[1](value, dice))
    found = alike(spark, tmp_path, make_plan(registry, "a-value", reader="union"), values)
    assert sum(one["record"] is not None for one in found) >= 400
    assert len({one["error"]["code"] for one in found if one["error"]}) == 5


def test_protobuf(spark: SparkSession, registry: Connection, tmp_path: Path) -> None:
    for seed in (3, 20):
        dice = random.Random(seed)
        (schema_id,) = put(registry, "PROTOBUF", proto(dice), subject=f"p{seed}-value")
        plan = make_plan(registry, f"p{seed}-value", depth=2)
        made = GetMessageClass(message_of(plan.recipe)[0])  # type: ignore[arg-type]  # a plan for Protobuf
        payloads = [filled(dice, made()).SerializePartialToString() for _ in range(100)]
        payloads += [spoilt(dice, one) for one in payloads[:40]]
        payloads += [b"\x8a\x7d\x02ab" + one for one in payloads[:5]]
        values: list[bytes | None] = [None, b"", b"\1oops", header(999), header(schema_id) + b"\2\x7e"]
        values += [header(schema_id) + b"\0" + one for one in payloads]
        columns = alike(spark, tmp_path, plan, values)
        assert columns == alike(spark, tmp_path, replace(plan, engine="upb"), values)
        kept = alike(spark, tmp_path, make_plan(registry, f"p{seed}-value", depth=2, unknown=True), values)
        assert kept[-1]["record"]["unknown_fields"] == [(2001, b"\x8a\x7d\x02ab")]


def test_json(spark: SparkSession, registry: Connection, tmp_path: Path) -> None:
    text = json.dumps({"type": "object", "properties": PROPERTIES})
    (schema_id,) = put(registry, "JSON", text, subject="j-value")
    documents = [*TEXTS, *(f'{{"{name}": {one}}}' for name, many in VALUES.items() for one in many)]
    values: list[bytes | None] = [header(schema_id) + one.encode() for one in documents]
    values += [None, b"", header(schema_id) + b'{"s": "\xff"}', header(99) + b"{}", header(schema_id) + b"[" * 2000]
    plan = make_plan(registry, "j-value")
    assert plan.engine == "spark"  # of maps and of any values nothing is read in columns
    plain = alike(spark, tmp_path, plan, values)
    assert sum(one["record"] is not None for one in plain) > 60
    found = alike(spark, tmp_path, make_plan(registry, "j-value", validate=True, rest="map"), values)
    by_text = dict(zip(documents, found, strict=False))
    assert by_text['{"in": {"x": 500}}']["error"]["code"] == "INVALID"
    assert "/in/x" in by_text['{"in": {"x": 500}}']["error"]["message"]
    assert "maximum" in by_text['{"in": {"x": 500}}']["error"]["message"]
    strange = by_text[TEXTS[18]]["record"]
    assert dict(strange["rest"]) == {"S": "true", "yy": '{"a":null,"b":[1,2000.0,"q"]}', "zz": "1.1"}
    variant = decode(
        spark.createDataFrame([(header(schema_id) + TEXTS[18].encode(),)], "value binary"),
        make_plan(registry, "j-value", rest="variant"), flatten=True,
    )  # fmt: skip
    assert variant.selectExpr("rest:yy.b[2]::string AS q", "n").collect() == [("q", 3)]


IN_COLUMNS = {name: one for name, one in PROPERTIES.items() if name not in {"any", "map"}}


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 8), marks=REST)], ids=str)
def test_json_in_columns(spark: SparkSession, registry: Connection, tmp_path: Path, seeds: range) -> None:
    """Documents of every kind, and damaged ones of schemas that are made, through `from_json`, pyarrow in workers, and Arrow."""
    text = json.dumps({"type": "object", "properties": IN_COLUMNS})
    (schema_id,) = put(registry, "JSON", text, subject="j-value")
    documents = [*TEXTS, *(f'{{"{name}": {one}}}' for name in IN_COLUMNS for one in VALUES[name])]
    values: list[bytes | None] = [header(schema_id) + one.encode() for one in documents]
    plans = [make_plan(registry, "j-value", validate=True)]
    columns = [values]
    for seed in seeds:
        dice = random.Random(seed)
        schema, _ = make_schema(dice)
        (schema_id,) = put(registry, "JSON", json.dumps(schema), subject=f"j{seed}-value")
        plans.append(make_plan(registry, f"j{seed}-value", validate=bool(seed % 2)))
        columns.append(list(make_frames(dice, schema, schema_id, 300, ODD)))
    most = max(map(len, columns))
    table = pa.table({
        "at": range(most),
        **{f"v{at}": pa.array([*one, *[None] * (most - len(one))], pa.binary()) for at, one in enumerate(columns)},
    })  # fmt: skip
    pq.write_table(table, tmp_path / "frames.parquet")
    source = spark.read.parquet(str(tmp_path / "frames.parquet"))
    for at, plan in enumerate(plans):
        assert plan.engine == "arrow"
        source = decode(source, plan, column=f"v{at}", names=Names(f"arrow{at}", f"wrong{at}"))
        source = decode(source, replace(plan, engine="spark"), column=f"v{at}", names=Names(f"spark{at}", f"error{at}"))
    theirs = source.toArrow().sort_by("at")
    for at, (plan, frames) in enumerate(zip(plans, columns, strict=True)):
        ours = arrow.decode(pa.array(frames, pa.binary()), plan)
        for way, errors in (("arrow", "wrong"), ("spark", "error")):
            found = zip(frames, ours["record"].to_pylist(), ours["error"].to_pylist(), theirs[f"{way}{at}"].to_pylist(), theirs[f"{errors}{at}"].to_pylist(), strict=False)  # fmt: skip
            wrong = [one for one in found if one[1:3] != one[3:]]
            assert wrong == [], f"{way}: {len(wrong)} of plan {at}: {wrong[:3]}"
