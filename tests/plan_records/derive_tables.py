"""Schemas that are derived from columns, grown from version to version, and held against columns that changed; corners and seeds."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tests import drawn
from tests.frames import record
from tests.plan_records.avro_tables import MILLIS, decimal, enum, inner, listed, mapped
from tests.plan_records.column_words import read_columns
from tests.plan_records.record import PlanRecord
from tests.plan_records.texts import show_column
from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.plan.encoding.options import DeriveOptions

PlanCase = Callable[[PlanRecord], None]
FORMATS = ("AVRO", "JSON", "PROTOBUF")
SEEDS = range(7)
EVERY = (
    "a boolean, b int32!, c int64, d float32!, e float64, f string!, g binary, h date!, i timestamp, k variant, l decimal(9, 2)!, m [int32], n [string!]!, "
    "o {string: float64}, p {string: (x int32!, y [date])!}!, q (r int32!, s (t string, u [(v int32)])), w null"
)
STEPS: Mapping[str, Sequence[str]] = {
    "every": (EVERY,),
    "grows": ("a int32!, b string", "a int32!, b string, c (x int32)", "a int64!, b string!, c (x int64, y [int32])", "c (y [int64!], z {string: int32}), a int64", "a float64, d [(p int32)]", "d [(p int32, q (r string))], b binary"),
    "nulls": ("a int32, b [int32!], c {string: int32!}!", "a int32!, b [int32], c {string: int32}", "a int32, c {string: int32!}, b [int64!]!"),
    "times": ("a date, b timestamp, c decimal(6, 2)", "a timestamp, b date, c decimal(9, 3)", "a timestamp_ntz, c decimal(4, 1), b timestamp"),
    "names": ("`a-b` int32", "a_b int32, A_B int32, `1x` int32", "a_b int32, class string, A_B int32", "ä int32", "x (`y z` int32)", "a_b (c int32), `` int32"),
    "nested": ("a [[int32]], m {string: [int32]}", "m {string: {string: int32}}", "m {int32: string}, k {boolean: (a int32)}", "m {float64: int32}", "l [{string: int32}]", "l [(m {string: (x [int32])})]", "m {date: int32}", "v [variant], w {string: date}"),
    "wrapped": ("a int32, b string, c boolean, d [int32], e binary, f float32!", "a int64, g float64", "h int64!, i decimal(3, 1)"),
    "docs": ("a int32!, b (x string!)", "b (x string!, y int32), a int32!"),
}  # fmt: skip
OPTIONS: Mapping[str, DeriveOptions] = {
    "": DeriveOptions(), "open": DeriveOptions(open_content=True), "draft-7": DeriveOptions(draft=7), "wraps": DeriveOptions(wrappers=True), "named": DeriveOptions(name="acme.Order"),
}  # fmt: skip
LATEST: Mapping[str, tuple[str, str, Sequence[tuple[str, DeriveOptions]]]] = {
    "avro": ("AVRO", record(
        ("i", "int"), {"name": "n", "type": ["null", "string"], "default": None, "aliases": ["was"], "doc": "a text"}, ("r", inner("R", ("p", "int"), ("q", "int", 4))), ("e", enum("E", "P", "Q")), ("l", listed(["null", "R"])),
        ("m", mapped("long")), ("u", ["int", "string"], 0), ("t", MILLIS), ("d", decimal(6, 2)), ("o", ["int", "null"], 5), ("b", ["null", mapped(inner("Order_x", ("a", "int")))], None), ("c", [listed("Order_x"), "null"], [])), (
        ("i int32!, n string, r (p int32!), e string!, l [(p int32!)], m {string: int64!}!, t timestamp!, d decimal(6, 2)!", OPTIONS[""]),
        ("i int64!, n binary, r (p int64!, q int64!, s string), e int32!, l [(p int64!, q int32!)], m {string: float64!}!, t timestamp!, d decimal(9, 3)!, o string, u float64", OPTIONS[""]),
        ("i int32, r (p int32), x date, y (z [(a int32)])", OPTIONS["named"]), ("was string, i string!, r int32, l string, m (a int32)", OPTIONS[""]), ("i int32!, n [int32], r [(p int32)], m {string: [int32]}!, o (a int32)", OPTIONS[""]),
        ("i int32!, r (p int32!), e string!, x (y (z int32)), b {string: (a int64!)!}, c [(a int64!, k date)]", OPTIONS[""]), ("i int32!, x {string: [(y int32)]}, b {string: (a int32!)}, c [(a int32!)!]", OPTIONS[""]), ("i int32!", DeriveOptions(schema_type="JSON")), ("i int32!", DeriveOptions(schema_type="CSV")))),
    "avro-no-record": ("AVRO", '"int"', (("x int32!", OPTIONS[""]),)),
    "json": ("JSON", json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "title": "Order", "type": "object", "required": ["i", "z"], "properties": {
        "i": {"type": "integer", "description": "a number"}, "n": {"type": ["string", "null"]}, "o": {"type": "object", "properties": {"p": {"type": "integer"}}, "required": ["p"]}, "l": {"type": "array", "items": {"type": "integer"}}, "z": {"type": "string"}}}), (
        ("i int32!, n string, z string!", OPTIONS[""]), ("i int32!, n int32, o (p float64!, q string!), z string!", OPTIONS["named"]), ("i float64!, l [float64!], z string, new (x int32!)!", OPTIONS["open"]), ("o (p string), n date", OPTIONS["draft-7"]), ("i timestamp_ntz", OPTIONS[""]), ("o int32, l {string: int32}", OPTIONS[""]))),
    "json-no-object": ("JSON", '{"type": "integer"}', (("x int32!", OPTIONS[""]),)),
    "json-boolean": ("JSON", "true", (("x int32!", OPTIONS[""]),)),
    "protobuf": ("PROTOBUF", 'syntax = "proto3"; package p; message Order { int32 i = 1; string n = 3; Line line = 4; repeated Line lines = 5; map<string, int64> m = 7; reserved 8 to 11; reserved "gone"; message Line { int32 x = 1; } enum Part { A = 0; } } message Other { int64 k = 18999; }', (
        ("i int32, n string, line (x int32), lines [(x int32)]", OPTIONS[""]), ("i int32, line (x int32, y string), lines [(z int64)], new date, part (a int32), gone int32", OPTIONS[""]), ("gone_ int32, new (new_ (x int32)), line_ (x decimal(4, 2))", OPTIONS["wraps"]), ("i int64", OPTIONS[""]),
        ("k int64, a int32, b string, c (d int32)", DeriveOptions(name="p.Other")), ("i int32", DeriveOptions(name="p.Nobody")), ("i timestamp_ntz", OPTIONS[""]), ("line int32", OPTIONS[""]), ("x timestamp_ntz", OPTIONS[""]), ("x {float64: int32}", OPTIONS[""]), ("x [[int32]], y int32", OPTIONS[""]), ("x null", OPTIONS[""]))),
    "protobuf-full": ("PROTOBUF", 'syntax = "proto2"; package google.acme; message Order { optional int32 i = 18998; extensions 19500 to 536870900; } message Last { optional int32 x = 536870911; } message Ext { optional int32 x = 1; extensions 2 to 50; extensions 100 to 200; }', (
        ("i int32, a int32, b timestamp", OPTIONS[""]), ("x int32, y int32", DeriveOptions(name="Last")), ("x int32, y int32, z date", DeriveOptions(name="Ext")))),
    "protobuf-none": ("PROTOBUF", 'syntax = "proto3"; enum E { Z = 0; }', (("i int32", OPTIONS[""]),)),
}  # fmt: skip


def with_docs(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns, each with its doc."""
    return tuple(replace(column, doc=f"what {column.name} is") for column in columns)


