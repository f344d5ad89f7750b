"""Frames decoded to Arrow without Spark: good rows, bad rows with their reasons, and every shape that frames come in."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import pyarrow as pa
import pytest

from tests.frames import SPOILT, frame, header, record
from treaty.arrow import (
    DecodePlan,
    Names,
    PlanError,
    batches,
    decode,
    from_registry,
    make_plan,
    readers,
    to_pandas,
    to_polars,
)
from treaty.arrow.decoded import ReadBatch
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.formats.avro.fingerprint import crc64
from treaty.plan.avro.flat import parse_avro

arrow_decode = import_module("treaty.arrow.decode")  # the package has a function of that name
V1 = record(("name", "string"), ("n", "int"))
V2 = record(("name", "string"), ("n", "long"), ("tags", {"type": "map", "values": "int"}, {}))


def put(registry: Connection, *texts: str, format_: str = "AVRO", subject: str = "orders-value") -> list[int]:
    drafts = [Draft(text, format_) for text in texts]
    return [registry.ask(Register(subject_of(subject), one)).answer.version.schema_id for one in drafts]


def column(values: list[bytes | None]) -> pa.Array:
    return pa.array(values, pa.binary())


def test_versions_mix_and_bad_rows_say_why(registry: Connection) -> None:
    ids = put(registry, V1, V2)
    good = frame(ids[1], V2, {"name": "ö", "n": 2**40, "tags": {"a": 1}})
    values = [
        frame(ids[0], V1, {"name": "a", "n": 7}),
        good,
        None,
        b"\0\0",
        b"\1" + good[1:],
        header(99),
        good[:-1],
        good + b"\0",
    ]
    plan = make_plan(registry, "orders-value", engine="fastavro")
    found = decode(
        pa.table({"at": range(len(values)), "value": column(values)}),
        plan,
        names=Names(schema_id="id", version="v", subject="s"),
    )
    assert found.column_names == ["at", "value", "record", "error", "id", "v", "s"]
    rows = found.to_pylist()
    assert [one["record"] for one in rows[:3]] == [
        {"name": "a", "n": 7, "tags": []},
        {"name": "ö", "n": 2**40, "tags": [("a", 1)]},
        None,
    ]
    assert [one["error"] and one["error"]["code"] for one in rows] == [
        None, None, None, "TOO_SHORT", "BAD_MAGIC", "UNKNOWN_ID", "MALFORMED", "TRAILING",
    ]  # fmt: skip
    assert rows[5]["error"] == {
        "code": "UNKNOWN_ID", "message": "the registry has no id 99, or not for this subject", "schema_id": 99, "payload": header(99),
    }  # fmt: skip
    assert [(one["id"], one["v"], one["s"]) for one in rows[1:5]] == [
        (ids[1], 2, "orders-value"), (None, None, None), (None, None, None), (None, None, None),
    ]  # fmt: skip


def test_every_way_to_damage_a_frame_is_told_apart(registry: Connection) -> None:
    import random  # noqa: PLC0415 - seeded here

    (schema_id,) = put(registry, V1)
    dice = random.Random(3)
    cases = [
        (name, code, spoil(frame(schema_id, V1, {"name": "abcdef", "n": 5}), dice))
        for name, (code, spoil) in SPOILT.items()
    ]
    found = from_registry(column([value for _, _, value in cases]), registry, "orders-value")
    for (name, code, value), error, made in zip(
        cases, found["error"].to_pylist(), found["record"].to_pylist(), strict=True
    ):
        assert made is None, name
        assert error["payload"] == value
        assert error["code"] == code or name in {"cut short", "huge length", "no payload"}, (name, error)


def test_arrays_chunks_batches_and_tables_are_frames(registry: Connection) -> None:
    (schema_id,) = put(registry, V1)
    values = column([frame(schema_id, V1, {"name": "a", "n": n}) for n in range(5)])
    plan = make_plan(registry, "orders-value", engine="fastavro")
    expected = [{"name": "a", "n": n} for n in range(5)]
    table = pa.table({"value": values})
    batch = table.to_batches()[0]
    chunked = pa.chunked_array(
        [values.slice(0, 2), values.slice(2).cast(pa.large_binary())[:0].cast(pa.binary()), values.slice(2)]
    )
    for one in (values, chunked, batch, table, values.cast(pa.large_binary())):
        assert decode(one, plan)["record"].to_pylist() == expected
    assert decode(values.slice(1, 2), plan)["record"].to_pylist() == expected[1:3]
    assert [one.num_rows for one in batches(table.to_batches(max_chunksize=2), plan)] == [2, 2, 1]
    nothing = decode(column([]), plan, flatten=True)
    assert (nothing.num_rows, nothing.column_names) == (0, ["value", "error", "name", "n"])
    flat = decode(values, plan, flatten=True)
    assert flat.drop_columns(["value", "error"]).to_pylist() == expected


def test_a_plan_is_compiled_once_for_all_batches(registry: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream of small batches compiled the reader of its plan for each of them."""
    text = record(("n", "int"), name="CompiledOnce")
    (schema_id,) = put(registry, text)
    values = column([frame(schema_id, text, {"n": n}) for n in range(40)])
    plan = make_plan(registry, "orders-value", engine="fastavro")
    made: list[str] = []

    def counted(plan: DecodePlan, kind: pa.DataType) -> ReadBatch:
        made.append(plan.format)
        return readers.reader_of(plan, kind)

    monkeypatch.setattr(arrow_decode, "reader_of", counted)
    found = list(batches(pa.table({"value": values}).to_batches(max_chunksize=1), plan))
    assert [one["record"].to_pylist()[0]["n"] for one in found] == list(range(40))
    assert made == ["AVRO"]
    with ThreadPoolExecutor(4) as pool:
        tables = list(pool.map(lambda _: decode(values, plan)["record"].to_pylist(), range(8)))
    assert tables == [[{"n": n} for n in range(40)]] * 8


