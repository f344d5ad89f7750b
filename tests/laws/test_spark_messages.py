"""Plans for Protobuf without a JVM: which rows they read, what of, and why others are bad."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.json_format import ParseDict
from google.protobuf.message_factory import GetMessageClass

from tests.frames import header
from tests.messages import with_names
from treaty.arrow.decoded import RowResult
from treaty.arrow.protobuf.rows import decoder_of
from treaty.arrow.types import arrow_type
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft, Reference
from treaty.formats.protobuf.format import FORMAT
from treaty.formats.protobuf.runtime import build_pool
from treaty.plan.ddl import parse_type
from treaty.plan.decode_plans import make_plan
from treaty.plan.errors import PlanError
from treaty.plan.registry_queries import parse_text
from treaty.plan.value import DecodePlan

HEAD = 'syntax = "proto3"; package shop; '
V1 = HEAD + "message Order { string name = 1; int32 n = 2; Line first = 3; message Line { string sku = 1; } }"
V2 = HEAD + (
    "message Order { string name = 1; Line first = 3; repeated Line rest = 4; Kind kind = 5; optional int64 total = 6;"
    " message Line { string sku = 1; double tax = 2; } enum Kind { NEW = 0; OLD = 1; } }"
)
V3 = HEAD + (
    "message Order { string title = 1; oneof by { string mail = 7; uint64 phone = 8; } map<string, int32> tags = 9;"
    " Kind kind = 5; enum Kind { NEW = 0; OLD = 1; GONE = 2; } }"
)


def put(registry: Connection, *texts: str, subject: str = "orders-value") -> list[int]:
    drafts = [Draft(text, FORMAT.name) for text in texts]
    return [registry.ask(Register(subject_of(subject), one)).answer.version.schema_id for one in drafts]


def framed(
    schema_id: int, text: str, row: Mapping[str, Any], message: str = "shop.Order", front: bytes = b"\0"
) -> bytes:
    descriptor = build_pool(parse_text(FORMAT.name, text)).FindMessageTypeByName(message)
    made: Any = ParseDict(dict(row), GetMessageClass(descriptor)())
    return header(schema_id) + front + bytes(made.SerializeToString())


def read(plan: DecodePlan, value: bytes | None) -> RowResult:
    kind = arrow_type(parse_type(plan.type))
    record, code, said = decoder_of(plan, kind)(value)
    pa.array([record], kind)
    return with_names(record, kind), code, said


@pytest.mark.parametrize(
    ("newer", "older", "column", "value"),
    [("int32", "int64", "BIGINT", 2**40), ("int32", "uint32", "BIGINT", 2**32 - 1), ("sint32", "sint64", "BIGINT", -(2**40))],
)  # fmt: skip
def test_a_number_that_became_narrow_keeps_its_wide_values(
    newer: str, older: str, column: str, value: int, registry: Connection
) -> None:
    texts = [f"{HEAD} message Order {{ {kind} n = 2; }}" for kind in (older, newer)]
    ids = put(registry, *texts)
    plan = make_plan(registry, "orders-value", reader="union")
    assert plan.columns == (("n", column),)
    decode = decoder_of(plan, arrow_type(parse_type(plan.type)))
    rows = [
        decode(framed(schema_id, text, {"n": one}))[0]
        for schema_id, text, one in zip(ids, texts, (value, 7), strict=True)
    ]
    assert rows == [{"n": value}, {"n": 7}]


@pytest.mark.parametrize("older_name", ["OLD", "GONE", "NEW_1"])
def test_a_number_of_an_enum_keeps_its_value_whatever_names_moved(older_name: str, registry: Connection) -> None:
    """The newest name of a number counts; one whose name is another number's by now has its number behind it."""
    texts = [
        f"{HEAD} message Order {{ Kind kind = 5; enum Kind {{ {values} }} }}"
        for values in (f"NEW = 0; {older_name} = 1;", "NEW = 0; OLD = 2; GONE = 3;")
    ]
    ids = put(registry, *texts)
    plan = make_plan(registry, "orders-value", reader="union")
    assert plan.rejected == ()
    rows = [read(plan, header(one) + b"\0\x28" + bytes([number]))[0] for one in ids for number in (1, 2, 3)]
    mine = {"OLD": "OLD_1", "GONE": "GONE_1", "NEW_1": "NEW_1"}[older_name]
    assert rows == [{"kind": mine}, {"kind": "OLD"}, {"kind": "GONE"}] * 2


@pytest.mark.parametrize(
    "place", ["int32 n = 2;", "Line line = 3; message Line { int32 n = 1; }", "map<string, int32> n = 2;"]
)
def test_a_narrow_reader_refuses_wide_writers_and_cuts_nothing(place: str, registry: Connection) -> None:
    older, newer = put(registry, *(f"{HEAD} message Order {{ {one} }}" for one in (place.replace("32", "64"), place)))
    plan = make_plan(registry, "orders-value", reader="latest")
    assert [(one.schema_id, one.code) for one in plan.rejected] == [(older, "RESOLUTION")]
    assert "int64 there and int32 in the reader" in plan.rejected[0].message
    assert [one.schema_id for one in plan.writers] == [newer]
    other = make_plan(registry, "orders-value", reader=1)
    assert not other.rejected


