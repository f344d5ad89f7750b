"""Columns of several versions as one: the merged type holds the values of both, merging again changes nothing, and every doc is found."""

from collections.abc import Iterator

from hypothesis import example, given
from hypothesis import strategies as st

from treaty.core.state.columns import SCALARS, Column, Columns, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.plan.ddl import find_free_name, list_docs
from treaty.plan.jsonschema import merge_columns, merge_types

NAMES = st.sampled_from(["a", "b", "A", "rest"])
DECIMALS = st.integers(1, 38).flatmap(lambda digits: st.builds(Decimal, st.just(digits), st.integers(0, digits)))
HELD = {"int64": {"int32"}, "float64": {"float32", "int32", "int64"}, "variant": {*SCALARS}}
"""Scalars, and those whose values they hold; a 64-bit number beside a fraction is a double by a rule of JSON's columns."""


def _structs(parts: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[Struct]:
    docs = st.sampled_from(["", "", "d", "e"])
    columns = st.lists(st.builds(Column, NAMES, parts, st.just(True), docs), max_size=3, unique_by=lambda one: one.name)
    return columns.map(lambda some: Struct(tuple(some)))


def _inside(parts: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[ColumnType]:
    keys = st.sampled_from(["string", "int32"]).map(Scalar)
    return _structs(parts) | st.builds(List, parts, st.just(True)) | st.builds(Map, keys, parts, st.just(True))


TYPES: st.SearchStrategy[ColumnType] = st.recursive(
    st.sampled_from(sorted(SCALARS)).map(Scalar) | DECIMALS, _inside, max_leaves=6
)


def holds(wide: ColumnType, narrow: ColumnType) -> bool:
    """Whether a column of one type holds every value of another."""
    if wide == Scalar("variant") or narrow == Scalar("null"):
        return True
    match wide, narrow:
        case Scalar(), Scalar():
            return wide == narrow or narrow.name in HELD.get(wide.name, set())
        case Decimal(), Decimal():
            whole = wide.precision - wide.scale >= narrow.precision - narrow.scale
            return whole and wide.scale >= narrow.scale and wide.precision <= 38
        case List(), List():
            return holds(wide.element, narrow.element)
        case Map(), Map():
            return wide.key == narrow.key and holds(wide.value, narrow.value)
        case Struct(), Struct():
            known = {one.name: one.type for one in wide.columns}
            return all(one.name in known and holds(known[one.name], one.type) for one in narrow.columns)
    return False


@given(TYPES, TYPES)
@example(Decimal(10, 2), Decimal(8, 6))
@example(Decimal(38, 0), Decimal(38, 38))
def test_a_merged_type_holds_the_values_of_both(one: ColumnType, other: ColumnType) -> None:
    made = merge_types(one, other)
    assert holds(made, one)
    assert holds(made, other)
    assert merge_types(made, other) == made
    assert holds(merge_types(made, one), made)
    assert holds(made, merge_types(made, one))


@given(st.lists(_structs(TYPES), min_size=1, max_size=4))
def test_columns_of_the_oldest_version_stand_first_in_its_order(versions: list[Struct]) -> None:
    made = Columns(versions[0].columns)
    for one in versions[1:]:
        made = merge_columns(made, Columns(one.columns))
    names = [one.name for one in made.columns]
    assert names == [*dict.fromkeys(column.name for one in versions for column in one.columns)]
    for name in names:
        docs = [column.doc for one in versions for column in one.columns if column.name == name and column.doc]
        assert next(one.doc for one in made.columns if one.name == name) == (docs[-1] if docs else "")


def _walk(kind: ColumnType, way: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every column below a type, with its doc."""
    match kind:
        case List(element):
            yield from _walk(element, (*way, "[]"))
        case Map(_, value):
            yield from _walk(value, (*way, "{}"))
        case Struct(columns):
            for one in columns:
                yield (*way, one.name), one.doc
                yield from _walk(one.type, (*way, one.name))


@given(TYPES)
@example(
    List(List(Map(Scalar("string"), List(Struct((Column("a", Scalar("null"), doc="deep"),)), True), True), True), True)
)
def test_the_docs_of_all_columns_are_found_at_any_depth(kind: ColumnType) -> None:
    found = dict(list_docs([Column("x", kind, doc="top")]))
    assert found == {("x",): "top"} | {way: doc for way, doc in _walk(kind, ("x",)) if doc}


@given(st.text("aA_", max_size=3), st.lists(st.text("aA_", max_size=6)))
@example("rest", ["rest", "rest_", "REST__"])
def test_a_free_name_is_one_that_nobody_has_whatever_its_case(name: str, others: list[str]) -> None:
    taken = {one.lower() for one in others}
    found = find_free_name(name, taken)
    assert found.lower() not in taken
    assert found.rstrip("_") == name.rstrip("_")
    assert (found == name) == (name.lower() not in taken)
