"""Programs made for Avro schemas: what they take they treat as the slow way does, and what is right they take."""

import datetime as dt
import io
import itertools
import json
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, cast

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.oracle.avro_treaty import model
from treaty.client.compiled import program, reader_program
from treaty.client.compiled.reader_program import make_reader
from treaty.client.compiled.writer_program import make_writer
from treaty.client.serializers import avro_codec
from treaty.client.serializers.avro_codec import AvroCodec, make_avro_codec
from treaty.client.serializers.errors import BadRecordError, BadValueError
from treaty.core.names import Subject
from treaty.core.registry import Registry

NOBODY = cast("Registry", None)
"""A schema without references asks no registry."""

Drawn = tuple[Any, st.SearchStrategy[Any]]
"""A schema, and values of it that leave no doubt."""

AWARE = st.datetimes(timezones=st.just(dt.UTC))
SCALARS: list[Drawn] = [
    ("null", st.none()),
    ("boolean", st.booleans()),
    ("int", st.integers(-(2**31), 2**31 - 1)),
    ("long", st.integers(-(2**63), 2**63 - 1)),
    ("float", st.floats(width=32, allow_nan=False)),
    ("double", st.floats(allow_nan=False) | st.integers(-(2**53), 2**53)),
    ("bytes", st.binary(max_size=70)),
    ("string", st.text(max_size=70)),
    ({"type": "long", "logicalType": "timestamp-micros"}, AWARE),
    ({"type": "long", "logicalType": "timestamp-millis"}, AWARE.map(lambda at: at.replace(microsecond=0))),
    ({"type": "long", "logicalType": "local-timestamp-micros"}, st.datetimes()),
    ({"type": "int", "logicalType": "date"}, st.dates()),
    ({"type": "long", "logicalType": "time-micros"}, st.times()),
    ({"type": "string", "logicalType": "uuid"}, st.uuids()),
    ({"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}, st.decimals(-999, 999, places=2)),
    ({"type": "string", "logicalType": "of-nobody"}, st.text(max_size=3)),
]


@st.composite
def named(draw: st.DrawFn, inner: st.SearchStrategy[Drawn]) -> Drawn:
    name = "ns.N"  # each gets its own name when the schema is whole
    match draw(st.sampled_from(["record", "enum", "fixed"])):
        case "enum":
            symbols = ["A", "B", "C"][: draw(st.integers(1, 3))]
            return {"type": "enum", "name": name, "symbols": symbols}, st.sampled_from(symbols)
        case "fixed":
            size = draw(st.integers(0, 5))
            return {"type": "fixed", "name": name, "size": size}, st.binary(min_size=size, max_size=size)
        case _:
            drawn = draw(st.lists(inner, max_size=4))
            fields = [{"name": f"f{at}", "type": schema} for at, (schema, _) in enumerate(drawn)]
            values = {f"f{at}": value for at, (_, value) in enumerate(drawn)}
            return {"type": "record", "name": name, "fields": fields}, st.fixed_dictionaries(values)


def unique(drawn: list[Drawn]) -> list[Drawn]:
    """Branches of a union that no value could be of two of."""
    seen: dict[str, Drawn] = {}
    for schema, value in drawn:
        kind = schema if isinstance(schema, str) else "" if isinstance(schema, list) else schema["type"]
        alike = {
            "float": "double",
            "int": "double",
            "long": "double",
            "fixed": "bytes",
            "enum": "string",
            "map": "record",
        }
        kind = alike.get(kind, kind)
        if (
            kind not in seen
            and not isinstance(schema, list)
            and not (isinstance(schema, dict) and "logicalType" in schema)
        ):
            seen[kind] = (schema, value)
    return list(seen.values()) or [("null", st.none())]


def parts(inner: st.SearchStrategy[Drawn]) -> st.SearchStrategy[Drawn]:
    arrays = inner.map(
        lambda drawn_type: ({"type": "array", "items": drawn_type[0]}, st.lists(drawn_type[1], max_size=3))
    )
    maps = inner.map(
        lambda drawn_type: (
            {"type": "map", "values": drawn_type[0]},
            st.dictionaries(st.text(max_size=3), drawn_type[1], max_size=3),
        )
    )
    unions = (
        st.lists(inner, min_size=1, max_size=4)
        .map(unique)
        .map(lambda all_: ([branch[0] for branch in all_], st.one_of([branch[1] for branch in all_])))
    )
    return arrays | maps | unions | named(inner)


SCHEMAS: st.SearchStrategy[Drawn] = st.recursive(st.sampled_from(SCALARS), parts, max_leaves=8)
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=3)
    | st.binary(max_size=5)
    | st.sampled_from([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.time(1), Decimal("1.5"), uuid.UUID(int=1)]),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(st.sampled_from(["f0", "f1", "f2", "x"]), inner, max_size=3)
    | st.tuples(st.sampled_from(["string", "long", "ns.A"]), inner),
    max_leaves=5,
)  # fmt: skip


