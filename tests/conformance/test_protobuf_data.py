"""Columns of Protobuf messages, and values in JSON: what is said about single schemas and values."""

import json
from contextlib import suppress

import pytest

from tests.conformance.test_protobuf_limits import FITS
from treaty.core.limits import COLUMNS, FAULTS
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.core.state.columns import Column, Decimal, List, Map, Scalar, Struct
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.columns import PLAIN, derive_columns
from treaty.formats.protobuf.compare.comparison import compare, find_differences
from treaty.formats.protobuf.example import generate_example
from treaty.formats.protobuf.lints import LINTS
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.parser import parse_schema
from treaty.formats.protobuf.printer.normal_form import to_normal_form
from treaty.formats.protobuf.printer.text import print_file
from treaty.formats.protobuf.value import VALUE_RULES, check_value

IMPORTS = "".join(
    f'import "{path}.proto"; '
    for path in (
        *(f"google/protobuf/{name}" for name in ("timestamp", "duration", "wrappers", "struct", "any", "field_mask")),
        *("google/type/date", "google/type/decimal", "confluent/type/decimal", "confluent/meta"),
    )
)


def model(body: str, head: str = 'syntax = "proto3"; package acme; ') -> ProtoSchema:
    return parse_schema(ResolvedSchema("PROTOBUF", f"{head}{IMPORTS}{body}"), strict=True)


def shape(schema: ProtoSchema) -> dict[str, object]:
    return {column.name: (column.type, column.nullable) for column in derive_columns(schema)}


def losses(schema: ProtoSchema) -> set[tuple[str, str]]:
    return {(loss.rule, loss.column) for loss in derive_columns(schema).losses}


# -------------------------------------------------------------------------------------------------------- columns


@pytest.mark.parametrize("kind", PLAIN)
def test_a_scalar_has_its_column_alone_in_lists_and_in_maps(kind: str) -> None:
    found = shape(model(f"message A {{ {kind} a = 1; repeated {kind} b = 2; map<string, {kind}> c = 3; }}"))
    key = Scalar("string")

    assert found == {"a": (PLAIN[kind], False), "b": (List(PLAIN[kind]), False), "c": (Map(key, PLAIN[kind]), False)}


def test_unsigned_numbers_of_64_bits_are_told_wherever_they_stand() -> None:
    found = losses(
        model("message A { uint64 a = 1; repeated fixed64 b = 2; map<uint64, uint64> c = 3; uint32 d = 4; }")
    )

    assert found == {("UNSIGNED_AS_DECIMAL", way) for way in ("a", "b.element", "c.key", "c.value")}


def test_a_column_may_be_null_where_its_field_knows_whether_it_is_set() -> None:
    proto3 = model(
        "message A { int32 a = 1; optional int32 b = 2; A c = 3; oneof o { int32 d = 4; } E e = 5; } enum E { Z = 0; }"
    )
    proto2 = model(
        "message A { required int32 a = 1; optional int32 b = 2; repeated int32 c = 3; optional group D = 4 {} }",
        'syntax = "proto2"; ',
    )
    edition = model(
        "message A { int32 a = 1; int32 b = 2 [features.field_presence = IMPLICIT]; "
        "int32 c = 3 [features.field_presence = LEGACY_REQUIRED]; A d = 4 [features.field_presence = LEGACY_REQUIRED]; }",
        'edition = "2023"; ',
    )

    assert {name: column.nullable for name, column in named(proto3).items()} == {
        "a": False,
        "b": True,
        "c": True,
        "d": True,
        "e": False,
    }
    assert [column.nullable for column in derive_columns(proto2)] == [False, True, False, True]
    assert [column.nullable for column in derive_columns(edition)] == [True, False, False, False]


def named(schema: ProtoSchema) -> dict[str, Column]:
    return {column.name: column for column in derive_columns(schema)}


