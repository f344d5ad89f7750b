"""Columns against schemas: each kind of column with each leaf of a format, and what goes together or not at the corners."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from tests.frames import record
from tests.plan_records.avro_tables import (
    MICROS,
    MILLIS,
    NANOS,
    WALL_MICROS,
    WALL_MILLIS,
    WALL_NANOS,
    decimal,
    enum,
    fixed,
    inner,
    listed,
    logical,
    mapped,
)
from tests.plan_records.column_words import read_columns
from tests.plan_records.record import REFUSED, PlanRecord
from tests.plan_records.texts import conversion_lines, refusal_lines
from treaty.plan.encoding.fit import LOSSY
from treaty.plan.encoding.options import EncodeOptions
from treaty.plan.encoding.planner import compose
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_text

PlanCase = Callable[[PlanRecord], None]
COLUMNS = (
    "null", "boolean", "int32", "int64", "float32", "float64", "string", "binary", "date", "timestamp", "timestamp_ntz", "variant",
    "decimal(9, 2)", "decimal(20, 0)", "decimal(38, 38)", "[int32]", "[string!]", "{string: int32}", "{int64: float64!}", "(a int32)", "(member0 int32, member1 string)",
)  # fmt: skip
AVRO_LEAVES: Mapping[str, Any] = {
    **{name: name for name in ("null", "boolean", "int", "long", "float", "double", "string", "bytes")},
    "enum": enum("E", "P", "Q", "R", "S", "T", "U"), "fixed": fixed("F", 3), "date": logical("int", "date"),
    "time-millis": logical("int", "time-millis"), "time-micros": logical("long", "time-micros"), "millis": MILLIS, "micros": MICROS, "nanos": NANOS,
    "wall millis": WALL_MILLIS, "wall micros": WALL_MICROS, "wall nanos": WALL_NANOS, "uuid": logical("string", "uuid"), "decimal": decimal(9, 2),
    "short decimal": decimal(4, 4), "fixed decimal": decimal(20, 3, 9), "int or null": ["null", "int"], "union": ["int", "string", "null"],
    "wide union": ["float", "long", decimal(9, 2, 5), "string", "bytes"], "union of records": [inner("A", ("a", "long")), inner("B", ("a", "int"), ("b", "int", 1))],
    "list": listed("long"), "list of null": listed(["null", "int"]), "map": mapped("double"), "record": inner("R", ("a", "long")), "nothing": ["null"],
}  # fmt: skip
JSON_LEAVES: Mapping[str, Any] = {
    "boolean": {"type": "boolean"}, "int": {"type": "integer", "minimum": -5, "maximum": 5}, "long": {"type": "integer"}, "number": {"type": "number"},
    "connect float": {"type": "number", "connect.type": "float32"}, "cents": {"type": "number", "multipleOf": 0.01, "minimum": 0, "maximum": 999},
    "connect decimal": {"type": "number", "title": "org.apache.kafka.connect.data.Decimal", "connect.type": "bytes", "connect.parameters": {"scale": "2", "connect.decimal.precision": "9"}},
    "string": {"type": "string"}, "word": {"enum": ["a", "b"]}, "base64": {"type": "string", "contentEncoding": "base64"},
    "date": {"type": "string", "format": "date"}, "instant": {"type": "string", "format": "date-time"}, "any": {}, "several": {"type": ["integer", "string"]},
    "optional": {"type": ["integer", "null"]}, "one of": {"oneOf": [{"type": "null"}, {"type": "integer"}]}, "list": {"type": "array", "items": {"type": "integer"}},
    "list of optional": {"type": "array", "items": {"type": ["number", "null"]}}, "map": {"type": "object", "additionalProperties": {"type": "number"}},
    "record": {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}, "null": {"type": "null"},
}  # fmt: skip
MESSAGE_LEAVES = (
    "int32", "int64", "uint32", "uint64", "sint32", "fixed32", "fixed64", "sfixed64", "float", "double", "bool", "string", "bytes", "E",
    "google.protobuf.Timestamp", "google.type.Date", "google.protobuf.Int64Value", "google.protobuf.UInt32Value", "google.protobuf.BytesValue",
    "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue", "google.protobuf.Any", "google.protobuf.Duration", "google.type.Money", "M",
    "repeated int64", "repeated M", "map<string, double>", "map<int32, M>", "map<bool, E>", "optional int32", "repeated google.protobuf.Timestamp",
)  # fmt: skip
FILES = {
    "Timestamp": "protobuf/timestamp", "Date": "type/date", "Value": "protobuf/struct", "Struct": "protobuf/struct", "ListValue": "protobuf/struct",
    "Any": "protobuf/any", "Duration": "protobuf/duration", "Money": "type/money",
}  # fmt: skip
"""By message of Google's, its file; all others are wrappers."""


