"""INSERT, UPDATE and DELETE as exchanges: what the source is, then one step that encodes and writes."""

from collections.abc import Callable, Sequence
from functools import partial

from treaty.core.column_types import parse_column_type
from treaty.core.messages.metastore.sources import GetDestination, SourceFound
from treaty.core.refusals import Invalid
from treaty.core.registry import Exchange, request_answer
from treaty.metastore.columns.source_refresh import read_user_types
from treaty.metastore.records.rows import (
    RecordSchema,
    Row,
    delete_row,
    encode_rows,
    insert_rows,
    make_schema,
    update_row,
)
from treaty.metastore.records.sides import read_side
from treaty.metastore.records.steps import WriteRecords
from treaty.metastore.sql.statements import DeleteStatement, InsertStatement, UpdateStatement

MakeRows = Callable[[RecordSchema], Sequence[Row]]
"""From what the records of a source are made of to the rows of a statement."""


def insert(statement: InsertStatement, *, dry_run: bool) -> Exchange[tuple[str, str]]:
    """Write the rows of an INSERT; return the name of the source, and where they are, in words."""

    def rows(schema: RecordSchema) -> Sequence[Row]:
        return insert_rows(schema, statement.columns, statement.rows)

    return (yield from _write(statement.name, rows, dry_run=dry_run, delete=statement.delete))


def update(statement: UpdateStatement, *, dry_run: bool) -> Exchange[tuple[str, str]]:
    """Write the row of an UPDATE, as `insert` does."""
    make_rows: MakeRows = lambda schema: [update_row(schema, statement.values, statement.conditions)]  # noqa: E731 (typed)
    return (yield from _write(statement.name, make_rows, dry_run=dry_run))


def delete(statement: DeleteStatement, *, dry_run: bool) -> Exchange[tuple[str, str]]:
    """Write the tombstone of a DELETE, as `insert` does."""
    make_rows: MakeRows = lambda schema: [delete_row(schema, statement.conditions)]  # noqa: E731 (typed)
    return (yield from _write(statement.name, make_rows, dry_run=dry_run, delete=True))


def _write(name: str, make_rows: MakeRows, *, dry_run: bool, delete: bool = False) -> Exchange[tuple[str, str]]:
    schema = yield from read_schema(name, dry_run=dry_run)
    rows = make_rows(schema)
    encode = partial(encode_rows, schema, rows, delete=delete)
    place = yield from request_answer(WriteRecords(schema.source, encode, dry_run))
    return schema.source.name, place


def read_schema(name: str, *, dry_run: bool = False) -> Exchange[RecordSchema]:
    """Return what the records of a source are made of, for who may insert. Raises the registry's refusals."""
    destination: SourceFound = yield from request_answer(GetDestination(name))
    source = destination.source
    types = yield from read_user_types(parse_column_type(column.type) for column in source.columns)
    key = yield from read_side(source, "key", types.expanded, writes=not dry_run)
    value = yield from read_side(source, "value", types.expanded, writes=not dry_run)
    if value is None:
        raise Invalid.of(
            "SOURCE_FORMAT", f"{source.name} has no format of values, so no record is written to it", path="/sql",
            new=source.name, allowed="a source with a VALUE_FORMAT",
        )  # fmt: skip
    return make_schema(source, key, value)
