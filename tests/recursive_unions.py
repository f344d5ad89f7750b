"""Random unions of records that contain themselves beside records that look like them, with rows nested beyond the depth."""

import json
import random
from dataclasses import dataclass
from datetime import time
from typing import Any

from tests.frames import frame
from treaty.core.names import DEFAULT_CONTEXT
from treaty.plan.avro import planner
from treaty.plan.avro.flat import parse_avro
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import DecodePlan

TIME = time(microsecond=5000)
PLAIN: dict[str, Any] = {
    "null": None, "long": 2**40, "time": TIME, "x.Leaf": ("x.Leaf", {"v": 5}), "x.Bare": ("x.Bare", {}),
}  # fmt: skip
"""Types that end a nesting, with a value of each. A record of another name is like the last two to Avro's last resort."""
NUMBERS = {"time", "long"}
"""Two sizes of numbers, which are one column without a logical type where no other types are columns."""
SMALL = [{"type": "record", "name": "x.Leaf", "fields": [{"name": "v", "type": "int", "default": 0}]}]
SMALL += [{"type": "record", "name": "x.Bare", "fields": []}]
RING = ("a.Node", "b.Node")


@dataclass(frozen=True, slots=True)
class RecursiveHistory:
    """The texts of the versions, the depth of the columns, and for each row its frame and its record; ids are places from 1."""

    texts: list[str]
    depth: int
    frames: list[bytes]
    records: list[Any]


class _Maker:
    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.depth = self.dice.randrange(1, 4)
        self.shape = self.dice.choice(["field", "list", "map"])
        self.ring = RING[: self.dice.randrange(1, 3)]
        self.grows = self.dice.random() < 0.5
        self.unions: dict[str, list[str]] = {}
        for name in self.ring:
            plain = self.dice.sample([*PLAIN], self.dice.randrange(1, len(PLAIN)))
            if self.grows or not {*plain} - {"null"}:
                plain += [one for one in ("x.Leaf", "x.Bare") if one not in plain]
            more = [*self.ring] if self.dice.random() < 0.6 else [self.ring[-1] if name == RING[0] else RING[0]]
            if not self.grows:
                plain += more
                self.dice.shuffle(plain)
            self.unions[name] = [*plain, *(more if self.grows else ())]

    def text(self, *, first: bool) -> str:
        defined: set[str] = set()

        def node(name: str) -> Any:
            if name == "time":
                return {"type": "int", "logicalType": "time-millis"}
            if name not in self.ring or name in defined:
                return name
            defined.add(name)
            kept = [one for one in self.unions[name] if not (first and one in self.ring)]
            union: Any = [node(one) for one in kept]
            around = {"list": {"type": "array", "items": union}, "map": {"type": "map", "values": union}}
            fields = [{"name": "v", "type": "int"}, {"name": "next", "type": around.get(self.shape, union)}]
            return {"type": "record", "name": name, "fields": fields}

        kinds = [*SMALL, node(RING[0])]
        fields = [{"name": f"f{at}", "type": kind} for at, kind in enumerate(kinds)]
        return json.dumps({"type": "record", "name": "Top", "fields": fields})

    def value(self, name: str, level: int, length: int) -> tuple[Any, Any]:
        """A value so many records deep, and what its column has."""
        union, is_last = self.unions[name], level + 1 >= self.depth
        kept = [one for one in union if one != "null" and not (is_last and one in self.ring)]
        more = [one for one in union if one in self.ring] if length else []
        mine = self.dice.choice(more or [one for one in union if one in PLAIN])
        if mine in self.ring:
            inside, shown = self.value(mine, level + 1, length - 1)
            sent: Any = (mine, inside)
        else:
            sent = PLAIN[mine]
            shown = 5 if mine == "time" else sent[1] if isinstance(sent, tuple) else sent
        if mine not in kept:
            shown = None
        elif len(kept) > 1 and {*kept} != NUMBERS:
            shown = {f"member{at}": shown if one == mine else None for at, one in enumerate(kept)}
        record = {"v": level, "next": {"list": [sent], "map": {"k": sent}}.get(self.shape, sent)}
        column = {"v": level, "next": {"list": [shown], "map": [("k", shown)]}.get(self.shape, shown)}
        return record, column


def recursive_history(seed: int) -> RecursiveHistory:
    """One version, or a first one without recursion and a second one with it."""
    made = _Maker(seed)
    texts = [made.text(first=True)] if made.grows else []
    texts.append(made.text(first=False))
    frames: list[bytes] = []
    records: list[Any] = []
    for length in (0, *range(made.depth + 3)):
        value, column = made.value(RING[0], 0, length)
        place = len(texts) if frames else 1
        row = {"f0": {"v": 1}, "f1": {}, "f2": value}
        frames.append(frame(place, texts[place - 1], row))
        records.append({"f0": {"v": 1}, "f1": {}, "f2": column})
    return RecursiveHistory(texts, made.depth, frames, records)


def recursive_plan(history: RecursiveHistory, reader: str) -> DecodePlan:
    """The plan of all versions, read as their union or as the latest one."""
    known = [
        RegisteredSchema(at, DEFAULT_CONTEXT, at, "AVRO", parse_avro(text)) for at, text in enumerate(history.texts, 1)
    ]
    schema = planner.union(known)[0] if reader == "union" else known[-1].schema
    assert schema is not None
    return planner.compose(known, schema, history.depth)