def pair_lines(format_: str, text: str, columns: str, **options: Any) -> Iterator[str]:
    """What becomes of columns, by the format's planner alone."""
    schema = RegisteredSchema(1, "s", 1, format_, parse_text(format_, text))
    try:
        plan = compose(schema, read_columns(columns), EncodeOptions(**options))
    except REFUSED as error:
        yield from (f"  {line}" for line in refusal_lines(error))
        return
    yield from (
        f"  {line}" for part in plan.fit.parts for line in conversion_lines(part.fit, part.name, part.source, 0)
    )


def run_matrix(format_: str, texts: Mapping[str, str], column: str) -> PlanCase:
    """A kind of column, never null and null at times, against each leaf."""

    def run(case: PlanRecord) -> None:
        for name, text in texts.items():
            free = [*pair_lines(format_, text, f"x {column}")]
            plain = free if format_ == "PROTOBUF" else [*pair_lines(format_, text, f"x {column}!")]
            case.add(f"{column} as {name}", plain if plain == free else (*plain, *free))
            if LOSSY.intersection(" ".join(plain).split()):
                case.add("lossy", pair_lines(format_, text, f"x {column}!", lossy=("/x",)))

    return run


def message_text(kind: str) -> str:
    file = FILES.get(kind.rpartition(".")[2], "protobuf/wrappers")
    imports = f'import "google/{file}.proto";' if "google" in kind else ""
    return f'syntax = "proto3"; package p; {imports} enum E {{ NONE = 0; ONE = 1; }} message Order {{ {kind} x = 1; }} message M {{ int64 a = 1; string b = 2; }}'


AVRO_TEXTS = {name: record(("x", kind)) for name, kind in AVRO_LEAVES.items()}
JSON_TEXTS = {
    name: json.dumps({"type": "object", "properties": {"x": kind}, "required": ["x"]})
    for name, kind in JSON_LEAVES.items()
}
MESSAGE_TEXTS = {kind: message_text(kind) for kind in MESSAGE_LEAVES}
MATRIX = {
    f"{format_.lower()}-of-{''.join(sign if sign.isalnum() else '-' for sign in column).strip('-')}": run_matrix(
        format_, texts, column
    )
    for format_, texts in (("AVRO", AVRO_TEXTS), ("JSON", JSON_TEXTS), ("PROTOBUF", MESSAGE_TEXTS))
    for column in (COLUMNS if format_ != "PROTOBUF" else COLUMNS[1:-1])
}

