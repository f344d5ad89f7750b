"""Statements printed: the one form that SHOW CREATE, export and comparison use, which parses to an equal value."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from treaty.core.column_types import print_column_type
from treaty.core.column_types.printer import print_options
from treaty.core.column_types.tokens import print_name, print_text
from treaty.core.schema import Pairs
from treaty.metastore.sql import statements as s
from treaty.metastore.sql.keywords import QUOTED_WORDS
from treaty.metastore.sql.values import (
    EARLIEST,
    LATEST,
    ArrayLiteral,
    ColumnCondition,
    HeadColumn,
    MapLiteral,
    SqlLiteral,
    StructLiteral,
    TimeLiteral,
)
from treaty.metastore.sql.variables import escape_variables


def print_statement(statement: s.SqlStatement) -> str:
    """Return the text of a statement without a semicolon; the body of a source is as it was sent.

    Where ``${`` is in a text, name or body, it is printed as ``$${``, so that no variable is looked for.
    """
    return escape_variables(_PRINTERS[type(statement)](statement))


def print_head(statement: s.CreateSourceStatement) -> str:
    """Return a CREATE up to its body: with a body it ends with AS and a line feed."""
    return escape_variables(_head(statement))


def _head(statement: s.CreateSourceStatement) -> str:
    words = ["CREATE", *["OR REPLACE"] * statement.or_replace, statement.kind]
    words += ["IF NOT EXISTS"] * statement.if_not_exists
    lines = [f"{' '.join(words)} {_name(statement.name)}"]
    if statement.columns:
        lines[0] += " (\n  " + ",\n  ".join(_column(one, statement.kind) for one in statement.columns) + "\n)"
    if statement.comment:
        lines.append(f"COMMENT {print_text(statement.comment)}")
    if statement.properties:
        lines.append(f"WITH ({_properties(statement.properties)})")
    return "\n".join(lines) + "\nAS\n" * bool(statement.body)


def _create(statement: s.CreateSourceStatement) -> str:
    return _head(statement) + statement.body + "\nEMIT FINAL" * statement.final


def print_literal(value: SqlLiteral) -> str:
    """Return the text of a value."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return str(value)
        case Decimal():
            return f"{value:f}BD"
        case float():
            return f"{value!r}D"
        case str():
            return print_text(value)
        case bytes():
            return f"X'{value.hex().upper()}'"
        case TimeLiteral(kind, text):
            return f"{kind} {print_text(text)}"
        case ArrayLiteral(items):
            return f"ARRAY({', '.join(map(print_literal, items))})"
        case MapLiteral(entries):
            return f"MAP({', '.join(f'{print_literal(key)} := {print_literal(one)}' for key, one in entries)})"
        case StructLiteral(fields):
            return f"STRUCT({', '.join(f'{_name(name)} := {print_literal(one)}' for name, one in fields)})"


def _name(name: str) -> str:
    return print_name(name, QUOTED_WORDS)


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(_name, names))


def _properties(properties: Pairs) -> str:
    return ", ".join(f"{name} = {print_text(value)}" for name, value in properties)


def _column(column: HeadColumn, kind: str) -> str:
    roles = {
        "key": " PRIMARY KEY" if kind == "TABLE" else " KEY",
        "headers": " HEADERS",
        "header": f" HEADER({print_text(column.header)})",
    }
    options = print_options(nullable=column.nullable, comment=column.comment)
    return f"{_name(column.name)} {print_column_type(column.type)}{roles.get(column.role, '')}{options}"


def _conditions(conditions: Iterable[ColumnCondition]) -> str:
    return " AND ".join(f"{_name(one.column)} {one.operator} {print_literal(one.value)}" for one in conditions)


def _drop(one: s.DropSourceStatement) -> str:
    digest = f" DIGEST {print_text(one.digest)}" if one.digest else ""
    more = f" CASCADE{digest}" * one.cascade + " DELETE TOPIC" * one.delete_topic
    return f"DROP {one.kind or 'STREAMING TABLE'}{' IF EXISTS' * one.if_exists} {_name(one.name)}{more}"


def _type(one: s.CreateTypeStatement) -> str:
    comment = f" COMMENT {print_text(one.comment)}" if one.comment else ""
    exists = " IF NOT EXISTS" * one.if_not_exists
    return f"CREATE TYPE{exists} {_name(one.name)} AS {print_column_type(one.type)}{comment}"


def _show(one: s.ShowStatement) -> str:
    of = f" OF {_name(one.of)}" if one.of else ""
    return f"SHOW {one.subject}{of}{' RECURSIVE' * one.recursive}{' EXTENDED' * one.extended}"


def _explain(one: s.ExplainStatement) -> str:
    if one.statement is not None and one.compare is not None:
        start, end = (
            word if word in {EARLIEST, LATEST} else print_text(word) for word in (one.compare.start, one.compare.end)
        )
        return f"EXPLAIN REPLACE COMPARE FROM {start} TO {end} {_create(one.statement)}"
    if one.statement is not None:
        return f"EXPLAIN {_create(one.statement)}"
    return f"EXPLAIN {_name(one.name)}" if one.name else f"EXPLAIN {one.body}{' EMIT FINAL' * one.final}"


def _select(one: s.SelectStatement) -> str:
    where = f" WHERE {_conditions(one.conditions)}" if one.conditions else ""
    terms = ", ".join(f"{_name(term.column)}{' DESC' * term.descending}" for term in one.order)
    order = f" ORDER BY {terms}" if terms else ""
    limit = f" LIMIT {one.limit}" if one.limit >= 0 else ""
    return f"SELECT {_names(one.columns) or '*'} FROM treaty.{one.table}{where}{order}{limit}"  # noqa: S608 (names are quoted)


def _select_records(one: s.SelectRecordsStatement) -> str:
    where = f" WHERE {_conditions(one.conditions)}" if one.conditions else ""
    return f"SELECT {_names(one.columns) or '*'} FROM STREAM {_name(one.name)}{where} LIMIT {one.limit}"  # noqa: S608 (names are quoted)


def _select_rows(one: s.SelectRowsStatement) -> str:
    where = f" WHERE {_conditions(one.conditions)}" if one.conditions else ""
    version = f" AS OF VERSION {one.version}" if one.version >= 0 else ""
    time = f" AS OF TIMESTAMP {print_text(one.time)}" if one.time else ""
    limit = f" LIMIT {one.limit}" if one.limit >= 0 else ""
    return f"SELECT {_names(one.columns) or '*'} FROM TABLE {_name(one.name)}{where}{version}{time}{limit}"  # noqa: S608 (names are quoted)


def _print(one: s.PrintStatement) -> str:
    limit = f" LIMIT {one.limit}" if one.limit >= 0 else ""
    interval = f" INTERVAL {one.interval}" if one.interval > 1 else ""
    return f"PRINT {print_text(one.name)}{' FROM BEGINNING' * one.from_beginning}{interval}{limit}"


def _assert_schema(one: s.AssertSchemaStatement) -> str:
    subject = f" SUBJECT {print_text(one.subject)}" if one.subject else ""
    number = f" ID {one.schema_id}" if one.schema_id else ""
    return f"ASSERT{'' if one.exists else ' NOT EXISTS'} SCHEMA{subject}{number}{_timeout(one.timeout)}"


def _assert_topic(one: s.AssertTopicStatement) -> str:
    numbers = [("PARTITIONS", one.partitions), ("REPLICAS", one.replicas)]
    listed = ", ".join(f"{name} = {number}" for name, number in numbers if number)
    clause = f" WITH ({listed})" if listed else ""
    topic = print_text(one.topic)
    return f"ASSERT{'' if one.exists else ' NOT EXISTS'} TOPIC {topic}{clause}{_timeout(one.timeout)}"


def _timeout(milliseconds: int) -> str:
    if milliseconds == 1_000:
        return ""
    for unit, number in (("HOURS", 3_600_000), ("MINUTES", 60_000), ("SECONDS", 1_000)):
        if milliseconds and not milliseconds % number:
            return f" TIMEOUT {milliseconds // number} {unit}"
    return f" TIMEOUT {milliseconds} MILLISECONDS"


def _insert(one: s.InsertStatement) -> str:
    columns = f" ({_names(one.columns)})" if one.columns else ""
    rows = ", ".join(f"({', '.join(map(print_literal, row))})" for row in one.rows)
    return f"INSERT INTO {_name(one.name)}{columns} VALUES {rows}{' AS DELETE' * one.delete}"  # noqa: S608 (names are quoted)


def _update(one: s.UpdateStatement) -> str:
    values = ", ".join(f"{_name(name)} = {print_literal(value)}" for name, value in one.values)
    return f"UPDATE {_name(one.name)} SET {values} WHERE {_conditions(one.conditions)}"  # noqa: S608 (names are quoted)


def _alter(change: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda one: f"ALTER {one.kind} {_name(one.name)} {change(one)}"


def _kind(one: Any) -> str:
    return f"{one.kind} " if one.kind else ""


_RESTARTS = {"ROLLBACK": "ROLLBACK {}", "RESET": "RESET CHECKPOINT {} KEEP DATA", "REFRESH": "REFRESH {} FULL"}
_PRINTERS: dict[type, Callable[[Any], str]] = {
    s.CreateSourceStatement: _create,
    s.DropSourceStatement: _drop,
    s.UndropStatement: lambda one: f"UNDROP {_kind(one)}{_name(one.name)}",
    s.CreateTypeStatement: _type,
    s.DropTypeStatement: lambda one: f"DROP TYPE{' IF EXISTS' * one.if_exists} {_name(one.name)}",
    s.AddColumnsStatement: _alter(
        lambda one: f"ADD COLUMN {', '.join(_column(each, one.kind) for each in one.columns)}"
    ),
    s.RenameStatement: _alter(lambda one: f"RENAME TO {_name(one.new_name)}"),
    s.SetPropertiesStatement: _alter(lambda one: f"SET ({_properties(one.properties)})"),
    s.ProtectStatement: _alter(lambda one: f"SET PROTECTED = {str(one.protect).upper()}"),
    s.CommentStatement: _alter(lambda one: f"SET COMMENT = {print_text(one.comment)}"),
    s.RefreshSchemaStatement: _alter(lambda _: "REFRESH SCHEMA"),
    s.RefreshTypeStatement: _alter(lambda one: f"REFRESH TYPE {_name(one.type)}"),
    s.SwapStatement: _alter(lambda one: f"SWAP WITH {_name(one.other)}"),
    s.PauseStatement: lambda one: f"PAUSE {_name(one.name)}",
    s.ResumeStatement: lambda one: f"RESUME {_name(one.name)}",
    s.RestartStatement: lambda one: _RESTARTS[one.way].format(_name(one.name)),
    s.ShowStatement: _show,
    s.ShowCreateStatement: lambda one: f"SHOW CREATE {_kind(one)}{_name(one.name)}",
    s.DescribeStatement: lambda one: f"DESCRIBE {_kind(one)}{_name(one.name)}{' EXTENDED' * one.extended}",
    s.ExplainStatement: _explain,
    s.SelectStatement: _select,
    s.SelectRecordsStatement: _select_records,
    s.SelectRowsStatement: _select_rows,
    s.PrintStatement: _print,
    s.AssertSchemaStatement: _assert_schema,
    s.AssertTopicStatement: _assert_topic,
    s.InsertStatement: _insert,
    s.UpdateStatement: _update,
    s.DeleteStatement: lambda one: f"DELETE FROM {_name(one.name)} WHERE {_conditions(one.conditions)}",  # noqa: S608 (quoted)
    s.DefineStatement: lambda one: f"DEFINE {_name(one.name)} = {print_text(one.value)}",
    s.UndefineStatement: lambda one: f"UNDEFINE {_name(one.name)}",
    s.SetStatement: lambda one: f"SET {one.name} = {print_text(one.value)}",
    s.UnsetStatement: lambda one: f"UNSET {one.name}",
}