def renamed(schema: Any, count: Iterator[int]) -> Any:
    if isinstance(schema, list):
        return [renamed(each, count) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: renamed(each, count) for key, each in schema.items()}
    return {**inner, "name": f"ns.N{next(count)}"} if schema.get("name") == "ns.N" else inner


def made(schema: Any) -> AvroCodec:
    return make_avro_codec(NOBODY, json.dumps(renamed(schema, itertools.count())), (), Subject(".", ""))


def quick(codec: AvroCodec, value: Any) -> bytes | None:
    out = bytearray()
    assert codec.writer is not None
    try:
        codec.writer(out, value)
    except avro_codec.PROGRAM_ERRORS:
        return None
    return bytes(out)


def slow(codec: AvroCodec, value: Any) -> bytes | None:
    try:
        return avro_codec.write_slowly(codec, value, check=True)
    except BadValueError:
        return None


@given(SCHEMAS, st.data())
def test_what_is_right_is_written_at_once_and_as_the_slow_way_writes_it(drawn: Drawn, data: st.DataObject) -> None:
    codec, value = made(drawn[0]), data.draw(drawn[1])

    assert quick(codec, value) == slow(codec, value)
    assert quick(codec, value) is not None


@given(SCHEMAS, st.data())
def test_what_is_taken_at_once_is_what_the_slow_way_takes(drawn: Drawn, data: st.DataObject) -> None:
    codec, value = made(drawn[0]), data.draw(JUNK | st.fixed_dictionaries({"f0": JUNK}) | drawn[1])
    at_once = quick(codec, value)

    assert at_once is None or at_once == slow(codec, value)


def longest(value: object) -> int:
    """Items of the longest list or map inside a value."""
    if not isinstance(value, list | dict):
        return 0
    inner = list(value.values()) if isinstance(value, dict) else value
    return max(len(inner), *map(longest, inner)) if inner else 0


@given(SCHEMAS, st.data())
def test_what_is_right_is_read_at_once(drawn: Drawn, data: st.DataObject) -> None:
    codec, value = made(drawn[0]), data.draw(drawn[1])
    payload = avro_codec.write_payload(codec, value, check=True)
    if not codec.raw and longest(value) <= len(payload):  # more items than bytes are read the slow way
        assert codec.reader is not None
        assert str(codec.reader(payload)) == str(
            fastavro.schemaless_reader(io.BytesIO(payload), codec.schema, None)["r"]  # type: ignore[call-overload, index]  # a record
        )


