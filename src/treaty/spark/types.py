"""Which type of Spark a column of a schema is; Arrow says the same of them, which a test makes sure of."""

from collections.abc import Callable, Mapping

from pyspark.sql import types as spark

from treaty.core.state.columns import Column, Columns, ColumnType, Decimal, List, Map, Scalar, Struct

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


def _may_be_null(type_: ColumnType, nullable: bool) -> bool:  # noqa: FBT001 - a fact of the column, not a switch
    """What holds nothing but nulls may be null, whatever was said."""
    return nullable or type_ == Scalar("null")


def spark_schema(columns: Columns) -> spark.StructType:
    """The schema of a frame that holds these columns; docs become the columns' comments."""
    return spark.StructType([_field(one) for one in columns])


def _field(column: Column) -> spark.StructField:
    return spark.StructField(
        column.name,
        spark_type(column.type),
        _may_be_null(column.type, column.nullable),
        {"comment": column.doc} if column.doc else None,
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