def test_known_messages_have_columns_of_their_own() -> None:
    schema = model(
        "message A { google.protobuf.Timestamp at = 1; google.protobuf.UInt64Value n = 2; google.protobuf.Struct s = 3; "
        "google.protobuf.Any any = 4; google.type.Date d = 5; google.type.Decimal e = 6; google.protobuf.Duration f = 7; "
        "repeated google.protobuf.StringValue g = 8; confluent.type.Decimal h = 9; confluent.type.Decimal i = 10 "
        '[(confluent.field_meta) = {params: [{key: "precision", value: "12"}, {key: "scale", value: "3"}]}]; '
        'confluent.type.Decimal j = 11 [(confluent.field_meta).params = {key: "precision", value: "40"}]; }'
    )
    seconds = Struct(
        (Column("seconds", Scalar("int64"), nullable=False), Column("nanos", Scalar("int32"), nullable=False))
    )
    found = {name: column.type for name, column in named(schema).items()}

    assert list(found.values())[:8] == [
        Scalar("timestamp"),
        Decimal(20, 0),
        Scalar("variant"),
        Scalar("variant"),
        Scalar("date"),
        Scalar("string"),
        seconds,
        List(Scalar("string")),
    ]
    assert found["i"] == Decimal(12, 3)
    assert isinstance(found["h"], Struct)
    assert isinstance(found["j"], Struct)
    assert losses(schema) == {
        ("NANOS_CUT", "at"),
        ("UNSIGNED_AS_DECIMAL", "n"),
        ("ANY_AS_VARIANT", "s"),
        ("ANY_AS_VARIANT", "any"),
        ("DATE_PARTIAL", "d"),
        ("DECIMAL_TOO_WIDE", "j"),
    }


def test_a_message_inside_itself_is_opened_to_a_stated_depth() -> None:
    schema = model("message A { int32 n = 1; repeated B bs = 2; } message B { A a = 1; string s = 2; }")
    one = derive_columns(schema, recursion=1)
    three = derive_columns(schema)

    assert [column.name for column in one] == ["n"]
    assert [(loss.rule, loss.column) for loss in one.losses] == [("RECURSION_CUT", "bs.element")]
    assert [loss.column for loss in three.losses] == ["bs.element.a.bs.element"]


def test_another_message_than_the_first_may_be_asked_for() -> None:
    schema = model("message A { message B { int32 n = 1; } }")

    for name in ("acme.A.B", ".acme.A.B", "A.B"):
        assert [column.name for column in derive_columns(schema, name)] == ["n"]
    with pytest.raises(InvalidSchemaError, match="no message 'C'"):
        derive_columns(schema, "C")
    with pytest.raises(InvalidSchemaError, match="no message"):
        derive_columns(model("enum E { Z = 0; }"))


def test_comments_are_kept_and_so_is_the_order_of_the_text() -> None:
    schema = model("message A {\n// Which one.\noneof o {\n// By name.\nstring n = 9; }\n// The key.\nint32 k = 1; }")

    assert [(column.name, column.doc) for column in derive_columns(schema)] == [("n", "By name."), ("k", "The key.")]


def chain(length: int) -> ProtoSchema:
    names = "".join(f"message M{at} {{ M{at + 1} a = 1; }}" for at in range(length))
    return model(f"{names} message M{length} {{ int32 a = 1; }}")


def test_columns_have_limits_with_names() -> None:
    assert derive_columns(chain(198)).columns
    with pytest.raises(InvalidSchemaError, match="SCHEMA_DEPTH"):
        derive_columns(chain(5_000))
    doubled = "".join(f"message M{at} {{ M{at + 1} a = 1; M{at + 1} b = 2; }}" for at in range(40))
    with pytest.raises(InvalidSchemaError, match=f"COLUMNS of {COLUMNS}"):
        derive_columns(model(f"{doubled} message M40 {{ int32 a = 1; }}"))


# --------------------------------------------------------------------------------------------------------- values

ORDER = model(
    "message Order { int32 count = 1; repeated Order parts = 2; map<string, int32> sizes = 3; "
    "google.protobuf.Timestamp at = 4; enum State { OPEN = 0; DONE = 1; } State state = 5; "
    "oneof by { string name = 6; int64 number = 7; } bytes raw = 8; map<bool, Order> kept = 9; "
    "google.protobuf.Value any = 10; google.protobuf.Int32Value wrapped = 11; double ratio = 12; string long_name = 13; }"
)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"count": 1, "parts": [{}, {"count": -1}], "sizes": {"a": 1}},
        {"count": "7", "number": "9223372036854775807", "ratio": "NaN", "raw": "AP/+", "state": "DONE"},
        {"longName": "x", "state": 1, "wrapped": None, "any": None, "kept": {"true": {"count": 2}}},
        {
            "long_name": "x",
            "at": "2026-01-01T00:00:00.5Z",
            "wrapped": 4,
            "any": {"deep": [1, {"x": None}]},
            "raw": "_-8",
        },
    ],
)
def test_a_value_of_the_message_has_no_faults(value: object) -> None:
    assert check_value(ORDER, json.dumps(value)) == ()


