"""Columns as types of Spark and Arrow: nothing is left out, and both say the same."""

from typing import get_args

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from treaty.arrow.types import arrow_schema
from treaty.core.state.columns import SCALARS, Column, Columns, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.spark.types import spark_schema

scalars = st.sampled_from(sorted(SCALARS)).map(Scalar)
decimals = st.integers(1, 38).flatmap(lambda digits: st.builds(Decimal, st.just(digits), st.integers(0, digits)))


def columns(types: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[tuple[Column, ...]]:
    names = st.lists(st.text("abcä`. ", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)
    return names.flatmap(
        lambda names: st.tuples(
            *(st.builds(Column, st.just(name), types, st.booleans(), st.text("d ")) for name in names)
        )
    )


types: st.SearchStrategy[ColumnType] = st.recursive(
    scalars | decimals,
    lambda inner: (
        st.builds(List, inner, st.booleans())
        | st.builds(Map, st.sampled_from(["string", "int32"]).map(Scalar), inner, st.booleans())
        | columns(inner).map(Struct)
    ),
    max_leaves=8,
)


def scalars_in(type_: ColumnType) -> set[str]:
    match type_:
        case Scalar(name):
            return {name}
        case List(element):
            return scalars_in(element)
        case Map(key, value):
            return scalars_in(key) | scalars_in(value)
        case Struct(inside):
            return {name for column in inside for name in scalars_in(column.type)}
    return set()


@given(columns(types))
def test_spark_and_arrow_say_the_same(made: tuple[Column, ...]) -> None:
    every = Columns(made)
    ours, arrow = spark_schema(every), arrow_schema(every)
    assert [column.name for column in ours] == arrow.names == [column.name for column in every]
    assert [column.nullable for column in ours] == [column.nullable for column in arrow]
    assert all(mine.nullable >= full.nullable for mine, full in zip(ours, every, strict=True))
    if scalars_in(Struct(made)).isdisjoint({"variant", "timestamp_ntz", "timestamp"}):
        # Spark's own conversion knows neither text variants nor the time zone that we name.
        assert arrow.equals(to_arrow_schema(ours))
        assert from_arrow_schema(arrow).simpleString() == ours.simpleString()


@given(columns(types))
def test_spark_reads_its_own_words(made: tuple[Column, ...]) -> None:
    ours = spark_schema(Columns(made))
    assert StructType.fromJson(ours.jsonValue()) == ours


def test_every_scalar_and_every_kind_has_a_type() -> None:
    kinds = {Scalar, Decimal, List, Map, Struct}
    assert set(get_args(ColumnType)) == kinds
    every = Columns(tuple(Column(name, Scalar(name)) for name in SCALARS))
    assert len(set(map(str, spark_schema(every)))) == len(SCALARS)
    assert arrow_schema(every).field("timestamp").type == pa.timestamp("us", tz="UTC")


def test_docs_become_comments() -> None:
    every = Columns((Column("price", Decimal(10, 2), nullable=False, doc="In euros."),))
    assert spark_schema(every)["price"].metadata == {"comment": "In euros."}
    assert arrow_schema(every).field("price").metadata == {b"comment": b"In euros."}
