"""What is said of columns holds wherever they stand: in a struct, in an array, in the values of a map, and in these inside each other."""

import struct
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from treaty.core.column_types.leaf_paths import ELEMENT, VALUE, LeafPath, print_path
from treaty.core.refusals import Invalid
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.core.state.columns import (
    LOSSES,
    Column,
    ColumnLoss,
    Columns,
    ColumnType,
    Decimal,
    List,
    Map,
    Scalar,
    Struct,
)
from treaty.metastore.columns.allowed_types import ABSENT_EVERYWHERE, ABSENT_SCALARS, refuse_absent_types
from treaty.metastore.columns.declared import refresh_columns, settle_columns
from treaty.metastore.columns.from_schema import refuse_twins
from treaty.metastore.columns.notes import list_column_notes
from treaty.metastore.columns.refresh import find_refresh_effect, is_wider
from treaty.metastore.columns.renames import list_renames

Wrap = Callable[[ColumnType], ColumnType]
TEXT = Scalar("string")
RULE = next(iter(LOSSES))


def _record(kind: ColumnType) -> ColumnType:
    return Struct((Column("s", kind),))


def _list(kind: ColumnType) -> ColumnType:
    return List(kind, nullable=True)


def _map(kind: ColumnType) -> ColumnType:
    return Map(TEXT, kind, nullable=True)


PLACES: Mapping[str, tuple[Wrap, LeafPath]] = {
    "a column": (lambda kind: kind, ()),
    "a struct": (_record, ("s",)),
    "an array": (_list, (ELEMENT,)),
    "a map": (_map, (VALUE,)),
    "an array in a struct": (lambda kind: _record(_list(kind)), ("s", ELEMENT)),
    "a struct in an array": (lambda kind: _list(_record(kind)), (ELEMENT, "s")),
    "a struct in a map": (lambda kind: _map(_record(kind)), (VALUE, "s")),
    "a map in an array": (lambda kind: _list(_map(kind)), (ELEMENT, VALUE)),
    "an array in a map": (lambda kind: _map(_list(kind)), (VALUE, ELEMENT)),
}
"""By name, how a type stands there in a column, and the path from the column to it."""
NO_NESTING = frozenset(("a map in an array", "an array in a map"))
"""Places that Protobuf does not have."""


@pytest.mark.parametrize("place", [*PLACES])
def test_names_that_differ_in_case_alone_are_refused_wherever_they_stand(place: str) -> None:
    wrap, way = PLACES[place]
    alike = Struct((Column("Id", TEXT), Column("x", TEXT), Column("iD", TEXT)))
    with pytest.raises(Invalid) as refused:
        refuse_twins((Column("before", TEXT), Column("c", wrap(alike))), "the place")
    reason = refused.value.reason
    assert (reason.old, reason.new) == (print_path(("c", *way, "Id")), print_path(("c", *way, "iD")))
    refuse_twins((Column("Id", TEXT), Column("c", wrap(Struct((Column("iD", TEXT),))))), "the place")


ABSENT = [
    (format_, name)
    for format_ in ("AVRO", "JSON", "PROTOBUF")
    for name in (*ABSENT_EVERYWHERE, *ABSENT_SCALARS.get(format_, ()))
]


@pytest.mark.parametrize("place", [*PLACES])
@pytest.mark.parametrize(("format_", "name"), ABSENT)
def test_a_type_that_a_format_has_not_is_refused_wherever_it_stands(format_: str, name: str, place: str) -> None:
    wrap, way = PLACES[place]
    if format_ == "PROTOBUF" and place in NO_NESTING:
        return
    with pytest.raises(Invalid) as refused:
        refuse_absent_types((Column("before", TEXT), Column("c", wrap(Scalar(name)))), format_)
    assert (refused.value.reason.rule, refused.value.reason.path) == ("COLUMN_TYPE", print_path(("c", *way)))
    refuse_absent_types((Column("c", wrap(TEXT)),), format_)


@pytest.mark.parametrize("place", [*PLACES])
@pytest.mark.parametrize("inner", ["array", "map"])
def test_lists_and_maps_in_lists_and_maps_are_refused_of_messages_wherever_they_stand(inner: str, place: str) -> None:
    """Also those of structs that stand in one."""
    wrap, way = PLACES[place]
    if place in NO_NESTING:
        return
    kind = _list(_map(TEXT)) if inner == "array" else _map(_list(TEXT))
    if way and way[-1] in {ELEMENT, VALUE}:
        kind, way = _record(kind), (*way, "s")
    with pytest.raises(Invalid) as refused:
        refuse_absent_types((Column("c", wrap(kind)),), "PROTOBUF")
    assert refused.value.reason.path == print_path(("c", *way))


