"""The union of versions: defaults in the words of the merged reader, text beside bytes, whole numbers beside fractions."""

import datetime as dt
import json
from decimal import Decimal
from itertools import permutations
from typing import Any

import pyarrow as pa
import pytest

from tests.frames import frame, header, record
from treaty import arrow
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import DEFAULT_CONTEXT, subject_of
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.resolution import AvroSide, find_branch
from treaty.formats.protobuf.encoding.wire import encode_varint
from treaty.plan.avro import planner
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.merge import MergeError, merge
from treaty.plan.decode_plans import extend, find_union_conflict, make_plan
from treaty.plan.errors import PlanError
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import DecodePlan

SUBJECT = "orders-value"


def put(registry: Connection, *texts: str) -> list[int]:
    return [registry.ask(Register(subject_of(SUBJECT), Draft(text))).answer.version.schema_id for text in texts]


def inner(*fields: Any, name: str = "In") -> Any:
    return json.loads(record(*fields, name=name))


def merged_default(*versions: str) -> Any:
    """The default of the first field of the merged record."""
    return json.loads(print_schema(merge([parse_avro(one) for one in versions])))["fields"][0]["default"]


def rows(plan: DecodePlan, *frames: bytes) -> list[Any]:
    found: list[Any] = arrow.decode(pa.array(frames, pa.binary()), plan).to_pylist()
    return [one["record"] or one["error"]["code"] for one in found]


RENAMED = [
    record(("n", "int")),
    record(("f", inner(("a", "string")), {"a": "q"}), ("n", "int")),
    record(("f", inner({"name": "b", "type": "string", "aliases": ["a"]}), {"b": "x"}), ("n", "int")),
]


def test_the_default_of_a_record_follows_the_names_of_its_fields(registry: Connection) -> None:
    assert merged_default(*RENAMED[1:]) == {"a": "x"}
    ids = put(registry, *RENAMED)
    plan = make_plan(registry, SUBJECT, reader="union")
    assert plan.rejected == ()
    found = rows(
        plan,
        frame(ids[0], RENAMED[0], {"n": 1}),
        frame(ids[1], RENAMED[1], {"f": {"a": "y"}, "n": 2}),
        frame(ids[2], RENAMED[2], {"f": {"b": "z"}, "n": 3}),
    )
    assert found == [{"n": 1, "f": {"a": "x"}}, {"n": 2, "f": {"a": "y"}}, {"n": 3, "f": {"a": "z"}}]


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        (inner(("a", "string", "own")), inner(("a", "bytes", "\u00e9"), ("c", "int", 3)), {"a": "\u00e9", "c": 3}),
        ({"type": "array", "items": inner(("a", "int"))}, {"type": "array", "items": inner({"name": "b", "type": "int", "aliases": ["a"]})}, [{"a": 7}]),
        (["null", inner(("a", "int"))], [inner({"name": "b", "type": "int", "aliases": ["a"]}), "null"], {"a": 7}),
    ],
    ids=["members left out", "items", "a branch"],
)  # fmt: skip
def test_defaults_follow_into_lists_and_choices(older: Any, newer: Any, expected: Any) -> None:
    given = {"members left out": {}, "items": [{"b": 7}], "a branch": {"b": 7}}
    default = given["items" if isinstance(expected, list) else "members left out" if "c" in expected else "a branch"]
    assert merged_default(record(("f", older)), record(("f", newer, default))) == expected


def test_a_default_of_text_becomes_its_bytes() -> None:
    assert merged_default(record(("f", "string", "\u00e9")), record(("f", "bytes"))) == "\u00c3\u00a9"
    assert merged_default(record(("f", "bytes")), record(("f", "string", "\u00e9"))) == "\u00c3\u00a9"


def test_a_default_is_counted_in_the_unit_of_the_merged_type(registry: Connection) -> None:
    """A default of one second was one of a millisecond, and one of 1.00 one of 0.01."""
    texts = [
        record(("n", "int")),
        record(
            ("n", "int"),
            ("at", {"type": "long", "logicalType": "timestamp-millis"}, 1000),
            ("price", {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}, "\u0064"),
        ),
        record(
            ("n", "int"),
            ("at", {"type": "long", "logicalType": "timestamp-micros"}),
            ("price", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 4}),
        ),
    ]
    ids = put(registry, *texts)
    (found,) = rows(make_plan(registry, SUBJECT, reader="union"), frame(ids[0], texts[0], {"n": 1}))
    assert found == {"n": 1, "at": dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC), "price": Decimal("1.0000")}


