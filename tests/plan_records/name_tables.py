"""Functions of plans that are asked alone: words of types, names of columns, heads, sentences and stored forms."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tests.frames import record
from tests.plan_records.avro_tables import listed
from tests.plan_records.column_words import read_columns
from tests.plan_records.record import PlanRecord
from tests.plan_records.texts import show_value
from treaty.core.state.columns import Columns, Struct
from treaty.plan.addresses import open_registry
from treaty.plan.avro.envelope import encode_branch, make_ending, make_header
from treaty.plan.ddl import columns_ddl, find_free_name, list_docs, parse_type, quote_name, type_ddl
from treaty.plan.encoding.fit import CHECKS, CONVERSIONS, ColumnConversion, LossCheck, sentence
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.format_plans import RecordType
from treaty.plan.frame_format import FrameFormat, encodings_of
from treaty.plan.heads import framing_of
from treaty.plan.rows import NAMES, BadRowColumns, Names, describe_unknown_head
from treaty.plan.strictness import (
    check_engine,
    find_case_twins,
    find_twins,
    is_word,
    reader_error,
    refuse_foreign,
    refuse_part,
    refuse_twins,
    show_twins,
)
from treaty.plan.types.groups import columns_of
from treaty.plan.types.wide import widen_columns
from treaty.plan.value import DecodePlan

PlanCase = Callable[[PlanRecord], None]


def run_types(case: PlanRecord) -> None:
    """Words of types there and back, and names."""
    columns = read_columns(
        "a int32!, b [string!], c {string: (x decimal(9, 2), `y z` date)}, d (e (f boolean)), g variant, h [[{int64: float32!}]], i timestamp_ntz, j null, k ()"
    )
    documented = tuple(
        replace(
            column,
            doc=f"of {column.name}",
            type=Struct(tuple(replace(one, doc="in") for one in column.type.columns))
            if isinstance(column.type, Struct)
            else column.type,
        )
        for column in columns
    )
    for column in columns:
        word = type_ddl(column.type)
        case.show(word, parse_type, word)
        case.show("again", type_ddl, parse_type(word))
    case.show("all", columns_ddl, Columns(columns))
    case.show("docs", lambda: [*list_docs(documented)])
    for text in (
        "INT INT",
        "WHAT",
        "ARRAY<INT",
        "STRUCT<>",
        "",
        "STRUCT<`a`: INT, `b``c`: ARRAY<STRUCT<`d`: VARIANT>>>",
        "DECIMAL(38, 18)",
        "MAP<STRING, MAP<INT, VOID>>",
        "VARIANT",
    ):
        case.show(f"type {text}", parse_type, text)
    for name, used in (("a", ()), ("a", ("a",)), ("A", ("a", "a_")), ("b", ("B",)), ("", ("",))):
        case.show(f"free {name} {used}", find_free_name, name, {*used})
    case.show("quoted", lambda: [quote_name(name) for name in ("a", "a`b", "`", "")])


def run_names(case: PlanRecord) -> None:
    """Names of columns that are taken, differ in case alone, or are options of another format."""
    for groups, is_exact in (
        ((("a", "b"), ("A",)), False),
        ((("a", "b"), ("A",)), True),
        ((("a", "a", ""), ("", "b", "b")), True),
        (((),), False),
        ((("x", "X", "x"),), False),
    ):
        case.show(f"twins {groups} {is_exact}", find_twins, *groups, exact=is_exact)
    for text in (
        "STRUCT<`a`: INT, `A`: INT, `b`: STRUCT<`c`: INT, `C`: ARRAY<STRUCT<`d`: INT, `D`: INT>>>, `m`: MAP<STRING, STRUCT<`e`: INT, `E`: INT, `e`: INT>>>",
        "INT",
        "ARRAY<STRUCT<`x`: INT, `X`: INT>>",
        "STRUCT<`a`: INT>",
    ):
        case.show(text, find_case_twins, text)
    for twins in (("a and A",), ("a and A", "b and B"), ("a", "b", "c")):
        case.show("shown", show_twins, twins)
    for frame, names, fields, is_exact in (
        (("value",), NAMES, (), True), (("record",), NAMES, (), True), (("Record",), NAMES, (), False), (("Record",), NAMES, (), True), (("record",), NAMES, ("x",), True), (("x",), NAMES, ("x",), True), (("px",), Names(prefix="p"), ("x",), True), (("x",), Names(prefix="p"), ("x",), True), (("s",), Names(schema_id="s", version="v", subject="w"), (), True),
        (("v",), Names(schema_id="s", version="v", subject="w"), (), True), (("w",), Names(schema_id="s", version="v", subject="w"), (), True), (("a",), Names(record="r", error="r"), (), True), ((), Names(error=""), ("error",), True), ((), NAMES, ("error",), True),
    ):  # fmt: skip
        case.show(
            f"{frame} {show_value(names)} {fields} {is_exact}", refuse_twins, frame, names, fields, exact=is_exact
        )


def run_options(case: PlanRecord) -> None:
    """Words that are options, of a format or of none, and names of types as columns."""
    for part in ("value", "key", "other", ""):
        case.show(f"part {part}", refuse_part, part)
    for text in ("latest", "a.b:c-d", "", "{", "a b", "é"):
        case.show(f"word {text}", is_word, text)
        case.show("no reader", str, reader_error(text))
    for engine in ("", "spark", "fastavro", "ptars", "arrow", "rows"):
        for format_ in ("AVRO", "PROTOBUF", "JSON", "X"):
            case.show(f"engine {engine} {format_}", check_engine, engine, format_, "usual")
    for option, value in (
        ("lossy", "refuse"),
        ("lossy", "allow"),
        ("message", "M"),
        ("message", ""),
        ("defaults", True),
        ("unknown", True),
        ("validate", False),
        ("validate", True),
        ("rest", "map"),
        ("encoding", "e"),
        ("depth", 5),
        ("depth", 3),
    ):
        for format_ in ("AVRO", "PROTOBUF", "JSON", "X"):
            case.show(f"{option} {value} {format_}", refuse_foreign, {option: value}, format_)
    for names_of_types in (
        ("shop.Order", "stock.order", "shop.Pay", "My Order", ""),
        ("a.b.C", "C"),
        ("x", "x"),
        ("a-b", "a_b", "a b"),
        (".", ".."),
    ):
        case.show(f"columns of {names_of_types}", columns_of, names_of_types)
    for bad in (BadRowColumns({"topic": "t", "offset": "o"}), BadRowColumns({"a": "code", "b": ""}, "at", "found")):
        case.show(f"stored {show_value(bad)}", bad.list_stored)


def run_wide(case: PlanRecord) -> None:
    """Columns of several types side by side."""

    def kind(column: str, type_: str) -> RecordType:
        return RecordType(column, f"shop.{column}", type_)

    order = kind("Order", "STRUCT<`id`: INT, `amount`: INT, `at`: DATE, `record_type`: STRING, `f`: FLOAT>")
    pay = kind("Pay", "STRUCT<`ID`: BIGINT, `amount`: STRING, `at`: DATE, `f`: DOUBLE, `id_Pay`: INT>")
    refund = kind("Refund", "STRUCT<`amount`: DOUBLE, `amount_Refund`: INT, `id`: INT, `Id`: BIGINT>")
    for kinds in (
        (order,),
        (order, pay),
        (pay, order),
        (order, pay, refund),
        (refund, refund),
        (kind("int", "INT"), kind("INT", "BIGINT")),
        (kind("e", "STRUCT<``: INT, `e`: INT>"), kind("a", "ARRAY<INT>")),
    ):
        case.show(", ".join(one.column for one in kinds), widen_columns, kinds, "record_type")


def run_heads(case: PlanRecord) -> None:
    """Bytes before and behind payloads, and tables of encodings."""
    for place in (0, 1, 63, 64, 127, 128, 8191, 8192, 2**20):
        case.show(f"branch {place}", encode_branch, place)
    for number in (0, 1, 2**31 - 1, 2**32 - 1):
        case.show(f"header {number}", make_header, number)
    for parts, key in ((("a",), b""), (("a", "b"), b""), (("ab",), b""), ((), b""), (("a",), b"secret"), (("é",), b"")):
        case.show(f"ending {parts} {key!r}", make_ending, *parts, key=key)
    for framing, frame in (("pravega", b"\1\0\0\0\7x"), ("pravega", b"\1\xff\xff\xff\xff"), ("md5", b"\0\0\0\0\1")):
        case.show(f"unknown {framing}", describe_unknown_head, framing, frame)
    table = FrameFormat(
        "pravega",
        (("0100000001", 5), ("0100000100", 6), ("01ffffffff", 5)),
        (("0100000100", "gzip"),),
        (("gzip", (("level", "1"),)),),
        (("0100000001", "0202"),),
    )
    case.show("encodings", encodings_of, table)
    case.show("of another", encodings_of, replace(table, name="md5"))
    for name in ("prefix", "pravega", "none", "other"):
        case.show(f"framing {name}", framing_of, name, ())
    for address in (
        "sqlite:x",
        "postgresql://x/y",
        "ftp://x",
        "memory://",
        "http://",
        "https://h:1/p",
        "HTTP://h",
        "h:70",
        "",
    ):
        case.attempt(f"address {address}", partial(_describe_address, address))
    case.attempt("settings beside a registry", lambda: _describe_address(case.registry, {"b": "1", "a": "2"}))


def _describe_address(address: Any, settings: Mapping[str, str] | None = None) -> list[str]:
    with open_registry(address, settings or {}) as registry:
        return [type(registry).__name__]


def run_sentences(case: PlanRecord) -> None:
    """What is said of conversions and of values that do not pass."""
    for path in ("", "/a/[]"):
        for name in CHECKS:
            for args in (("1", "2"), ("a", "b", "c", "d", "e"), ("a", "b", "c", "d", "e", "f")):
                case.show(
                    f"{name} {path} {len(args)}", sentence, ColumnConversion(path, "keep", "INT"), LossCheck(name, args)
                )
        for way in CONVERSIONS:
            for checks in ((), (LossCheck("fits"), LossCheck("finite"))):
                fit = ColumnConversion(
                    path, way, "INT", "STRING", required=bool(checks), constant="7" if path else "", checks=checks
                )
                case.show(f"{way} {path} {fit.clean}", fit.steps)


def run_stored(case: PlanRecord) -> None:
    """Stored forms of plans: with a plan of keys, of another format, and by another engine."""
    case.put(record(("x", "int")), record(("x", "long"), ("n", listed("null"), [])))
    case.put('{"type": "object", "properties": {"a": {"type": "integer"}}}', format_="JSON", subject="j")
    plan, keys = case.decode(reader="union"), case.decode("j")
    assert plan is not None
    assert keys is not None
    for engine in ("spark", "fastavro"):
        case.lines.append(f"engine {engine}: {plan.with_engine(engine).engine} {keys.with_engine(engine).engine}")
    both = replace(plan, key=keys)
    case.show(
        "with keys",
        lambda: (
            DecodePlan.from_json(both.to_json()) == both,
            both.known_keys,
            plan.known_keys,
            both.engine_type,
            both.engine_columns,
        ),
    )
    case.lines.append(both.to_json().replace('"', "").replace("\\", ""))
    for text in ('{"plan": 2}', '{"plan": 0}', "{}"):
        case.show(f"decode plan {text}", DecodePlan.from_json, text)
        case.show(f"encode plan {text}", EncodePlan.from_json, text)


CASES: Mapping[str, PlanCase] = {
    "types": run_types,
    "names": run_names,
    "options": run_options,
    "wide": run_wide,
    "heads": run_heads,
    "sentences": run_sentences,
    "stored": run_stored,
}
