"""Any SQL type as the column of a source: it makes a valid schema, or it is refused in words, and never anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.statement_values import NAMES, TEXTS, TYPES
from treaty.core.column_types import ColumnTypeError, SqlArray, SqlField, SqlMap, SqlScalar, SqlStruct, SqlType
from treaty.core.names import Subject
from treaty.core.refusals import Invalid
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, Columns, ColumnType, Decimal, Scalar
from treaty.formats.registry import find_formats
from treaty.metastore.columns.from_schema import columns_of_schema
from treaty.metastore.columns.sql_types import make_sql_type, print_bare_type, print_sql_type, read_sql_type
from treaty.metastore.columns.to_schema import SCALARS_OF_AVRO, SchemaChoices, schema_of_columns

FORMATS = ("AVRO", "JSON", "PROTOBUF")
KNOWN: dict[str, SqlType] = {"orders": SqlStruct((SqlField("a", SqlScalar("INT")),)), "a": SqlScalar("STRING")}


def find_type(key: str) -> SqlType | None:
    return KNOWN.get(key)


def make_schema(kind: SqlType, name: str, comment: str, format_: str) -> bool:
    """Make the schema of a column and read it; whether the type was not refused."""
    try:
        column = Column(name, read_sql_type(kind, find_type), doc=comment)
    except (ColumnTypeError, Invalid):
        return False
    try:
        derived = schema_of_columns((column,), SchemaChoices(Subject(".", "t-value"), format_))
    except Invalid:
        return False
    schema = ResolvedSchema(format_, derived.draft.text)
    find_formats()[format_].parse(schema, True)  # as a registration does
    assert print_bare_type(derived.columns[0].type) == print_bare_type(column.type)
    return True


@pytest.mark.parametrize("format_", FORMATS)
@given(kind=TYPES, name=NAMES, comment=TEXTS)
def test_any_type_makes_a_valid_schema_or_is_refused(format_: str, kind: SqlType, name: str, comment: str) -> None:
    make_schema(kind, name, comment, format_)


@given(TYPES)
def test_a_type_is_printed_as_it_was_read(kind: SqlType) -> None:
    try:
        column = read_sql_type(kind, find_type)
    except (ColumnTypeError, Invalid):
        return
    again = read_sql_type(make_sql_type(column))
    assert (print_sql_type(again), again) == (print_sql_type(column), column)


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("depth", [20, 60, 99])
def test_a_deep_type_makes_a_schema_or_is_refused(format_: str, depth: int) -> None:
    structs: SqlType = SqlScalar("INT")
    arrays: SqlType = SqlScalar("INT")
    for at in range(depth - 1):
        structs = SqlStruct((SqlField(f"f{at}", structs),))
        arrays = SqlArray(arrays) if at % 2 else SqlMap(SqlScalar("STRING"), arrays)
    assert make_schema(structs, "x", "", format_) or depth > 20
    assert make_schema(arrays, "x", "", format_) or depth > 20 or format_ == "PROTOBUF"


@given(st.sampled_from(FORMATS), st.text(min_size=1, max_size=3))
def test_any_name_of_a_column_makes_a_valid_schema_or_is_refused(format_: str, name: str) -> None:
    made = make_schema(SqlScalar("INT"), name, "", format_)
    assert made or not (name.isidentifier() and name.isascii())


def test_each_scalar_of_avro_comes_back_as_it_is() -> None:
    """Nothing is parsed for these, so what is said of them is held against what a decoded row has."""
    kinds: list[ColumnType] = [*map(Scalar, sorted(SCALARS_OF_AVRO)), Decimal(1, 0), Decimal(38, 38)]
    columns = tuple(
        Column(f"c{place}", kind, bool(place % 2), "a `doc`" * (place % 3)) for place, kind in enumerate(kinds * 2)
    )
    derived = schema_of_columns(columns, SchemaChoices(Subject(".", "t-value"), "AVRO"))
    assert columns_of_schema(ResolvedSchema("AVRO", derived.draft.text)) == derived.decoded == Columns(columns)
