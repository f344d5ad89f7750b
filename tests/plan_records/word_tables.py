"""Values of Avro that are asked about alone: as defaults of each type, in columns without room for them, and of types that a reader takes."""

import json
import struct
from collections.abc import Callable, Mapping
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
from tests.plan_records.record import REFUSED, PlanRecord
from tests.plan_records.texts import show_value
from treaty.formats.avro.model import ABSENT, AvroPrimitive, AvroSchema, AvroUnion
from treaty.formats.avro.resolution import AvroSide
from treaty.plan.avro.chances import takes_some
from treaty.plan.avro.defaults import choose_branch, translate_default
from treaty.plan.avro.flat import parse_avro, put_nulls_first
from treaty.plan.avro.java_defaults import encode_default, find_java_choice, is_made_alike
from treaty.plan.avro.limited import find_unfit, is_cut_by_spark
from treaty.plan.avro.logical_types import find_logical

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


def run_chances(case: PlanRecord) -> None:
    """Whether a reader takes some values of a writer, for each pair of types."""
    schemas = {name: parse_avro(record(("x", kind))) for name, kind in KINDS.items()}
    for name, writer in schemas.items():
        case.add(
            name,
            [", ".join(other for other, reader in schemas.items() if answer(takes_some, reader, writer, ()) == "true")],
        )
        case.show("nulls first", put_nulls_first(writer).names.get, "shop.Order")


def run_logical(case: PlanRecord) -> None:
    """The logical type of each leaf that says one."""
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


CASES: Mapping[str, PlanCase] = {
    "defaults": run_defaults,
    "translations": run_translations,
    "unfit": run_unfit,
    "logical": run_logical,
    "chances": run_chances,
}
