"""What two versions of Avro are as one: each pair of types, each member of fields and of named types, and the branches that go together."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

import pytest

from tests.frames import record
from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import AvroUnion
from treaty.formats.avro.resolution import AvroSide
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.merge import MergeError, merge
from treaty.plan.avro.union_pairs import is_ambiguous, list_read_unions, pair_branches
from treaty.plan.format_plans import DOUBLE, REFUSE


def unite(*versions: str, lossy: str = REFUSE) -> Any:
    return json.loads(print_schema(merge([parse_avro(one) for one in versions], lossy)))


def logical(base: str, name: str, *digits: int) -> dict[str, Any]:
    return {"type": base, "logicalType": name, **dict(zip(("precision", "scale"), digits, strict=False))}


def decimal(precision: int, scale: int = 0) -> dict[str, Any]:
    return logical("bytes", "decimal", precision, scale)


def fixed(size: int, *digits: int) -> dict[str, Any]:
    named = {"type": "fixed", "name": "shop.F", "size": size}
    return {**logical("fixed", "decimal", *digits), **named} if digits else named


# --------------------------------------------------------------------------------------------------------------- types

MILLIS, MICROS, NANOS = (logical("long", f"timestamp-{unit}") for unit in ("millis", "micros", "nanos"))
WALL_MILLIS, WALL = (logical("long", f"local-timestamp-{unit}") for unit in ("millis", "micros"))
CLOCK, FINE_CLOCK, DAY = logical("int", "time-millis"), logical("long", "time-micros"), logical("int", "date")
TYPES: list[tuple[Any, Any, Any]] = [
    ("int", "long", "long"), ("float", "double", "double"), ("int", "float", "double"), ("int", "double", "double"),
    ("long", "float", None), ("long", "double", None), ("string", "bytes", "bytes"), ("boolean", "int", None), ("string", "int", None),
    (MILLIS, MICROS, MICROS), (MILLIS, NANOS, None), (MICROS, NANOS, None), (WALL_MILLIS, WALL, WALL), (WALL, MICROS, None),
    (CLOCK, FINE_CLOCK, FINE_CLOCK), (DAY, CLOCK, None), (FINE_CLOCK, "double", None), (DAY, "long", None), (DAY, "double", None),
    (decimal(4, 2), decimal(6, 3), decimal(6, 3)), (decimal(4, 2), decimal(4, 3), decimal(5, 3)), (decimal(36), decimal(4, 2), decimal(38, 2)),
    (decimal(37), decimal(4, 2), None), (fixed(8, 9, 2), fixed(8, 10, 4), fixed(8, 11, 4)), (fixed(4, 9, 2), fixed(4, 9, 4), None),
    (fixed(4), fixed(5), None), (fixed(4), "bytes", None), ({"type": "array", "items": "int"}, {"type": "map", "values": "int"}, None),
]  # fmt: skip
"""Two types, and the one of both in either order; none where no column has the values of both."""
AROUND: Mapping[str, Callable[[Any], Any]] = {
    "/f": lambda kind: kind,
    "/f/[]": lambda kind: {"type": "array", "items": kind},
    "/f/{}": lambda kind: {"type": "map", "values": kind},
}
"""By path, what a type may stand in."""


@pytest.mark.parametrize(("one", "other", "both"), TYPES, ids=str)
def test_a_column_of_two_types_has_the_values_of_both(one: Any, other: Any, both: Any) -> None:
    for older, newer in permutations((one, other)):
        for path, wrap in AROUND.items():
            versions = [record(("f", wrap(older))), record(("f", wrap(newer)))]
            if both is None:
                with pytest.raises(MergeError) as refused:
                    unite(*versions)
                assert refused.value.finding.path == path
            else:
                assert parse_avro(json.dumps(unite(*versions))) == parse_avro(record(("f", wrap(both))))


def test_only_plain_numbers_become_doubles_where_that_is_allowed() -> None:
    for one, other in [("long", "float"), ("double", "long"), (FINE_CLOCK, "double"), (MICROS, "double")]:
        versions = [record(("f", one)), record(("f", other))]
        if isinstance(one, str):
            assert unite(*versions, lossy=DOUBLE)["fields"][0]["type"] == "double"
        else:
            with pytest.raises(MergeError):
                unite(*versions, lossy=DOUBLE)


@pytest.mark.parametrize(("plain", "meaning"), [("long", MICROS), ("int", DAY), ("long", FINE_CLOCK), ("bytes", decimal(4, 2))])  # fmt: skip
def test_a_meaning_stays_where_a_newer_version_says_none_and_comes_to_no_plain_column(plain: str, meaning: Any) -> None:
    assert unite(record(("f", meaning)), record(("f", plain)))["fields"][0]["type"] == meaning
    with pytest.raises(MergeError):
        unite(record(("f", plain)), record(("f", meaning)))


# ------------------------------------------------------------------------------------------------------------- members


def field(name: str, *aliases: str, kind: Any = "int", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **({"aliases": [*aliases]} if aliases else {}), **more}


NONE = {"type": ["null", "int"], "default": None}
FIELDS: dict[str, tuple[list[Sequence[Any]], list[Any]]] = {
    "a newer field has null": ([[field("a")], [field("a"), field("b")]], [field("a"), {"name": "b", **NONE}]),
    "or its default": ([[field("a")], [field("a"), field("b", default=3)]], [field("a"), field("b", default=3)]),
    "a field that is gone has null": ([[field("a"), field("b")], [field("b")]], [{"name": "a", **NONE}, field("b")]),
    "or its old default": ([[field("a", default=4), field("b")], [field("b")]], [field("a", default=4), field("b")]),
    "the newest default counts": ([[field("a", default=4)], [field("a", default=5)], [field("a")]], [field("a", default=5)]),
    "a field keeps its first name": ([[field("a")], [field("b", "a")]], [field("a", "b")]),
    "and all later ones": ([[field("a")], [field("b", "a")], [field("c", "b", "x")]], [field("a", "b", "c", "x")]),
    "a name from before the first": ([[field("a", "old")], [field("c", "old")]], [field("a", "old", "c")]),
    "one field continues another one": (
        [[field("a", "old"), field("z")], [field("c", "old"), field("d", "old"), field("z")]],
        [field("a", "old", "c"), field("z"), {"name": "d", **NONE}],
    ),
    "names of others are no aliases": (
        [[field("a", "y"), field("b", "z")], [field("a"), field("b"), field("c", "z", "y", "x")]],
        [field("a", "y"), field("b", "z"), {"name": "c", **NONE, "aliases": ["x"]}],
    ),
    "the newest text for people": ([[field("a", doc="one")], [field("a", doc="two")]], [field("a", doc="two")]),
    "stays where there is none": ([[field("a", doc="one")], [field("a")]], [field("a", doc="one")]),
}  # fmt: skip


@pytest.mark.parametrize("case", [*FIELDS])
def test_the_fields_of_all_versions_are_in_one_record(case: str) -> None:
    versions, expected = FIELDS[case]
    assert parse_avro(json.dumps(unite(*(record(*one) for one in versions)))) == parse_avro(record(*expected))


def named(kind: str, name: str, *aliases: str, **more: Any) -> dict[str, Any]:
    content: dict[str, Any] = {
        "record": {"fields": [{"name": "x", "type": "int"}]},
        "enum": {"symbols": ["S"]},
        "fixed": {"size": 4},
    }
    return {"type": kind, "name": name, **({"aliases": [*aliases]} if aliases else {}), **content[kind], **more}


@pytest.mark.parametrize("kind", ["record", "enum", "fixed"])
def test_a_named_type_is_known_by_all_names_that_it_had(kind: str) -> None:
    versions = [
        named(kind, "a.One", "a.Zero"),
        named(kind, "a.Two", "a.One", "a.Half"),
        named(kind, "a.Three", "a.Two"),
    ]
    merged = merge([parse_avro(record(("f", one))) for one in versions])
    assert merged.names["a.One"].aliases == ("a.Zero", "a.Two", "a.Half", "a.Three")


def test_an_enum_has_the_symbols_of_all_versions_and_the_newest_default() -> None:
    def enum(*symbols: str, **more: str) -> str:
        return record(("f", named("enum", "a.E", symbols=symbols, **more)))

    for defaults, expected in [(("S", None), "S"), ((None, "T"), "T"), (("S", "T"), "T"), ((None, None), None)]:
        older, newer = ({"default": one} if one else {} for one in defaults)
        merged = unite(enum("S", "T", **older), enum("T", "U", **newer))["fields"][0]["type"]
        assert merged["symbols"] == ["S", "T", "U"]
        assert merged.get("default") == expected


# --------------------------------------------------------------------------------------------------------------- unions

R = "record"
PAIRS: dict[str, tuple[list[Any], list[Any], list[int | None]]] = {
    "the whole name goes first": ([named(R, "a.A")], [named(R, "b.A"), named(R, "a.A")], [None, 0]),
    "a name that the older one had": ([named(R, "a.A", "a.Z")], [named(R, "a.Z")], [0]),
    "a name that the newer one had": ([named(R, "a.A")], [named(R, "a.B", "a.A")], [0]),
    "a name that both had": ([named(R, "a.A", "x.Q")], [named(R, "a.B", "x.Q")], [0]),
    "the older one's aliases go before": ([named(R, "a.A", "a.C"), named(R, "a.B")], [named(R, "a.C", "a.B")], [0]),
    "the last part": ([named(R, "a.A")], [named(R, "b.A")], [0]),
    "the last part of an alias": ([named(R, "a.A", "x.Q")], [named(R, "y.Q")], [0]),
    "no last part of the newer one's aliases": ([named(R, "a.A")], [named(R, "a.B", "z.A")], [None]),
    "names of other kinds are none": ([named(R, "a.A"), named("fixed", "a.F")], [named("enum", "a.A"), named("enum", "a.F")], [None, None]),
    "each is continued once": ([named(R, "a.A")], [named(R, "a.A"), named(R, "b.A"), named(R, "c.C", "a.A")], [0, None, None]),
    "the nearest number": (["double", "long", "string"], ["int"], [1]),
    "the nearest fraction": (["int", "float", "string"], ["double"], [1]),
    "any number": (["int", "string"], ["double", "bytes"], [0, 1]),
    "its own kind before a nearer place": (["int", "long", "string"], ["long", "int"], [1, 0]),
    "two of a family are the one type": (["null", "int"], ["long", "int", "null"], [1, 1, 0]),
    "two of a family are two of several": (["int", "string"], ["long", "int"], [None, 0]),
    "text and bytes are the one type": (["string", "null"], ["string", "bytes"], [0, 0]),
    "other numbers are not": (["int"], ["long", "float"], [0, None]),
    "one of a kind": ([{"type": "array", "items": "int"}, "string"], [{"type": "map", "values": "int"}, {"type": "array", "items": "string"}], [None, 0]),
}  # fmt: skip


@pytest.mark.parametrize("case", [*PAIRS])
def test_branches_go_together_by_what_they_are_called(case: str) -> None:
    olds, news, expected = PAIRS[case]
    older, newer = (parse_avro(json.dumps(one)) for one in (olds, news))
    assert isinstance(older.root, AvroUnion)
    assert isinstance(newer.root, AvroUnion)
    sides = [[AvroSide(schema, one) for one in schema.root.branches] for schema in (older, newer)]  # type: ignore[union-attr]  # as asserted
    assert pair_branches(*sides) == expected


RIVALS: list[tuple[list[Any], bool]] = [
    (["int", "long"], True), (["int", "string"], False), (["null", "int"], False), (["bytes", "string", "null"], True),
    ([named(R, "a.A"), named(R, "b.A")], True), ([named(R, "a.A"), named(R, "a.B")], False), ([named(R, "a.A"), named("enum", "b.A")], False),
    ([named(R, "a.A"), named(R, "a.B", "c.A")], True), ([named("enum", "a.A", "x.Q"), named("enum", "a.B", "y.Q")], True),
]  # fmt: skip


@pytest.mark.parametrize(("union", "is_so"), RIVALS, ids=str)
def test_a_union_with_two_branches_for_one_type_is_ambiguous_wherever_it_stands(
    union: list[Any], *, is_so: bool
) -> None:
    beside = named(R, "z.In", fields=[{"name": "u", "type": union}])
    arounds = [
        union, {"type": "array", "items": union}, {"type": "map", "values": union}, beside, ["null", beside],
        ["null", {"type": "array", "items": union}], [{"type": "map", "values": {"type": "array", "items": union}}, "boolean"],
    ]  # fmt: skip
    for around in arounds:
        assert is_ambiguous(parse_avro(json.dumps(around))) is is_so, around


@pytest.mark.parametrize("older", ["int", ["null", "int"], ["int"]], ids=str)
def test_a_column_of_one_type_becomes_no_choice(older: Any) -> None:
    for newer in (["int", "string"], ["null", "int", "string"], ["string", "int", "null", "boolean"]):
        with pytest.raises(MergeError, match="a choice of several"):
            unite(record(("f", older)), record(("f", newer)))
    assert unite(record(("f", older)), record(("f", ["null", "long"])))["fields"][0]["type"] in (
        ["null", "long"],
        ["long", "null"],
    )


def test_each_union_that_types_meet_is_found_by_its_way() -> None:
    """A record of the reader that is two of the writer, one of the writer that is two of the reader, and a union in a member of another one."""
    unions = ["long", "string"]
    reader = record(
        ("a", named(R, "shop.In", fields=[{"name": "u", "type": unions}])),
        ("b", "shop.In"),
        ("c", named(R, "shop.Third", fields=[{"name": "u", "type": ["string", "long"]}])),
        ("m", {"type": "map", "values": ["null", {"type": "array", "items": ["null", *unions]}, "boolean"]}),
    )
    writer = record(
        ("a", named(R, "shop.In", fields=[{"name": "u", "type": ["string", "int"]}])),
        ("b", named(R, "shop.Other", fields=[{"name": "u", "type": ["null", "int", "string"]}])),
        ("c", "shop.Other"),
        ("m", {"type": "map", "values": [{"type": "array", "items": ["string", "null"]}, "boolean", "null"]}),
    )
    found = list_read_unions(parse_avro(writer), parse_avro(reader))
    assert {one.path: (one.branches, one.members) for one in found.values()} == {
        ("a", "u"): (("string", "int"), (1, 0)),
        ("b", "u"): (("null", "int", "string"), (None, 0, 1)),
        ("c", "u"): (("null", "int", "string"), (None, 1, 0)),
        ("m", "{}"): (("array", "boolean", "null"), (0, 1, None)),
        ("m", "{}", "member0", "[]"): (("string", "null"), (1, None)),
    }
    assert len(found) == 5


def test_types_of_a_writer_share_a_member_unless_they_are_one_family() -> None:
    b = named(R, "a.B")
    for writer, reader, shared in [
        (["int", "long", "string"], ["long", "string"], ()),
        (["int", "float", "string"], ["double", "string"], ("int", "float")),
        ([named(R, "a.A"), named(R, "c.C"), b], [named(R, "a.A", "c.C"), b], ("a.A", "c.C")),
        ([named(R, "a.A"), b, "null"], ["null", named(R, "a.A"), b], ()),
    ]:
        for wrap in AROUND.values():
            sides = [parse_avro(record(("f", wrap(one)))) for one in (writer, reader)]
            (found,) = list_read_unions(*sides).values()
            assert found.shared == shared, (writer, reader)
