"""Values at the edges of their types, on each engine that needs no JVM: the record, or the code and the path of a bad row."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from tests.edges import bare
from tests.frames import frame, header
from tests.frames import record as make_record
from treaty.arrow import decode
from treaty.arrow.jsonschema.batches import make_document_reader
from treaty.arrow.types import kind_of
from treaty.client.records.decoder import to_json_value
from treaty.core.limits import ANY_NESTING
from treaty.core.names import DEFAULT_CONTEXT
from treaty.formats.protobuf.encoding.wire import encode_varint
from treaty.formats.protobuf.runtime import build_pool, create_message
from treaty.plan import jsonschema
from treaty.plan.avro import planner as avro
from treaty.plan.options import DecodeOptions
from treaty.plan.protobuf import planner as protobuf
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_text
from treaty.plan.value import DecodePlan

Row = tuple[Any, str | None, str | None]
"""A record, or a code and a sentence."""


def plan_of(format_: str, *texts: str, engine: str = "") -> DecodePlan:
    known = [
        RegisteredSchema(place, DEFAULT_CONTEXT, place, format_, parse_text(format_, text))
        for place, text in enumerate(texts, 1)
    ]
    planner = jsonschema if format_ == "JSON" else protobuf
    plan = planner.compose(known, known[0].schema, DecodeOptions())
    return DecodePlan.from_json(plan.to_json()) if not engine else _with_engine(plan, engine)


def _with_engine(plan: DecodePlan, engine: str) -> DecodePlan:
    return DecodePlan.from_json(json.dumps({**json.loads(plan.to_json()), "engine": engine}))


def rows_of(plan: DecodePlan, payloads: Sequence[bytes], schema_id: int = 1) -> list[Row]:
    frames = pa.array([header(schema_id) + one for one in payloads], pa.binary())
    found = decode(frames, plan)
    errors = [one or {"code": None, "message": None} for one in found["error"].to_pylist()]
    records = found["record"].to_pylist()
    return [(record, error["code"], error["message"]) for record, error in zip(records, errors, strict=True)]


# ------------------------------------------------------------------------------------------------------------ JSON

COLUMNS = {
    "n": {"type": "integer"},
    "r": {"type": "number"},
    "s": {"type": "string"},
    "": {"type": "integer"},
    "p": {"type": "number", "multipleOf": 0.01, "minimum": 0, "maximum": 999},
    "l": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    "m": {"type": "object", "additionalProperties": {"type": "integer"}},
}
DRAFTS = ("", "http://json-schema.org/draft-06/schema#", "https://json-schema.org/draft/2020-12/schema")
BAD = "MALFORMED"


def document_schema(draft: str = "", *, columns: Mapping[str, Any] = COLUMNS) -> str:
    named = {"$schema": draft} if draft else {}
    return json.dumps({**named, "type": "object", "properties": columns})


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_number_with_a_fraction_of_zeros_is_an_integer(draft: str) -> None:
    plan = plan_of("JSON", document_schema(draft))
    whole = {"1.0": 1, "1e2": 100, "-0.0": 0, "0e99999999": 0, "120e-1": 12, "9223372036854775807.000": 2**63 - 1}
    found = rows_of(plan, [b'{"n":%s,"l":[{"n":%s}]}' % (one.encode(), one.encode()) for one in whole])
    assert [(row[0]["n"], row[0]["l"]) for row in found] == [(one, [{"n": one}]) for one in whole.values()]
    assert {row[1] for row in rows_of(plan, [b'{"n":1.5}', b'{"n":1e-1}', b'{"n":"1.0"}', b'{"n":1e-99999999}'])} == {
        BAD
    }


def test_draft_4_has_integers_without_a_fraction_alone_whatever_other_versions_say() -> None:
    plan = plan_of("JSON", document_schema(), document_schema("http://json-schema.org/draft-04/schema#"))
    assert rows_of(plan, [b'{"n":1.0}'], 1)[0][0]["n"] == 1
    assert rows_of(plan, [b'{"n":1.0}', b'{"n":1e2}'], 2) == 2 * rows_of(plan, [b'{"n":"x"}'], 2)
    assert rows_of(plan, [b'{"n":1}'], 2)[0][0]["n"] == 1
    assert "draft 4" in plan.explain()


UNFIT = {
    '{"n":9223372036854775808}': "/n: 9223372036854775808 is beyond 64 bits",
    '{"n":-9223372036854775809}': "/n: -9223372036854775809 is beyond 64 bits",
    '{"n":1e99999999}': "/n: 1E+99999999 is beyond 64 bits",
    '{"":1e19}': "/: 1E+19 is beyond 64 bits",
    '{"l":[{"n":1},{"n":9223372036854775808}]}': "/l/1/n: 9223372036854775808 is beyond 64 bits",
    '{"m":{"a/b~c":9223372036854775808}}': "/m/a~1b~0c: 9223372036854775808 is beyond 64 bits",
    '{"p":1000}': "/p: 1000 has more digits than DECIMAL(5, 2)",
    '{"p":999.999}': "/p: 999.999 has more digits than DECIMAL(5, 2)",
}
"""Values of their column's type that it can't hold, and what is said of them."""


@pytest.mark.parametrize("text", UNFIT)
def test_a_value_that_its_column_cannot_hold_is_invalid_with_its_path(text: str) -> None:
    plan = plan_of("JSON", document_schema())
    both = (
        text[:-1] + ',"r":true}'
    )  # another value is of no number: the document is none of its columns' types, in any order
    front = '{"r":true,' + text[1:]
    found = rows_of(plan, [one.encode() for one in (text, both, front, text + "x")])
    assert found[0] == (None, "INVALID", UNFIT[text])
    assert [one[1] for one in found[1:]] == [BAD, BAD, BAD]


def test_a_sentence_has_the_beginning_of_a_long_value_and_of_a_long_path() -> None:
    plan = plan_of("JSON", document_schema())
    (row,) = rows_of(plan, [b'{"m":{"%s":%s}}' % (b"k" * 10_000, b"9" * 900)])
    assert row[1] == "INVALID"
    assert row[2] is not None
    assert len(row[2]) < 300


def test_the_empty_name_is_a_name() -> None:
    plan = plan_of("JSON", document_schema(columns={"": {"type": "integer"}, "s": {"type": "string"}}))
    found = rows_of(plan, [b'{"":4,"s":"a"}', b'{"":5,"s":7}', b'{"":"x"}', b'{"s":"a"}'])
    assert [one[0] and one[0][""] for one in found] == [4, 5, None, None]
    assert [one[1] for one in found] == [None, None, BAD, None]


DAYS = {
    "2024-02-29": 19_782, "0000-01-01": -719_528, "0000-02-29": -719_469, "-0001-01-01": -719_893, "+12024-01-01": 3_672_148,
    "12024-01-01": 3_672_148, "+2024-01-01": 19_723, "-0000-01-01": -719_528, "2024": 19_723, "2024-3": 19_783, "00024-2-9": -710_723,
    "\x00 2024-01-01\x7f": 19_723, "2024-01-01T25:99": 19_723, "+5881580-07-11": 2**31 - 1, "-5877641-06-23": -(2**31),
}  # fmt: skip
"""Days since 1970, as `java.time` counts them."""
NO_DAYS = (
    "123",
    "12345678-01-01",
    "2024-02-30",
    "0001-02-29",
    "2024-",
    "2024-13-01",
    "\u00a02024-01-01",
    "--2024-01-01",
    "2024-01-01x",
    "",
)
FAR_DAYS = ("+5881580-07-12", "-5877641-06-22", "9999999-12-31")
INSTANTS = {
    '"2024-01-01T00:00:00"': 1_704_067_200, '"2024-01-01T00:00:00+01:00"': 1_704_063_600, '"0000-01-01T00:00:00Z"': -62_167_219_200,
    '"-0001-12-31T23:59:59Z"': -62_167_219_201, '"+12024-01-01T00:00:00"': 317_273_587_200, "7": 7, "-1": -1, "9223372036854": 9_223_372_036_854,
    '"2024-02-29t12:00:00z"': 1_709_208_000, '"2024-01-01T00:00:00-18:00"': 1_704_132_000,
}  # fmt: skip
"""Seconds since 1970."""
NO_INSTANTS = ('"12024-01-01T00:00:00"', '"+2024-01-01T00:00:00"', '"-0000-01-01T00:00:00"', '"2023-02-29T00:00:00"', '"2024-01-01T24:00:00"',
    '"2024-01-01T00:00:60Z"', '"2024-01-01T00:00:00+18:01"', '"2024-01-01 00:00:00"', "1.5", "true", '"1704067200"')  # fmt: skip
FAR_INSTANTS = ("9223372036855", "-9223372036855", '"+294247-01-10T04:00:54.775808Z"', '"-290308-12-21T19:59:05.999Z"')


def times(name: str, values: Sequence[str]) -> list[tuple[int | None, str | None]]:
    format_ = {"d": "date", "t": "date-time"}[name]
    plan = plan_of("JSON", document_schema(columns={name: {"type": "string", "format": format_}}))
    frames = pa.array([header(1) + b'{"%s":%s}' % (name.encode(), one.encode()) for one in values], pa.binary())
    found = make_document_reader(plan, kind_of(plan))(frames)
    column = found.record.field(0)
    numbers = column.view(pa.int32() if name == "d" else pa.int64()).to_pylist()
    return list(zip(numbers, found.code.to_pylist(), strict=True))


def test_days_of_all_years_are_those_of_java() -> None:
    assert times("d", [json.dumps(one) for one in DAYS]) == [(one, None) for one in DAYS.values()]
    assert {code for _, code in times("d", [json.dumps(one) for one in NO_DAYS])} == {BAD}
    assert {code for _, code in times("d", [json.dumps(one) for one in FAR_DAYS])} == {"INVALID"}


def test_times_without_a_zone_are_in_utc_and_years_are_those_of_iso_8601() -> None:
    assert times("t", list(INSTANTS)) == [(one * 1_000_000, None) for one in INSTANTS.values()]
    assert {code for _, code in times("t", NO_INSTANTS)} == {BAD}
    assert {code for _, code in times("t", FAR_INSTANTS)} == {"INVALID"}


def test_a_text_is_a_decimal_as_java_reads_one() -> None:
    plan = plan_of("JSON", document_schema())
    good = rows_of(plan, [b'{"p":"%s"}' % one for one in (b"1,0", b"1e2", b"+.5", b"1.", "\u0661".encode())])
    assert [str(row[0]["p"]) for row in good] == ["10.00", "100.00", "0.50", "1.00", "1.00"]
    assert {
        row[1] for row in rows_of(plan, [b'{"p":"%s"}' % one for one in (b" 1", b"1_0", b"", b"NaN", b"0x1", b"1e")])
    } == {BAD}


# ------------------------------------------------------------------------------------------------------------ Avro

MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
PRICE = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
LINE = {"type": "record", "name": "Line", "fields": [{"name": "p", "type": PRICE}, {"name": "s", "type": "string"}]}
FAR, DEAR = 2**63 - 1, (10_000).to_bytes(2, "big")
FAR_WORDS = f"{FAR} milliseconds are beyond 64 bits of microseconds"
DEAR_WORDS = "10000 has not the digits of decimal(4,2) without its point"
UNFIT_AVRO: tuple[tuple[Any, Any, str], ...] = (
    (MILLIS, FAR, f"/f: {FAR_WORDS}"),
    (MILLIS, -(2**63), f"/f: {-(2**63)} milliseconds are beyond 64 bits of microseconds"),
    ({"type": "long", "logicalType": "local-timestamp-millis"}, FAR, f"/f: {FAR_WORDS}"),
    (PRICE, DEAR, f"/f: {DEAR_WORDS}"),
    (PRICE, b"", "/f: a number of no bytes has not the digits of decimal(4,2) without its point"),
    (PRICE, b"\x7f" * 900, "/f: a number of 900 bytes has not the digits of decimal(4,2) without its point"),
    ({"type": "fixed", "name": "X", "size": 4, "logicalType": "decimal", "precision": 9}, b"\x3b\x9a\xca\x00", "/f: 1000000000 has not the digits of decimal(9,0) without its point"),
    ({"type": "array", "items": LINE}, [{"p": b"\1", "s": "a"}, {"p": DEAR, "s": "b"}], f"/f/1/p: {DEAR_WORDS}"),
    ({"type": "map", "values": ["null", MILLIS]}, {"k": FAR}, f"/f/k: {FAR_WORDS}"),
    (["null", LINE], {"p": DEAR, "s": ""}, f"/f/p: {DEAR_WORDS}"),
    (["null", MILLIS, "string"], FAR, f"/f: {FAR_WORDS}"),
)  # fmt: skip
"""Types, values of their bytes that do not fit, and what is said of them."""


@pytest.mark.parametrize("at", range(len(UNFIT_AVRO)))
def test_a_value_of_avro_that_its_column_cannot_hold_is_invalid_with_its_path(at: int) -> None:
    type_, value, sentence = UNFIT_AVRO[at]
    text = make_record(("f", type_), ("t", "string"))
    known = [RegisteredSchema(1, DEFAULT_CONTEXT, 1, "AVRO", parse_text("AVRO", text))]
    plan = avro.compose(known, known[0].schema, 3, "refuse")
    payload = frame(1, make_record(("f", bare(type_)), ("t", "string")), {"f": value, "t": "x"})[5:]
    found = rows_of(plan, [payload, payload[:-1], payload + b"\0"])
    assert found[0] == (None, "INVALID", sentence)
    assert [one[1] for one in found[1:]] == [BAD, BAD]


# -------------------------------------------------------------------------------------------------------- Protobuf

PROTO = """syntax = "proto3"; package shop; import "google/protobuf/any.proto"; import "google/protobuf/timestamp.proto";
message Event { google.protobuf.Any body = 1; repeated google.protobuf.Any many = 2; map<string, google.protobuf.Any> by = 3; Cover cover = 4;
  Kind kind = 5; oneof how { string a = 6; string b = 7; } }
