"""Decode plans without a JVM: what is merged, refused, hidden and woven, and that a stored plan is the same plan."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.frames import frame, record, resolved
from tests.shapes import envelope_of
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import subject_of
from treaty.core.refusals import SubjectNotFound
from treaty.core.schema import Draft, Reference
from treaty.plan.avro.columns import columns
from treaty.plan.avro.envelope import encode_branch, make_ending
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.merge import MergeError, merge
from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.errors import PlanError
from treaty.plan.value import FORMAT, DecodePlan
from treaty.spark.engines.avro import make_ending_bytes
from treaty.spark.engines.repaired_records import read_avro_part
from treaty.spark.pipelines.plan_store import parse_plans

MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}


def decimal(precision: int, scale: int) -> dict[str, object]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def put(registry: Connection, *texts: str, subject: str = "orders-value") -> list[int]:
    return [registry.ask(Register(subject_of(subject), Draft(text))).answer.version.schema_id for text in texts]


def union(*texts: str) -> dict[str, str]:
    return dict(columns(merge([parse_avro(text) for text in texts])))


def test_the_union_adds_widens_and_keeps() -> None:
    first = record(("id", "int"), ("gone", "string"), ("price", decimal(8, 2)))
    second = record(("id", "long"), ("price", decimal(9, 4)), ("note", ["null", "string"], None))
    assert union(first, second) == {"id": "BIGINT", "gone": "STRING", "price": "DECIMAL(10, 4)", "note": "STRING"}


def test_the_union_follows_renames_and_keeps_the_first_name() -> None:
    first = record(("dest", "string"))
    second = record({"name": "destination", "type": "string", "aliases": ["dest"]})
    third = record({"name": "arrival", "type": "string", "aliases": ["destination"]})
    assert union(first, second, third) == {"dest": "STRING"}


def test_the_union_merges_what_lies_inside() -> None:
    def order(*fields: object) -> str:
        line = json.loads(record(*fields, name="Line"))
        return record(("lines", {"type": "array", "items": line}), ("by", {"type": "map", "values": "shop.Line"}))

    merged = union(order(("n", "int")), order(("n", "long"), ("tax", "double", 0.0)))
    line = "STRUCT<`n`: BIGINT, `tax`: DOUBLE>"
    assert merged == {"lines": f"ARRAY<{line}>", "by": f"MAP<STRING, {line}>"}


def test_the_union_grows_enums_and_choices() -> None:
    def order(symbols: list[str], choice: list[str]) -> str:
        return record(("kind", {"type": "enum", "name": "Kind", "symbols": symbols}), ("pick", choice))

    merged = merge(
        [parse_avro(order(["A", "B"], ["int", "string"])), parse_avro(order(["A", "C"], ["string", "int", "boolean"]))]
    )
    kind = merged.names["shop.Kind"]
    assert getattr(kind, "symbols", None) == ("A", "B", "C")
    assert dict(columns(merged))["pick"] == "STRUCT<`member0`: INT, `member1`: STRING, `member2`: BOOLEAN>"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("int", "string"),
        ("long", "double"),
        (decimal(38, 2), decimal(38, 9)),
        (MILLIS, {"type": "long", "logicalType": "local-timestamp-micros"}),
        ("string", ["string", "int"]),
        ({"type": "fixed", "name": "F", "size": 4}, {"type": "fixed", "name": "F", "size": 8}),
    ],
    ids=["kinds", "a long in a double", "digits", "wall clocks", "a choice", "sizes"],
)
def test_what_cannot_share_a_column_is_told(older: object, newer: object) -> None:
    with pytest.raises(MergeError) as caught:
        union(record(("x", older)), record(("x", newer)))
    assert caught.value.finding.path == "/x"
    assert caught.value.finding.remedy


def test_a_version_without_a_part_in_the_union_is_rejected_and_the_others_are_read(registry: Connection) -> None:
    ids = put(registry, record(("x", "int")), record(("x", "string")), record(("x", "long")))
    plan = make_plan(registry, "orders-value", reader="union")
    assert [one.schema_id for one in plan.writers] == [ids[0], ids[2]]
    assert [(one.schema_id, one.code) for one in plan.rejected] == [(ids[1], "RESOLUTION")]
    assert "version 2" in plan.rejected[0].message


def test_an_incompatible_writer_is_rejected_with_the_finding(registry: Connection) -> None:
    ids = put(registry, record(("x", "string")), record(("x", "int"), ("y", "int")))
    plan = make_plan(registry, "orders-value")
    assert [(one.schema_id, one.code) for one in plan.rejected] == [(ids[0], "RESOLUTION")]
    assert "and 1 more" in plan.rejected[0].message


def test_units_and_scales_get_hidden_fields(registry: Connection) -> None:
    inner = json.loads(record(("price", decimal(8, 2)), name="Line"))
    newer = json.loads(record(("price", decimal(12, 4)), name="Line"))
    ids = put(
        registry,
        record(("at", MILLIS), ("lines", {"type": "array", "items": inner})),
        record(("at", MICROS), ("lines", {"type": "array", "items": newer})),
    )
    plan = make_plan(registry, "orders-value")
    assert [(one.path, one.field, one.ids) for one in read_avro_part(plan).repairs] == [
        ((), "at", (ids[0],)),
        (("lines", "[]"), "price", (ids[0],)),
    ]
    assert {one.path for one in read_avro_part(plan).layouts} == {(), ("lines",), ("lines", "[]")} - {("lines",)}
    assert dict(plan.columns) == {"at": "TIMESTAMP", "lines": "ARRAY<STRUCT<`price`: DECIMAL(12, 4)>>"}


@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        (decimal(9, 4), decimal(9, 2)),
        (decimal(9, 2), decimal(8, 2)),
        ({"type": "int", "logicalType": "date"}, MILLIS),
        (MILLIS, {"type": "long", "logicalType": "local-timestamp-millis"}),
    ],
    ids=["scale lost", "digits lost", "date as instant", "instant as wall clock"],
)
def test_a_silent_error_of_avro_is_refused(registry: Connection, writer: object, reader: object) -> None:
    ids = put(registry, record(("x", writer)), record(("x", reader)))
    plan = make_plan(registry, "orders-value")
    assert [one.schema_id for one in plan.rejected] == [ids[0]]
    assert "at /x" in plan.rejected[0].message


def test_a_plan_survives_storage_and_is_hashable(registry: Connection) -> None:
    put(registry, record(("at", MILLIS)), record(("at", MICROS), ("n", "int", 7)), record(("at", "string")))
    plan = make_plan(registry, "orders-value", reader=2)
    assert DecodePlan.from_json(plan.to_json()) == plan
    assert hash(DecodePlan.from_json(plan.to_json())) == hash(plan)


@pytest.mark.parametrize("stored", ['{"plan":2,"writers":{}}', '{"plan":0}', '{"plan":"1"}', "{}"])
def test_a_plan_of_another_format_is_refused_with_the_remedy(stored: str) -> None:
    """Whatever else it has: members of a form that this version does not know are not read."""
    format_number = repr(json.loads(stored).get("plan"))
    sentence = f"^this decode plan has format {format_number}, known here is {FORMAT}: .* begin with a new checkpoint$"
    with pytest.raises(ValueError, match=sentence):
        DecodePlan.from_json(stored)
    with pytest.raises(ValueError, match=sentence):
        parse_plans([{"batch": 0, "part": 1, "plan": stored, "topic": ""}])


def test_each_plan_has_a_tail_of_its_own_and_each_process_another(registry: Connection) -> None:
    put(registry, record(("n", "int")))
    first = make_plan(registry, "orders-value")
    assert make_plan(registry, "orders-value") == first
    put(registry, record(("n", "long")))
    tails = {read_avro_part(one).ending for one in (first, make_plan(registry, "orders-value"))}
    assert len(tails) == 2
    assert make_ending_bytes(first).hex() not in tails, "nobody who knows the plan knows the bytes"
    program = """
