"""What a schema says about its fields becomes comments of columns."""

from collections.abc import Mapping

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

Docs = tuple[tuple[tuple[str, ...], str], ...]
"""Path of a column and its comment; ``[]`` leads to the items of an array, ``{}`` to the values of a map."""


def add_comments(columns: StructType, docs: Docs) -> StructType:
    """The columns with these comments beside the ones that they have."""
    return _struct(columns, (), dict(docs)) if docs else columns


def _struct(columns: StructType, way: tuple[str, ...], docs: Mapping[tuple[str, ...], str]) -> StructType:
    fields = []
    for column in columns.fields:
        path = (*way, column.name)
        comment = {"comment": docs[path]} if docs.get(path) else {}
        kind = _type(column.dataType, path, docs)
        fields.append(StructField(column.name, kind, column.nullable, {**(column.metadata or {}), **comment}))
    return StructType(fields)


def _type(kind: DataType, way: tuple[str, ...], docs: Mapping[tuple[str, ...], str]) -> DataType:
    match kind:
        case StructType():
            return _struct(kind, way, docs)
        case ArrayType():
            return ArrayType(_type(kind.elementType, (*way, "[]"), docs), kind.containsNull)
        case MapType():
            return MapType(kind.keyType, _type(kind.valueType, (*way, "{}"), docs), kind.valueContainsNull)
    return kind