def test_decimals_that_their_bytes_have_no_room_for_share_no_column() -> None:
    def price(scale: int) -> str:
        kind = {"type": "fixed", "name": "F", "size": 4, "logicalType": "decimal", "precision": 9, "scale": scale}
        return record(("f", kind))

    with pytest.raises(MergeError):
        merge([parse_avro(price(2)), parse_avro(price(4))])


@pytest.mark.parametrize("kind", [{"type": "enum", "name": "E", "symbols": ["S"]}, inner(("k", "int"), name="E")])
@pytest.mark.parametrize("again", ["E", ["null", "E"]], ids=["plain", "in a choice"])
def test_a_type_that_a_newer_field_brought_is_met_again(registry: Connection, kind: Any, again: Any) -> None:
    """The merge ended with an error of Python."""
    v, x = inner(("g", "int"), name="V"), inner(("z", "int"), name="X")
    texts = [
        record(("u", ["null", v, x])),
        record(("u", ["null", inner(("f", kind), name="V"), x, inner(("f", again), name="U")])),
    ]
    ids = put(registry, *texts)
    plan = make_plan(registry, SUBJECT, reader="union")
    value = "S" if kind["type"] == "enum" else {"k": 5}
    sent = [
        frame(ids[0], texts[0], {"u": ("shop.V", {"g": 1})}),
        *(frame(ids[1], texts[1], {"u": (name, {"f": value})}) for name in ("shop.V", "shop.U")),
    ]
    # U has what V needs by now, and has a column of its own all the same.
    found = [[row["u"][member] for member in ("member0", "member2")] for row in rows(plan, *sent)]
    assert found == [[{"g": 1, "f": None}, None], [{"g": None, "f": value}, None], [None, {"f": value}]]


@pytest.mark.parametrize("kind", ["string", {"type": "enum", "name": "E", "symbols": ["S"]}])
def test_two_new_types_of_one_version_stay_two(registry: Connection, kind: Any) -> None:
    """Values of the second were read as the first, whose fields have the same names."""
    inside = ["null", inner(("x", "int"), name="A")]
    texts = [
        record(("u", inside)),
        record(("u", [*inside, inner(("hash", kind), name="Card"), inner(("hash", "string"), name="Bank")])),
    ]
    ids = put(registry, *texts)
    with pytest.raises(MergeError):
        merge([parse_avro(one) for one in texts])
    texts[0] = record(("u", [*inside, inner(("y", "int"), name="B")]))
    texts[1] = record(
        ("u", [*json.loads(texts[0])["fields"][0]["type"], *json.loads(texts[1])["fields"][0]["type"][2:]])
    )
    ids = put(registry, *texts)
    plan = make_plan(registry, SUBJECT, reader=print_schema(merge([parse_avro(one) for one in texts])))
    found = rows(plan, *(frame(ids[1], texts[1], {"u": (name, {"hash": "S"})}) for name in ("shop.Card", "shop.Bank")))
    assert [row["u"]["member2"] for row in found] == [{"hash": "S"}, None]
    assert [row["u"]["member3"] for row in found] == [None, {"hash": "S"}]


def test_text_beside_bytes_is_bytes(registry: Connection) -> None:
    texts = [record(("f", "string")), record(("f", "bytes"))]
    ids = put(registry, *texts)
    plan = make_plan(registry, SUBJECT, reader="union")
    assert plan.columns == (("f", "BINARY"),)
    found = rows(plan, frame(ids[0], texts[0], {"f": "\u00e9"}), frame(ids[1], texts[1], {"f": b"\xff\xfe"}))
    assert found == [{"f": b"\xc3\xa9"}, {"f": b"\xff\xfe"}]


COUNTS = [
    record(("id", "int"), ("x", "long")),
    record(("id", "int"), ("x", "double")),
    record(("id", "long"), ("x", "float")),
]


def test_whole_numbers_beside_fractions_are_refused_or_doubles(registry: Connection) -> None:
    ids = put(registry, *COUNTS[:2])
    frames = (frame(ids[0], COUNTS[0], {"id": 1, "x": 2**53 + 1}), frame(ids[1], COUNTS[1], {"id": 2, "x": 0.5}))
    refused = make_plan(registry, SUBJECT, reader="union")
    assert rows(refused, *frames) == [{"id": 1, "x": 2**53 + 1}, "RESOLUTION"]
    assert 'lossy = "double"' in refused.rejected[0].message
    plan = make_plan(registry, SUBJECT, reader="union", lossy="double")
    assert DecodePlan.from_json(plan.to_json()) == plan
    assert rows(plan, *frames) == [{"id": 1, "x": float(2**53)}, {"id": 2, "x": 0.5}]
    ids += put(registry, COUNTS[2])
    longer = extend(plan, registry, ids)
    assert rows(longer, frame(ids[2], COUNTS[2], {"id": 3, "x": 0.25})) == [{"id": 3, "x": 0.25}]
    with pytest.raises(PlanError, match="refuse, double"):
        make_plan(registry, SUBJECT, reader="union", lossy="float")


