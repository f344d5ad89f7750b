"""Rows as a table has them: columns in its order and of its types, missing ones null, those that hold nothing left out."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, NullType, StructField, StructType

from treaty.plan.ddl import quote_name


def project_rows(frame: DataFrame, target: StructType) -> DataFrame:
    """The frame with exactly the columns of `target`. Every type in it fits into its target's (see `changes`)."""
    if frame.schema == target:
        return frame
    have = {field.name.lower(): field for field in frame.schema.fields}
    return frame.select(
        *(
            (
                _project_column(
                    F.col(quote_name(have[field.name.lower()].name)), have[field.name.lower()].dataType, field.dataType
                )
                if field.name.lower() in have
                else F.lit(None).cast(field.dataType)
            ).alias(field.name, metadata=field.metadata)
            for field in target.fields
        )
    )


def _project_column(column: Column, have: DataType, want: DataType) -> Column:
    if strip_nullability(have) == strip_nullability(want):
        return column
    match have, want:
        case StructType(), StructType():
            fields_by_name = {field.name.lower(): field for field in have.fields}
            parts = [
                _project_column(
                    column[fields_by_name[field.name.lower()].name],
                    fields_by_name[field.name.lower()].dataType,
                    field.dataType,
                )
                if field.name.lower() in fields_by_name
                else F.lit(None).cast(field.dataType)
                for field in want.fields
            ]
            named = [part.alias(field.name) for part, field in zip(parts, want.fields, strict=True)]
            return F.when(column.isNotNull(), F.struct(*named))
        case ArrayType(), ArrayType():
            return F.transform(column, lambda item: _project_column(item, have.elementType, want.elementType))
        case MapType(), MapType():
            values = F.transform_values(column, lambda _, item: _project_column(item, have.valueType, want.valueType))
            if have.keyType == want.keyType:
                return values
            return F.transform_keys(values, lambda key, _: _project_column(key, have.keyType, want.keyType))
    return column.cast(want)


def strip_nullability(kind: DataType) -> DataType:
    """A type without comments, and with nulls allowed everywhere: what decides whether rows must be rebuilt."""
    match kind:
        case StructType():
            return StructType([StructField(one.name, strip_nullability(one.dataType)) for one in kind.fields])
        case ArrayType():
            return ArrayType(strip_nullability(kind.elementType))
        case MapType():
            return MapType(strip_nullability(kind.keyType), strip_nullability(kind.valueType))
    return kind


def drop_void_columns(kind: StructType) -> StructType:
    """The columns without those that can hold nothing but nulls: no format of tables has a type for them."""
    fields = []
    for field in kind.fields:
        reduced = _drop_void(field.dataType)
        if reduced is not None:
            fields.append(StructField(field.name, reduced, field.nullable, field.metadata))
    return StructType(fields)


def _drop_void(kind: DataType) -> DataType | None:
    match kind:
        case NullType():
            return None
        case StructType():
            reduced = drop_void_columns(kind)
            return reduced if reduced.fields else None
        case ArrayType():
            element = _drop_void(kind.elementType)
            return None if element is None else ArrayType(element, kind.containsNull)
        case MapType():
            key, value = _drop_void(kind.keyType), _drop_void(kind.valueType)
            return None if key is None or value is None else MapType(key, value, kind.valueContainsNull)
    return kind