def test_fields_with_another_unit_are_converted(registry: Connection) -> None:
    def stamp(name: str) -> dict[str, str]:
        return {"type": "long", "logicalType": f"timestamp-{name}"}

    def price(scale: int) -> dict[str, Any]:
        return {"type": "bytes", "logicalType": "decimal", "precision": 9 + scale, "scale": scale}

    line = {"type": "array", "items": json.loads(record(("price", price(2)), name="Line"))}
    wider = {"type": "array", "items": json.loads(record(("price", price(4)), name="Line"))}
    old = record(("at", stamp("millis")), ("lines", line))
    new = record(("at", stamp("micros")), ("lines", wider))
    ids = put(registry, old, new)
    import datetime as dt  # noqa: PLC0415 - one test's

    when = dt.datetime(2024, 2, 29, 12, 0, 0, 250_000, tzinfo=dt.UTC)
    from decimal import Decimal  # noqa: PLC0415 - one test's

    values = [
        frame(schema_id, text, {"at": when, "lines": [{"price": Decimal("12.34")}]})
        for schema_id, text in zip(ids, (old, new), strict=True)
    ]
    found = from_registry(column(list(values)), registry, "orders-value")["record"].to_pylist()
    assert found == [{"at": when, "lines": [{"price": Decimal("12.3400")}]}] * 2