message Cover { google.protobuf.Any body = 1; string s = 2; }
message Order { int32 id = 1; Kind kind = 2; }
enum Kind { option allow_alias = true; UNKNOWN = 0; CARD = 1; CREDIT_CARD = 1; PLASTIC = 1; LOW = -1; LEAST = -1; }"""
URL = "type.googleapis.com/"


def field(number: int, data: bytes) -> bytes:
    return encode_varint(number << 3 | 2) + encode_varint(len(data)) + data


def packed(url: str, data: bytes) -> bytes:
    """The bytes of a `google.protobuf.Any`."""
    return field(1, url.encode()) + field(2, data)


ORDER = packed(f"{URL}shop.Order", b"\x08\x07\x10\x01")
ORDER_JSON = {"@type": f"{URL}shop.Order", "id": 7, "kind": "CARD"}
ANYS: Mapping[str, tuple[bytes, Any]] = {
    "a type of the file": (ORDER, ORDER_JSON),
    "a type of an import": (packed(f"{URL}google.protobuf.Timestamp", b"\x08\x07"), {"@type": f"{URL}google.protobuf.Timestamp", "value": "1970-01-01T00:00:07Z"}),
    "a type that is not imported": (packed(f"{URL}google.protobuf.Duration", b"\x08\x07"), {"@type": f"{URL}google.protobuf.Duration", "value": "CAc="}),
    "a type that is nowhere": (packed("x/y.Z", b"123"), {"@type": "x/y.Z", "value": "MTIz"}),
    "no type": (packed("", b"1"), {"@type": "", "value": "MQ=="}),
    "a broken value": (packed(f"{URL}shop.Order", b"\xff"), {"@type": f"{URL}shop.Order", "value": "/w=="}),
    "a value without JSON": (packed(f"{URL}google.protobuf.Timestamp", b"\x08" + encode_varint(2**62)), {"@type": f"{URL}google.protobuf.Timestamp", "value": "CICAgICAgICAQA=="}),
    "an Any in an Any": (packed(f"{URL}google.protobuf.Any", ORDER), {"@type": f"{URL}google.protobuf.Any", "value": ORDER_JSON}),
    "a broken one in a message": (packed(f"{URL}shop.Cover", field(1, packed("q/Q", b"1")) + field(2, b"s")), {"@type": f"{URL}shop.Cover", "body": {"@type": "q/Q", "value": "MQ=="}, "s": "s"}),
    "nothing": (b"", {}),
}  # fmt: skip


@pytest.mark.parametrize("engine", ["ptars", "upb"])
def test_an_any_is_protojson_or_keeps_its_bytes(engine: str) -> None:
    plan = plan_of("PROTOBUF", PROTO, engine=engine)
    parts = [
        field(1, data)
        + field(2, data)
        + field(2, data)
        + field(3, field(1, b"k") + field(2, data))
        + field(4, field(1, data))
        for data, _ in ANYS.values()
    ]
    for (record, code, _), (_, expected) in zip(
        rows_of(plan, [b"\0" + one for one in parts]), ANYS.values(), strict=True
    ):
        assert code is None
        texts = (record["body"], *record["many"], dict(record["by"])["k"], record["cover"]["body"])
        assert [json.loads(one) for one in texts] == [expected] * 5


def test_an_any_nests_as_deep_as_the_limit_and_keeps_its_bytes_below() -> None:
    plan = plan_of("PROTOBUF", PROTO)
    for depth in (ANY_NESTING, 3_000):
        data = ORDER
        for _ in range(depth - 1):
            data = packed(f"{URL}google.protobuf.Any", data)
        ((record, code, _),) = rows_of(plan, [b"\0" + field(1, data)])
        assert code is None
        assert ("kind" in record["body"]) == (depth == ANY_NESTING)


def test_records_of_commands_have_an_any_in_the_types_of_their_own_file() -> None:
    pool = build_pool(parse_text("PROTOBUF", PROTO))
    made: Any = create_message(pool.FindMessageTypeByName("shop.Event"))
    made.ParseFromString(field(1, ORDER))
    assert to_json_value(made) == {"body": ORDER_JSON}


@pytest.mark.parametrize("engine", ["ptars", "upb"])
def test_a_number_of_an_enum_has_its_first_name(engine: str) -> None:
    """The second row has both members of a oneof, so it is read by Protobuf's runtime alone."""
    plan = plan_of("PROTOBUF", PROTO, engine=engine)
    for number, name in ((1, "CARD"), (2**64 - 1, "LOW"), (0, "UNKNOWN"), (9, "9")):
        kind = b"\0\x28" + encode_varint(number)
        found = rows_of(plan, [kind, kind + field(6, b"x") + field(7, b"y")])
        assert [row[0]["kind"] for row in found] == [name, name]