def test_a_default_that_is_none_is_missed_by_those_who_need_it_alone() -> None:
    """Imported schemas may have one. Spark's parser takes it, and fails at the first row that needs it."""
    texts = [record(("a", "int")), record(("a", "int"), ("b", "int", "x")), record(("a", "int"), ("b", "int"))]
    known = [
        RegisteredSchema(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", parse_avro(text))
        for place, text in enumerate(texts)
    ]
    plan = planner.compose(known, parse_avro(texts[1]))
    assert [one.schema_id for one in plan.rejected] == [1]
    assert rows(plan, frame(3, texts[2], {"a": 1, "b": 2})) == [{"a": 1, "b": 2}]


def test_a_reader_that_breaks_a_rule_of_avro_is_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is woven wrongly ends on the driver, with the rule, and not in the tasks of a job."""
    monkeypatch.setattr(planner, "drop_wrong_defaults", lambda schema: (schema, ()))
    texts = [record(("a", "int"), ("b", "int")), record(("a", "int"), ("b", "int", "x"))]
    with pytest.raises(PlanError, match="does not fit its type"):
        planner.compose([RegisteredSchema(1, DEFAULT_CONTEXT, 1, "AVRO", parse_avro(texts[0]))], parse_avro(texts[1]))


WIDER = {"int": "long float double", "long": "float double", "float": "double", "string": "bytes", "bytes": "string"}


@pytest.mark.parametrize("kind", ["null", "boolean", *WIDER, "double"])
def test_a_plain_type_is_read_as_the_first_branch_that_fits(kind: str) -> None:
    """The writer's own type, else the first branch in the reader's order that it is promoted to (Avro, Schema Resolution)."""
    kinds = ["null", "boolean", "int", "long", "float", "double", "string", "bytes"]
    schemas = {each: parse_avro(json.dumps(each)) for each in kinds}
    sides = {each: AvroSide(schema, schema.root) for each, schema in schemas.items()}
    for chosen in (one for many in (1, 2, 3) for one in permutations(kinds, many)):
        fitting = [at for at, one in enumerate(chosen) if one in WIDER.get(kind, "").split()]
        expected = chosen.index(kind) if kind in chosen else next(iter(fitting), None)
        assert find_branch(sides[kind], [sides[one] for one in chosen]) == expected


def test_versions_of_two_formats_have_no_reader_that_could_leave_one_out() -> None:
    texts = {"AVRO": '"int"', "JSON": '{"type":"string"}', "PROTOBUF": 'syntax = "proto3"; message M { int32 a = 1; }'}
    for chosen in permutations(texts, 2):
        assert find_union_conflict([ResolvedSchema(one, texts[one]) for one in chosen]) == ""


OLDER_ORDER = """syntax = "proto2"; message Order {{ optional string name = 1; optional string note = {0}; optional Line line = 2;
  message Line {{ optional string note = {0}; }} }}"""
NEWER_ORDER = """syntax = "proto2"; message Order { optional string name = 1; extensions 100 to 199, 300, 400 to max; optional Line line = 2;
  message Line { optional string text = 1; extensions 100 to 199, 300, 400 to max; } }"""


@pytest.mark.parametrize("number", [50, 99, 100, 150, 199, 200, 299, 300, 301, 399, 400, 500])
def test_a_field_of_an_older_version_has_a_column_unless_its_number_is_an_extension_now(
    registry: Connection, number: int
) -> None:
    """The last number of a range of extensions is in it, and the next one is free."""
    texts = OLDER_ORDER.format(number), NEWER_ORDER
    ids = [
        registry.ask(Register(subject_of(SUBJECT), Draft(text, "PROTOBUF"))).answer.version.schema_id for text in texts
    ]
    plan = make_plan(registry, SUBJECT, reader="union")
    note = encode_varint(number << 3 | 2) + b"\x02hi"
    line = b"\x12%c%s" % (len(note), note)
    (row,) = rows(plan, header(ids[0]) + b"\0" + note + line)
    is_extension = 100 <= number < 200 or number == 300 or number >= 400
    expected = {} if is_extension else {"note": "hi"}
    assert row == {"name": None, "line": {"text": None, **expected}, **expected}
