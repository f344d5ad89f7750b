"""ADD COLUMN: a column of the source, and of the schema that its records are written by, in one commit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from treaty.core.column_types import SqlType, list_type_names, parse_column_type, print_column_type
from treaty.core.messages.metastore.sources import ChangeSource, DescribeSource, ExpectedSource, SourceColumnChange
from treaty.core.messages.registration import Register
from treaty.core.names import Subject
from treaty.core.refusals import Invalid
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import Source, SourceColumn, SourcePart
from treaty.core.state.columns import Column
from treaty.metastore.columns.from_schema import Side
from treaty.metastore.columns.pins import find_latest_version
from treaty.metastore.columns.sides import HEADER_TYPES, refuse_bad_headers
from treaty.metastore.columns.source_refresh import read_user_types
from treaty.metastore.columns.sql_types import print_sql_type, read_sql_type
from treaty.metastore.columns.to_schema import SchemaChoices, schema_of_columns
from treaty.metastore.definitions import head_column, source_column
from treaty.metastore.sql.statements import AddColumnsStatement
from treaty.metastore.sql.values import HeadColumn


@dataclass(frozen=True, slots=True)
class GrownSide:
    """The key or the value of a source with more columns: the schema that has them, and the columns as the source has them."""

    part: SourcePart | None = None
    schema: Register | None = None
    columns: tuple[SourceColumn, ...] = ()
    notes: tuple[str, ...] = ()


def plan_columns(statement: AddColumnsStatement, text: str) -> Exchange[tuple[ChangeSource, tuple[str, ...]]]:
    """Return the change that an ADD COLUMN makes, with notes about what the schema does not keep; nothing is written.

    A key or value with a schema gets a version with the column, derived from the newest version of its subject, so that
    records are written with it. No schema has columns of lake tables and headers. Raises `Invalid` for a type that the format has not,
    and for a key without a schema.
    """
    source = (yield from request_answer(DescribeSource(statement.name))).source
    old = [parse_column_type(column.type) for column in source.columns]
    types = yield from read_user_types([*old, *(column.type for column in statement.columns)])
    refuse_bad_headers(
        [(head_column(one, types.expanded), one.role) for one in statement.columns if one.role in HEADER_TYPES]
    )
    sides: dict[Side, GrownSide] = {}
    names = {column.name.lower() for column in source.columns}
    again = any(column.name.lower() in names for column in statement.columns)
    if source.query is None and not source.origin and not again:  # others are refused by the registry, in its words
        for side in ("key", "value"):
            sides[side] = yield from _grow_side(source, side, statement.columns, types.expanded)
    grown = {column.name: column for side in sides.values() for column in side.columns}
    columns = [grown.get(column.name, source_column(column)) for column in statement.columns]
    key, value = sides.get("key", GrownSide()), sides.get("value", GrownSide())
    change = ChangeSource(
        source.name, text, tuple(SourceColumnChange("add", column) for column in columns), key=key.part, value=value.part,
        expected=ExpectedSource(source.generation, source.revision), types=types.expected, kind=statement.kind,
        key_schema=key.schema, value_schema=value.schema,
    )  # fmt: skip
    return change, (*key.notes, *value.notes)


def _grow_side(
    source: Source, side: Side, added: Sequence[HeadColumn], types: Mapping[str, SqlType]
) -> Exchange[GrownSide]:
    own = {column.name: column for column in added if column.role == side}
    part: SourcePart | None = getattr(source, side)
    if not own or (part is None and side == "value"):
        return GrownSide()
    if part is None or part.pin is None:
        raise Invalid.of(
            "KEY_COLUMN",
            f"the key of {source.name} has no schema that could hold {', '.join(own)}: replace the source, with a KEY_FORMAT",
            path="/sql",
            new=", ".join(own),
            allowed="CREATE OR REPLACE with KEY_FORMAT = 'AVRO', 'JSON' or 'PROTOBUF'",
        )
    subject = Subject(part.pin.context, part.pin.subject)
    latest = yield from find_latest_version(subject)
    wrappers = dict(source.properties).get(f"{side.upper()}_PROTOBUF_NULLABLE_REPRESENTATION") == "WRAPPER"
    choices = SchemaChoices(subject, part.format, side, part.full_name, wrappers=wrappers)
    present = [
        Column(column.name, read_sql_type(parse_column_type(column.type), types.get), column.nullable, column.comment)
        for column in source.columns
        if column.role == side
    ]
    derived = schema_of_columns((*present, *(head_column(column, types) for column in own.values())), choices, latest)
    columns = [_as_declared(column, own[column.name], side) for column in derived.columns if column.name in own]
    return GrownSide(replace(part, pin=None), Register(subject, derived.draft), tuple(columns), derived.notes)


def _as_declared(column: Column, declared: HeadColumn, side: Side) -> SourceColumn:
    """The column of the row: a declared one keeps the names of user types."""
    named = list_type_names(declared.type)
    kind = print_column_type(declared.type) if named else print_sql_type(column.type)
    return SourceColumn(column.name, kind, column.nullable, side, comment=column.doc)
