"""Random pairs of Avro schemas: a writer, a reader that may be able to read it, values of the writer, and the plan that reads them."""

import copy
import itertools
import json
from typing import Any

from tests.histories import PLAIN, Maker
from treaty.core.names import DEFAULT_CONTEXT
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.planner import compose
from treaty.plan.errors import PlanError
from treaty.plan.format_plans import AvroFormatPlan
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import DecodePlan

WIDER = {
    "int": ("long", "float", "double"), "long": ("float", "double"), "float": ("double",), "string": ("bytes",), "bytes": ("string",),
}  # fmt: skip
FAMILIES = {
    "int": "n",
    "long": "n",
    "float": "f",
    "double": "f",
    "record": "map",
    "enum": "s",
    "string": "s",
    "bytes": "b",
    "fixed": "b",
}
"""Kinds that are one type to Python: a choice has one of each at most, as fastavro could not tell them apart."""


def kind_of(schema: Any) -> str:
    return schema["type"] if isinstance(schema, dict) else "choice" if isinstance(schema, list) else schema


class Pairs(Maker):
    """Makes pairs; the same for the same seed."""

    def kind(self, depth: int) -> Any:
        if depth and self.dice.random() < 0.25:
            return self.fixed() if self.dice.random() < 0.5 else self.choice(depth - 1)
        return super().kind(depth)

    def fixed(self) -> Any:
        return {"type": "fixed", "name": self.name("F"), "size": self.dice.randrange(1, 4)}

    def choice(self, depth: int) -> Any:
        made: dict[str, Any] = {}
        for _ in range(self.dice.randrange(2, 4)):
            one = self.solid(depth)
            family = FAMILIES.get(kind_of(one), kind_of(one))
            # A whole number and a fraction beside each other would be read as each other by promotion.
            if family not in made and not {family, *made} >= {"n", "f"} and not {family, *made} >= {"s", "b"}:
                made[family] = one
        parts = [*self.dice.sample(["null"], self.dice.randrange(2)), *made.values()]
        return parts if len(parts) > 1 else parts[0]

    def top(self) -> Any:
        return self.record(3) if self.dice.random() < 0.85 else self.kind(2)

    def reader(self, writer: Any) -> Any:
        """The writer changed in a few places, not all of which Avro can follow."""
        made = copy.deepcopy(writer)
        for _ in range(self.dice.randrange(4)):
            made = self.changed(made, 1.0)
        return made

    def changed(self, kind: Any, share: float) -> Any:
        """The type with a change in it, or below it."""
        below = self.dice.random() > share * 0.4
        match kind:
            case {"type": "record", "fields": [_, *_] as fields}:
                if below:
                    field = self.dice.choice(fields)
                    changed = self.changed(field["type"], 0.8)
                    if changed != field["type"]:
                        field["type"] = changed
                        field.pop("default", None)
                    return kind
                self.refield(fields)
                return kind
            case {"type": "array"} if below:
                return {**kind, "items": self.changed(kind["items"], 0.8)}
            case {"type": "map"} if below:
                return {**kind, "values": self.changed(kind["values"], 0.8)}
            case {"type": "enum"}:
                return self.reenum(kind)
            case {"type": "fixed"} if below:
                return {**kind, "name": self.name("F"), "aliases": [kind["name"]]}
            case list() if below:
                place = self.dice.randrange(len(kind))
                self.dice.shuffle(kind)
                return [
                    self.changed(one, 0.8) if at == place and kind_of(one) in {"record", "enum"} else one
                    for at, one in enumerate(kind)
                ]
            case str() if kind in WIDER and below:
                return self.dice.choice(WIDER[kind])
            case list() | "null":
                return kind
        return ["null", kind] if self.dice.random() < 0.8 else self.dice.choice(PLAIN)

    def refield(self, fields: list[Any]) -> None:
        field = self.dice.choice(fields)
        match self.dice.randrange(5):
            case 0 | 1:
                added = self.kind(2)
                value = self.default(added[0] if isinstance(added, list) else added)
                fields.insert(
                    self.dice.randrange(len(fields) + 1), {"name": self.name("f"), "type": added, "default": value}
                )
            case 2:
                field.update(aliases=[field["name"]], name=self.name("f"))
            case 3 if len(fields) > 1:
                fields.remove(field)
        self.dice.shuffle(fields)

    def reenum(self, kind: Any) -> Any:
        symbols = [*kind["symbols"]]
        if self.dice.random() < 0.5:
            symbols.append(self.name("S"))
        else:
            symbols = symbols[:1]
        more = {"default": symbols[0]} if self.dice.random() < 0.7 else {}
        return {**kind, "symbols": symbols, **more}

    def default(self, kind: Any) -> Any:
        """A value of a type as JSON has it in a default."""
        match kind:
            case {"type": "enum"}:
                return kind["symbols"][0]
            case {"type": "fixed"}:
                return "\u00ff" * kind["size"]
            case {"type": "record"}:
                return {
                    one["name"]: self.default(one["type"][0] if isinstance(one["type"], list) else one["type"])
                    for one in kind["fields"]
                }
            case {"type": "array"}:
                return []
            case {"type": "map"}:
                return {}
            case "null":
                return None
            case "string" | "bytes":
                return self.dice.choice(["", "q"])
            case "boolean":
                return True
            case "float" | "double":
                return 0.5
        return 7

    def value(self, kind: Any) -> Any:
        match kind:
            case list():
                return self.value(self.dice.choice(kind))
            case {"type": "fixed"}:
                return self.dice.randbytes(kind["size"])
            case "null":
                return None
            case "bytes":
                return self.dice.choice([b"", b"ab", "né".encode()])
        return super().value(kind)


