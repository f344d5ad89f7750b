"""Rows of several record types on Spark: what the engine gives as a column for each type, in the shape that the plan wants (a struct
for each, all columns side by side, or a variant).
"""

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.core.state.columns import ColumnType, List, Map, Scalar, Struct
from treaty.plan.ddl import parse_type
from treaty.plan.format_plans import RecordTypes
from treaty.plan.types.wide import widen_columns
from treaty.plan.value import DecodePlan


def shape_record(plan: DecodePlan, record: Column) -> Column:
    """The record of a row as the plan's columns have it; `record` is the engine's."""
    if plan.types is None:
        return record
    columns = {"wide": _select_wide, "variant": _select_variant}.get(plan.types.shape, _select_structs)(
        plan.types, record
    )
    return F.when(record.isNotNull(), F.struct(_make_marker(plan.types, record).alias(plan.types.marker), *columns))


def _make_marker(types: RecordTypes, record: Column) -> Column:
    """The full name of the type that a row has."""
    marker = F.when(F.lit(False), "")
    for kind in types.kinds:
        marker = marker.when(record[kind.column].isNotNull(), kind.name)
    return marker


def _select_structs(types: RecordTypes, record: Column) -> Iterator[Column]:
    return (record[one.column].alias(one.column) for one in types.kinds)


def _select_wide(types: RecordTypes, record: Column) -> Iterator[Column]:
    for wide_column in widen_columns(types.kinds, types.marker):
        parts = (record[column] if field is None else record[column][field] for column, field in wide_column.sources)
        yield F.coalesce(
            *(part.cast(wide_column.type) if wide_column.type in WIDENED else part for part in parts)
        ).alias(wide_column.name)


WIDENED = frozenset(("BIGINT", "DOUBLE"))
"""Types to which a field of another type may have grown."""


def _select_variant(types: RecordTypes, record: Column) -> Iterator[Column]:
    parts = (to_variant(parse_type(one.type), record[one.column]) for one in types.kinds)
    yield F.coalesce(*parts).alias("record")


def to_variant(kind: ColumnType, column: Column) -> Column:
    """A column as VARIANT. Bytes stay bytes; keys that are no text become it, as a VARIANT has no others."""
    if isinstance(kind, Struct | List | Map):
        return F.to_variant_object(_replace_unstorable(kind, column))
    return _replace_unstorable(kind, column).cast("variant")


def _replace_unstorable(kind: ColumnType, column: Column) -> Column:
    """The column without types that a VARIANT lacks: keys that are no text, and nothing at all."""
    if not _has_unstorable(kind):
        return column
    match kind:
        case Struct():
            fields = [_replace_unstorable(one.type, column[one.name]).alias(one.name) for one in kind.columns]
            return F.when(column.isNotNull(), F.struct(*fields))
        case List():
            return F.transform(column, lambda item: _replace_unstorable(kind.element, item))
        case Map():
            values = F.transform_values(column, lambda _, item: _replace_unstorable(kind.value, item))
            return F.transform_keys(values, lambda key, _: key.cast("string"))
    return column.cast("string")


def _has_unstorable(kind: ColumnType) -> bool:
    match kind:
        case Struct():
            return any(_has_unstorable(one.type) for one in kind.columns)
        case List():
            return _has_unstorable(kind.element)
        case Map():
            return kind.key != Scalar("string") or _has_unstorable(kind.value)
    return kind == Scalar("null")
