"""Rows as a table has them: columns in its order and of its types, missing ones null."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from treaty.spark.plan.ddl import quoted


def conformed(frame: DataFrame, target: StructType) -> DataFrame:
    """The frame with exactly the columns of `target`. Every type in it fits into its target's (see `changes`)."""
    if frame.schema == target:
        return frame
    have = {one.name.lower(): one for one in frame.schema.fields}
    return frame.select(
        *(
            (
                _fitted(F.col(quoted(have[one.name.lower()].name)), have[one.name.lower()].dataType, one.dataType)
                if one.name.lower() in have
                else F.lit(None).cast(one.dataType)
            ).alias(one.name, metadata=one.metadata)
            for one in target.fields
        )
    )


def _fitted(column: Column, have: DataType, want: DataType) -> Column:
    if have == want:
        return column
    match have, want:
        case StructType(), StructType():
            known = {one.name.lower(): one for one in have.fields}
            parts = [
                _fitted(column[known[one.name.lower()].name], known[one.name.lower()].dataType, one.dataType)
                if one.name.lower() in known
                else F.lit(None).cast(one.dataType)
                for one in want.fields
            ]
            named = [part.alias(one.name) for part, one in zip(parts, want.fields, strict=True)]
            return F.when(column.isNotNull(), F.struct(*named))
        case ArrayType(), ArrayType():
            return F.transform(column, lambda item: _fitted(item, have.elementType, want.elementType))
        case MapType(), MapType():
            values = F.transform_values(column, lambda _, item: _fitted(item, have.valueType, want.valueType))
            if have.keyType == want.keyType:
                return values
            return F.transform_keys(values, lambda key, _: _fitted(key, have.keyType, want.keyType))
    return column.cast(want)
