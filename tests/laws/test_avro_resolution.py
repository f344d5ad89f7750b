"""Programs that read one schema's payloads as another's: as the slow way does it, and right where that one is not."""

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.laws.test_avro_programs import SCHEMAS, Drawn, made, renamed
from treaty.client.serializers import avro_codec
from treaty.client.serializers.avro_codec import AvroCodec
from treaty.client.serializers.errors import BadRecordError, RecordErrorCode

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


def resolved(writer: AvroCodec, reader: AvroCodec, payload: bytes, *, slowly: bool) -> Any:
    try:
        if slowly:
            slow = avro_codec.add_length(payload) if writer.raw else payload
            return avro_codec.read_slowly(writer, reader, (slow, 1), tagged=False)
        return avro_codec.read_payload(writer, reader, payload, 1)
    except BadRecordError as bad:
        return bad.code


@examples(300)
@given(SCHEMAS, st.data())
def test_what_is_resolved_at_once_is_what_the_slow_way_resolves(drawn: Drawn, data: st.DataObject) -> None:
    schema, value = renamed(drawn[0], iter(range(10**6))), data.draw(drawn[1])
    other = data.draw(evolved(schema).filter(lambda candidate: not union_in_union(candidate)))
    writer, reader = made(schema), made(other)
    payload = avro_codec.write_payload(writer, value, check=True)

    slow = resolved(writer, reader, payload, slowly=True)
    assert str(resolved(writer, reader, payload, slowly=False)) == str(slow) or is_same(
        resolved(writer, reader, payload, slowly=False), slow
    )


def is_same(left: Any, right: Any) -> bool:
    """Equal values, where fields may come in another order and a real number may stand for a whole one."""
    return bool(left == right)


def pair(old: Any, new: Any) -> tuple[AvroCodec, AvroCodec]:
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
    value_read = avro_codec.read_payload(writer, reader, avro_codec.write_payload(writer, {"a": value}, check=True), 1)

    assert value_read == {"a": expected}
    assert isinstance(value_read, dict)
    assert type(value_read["a"]) is type(expected)


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
    payload = avro_codec.write_payload(writer, {"a": value}, check=True)

    with pytest.raises(BadRecordError) as bad:
        avro_codec.read_payload(writer, reader, payload, 1)
    assert bad.value.code == RecordErrorCode.RESOLUTION


def record(name: str, *fields: str) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": each, "type": "int", "default": 0} for each in fields]}


def test_branches_are_told_by_their_names() -> None:
    writer, reader = pair(
        [record("ns.A", "x"), record("ns.B", "y")], ["null", record("ns.B", "x", "y"), record("ns.A", "x")]
    )
    for value, expected in ((("ns.A", {"x": 1}), {"x": 1}), (("ns.B", {"y": 2}), {"x": 0, "y": 2})):
        payload = avro_codec.write_payload(writer, {"a": value}, check=True)
        assert avro_codec.read_payload(writer, reader, payload, 1) == {"a": expected}
    tagged = writer.find_program(reader, tagged=True)
    assert tagged is not None
    assert tagged(avro_codec.write_payload(writer, {"a": ("ns.B", {"y": 2})}, check=True)) == {"a": ("ns.B", {"y": 2})}


@pytest.mark.parametrize(
    "kind", [{"type": "enum", "name": "A", "symbols": ["s"]}, {"type": "fixed", "name": "A", "size": 0}]
)
def test_enums_and_fixed_types_of_other_names_are_no_match(kind: dict[str, Any]) -> None:
    writer, reader = pair(kind, {**kind, "name": "Other"})
    payload = avro_codec.write_payload(writer, {"a": {"enum": "s", "fixed": b""}[kind["type"]]}, check=True)
    with pytest.raises(BadRecordError) as bad:
        avro_codec.read_payload(writer, reader, payload, 1)
    assert bad.value.code == RecordErrorCode.RESOLUTION