# ------------------------------------------------------------------------------------- nulls, docs and losses of columns


def _nulls(kind: ColumnType) -> Any:
    """Where a type takes null inside."""
    match kind:
        case Struct(columns):
            return tuple((one.name, one.nullable, _nulls(one.type)) for one in columns)
        case List(element, nullable) | Map(_, element, nullable):
            return nullable, _nulls(element)
    return ()


@pytest.mark.parametrize("place", [*PLACES])
@pytest.mark.parametrize("refreshes", [True, False], ids=["refreshed", "declared"])
def test_parts_take_null_as_the_schema_says_wherever_they_stand(place: str, *, refreshes: bool) -> None:
    """SQL declares no array whose elements are never null; a decoded row of such a schema has none."""
    wrap, _ = PLACES[place]
    for declared_null, decoded_null in product((True, False), repeat=2):
        for make in (lambda null: List(TEXT, nullable=null), lambda null: Map(TEXT, TEXT, nullable=null)):
            declared, decoded = (Column("c", wrap(make(null))) for null in (declared_null, decoded_null))
            if refreshes:
                (column,) = refresh_columns((declared,), (decoded,), "AVRO")
            else:
                (column,) = settle_columns((declared,), (decoded,), "AVRO").columns
            assert _nulls(column.type) == _nulls(decoded.type)


@pytest.mark.parametrize("name", ["c", "c.s", "c.element.s"])
def test_each_loss_of_a_column_is_noted_and_none_of_a_column_that_the_source_has_not(name: str) -> None:
    decoded = Columns((Column("c", TEXT), Column("d", TEXT)), (ColumnLoss(RULE, name, "why"), ColumnLoss(RULE, "d.x")))
    notes = [one for one in list_column_notes((Column("c", TEXT),), decoded) if one.kind == "loss"]
    assert [one.column for one in notes] == [name]
    whole = Columns((Column("value", TEXT),), (ColumnLoss(RULE, name, "why"),), whole=True)
    assert [one.column for one in list_column_notes((Column("v", TEXT),), whole) if one.kind == "loss"] == ["v"]


# -------------------------------------------------------------------------------------------------------------- renames

AVRO_PLACES: Mapping[str, tuple[str, LeafPath]] = {
    "a struct": ("{0}", ()),
    "an array": ('{{"type": "array", "items": {0}}}', (ELEMENT,)),
    "a map": ('{{"type": "map", "values": {0}}}', (VALUE,)),
    "a nullable struct": ('["null", {0}]', ()),
    "a map of arrays": ('{{"type": "map", "values": {{"type": "array", "items": {0}}}}}', (VALUE, ELEMENT)),
}
MESSAGE_PLACES: Mapping[str, tuple[str, LeafPath]] = {
    "a message": ("{0} c = 2;", ()),
    "a list": ("repeated {0} c = 2;", (ELEMENT,)),
    "a map": ("map<string, {0}> c = 2;", (VALUE,)),
    "a choice": ("oneof one {{ {0} c = 2; }}", ()),
}


@pytest.mark.parametrize("place", [*AVRO_PLACES])
def test_a_field_with_an_alias_is_called_otherwise_wherever_it_stands(place: str) -> None:
    text, way = AVRO_PLACES[place]
    old, new = (
        text.format(f'{{"type": "record", "name": "S", "fields": [{{"name": "{name}", "type": "int"{more}}}]}}')
        for name, more in (("was", ""), ("now", ', "aliases": ["was"]'))
    )
    schemas = [
        ResolvedSchema("AVRO", f'{{"type": "record", "name": "R", "fields": [{{"name": "c", "type": {one}}}]}}')
        for one in (old, new)
    ]
    assert list_renames(*schemas) == ((print_path(("c", *way, "was")), "now"),)


