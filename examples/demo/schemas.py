"""The three versions of the subject `flights-value`, and a fourth one that the registry must refuse."""

import json
from typing import Any

SUBJECT = "flights-value"

Fields = list[dict[str, Any]]


def _optional(kind: Any) -> list[Any]:
    return ["null", kind]


def _schema(*fields: Fields) -> str:
    together = [field for part in fields for field in part]
    return json.dumps({"type": "record", "name": "Flight", "namespace": "nyc", "fields": together})


KEY: Fields = [
    {"name": "carrier", "type": "string"},
    {"name": "flight", "type": "int"},
    {"name": "tailnum", "type": _optional("string"), "default": None},
    {"name": "origin", "type": "string"},
]
TIMES: Fields = [
    {"name": "scheduled", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "dep_delay", "type": _optional("int"), "default": None},
    {"name": "arr_delay", "type": _optional("int"), "default": None},
]
ADDED: Fields = [
    {"name": "air_time", "type": _optional("int"), "default": None},
    {"name": "cancelled", "type": "boolean", "default": False},
    {"name": "data_source", "type": "string", "default": "BTS"},
]
WEATHER: dict[str, Any] = {
    "type": "record",
    "name": "Weather",
    "fields": [
        {"name": name, "type": _optional("double"), "default": None}
        for name in ("temp", "humid", "wind_speed", "wind_gust", "precip", "visib")
    ],
}

V1 = _schema(KEY, [{"name": "dest", "type": "string"}], TIMES, [{"name": "distance", "type": "int"}])
V2 = _schema(KEY, [{"name": "dest", "type": "string"}], TIMES, [{"name": "distance", "type": "int"}], ADDED)
V3 = _schema(
    KEY,
    [{"name": "destination", "type": "string", "aliases": ["dest"]}],
    TIMES,
    [{"name": "distance", "type": "long"}],
    ADDED,
    [{"name": "weather", "type": _optional(WEATHER), "default": None}],
)
V4 = _schema(
    [{"name": "carrier", "type": "int"}, *KEY[1:]],
    [{"name": "destination", "type": "string"}, {"name": "gate", "type": "string"}],
    TIMES,
    [{"name": "distance", "type": "int"}],
)
"""Incompatible in three ways: a string becomes an int, a new field has no default, a long becomes narrower."""
VERSIONS = (V1, V2, V3)
STORY = (
    "the flight as planned, and how late it was",
    "adds air_time (nullable), cancelled and data_source (with defaults)",
    "widens distance to long, renames dest to destination (alias), nests the weather of that hour",
)