def test_a_payload_of_a_record_of_another_name_is_no_match() -> None:
    """Its fields might all be passed over, and the value be made of defaults; inside a payload fields decide, as in Java."""
    written = record("A", "x")
    for tagged in (False, True):
        with pytest.raises(BadRecordError, match="record A is not readable as the reader's record Other") as bad:
            avro_codec.read_payload(made(written), made(record("Other", "y")), b"\2", 1, tagged=tagged)
        assert bad.value.code == RecordErrorCode.RESOLUTION
        assert avro_codec.read_payload(*pair(written, record("Other", "x")), b"\2", 1, tagged=tagged) == {"a": {"x": 1}}


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
    first, second = avro_codec.read_payload(writer, reader, b"", 1), avro_codec.read_payload(writer, reader, b"", 1)
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


def read_branch(old: Any, new: Any, value: object) -> Any:
    writer, reader = made(old), made(new)
    payload = avro_codec.write_payload(writer, value, check=True)
    tagged = avro_codec.read_payload(writer, reader, payload, 1, tagged=True)
    assert tagged == avro_codec.read_slowly(writer, reader, (payload, 1), tagged=True)
    return tagged


def test_the_full_name_decides_between_records_of_one_short_name() -> None:
    first = {"type": "record", "name": "a.R", "fields": [{"name": "y", "type": "int", "default": 1}]}
    second = {"type": "record", "name": "b.R", "fields": [{"name": "x", "type": "int"}]}
    for reader in ([first, second, "null"], [second, first, "null"]):
        assert read_branch([first, second], reader, ("b.R", {"x": 5})) == ("b.R", {"x": 5})
        assert read_branch([first, second], reader, ("a.R", {"y": 5})) == ("a.R", {"y": 5})


@pytest.mark.parametrize(
    ("reader", "branch"),
    [
        ([record("a.R", "x"), record("b.R", "x")], "b.R"),
        ([record("a.R", "x"), record("b.R", "x"), {**record("d.S", "x"), "aliases": ["c.R"]}], "d.S"),
        ([{**record("a.S", "x"), "aliases": ["R"]}, record("a.R", "x")], "a.R"),
        ([record("a.R", "x"), {"type": "record", "name": "b.R", "fields": [{"name": "must", "type": "int"}]}], "a.R"),
        ([record("a.R", "x"), {"type": "record", "name": "b.R", "fields": [{"name": "x", "type": "string"}]}], "a.R"),
        ([record("c.R", "x"), record("b.R", "x")], "c.R"),
        ([{"type": "record", "name": "c.R", "fields": [{"name": "must", "type": "int"}]}, record("b.R", "x")], "b.R"),
    ],
    ids=["the last of equals", "an alias", "the short name before a short alias", "missing field", "other type", "the full name", "what can be read"],
)  # fmt: skip
def test_the_best_name_that_can_be_read_is_the_branch(reader: list[Any], branch: str) -> None:
    assert read_branch(record("c.R", "x"), ["null", *reader], {"x": 5})[0] == branch


def test_unions_that_differ_in_namespaces_alone_are_read_by_position() -> None:
    written = [record("a.R", "x"), record("b.R", "x")]
    assert read_branch(written, [record("c.R", "x"), record("d.R", "x")], ("a.R", {"x": 1})) == ("c.R", {"x": 1})
    assert read_branch(written, [record("b.R", "x"), record("a.R", "x")], ("a.R", {"x": 1})) == ("a.R", {"x": 1})


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9}