def run_steps(name: str, format_: str, options: DeriveOptions) -> PlanCase:
    """Columns that change from frame to frame; each schema is registered."""

    def run(case: PlanRecord) -> None:
        derive = replace(options, schema_type=format_)
        for columns in STEPS[name]:
            made = with_docs(read_columns(columns)) if name == "docs" else read_columns(columns)
            case.derive(columns, made, derive)
        for columns in STEPS[name]:
            case.encode(columns, version=1)

    return run


def run_latest(name: str) -> PlanCase:
    """Columns against a latest version that was not derived."""
    format_, text, asked = LATEST[name]

    def run(case: PlanRecord) -> None:
        for place, (columns, derive) in enumerate(asked):
            case.put(text, format_=format_, subject=f"s{place}")
            case.derive(columns, read_columns(columns), derive, subject=f"s{place}")
        case.derive("1", read_columns("a int32"), DeriveOptions(), subject="1-flight_delays-key")
        case.derive("2", read_columns("a int32"), DeriveOptions(), subject="-")

    return run


class ColumnChanges:
    """Columns that change at random; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.columns = drawn.columns(self.dice, 4, deep=True)

    def change(self) -> tuple[Column, ...]:
        """The columns with a few of them changed, left out, moved, or new."""
        changed = [self.change_column(column) for column in self.columns if self.dice.random() < 0.9]
        if self.dice.random() < 0.6:
            added = drawn.columns(self.dice, 1, deep=True)[0]
            changed.insert(self.dice.randrange(len(changed) + 1), replace(added, name=f"n{self.dice.randrange(3)}"))
        self.columns = tuple({column.name: column for column in changed}.values())
        return self.columns

    def change_column(self, column: Column) -> Column:
        """A column whose type or nulls may be others."""
        nullable = column.nullable if self.dice.random() < 0.7 else not column.nullable
        return Column(column.name, self.change_type(column.type), nullable)

    def change_type(self, kind: ColumnType) -> ColumnType:
        """A type in which something may be wider, narrower, or another one."""
        if self.dice.random() < 0.5:
            return kind
        match kind:
            case Struct(inside):
                return Struct(tuple(self.change_column(column) for column in inside if self.dice.random() < 0.9))
            case List(element, nullable):
                return List(self.change_type(element), nullable != (self.dice.random() < 0.2))
            case Map(key, value, nullable):
                return Map(key, self.change_type(value), nullable != (self.dice.random() < 0.2))
            case Decimal(precision, scale):
                return self.dice.choice(
                    (Decimal(min(38, precision + 3), scale), Decimal(precision, max(0, scale - 1)), Scalar("float64"))
                )
        return Scalar(self.dice.choice(WIDER.get(kind.name, ("string", "variant", "null"))))


WIDER = {
    "int32": ("int64", "float64", "string"), "int64": ("int32", "float64"), "float32": ("float64", "int32"), "float64": ("float32", "string"), "string": ("binary", "date", "int64"),
    "date": ("timestamp", "string"), "timestamp": ("date", "timestamp_ntz"), "boolean": ("int32", "string"), "binary": ("string",),
}  # fmt: skip


def run_seed(seed: int) -> PlanCase:
    """Random columns of one format: derived, grown, and written with each version."""

    def run(case: PlanRecord) -> None:
        changes, format_ = ColumnChanges(seed), FORMATS[seed % 3]
        options = DeriveOptions(schema_type=format_, open_content=seed % 2 == 0, wrappers=seed % 4 == 0)
        history = [changes.columns]
        case.derive("first", history[0], options)
        for place in range(3):
            history.append(changes.change())
            case.derive(f"step {place}", history[-1], options)
        for columns in history:
            case.encode(", ".join(map(show_column, columns)), version=1)
        case.decode(reader="union")
        case.decode(reader="latest")

    return run


CASES: Mapping[str, PlanCase] = {
    **{
        f"{format_.lower()}-{name}": run_steps(name, format_, OPTIONS["wraps" if name == "wrapped" else ""])
        for format_ in FORMATS
        for name in STEPS
    },
    **{f"every-{name}-{format_.lower()}": run_steps("every", format_, options) for name, options in OPTIONS.items() if name for format_ in FORMATS[1:]},
    **{f"latest-{name}": run_latest(name) for name in LATEST},
    **{f"seed-{seed}": run_seed(seed) for seed in SEEDS},
}  # fmt: skip
