"""The columns of a Spark frame in the words of plans, and which types no plan takes."""

from pyspark.sql import types as spark

from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.plan.errors import PlanError

_SCALARS: dict[type[spark.DataType], str] = {
    spark.NullType: "null",
    spark.BooleanType: "boolean",
    spark.ByteType: "int32",
    spark.ShortType: "int32",
    spark.IntegerType: "int32",
    spark.LongType: "int64",
    spark.FloatType: "float32",
    spark.DoubleType: "float64",
    spark.StringType: "string",
    spark.CharType: "string",
    spark.VarcharType: "string",
    spark.BinaryType: "binary",
    spark.DateType: "date",
    spark.TimestampType: "timestamp",
    spark.TimestampNTZType: "timestamp_ntz",
    spark.VariantType: "variant",
}


def columns_of(schema: spark.StructType) -> tuple[Column, ...]:
    """The columns of a frame's schema. Raises `PlanError` for types that no format has."""
    return tuple(_column(field, f"/{field.name}") for field in schema.fields)


def _column(field: spark.StructField, path: str) -> Column:
    return Column(field.name, _type(field.dataType, path), field.nullable, (field.metadata or {}).get("comment", ""))


def _type(kind: spark.DataType, path: str) -> ColumnType:
    match kind:
        case spark.StructType():
            return Struct(tuple(_column(field, f"{path}/{field.name}") for field in kind.fields))
        case spark.ArrayType():
            return List(_type(kind.elementType, f"{path}/[]"), kind.containsNull)
        case spark.MapType():
            return Map(_type(kind.keyType, path), _type(kind.valueType, f"{path}/{{}}"), kind.valueContainsNull)
        case spark.DecimalType():
            return Decimal(kind.precision, kind.scale)
    name = _SCALARS.get(type(kind))
    if name is None:
        raise PlanError(f"{path} is {kind.simpleString()}, which no format has: cast it first")
    return Scalar(name)