@pytest.mark.parametrize(
    "wrap",
    [lambda inner: inner, lambda inner: ["null", inner], lambda inner: {"type": "map", "values": inner}],
    ids=["alone", "in a union", "in a map"],
)
def test_a_decimal_read_as_a_string_is_text_or_bad_whatever_its_bytes(wrap: Any) -> None:
    writer, reader = pair(wrap(DECIMAL), wrap("string"))
    boxed = (lambda inner: {"k": inner}) if isinstance(wrap("int"), dict) else (lambda inner: inner)
    for number, expected in ((65, "A"), (-1, None), (50_000, None), (12, "\f")):
        payload = avro_codec.write_payload(writer, {"a": boxed(Decimal(number))}, check=True)
        if expected is None:
            with pytest.raises(BadRecordError) as bad:
                avro_codec.read_payload(writer, reader, payload, 1)
            assert bad.value.code == RecordErrorCode.MALFORMED
            assert "no UTF-8" in bad.value.message or "utf-8" in bad.value.message
        else:
            assert avro_codec.read_payload(writer, reader, payload, 1) == {"a": boxed(expected)}


@given(
    st.integers(-(2**63), 2**63 - 1)
    | st.integers(1, 38).flatmap(lambda n: st.integers(2**24 << n, (2**24 << n) + (4 << n)))
)
def test_a_long_read_as_a_float_has_its_32_bits(number: int) -> None:
    writer, reader = pair("long", "float")
    payload = avro_codec.write_payload(writer, {"a": number}, check=True)
    value_read = avro_codec.read_payload(writer, reader, payload, 1)

    assert value_read == {"a": float(pa.scalar(number, pa.int64()).cast(pa.float32(), safe=False).as_py())}


def test_units_are_converted_exactly_or_refused() -> None:
    exact = dt.datetime(1970, 1, 1, 0, 0, 1, 2, dt.UTC)
    for old, new, number, expected in (
        ("timestamp-nanos", "timestamp-micros", 1_000_002_000, exact),
        ("timestamp-micros", "timestamp-nanos", 1_000_002, 1_000_002_000),
        ("timestamp-millis", "timestamp-nanos", -1, -1_000_000),
        (
            "local-timestamp-nanos",
            "local-timestamp-millis",
            1_000_000,
            exact.replace(second=0, microsecond=1000, tzinfo=None),
        ),
        ("timestamp-nanos", "timestamp-nanos", 7, 7),
    ):
        writer, reader = pair(micros(old), micros(new))
        assert avro_codec.read_payload(
            writer, reader, avro_codec.write_payload(pair("long", "int")[0], {"a": number}, check=True), 1
        ) == {"a": expected}
    for old, new, number, code in (
        ("timestamp-nanos", "timestamp-micros", 1, RecordErrorCode.INVALID),
        ("timestamp-micros", "timestamp-nanos", 2**62, RecordErrorCode.INVALID),
        ("timestamp-nanos", "local-timestamp-nanos", 1, RecordErrorCode.RESOLUTION),
        ("timestamp-micros", "local-timestamp-nanos", 1, RecordErrorCode.RESOLUTION),
        ("time-micros", "timestamp-nanos", 1, RecordErrorCode.RESOLUTION),
    ):
        writer, reader = pair(micros(old), micros(new))
        with pytest.raises(BadRecordError) as bad:
            avro_codec.read_payload(
                writer, reader, avro_codec.write_payload(pair("long", "int")[0], {"a": number}, check=True), 1
            )
        assert bad.value.code == code


def test_a_default_is_of_the_branch_that_it_fits() -> None:
    inner = {"type": "record", "name": "I", "fields": [{"name": "n", "type": "float", "default": 0.1}]}
    fields = [
        {"name": "a", "type": ["long", inner], "default": {}},
        {"name": "b", "type": ["long", "bytes"], "default": "\u00ff"},
        {"name": "c", "type": ["string", "null"], "default": None},
    ]
    writer, reader = (
        made({"type": "record", "name": "R", "fields": []}),
        made({"type": "record", "name": "R", "fields": fields}),
    )
    assert avro_codec.read_payload(writer, reader, b"", 1) == {"a": {"n": 0.10000000149011612}, "b": b"\xff", "c": None}
