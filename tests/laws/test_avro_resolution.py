"""Programs that read one schema's payloads as another's: as the slow way does it, and right where that one is not."""

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.test_avro_programs import SCHEMAS, Drawn, made, renamed
from treaty.client.serializers import codec
from treaty.client.serializers.codec import Ready
from treaty.client.serializers.failures import BadRecord, Code

WIDER = {"int": ["int", "long", "float", "double"], "long": ["long", "float", "double"], "float": ["float", "double"]}


@st.composite
def evolved(draw: st.DrawFn, schema: Any) -> Any:
    """A schema that mostly reads what another one wrote: wider, in another order, with fields more and fewer."""
    if isinstance(schema, list):
        return draw(st.permutations([draw(evolved(each)) for each in schema]))
    if isinstance(schema, dict):
        changed = dict(schema)
        if schema["type"] == "record":
            fields = [{**field, "type": draw(evolved(field["type"]))} for field in schema["fields"]]
            fields = [field for field in fields if draw(st.integers(0, 4))]
            if draw(st.booleans()):
                new = draw(
                    st.sampled_from([("long", 5), (["null", "string"], None), ({"type": "array", "items": "int"}, [1])])
                )
                fields.append({"name": "new", "type": new[0], "default": new[1]})
            changed["fields"] = draw(st.permutations(fields))
        for inner in ("items", "values"):
            if inner in schema:
                changed[inner] = draw(evolved(schema[inner]))
        if "symbols" in schema:
            changed["symbols"] = draw(st.permutations(schema["symbols"]))
        return changed
    wider = draw(st.sampled_from(WIDER.get(schema, [schema])))
    return draw(st.sampled_from([wider, wider, wider if wider == "null" else ["null", wider]]))


def union_in_union(schema: Any) -> bool:
    inner = schema if isinstance(schema, list) else []
    every = inner if isinstance(schema, list) else schema.values() if isinstance(schema, dict) else []
    fields = [field["type"] for field in schema.get("fields", ())] if isinstance(schema, dict) else []
    kinds = [json.dumps(each, sort_keys=True) for each in inner]
    return (
        any(isinstance(each, list) for each in inner)
        or len(kinds) != len(set(kinds))
        or any(union_in_union(each) for each in [*every, *fields] if isinstance(each, (list, dict)))
    )


def resolved(writer: Ready, reader: Ready, payload: bytes, *, slowly: bool) -> Any:
    try:
        if slowly:
            slow = codec.with_length(payload) if writer.raw else payload
            return codec.read_slowly(writer, reader, (slow, 1), tagged=False)
        return codec.read(writer, reader, payload, 1)
    except BadRecord as bad:
        return bad.code


@settings(max_examples=300)
@given(SCHEMAS, st.data())
def test_what_is_resolved_at_once_is_what_the_slow_way_resolves(drawn: Drawn, data: st.DataObject) -> None:
    schema, value = renamed(drawn[0], iter(range(10**6))), data.draw(drawn[1])
    other = data.draw(evolved(schema).filter(lambda one: not union_in_union(one)))
    writer, reader = made(schema), made(other)
    payload = codec.write(writer, value, check=True)

    slow = resolved(writer, reader, payload, slowly=True)
    assert str(resolved(writer, reader, payload, slowly=False)) == str(slow) or is_same(
        resolved(writer, reader, payload, slowly=False), slow
    )


def is_same(one: Any, other: Any) -> bool:
    """Equal values, where fields may come in another order and a real number may stand for a whole one."""
    return bool(one == other)


def pair(old: Any, new: Any) -> tuple[Ready, Ready]:
    writer = {"type": "record", "name": "R", "fields": [{"name": "a", "type": old}]}
    return made(writer), made({**writer, "fields": [{"name": "a", "type": new}]})


def micros(what: str) -> dict[str, str]:
    return {"type": "long", "logicalType": what}


AT = dt.datetime(2020, 1, 2, 3, 4, 5, 6000, dt.UTC)


