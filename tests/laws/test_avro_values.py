"""Values of Avro schemas in JSON encoding: examples are values, values are what others read, and slips are found."""

import io
import json
import uuid
from collections.abc import Callable
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import avro_fastavro
from tests.oracle.avro_logical import dressed_schema
from tests.oracle.avro_treaty import model
from treaty.core.limits import FAULTS
from treaty.formats.avro.data.example import generate_example
from treaty.formats.avro.data.value import VALUE_RULES, check_value
from treaty.formats.avro.model import AvroEnum, AvroRecord, AvroSchema, AvroType, AvroUnion

seeds = st.integers(0, 2**32 - 1)


def of(node: Any) -> Any:
    """The model of a schema given as JSON values."""
    return model(json.dumps(node))


def infinite(node: Any) -> bool:
    """Whether no example exists."""
    try:
        generate_example(of(node), 0)
    except ValueError as wrong:
        return "no finite value" in str(wrong)
    return False


def ends(schema: AvroSchema, node: AvroType, around: frozenset[str]) -> bool:
    """Whether a type has a value that is in no record of the names `around`; slow and plain."""
    match schema.resolve(node):
        case AvroUnion(branches):
            return any(ends(schema, branch, around) for branch in branches)
        case AvroRecord(full, fields):
            return full not in around and all(ends(schema, field.type, around | {full}) for field in fields)
        case AvroEnum(_, symbols):
            return bool(symbols)
    return True


@given(seeds, st.integers(0, 3))
def test_an_example_is_a_value_and_always_the_same(seed: int, which: int) -> None:
    node = dressed_schema(seed)
    schema = of(node)
    if infinite(node):
        assert not ends(schema, schema.root, frozenset())
        return
    text = generate_example(schema, which)

    assert check_value(schema, text) == ()
    assert generate_example(of(node), which) == text


@given(seeds)
def test_fastavro_writes_and_reads_every_example(seed: int) -> None:
    schema = of(dressed_schema(seed))
    if not ends(schema, schema.root, frozenset()) or avro_fastavro.refused(schema):
        return
    text = generate_example(schema, 1)
    data = avro_fastavro.written(schema, text)
    assert (avro_fastavro.read(data, schema, schema) is None) == (text == "null")


def test_fastavro_reads_the_json_encoding_itself() -> None:
    fields = [
        {"name": "x", "type": ["null", {"type": "fixed", "name": "F", "size": 3}]},
        {"name": "y", "type": {"type": "array", "items": ["int", "string"]}},
        {"name": "z", "type": {"type": "map", "values": {"type": "enum", "name": "E", "symbols": ["A", "B"]}}},
        {"name": "b", "type": "bytes"},
    ]
    node = {"type": "record", "name": "A", "namespace": "n", "fields": fields}
    for seed in range(50):
        text = generate_example(of(node), seed)
        (value,) = fastavro.json_reader(io.StringIO(text), fastavro.parse_schema(node))
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(node), value)
        assert out.getvalue() == avro_fastavro.written(of(node), text)


def record(*fields: tuple[str, Any]) -> dict[str, Any]:
    """A record ``A`` in the namespace ``n``."""
    return {"type": "record", "name": "A", "namespace": "n", "fields": [{"name": a, "type": b} for a, b in fields]}


ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
FIXED = {"type": "fixed", "name": "F", "size": 2}


@pytest.mark.parametrize(
    ("node", "text"),
    [
        ("null", "null"),
        ("int", "2147483647"),
        ("long", "-9223372036854775808"),
        ("float", "1"),
        ("double", '"-Infinity"'),
        ("bytes", '"\\u00ff"'),
        (FIXED, '"\\u0000a"'),
        (["null", "int"], "null"),
        (["null", "int"], '{"int": 5}'),
        (["null", record(("x", "int"))], '{"n.A": {"x": 1}}'),
        ([{"type": "array", "items": "int"}], '{"array": []}'),
        (record(("x", ["null", ENUM])), '{"x": {"n.E": "B"}}'),
        ({"type": "map", "values": ["null", "string"]}, '{"null": null, "string": {"string": ""}}'),
    ],
    ids=str,
)
def test_a_value_has_no_faults(node: Any, text: str) -> None:
    assert check_value(of(node), text) == ()