def test_every_version_is_read_by_all_of_them_together(registry: Connection) -> None:
    ids = put(registry, V1, V2, V3)
    plan = make_plan(registry, "orders-value", reader="union")
    assert plan.rejected == ()
    assert dict(plan.columns) == {
        "title": "STRING",
        "mail": "STRING",
        "phone": "DECIMAL(20, 0)",
        "tags": "MAP<STRING, INT>",
        "kind": "STRING",
        "first": "STRUCT<`sku`: STRING, `tax`: DOUBLE>",
        "rest": "ARRAY<STRUCT<`sku`: STRING, `tax`: DOUBLE>>",
        "total": "BIGINT",
        "n": "INT",
    }
    nothing = dict.fromkeys(("mail", "phone", "first", "total", "n")) | {
        "title": "",
        "kind": "NEW",
        "tags": [],
        "rest": [],
    }
    first = framed(ids[0], V1, {"name": "a", "n": 7, "first": {"sku": "x"}})
    line = {"sku": "x", "tax": 0.0}
    assert read(plan, first)[0] == {**nothing, "title": "a", "n": 7, "first": line}
    second = framed(ids[1], V2, {"rest": [{"sku": "y", "tax": 0.5}], "kind": "OLD", "total": "0"})
    assert read(plan, second)[0] == {**nothing, "rest": [{"sku": "y", "tax": 0.5}], "kind": "OLD", "total": 0}
    third = framed(ids[2], V3, {"phone": str(2**64 - 1), "tags": {"a": 1}, "kind": "GONE"})
    expected = {**nothing, "phone": Decimal(2**64 - 1), "tags": [("a", 1)], "kind": "GONE"}
    assert read(plan, third)[0] == expected


def test_the_newest_leaves_out_what_it_does_not_know(registry: Connection) -> None:
    ids = put(registry, V1, V2)
    plan = make_plan(registry, "orders-value")
    assert [name for name, _ in plan.columns] == ["name", "first", "rest", "kind", "total"]
    found = read(plan, framed(ids[0], V1, {"name": "a", "n": 7}))[0]
    assert found == {"name": "a", "first": None, "rest": [], "kind": "NEW", "total": None}


def test_a_type_that_changed_on_the_wire_is_no_row(registry: Connection) -> None:
    other = HEAD + "message Order { string name = 1; string n = 2; }"
    ids = put(registry, V1, other)
    plan = make_plan(registry, "orders-value")
    (bad,) = plan.rejected
    assert (bad.schema_id, bad.code) == (ids[0], "RESOLUTION")
    assert "#/Order/2" in bad.message
    union = make_plan(registry, "orders-value", reader="union")
    assert [one.schema_id for one in union.rejected] == [ids[0]]


def test_a_message_deep_in_a_file_is_found_by_its_indexes(registry: Connection) -> None:
    text = HEAD + "message A { int32 a = 1; } message B { message C { int32 c = 1; } message D { string d = 1; } }"
    (schema_id,) = put(registry, text)
    plan = make_plan(registry, "orders-value", message="shop.B.D")
    deep = framed(schema_id, text, {"d": "x"}, "shop.B.D", b"\4\2\2")
    assert read(plan, deep) == ({"d": "x"}, None, None)
    _, code, said = read(plan, framed(schema_id, text, {"a": 1}, "shop.A"))
    assert (code, said) == ("RESOLUTION", "the row is a message shop.A, and shop.B.D is read")
    for front in (b"", b"\4", b"\4\2\6", b"\1"):
        assert read(plan, header(schema_id) + front)[1] == "MALFORMED"
    first = make_plan(registry, "orders-value")
    for front in (b"\0", b"\2\0"):
        assert read(first, framed(schema_id, text, {"a": 3}, "shop.A", front))[0] == {"a": 3}
    with pytest.raises(PlanError, match=r"no message 'shop\.X'; it has shop\.A, shop\.B"):
        make_plan(registry, "orders-value", message="shop.X")


def test_damaged_rows_and_strange_ids(registry: Connection) -> None:
    (schema_id,) = put(registry, V1)
    plan = make_plan(registry, "orders-value")
    value = framed(schema_id, V1, {"name": "abcdef"})
    for bad in (
        value[:-1],
        value[:6] + b"\xff" * 11,
        value + b"\x0a",
        value[:8] + b"\xff" + value[9:],
        value + b"\x1f",
    ):
        assert read(plan, bad)[:2] == (None, "MALFORMED")
    for strange in (None, b"", b"\0\0", header(schema_id + 1) + value[5:]):
        assert read(plan, strange) == (None, None, None)