import sys
from treaty.plan.value import DecodePlan
from treaty.spark.engines.avro import make_ending_bytes
print(make_ending_bytes(DecodePlan.from_json(sys.stdin.read())).hex())
"""
    run = subprocess.run(
        [sys.executable, "-c", program], input=first.to_json(), capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() != make_ending_bytes(first).hex()


def test_writers_of_one_shape_share_a_branch(registry: Connection) -> None:
    kinds = [{"type": "enum", "name": "Kind", "symbols": symbols, "default": "A"} for symbols in (["A"], ["A", "B"])]
    texts = [
        *(record(("n", "int"), ("kind", kinds[0]), doc=f"version {turn}") for turn in range(3)),
        record({"name": "n", "type": "int", "default": 7}, ("kind", kinds[0])),
        record(("n", "int"), ("kind", kinds[1])),
        record(("kind", kinds[0]), ("n", "int")),
        record({"name": "old", "type": "int"}, ("kind", kinds[0])),
        record({"name": "n", "type": "int", "aliases": ["old"]}, ("kind", kinds[0]), doc="last"),
    ]
    ids = put(registry, *texts)
    plan = make_plan(registry, "orders-value")
    assert read_avro_part(plan).branches == (0, 0, 0, 0, 1, 2, 0, 0)
    decode = envelope_of(plan)
    for schema_id, text in zip(ids, texts, strict=True):
        name = "old" if '"old", "type"' in text else "n"
        assert decode(frame(schema_id, text, {name: 5, "kind": "A"}))["n"] == 5


def test_versions_of_one_shape_need_no_union(registry: Connection) -> None:
    texts = [record(("n", "int"), doc=f"version {turn}") for turn in range(3)]
    ids = put(registry, *texts)
    plan = make_plan(registry, "orders-value")
    assert (read_avro_part(plan).union, read_avro_part(plan).branches) == (False, (0, 0, 0))
    decode = envelope_of(plan)
    assert [decode(frame(one, texts[0], {"n": 5}))["n"] for one in ids] == [5, 5, 5]
    assert decode(frame(99, texts[0], {"n": 5})) is None


def test_explain_names_ids_columns_and_conversions(registry: Connection) -> None:
    ids = put(registry, record(("at", MILLIS)), record(("at", MICROS)), record(("at", "string")))
    told = make_plan(registry, "orders-value", reader=2).explain()
    for words in ("orders-value version 1", "column   at: TIMESTAMP", "converts at", f"id {ids[2]}", "RESOLUTION"):
        assert words in told


def test_ids_of_other_subjects_are_named_and_unknown_ones_left_out(registry: Connection) -> None:
    put(registry, record(("x", "int")))
    (other,) = put(registry, record(("y", "int"), name="Other"), subject="other-value")
    plan = make_plan(registry, "orders-value", ids=[other, 999])
    assert [(one.schema_id, one.code) for one in plan.rejected] == [(other, "WRONG_SUBJECT")]
    assert "other-value version 1" in plan.rejected[0].message
    assert 999 not in plan.known


def test_without_a_subject_any_id_is_a_writer(registry: Connection) -> None:
    ids = put(registry, record(("x", "int"))) + put(
        registry, record(("x", "long"), name="Other"), subject="other-value"
    )
    plan = make_plan(registry, reader=record(("x", "double"), name="Any", aliases=["Order", "Other"]), ids=ids)
    assert [one.schema_id for one in plan.writers] == ids
    assert plan.reader_name == "given"
    with pytest.raises(PlanError, match="subject"):
        make_plan(registry, ids=ids)


def test_extending_learns_new_versions_and_nothing_else(registry: Connection) -> None:
    put(registry, record(("x", "int")))
    plan = make_plan(registry, "orders-value", reader="union")
    assert extend(plan, registry, [77, 78]) is plan
    (late,) = put(registry, record(("x", "int"), ("y", "int", 1)))
    longer = extend(plan, registry, [late, 77])
    assert longer.known == plan.known | {late}
    assert [name for name, _ in longer.columns] == ["x", "y"]


@pytest.mark.parametrize("framing", ["md5", "single-object"])
def test_a_head_that_versions_share_is_the_latest_ones(framing: str, registry: Connection) -> None:
    """Docs and defaults are no part of a fingerprint; a deleted version in between and another subject change nothing."""
    ids = put(registry, *(record(("x", "int", number), doc=f"version {number}") for number in range(3)))
    put(registry, record(("x", "int", 9)), subject="other-value")
    registry.ask(DeleteVersion(subject_of("orders-value"), 2))
    plan = make_plan(registry, "orders-value", framing=framing, ids=[ids[0]])
    assert [schema_id for _, schema_id in plan.framing.heads] == [ids[2]]
    assert plan.known == {*ids}


def test_a_subject_that_is_not_there_is_not_an_empty_plan(registry: Connection) -> None:
    with pytest.raises(SubjectNotFound):
        make_plan(registry, "nobody-value")
    put(registry, record(("x", "int")))
    with pytest.raises(PlanError, match="no rows can be decoded"):
        make_plan(registry, "orders-value", reader=record(("x", "boolean")))


def test_references_are_followed(registry: Connection) -> None:
    put(registry, record(("n", "int"), name="Line"), subject="line-value")
    order = Draft(record(("line", "shop.Line")), references=(Reference("shop.Line", "line-value", 1),))
    registry.ask(Register(subject_of("orders-value"), order))
    plan = make_plan(registry, "orders-value")
    assert dict(plan.columns) == {"line": "STRUCT<`n`: INT>"}


def test_the_tail_asks_for_no_memory() -> None:
    for place in range(1000):
        assert all(byte % 2 == 1 and byte < 0x80 for byte in make_ending(f"plan {place}"))
    assert [encode_branch(place) for place in (0, 1, 63, 64, 8191)] == [b"\0", b"\2", b"\x7e", b"\x80\x01", b"\xfe\x7f"]


def test_the_woven_schemas_resolve_as_the_originals_do(registry: Connection) -> None:
    kind = {"type": "enum", "name": "Kind", "symbols": ["A", "B"], "default": "A"}
    more = {"type": "enum", "name": "Kind", "symbols": ["A", "B", "C"], "default": "A"}
    line = json.loads(record(("n", "int"), name="Line"))
    versions = [
        record(("id", "int"), ("kind", more), ("lines", {"type": "array", "items": line})),
        record(("id", "long"), ("kind", kind), ("lines", {"type": "array", "items": line}), ("note", ["null", "string"], None)),
        record(
            {"name": "number", "type": "double", "aliases": ["id"]},
            ("kind", kind),
            ("lines", {"type": "array", "items": line}),
            ("by", {"type": "map", "values": ["null", "shop.Line"]}, {}),
            ("raw", "bytes", "\u00ff"),
        ),
    ]  # fmt: skip
    rows = [
        {"id": 1, "kind": "C", "lines": [{"n": 1}, {"n": 2}]},
        {"id": 2**40, "kind": "B", "lines": [], "note": "x"},
        {"number": 0.5, "kind": "A", "lines": [{"n": 9}], "by": {"a": None, "b": {"n": 4}}, "raw": b"\0\1"},
    ]
    ids = put(registry, *versions)
    decode = envelope_of(make_plan(registry, "orders-value"))
    for schema_id, writer, row in zip(ids, versions, rows, strict=True):
        value = frame(schema_id, writer, row)
        expected = resolved(value, writer, versions[-1])
        if expected["raw"] == "\u00ff":  # fastavro leaves the default of bytes as it stands in JSON
            expected["raw"] = b"\xff"
        found = decode(value)
        assert {**found, "by": dict(found["by"])} == expected


def test_names_of_the_envelope_give_way_to_those_of_the_record(registry: Connection) -> None:
    text = record(("_treaty_tail", "int"), ("_treaty_head", "int"))
    (schema_id,) = put(registry, text)
    plan = make_plan(registry, "orders-value")
    row = {"_treaty_tail": 1, "_treaty_head": 2}
    assert envelope_of(plan)(frame(schema_id, text, row)) == row


def test_a_choice_of_records_is_read_by_a_record(registry: Connection) -> None:
    order, other = json.loads(record(("x", "int"))), json.loads(record(("y", "int"), ("x", "long"), name="Other"))
    text = json.dumps([order, other])
    (schema_id,) = put(registry, text)
    plan = make_plan(registry, "orders-value", reader=record(("x", "long"), aliases=["Other"]))
    assert read_avro_part(plan).whole
    decode = envelope_of(plan)
    for row in ({"x": 7}, {"y": 1, "x": 7}):
        assert decode(frame(schema_id, text, row)) == {read_avro_part(plan).whole: {"x": 7}}


@pytest.mark.parametrize(
    ("leaf", "kind"),
    [
        ({"type": "fixed", "name": "F", "size": 2}, "BINARY"),
        ({"type": "fixed", "name": "F", "size": 4}, "DECIMAL(9, 2)"),
        ("bytes", "DECIMAL(9, 2)"),
        ("int", "INT"),
    ],
    ids=["two bytes hold four digits", "four bytes hold nine", "bytes hold any", "numbers are no decimals"],
)
def test_a_decimal_is_one_where_avro_says_so(leaf: Any, kind: str, registry: Connection) -> None:
    digits = {"logicalType": "decimal", "precision": 9, "scale": 2}
    base = leaf if isinstance(leaf, dict) else {"type": leaf}
    put(registry, record(("x", {**base, **digits})))
    assert make_plan(registry, "orders-value").columns == (("x", kind),)


def test_a_decimal_that_no_column_holds_stays_bytes_and_spark_is_not_told_of_it(registry: Connection) -> None:
    ids = put(registry, record(("x", decimal(60, 2))), record(("x", decimal(60, 4))), record(("x", decimal(70, 2))))
    plan = make_plan(registry, "orders-value")
    assert plan.columns == (("x", "BINARY"),)
    assert "decimal" not in read_avro_part(plan).reader_text
    assert [(one.schema_id, one.code) for one in plan.rejected] == [(ids[1], "RESOLUTION")]
    assert [one.schema_id for one in plan.writers] == [ids[0], ids[2]]