@pytest.mark.parametrize(
    ("node", "text", "rule", "path", "place"),
    [
        ("null", "0", "VALUE_TYPE_MISMATCH", "", (1, 1)),
        ("int", "2147483648", "VALUE_OUT_OF_RANGE", "", (1, 1)),
        ("int", "1.0", "VALUE_TYPE_MISMATCH", "", (1, 1)),
        ("int", "true", "VALUE_TYPE_MISMATCH", "", (1, 1)),
        ("long", "9223372036854775808", "VALUE_OUT_OF_RANGE", "", (1, 1)),
        ("double", '"nan"', "VALUE_TYPE_MISMATCH", "", (1, 1)),
        ("bytes", '"\\u0100"', "VALUE_NOT_BYTES", "", (1, 1)),
        (FIXED, '"abc"', "VALUE_SIZE_MISMATCH", "", (1, 1)),
        (FIXED, '"a\\u0100"', "VALUE_NOT_BYTES", "", (1, 1)),
        (ENUM, '"C"', "VALUE_SYMBOL_UNKNOWN", "", (1, 1)),
        (["null", "int"], "5", "VALUE_BRANCH_UNKNOWN", "", (1, 1)),
        (["null", "int"], '{"null": null}', "VALUE_BRANCH_UNKNOWN", "", (1, 1)),
        (["null", "int"], '{"int": 1, "x": 2}', "VALUE_BRANCH_UNKNOWN", "", (1, 1)),
        (["int"], "null", "VALUE_BRANCH_UNKNOWN", "", (1, 1)),
        (["null", record(("x", "int"))], '{"A": {"x": 1}}', "VALUE_BRANCH_UNKNOWN", "", (1, 1)),
        (["null", record(("x", "int"))], '{"n.A":\n {"x": ""}}', "VALUE_TYPE_MISMATCH", "/n.A/x", (2, 8)),
        (record(("x", "int")), "{}", "VALUE_FIELD_MISSING", "", (1, 1)),
        (record(("x", "int")), '{"x": 1,\n "y": 2}', "VALUE_FIELD_UNKNOWN", "/y", (2, 7)),
        ({"type": "array", "items": "int"}, '[1, 2, "3"]', "VALUE_TYPE_MISMATCH", "/2", (1, 8)),
        ({"type": "map", "values": "int"}, '{"a/b": []}', "VALUE_TYPE_MISMATCH", "/a~1b", (1, 9)),
        ("int", "[", "JSON_MALFORMED", "", (1, 2)),
    ],
    ids=str,
)
def test_a_slip_is_found_where_it_is(node: Any, text: str, rule: str, path: str, place: tuple[int, int]) -> None:
    (fault,) = check_value(of(node), text)
    assert (fault.rule, fault.path, (fault.line, fault.column)) == (rule, path, place)
    assert fault.expected
    assert fault.message


def test_every_rule_of_values_is_broken_above() -> None:
    cases = test_a_slip_is_found_where_it_is.pytestmark[0].args[1]
    assert {case[2] for case in cases} >= set(VALUE_RULES)


def test_faults_come_in_the_order_of_the_text_and_have_an_end() -> None:
    faults = check_value(of({"type": "array", "items": "int"}), json.dumps(["x"] * 1_000))
    assert [fault.path for fault in faults] == [f"/{at}" for at in range(FAULTS)]


def test_a_schema_without_a_finite_value_has_no_example() -> None:
    assert infinite(record(("next", "A")))
    assert infinite(record(("next", ["A"])))
    assert infinite(record(("b", {"type": "record", "name": "B", "fields": [{"name": "a", "type": "A"}]})))
    assert infinite([])
    assert infinite({"type": "enum", "name": "E", "symbols": []})
    assert not infinite(record(("next", ["A", "null"])))
    assert not infinite(record(("next", {"type": "array", "items": "A"})))
    assert not infinite({"type": "array", "items": []})


def test_a_value_that_is_only_found_the_shortest_way_is_found() -> None:
    # Every record offers itself three times, or an end that lies twenty levels deep.
    names: list[Any] = [{"type": "record", "name": "R0", "fields": []}]
    names += [
        {"type": "record", "name": f"R{at}", "fields": [{"name": "x", "type": f"R{at - 1}"}]} for at in range(1, 20)
    ]
    tree = {**record(("l", ["A", "R19"]), ("m", ["A", "R19"]), ("r", ["A", "R19"])), "namespace": ""}
    schema = of([*names, tree])
    sizes = {
        len(text) for seed in range(200) for text in [generate_example(schema, seed)] if check_value(schema, text) == ()
    }
    assert max(sizes) > 50 * min(sizes)


def test_values_that_are_too_deep_or_too_many_are_told() -> None:
    chain: list[Any] = [{"type": "record", "name": "R0", "fields": []}]
    double: list[Any] = [{"type": "record", "name": "R0", "fields": []}]
    for at in range(1, 300):
        chain.append({"type": "record", "name": f"R{at}", "fields": [{"name": "x", "type": f"R{at - 1}"}]})
        fields = [{"name": name, "type": f"R{at - 1}"} for name in "xy"]
        double.append({"type": "record", "name": f"R{at}", "fields": fields})
    for names in (chain, double[:40]):
        known = {"type": "array", "items": names}
        with pytest.raises(ValueError, match="at most"):
            generate_example(of(record(("known", known), ("x", f"n.{names[-1]['name']}"))), 1)
        assert generate_example(of(record(("known", known), ("x", "n.R5"))), 1)
    with pytest.raises(ValueError, match="at most"):
        generate_example(of({"type": "fixed", "name": "F", "size": 10**6}), 1)


@pytest.mark.parametrize(
    ("node", "plausible"),
    [
        ({"type": "int", "logicalType": "date"}, lambda number: 10_000 < number < 25_000),
        ({"type": "int", "logicalType": "time-millis"}, lambda number: 0 <= number < 86_400_000),
        ({"type": "long", "logicalType": "timestamp-micros"}, lambda number: 9e14 < number < 2.1e15),
        ({"type": "string", "logicalType": "uuid"}, lambda text: uuid.UUID(text).version == 4),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 1},
            lambda text: abs(int.from_bytes(text.encode("latin-1"), "big", signed=True)) < 1_000,
        ),
        (
            {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"},
            lambda text: int.from_bytes(text.encode("latin-1")[4:8], "little") < 31,
        ),
    ],
    ids=["date", "time", "timestamp", "uuid", "decimal", "duration"],
)
def test_examples_of_logical_types_are_plausible(node: Any, plausible: Callable[[Any], bool]) -> None:
    for seed in range(50):
        assert plausible(json.loads(generate_example(of(node), seed)))
