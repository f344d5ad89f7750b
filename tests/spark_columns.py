"""Columns of Spark from a text such as ``n INT COMMENT 'x', s STRUCT<a: BIGINT>``, where no Spark runs that could read it."""

import re

from pyspark.sql import types as spark

_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|\w+|[<>(),:])")
_SCALARS = {
    "boolean": spark.BooleanType(), "smallint": spark.ShortType(), "int": spark.IntegerType(), "bigint": spark.LongType(),
    "float": spark.FloatType(), "double": spark.DoubleType(), "string": spark.StringType(), "binary": spark.BinaryType(),
    "date": spark.DateType(), "timestamp": spark.TimestampType(), "void": spark.NullType(),
}  # fmt: skip


def read_columns(ddl: str) -> spark.StructType:
    """The columns of a text of DDL; everything may be null."""
    return spark.StructType(_read_fields(_TOKEN.findall(ddl)[::-1]))


def read_type(ddl: str) -> spark.DataType:
    """One type."""
    return read_columns(f"a {ddl}")[0].dataType


def _read_fields(tokens: list[str]) -> list[spark.StructField]:
    fields = []
    while tokens and tokens[-1] != ">":
        name = tokens.pop()
        name = name[1:-1].replace("``", "`") if name.startswith("`") else name
        if tokens[-1] == ":":
            tokens.pop()
        kind, comment = _read_type(tokens), {}
        if tokens and tokens[-1].upper() == "COMMENT":
            tokens.pop()
            comment = {"comment": re.sub(r"\\(.)", r"\1", tokens.pop()[1:-1])}
        fields.append(spark.StructField(name, kind, True, comment))
        if tokens and tokens[-1] == ",":
            tokens.pop()
    return fields


def _read_type(tokens: list[str]) -> spark.DataType:
    word = tokens.pop().lower()
    if word == "decimal":
        _, precision, _, scale, _ = (tokens.pop() for _ in range(5))
        return spark.DecimalType(int(precision), int(scale))
    if word in _SCALARS:
        return _SCALARS[word]
    assert tokens.pop() == "<", word
    made: spark.DataType
    if word == "struct":
        made = spark.StructType(_read_fields(tokens))
    elif word == "array":
        made = spark.ArrayType(_read_type(tokens))
    else:
        assert word == "map", word
        key = _read_type(tokens)
        tokens.pop()
        made = spark.MapType(key, _read_type(tokens))
    assert tokens.pop() == ">"
    return made