@examples(300)
@given(SCHEMAS, st.data())
def test_damage_that_is_read_at_once_the_slow_way_reads_alike(drawn: Drawn, data: st.DataObject) -> None:
    codec, value = made(drawn[0]), data.draw(drawn[1])
    damaged = bytearray(avro_codec.write_payload(codec, value, check=True))
    for _ in range(data.draw(st.integers(1, 3))):
        where = data.draw(st.integers(0, len(damaged)))
        damaged[where : where + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    payload = bytes(damaged)
    assert codec.reader is not None
    try:
        at_once = codec.reader(payload)
    except avro_codec.PROGRAM_ERRORS:
        return
    assert str(at_once) == str(avro_codec.read_slowly(codec, None, (payload, 1), tagged=False))


@given(st.binary(max_size=30))
def test_any_bytes_are_read_alike_or_refused_alike(payload: bytes) -> None:
    schema = {"type": "record", "name": "L", "fields": [{"name": "n", "type": ["null", "L", "string", "long"]},
              {"name": "m", "type": {"type": "map", "values": "int"}}]}  # fmt: skip
    codec = made(schema)
    assert codec.reader is not None
    try:
        expected = str(avro_codec.read_slowly(codec, None, (payload, 1), tagged=False))
    except BadRecordError:
        with pytest.raises(avro_codec.PROGRAM_ERRORS):
            codec.reader(payload)
    else:
        assert str(codec.reader(payload)) == expected


def test_a_payload_nested_without_end_is_refused_as_the_slow_way_refuses_it() -> None:
    codec = made({"type": "record", "name": "Nest", "fields": [{"name": "next", "type": ["null", "Nest"]}]})
    assert codec.reader is not None
    for depth in (90, 99):
        assert codec.reader(b"\x02" * depth + b"\x00") == avro_codec.read_payload(
            codec, codec, b"\x02" * depth + b"\x00", 1
        )
    for depth in (101, 100_000):
        payload = b"\x02" * depth + b"\x00"
        with pytest.raises(avro_codec.PROGRAM_ERRORS):
            codec.reader(payload)
        with pytest.raises(BadRecordError, match=f"deeper than {reader_program.MAX_DEPTH}"):
            avro_codec.read_payload(codec, None, payload, 1)


def test_branches_may_be_named() -> None:
    union = [
        "null",
        "string",
        {"type": "enum", "name": "ns.E", "symbols": ["A"]},
        {"type": "long", "logicalType": "timestamp-micros"},
        "long",
    ]
    named_types: dict[str, Any] = {}
    parsed = fastavro.parse_schema([each for each in union if each != "long"], named_schemas=named_types)
    schema = model(json.dumps(union[:-1]))
    write, read = make_writer(parsed, named_types), make_reader(schema, schema, tagged=True)
    assert write is not None
    assert read is not None
    for value in (
        None,
        ("string", "A"),
        ("ns.E", "A"),
        ("long-timestamp-micros", dt.datetime(2020, 1, 1, tzinfo=dt.UTC)),
    ):
        out = bytearray()
        write(out, value)
        assert read(bytes(out)) == value
    with pytest.raises(program.SlowPathError):
        write(bytearray(), ("double", 1.0))


def test_a_schema_that_is_too_deep_for_a_program_goes_the_slow_way() -> None:
    schema: Any = "int"
    value: Any = 5
    for _ in range(12):
        schema, value = {"type": "array", "items": schema}, [value]
    codec = made(schema)
    assert codec.reader is None
    assert codec.writer is None
    assert avro_codec.read_payload(codec, None, avro_codec.write_payload(codec, value, check=True), 1) == value


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        (["null", "string"], b"\x01\x02a"),
        (["null", "string"], b"\x04"),
        ({"type": "enum", "name": "E", "symbols": ["a", "b"]}, b"\x01"),
        ({"type": "enum", "name": "E", "symbols": ["a", "b"]}, b"\x04"),
        ("string", b"\x03abc"),
        ("string", b"\x08abc"),
        ("string", b"\x02\xff"),
        ({"type": "array", "items": "bytes"}, b"\x02\x08abc"),
        ({"type": "array", "items": "bytes"}, b"\x02\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01abc"),
        ("boolean", b"\x07"),
        ("boolean", b"\x02"),
        ("int", b"\xfe\xff\xff\xff\xff\xff\x01"),
        ("int", b"\x80\x80\x80\x80\x10"),
        ("int", b"\x80"),
        ("long", b"\x80" * 10 + b"\x01"),
        ("long", b"\xff" * 9 + b"\x03"),
        ("double", b"\x07"),
        ("float", b"\x07\x07\x07"),
        ({"type": "fixed", "name": "F", "size": 4}, b"\x01\x02"),
        ({"type": "array", "items": "null"}, b"\xfe\xff\xff\xff\x0f\x00"),
        ({"type": "array", "items": "int"}, b"\x04\x02"),
        ({"type": "array", "items": "int"}, b"\x02\x02"),
        ({"type": "map", "values": "int"}, b"\x02\x02a"),
        ("int", b"\x02\x02"),
        ("string", b""),
    ],
)
def test_each_damage_is_left_to_the_slow_way(schema: Any, payload: bytes) -> None:
    codec = made(schema)

    assert codec.reader is not None
    with pytest.raises(avro_codec.PROGRAM_ERRORS):
        codec.reader(payload)
    with pytest.raises(BadRecordError):
        avro_codec.read_slowly(codec, None, (payload, 1), tagged=False)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("int", 2**31),
        ("int", -(2**31) - 1),
        ("long", 2**63),
        ("long", True),
        ("double", True),
        ("boolean", 1),
        ("string", b"a"),
        ("bytes", "a"),
        ("string", "\ud800"),
        ({"type": "fixed", "name": "F", "size": 2}, b"abc"),
        ({"type": "enum", "name": "E", "symbols": ["a"]}, "b"),
        ({"type": "array", "items": "int"}, {"a": 1}),
        ({"type": "map", "values": "int"}, {1: 1}),
        ({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}, {"a": 1, "b": 2}),
        ({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}, {"b": 2}),
        ({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}, {}),
    ],
)
def test_each_misfit_is_left_to_the_slow_way(schema: Any, value: object) -> None:
    codec = made({"type": "array", "items": schema})

    assert quick(codec, [value]) is None
    with pytest.raises(BadValueError):
        avro_codec.write_payload(codec, [value], check=True)


