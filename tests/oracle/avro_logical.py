"""Logical types strewn over random Avro schemas, the valid ones and those that the libraries ignore."""

import copy
import random
from typing import Any

from tests.oracle.avro_schemas import Maker, places

BY_KIND: dict[str, tuple[dict[str, Any], ...]] = {
    "int": ({"logicalType": "date"}, {"logicalType": "time-millis"}, {"logicalType": "timestamp-millis"}),
    "long": tuple(
        {"logicalType": word}
        for word in (
            "time-micros", "timestamp-millis", "timestamp-micros", "timestamp-nanos", "local-timestamp-millis",
            "local-timestamp-micros", "local-timestamp-nanos", "date",
        )
    ),
    "string": ({"logicalType": "uuid"}, {"logicalType": "mine"}),
    "bytes": (
        {"logicalType": "decimal", "precision": 9, "scale": 2}, {"logicalType": "decimal", "precision": 60},
        {"logicalType": "decimal", "precision": 4, "scale": 5}, {"logicalType": "big-decimal"},
        {"logicalType": "decimal", "precision": 38, "scale": 38},
    ),
    "fixed": (
        {"logicalType": "decimal", "precision": 4, "scale": 2}, {"logicalType": "decimal", "precision": 40},
        {"logicalType": "uuid", "size": 16}, {"logicalType": "duration", "size": 12}, {"logicalType": "duration"},
    ),
}  # fmt: skip
"""By type, members that make it a logical one."""


def dressed(schema: Any, chance: random.Random, in_ten: int = 4) -> Any:
    """The schema with logical types at so many of ten places that could have one."""
    root = {"root": copy.deepcopy(schema)}
    for holder, key in list(places(root)):
        here = holder[key]
        kind = here.get("type") if isinstance(here, dict) else here
        if isinstance(kind, str) and kind in BY_KIND and chance.randrange(10) < in_ten:
            members = chance.choice(BY_KIND[kind])
            holder[key] = {**here, **members} if isinstance(here, dict) else {"type": kind, **members}
    return root["root"]


def dressed_schema(seed: int) -> Any:
    """A random schema with logical types."""
    chance = random.Random(seed)
    return dressed(Maker(chance).schema(), chance)
