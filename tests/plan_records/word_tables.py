"""Functions of plans that are asked alone: words of types, names, heads, defaults as bytes, values without room, sentences, and stored forms."""

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tests.frames import record
from tests.plan_records.avro_tables import (
    MICROS,
    MILLIS,
    NANOS,
    A,
    B,
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
from tests.plan_records.texts import show_value
from treaty.core.state.columns import Columns, Struct
from treaty.formats.avro.model import ABSENT, AvroPrimitive, AvroSchema, AvroUnion
from treaty.formats.avro.resolution import AvroSide
from treaty.plan.addresses import open_registry
from treaty.plan.avro.chances import takes_some
from treaty.plan.avro.defaults import choose_branch, translate_default
from treaty.plan.avro.envelope import encode_branch, make_ending, make_header
from treaty.plan.avro.flat import parse_avro, put_nulls_first
from treaty.plan.avro.java_defaults import encode_default, find_java_choice, is_made_alike
from treaty.plan.avro.limited import find_unfit, is_cut_by_spark
from treaty.plan.avro.logical_types import find_logical
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
KINDS: Mapping[str, Any] = {
    **{name: name for name in ("null", "boolean", "int", "long", "float", "double", "string", "bytes")}, "enum": enum("E", "P", "Q"), "fixed": fixed("F", 2), "list": listed("int"), "list of choices": listed(["null", "string", "int"]), "map": mapped("long"), "A": A, "B": B, "C": inner("C", ("a", "int"), ("c", "string", "z")),
    "int or null": ["null", "int"], "null last": ["string", "null"], "long choice": ["long", "double", "string"], "truth": ["int", "boolean", "bytes"], "records": ["null", A, B], "many": ["int", listed("long"), mapped("string"), enum("E", "P", "Q"), A], "short decimal": decimal(4, 2), "fixed decimal": decimal(6, 3, 3), "long decimal": decimal(12, 4), "millis": MILLIS, "micros": MICROS, "nanos": NANOS, "date": logical("int", "date"), "time": logical("int", "time-millis"),
    "deep": inner("Deep", ("l", listed(["null", inner("In", ("m", mapped(["string", "int"])), ("k", "int", 3))])), ("e", enum("G", "X", "Y"), "Y")),
}  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 63, 64, -64, -65, 300, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 0.5, -0.0, 1e300, 3.0, "", "P", "Q", "ab", "\u0004\u00d2", "\u00ff\u00ff\u00ff", "\u007f\u00ff\u00ff\u00ff", "é€", "NaN", "Infinity",
    [], [1, 2], [None, "s", 3], {}, {"a": 1}, {"b": 2}, {"a": "x"}, {"a": 1, "c": "d"}, {"k": 5, "l": 6}, {"l": [None, {"m": {"k": "s", "n": 5}}]}, {"l": [{"m": {}, "k": 4}], "e": "X"},
)  # fmt: skip


def side_of(kind: Any) -> AvroSide:
    """A type as that of the only field of a record."""
    schema: AvroSchema = parse_avro(record(("x", kind)))
    return AvroSide(schema, schema.names["shop.Order"].fields[0].type)  # type: ignore[union-attr]


def answer(function: Callable[..., Any], *arguments: Any) -> str:
    """The value of a function, or the class of its refusal."""
    try:
        value = function(*arguments)
    except (*REFUSED, TypeError, AttributeError, OverflowError, struct.error) as error:
        return type(error).__name__
    return "absent" if value is ABSENT else show_value(value)


def run_defaults(case: PlanRecord) -> None:
    """Values of JSON as defaults of each type: their bytes, and what Java makes of them."""
    for name, kind in KINDS.items():
        side, lines = side_of(kind), []
        for value in VALUES:
            code = answer(encode_default, value, side)
            if code.startswith("x'"):
                branch = ""
                if isinstance(side.resolved, AvroUnion):
                    branch = (
                        f" {answer(choose_branch, side, value)} {answer(find_java_choice, side, side.resolved, value)}"
                    )
                lines.append(f"{show_value(value)}: {code} {answer(is_made_alike, value, side)}{branch}")
        case.add(name, lines)


