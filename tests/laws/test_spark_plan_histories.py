"""Random histories of a schema: whatever the versions, the woven plan reads each as fastavro resolves it by itself."""

import copy
import json
import random
from typing import Any

import pytest

from tests.frames import frame, resolved
from treaty.core.names import DEFAULT_CONTEXT
from treaty.spark.arrow import decoder_of
from treaty.spark.plan.asking import Known, parsed
from treaty.spark.plan.making import compose
from treaty.spark.plan.merging import merge
from treaty.spark.plan.weaving import TAIL_VALUE

HISTORIES = 150
PLAIN = ("int", "long", "float", "double", "string", "bytes", "boolean")


class Maker:
    """Makes types, the versions that follow, and values; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.names = 0

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def kind(self, depth: int) -> Any:
        pick = self.dice.choice([*PLAIN, "enum", "array", "map", "record", "null"] if depth else [*PLAIN])
        match pick:
            case "enum":
                return {"type": "enum", "name": self.name("E"), "symbols": ["A", "B"]}
            case "array":
                return {"type": "array", "items": self.kind(depth - 1)}
            case "map":
                return {"type": "map", "values": self.kind(depth - 1)}
            case "record":
                return self.record(depth - 1)
            case "null":
                return ["null", self.solid(depth - 1)]
        return pick

    def solid(self, depth: int) -> Any:
        while isinstance(kind := self.kind(depth), list):
            pass
        return kind

    def record(self, depth: int) -> Any:
        fields = [{"name": self.name("f"), "type": self.kind(depth)} for _ in range(self.dice.randrange(1, 5))]
        return {"type": "record", "name": self.name("R"), "fields": fields}

    def next(self, schema: Any) -> Any:
        """A version that a union can hold: fields added, renamed, dropped or moved, types widened, symbols added."""
        made = copy.deepcopy(schema)
        records = [one for one in self.inside(made) if one["type"] == "record"]
        enums = [one for one in self.inside(made) if one["type"] == "enum"]
        target = self.dice.choice(records)
        field = self.dice.choice(target["fields"])
        match self.dice.randrange(6):
            case 0:
                target["fields"].append({"name": self.name("f"), "type": ["null", self.solid(1)], "default": None})
            case 1:
                target["fields"].insert(0, {"name": self.name("f"), "type": "string", "default": "é"})
            case 2:
                field.update(name=self.name("f"), aliases=[field["name"], *field.get("aliases", [])])
            case 3:
                field["type"] = {"int": "long", "float": "double"}.get(field["type"], field["type"]) if isinstance(field["type"], str) else field["type"]  # fmt: skip
            case 4 if len(target["fields"]) > 1:
                target["fields"].remove(field)
            case _:
                if enums:
                    self.dice.choice(enums)["symbols"].append(self.name("S"))
        self.dice.shuffle(target["fields"])
        return made

    def inside(self, kind: Any) -> list[Any]:
        """All named types in a type."""
        if isinstance(kind, list):
            return [one for part in kind for one in self.inside(part)]
        if not isinstance(kind, dict):
            return []
        below = [kind[name] for name in ("items", "values") if name in kind] + [
            one["type"] for one in kind.get("fields", ())
        ]
        return [kind] * ("name" in kind) + [one for part in below for one in self.inside(part)]

    def value(self, kind: Any) -> Any:
        match kind:
            case list():
                return self.dice.choice([None, self.value(kind[1])])
            case {"type": "enum"}:
                return self.dice.choice(kind["symbols"])
            case {"type": "array"}:
                return [self.value(kind["items"]) for _ in range(self.dice.randrange(3))]
            case {"type": "map"}:
                return {f"k{turn}": self.value(kind["values"]) for turn in range(self.dice.randrange(1, 3))}
            case {"type": "record"}:
                return {one["name"]: self.value(one["type"]) for one in kind["fields"]}
            case "string":
                return self.dice.choice(["", "x", "né", "y" * 70])
            case "bytes":
                return self.dice.randbytes(self.dice.randrange(5))
            case "boolean":
                return self.dice.random() < 0.5
            case "float" | "double":
                return self.dice.choice([0.0, -1.5, 2.0**20])
        return self.dice.choice([0, -1, 2**31 - 1, -(2**31)])


def loosened(value: Any) -> Any:
    """Arrow takes a map as a list of pairs; here it is a dictionary again."""
    if isinstance(value, dict):
        return {name: loosened(one) for name, one in value.items()}
    if isinstance(value, list):
        return (
            {key: loosened(one) for key, one in value}
            if value and isinstance(value[0], tuple)
            else [*map(loosened, value)]
        )
    return value


@pytest.mark.parametrize("first", range(0, HISTORIES, 50))
def test_every_version_of_a_random_history_is_read_as_fastavro_reads_it(first: int) -> None:
    rows = 0
    for seed in range(first, first + 50):
        maker = Maker(seed)
        versions = [maker.record(3)]
        for _ in range(4):
            versions.append(maker.next(versions[-1]))
        texts = [json.dumps(one) for one in versions]
        schemas = [parsed(text) for text in texts]
        known = [Known(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", one) for place, one in enumerate(schemas)]
        plan = compose(known, merge(schemas))
        assert plan.rejected == (), f"seed {seed}"
        decode = decoder_of(plan)
        for place, (version, text) in enumerate(zip(versions, texts, strict=True)):
            for _ in range(4):
                value = frame(place + 1, text, maker.value(version))
                found = decode(value)
                assert found is not None, f"seed {seed}, version {place + 1}"
                assert found.pop(plan.tail) == TAIL_VALUE
                assert loosened(found) == resolved(value, text, plan.reader), f"seed {seed}, version {place + 1}"
                assert decode(value[:-1]) is None or decode(value[:-1])[plan.tail] != TAIL_VALUE
                assert (decode(value + b"\0") or {plan.tail: 0})[plan.tail] != TAIL_VALUE
                rows += 1
    assert rows == 1000