@pytest.mark.parametrize(
    ("value", "rule", "path"),
    [
        ([], "VALUE_TYPE_MISMATCH", ""),
        ({"count": "x"}, "VALUE_TYPE_MISMATCH", "/count"),
        ({"count": 1.5}, "VALUE_TYPE_MISMATCH", "/count"),
        ({"count": 2**31}, "VALUE_TYPE_MISMATCH", "/count"),
        ({"count": True}, "VALUE_TYPE_MISMATCH", "/count"),
        ({"parts": [{}, {"count": []}]}, "VALUE_TYPE_MISMATCH", "/parts/1/count"),
        ({"parts": {}}, "VALUE_TYPE_MISMATCH", "/parts"),
        ({"parts": [None]}, "VALUE_TYPE_MISMATCH", "/parts/0"),
        ({"sizes": {"a/b": "x"}}, "VALUE_TYPE_MISMATCH", "/sizes/a~1b"),
        ({"sizes": []}, "VALUE_TYPE_MISMATCH", "/sizes"),
        ({"kept": {"yes": {}}}, "VALUE_TYPE_MISMATCH", "/kept/yes"),
        ({"kept": {"true": {"count": {}}}}, "VALUE_TYPE_MISMATCH", "/kept/true/count"),
        ({"at": "tomorrow"}, "VALUE_TYPE_MISMATCH", "/at"),
        ({"at": 3}, "VALUE_TYPE_MISMATCH", "/at"),
        ({"state": "SHUT"}, "VALUE_TYPE_MISMATCH", "/state"),
        ({"raw": "***"}, "VALUE_TYPE_MISMATCH", "/raw"),
        ({"wrapped": "x"}, "VALUE_TYPE_MISMATCH", "/wrapped"),
        ({"counts": 1}, "VALUE_FIELD_UNKNOWN", "/counts"),
        ({"[acme.note]": 1}, "VALUE_FIELD_UNKNOWN", "/[acme.note]"),
        ({"longName": "x", "long_name": "y"}, "VALUE_FIELD_TWICE", "/long_name"),
        ({"name": "x", "number": 1}, "VALUE_ONEOF_TWICE", "/number"),
    ],
)
def test_a_wrong_value_is_told_with_its_place(value: object, rule: str, path: str) -> None:
    (found,) = check_value(ORDER, json.dumps(value))

    assert (found.rule, found.path) == (rule, path)
    assert found.rule in VALUE_RULES
    assert found.message
    assert found.expected
    assert found.line == 1


def test_all_faults_are_told_up_to_a_limit_and_required_fields_are_asked_for() -> None:
    schema = model(
        "message A { required int32 a = 1; optional A b = 2; required string c = 3; }", 'syntax = "proto2"; '
    )
    found = check_value(schema, '{"b": {"a": null},\n "c": 1}')

    assert [(one.rule, one.path, one.line) for one in found] == [
        ("VALUE_TYPE_MISMATCH", "/c", 2),
        ("VALUE_FIELD_MISSING", "", 1),
        ("VALUE_FIELD_MISSING", "/b", 1),
        ("VALUE_FIELD_MISSING", "/b", 1),
    ]
    assert len(check_value(ORDER, json.dumps({"parts": [{"count": "x"}] * 100}))) == FAULTS
    assert check_value(model("enum E { Z = 0; }"), "{}")[0].rule == "VALUE_HAS_NO_TYPE"


def test_a_hostile_value_is_refused_and_does_no_harm() -> None:
    deep = '{"parts":[' * 90 + "{}" + "]}" * 90
    assert check_value(ORDER, deep) == ()
    for hostile in (
        '{"parts":[' * 10_000,
        '{"any":' + "[" * 190 + "]" * 190 + "}",
        "\ud800",
        '{"count": 1e999999999}',
        "",
    ):
        assert check_value(ORDER, hostile)


def test_an_extension_is_a_member_under_its_full_name() -> None:
    proto = 'syntax = "proto2"; package a; message A { extensions 5 to 9; } extend A { optional int32 note = 5; }'
    schema = parse_schema(ResolvedSchema("PROTOBUF", proto), strict=True)

    assert check_value(schema, '{"[a.note]": 1}') == ()
    assert [one.rule for one in check_value(schema, '{"[a.note]": "x"}')] == ["VALUE_FIELD_UNKNOWN"]


# -------------------------------------------------------------------------------------------------------- examples


def test_an_example_of_a_message_inside_itself_ends() -> None:
    values = {generate_example(ORDER, seed) for seed in range(50)}

    assert len(values) > 40
    assert all(check_value(ORDER, value) == () for value in values)