WHOLE = record(
    ("i", "int"), ("n", ["null", "long"], None), {"name": "now", "type": "string", "aliases": ["was", "first"]}, {"name": "s", "type": "string", "aliases": ["was"], "default": "d"},
    ("r", inner("R", ("p", "int"), ("q", ["null", "string"], None), ("z", "int", 5)), {"p": 1}), ("l", listed(["null", "R"]), [None, {"p": 2}]), ("m", mapped("R"), {"k": {"p": 3, "q": None}}),
    ("u", ["string", "R", "null"], "w"), ("e", enum("E", "P", "Q"), "Q"), ("v", [MILLIS, "string"], 7), ("w", ["null", listed(["null", MICROS])], None), ("k", [mapped(decimal(4, 2)), "null"], {"a": "\u0001"}), ("t", MILLIS, 7), ("d", decimal(6, 2), "\u0004\u00d2"), ("y", "bytes", "\u00ff"), ("f", fixed("F", 1), "\u0001"),
)  # fmt: skip
Asked = Sequence[tuple[str, Mapping[str, Any]]]
CORNERS: Mapping[str, tuple[str, str, Asked]] = {
    "avro-defaults": ("AVRO", WHOLE, (
        ("i int32!, now string!", {}), ("i int32!, first string!", {}), ("i int32!, was string!", {}), ("i int32, was string, now string", {}), ("i int32!", {}),
        ("i int32!, now string!, n int32, s string, r (p int32!), u string", {}), ("now string!, i int32!", {"lossy": ("/i",)}), ("i int32!, now string!, other int32, more int32, third int32, fourth int32", {}),
        ("i string!, now int32!, n boolean, r int32", {}), ("i int32!, now string!, l [(p int32, q string)], m {string: (p int64!)!}", {}), ("I int32!, now string!", {}),
        ("i int64!, now string!, t timestamp!, d float64!, r (p int64!, q string, z string)", {"lossy": ("/i", "/t", "/d", "/r/p", "/r/z")}),
        ("i int64!, now string!, u (member0 string, member1 (p int32!))", {}), ("i int32!, now string!, u (p int32!)", {}), ("i int32!, now string!, u (p int32!)", {"lossy": ("/u",)}),
    )),
    "avro-no-record": ("AVRO", '["null", "long", "string"]', (("x int32", {}), ("x string!", {}), ("x (a int32)", {}), ("x int32, y int32", {}), ("x binary", {}), ("x (member0 int64, member1 string)", {}), ("x decimal(10, 0)", {"lossy": ("",)}))),
    "avro-nullable": ("AVRO", '["null", "long"]', (("x int32", {}), ("x int64!", {}), ("x string", {}))),
    "avro-null": ("AVRO", '["null"]', (("x int32", {}), ("x null", {}))),
    "avro-one-leaf": ("AVRO", '"double"', (("x int32", {}), ("x int64!", {}), ("x int64!", {"lossy": ("",)}), ("x string", {}), ("", {}), ("x [int32]", {}))),
    "avro-framings": ("AVRO", record(("x", "int")), (*(("x int32!", {"framing": one}) for one in ("prefix", "header", "version", "md5", "single-object")),
        ("x int32!", {"part": "key"}), ("x int32!", {"codec": "gzip"}), ("x int32!", {"message": "M"}), ("x int32!", {"validate": True}), ("x int32!", {"encoding": "comma"}), ("x int32!", {"version": 1}), ("x int32!", {"version": 9}), ("x int32!", {"schema_type": "AVRO"}))),
    "avro-unions": ("AVRO", record(("u", ["int", "string", inner("A", ("a", "int")), inner("B", ("a", "int"), ("b", listed("A"))), listed("double"), mapped("string"), "null"]), ("v", ["float", "double", decimal(9, 2)])), (
        ("u int32, v int32!", {}), ("u int64, v int64!", {}), ("u float64, v float64!", {}), ("u string!, v float32!", {}), ("u (a int32!), v decimal(5, 1)!", {}), ("u (a int32!, b [(a int32!)!]), v string!", {}), ("u [int32!], v decimal(30, 2)!", {}),
        ("u {string: int32!}, v timestamp!", {}), ("u (member0 int32, member1 string), v (member2 decimal(9, 2), member0 float32)", {}), ("u (member5 {string: string!}, member2 (a int32!)), v (member0 float64)!", {"lossy": ("/v",)}), ("u (member0 int32, other string), v int32!", {}), ("u binary, v boolean!", {}), ("u date, v date!", {}),
        ("u (), v int32!", {}), ("u (member9 int32), v int32", {}))),
    "avro-recursion": ("AVRO", record(("n", inner("N", ("v", "int"), ("next", ["null", "N"], None), ("more", listed("N"), []))), ("u", ["null", "N", "string"], None)), (
        ("n (v int32!)!", {}), ("n (v int32!, next (v int32!, next (v int32!)))!", {}), ("n (v int32!, more [(v int64!)!])!", {}), ("n (v int32!)!, u string", {}), ("n (v int32!)!, u (v int32!)", {}))),
    "avro-union-of-itself": ("AVRO", record(("u", ["string", inner("N", ("n", "N"))])), (("u string!", {}), ("u (member0 string)!", {}))),
    "avro-deep-decimal": ("AVRO", record(("d", decimal(60, 2)), ("x", "int")), (("d string!, x int32!", {}), ("x int32!", {}))),
    "json-required": ("JSON", json.dumps({"type": "object", "required": ["a", "b", "x"], "properties": {
        "a": {"type": ["integer", "null"]}, "b": {"type": "string"}, "c": {"type": ["string", "null"], "enum": ["p", "q", None]}, "d": {"type": "array", "items": {"type": ["string", "null"]}},
        "e": {"type": "object", "properties": {"f": {"type": "number"}, "g": {"oneOf": [{"type": "null"}, {"type": "string"}]}}, "required": ["f", "g"]}, "h": {"type": "object", "patternProperties": {"^k": {"type": "integer"}}}, "x": {}},
        "oneOf": [{"required": ["d"], "properties": {"i": {"type": "integer"}}}, {"required": ["d", "c"], "properties": {"i": {"type": ["integer", "null"]}}}]}), (
        ("a int32, b string, d [string], x string", {}), ("a int32!, b string!, c string, d [string!]!, e (f float64, g string), x variant", {}), ("a int64, b int32, d [int32]!, h {string: int64}, x (k int32)", {}), ("b string!", {}),
        ("a int32, b string!, d [string]!, e (f decimal(5, 2)!, g string)!, x [int32], i int32", {"validate": True}), ("a string!, b (x int32)!, d string!, x int32", {}), ("a int32!, b string!, d [string]!, x float64!", {"lossy": ("/a", "/x")}), ("A int32!", {}))),
    "json-no-object": ("JSON", '{"type": "integer", "maximum": 9}', (("x int32", {}), ("x int64!", {}), ("x string", {}), ("x int32, y int32", {}), ("x float64", {"lossy": ("",)}))),
    "json-open": ("JSON", '{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}}', (("a string", {}), ("a string, b int32", {}), ("m {string: int32}", {}))),
    "json-choices": ("JSON", json.dumps({"type": "object", "properties": {"u": {"anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"type": "object", "properties": {"b": {"const": "k"}}, "required": ["b"]}]}, "v": {"allOf": [{"type": "string"}, {"enum": ["a", "b", 3]}]}, "w": {"$ref": "#/$defs/w"}, "n": False}, "$defs": {"w": {"type": ["object", "null"], "properties": {"w": {"$ref": "#/$defs/w"}}}}}), (
        ("u (a int32, b string), v string!, w (w (w (w string)))", {}), ("u (a int32), w (w (w (w (w string)))), n int32", {}), ("u (a string), v int32", {}), ("u string, v string, w string", {}))),
    "protobuf-messages": ("PROTOBUF", 'syntax = "proto3"; package p; import "google/protobuf/timestamp.proto"; message Order { int32 i = 1; oneof pick { int32 a = 2; string b = 3; Line c = 4; } optional int32 o = 5; repeated Line lines = 6; map<string, Line> byname = 7; message Line { int64 n = 1; oneof one { bool x = 2; } } } message Other { Order order = 1; google.protobuf.Timestamp t = 2; Other again = 3; } enum E { Z = 0; }', (
        ("i int32", {}), ("i int32!, a int32, b string", {}), ("i int64, a int32, b string, c (n int32, x boolean)", {}), ("a int32!, o int32!, lines [(n int64)]", {}), ("lines [(n int64)!], byname {string: (n int64)!}", {}), ("byname {string: (n int64)}", {}), ("order (i int32), t timestamp", {"message": "p.Other"}),
        ("order (i int32), again (again (t timestamp_ntz))", {"message": ".p.Other"}), ("n int64", {"message": "p.Order.Line"}), ("i int32", {"message": "Order"}), ("i int32", {"message": "p.Nobody"}), ("i int32, k int32", {}), ("i string, lines (n int32)", {}), ("i int32", {"framing": "header"}), ("i int32", {"framing": "md5"}), ("i int32", {"framing": "version"}),
        ("i int32", {"validate": True}), ("i string!, t string", {"lossy": ("/i",)}), ("", {}), ("x int32, y int32", {"message": "p.Other"}), ("byname {int32: (n int32)}", {}), ("I int32", {}))),
    "protobuf-older": ("PROTOBUF", 'syntax = "proto2"; message Order { required int32 i = 1; optional E e = 2 [default = B]; repeated E es = 3; enum E { A = 1; B = 2; } optional group G = 4 { optional int32 x = 1; } extensions 100 to 200; optional bytes y = 5 [default = "a"]; }', (
        ("i int32", {}), ("i int32!, e string, es [string]", {}), ("e string", {}), ("i int32!, g (x int32)", {}), ("i int32!, G (x int32), y string", {}))),
    "protobuf-empty": ("PROTOBUF", 'syntax = "proto3"; enum E { Z = 0; }', (("i int32", {}), ("i int32", {"message": "M"}))),
    "protobuf-digits": ("PROTOBUF", 'syntax = "proto3"; import "confluent/meta.proto"; import "confluent/type/decimal.proto"; message Order { confluent.type.Decimal d = 1 [(confluent.field_meta) = {params: [{key: "precision", value: "9"}, {key: "scale", value: "2"}]}]; confluent.type.Decimal e = 2; repeated confluent.type.Decimal l = 3 [(confluent.field_meta) = {params: [{key: "precision", value: "60"}, {key: "scale", value: "2"}]}]; }', (
        ("d decimal(9, 2)", {}), ("d decimal(12, 4), e (value binary, precision int64, scale int32)", {"lossy": ("/d",)}), ("e decimal(9, 2)", {}), ("l [(value binary)]", {}), ("d string, l [decimal(3, 1)]", {}))),
    "csv": ("CSV", "columns\na int\nb text", (("a int64!, b string!", {}), ("a int32, b string", {}), ("a int64, b int32", {"encoding": "tab"}), ("b string, a string", {"encoding": "comma"}), ("a int64!, b string!", {"encoding": "other"}), ("a int64, c string", {}), ("a int64!, b string!", {"framing": "single-object"}), ("a float64, b binary", {"lossy": ("/a", "/b")}))),
}  # fmt: skip
ROWS: Mapping[str, Sequence[Any]] = {
    "protobuf-messages": ({"i": 5}, {"i": None}, None, {"i": -1}, {"i": 2**31 - 1}),
    "csv": ({"a": 5, "b": "x"}, {"a": None, "b": "a,b"}, None, {"a": -(2**63), "b": ""}),
}


def run_corner(name: str) -> PlanCase:
    """Columns of one table against a schema; the first plan writes rows."""
    format_, text, asked = CORNERS[name]

    def run(case: PlanRecord) -> None:
        case.put(text, format_=format_)
        for place, (columns, options) in enumerate(asked):
            case.encode(columns, () if place else ROWS.get(name, ()), **options)
            if place in {0, 3, 7}:
                case.attempt("check", partial(case.checked, columns, EncodeOptions(**options)))
        case.add("by a text that is no version", ())
        case.encode(asked[0][0], schema=text.replace("Order", "Ordered"))
        case.encode(asked[0][0], schema=text, schema_type=format_, register=True, check=True)

    return run


CASES: Mapping[str, PlanCase] = {**MATRIX, **{name: run_corner(name) for name in CORNERS}}
