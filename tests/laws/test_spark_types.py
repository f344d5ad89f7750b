"""Several record types in one stream: which columns they become, that each payload is read as its own, in every format."""

import pytest

from tests.frames import frame, record
from tests.shapes import envelope_of
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.formats.avro.canonical import print_schema
from treaty.plan.avro.flat import parse_avro
from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.errors import PlanError
from treaty.plan.format_plans import ProtobufFormatPlan, RecordType
from treaty.plan.types.groups import columns_of
from treaty.plan.types.wide import widen_columns
from treaty.plan.value import DecodePlan

STREET = {"type": "record", "name": "Address", "fields": [{"name": "street", "type": "string"}]}
ZIP = {"type": "record", "name": "Address", "fields": [{"name": "zip", "type": "int"}]}
ORDER = record(("id", "int"), ("amount", "int"), ("to", STREET))
ORDER_2 = record(("id", "long"), ("amount", "int"), ("to", STREET), ("note", ["null", "string"], None))
PAYMENT = record(("id", "long"), ("amount", "string"), ("to", ZIP), name="Payment")
PROTO = 'syntax = "proto3"; package shop; message Order { int32 id = 1; } message Pay { string id = 1; message In { int32 z = 1; } }'
OTHER = 'syntax = "proto3"; package stock; message Item { int64 id = 1; }'
CLASH = 'syntax = "proto3"; package shop; message Order { string name = 7; }'


def put(registry: Connection, subject: str, *texts: str, format_: str = "AVRO") -> list[int]:
    drafts = (Draft(text, format=format_) for text in texts)
    return [registry.ask(Register(subject_of(subject), draft)).answer.version.schema_id for draft in drafts]


def test_each_type_has_a_column_with_the_union_of_its_versions(registry: Connection) -> None:
    first, second = put(registry, "t-shop.Order", ORDER, ORDER_2)
    (third,) = put(registry, "t-shop.Payment", PAYMENT)
    (stranger,) = put(registry, "u-shop.Order", record(("x", "int"), name="Other"))
    plan = make_plan(registry, "t-*", reader="types", ids=[stranger])
    assert plan.columns == (
        ("record_type", "STRING"),
        ("Order", "STRUCT<`id`: BIGINT, `amount`: INT, `to`: STRUCT<`street`: STRING>, `note`: STRING>"),
        ("Payment", "STRUCT<`id`: BIGINT, `amount`: STRING, `to`: STRUCT<`zip`: INT>>"),
    )
    assert [(one.schema_id, one.code) for one in plan.rejected] == [(stranger, "WRONG_SUBJECT")]
    assert [one.schema_id for one in plan.writers] == [first, second, third]
    assert plan.writers[0].text == print_schema(parse_avro(ORDER))
    assert DecodePlan.from_json(plan.to_json()) == plan
    assert "type     shop.Payment" in plan.explain()
    decode = envelope_of(plan)
    old = {"id": 1, "amount": 2, "to": {"street": "x"}}
    paid = {"id": 9, "amount": "3", "to": {"zip": 4}}
    for value, column, expected in (
        (frame(first, ORDER, old), "Order", {**old, "note": None}),
        (frame(second, ORDER_2, {**old, "note": "n"}), "Order", {**old, "note": "n"}),
        (frame(third, PAYMENT, paid), "Payment", paid),
    ):
        found = decode(value)
        assert found[column] == expected
        assert [found[other] for other in {"Order", "Payment"} - {column}] == [None]


def test_wide_columns_are_shared_where_types_agree_and_never_change_for_a_later_type() -> None:
    order = RecordType("Order", "shop.Order", "STRUCT<`id`: INT, `amount`: INT, `at`: DATE, `record_type`: STRING>")
    pay = RecordType("Pay", "shop.Pay", "STRUCT<`ID`: BIGINT, `amount`: STRING, `at`: DATE>")
    refund = RecordType("Refund", "shop.Refund", "STRUCT<`amount`: STRING, `amount_Refund`: INT>")
    count = RecordType("int", "int", "INT")
    found = {one.name: (one.type, one.sources) for one in widen_columns([order, pay, refund, count], "record_type")}
    assert found == {
        "id": ("BIGINT", (("Order", "id"), ("Pay", "ID"))),
        "amount": ("INT", (("Order", "amount"),)),
        "at": ("DATE", (("Order", "at"), ("Pay", "at"))),
        "record_type_Order": ("STRING", (("Order", "record_type"),)),
        "amount_Pay": ("STRING", (("Pay", "amount"),)),
        "amount_Refund": ("STRING", (("Refund", "amount"),)),
        "amount_Refund_Refund": ("INT", (("Refund", "amount_Refund"),)),
        "int": ("INT", (("int", None),)),
    }
    fewer = widen_columns([order, pay], "record_type")
    assert [found[one.name][0] for one in fewer] == [one.type for one in fewer]


