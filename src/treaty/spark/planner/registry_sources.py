"""Sources of a registry as a body may read them: which can be read at all, their columns, and which of these are never null."""

from dataclasses import replace

from treaty.core.column_types import expand_type, parse_column_type, print_column_type
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import NotFound
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import STREAM, SchemaPin, Source, SourceColumn, SourcePart
from treaty.metastore.columns.source_refresh import read_user_types
from treaty.spark.planner.pseudo_columns import RECORDS
from treaty.spark.planner.questions import ReadableSource

LAKE_TABLES = frozenset(("delta",))
"""Connectors whose tables move while a stream is joined with them: a folder of Parquet does not."""
STRICT_FORMATS = frozenset(("AVRO", "PROTOBUF"))
"""Formats whose readers find a null where a schema has none."""


def find_readable_source(name: str) -> Exchange[ReadableSource | None]:
    """A source as a body may read it; None where there is none."""
    try:
        source = (yield from request_answer(DescribeSource(name))).source
    except NotFound:
        return None
    types = yield from read_user_types(parse_column_type(column.type) for column in source.columns)
    columns = tuple(
        replace(
            column,
            type=print_column_type(expand_type(parse_column_type(column.type), types.expanded.get)),
            nullable=column.nullable or not _is_never_null(source, column),
        )
        for column in source.columns
    )
    properties = dict(source.properties)
    deduplicate = tuple(
        name.strip().strip("`") for name in properties.get("DEDUPLICATE", "").split(",") if name.strip()
    )
    joinable = source.connector in LAKE_TABLES or properties.get("MATERIALIZE") == "delta"
    return ReadableSource(
        source.name, source.kind, source.generation, columns, properties.get("WATERMARK", ""), deduplicate, joinable,
        _pin_of(source.key), _pin_of(source.value), source.revision, source.connector in RECORDS,
    )  # fmt: skip


def find_columns(name: str) -> Exchange[tuple[SourceColumn, ...] | None]:
    """The columns of a source as its row has them; None where there is none."""
    try:
        return (yield from request_answer(DescribeSource(name))).source.columns
    except NotFound:
        return None


def _is_never_null(source: Source, column: SourceColumn) -> bool:
    """Whether a runner gives no null in a column that says so: a record with one is bad, and left out.

    That holds of keys of tables, of a lake table that a query fills, and of values in Avro and Protobuf that are read by their schema; a member of JSON may be missing.
    """
    if (source.connector in LAKE_TABLES and source.query is not None) or (
        column.role == "key" and source.kind != STREAM
    ):
        return True
    value = source.value
    return (
        column.role == "value"
        and value is not None
        and value.pin is not None
        and value.format in STRICT_FORMATS
        and value.framing != "none"
    )


def _pin_of(part: SourcePart | None) -> SchemaPin | None:
    return None if part is None else part.pin
