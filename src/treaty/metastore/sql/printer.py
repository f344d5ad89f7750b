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
from treaty.metastore.sql.properties import LABEL
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

STREAMING = "STREAMING TABLE"
"""A source of either kind, in ALTER and DROP."""


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


def _drop(statement: s.DropSourceStatement) -> str:
    digest = f" DIGEST {print_text(statement.digest)}" if statement.digest else ""
    more = f" CASCADE{digest}" * statement.cascade + " DELETE TOPIC" * statement.delete_topic
    return f"DROP {statement.kind or STREAMING}{' IF EXISTS' * statement.if_exists} {_name(statement.name)}{more}"


def _type(statement: s.CreateTypeStatement) -> str:
    comment = f" COMMENT {print_text(statement.comment)}" if statement.comment else ""
    exists = " IF NOT EXISTS" * statement.if_not_exists
    label = f" WITH ({_properties(((LABEL, statement.label),))})" if statement.label else ""
    return f"CREATE TYPE{exists} {_name(statement.name)} AS {print_column_type(statement.type)}{comment}{label}"


def _show(statement: s.ShowStatement) -> str:
    of = f" OF {_name(statement.of)}" if statement.of else ""
    return f"SHOW {statement.listing}{of}{' RECURSIVE' * statement.recursive}{' EXTENDED' * statement.extended}"


def _explain(statement: s.ExplainStatement) -> str:
    if statement.statement is not None and statement.compare is not None:
        start, end = (
            word if word in {EARLIEST, LATEST} else print_text(word)
            for word in (statement.compare.start, statement.compare.end)
        )
        return f"EXPLAIN REPLACE COMPARE FROM {start} TO {end} {_create(statement.statement)}"
    if statement.statement is not None:
        return f"EXPLAIN {_create(statement.statement)}"
    return (
        f"EXPLAIN {_name(statement.name)}"
        if statement.name
        else f"EXPLAIN {statement.body}{' EMIT FINAL' * statement.final}"
    )


def _select(statement: s.SelectStatement) -> str:
    where = f" WHERE {_conditions(statement.conditions)}" if statement.conditions else ""
    terms = ", ".join(f"{_name(term.column)}{' DESC' * term.descending}" for term in statement.order)
    order = f" ORDER BY {terms}" if terms else ""
    limit = f" LIMIT {statement.limit}" if statement.limit >= 0 else ""
    return f"SELECT {_names(statement.columns) or '*'} FROM treaty.{statement.table}{where}{order}{limit}"  # noqa: S608 (names are quoted)


def _select_records(statement: s.SelectRecordsStatement) -> str:
    where = f" WHERE {_conditions(statement.conditions)}" if statement.conditions else ""
    return (
        f"SELECT {_names(statement.columns) or '*'} FROM STREAM {_name(statement.name)}{where} LIMIT {statement.limit}"  # noqa: S608 (names are quoted)
    )


def _select_rows(statement: s.SelectRowsStatement) -> str:
    where = f" WHERE {_conditions(statement.conditions)}" if statement.conditions else ""
    version = f" AS OF VERSION {statement.version}" if statement.version >= 0 else ""
    time = f" AS OF TIMESTAMP {print_text(statement.time)}" if statement.time else ""
    limit = f" LIMIT {statement.limit}" if statement.limit >= 0 else ""
    return f"SELECT {_names(statement.columns) or '*'} FROM TABLE {_name(statement.name)}{where}{version}{time}{limit}"  # noqa: S608 (names are quoted)


def _print(statement: s.PrintStatement) -> str:
    limit = f" LIMIT {statement.limit}" if statement.limit >= 0 else ""
    interval = f" INTERVAL {statement.interval}" if statement.interval > 1 else ""
    return f"PRINT {print_text(statement.name)}{' FROM BEGINNING' * statement.from_beginning}{interval}{limit}"


def _assert_schema(statement: s.AssertSchemaStatement) -> str:
    subject = f" SUBJECT {print_text(statement.subject)}" if statement.subject else ""
    number = f" ID {statement.schema_id}" if statement.schema_id else ""
    return f"ASSERT{'' if statement.exists else ' NOT EXISTS'} SCHEMA{subject}{number}{_timeout(statement.timeout)}"


def _assert_topic(statement: s.AssertTopicStatement) -> str:
    numbers = [("PARTITIONS", statement.partitions), ("REPLICAS", statement.replicas)]
    listed = ", ".join(f"{name} = {number}" for name, number in numbers if number)
    clause = f" WITH ({listed})" if listed else ""
    topic = print_text(statement.topic)
    return f"ASSERT{'' if statement.exists else ' NOT EXISTS'} TOPIC {topic}{clause}{_timeout(statement.timeout)}"


def _timeout(milliseconds: int) -> str:
    if milliseconds == s.ASSERT_TIMEOUT:
        return ""
    for unit, number in (("HOURS", 3_600_000), ("MINUTES", 60_000), ("SECONDS", 1_000)):
        if milliseconds and not milliseconds % number:
            return f" TIMEOUT {milliseconds // number} {unit}"
    return f" TIMEOUT {milliseconds} MILLISECONDS"


def _insert(statement: s.InsertStatement) -> str:
    columns = f" ({_names(statement.columns)})" if statement.columns else ""
    rows = ", ".join(f"({', '.join(map(print_literal, row))})" for row in statement.rows)
    return f"INSERT INTO {_name(statement.name)}{columns} VALUES {rows}{' AS DELETE' * statement.delete}"  # noqa: S608 (names are quoted)


def _update(statement: s.UpdateStatement) -> str:
    values = ", ".join(f"{_name(name)} = {print_literal(value)}" for name, value in statement.values)
    return f"UPDATE {_name(statement.name)} SET {values} WHERE {_conditions(statement.conditions)}"  # noqa: S608 (names are quoted)


def _alter(change: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda one: f"ALTER {one.kind or STREAMING} {_name(one.name)} {change(one)}"


def _kind(statement: Any) -> str:
    return f"{statement.kind} " if statement.kind else ""


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
    s.RestartStatement: lambda one: f"{_RESTARTS[one.way].format(_name(one.name))}{' CASCADE' * one.cascade}",
    s.OnceStatement: lambda one: f"INSERT INTO ONCE {_name(one.name)}\n{one.body}",
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
