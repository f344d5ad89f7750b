"""Which type of Arrow a column type of schemas and of plans is."""

from collections.abc import Mapping

import pyarrow as pa

from treaty.core.state.columns import Column, Columns, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.plan.ddl import parse_type
from treaty.plan.value import DecodePlan

_ARROW: Mapping[str, pa.DataType] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "variant": pa.string(),
}
"""Arrow has no type for any value: a variant is its JSON text there."""


def _may_be_null(type_: ColumnType, nullable: bool) -> bool:  # noqa: FBT001 - a fact of the column, not a switch
    """Whether a field may be null; one of the type ``null`` always may, also where it is declared not nullable."""
    return nullable or type_ == Scalar("null")


def arrow_schema(columns: Columns) -> pa.Schema:
    """The schema of an Arrow table that holds these columns; docs become metadata under ``comment``."""
    return pa.schema([_arrow_field(one) for one in columns])


def _arrow_field(column: Column) -> pa.Field:
    return pa.field(
        column.name,
        arrow_type(column.type),
        _may_be_null(column.type, column.nullable),
        {"comment": column.doc} if column.doc else None,
    )


def arrow_type(type_: ColumnType) -> pa.DataType:
    """The Arrow type of a column type, with those inside it; a variant is a string (`_ARROW`)."""
    match type_:
        case Scalar(name):
            return _ARROW[name]
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case List(element, nullable):
            return pa.list_(pa.field("element", arrow_type(element), _may_be_null(element, nullable)))
        case Map(key, value, nullable):
            values = pa.field("value", arrow_type(value), _may_be_null(value, nullable))
            return pa.map_(pa.field("key", arrow_type(key), nullable=False), values)
        case Struct(columns):
            return pa.struct([_arrow_field(one) for one in columns])


def kind_of(plan: DecodePlan) -> pa.DataType:
    """The Arrow type of a record as readers give it: with several record types a column for each."""
    return arrow_type(parse_type(plan.engine_type))