@pytest.mark.parametrize(
    ("old", "new", "value", "expected"),
    [
        ("int", "double", 5, 5.0),
        ("string", "bytes", "ä", b"\xc3\xa4"),
        ("bytes", "string", b"a", "a"),
        (["null", "int"], ["string", "long", "null"], 7, 7),
        ("int", ["double", "int"], 7, 7),
        (micros("timestamp-millis"), micros("timestamp-micros"), AT, AT),
        (micros("timestamp-micros"), "long", AT, 1577934245006000),
        ("long", micros("timestamp-micros"), 1577934245006000, AT),
        ("int", micros("timestamp-millis"), 1000, dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC)),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 4},
            Decimal("1.25"),
            Decimal("1.25"),
        ),
        (
            {"type": "enum", "name": "E", "symbols": ["A", "B"]},
            {"type": "enum", "name": "E", "symbols": ["B", "C"], "default": "C"},
            "A",
            "C",
        ),
        (
            {"type": "record", "name": "Old", "fields": []},
            {"type": "record", "name": "New", "aliases": ["Old"], "fields": []},
            {},
            {},
        ),
    ],
    ids=str,
)
def test_resolution_case_by_case(old: Any, new: Any, value: object, expected: object) -> None:
    writer, reader = pair(old, new)
    found = codec.read(writer, reader, codec.write(writer, {"a": value}, check=True), 1)

    assert found == {"a": expected}
    assert isinstance(found, dict)
    assert type(found["a"]) is type(expected)


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("string", "int", "a"),
        (["null", "string"], ["null", "int"], "a"),
        (["null", "string"], "string", None),
        ({"type": "array", "items": ["int", "string"]}, {"type": "array", "items": "int"}, [1, "a"]),
        ({"type": "fixed", "name": "F", "size": 2}, {"type": "fixed", "name": "F", "size": 3}, b"ab"),
        (
            {"type": "record", "name": "S", "fields": []},
            {"type": "record", "name": "S", "fields": [{"name": "must", "type": "int"}]},
            {},
        ),
    ],
    ids=str,
)
def test_what_has_no_place_is_told(old: Any, new: Any, value: object) -> None:
    writer, reader = pair(old, new)
    payload = codec.write(writer, {"a": value}, check=True)

    with pytest.raises(BadRecord) as bad:
        codec.read(writer, reader, payload, 1)
    assert bad.value.code == Code.RESOLUTION


def record(name: str, *fields: str) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": each, "type": "int", "default": 0} for each in fields]}


def test_branches_are_told_by_their_names() -> None:
    writer, reader = pair(
        [record("ns.A", "x"), record("ns.B", "y")], ["null", record("ns.B", "x", "y"), record("ns.A", "x")]
    )
    for value, expected in ((("ns.A", {"x": 1}), {"x": 1}), (("ns.B", {"y": 2}), {"x": 0, "y": 2})):
        payload = codec.write(writer, {"a": value}, check=True)
        assert codec.read(writer, reader, payload, 1) == {"a": expected}
    tagged = writer.way(reader, tagged=True)
    assert tagged is not None
    assert tagged(codec.write(writer, {"a": ("ns.B", {"y": 2})}, check=True)) == {"a": ("ns.B", {"y": 2})}


@pytest.mark.parametrize(
    "kind", [record("A"), {"type": "enum", "name": "A", "symbols": ["s"]}, {"type": "fixed", "name": "A", "size": 0}]
)
def test_types_of_other_names_are_no_match(kind: dict[str, Any]) -> None:
    value = {"record": {}, "enum": "s", "fixed": b""}[kind["type"]]
    writer, reader = pair(kind, {**kind, "name": "Other"})
    with pytest.raises(BadRecord) as bad:
        codec.read(writer, reader, codec.write(writer, {"a": value}, check=True), 1)
    assert bad.value.code == Code.RESOLUTION


def test_defaults_are_values_and_made_anew() -> None:
    fields: list[dict[str, Any]] = [
        {"name": "raw", "type": "bytes", "default": "\u00ff"},
        {"name": "at", "type": micros("timestamp-millis"), "default": 1000},
        {"name": "list", "type": {"type": "array", "items": "double"}, "default": [1]},
        {"name": "inner", "type": ["null", {"type": "map", "values": "int"}], "default": None},
        {
            "name": "sub",
            "type": {
                "type": "record",
                "name": "Sub",
                "fields": [{"name": "h", "type": {"type": "fixed", "name": "H", "size": 1}}],
            },
            "default": {"h": "\u0001"},
        },
    ]
    writer = made({"type": "record", "name": "R", "fields": []})
    reader = made({"type": "record", "name": "R", "fields": fields})
    first, second = codec.read(writer, reader, b"", 1), codec.read(writer, reader, b"", 1)
    assert first == {
        "raw": b"\xff",
        "at": dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC),
        "list": [1.0],
        "inner": None,
        "sub": {"h": b"\x01"},
    }
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert first["list"] is not second["list"]
    assert first["sub"] is not second["sub"]