def test_without_an_end_there_is_no_example() -> None:
    endless = "message A { required A a = 1; }"
    doubled = "".join(f"message M{at} {{ required M{at + 1} a = 1; required M{at + 1} b = 2; }}" for at in range(40))
    for body in (endless, f"{doubled} message M40 {{}}"):
        with pytest.raises(ValueError, match="required"):
            generate_example(model(body, 'syntax = "proto2"; '), 1)
    with pytest.raises(ValueError, match="no message"):
        generate_example(model("enum E { Z = 0; }"), 1)


def test_a_message_of_a_reference_is_filled_too() -> None:
    line = ResolvedSchema("PROTOBUF", 'syntax = "proto3"; package dep; message Line { int32 count = 1; }')
    proto = 'syntax = "proto3"; import "line.proto"; message A { dep.Line line = 1; }'
    schema = parse_schema(
        ResolvedSchema("PROTOBUF", proto, (ResolvedReference("line.proto", "line", 1, line),)), strict=True
    )

    assert "count" in json.loads(generate_example(schema, 3))["line"]
    assert check_value(schema, '{"line": {"count": 1}}') == ()
    assert [one.path for one in check_value(schema, '{"line": {"counts": 1}}')] == ["/line/counts"]


# ------------------------------------------------------------------------------------------------------ large files


WITHOUT_VALUES = ("escapes", "fields", "maps")
"""Files without a message, or with one of more than the 65,535 bytes in memory that Google's runtime takes."""


@pytest.mark.parametrize("name", FITS)
def test_what_is_large_is_handled_in_all_ways(name: str) -> None:
    one, other = (parse_schema(ResolvedSchema("PROTOBUF", FITS[name]), strict=False) for _ in range(2))

    assert compare(one, other) == find_differences(one, other) == ()
    assert print_file(
        to_normal_form(parse_schema(ResolvedSchema("PROTOBUF", print_file(to_normal_form(one))), strict=False))
    ) == print_file(to_normal_form(one))
    for lint in LINTS.values():
        assert len(lint.find(one)) <= FAULTS
    with suppress(InvalidSchemaError):
        assert len(derive_columns(one).columns) <= COLUMNS
    if name in WITHOUT_VALUES:
        assert [found.rule for found in check_value(one, "{}")] == ["VALUE_HAS_NO_TYPE"]
        with pytest.raises(ValueError, match="no message"):
            generate_example(one, 1)
    else:
        assert [found.rule for found in check_value(one, '{"of none": 1}')] == ["VALUE_FIELD_UNKNOWN"]
        assert check_value(one, generate_example(one, 1)) == ()


def test_extensions_and_what_is_reserved_are_compared_in_near_linear_time() -> None:
    fields = "".join(f"optional int32 f{at} = {at};" for at in range(1, 9_000))
    aside = "".join(f"reserved {at};" for at in range(50_000, 70_000, 2))
    extends = "".join(f"optional int32 x{at} = {at};" for at in range(10_000, 18_000))
    bodies = (
        f"{aside} extensions 10000 to 18999; {fields}",
        f"extensions 10000 to 18999; {fields} optional int32 z = 50002;",
    )
    bare = [f'syntax = "proto2"; message A {{ {body} }}' for body in bodies]
    old = parse_schema(ResolvedSchema("PROTOBUF", f"{bare[0]} extend A {{ {extends} }}"), strict=True)
    new = parse_schema(ResolvedSchema("PROTOBUF", bare[1]), strict=True)

    assert compare(new, old) == compare(old, new) == ()
    assert {one.rule for one in find_differences(new, old)} == {
        "FIELD_ADDED",
        "RESERVED_NUMBER_USED",
        "EXTENSION_REMOVED",
    }


def test_pieces_of_one_option_become_one_in_near_linear_time() -> None:
    head = 'syntax = "proto2"; import "google/protobuf/descriptor.proto"; '
    defined = "message R { repeated int32 n = 1; optional R r = 2; } extend google.protobuf.FileOptions { optional R x = 50000; } "
    pieces = "".join(f"option (x).r.n = {at};" for at in range(15_000))
    shown = print_file(
        to_normal_form(parse_schema(ResolvedSchema("PROTOBUF", f"{head}{defined}{pieces}"), strict=False))
    )
    deep = parse_schema(ResolvedSchema("PROTOBUF", f"{head}{defined}option (x){'.r' * 500}.n = 1;"), strict=False)

    assert shown.count("\n      ") == 15_000
    assert shown.count("option (") == 1
    assert print_file(
        to_normal_form(parse_schema(ResolvedSchema("PROTOBUF", print_file(to_normal_form(deep))), strict=False))
    ) == print_file(to_normal_form(deep))