def test_columns_are_short_names_unless_two_types_have_them() -> None:
    assert columns_of(["shop.Order", "stock.order", "shop.Pay", "My Order", ""]) == (
        "shop_Order", "stock_order", "Pay", "My_Order", "value",
    )  # fmt: skip


def test_a_type_that_was_renamed_goes_on_in_its_column(registry: Connection) -> None:
    put(registry, "t-1", record(("id", "int"), name="Old"), record(("id", "int"), name="New", aliases=["Old"]))
    plan = make_plan(registry, "t-1", reader="types")
    assert [name for name, _ in plan.columns] == ["record_type", "New"]
    assert len(plan.writers) == 2


def test_ids_alone_name_the_types_and_a_new_type_is_found_later(registry: Connection) -> None:
    ids = put(registry, "t-a", ORDER) + put(registry, "t-b", PAYMENT)
    assert [one.name for one in (make_plan(registry, reader="types", ids=ids).types or pytest.fail("none")).kinds] == [
        "shop.Order",
        "shop.Payment",
    ]
    plan = make_plan(registry, "t-*", reader="wide")
    (late,) = put(registry, "t-c", record(("weight", "double"), name="Parcel"))
    longer = extend(plan, registry, [late])
    assert longer.columns[: len(plan.columns)] == plan.columns
    assert longer.columns[len(plan.columns) :] == (("weight", "DOUBLE"),)
    with pytest.raises(PlanError, match="nobody-"):
        make_plan(registry, "nobody-*", reader="types")


def test_json_types_are_told_by_title_or_subject(registry: Connection) -> None:
    first = put(
        registry,
        "j-1-value",
        '{"title": "My Order", "type": "object", "properties": {"id": {"type": "integer"}}}',
        format_="JSON",
    )
    second = put(registry, "j-2-value", '{"type": "object", "properties": {"id": {"type": "string"}}}', '{"type": "string"}', format_="JSON")  # fmt: skip
    plan = make_plan(registry, "j-*", reader="variant")
    assert plan.columns == (("record_type", "STRING"), ("record", "VARIANT"))
    assert plan.types is not None
    assert [(one.column, one.name) for one in plan.types.kinds] == [("My_Order", "My Order"), ("j_2", "j-2")]
    assert [one.schema_id for one in plan.writers] == [*first, *second]
    assert DecodePlan.from_json(plan.to_json()) == plan


def test_protobuf_messages_become_fields_of_one(registry: Connection) -> None:
    first = put(registry, "p-1", PROTO, format_="PROTOBUF")[0]
    second = put(registry, "p-2", OTHER, format_="PROTOBUF")[0]
    third = put(registry, "p-3", CLASH, format_="PROTOBUF")[0]
    plan = make_plan(registry, "p-*", reader="types")
    assert [name for name, _ in plan.columns] == ["record_type", "Order", "Pay", "Item"]
    assert [(one.schema_id, one.code) for one in plan.rejected] == [(third, "RESOLUTION")]
    assert isinstance(plan.recipe, ProtobufFormatPlan)
    fields = {one.schema_id: dict(one.fields) for one in plan.recipe.heads}
    assert fields == {first: {"00": 1, "0200": 1, "0202": 2}, second: {"00": 3, "0200": 3}}
    assert ("040200", "shop.Pay.In") in plan.recipe.heads[0].others
    only = make_plan(registry, "p-1", reader="types", message="shop.Pay, shop.Pay.In")
    assert [name for name, _ in only.columns] == ["record_type", "Pay", "In"]
    assert extend(only, registry, [second]).columns == only.columns
    assert DecodePlan.from_json(plan.to_json()) == plan
