"""Encode plans and derived schemas without a JVM: what is planned, refused, grown and kept."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.frames import record
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.registration import Register
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Incompatible, NotFound
from treaty.core.schema import Draft, Reference
from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.plan.ddl import type_ddl
from treaty.plan.decode_plans import make_plan
from treaty.plan.encoding.casts import cast
from treaty.plan.encoding.derivation.containment import LOSSES
from treaty.plan.encoding.encode_plans import check_columns, make_encode_plan
from treaty.plan.encoding.options import DeriveOptions, EncodeOptions
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.errors import PlanError

FORMATS = ("AVRO", "PROTOBUF", "JSON")
WORDS = ("boolean", "int32", "int64", "float32", "float64", "string", "binary", "date", "timestamp")
scalars = st.sampled_from(WORDS).map(Scalar)
decimals = st.integers(1, 38).flatmap(lambda digits: st.builds(Decimal, st.just(digits), st.integers(0, digits)))
leaves = scalars | decimals
NAMES = st.sampled_from(["id", "name", "at", "total_price", "n", "Kind", "x1"])


def structs(types: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[tuple[Column, ...]]:
    names = st.lists(NAMES, min_size=1, max_size=4, unique=True)
    return names.flatmap(
        lambda found: st.tuples(*(st.builds(Column, st.just(one), types, st.booleans()) for one in found))
    )


# What all three formats hold: Protobuf has no lists or maps inside each other, and nulls in neither.
solid = st.recursive(leaves, lambda inner: structs(inner | st.builds(List, inner)).map(Struct), max_leaves=6)
types = solid | st.builds(List, solid) | st.builds(Map, st.just(Scalar("string")), solid)


@pytest.fixture(scope="module")
def registry() -> Iterator[Connection]:
    with connect("memory:") as found:
        yield found


def derive(format_: str, **more: object) -> EncodeOptions:
    return EncodeOptions(derive=DeriveOptions(format_, **more), register=True)  # type: ignore[arg-type]  # by name


def versions(registry: Connection, subject: str) -> int:
    try:
        return len(registry.ask(ListVersions(subject_of(subject))).answer.numbers)
    except NotFound:
        return 0


PARTS = (
    List(Scalar("int64"), nullable=False),
    Struct((Column("n", Scalar("int64")),)),
    Map(Scalar("string"), Scalar("int64")),
)
"""Columns whose values have parts."""


@pytest.mark.parametrize("format_", FORMATS)
def test_a_value_with_parts_stands_nowhere_where_a_schema_has_one_without(registry: Connection, format_: str) -> None:
    """Neither is a row planned for such a schema, nor does the schema stay where a new version is derived."""
    leaves: list[ColumnType] = [*map(Scalar, WORDS), Decimal(9, 2)]
    columns = [Column(f"c{at}", kind) for at, kind in enumerate(leaves)]
    subject = f"leaves-{format_}"
    make_encode_plan(registry, subject, columns, derive(format_))
    for at in range(len(columns)):
        for kind in PARTS:
            changed = [*columns[:at], Column(f"c{at}", kind), *columns[at + 1 :]]
            problems = check_columns(registry, subject, changed).problems
            assert len(problems) == 1, (columns[at], kind, problems)
            assert f"/c{at} is {type_ddl(kind)}, which cannot be" in problems[0]
            assert not check_columns(registry, subject, changed, derive(format_)).schema_id, (columns[at], kind)


@pytest.mark.parametrize("format_", FORMATS)
@settings(max_examples=8, deadline=None)
@given(columns=structs(types))
def test_a_derived_schema_holds_the_frame_and_is_derived_once(
    registry: Connection, format_: str, columns: tuple[Column, ...]
) -> None:
    subject = f"s{abs(hash((format_, columns)))}-value"
    before = check_columns(registry, subject, columns, derive(format_))
    assert before.fine, before.explain()
    assert versions(registry, subject) in {0, 1}
    plan = make_encode_plan(registry, subject, columns, derive(format_))
    assert make_encode_plan(registry, subject, columns, derive(format_)) == plan
    assert make_encode_plan(registry, subject, columns) == plan
    again = check_columns(registry, subject, columns, derive(format_))
    assert (again.schema_id, again.registers) == (plan.schema_id, False)
    assert versions(registry, subject) == 1
    assert not [check for one in plan.fit.walk() for check in one.checks if check.name in LOSSES]
    assert EncodePlan.from_json(plan.to_json()) == plan
    assert plan.explain()
    if format_ != "JSON":  # numbers of JSON are wider
        assert dict(make_plan(registry, subject).columns) == {one.name: type_ddl(one.type) for one in columns}


@pytest.mark.parametrize("format_", FORMATS)
@settings(max_examples=8, deadline=None)
@given(columns=structs(types), added=types, left=st.integers(0, 3))
def test_a_frame_with_more_columns_makes_a_compatible_version(
    registry: Connection, format_: str, columns: tuple[Column, ...], added: ColumnType, left: int
) -> None:
    subject = f"g{abs(hash((format_, columns, added)))}-value"
    first = make_encode_plan(registry, subject, columns, derive(format_))
    more = (Column("added", added, nullable=True), *columns)
    second = make_encode_plan(registry, subject, more, derive(format_))
    assert second.schema_id != first.schema_id
    optional = [one for one in more if one.nullable]
    fewer = tuple(one for one in more if one not in optional[:left])
    if fewer:
        assert make_encode_plan(registry, subject, fewer, derive(format_)).schema_id == second.schema_id


ORDER = (Column("id", Scalar("int32"), nullable=False), Column("note", Scalar("string")))


def test_what_the_latest_version_says_stays(registry: Connection) -> None:
    kind = {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}
    old = record({"name": "id", "type": "long", "doc": "its number"}, ("kind", kind), ("free", "int", 7), name="Order")
    registry.ask(Register(subject_of("kept-value"), Draft(old)))
    columns = (*ORDER, Column("kind", Scalar("string")))
    verdict = check_columns(registry, "kept-value", columns, derive("AVRO"))
    fields = {one["name"]: one for one in json.loads(verdict.text)["fields"]}
    assert list(fields) == ["id", "kind", "free", "note"]
    assert fields["id"] == {"name": "id", "type": "long", "doc": "its number"}
    assert fields["kind"]["type"]["symbols"] == ["A", "B"]
    assert verdict.fine
    assert verdict.plan is not None
    steps = json.loads(verdict.to_json())["planned"]
    assert {"path": "/id", "step": "cast from INT to BIGINT"} in steps
    assert {"path": "/kind", "step": "bad where it is null or is none of A, B"} in steps
    assert {"path": "/free", "step": "the schema's default: 7"} in steps
    assert versions(registry, "kept-value") == 1


def test_field_numbers_are_taken_over_and_never_used_again(registry: Connection) -> None:
    old = 'syntax = "proto3"; package shop; message Order { reserved 9; int64 id = 4; oneof by { string mail = 2; int32 fax = 7; } }'
    registry.ask(Register(subject_of("numbers-value"), Draft(old, "PROTOBUF")))
    verdict = check_columns(registry, "numbers-value", (*ORDER, Column("mail", Scalar("string"))), derive("PROTOBUF"))
    assert verdict.fine, verdict.explain()
    assert "int64 id = 4;" in verdict.text
    assert "string mail = 2;" in verdict.text
    assert "optional string note = 10;" in verdict.text
    narrow = check_columns(registry, "numbers-value", (Column("fax", Scalar("int64")),), derive("PROTOBUF"))
    assert narrow.problems
    assert "a field keeps its type" in narrow.problems[0]


def test_json_content_is_closed_unless_it_is_wanted_open(registry: Connection) -> None:
    closed = json.loads(check_columns(registry, "new-value", ORDER, derive("JSON")).text)
    assert closed["additionalProperties"] is False
    assert closed["required"] == ["id"]
    assert closed["$schema"].endswith("2020-12/schema")
    opened = json.loads(check_columns(registry, "new-value", ORDER, derive("JSON", open_content=True, draft=7)).text)
    assert "additionalProperties" not in opened
    assert "draft-07" in opened["$schema"]


def test_a_verdict_has_the_registrys_reasons_and_registers_nothing(registry: Connection) -> None:
    registry.ask(Register(subject_of("strict-value"), Draft(record(("id", "int"), name="Strict"))))
    columns = (Column("id", Scalar("int32"), nullable=False), Column("must", Scalar("string"), nullable=False))
    verdict = check_columns(registry, "strict-value", columns, derive("AVRO"))
    assert not verdict.fine
    assert not verdict.compatible
    assert any("must" in reason for reason in verdict.reasons)
    with pytest.raises(Incompatible):
        make_encode_plan(registry, "strict-value", columns, derive("AVRO"))
    asked = replace(derive("AVRO"), register=False)
    new = check_columns(registry, "strict-value", ORDER, asked)
    assert (new.compatible, new.fine) == (True, False)
    assert "not asked for" in new.explain()
    with pytest.raises(NotFound):
        make_encode_plan(registry, "strict-value", ORDER, asked)
    assert versions(registry, "strict-value") == 1


@pytest.mark.parametrize(
    ("format_", "column", "told"),
    [
        ("AVRO", Column("a b", Scalar("int32")), "/a b is no name in Avro"),
        ("PROTOBUF", Column("ä", Scalar("int32")), "/ä is no name in Protobuf"),
        ("PROTOBUF", Column("l", List(List(Scalar("int32")))), "list of lists"),
        ("PROTOBUF", Column("m", Map(Scalar("float64"), Scalar("int32"))), "keys are no strings"),
        ("PROTOBUF", Column("t", Scalar("timestamp_ntz")), "which Protobuf has no type for"),
        ("JSON", Column("t", Scalar("timestamp_ntz")), "no format for"),
    ],
    ids=["avro name", "protobuf name", "lists", "keys", "local time", "json local time"],
)
def test_what_a_format_has_no_type_for_is_a_problem(
    registry: Connection, format_: str, column: Column, told: str
) -> None:
    verdict = check_columns(registry, "odd-value", (column,), derive(format_))
    assert told in verdict.problems[0]
    assert versions(registry, "odd-value") == 0
    with pytest.raises(PlanError, match=told):
        make_encode_plan(registry, "odd-value", (column,), derive(format_))


def test_a_frame_that_nests_too_deep_for_a_schema_is_a_problem(registry: Connection) -> None:
    kind: ColumnType = Scalar("int32")
    for at in range(70):
        kind = Struct((Column(f"f{at}", kind),))
    for format_ in ("AVRO", "JSON", "PROTOBUF"):
        found = check_columns(registry, "deep-value", (Column("x", kind),), derive(format_))
        assert found.fine or any("levels" in one for one in (*found.problems, *found.reasons)), format_


def test_what_cannot_be_encoded_is_refused_before_anything_is_registered(registry: Connection) -> None:
    text = record(("id", "int"), ("lines", {"type": "array", "items": "string"}))
    columns = (Column("lines", Scalar("int64")), Column("more", Scalar("string")))
    wish = EncodeOptions(schema=text, register=True)
    with pytest.raises(PlanError) as refused:
        make_encode_plan(registry, "refused-value", columns, wish)
    for told in ("no field for /more", "no column for /id", "/lines is BIGINT, which cannot be a list"):
        assert told in str(refused.value)
    assert versions(registry, "refused-value") == 0
    with pytest.raises(PlanError, match="no record, so it takes one column"):
        make_encode_plan(registry, "refused-key", columns, EncodeOptions(schema='"string"', register=True))
    with pytest.raises(PlanError, match="only JSON is validated"):
        make_encode_plan(
            registry,
            "refused-value",
            ORDER[:1],
            EncodeOptions(schema=record(("id", "int")), validate=True, register=True),
        )


def test_heads_say_the_message_and_the_framing(registry: Connection) -> None:
    text = 'syntax = "proto3"; message A { int32 id = 1; } message B { message C { int32 id = 1; } message D { int32 id = 1; } }'
    found = registry.ask(Register(subject_of("heads-value"), Draft(text, "PROTOBUF"))).answer.version
    front = "00" + found.schema_id.to_bytes(4, "big").hex()
    first = make_encode_plan(registry, "heads-value", ORDER[:1])
    assert (first.message, first.head) == ("A", f"{front}00")
    deep = make_encode_plan(registry, "heads-value", ORDER[:1], EncodeOptions(message="B.D", framing="header"))
    assert deep.head == "01" + found.guid.replace("-", "") + "040202"
    with pytest.raises(PlanError, match="no message 'X'"):
        make_encode_plan(registry, "heads-value", ORDER[:1], EncodeOptions(message="X"))


def test_references_are_taken_along(registry: Connection) -> None:
    registry.ask(Register(subject_of("line"), Draft(record(("sku", "string"), name="Line"))))
    old = record(("line", "shop.Line"))
    registry.ask(Register(subject_of("refs-value"), Draft(old, "AVRO", (Reference("shop.Line", "line", 1),))))
    line = Column("line", Struct((Column("sku", Scalar("string")),)), nullable=False)
    assert make_encode_plan(registry, "refs-value", (line,), derive("AVRO")).version == 1
    grown = make_encode_plan(registry, "refs-value", (line, ORDER[1]), derive("AVRO"))
    stored = registry.ask(GetVersion(subject_of("refs-value"), grown.version)).answer
    assert [one["name"] for one in json.loads(stored.text)["fields"]] == ["line", "note"]


def test_losses_are_asked_for_by_path_and_only_where_there_are_any(registry: Connection) -> None:
    inner = {"type": "record", "name": "Line", "fields": [{"name": "price", "type": "float"}]}
    registry.ask(
        Register(subject_of("lossy-value"), Draft(record(("id", "int"), ("lines", {"type": "array", "items": inner}))))
    )
    lines = List(Struct((Column("price", Scalar("float64"), nullable=False),)), nullable=False)
    columns = (Column("id", Scalar("int32"), nullable=False), Column("lines", lines, nullable=False))

    def checks(*lossy: str) -> set[tuple[str, str]]:
        plan = make_encode_plan(registry, "lossy-value", columns, EncodeOptions(lossy=lossy))
        return {(one.path, check.name) for one in plan.fit.walk() for check in one.checks}

    assert checks() == {("/lines/[]/price", "overflow"), ("/lines/[]/price", "exact")}
    assert checks("/lines/[]/price") == {("/lines/[]/price", "overflow")}
    for path in ("/id", "/lines/price"):
        with pytest.raises(PlanError, match=f"lossy names {path}, where nothing is there to be lost"):
            checks(path)


NUMBERS = (Scalar("int32"), Scalar("int64"), Scalar("float32"), Scalar("float64"), Decimal(10, 2), Decimal(38, 0))
RANKS = {"int32": 31, "int64": 63, "float32": 24, "float64": 53}


@pytest.mark.parametrize("have", NUMBERS, ids=str)
@pytest.mark.parametrize("want", NUMBERS, ids=str)
def test_no_number_is_cast_to_a_narrower_one_without_a_check(have: Scalar | Decimal, want: Scalar | Decimal) -> None:
    found = cast(have, want)
    assert found is not None
    names = {check.name for check in found[1]}
    if have == want:
        assert names == set()
    elif isinstance(have, Decimal) or isinstance(want, Decimal):
        assert (
            names
            or (have, want) == (Decimal(10, 2), Decimal(10, 2))
            or (have != Scalar("float64") and want == Decimal(38, 0))
        )
    elif want.name.startswith("float"):
        assert ("exact" in names) == (RANKS[have.name] > RANKS[want.name])
    else:
        assert ("fits" in names) == (have.name.startswith("float") or RANKS[have.name] > RANKS[want.name])
        assert ("exact" in names) == have.name.startswith("float")


@pytest.mark.parametrize(
    ("want", "checks"),
    [
        *((Scalar(name), {"fits"}) for name in ("boolean", "int32", "int64")),
        *((kind, {"fits", "digits"}) for kind in (Scalar("float32"), Scalar("float64"), Decimal(10, 2))),
        *((Scalar(name), {"fits", "text"}) for name in ("date", "timestamp", "timestamp_ntz")),
        (Scalar("binary"), set()),
    ],
    ids=lambda value: "-".join(sorted(value)) if isinstance(value, set) else str(value),
)
def test_a_text_is_cast_to_all_that_has_a_text_and_a_null_to_everything(
    want: Scalar | Decimal, checks: set[str]
) -> None:
    found = cast(Scalar("string"), want)
    assert found is not None
    assert (found[0], {check.name for check in found[1]}) == ("cast", checks)
    assert cast(Scalar("null"), want) == ("cast", ())