def pair(seed: int, rows: int) -> tuple[str, str, list[Any]]:
    """A writer, a reader and values of the writer."""
    maker = Pairs(seed)
    writer = maker.top()
    reader = maker.reader(writer)
    return json.dumps(writer), json.dumps(reader), [maker.value(writer) for _ in range(rows)]


def planned(seed: int, writer: str, reader: str) -> DecodePlan | None:
    """The plan of a pair, half of them beside a second writer, so that there is a union; None where the reader can't read all of the first."""
    plan = planned_in_part(seed, writer, reader)
    return None if plan is None or refusals(plan) else plan


def refusals(plan: DecodePlan) -> dict[int, str]:
    """What is said of rows that a plan refuses by their values, by schema id."""
    assert isinstance(plan.recipe, AvroFormatPlan)
    return dict(plan.recipe.partly)


def planned_in_part(seed: int, writer: str, reader: str) -> DecodePlan | None:
    """The same where the reader takes some values of the first and not others, too."""
    known = [
        RegisteredSchema(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", parse_avro(text))
        for place, text in enumerate((writer, reader) if seed % 2 else (writer,))
    ]
    try:
        plan = compose(known, parse_avro(reader))
    except PlanError:
        return None
    return plan if plan.writers[0].schema_id == 1 else None


NAMED: tuple[tuple[str, str, list[str], bool], ...] = (
    ("A", "B", [], False),
    ("p.A", "q.A", [], True),
    ("p.A", "p.B", ["A"], True),
    ("p.A", "q.B", ["A"], False),
    ("A", "B", ["p.A"], False),
    ("A", "p.B", ["A"], False),
)
"""Names of a type in a writer and in a reader, the reader's aliases, and whether Java reads one as the other (Avro 1.12.1)."""


def renamed() -> tuple[str, str, list[tuple[str, Any]], list[bool]]:
    """A union of records, each with a fixed, an enum or a record of another name to the reader; values, and what Java reads."""
    made: list[tuple[dict[str, Any], Any]] = [
        ({"type": "fixed", "size": 2}, b"ab"),
        ({"type": "enum", "symbols": ["S"]}, "S"),
        ({"type": "record", "fields": [{"name": "x", "type": "int"}]}, {"x": 7}),
    ]
    sides: tuple[list[Any], list[Any]] = ["null"], ["null"]
    values: list[tuple[str, Any]] = []
    read = []
    for at, ((kind, value), (old, new, aliases, named)) in enumerate(itertools.product(made, NAMED)):
        for side, name, more in ((sides[0], old, {}), (sides[1], new, {"aliases": [f"{one}{at}" for one in aliases]})):
            field = {"name": "f", "type": {**kind, "name": f"{name}{at}", **more}}
            side.append({"type": "record", "name": f"W{at}", "fields": [field]})
        values.append((f"W{at}", {"f": value}))
        read.append(named or kind["type"] == "record")
    writer, reader = (
        json.dumps({"type": "record", "name": "R", "fields": [{"name": "u", "type": side}]}) for side in sides
    )
    return writer, reader, values, read


def doubled() -> tuple[str, str, list[dict[str, Any]], list[bool]]:
    """Choices in a writer of two types that are one to the reader; values, and whether they are read.

    Java's library refuses a fixed of another namespace in a reader's choice.
    """

    def told(first: Any, second: Any, third: Any) -> str:
        kinds = {"u": first, "e": second, "f": third}
        return json.dumps(
            {"type": "record", "name": "R", "fields": [{"name": name, "type": kind} for name, kind in kinds.items()]}
        )

    def record(name: str) -> Any:
        return {"type": "record", "name": name, "fields": [{"name": "c", "type": "int"}]}

    def enum(name: str) -> Any:
        return {"type": "enum", "name": name, "symbols": ["S"]}

    def fixed(name: str) -> Any:
        return {"type": "fixed", "name": name, "size": 2}

    writer = told(
        ["null", record("Bank"), record("Card"), record("x.Card")],
        [enum("p.E"), enum("q.E")],
        ["null", fixed("p.F"), fixed("q.F")],
    )
    reader = told(["null", record("Refund"), record("Card")], enum("E"), ["null", fixed("p.F")])
    chosen = itertools.product(("Bank", "Card", "x.Card"), ("p.E", "q.E"), ("p.F", "q.F"))
    values = [{"u": (one, {"c": 7}), "e": (two, "S"), "f": (three, b"ab")} for one, two, three in chosen]
    return writer, reader, values, [value["f"][0] == "p.F" for value in values]


def narrowed(seed: int, rows: int) -> tuple[str, str, list[Any]]:
    """A pair whose reader is what the writer was changed from, so that it often takes some values of the writer and not others."""
    maker = Pairs(seed)
    reader = maker.top()
    writer = maker.reader(reader)
    return json.dumps(writer), json.dumps(reader), [maker.value(writer) for _ in range(rows)]