def test_other_framings(registry: Connection) -> None:
    (schema_id,) = put(registry, V1)
    payload = frame(schema_id, V1, {"name": "a", "n": 7})[5:]
    good = {"name": "a", "n": 7}
    single = make_plan(registry, "orders-value", engine="fastavro", framing="single-object")
    head = b"\xc3\x01" + crc64(parse_avro(V1))
    found = decode(column([head + payload, head[:-1] + b"x" + payload, b"\xc3\x02" * 6, b"\xc3", None]), single)
    assert found["record"].to_pylist() == [good, None, None, None, None]
    errors = found["error"].to_pylist()
    assert [one and one["code"] for one in errors] == [None, "UNKNOWN_ID", "BAD_MAGIC", "TOO_SHORT", None]
    assert errors[1]["message"] == "no schema of the plan has this head (framing single-object)"
    bare = make_plan(registry, "orders-value", engine="fastavro", framing="none")
    assert decode(column([payload]), bare)["record"].to_pylist() == [good]
    stamped = make_plan(registry, "orders-value", engine="fastavro", framing="header")
    guid = b"\1" + bytes.fromhex(stamped.framing.heads[0][0])
    stamps = [
        [("__value_schema_id", guid)],
        [("__value_schema_id", guid[:9])],
        None,
        [("__value_schema_id", b"\2" + guid[1:])],
    ]
    rows = pa.table({
        "value": column([payload, payload, header(schema_id) + payload, payload]),
        "headers": pa.array(stamps, pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    })  # fmt: skip
    found = decode(rows, stamped)
    assert found["record"].to_pylist() == [good, None, good, None]
    assert [one and one["code"] for one in found["error"].to_pylist()] == [None, "TOO_SHORT", None, "BAD_MAGIC"]


def test_a_value_that_no_column_holds_is_one_bad_row(registry: Connection) -> None:
    text = record(("price", {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 1}))
    (schema_id,) = put(registry, text)
    values = [header(schema_id) + b"\2\7", header(schema_id) + b"\x08\x7f\xff\xff\xff", header(schema_id) + b"\2\5"]
    found = from_registry(column(list(values)), registry, "orders-value")
    assert [str(one and one["price"]) for one in found["record"].to_pylist()] == ["0.7", "None", "0.5"]
    assert found["error"].to_pylist()[1]["code"] == "INVALID"


def test_tables_of_pandas_and_polars(registry: Connection) -> None:
    (schema_id,) = put(registry, V2)
    values = column([frame(schema_id, V2, {"name": "a", "n": 2**60 + 1, "tags": {}}), b"oops!"])
    found = from_registry(values, registry, "orders-value", flatten=True).select(["name", "n"])
    pandas = to_pandas(found)
    assert pandas["n"][0] == 2**60 + 1
    assert pandas["n"].isna().tolist() == [False, True]
    polars = to_polars(found)
    assert polars.rows() == [("a", 2**60 + 1), (None, None)]


def test_it_needs_no_spark() -> None:
    program = """
import sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pyspark", "py4j"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Without())
import pyarrow as pa
import treaty
from treaty.arrow import from_registry
from treaty.client.serializers.avro import AvroSerializer

with treaty.connect("memory:") as registry:
    text = '{"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]}'
    value = AvroSerializer(registry, text)({"n": 7}, "t").data
    print(from_registry(pa.array([value]), registry, "t-value")["record"].to_pylist())
assert not any(name.startswith("pyspark") for name in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("[{'n': 7}]\n", "")


PAYMENT = record(("id", "long"), ("amount", "string"), name="Payment")
FILE = 'syntax = "proto3"; package shop; message Order { int32 id = 1; } message Pay { string id = 1; optional double y = 2; }'


def test_several_record_types(registry: Connection) -> None:
    order = record(("id", "int"), ("amount", "int"))
    ids = [put(registry, order, subject="t-Order")[0], put(registry, PAYMENT, subject="t-Payment")[0]]
    values = column(
        [frame(ids[0], order, {"id": 1, "amount": 2}), frame(ids[1], PAYMENT, {"id": 5, "amount": "9"}), b""]
    )
    found = from_registry(values, registry, "t-*", reader="types")["record"].to_pylist()
    assert found == [
        {"record_type": "shop.Order", "Order": {"id": 1, "amount": 2}, "Payment": None},
        {"record_type": "shop.Payment", "Order": None, "Payment": {"id": 5, "amount": "9"}},
        None,
    ]
    wide = from_registry(values, registry, "t-*", reader="wide", flatten=True)
    assert wide.drop_columns(["value", "error", "record_type"]).to_pylist() == [
        {"id": 1, "amount": 2, "amount_Payment": None}, {"id": 5, "amount": None, "amount_Payment": "9"},
        {"id": None, "amount": None, "amount_Payment": None},
    ]  # fmt: skip
    with pytest.raises(PlanError, match="Arrow has no VARIANT"):
        from_registry(values, registry, "t-*", reader="variant")
    (made,) = put(registry, FILE, format_="PROTOBUF", subject="p")
    payloads = (b"\0\x08\x05", b"\2\2\x0a\x01k", b"\0", b"\2\6", b"\0\x08")
    found = from_registry(column([header(made) + one for one in payloads]), registry, "p", reader="types")
    assert [one and (one["Order"] or one["Pay"]) for one in found["record"].to_pylist()] == [
        {"id": 5}, {"id": "k", "y": None}, {"id": 0}, None, None,
    ]  # fmt: skip
    texts = (
        '{"title": "A", "type": "object", "properties": {"id": {"type": "integer"}}}',
        '{"title": "B", "type": "integer"}',
    )
    numbers = [put(registry, text, format_="JSON", subject=f"j-{place}")[0] for place, text in enumerate(texts)]
    rows = [header(numbers[0]) + b'{"id": 1}', header(numbers[1]) + b"7", header(numbers[1]) + b"{}"]
    found = from_registry(column(list(rows)), registry, "j-*", reader="types")["record"].to_pylist()
    assert found == [{"record_type": "A", "A": {"id": 1}, "B": None}, {"record_type": "B", "A": None, "B": 7}, None]


@pytest.mark.parametrize(
    ("shape", "payload", "path"),
    [
        (lambda price: price, b"\4\x27\x10", "/"),
        (lambda price: {"type": "array", "items": price}, b"\4\2\1\4\x27\x10\0", "/1"),
        (lambda price: {"type": "map", "values": ["null", price]}, b"\2\2k\2\4\x27\x10\0", "/k"),
    ],
    ids=["decimal", "list", "map"],
)
def test_a_value_that_does_not_fit_is_named_in_schemas_that_are_no_record(
    registry: Connection, shape: Any, payload: bytes, path: str
) -> None:
    price = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
    (schema_id,) = put(registry, json.dumps(shape(price)))
    (row,) = decode(column([header(schema_id) + payload]), make_plan(registry, "orders-value")).to_pylist()
    assert row["error"]["message"] == f"{path}: 10000 has not the digits of decimal(4,2) without its point"
