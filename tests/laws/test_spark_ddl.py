"""The words in which plans keep types: they mean the same type again, and Spark and Arrow say the same of both."""

from hypothesis import given
from hypothesis import strategies as st

from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.plan.ddl import WORDS, parse_type, type_ddl

NAMES = st.text(min_size=1, max_size=8)
SCALARS = st.sampled_from(sorted(set(WORDS) - {"variant"})).map(Scalar)
DECIMALS = st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: Decimal(p, s)))


def _inside(parts: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[ColumnType]:
    columns = st.lists(st.tuples(NAMES, parts), max_size=4, unique_by=lambda one: one[0])
    structs = columns.map(lambda found: Struct(tuple(Column(name, kind) for name, kind in found)))
    lists = parts.map(lambda one: List(one, nullable=True))
    maps = st.tuples(SCALARS, parts).map(lambda two: Map(*two, nullable=True))
    return structs | lists | maps


@given(st.recursive(SCALARS | DECIMALS, _inside, max_leaves=12))
def test_a_type_is_read_back_from_its_words(kind: ColumnType) -> None:
    assert parse_type(type_ddl(kind)) == kind
