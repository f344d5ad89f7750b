"""Rows of several record types: what the engine gives as a column for each type, in the shape that the plan wants."""

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.core.state.columns import ColumnType, List, Map, Scalar, Struct
from treaty.plan.ddl import parse_type
from treaty.plan.format_plans import RecordTypes
from treaty.plan.types.wide import widen_columns
from treaty.plan.value import DecodePlan


def shaped(plan: DecodePlan, record: Column) -> Column:
    """The record of a row as the plan's columns have it; `record` is the engine's."""
    if plan.types is None:
        return record
    made = {"wide": _wide, "variant": _variant}.get(plan.types.shape, _structs)(plan.types, record)
    return F.when(record.isNotNull(), F.struct(_marker(plan.types, record).alias(plan.types.marker), *made))


def _marker(types: RecordTypes, record: Column) -> Column:
    """The full name of the type that a row has."""
    found = F.when(F.lit(False), "")
    for one in types.kinds:
        found = found.when(record[one.column].isNotNull(), one.name)
    return found


def _structs(types: RecordTypes, record: Column) -> Iterator[Column]:
    return (record[one.column].alias(one.column) for one in types.kinds)


def _wide(types: RecordTypes, record: Column) -> Iterator[Column]:
    for one in widen_columns(types.kinds, types.marker):
        parts = (record[column][field] if field else record[column] for column, field in one.sources)
        yield F.coalesce(*(part.cast(one.type) if one.type in WIDENED else part for part in parts)).alias(one.name)


WIDENED = frozenset(("BIGINT", "DOUBLE"))
"""Types to which a field of another type may have grown."""


def _variant(types: RecordTypes, record: Column) -> Iterator[Column]:
    parts = (variant(parse_type(one.type), record[one.column]) for one in types.kinds)
    yield F.coalesce(*parts).alias("record")


def variant(kind: ColumnType, column: Column) -> Column:
    """A column as VARIANT. Bytes stay bytes; keys that are no text become it, as a VARIANT has no others."""
    if isinstance(kind, Struct | List | Map):
        return F.to_variant_object(_suited(kind, column))
    return _suited(kind, column).cast("variant")


def _suited(kind: ColumnType, column: Column) -> Column:
    """The column without types that a VARIANT lacks: keys that are no text, and nothing at all."""
    if not _strange(kind):
        return column
    match kind:
        case Struct():
            fields = [_suited(one.type, column[one.name]).alias(one.name) for one in kind.columns]
            return F.when(column.isNotNull(), F.struct(*fields))
        case List():
            return F.transform(column, lambda item: _suited(kind.element, item))
        case Map():
            values = F.transform_values(column, lambda _, item: _suited(kind.value, item))
            return F.transform_keys(values, lambda key, _: key.cast("string"))
    return column.cast("string")


def _strange(kind: ColumnType) -> bool:
    match kind:
        case Struct():
            return any(_strange(one.type) for one in kind.columns)
        case List():
            return _strange(kind.element)
        case Map():
            return kind.key != Scalar("string") or _strange(kind.value)
    return kind == Scalar("null")