def test_a_pair_in_place_of_an_array_is_a_name_and_a_value() -> None:
    codec = made(["null", {"type": "array", "items": ["string", {"type": "array", "items": "string"}]}])

    for value in (("array", ["x"]), ("string", ["x"]), ("array", "x")):
        assert quick(codec, value) is None
    assert quick(codec, ["x"]) == slow(codec, ["x"])


def test_a_schema_with_very_many_fields_goes_the_slow_way() -> None:
    fields = [{"name": f"f{at}", "type": ["null", "long", "string"]} for at in range(3000)]
    codec = made({"type": "record", "name": "Wide", "fields": fields})
    value = {field["name"]: at for at, field in enumerate(fields)}
    assert codec.writer is None
    assert avro_codec.read_payload(codec, None, avro_codec.write_payload(codec, value, check=True), 1) == value


@pytest.mark.parametrize("name", ['x"); import os; ("', "a'b\n", "\\", "{0}", "v\u2028", "__class__", "None"])
def test_names_of_fields_are_never_run(name: str) -> None:
    codec = made({"type": "record", "name": "R", "fields": [{"name": name, "type": "long"}]})

    assert quick(codec, {name: 5}) == b"\n"
    assert codec.reader is not None
    assert codec.reader(b"\n") == {name: 5}


def test_names_without_a_namespace_stay_so() -> None:
    codec = made(
        [{"type": "record", "name": "A", "fields": []}, {"type": "enum", "name": "E", "symbols": ["a"]}, "string"]
    )

    assert quick(codec, ("E", "a")) == b"\x02\x00"
    assert quick(codec, ("string", "a")) == b"\x04\x02a"
    assert codec.tagged_reader is not None
    assert codec.tagged_reader(b"\x02\x00") == ("E", "a")
