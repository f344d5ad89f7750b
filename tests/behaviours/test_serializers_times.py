"""Times that an Avro schema counts in milliseconds: microseconds are refused, or cut where that is asked for."""

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

import pytest

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.settings import SerializerSettings

INSTANT = dt.datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=dt.UTC)
CASES: list[tuple[dict[str, str], Any]] = [
    ({"type": "long", "logicalType": "timestamp-millis"}, INSTANT),
    ({"type": "long", "logicalType": "local-timestamp-millis"}, INSTANT.replace(tzinfo=None)),
    ({"type": "int", "logicalType": "time-millis"}, INSTANT.time()),
]


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as made:
        yield made


def schemas(kind: dict[str, str]) -> dict[str, tuple[Any, Any]]:
    """By what it is, a schema with such a type somewhere, and what is around the value there."""
    other = {"type": "record", "name": "Other", "fields": [{"name": "x", "type": "int"}]}
    deep: Any = kind
    for _ in range(8):  # too deep for a program: the codec's own way
        deep = {"type": "array", "items": deep}
    return {
        "plain": (kind, lambda value: value),
        "optional": (["null", kind], lambda value: value),
        "choice": (["null", "string", kind, other], lambda value: value),
        "array": ({"type": "array", "items": kind}, lambda value: [value]),
        "map": ({"type": "map", "values": kind}, lambda value: {"a": value}),
        "named": (["null", kind, other], lambda value: (f"{kind['type']}-{kind['logicalType']}", value)),
        "deep": (deep, lambda value: [[[[[[[[value]]]]]]]]),
    }


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(("kind", "value"), CASES, ids=[kind["logicalType"] for kind, _ in CASES])
@pytest.mark.parametrize("where", ["plain", "optional", "choice", "array", "map", "named", "deep"])
def test_microseconds_are_not_cut_without_a_word(
    registry: Connection, kind: dict[str, str], value: Any, where: str, *, check: bool
) -> None:
    inner, around = schemas(kind)[where]
    default = {"name": "b", "type": "int", "default": 7}
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": inner}, default]})
    whole = value.replace(microsecond=678_000)
    strict, lossy = (
        AvroSerializer(registry, schema, SerializerSettings(check=check, lossy=lossy)) for lossy in (False, True)
    )
    for row in ({"b": 7}, {}) if where != "named" else ({"b": 7},):  # without `b` the codec's own way is taken
        expected = {"a": around(whole), "b": 7}
        with pytest.raises(BadValueError, match=f"has microseconds, and {kind['logicalType']} counts milliseconds"):
            strict({"a": around(value), **row}, "times")
        found = [one({"a": around(each), **row}, "times").data for one, each in ((strict, whole), (lossy, value))]
        assert found[0] == found[1]
        if where != "named":
            assert AvroDeserializer(registry)(found[0]) == expected
