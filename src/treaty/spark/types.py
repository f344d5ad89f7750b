"""Columns of a schema as types of Spark and of Arrow; both say the same, which a test makes sure of."""

from collections.abc import Callable, Mapping

import pyarrow as pa
from pyspark.sql import types as spark

from treaty.core.columns import Column, Columns, ColumnType, Decimal, List, Map, Scalar, Struct

_SPARK: Mapping[str, Callable[[], spark.DataType]] = {
    "null": spark.NullType,
    "boolean": spark.BooleanType,
    "int32": spark.IntegerType,
    "int64": spark.LongType,
    "float32": spark.FloatType,
    "float64": spark.DoubleType,
    "string": spark.StringType,
    "binary": spark.BinaryType,
    "date": spark.DateType,
    "timestamp": spark.TimestampType,
    "timestamp_ntz": spark.TimestampNTZType,
    "variant": spark.VariantType,
}

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
    """What holds nothing but nulls may be null, whatever was said."""
    return nullable or type_ == Scalar("null")


def spark_schema(columns: Columns) -> spark.StructType:
    """The schema of a frame that holds these columns; docs become the columns' comments."""
    return spark.StructType([_field(one) for one in columns])


def _field(one: Column) -> spark.StructField:
    return spark.StructField(
        one.name, spark_type(one.type), _may_be_null(one.type, one.nullable), {"comment": one.doc} if one.doc else None
    )


def spark_type(type_: ColumnType) -> spark.DataType:
    """The Spark type of a column type."""
    match type_:
        case Scalar(name):
            return _SPARK[name]()
        case Decimal(precision, scale):
            return spark.DecimalType(precision, scale)
        case List(element, nullable):
            return spark.ArrayType(spark_type(element), _may_be_null(element, nullable))
        case Map(key, value, nullable):
            return spark.MapType(spark_type(key), spark_type(value), _may_be_null(value, nullable))
        case Struct(columns):
            return spark.StructType([_field(one) for one in columns])


def arrow_schema(columns: Columns) -> pa.Schema:
    """The schema of an Arrow table that holds these columns; docs become metadata under ``comment``."""
    return pa.schema([_arrow_field(one) for one in columns])


def _arrow_field(one: Column) -> pa.Field:
    return pa.field(
        one.name, arrow_type(one.type), _may_be_null(one.type, one.nullable), {"comment": one.doc} if one.doc else None
    )


def arrow_type(type_: ColumnType) -> pa.DataType:
    """The Arrow type of a column type."""
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