def run_translations(case: PlanRecord) -> None:
    """Defaults of one type as another one has them."""
    sides = {name: side_of(kind) for name, kind in KINDS.items()}
    for name, source in sides.items():
        lines = []
        own_values = [value for value in VALUES if answer(encode_default, value, source).startswith("x'")]
        for other, target in sides.items():
            answers = {show_value(value): answer(translate_default, value, source, target) for value in own_values}
            kept = [
                f"{value} {became}" if value != became else value
                for value, became in answers.items()
                if became
                not in {"UncarriedError", "TypeError", "AttributeError", "ValueError", "KeyError", "OverflowError"}
            ]
            same = sum(" " not in text for text in kept)
            lines += (
                [f"as {other}: {same} as they are; {'; '.join(text for text in kept if ' ' in text)}"] if kept else []
            )
        case.add(name, lines)


def find_logical_of(base: str, name: str) -> Any:
    """The logical type of a leaf."""
    leaf = side_of(logical(base, name)).resolved
    assert isinstance(leaf, AvroPrimitive)
    return find_logical(leaf)


def run_unfit(case: PlanRecord) -> None:
    """Values for which a column has no room, wherever they stand."""
    kind = inner(
        "R",
        ("l", listed(decimal(4, 2))),
        ("m", mapped(MILLIS)),
        ("u", ["null", decimal(2), "string"]),
        ("v", [decimal(20, 2, 12), MILLIS]),
        ("n", ["null", MILLIS]),
    )
    schema = parse_avro(record(("r", kind), ("d", decimal(4, 2))))
    good: dict[str, Any] = {
        "r": {
            "l": [b"\1"],
            "m": [("k", 5)],
            "u": {"member0": b"\1", "member1": None},
            "v": {"member0": None, "member1": 4},
            "n": None,
        },
        "d": b"\1",
    }
    most = (2**63 - 1) // 1000
    wrong: tuple[tuple[str, Any], ...] = (
        ("l", [b"\1", b"\x27\x0f", b"\x27\x10"]), ("l", [b"\xd8\xf1", b"\xd8\xf0"]), ("l", [b""]), ("l", [b"\1" * 9]), ("l", [b"\1" * 41]), ("l", [b"\x7f" * 40]), ("m", [("k", most), ("long " * 60, most + 1)]), ("m", [("k", -most - 1)]), ("m", [("k", -most)]), ("u", {"member0": b"\x63", "member1": None}), ("u", {"member0": b"\x64", "member1": None}), ("v", {"member0": b"\x7f" * 12, "member1": None}),
        ("v", {"member0": None, "member1": 2**62}), ("n", 2**60), ("n", 5), ("u", None),
    )  # fmt: skip
    case.show("good", find_unfit, schema, schema.root, good)
    for name, value in wrong:
        case.show(
            f"{name} {show_value(value)[:80]}",
            find_unfit,
            schema,
            schema.root,
            {**good, "r": {**good["r"], name: value}},
        )
    case.show("outside", find_unfit, schema, schema.root, {**good, "d": b"\x7f\xff\xff"}, "/path")
    for text in ("4,2", "18,2", "19,2", "4,5", "0,0", "38,0", "200,3", "-1,0", '"4",2', "4,-1", "4,null", "true,0"):
        for size in (0, 1, 2, 8, 9, 17):
            precision, scale = json.loads(f"[{text}]")
            leaf = side_of(
                {
                    **(fixed("F", size) if size else {"type": "bytes"}),
                    "logicalType": "decimal",
                    "precision": precision,
                    "scale": scale,
                }
            ).resolved
            case.lines.append(f"decimal {text} of {size}: {answer(find_logical, leaf)} {answer(is_cut_by_spark, leaf)}")
    for base in ("int", "long", "string", "bytes", "double"):
        names = (
            "date",
            "time-millis",
            "time-micros",
            "timestamp-millis",
            "timestamp-micros",
            "timestamp-nanos",
            "local-timestamp-millis",
            "local-timestamp-nanos",
            "uuid",
            "decimal",
            "duration",
            "x",
        )
        case.add(base, [f"{name}: {answer(find_logical_of, base, name)}" for name in names])


def run_chances(case: PlanRecord) -> None:
    """Whether a reader takes some values of a writer, for each pair of types."""
    schemas = {name: parse_avro(record(("x", kind))) for name, kind in KINDS.items()}
    for name, writer in schemas.items():
        case.add(
            name,
            [", ".join(other for other, reader in schemas.items() if answer(takes_some, reader, writer, ()) == "true")],
        )
        case.show("nulls first", put_nulls_first(writer).names.get, "shop.Order")


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
    "defaults": run_defaults, "translations": run_translations, "unfit": run_unfit, "chances": run_chances, "types": run_types, "names": run_names, "wide": run_wide, "heads": run_heads, "sentences": run_sentences, "stored": run_stored,
}  # fmt: skip