def test_what_must_be_there_and_what_no_column_holds_is_invalid(registry: Connection) -> None:
    text = (
        'syntax = "proto2"; import "google/protobuf/timestamp.proto"; import "confluent/type/decimal.proto";'
        'import "confluent/meta.proto"; package shop; message Order { required int32 id = 1;'
        "optional google.protobuf.Timestamp at = 2; optional confluent.type.Decimal price = 3"
        ' [(confluent.field_meta) = {params: [{key: "precision", value: "5"}, {key: "scale", value: "2"}]}]; }'
    )
    (schema_id,) = put(registry, text)
    plan = make_plan(registry, "orders-value")
    assert dict(plan.columns) == {"id": "INT", "at": "TIMESTAMP", "price": "DECIMAL(5, 2)"}
    kind = GetMessageClass(build_pool(parse_text(FORMAT.name, text)).FindMessageTypeByName("shop.Order"))

    def row(**parts: Any) -> bytes:
        made: Any = kind(**parts)
        return header(schema_id) + b"\0" + bytes(made.SerializePartialToString())

    price = {"value": (-12345).to_bytes(3, "big", signed=True), "precision": 5, "scale": 2}
    at = {"seconds": -1, "nanos": 999_999_999}
    found = read(plan, row(id=1, at=at, price=price))[0]
    assert found == {"id": 1, "at": -1, "price": Decimal("-123.45")}
    assert pa.scalar(found["at"], pa.timestamp("us", tz="UTC")).as_py().microsecond == 999_999
    assert read(plan, row(at=at))[1:] == ("INVALID", "required fields are missing: id")
    for bad in ({"at": {"seconds": 2**62}}, {"price": {**price, "scale": 4}}, {"price": {**price, "scale": 0}}):
        _, code, said = read(plan, row(id=1, **bad))
        assert code == "INVALID"
        assert "shop.Order." in str(said)


def test_known_messages_have_columns_of_their_own(registry: Connection) -> None:
    files = ("timestamp", "wrappers", "struct", "any", "duration")
    text = (
        'syntax = "proto3"; package shop; import "google/type/date.proto";'
        + "".join(f'import "google/protobuf/{one}.proto";' for one in files)
        + "message Order { google.protobuf.Int64Value n = 1; google.type.Date day = 2; google.protobuf.Struct more = 3;"
        " google.protobuf.Any any = 4; google.protobuf.Duration took = 5; repeated google.protobuf.StringValue words = 6;"
        " map<int32, google.type.Date> days = 7; Order inner = 8; }"
    )
    (schema_id,) = put(registry, text)
    plan = make_plan(registry, "orders-value", depth=2)
    row = {
        "n": "-5", "day": {"year": 2024, "month": 2, "day": 29}, "more": {"a": [1, None]}, "took": "1.5s",
        "any": {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "3s"}, "words": ["a", ""],
        "days": {"1": {"year": 2024}}, "inner": {"n": "1", "inner": {"n": "2"}},
    }  # fmt: skip
    found = read(plan, framed(schema_id, text, row))[0]
    assert found["n"] == -5
    assert found["day"] == dt.date(2024, 2, 29)
    assert found["more"] == '{"a": [1.0, null]}'
    assert found["any"] == '{"@type": "type.googleapis.com/google.protobuf.Duration", "value": "3s"}'
    assert (found["took"], found["words"], found["days"]) == (
        {"seconds": 1, "nanos": 500_000_000},
        ["a", ""],
        [(1, None)],
    )
    assert found["inner"]["n"] == 1
    assert "inner" not in found["inner"]


def test_defaults_may_stand_for_what_is_not_set(registry: Connection) -> None:
    text = 'syntax = "proto2"; message Order { optional int32 n = 1 [default = 7]; optional Order inner = 2; optional bytes b = 3; }'
    (schema_id,) = put(registry, text)
    value = header(schema_id) + b"\0"
    assert read(make_plan(registry, "orders-value", depth=1), value)[0] == {"n": None, "b": None}
    plan = make_plan(registry, "orders-value", depth=1, defaults=True)
    assert read(plan, value)[0] == {"n": 7, "b": b""}
    assert DecodePlan.from_json(plan.to_json()) == plan


def test_messages_of_other_files_are_read_through_references(registry: Connection) -> None:
    part = 'syntax = "proto3"; package lib; message Money { int64 cents = 1; }'
    more = 'syntax = "proto3"; package lib; message Money { int64 cents = 1; string currency = 2; }'
    text = HEAD + 'import "lib/money.proto"; message Order { lib.Money price = 1; }'
    put(registry, part, more, subject="money")
    ids = []
    for version in (1, 2):
        draft = Draft(text, FORMAT.name, (Reference("lib/money.proto", "money", version),))
        ids.append(registry.ask(Register(subject_of("orders-value"), draft)).answer.version.schema_id)
    assert ids[0] != ids[1]
    for reader in ("latest", "union"):
        plan = make_plan(registry, "orders-value", reader=reader)
        assert dict(plan.columns) == {"price": "STRUCT<`cents`: BIGINT, `currency`: STRING>"}
        payload = b"\0\x0a\x02\x08\x05"
        assert read(plan, header(ids[0]) + payload)[0] == {"price": {"cents": 5, "currency": ""}}