@pytest.mark.parametrize("file", ["its own file", "another file", "a file behind another file"])
@pytest.mark.parametrize("place", [*MESSAGE_PLACES])
def test_a_number_with_another_name_is_called_otherwise_wherever_it_stands(place: str, file: str) -> None:
    """A message of another file is looked up in the files that this one imports."""
    text, way = MESSAGE_PLACES[place]

    def make(name: str) -> ResolvedSchema:
        inner = f"message Inner {{ int32 {name} = 1; }}"
        syntax = 'syntax = "proto3"; '
        if file == "its own file":
            return ResolvedSchema("PROTOBUF", f"{syntax}message R {{ {text.format('Inner')} }} {inner}")
        deep = ResolvedReference("deep.proto", "deep", 1, ResolvedSchema("PROTOBUF", f"{syntax}package d; {inner}"))
        middle = ResolvedSchema(
            "PROTOBUF", f'{syntax}package m; import "deep.proto"; message Outer {{ d.Inner inside = 1; }}', (deep,)
        )
        first = ResolvedReference("middle.proto", "middle", 1, middle)
        bound = (deep,) if file == "another file" else (first,)
        kind = "d.Inner" if file == "another file" else "m.Outer"
        body = f'{syntax}import "{bound[0].name}"; message R {{ {text.format(kind)} }}'
        return ResolvedSchema("PROTOBUF", body, bound)

    inside = ("inside",) if file == "a file behind another file" else ()
    assert list_renames(make("was"), make("now")) == ((print_path(("c", *way, *inside, "was")), "now"),)


@pytest.mark.parametrize("message", ["", "B", "p.B"])
def test_names_are_those_of_the_message_that_is_named(message: str) -> None:
    old, new = (
        ResolvedSchema("PROTOBUF", f'syntax = "proto3"; package p; message A {{ int32 {a} = 1; }} message B {{ int32 {b} = 1; }}')
        for a, b in (("was_a", "was_b"), ("now_a", "now_b"))
    )  # fmt: skip
    assert list_renames(old, new, message=message) == ((("was_b", "now_b") if message else ("was_a", "now_a")),)


def test_a_column_is_called_as_none_that_the_source_has_already() -> None:
    """The number of one field gets the name of another: to SQL the second is there still, and the first has gone."""
    old = (Column("a", TEXT), Column("b", TEXT))
    effect = find_refresh_effect(old, (Column("b", TEXT),), (), [("a", "b")])
    assert [(one.kind, one.path) for one in effect.effects] == [("gone", "a")]
    effect = find_refresh_effect(old, (Column("b", TEXT), Column("c", TEXT)), (), [("a", "c")])
    assert [(one.kind, one.path, one.new) for one in effect.effects] == [("renamed", "a", "c")]


# ---------------------------------------------------------------------------------------------------------- wider types

INTEGERS = {"int32": 31, "int64": 63}
FLOATS = {"float32": "<f", "float64": "<d"}
NUMBERS: list[ColumnType] = [
    *map(Scalar, (*INTEGERS, *FLOATS)),
    *(Decimal(*one) for one in ((1, 0), (5, 5), (9, 0), (9, 2), (10, 0), (11, 2), (12, 2), (12, 3), (18, 0), (19, 0), (21, 2), (38, 20))),
]  # fmt: skip


def _extremes(kind: ColumnType) -> list[Fraction]:
    """Values of a type such that who holds them holds all."""
    match kind:
        case Decimal(precision, scale):
            largest = Fraction(10**precision - 1, 10**scale)
            return [largest, -largest]
        case Scalar(name) if name in INTEGERS:
            return [Fraction(2 ** INTEGERS[name] - 1), Fraction(-(2 ** INTEGERS[name]))]
        case Scalar("float32"):
            return [Fraction(1, 2**149), Fraction(2**24 - 1) * 2**104]
    return [Fraction(1, 2**1074), Fraction(2**53 - 1) * 2**971]


def _holds(kind: ColumnType, number: Fraction) -> bool:
    match kind:
        case Decimal(precision, scale):
            unscaled = number * 10**scale
            return unscaled.denominator == 1 and bool(abs(unscaled) < 10**precision)
        case Scalar(name) if name in INTEGERS:
            return number.denominator == 1 and -(2 ** INTEGERS[name]) <= number < 2 ** INTEGERS[name]
        case Scalar(name):
            try:
                return Fraction(struct.unpack(FLOATS[name], struct.pack(FLOATS[name], float(number)))[0]) == number
            except OverflowError:
                return False
    return False


def test_a_type_is_wider_where_it_holds_all_values_of_the_other_one() -> None:
    for old, new in product(NUMBERS, repeat=2):
        if old == new:
            continue
        held = all(_holds(new, one) for one in _extremes(old))
        if isinstance(old, Decimal) and isinstance(new, Scalar):
            assert not is_wider(old, new), "a decimal becomes no other number"
        else:
            assert is_wider(old, new) is held, (old, new)
    for kind in NUMBERS:
        assert is_wider(Scalar("null"), kind)
        assert not is_wider(kind, TEXT)
        assert not is_wider(TEXT, kind)
