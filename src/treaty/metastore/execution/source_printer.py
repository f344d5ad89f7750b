"""Prints statements from rows: SHOW CREATE, export and comparison use these alone."""

from collections.abc import Iterable

from treaty.core.column_types import parse_column_type
from treaty.core.schema import Pairs
from treaty.core.sources import Source, SourceColumn, SourcePart, StoredType
from treaty.metastore.sql.printer import print_head, print_statement
from treaty.metastore.sql.properties import KAFKA
from treaty.metastore.sql.statements import CreateSourceStatement, CreateTypeStatement
from treaty.metastore.sql.values import HeadColumn


def print_source(source: Source) -> str:
    """Return the CREATE statement of a source, with all its columns; the body is as it was sent."""
    return print_statement(statement_of(source))


def print_type(type_: StoredType) -> str:
    """Return the CREATE TYPE statement of a type."""
    kind = parse_column_type(type_.definition)
    return print_statement(CreateTypeStatement(type_.name, kind, comment=type_.comment, label=type_.label))


def statement_of(source: Source) -> CreateSourceStatement:
    """Return the CREATE that a row stands for; one with a query has no columns: they are those of the query."""
    body = "" if source.query is None else source.query.plan.body
    columns = () if body else tuple(map(head_column, source.columns))
    return CreateSourceStatement(
        source.kind, source.name, columns, properties_of(source), body, source.comment,
        final=source.query is not None and source.query.plan.output_mode == "append" and bool(source.query.plan.key),
    )  # fmt: skip


def print_columns(kind: str, columns: Iterable[SourceColumn]) -> tuple[str, ...]:
    """Return columns as a CREATE of a STREAM or TABLE has them, one text each."""
    head = print_head(CreateSourceStatement(kind, "x", tuple(map(head_column, columns))))
    return tuple(line.strip().removesuffix(",") for line in head.splitlines()[1:-1])


def head_column(column: SourceColumn) -> HeadColumn:
    """Return a column of a row as a column of a head."""
    role = "headers" if column.role == "header" and not column.header else column.role
    return HeadColumn(column.name, parse_column_type(column.type), role, column.header, column.nullable, column.comment)


def properties_of(source: Source) -> Pairs:
    """Return the properties by canonical name: where the source stands, how it is encoded, and what it was given."""
    named = dict(source.properties)
    named["CONNECTOR"] = source.connector
    if source.place:
        named["KAFKA_TOPIC" if source.connector == "kafka" else "PATH"] = source.place
    if source.cluster != "main":
        named["CLUSTER"] = source.cluster
    if source.timestamp:
        named["TIMESTAMP"] = source.timestamp
    named |= _part_properties(source.key, "KEY", source.place) | _part_properties(source.value, "VALUE", source.place)
    return tuple(sorted(named.items()))


def _part_properties(part: SourcePart | None, side: str, topic: str) -> dict[str, str]:
    if part is None:
        return {}
    named = {f"{side}_FORMAT": part.format}
    if part.framing != "prefix" and part.format != KAFKA:
        named["FRAMING"] = part.framing
    if part.pin is not None:
        subject = part.pin.subject if part.pin.context == "." else f":{part.pin.context}:{part.pin.subject}"
        if subject != f"{topic}-{side.lower()}":
            named["SUBJECT" if side == "VALUE" else "KEY_SUBJECT"] = subject
    if part.full_name:
        named[f"{side}_SCHEMA_FULL_NAME"] = part.full_name
    return named
