"""Versions of Avro schemas at the corners of what readers do with them, and rows of them."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.fitted_pairs import plain_text
from tests.frames import frame, record
from tests.plan_records.record import PlanRecord

PlanCase = Callable[[PlanRecord], None]
Versions = Sequence[str]
Rows = Sequence[tuple[int, Any]]
"""The place of a version, and a value of it."""


def inner(name: str, *fields: Any, **more: Any) -> dict[str, Any]:
    """A record inside another one; a field is a name and a type, and a default."""
    members = [dict(zip(("name", "type", "default"), one, strict=False)) for one in fields]
    return {"type": "record", "name": name, "fields": members, **more}


def logical(base: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": base, "logicalType": name, **more}


def decimal(precision: int, scale: int = 0, size: int = 0, name: str = "D") -> dict[str, Any]:
    kind = {"type": "fixed", "name": name, "size": size} if size else {"type": "bytes"}
    return {**kind, "logicalType": "decimal", "precision": precision, "scale": scale}


def enum(name: str, *symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": name, "symbols": symbols, **more}


def fixed(name: str, size: int, **more: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": size, **more}


def listed(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def mapped(values: Any) -> dict[str, Any]:
    return {"type": "map", "values": values}


MILLIS, MICROS, NANOS = (logical("long", f"timestamp-{unit}") for unit in ("millis", "micros", "nanos"))
WALL_MILLIS, WALL_MICROS, WALL_NANOS = (
    logical("long", f"local-timestamp-{unit}") for unit in ("millis", "micros", "nanos")
)
A, B, C = inner("A", ("a", "int")), inner("B", ("b", "long")), inner("C", ("a", "int"), ("c", "string", "z"))
NODE = inner("Node", ("v", "int"), ("next", ["null", "Node"], None))
X = ("x", "int")

TABLE: Mapping[str, tuple[Versions, Rows]] = {
    "every-leaf": (
        (record(("n", "null"), ("b", "boolean"), ("i", "int"), ("l", "long"), ("f", "float"), ("d", "double"), ("s", "string"),
                ("y", "bytes"), ("e", enum("E", "P", "Q")), ("z", fixed("F", 2)), ("a", listed("int")), ("m", mapped("string"))),),
        ((0, {"n": None, "b": True, "i": -1, "l": 2**62, "f": 1.5, "d": float("nan"), "s": "é", "y": b"\0\xff", "e": "Q", "z": b"ab",
              "a": [1, 2], "m": {"k": "v"}}),
         (0, {"n": None, "b": False, "i": 2**31 - 1, "l": -(2**63), "f": float("inf"), "d": -0.0, "s": "", "y": b"", "e": "P",
              "z": b"\0\0", "a": [], "m": {}})),
    ),
    "every-logical-type": (
        (record(("date", logical("int", "date")), ("tm", logical("int", "time-millis")), ("tu", logical("long", "time-micros")),
                ("im", MILLIS), ("iu", MICROS), ("in", NANOS), ("wm", WALL_MILLIS), ("wu", WALL_MICROS), ("wn", WALL_NANOS),
                ("u", logical("string", "uuid")), ("uf", {**fixed("U", 16), "logicalType": "uuid"}), ("dec", decimal(9, 2)),
                ("fix", decimal(20, 4, 9)), ("big", decimal(38, 38)), ("dur", {**fixed("Du", 12), "logicalType": "duration"}),
                ("odd", logical("string", "decimal", precision=4)), ("wide", decimal(60, 2)), ("neg", logical("int", "weird"))),),
        (),
    ),
    "times": (
        (record(("im", MILLIS), ("iu", MICROS), ("in", NANOS), ("date", logical("int", "date")), ("dec", decimal(4, 2))),),
        ((0, {"im": 1_700_000_000_123, "iu": 1, "in": 1_700_000_000_123_456_789, "date": 19_000, "dec": b"\x04\xd2"}),
         (0, {"im": -1, "iu": -(2**50), "in": -1, "date": -1, "dec": b"\xff"}), (0, {"im": 0, "iu": 0, "in": 0, "date": 0, "dec": b""}),
         (0, {"im": 2**60, "iu": 2**55, "in": 0, "date": 2**20, "dec": b"\x7f\xff"})),
    ),
    "number-grows": (
        (record(("n", "int"), ("m", "float"), ("o", "long")), record(("n", "long"), ("m", "double"), ("o", "long")),
         record(("n", "double"), ("m", "double"), ("o", "float"))),
        ((0, {"n": 7, "m": 0.5, "o": 2**53 + 1}), (1, {"n": 2**53 + 1, "m": 1e300, "o": 3}), (2, {"n": 0.25, "m": -0.0, "o": 1.5})),
    ),
    "number-grows-below": (
        (record(("a", listed("int")), ("m", mapped("int")), ("u", ["null", "int"])),
         record(("a", listed("long")), ("m", mapped("long")), ("u", ["null", "long"])),
         record(("a", listed("double")), ("m", mapped("float")), ("u", ["double", "null"]))),
        ((0, {"a": [1], "m": {"k": 2}, "u": 3}), (1, {"a": [2**40], "m": {"k": -1}, "u": None}), (2, {"a": [0.5], "m": {"k": 0.5}, "u": 2.5})),
    ),
    "text-and-bytes": (
        (record(("s", "string"), ("y", "bytes"), X), record(("s", "bytes"), ("y", "string"), X), record(("s", "string"), ("y", "bytes"), X)),
        ((0, {"s": "é", "y": b"\xff", "x": 1}), (1, {"s": b"\xff", "y": "ok", "x": 2}), (2, {"s": "", "y": b"", "x": 3})),
    ),
    "types-that-clash": (
        (record(X, ("y", "string")), record(("x", "string"), ("y", "int")), record(X, ("y", listed("string"))), record(("x", mapped("int")), ("y", "string"))),
        ((0, {"x": 1, "y": "a"}), (1, {"x": "b", "y": 2})),
    ),
    "fields-come-and-go": (
        (record(X, ("y", "int")), record(("y", "int"), ("z", "string", "new"), X), record(("z", "string", "newer"), ("q", ["null", "int"], None)),
         record(("q", ["int", "null"], 4), X)),
        ((0, {"x": 1, "y": 2}), (1, {"x": 1, "y": 2, "z": "s"}), (2, {"z": "t", "q": None}), (3, {"q": 5, "x": 9})),
    ),
    "fields-with-aliases": (
        (record(("old", "int"), ("keep", "int")), record({"name": "mid", "type": "int", "aliases": ["old"]}, ("keep", "int")),
         record({"name": "now", "type": "long", "aliases": ["mid", "old"], "doc": "the third name"}, ("keep", "int"), ("old", "string", "again"))),
        ((0, {"old": 1, "keep": 2}), (1, {"mid": 3, "keep": 4}), (2, {"now": 5, "keep": 6, "old": "o"})),
    ),
    "types-with-aliases": (
        (record(("p", inner("P", ("a", "int"))), ("e", enum("E", "X", "Y")), ("f", fixed("F", 2))),
         record(("p", inner("Q", ("a", "int"), ("b", "int", 1), aliases=["P"])), ("e", enum("G", "X", "Y", "Z", aliases=["E"], default="X")),
                ("f", fixed("H", 2, aliases=["shop.F"]))),
         record(("p", inner("other.Q", ("a", "long"), aliases=["shop.Q"])), ("e", enum("other.G", "Z", aliases=["shop.G"], default="Z")), ("f", fixed("H", 3)))),
        ((0, {"p": {"a": 1}, "e": "Y", "f": b"ab"}), (1, {"p": {"a": 1, "b": 2}, "e": "Z", "f": b"cd"}), (2, {"p": {"a": 4}, "e": "Z", "f": b"abc"})),
    ),
    "symbols": (
        (record(("e", enum("E", "P", "Q"))), record(("e", enum("E", "Q", "R", "P"))), record(("e", enum("E", "P", default="P"))), record(("e", "string"))),
        ((0, {"e": "P"}), (0, {"e": "Q"}), (1, {"e": "R"}), (2, {"e": "P"})),
    ),
    "defaults-of-every-kind": (
        (record(X), record(X, ("b", "boolean", True), ("i", "int", -5), ("l", "long", 2**40), ("f", "float", 0.5), ("d", "double", -1.5), ("s", "string", "é"),
                           ("y", "bytes", "\u00ff\u0000"), ("e", enum("E", "P", "Q"), "Q"), ("z", fixed("F", 2), "\u0001\u00fe"),
                           ("a", listed("int"), [1, 2]), ("m", mapped("long"), {"k": 3}), ("r", inner("R", ("p", "int"), ("q", "string", "w")), {"p": 4}),
                           ("u", ["string", "null"], "t"), ("n", ["null", "int"], None))),
        ((0, {"x": 1}),),
    ),
    "defaults-inside": (
        (record(("r", inner("R", ("p", "int")))),
         record(("r", inner("R", ("p", "int"), ("u", ["int", "string"], 3), ("v", ["string", A], "s"), ("l", listed(["null", "A"]), [None, None]))), ("k", ["R", "null"], {"p": 2, "u": 5}))),
        ((0, {"r": {"p": 1}}),),
    ),
    "defaults-that-no-row-has": (
        (record(X), record(X, ("d", decimal(4, 2), "\u007f\u00ff\u00ff"), ("t", MILLIS, 2**62), ("date", logical("int", "date"), 2**31 - 1), ("in", NANOS, 2**63 - 1),
                           ("dec", decimal(9, 3), "\u0001"), ("f", "float", 1e300), ("u", logical("string", "uuid"), "no"))),
        ((0, {"x": 1}), ),
    ),
    "long-defaults": (
        (record(X), record(X, ("s", "string", "a" * 70_000), ("t", "string", "b" * 40_000), ("u", "string", "c" * 300), ("y", "bytes", "d" * 20_000))),
        ((0, {"x": 1}),),
    ),
    "default-changes": (
        (record(X, ("y", "int", 1)), record(X, ("y", "int", 2)), record(X, ("y", "long", 3)), record(X), record(X, ("y", ["null", "long"], None))),
        ((0, {"x": 1, "y": 5}), (3, {"x": 2})),
    ),
    "null-comes-and-goes": (
        (record(X, ("y", "string")), record(X, ("y", ["null", "string"])), record(X, ("y", ["string", "null"], "d")), record(X, ("y", "null", None))),
        ((0, {"x": 1, "y": "a"}), (1, {"x": 2, "y": None}), (2, {"x": 2, "y": "b"}), (3, {"x": 4, "y": None})),
    ),
    "union-grows": (
        (record(("u", [A, B])), record(("u", [B, A, C])), record(("u", ["null", C, A, "string"])), record(("u", [A, "string", "int"]))),
        ((0, {"u": ("shop.A", {"a": 1})}), (0, {"u": ("shop.B", {"b": 2})}), (1, {"u": ("shop.C", {"a": 3, "c": "s"})}), (2, {"u": None}), (2, {"u": "t"}), (3, {"u": 5})),
    ),
    "union-of-numbers": (
        (record(("u", ["int", "long"])), record(("u", ["float", "double", "null"])), record(("u", ["int", "string"])), record(("u", ["long", "double"]))),
        ((0, {"u": 1}), (1, {"u": 0.5}), (1, {"u": None}), (2, {"u": "s"}), (2, {"u": 7})),
    ),
    "union-of-texts": (
        (record(("u", ["string", "bytes"])), record(("u", ["bytes", enum("E", "P")])), record(("u", ["string", fixed("F", 1), enum("E", "P")]))),
        ((0, {"u": "s"}), (0, {"u": b"\xff"}), (1, {"u": b"y"}), (2, {"u": "s"})),
    ),
    "union-becomes-one": (
        (record(("u", ["null", A, B])), record(("u", A)), record(("u", ["null", B])), record(("u", "string"))),
        ((0, {"u": None}), (0, {"u": ("shop.A", {"a": 1})}), (1, {"u": {"a": 2}}), (2, {"u": {"b": 3}})),
    ),
    "union-with-twins": (
        (record(("u", [inner("p.T", ("a", "int")), inner("q.T", ("a", "int")), "null"])), record(("u", [inner("q.T", ("a", "int")), inner("r.T", ("a", "int"), aliases=["p.T"])])),
         record(("u", inner("T", ("a", "int")))), record(("u", ["null", inner("s.T", ("a", "long"))]))),
        ((0, {"u": ("p.T", {"a": 1})}), (0, {"u": ("q.T", {"a": 2})}), (1, {"u": ("r.T", {"a": 3})})),
    ),
    "union-of-lists": (
        (record(("u", [listed("int"), mapped("int"), "null"])), record(("u", ["null", listed("long"), mapped("string")])), record(("l", listed(["null", A])), ("m", mapped(["null", "string"])))),
        ((0, {"u": [1]}), (0, {"u": {"k": 1}}), (1, {"u": None}), (2, {"l": [None, {"a": 1}], "m": {"k": None}})),
    ),
    "units-of-instants": (
        (record(("t", MILLIS)), record(("t", MICROS)), record(("t", NANOS)), record(("t", "long")), record(("t", WALL_MICROS))),
        ((0, {"t": 1_500}), (1, {"t": 1_500_001}), (2, {"t": 1_500_000_001}), (2, {"t": 2_000}), (0, {"t": 2**61}), (3, {"t": 4})),
    ),
    "units-of-walls-below": (
        (record(("a", listed(WALL_MILLIS)), ("m", mapped(WALL_MICROS)), ("r", inner("R", ("t", WALL_MILLIS), ("k", "int")))),
         record(("a", listed(WALL_MICROS)), ("m", mapped(WALL_NANOS)), ("r", inner("R", ("t", WALL_NANOS), ("k", "int"))))),
        ((0, {"a": [1, 2], "m": {"k": 3}, "r": {"t": 4, "k": 5}}), (1, {"a": [1_001], "m": {"k": 3}, "r": {"t": 7, "k": 5}})),
    ),
    "units-of-clocks": (
        (record(("c", logical("int", "time-millis"))), record(("c", logical("long", "time-micros"))), record(("c", "int")), record(("c", "long"))),
        ((0, {"c": 5}), (1, {"c": 5_001}), (2, {"c": 6}), (3, {"c": 7})),
    ),
    "scales": (
        (record(("d", decimal(6, 2))), record(("d", decimal(9, 2))), record(("d", decimal(12, 4))), record(("d", decimal(38, 2))), record(("d", decimal(4, 1)))),
        ((0, {"d": b"\x04\xd2"}), (1, {"d": b"\x05\xf5\xe0\xff"}), (2, {"d": b"\x01"}), (4, {"d": b"\xff"}), (0, {"d": b"\x7f\xff\xff\xff"})),
    ),
    "scales-of-fixed": (
        (record(("d", decimal(6, 2, 4))), record(("d", decimal(9, 2, 8))), record(("d", decimal(9, 3, 4))), record(("d", decimal(6, 2))), record(("d", fixed("D", 4)))),
        ((0, {"d": b"\0\0\x04\xd2"}), (1, {"d": b"\0\0\0\0\0\0\0\1"}), (3, {"d": b"\1"}), (4, {"d": b"abcd"})),
    ),
    "dates-and-numbers": (
        (record(("d", logical("int", "date"))), record(("d", "int")), record(("d", MILLIS)), record(("d", "string")), record(("d", logical("string", "uuid")))),
        ((0, {"d": 3}), (1, {"d": 4}), (3, {"d": "s"})),
    ),
    "units-in-a-union": (
        (record(("u", ["null", MILLIS, "string"])), record(("u", [MICROS, "null"])), record(("u", [decimal(6, 2), NANOS, "null"])), record(("u", [inner("R", ("t", MILLIS)), "null"]))),
        ((0, {"u": 5}), (0, {"u": None}), (1, {"u": 7}), (3, {"u": {"t": 3}})),
    ),
    "units-in-two-places": (
        (record(("one", inner("R", ("t", MILLIS), ("d", decimal(4, 1)))), ("two", "R"), ("many", listed("R"))), record(("one", inner("R", ("t", MICROS), ("d", decimal(6, 2)))), ("two", "R"), ("many", listed("R")))),
        ((0, {"one": {"t": 1, "d": b"\1"}, "two": {"t": 2, "d": b"\2"}, "many": [{"t": 3, "d": b"\3"}]}), (1, {"one": {"t": 1, "d": b"\1"}, "two": {"t": 2, "d": b"\2"}, "many": []})),
    ),
    "recursion": (
        (record(("n", NODE)), record(("n", inner("Node", ("v", "long"), ("next", ["null", "Node"], None), ("more", listed("Node"), []))))),
        ((0, {"n": {"v": 1, "next": {"v": 2, "next": {"v": 3, "next": {"v": 4, "next": None}}}}}), (0, {"n": {"v": 1, "next": None}}),
         (1, {"n": {"v": 1, "next": None, "more": [{"v": 5, "next": None, "more": []}]}})),
    ),
    "recursion-in-a-union": (
        (record(("u", ["null", inner("L", ("x", ["null", "L", A, "string"])), B])), record(("u", [inner("L", ("x", ["L", "null", "int", "long"])), "null"]))),
        ((0, {"u": ("shop.L", {"x": ("shop.L", {"x": "s"})})}), (0, {"u": ("shop.L", {"x": ("shop.A", {"a": 1})})}), (1, {"u": {"x": {"x": 5}}})),
    ),
    "rings": (
        (record(("p", inner("P", ("q", ["null", inner("Q", ("p", ["null", "P"]), ("s", listed("Q")), ("m", mapped("P")))])))),),
        ((0, {"p": {"q": {"p": {"q": None}, "s": [], "m": {}}}}),),
    ),
    "no-record": (('"string"', '["null", "string"]', '"bytes"', '{"type": "array", "items": "int"}'), ((0, "s"), (1, None), (2, b"y"))),
    "no-record-of-numbers": (('"int"', '"long"', json.dumps(MILLIS), '"double"', '["int", "double"]'), ((0, 5), (1, 2**40), (2, 7), (3, 0.5))),
    "a-union-at-the-root": (
        (json.dumps([A, B]), json.dumps([B, A, "null"]), json.dumps([C, A, "string"]), json.dumps(A)),
        ((0, ("A", {"a": 1})), (0, ("B", {"b": 1})), (1, None), (2, "s"), (3, {"a": 4})),
    ),
    "a-record-and-none": ((record(X), '"int"', record(X, ("y", "int", 2)), '["null", "int"]'), ((0, {"x": 1}), (1, 5), (2, {"x": 1, "y": 3}))),
    "another-name-of-the-root": (
        (record(X), record(X, name="Other"), record(X, name="Third", aliases=["Order", "shop.Other"]), record(X, ("y", "int"), name="Fourth")),
        ((0, {"x": 1}), (1, {"x": 2}), (2, {"x": 3}), (3, {"x": 4, "y": 5})),
    ),
    "names-in-use": (
        (record(("_treaty_tail", "int"), ("_treaty_head", "int"), ("_treaty_whole", "int")), record(("_treaty_tail", "long"), ("e", inner("treaty.Envelope", ("x", "int")), {"x": 1}))),
        ((0, {"_treaty_tail": 1, "_treaty_head": 2, "_treaty_whole": 3}), (1, {"_treaty_tail": 1, "e": {"x": 3}})),
    ),
    "no-fields": ((record(), record(X, ("y", "int", 1)), record(("e", inner("E")))), ((0, {}), (1, {"x": 1, "y": 2}), (2, {"e": {}}))),
    "values-of-no-bytes": (
        (record(("n", listed("null")), X), record(("n", listed(inner("E"))), X), record(("n", mapped(fixed("F", 1))), X)),
        ((0, {"n": [None, None], "x": 1}), (1, {"n": [{}], "x": 2})),
    ),
    "docs": (
        (record({"name": "x", "type": "int", "doc": "a number"}, ("r", inner("R", ("p", "int"), doc="of R")), doc="of all"),
         record({"name": "x", "type": "int", "doc": "another\nnumber"}, {"name": "r", "type": inner("R", ("p", "int")), "doc": "a part"},
                {"name": "l", "type": listed(mapped(inner("S", ("t", "int")))), "default": [], "doc": "deep"})),
        (),
    ),
    "names-that-differ-in-case": (
        (record(X), record(X, ("X", "int", 1)), record(("X", "int", 2), ("y", "int", 3)), record(X, ("r", inner("R", ("a", "int"), ("A", "int", 4)), {"a": 1}))),
        ((0, {"x": 1}), (1, {"x": 1, "X": 2}), (2, {"X": 3, "y": 4})),
    ),
    "a-type-in-two-spaces": (
        (record(("p", inner("a.T", ("v", "int"))), ("q", inner("b.T", ("v", "int")))), record(("p", inner("b.T", ("v", "long"))), ("q", inner("a.T", ("v", "long"))))),
        ((0, {"p": {"v": 1}, "q": {"v": 2}}), (1, {"p": {"v": 3}, "q": {"v": 4}})),
    ),
    "a-list-of-choices": (
        (record(("l", listed([A, B])), ("m", mapped(["null", "A", "string"]))), record(("l", listed([B, C, A])), ("m", mapped(["string", "A"])))),
        ((0, {"l": [("shop.A", {"a": 1}), ("shop.B", {"b": 2})], "m": {"k": "s", "n": None}}), (1, {"l": [("shop.C", {"a": 1, "c": "t"})], "m": {"k": ("shop.A", {"a": 9})}})),
    ),
    "recursion-beside-named": (
        (record(("n", inner("Node", ("e", enum("E", "P", "Q")), ("f", fixed("F", 2)), ("p", inner("P", ("x", "int"))), ("next", ["null", "Node", "E"], None), ("q", "P")))),
         record(("n", inner("Node", ("e", enum("E", "Q", "P", "R")), ("p", inner("P", ("x", "long"), ("k", "E", "R"))), ("next", ["Node", "P", "null"]))))),
        ((0, {"n": {"e": "Q", "f": b"ab", "p": {"x": 1}, "next": "P", "q": {"x": 2}}}),),
    ),
    "defaults-that-java-made-empty": (
        (record(X), record(X, ("l", [listed("int"), "null"], None), ("m", ["null", mapped("int")], None), ("k", [mapped("int"), "null"], None)),
         record(X, ("r", inner("R", ("l", [listed("int"), "null"]), ("a", "int")), {"l": None, "a": 1}), ("s", ["R", "null"], None)), record(X, ("u", [A, "string"], "s"))),
        ((0, {"x": 1}),),
    ),
    "defaults-that-java-refused": ((record(X), record(X, ("r", inner("R", ("u", [enum("E", "P"), "int"]), ("v", ["int", "boolean"], True), ("w", listed([A, "string"]))), {"u": 5, "w": ["s"]}))), ((0, {"x": 1}),)),
    "choices-deep-inside": (
        (record(("l", listed(mapped([A, B]))), ("r", inner("R", ("m", mapped(listed(["A", "B", "null"])))))), record(("l", listed(mapped([B, C, A]))), ("r", inner("R", ("m", mapped(listed(["B", "A", "C"]))))))),
        ((0, {"l": [{"k": ("shop.A", {"a": 1})}], "r": {"m": {"k": [None]}}}), (1, {"l": [{"k": ("shop.C", {"a": 1, "c": "d"})}], "r": {"m": {"k": [("shop.B", {"b": 2})]}}})),
    ),
    "choices-in-one-record": (
        (record(("u", ["null", inner("W", ("v", [A, B])), inner("V", ("v", ["A", "B"]))])), record(("u", inner("W", ("v", [B, A])))), record(("u", ["null", inner("W", ("v", ["null", B]))]))),
        ((0, {"u": ("shop.W", {"v": ("shop.A", {"a": 1})})}), (1, {"u": {"v": ("shop.B", {"b": 2})}}), (2, {"u": {"v": {"b": 3}}})),
    ),
    "choices-with-other-names": (
        (record(("u", [inner("Old", ("a", "int")), inner("Other", ("b", "int")), enum("E", "P")])), record(("u", [inner("Other", ("b", "int")), inner("New", ("a", "int"), aliases=["Old"]), enum("F", "P", "Q", aliases=["E"])])),
         record(("u", ["null", inner("x.New", ("a", "long")), inner("Last", ("b", "int"), aliases=["shop.Other", "Old"])]))),
        ((0, {"u": ("shop.Old", {"a": 1})}), (1, {"u": ("shop.New", {"a": 2})}), (1, {"u": "Q"}), (2, {"u": ("x.New", {"a": 3})})),
    ),
    "two-types-that-are-one": (
        (record(("u", [inner("p.R", ("t", MILLIS), ("d", decimal(4, 2, 4, "p.D"))), inner("q.R", ("t", MILLIS), ("d", decimal(4, 2, 4, "q.D"))), "null"])), record(("u", ["null", inner("R", ("t", MICROS), ("d", decimal(6, 3, 4)), aliases=["p.R", "q.R"])])),
         record(("u", [inner("p.R", ("t", MICROS)), inner("q.R", ("t", MILLIS), ("k", "int", 5))])), record(("f", ["null", fixed("p.F", 2), fixed("q.F", 2)])), record(("f", ["null", fixed("F", 2, aliases=["p.F", "q.F"])]))),
        ((0, {"u": ("p.R", {"t": 1, "d": b"\0\0\0\1"})}), (0, {"u": ("q.R", {"t": 2, "d": b"\0\0\0\2"})}), (2, {"u": ("p.R", {"t": 1})}), (3, {"f": ("q.F", b"ab")})),
    ),
    "a-choice-that-loses-a-type": (
        (record(("u", [A, B, "string"])), record(("u", [A, "string"])), record(("u", ["int", "string"])), record(("u", ["null", B]))),
        ((0, {"u": ("shop.B", {"b": 1})}), (0, {"u": "s"}), (1, {"u": ("shop.A", {"a": 1})}), (2, {"u": 4})),
    ),
}  # fmt: skip


def run_table(name: str) -> PlanCase:
    """The case of a row of the table: read as the union, the latest and the first version."""
    versions, rows = TABLE[name]

    def run(case: PlanRecord) -> None:
        ids = case.put(*versions)
        frames = [frame(ids[at], plain_text(json.loads(versions[at])), row) for at, row in rows if ids[at] > 0]
        case.decode(rows=frames, reader="union")
        case.decode(rows=frames, reader="latest")
        case.decode(reader=1)
        if any(word in text for text in versions for word in ("logical", '"double"', '"float"')):
            case.decode(rows=frames, reader="union", lossy="allow")
        for text in versions:
            case.columns(text, "AVRO")

    return run


CASES: Mapping[str, PlanCase] = {name: run_table(name) for name in TABLE}
