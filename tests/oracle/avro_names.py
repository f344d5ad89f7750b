"""Pairs of Avro schemas in which names and aliases decide what is read, with what Java's library makes of one value each.

`java` is Java's value in JSON encoding, None where it refuses; `difference` says why Treaty does otherwise.
"""

from dataclasses import dataclass
from typing import Any

Json = Any
REFUSED = None


@dataclass(frozen=True)
class NamedPair:
    """A writer, a reader, a value of the writer in JSON encoding, and what comes of it."""

    writer: Json
    reader: Json
    value: Json
    java: Json
    treaty: Json = ...
    """What Treaty reads, where that is not what Java reads."""
    difference: str = ""


def record(name: str, *fields: Json, **more: Json) -> Json:
    """A record."""
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, kind: Json = "int", **more: Json) -> Json:
    """A field, most often an int."""
    return {"name": name, "type": kind, **more}


def top(kind: Json) -> Json:
    """A record with one field `f`."""
    return record("Top", field("f", kind))


def enum(name: str, **more: Json) -> Json:
    """An enum of two symbols."""
    return {"type": "enum", "name": name, "symbols": ["s", "t"], **more}


def fixed(name: str, size: int = 1) -> Json:
    """A fixed."""
    return {"type": "fixed", "name": name, "size": size}


A, AB = field("a"), record("R", field("a"), field("b"))
NAME_FIRST = "a full name goes before an alias"
NEARER = "a branch whose records cannot be read is passed over"
NAMESPACE = "an enum or a fixed may have another namespace, as `SchemaCompatibility` has it"
ROOT = "a whole payload of a record of another name is refused"

PAIRS: dict[str, NamedPair] = {
    "a field with two aliases that are both there": NamedPair(
        AB, record("R", field("x", aliases=["b", "a"])), {"a": 1, "b": 2}, REFUSED
    ),
    "the same in the other order": NamedPair(
        AB, record("R", field("x", aliases=["a", "b"])), {"a": 1, "b": 2}, REFUSED
    ),
    "a field whose name and alias are both there": NamedPair(
        record("R", A, field("x")), record("R", field("x", aliases=["a"])), {"a": 1, "x": 2}, REFUSED
    ),
    "an alias that is another field's name": NamedPair(
        record("R", A), record("R", field("x", aliases=["a"], default=0), field("a", default=9)), {"a": 1},
        {"x": 1, "a": 9}, {"x": 0, "a": 1}, NAME_FIRST,
    ),
    "two fields with one alias": NamedPair(
        record("R", A), record("R", field("x", aliases=["a"], default=0), field("y", aliases=["a"], default=9)), {"a": 1},
        {"x": 0, "y": 1},
    ),
    "a record in a union of a renamed one": NamedPair(
        top(record("A", A)), top(["null", record("B", A)]), {"f": {"a": 1}}, {"f": {"B": {"a": 1}}}
    ),
    "two renamed records": NamedPair(
        top(record("A", A)), top(["null", record("B", A), record("C", A)]), {"f": {"a": 1}}, {"f": {"B": {"a": 1}}}
    ),
    "renamed ones, two of which have the short name": NamedPair(
        top(record("n.A", A)), top(["null", record("B", A), record("m.A", A), record("o.A", A)]), {"f": {"a": 1}},
        {"f": {"o.A": {"a": 1}}},
    ),
    "an alias before fields that fit": NamedPair(
        top(record("n.A", A)), top(["null", record("m.A", A), record("n.C", A, aliases=["A"])]), {"f": {"a": 1}},
        {"f": {"n.C": {"a": 1}}},
    ),
    "a record of defaults alone": NamedPair(
        top(record("A", A)), top(["null", record("B", field("z", default=1)), record("C", A)]), {"f": {"a": 1}},
        {"f": {"B": {"z": 1}}},
    ),
    "a list is not looked into": NamedPair(
        top(record("A", field("a", {"type": "array", "items": "string"}))),
        top(["null", record("B", field("a", {"type": "array", "items": "int"})), record("C", field("a", {"type": "array", "items": "string"}))]),
        {"f": {"a": ["u"]}}, REFUSED,
    ),
    "a record is looked into": NamedPair(
        top(record("A", field("a", record("I", field("k", "string"))))),
        top(["null", record("B", field("a", record("J", field("k", "int")))), record("C", field("a", record("K", field("k", "string"))))]),
        {"f": {"a": {"k": "u"}}}, REFUSED, {"f": {"C": {"a": {"k": "u"}}}}, NEARER,
    ),
    "an enum inside decides": NamedPair(
        top(record("A", field("a", enum("n.E")))),
        top(["null", record("B", field("a", enum("m.F"))), record("C", field("a", enum("n.E")))]),
        {"f": {"a": "s"}}, {"f": {"C": {"a": "s"}}},
    ),
    "an enum of another name in a union": NamedPair(top(enum("A")), top(["null", enum("B")]), {"f": "s"}, REFUSED),
    "an enum of another namespace in a union": NamedPair(
        top(enum("n.A")), top(["null", enum("m.A")]), {"f": "s"}, REFUSED, {"f": {"m.A": "s"}}, NAMESPACE
    ),
    "an enum of another namespace": NamedPair(top(enum("n.A")), top(enum("m.A")), {"f": "s"}, {"f": "s"}),
    "an enum's alias in a union": NamedPair(
        top(enum("n.A")), top(["null", enum("m.B", aliases=["n.A"])]), {"f": "s"}, {"f": {"m.B": "s"}}
    ),
    "a fixed of another size and namespace": NamedPair(
        top(fixed("n.A")), top([fixed("m.A", 2), fixed("o.A")]), {"f": "x"}, REFUSED, {"f": {"o.A": "x"}}, NAMESPACE
    ),
    "unions that differ in namespaces, the first branch": NamedPair(
        top([record("a.R", A), record("b.R", A)]), top([record("c.R", A), record("d.R", A)]), {"f": {"a.R": {"a": 1}}},
        {"f": {"c.R": {"a": 1}}},
    ),
    "unions that differ in namespaces, the second branch": NamedPair(
        top([record("a.R", A), record("b.R", A)]), top([record("c.R", A), record("d.R", A)]), {"f": {"b.R": {"a": 1}}},
        {"f": {"d.R": {"a": 1}}},
    ),
    "a union read as one of a renamed record": NamedPair(
        top([record("a.R", A), "null"]), top(["null", record("c.S", A)]), {"f": {"a.R": {"a": 1}}}, {"f": {"c.S": {"a": 1}}}
    ),
    "the first promotion of a union": NamedPair(top("int"), top(["null", "double", "long"]), {"f": 1}, {"f": {"double": 1.0}}),
    "a record of another name in a field": NamedPair(
        top(record("A", A)), top(record("B", A)), {"f": {"a": 1}}, {"f": {"a": 1}}
    ),
    "a record of another name as the whole payload": NamedPair(
        record("A", A), record("B", A), {"a": 1}, {"a": 1}, REFUSED, ROOT
    ),
}  # fmt: skip
