"""INSERT, UPDATE, DELETE, and SELECT from system tables: literals, conditions and lists of columns."""

import math
from datetime import datetime
from decimal import Decimal
from typing import NoReturn

from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import SqlToken
from treaty.core.limits import NUMBER_DIGITS, RESULT_ROWS, TYPE_DEPTH
from treaty.metastore.sql.create import read_once
from treaty.metastore.sql.cursor import StatementCursor
from treaty.metastore.sql.diagnostics import nearest_word
from treaty.metastore.sql.foreign_words import INSIDE
from treaty.metastore.sql.statements import (
    SYSTEM_TABLES,
    DeleteStatement,
    InsertStatement,
    OnceStatement,
    SelectRecordsStatement,
    SelectRowsStatement,
    SelectStatement,
    UpdateStatement,
)
from treaty.metastore.sql.values import (
    ArrayLiteral,
    ColumnCondition,
    MapLiteral,
    OrderTerm,
    SqlLiteral,
    StructLiteral,
    TimeLiteral,
)

_TIMES = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIME")
_A_VALUE = (
    "a value: a number, a text in quotes, TRUE, FALSE, NULL, DATE '…', TIMESTAMP '…', X'…', ARRAY(…), MAP(…), STRUCT(…)",
)
_LARGEST = 2**63 - 1
_UNION_ALL = (
    "a source has one query: CREATE OR REPLACE STREAM {} AS SELECT … FROM STREAM a UNION ALL SELECT … FROM STREAM b"
)
_OWN_QUERY = "SELECT reads treaty.sources, types, queries, dependencies, subjects and versions, or FROM STREAM name; CREATE STREAM … AS reads streams"


# ------------------------------------------------------------------------------------------------------------ literals


def read_literal(cursor: StatementCursor, depth: int = 1) -> SqlLiteral:
    """Read a value."""
    if depth > TYPE_DEPTH:
        message = f"the value nests deeper than the limit TYPE_DEPTH of {TYPE_DEPTH}"
        cursor.fail("VALUES_TOO_DEEP", message, hint="a flatter value")
    token, after = cursor.token, cursor.following
    if token.kind in {"text", "raw"}:
        return cursor.read_string()
    if token.kind == "number" or token.text in {"+", "-"}:
        return _read_number(cursor)
    match token.keyword:
        case "NULL" | "TRUE" | "FALSE" as word:
            cursor.at += 1
            return {"NULL": None, "TRUE": True, "FALSE": False}[word]
        case "X" if after.kind == "text":
            return _read_bytes(cursor)
        case word if word in _TIMES and after.kind == "text":
            cursor.at += 1
            return TimeLiteral("TIMESTAMP" if word == "TIMESTAMP_LTZ" else word, cursor.read_string())
        case "ARRAY" if after.text in {"(", "["}:
            return _read_array(cursor, depth)
        case "MAP" if after.text == "(":
            return _read_map(cursor, depth)
        case "STRUCT" | "NAMED_STRUCT" if after.text == "(":
            return _read_struct(cursor, depth)
    return _refuse_value(cursor)


def _refuse_value(cursor: StatementCursor) -> NoReturn:
    message = f"{cursor.token.label} stands where a value is expected"
    hint = "texts stand between single quotes; values are written out, and not computed"
    cursor.fail("VALUE_REFUSED", message, expected=_A_VALUE, hint=hint)


def _read_number(cursor: StatementCursor) -> SqlLiteral:
    start = cursor.at
    sign = "-" if cursor.token.text == "-" else ""
    cursor.at += cursor.token.kind == "sign"
    token = cursor.token
    if token.kind != "number" or len(token.text) > NUMBER_DIGITS:
        cursor.at = start
        _refuse_value(cursor)
    number = _number_of(sign, token.text.upper())
    if number is None:
        cursor.at = start
        _refuse_value(cursor)
    cursor.at += 1
    return number


def _number_of(sign: str, text: str) -> int | float | Decimal | None:
    digits = text.rstrip("LSYDFB")
    suffix = text[len(digits) :]
    if digits.isdigit() and suffix in {"", "L", "S", "Y"}:
        return int(sign + digits)
    if "E" not in digits and suffix in {"", "BD"}:
        return Decimal(sign + digits)
    if suffix in {"", "D", "F"} and math.isfinite(float(digits)):
        return float(sign + digits)
    return None


def _read_bytes(cursor: StatementCursor) -> bytes:
    cursor.at += 1
    token, text = cursor.token, cursor.read_string()
    try:
        return bytes.fromhex(text if text.isascii() and text.isalnum() else "" if not text else "!")
    except ValueError:
        cursor.report(
            "VALUE_REFUSED", f"X{token.label} has no even number of hexadecimal digits", token, hint="X'00FF'"
        )
        return b""


def _read_array(cursor: StatementCursor, depth: int) -> ArrayLiteral:
    cursor.at += 1
    close = ")" if cursor.take_sign("(") else "]"
    if close == "]":
        cursor.need_sign("[")
    items: list[SqlLiteral] = []
    while not cursor.take_sign(close):
        if items:
            cursor.need_sign(",")
        items.append(read_literal(cursor, depth + 1))
    return ArrayLiteral(tuple(items))


def _read_map(cursor: StatementCursor, depth: int) -> MapLiteral:
    cursor.at += 1
    cursor.need_sign("(")
    entries: list[tuple[SqlLiteral, SqlLiteral]] = []
    while not cursor.take_sign(")"):
        if entries:
            cursor.need_sign(",")
        key = read_literal(cursor, depth + 1)
        if cursor.take_sign(":"):
            cursor.need_sign("=")
        else:
            cursor.need_sign(",")
        entries.append((key, read_literal(cursor, depth + 1)))
    return MapLiteral(tuple(entries))


def _read_struct(cursor: StatementCursor, depth: int) -> StructLiteral:
    named = cursor.token.keyword == "NAMED_STRUCT"
    cursor.at += 1
    cursor.need_sign("(")
    fields: dict[str, SqlLiteral] = {}
    while not cursor.take_sign(")"):
        if fields:
            cursor.need_sign(",")
        token = cursor.token
        if named:
            name = cursor.read_string("the name of a field in quotes")
            cursor.need_sign(",")
        else:
            name = cursor.read_name("the name of a field")
            cursor.need_sign(":")
            cursor.need_sign("=")
        if name in fields:
            cursor.report("COLUMN_TWICE", f"the field {token.label} is there twice", token, hint="once")
        fields[name] = read_literal(cursor, depth + 1)
    return StructLiteral(tuple(fields.items()))


# ------------------------------------------------------------------------------------------------------------- records


def read_insert(cursor: StatementCursor) -> InsertStatement | OnceStatement:
    """Read what follows INSERT."""
    cursor.need("INTO")
    if cursor.token.keyword == "ONCE" and cursor.is_name(cursor.following) and cursor.following.keyword != "VALUES":
        return read_once(cursor)
    name = cursor.read_name()
    columns: list[str] = []
    if cursor.token.text == "(" and cursor.following.keyword != "SELECT":
        columns = _read_names(cursor)
    if cursor.token.keyword in {"SELECT", "FROM", "WITH"} or cursor.token.text == "(":
        cursor.fail(
            "INSERT_SELECT",
            "INSERT INTO takes VALUES, and no query",
            hint=f"{_UNION_ALL.format(name)}; INSERT INTO ONCE {name} SELECT … for rows that are to come into it once",
            expected=("VALUES",),
        )
    cursor.need("VALUES")
    rows = [_read_row(cursor, 0)]
    while cursor.take_sign(","):
        rows.append(_read_row(cursor, len(columns) or len(rows[0])))
    if columns and len(rows[0]) != len(columns):
        message = f"the rows have {len(rows[0])} values for {len(columns)} columns"
        cursor.report("VALUE_REFUSED", message, cursor.tokens[0], hint="a value for each column")
    delete = cursor.take("AS")
    if delete:
        cursor.need("DELETE")
    cursor.need_end()
    return InsertStatement(name, tuple(rows), tuple(columns), delete)


def _read_names(cursor: StatementCursor) -> list[str]:
    cursor.need_sign("(")
    names = [cursor.read_name("a column")]
    while cursor.take_sign(","):
        names.append(cursor.read_name("a column"))
    cursor.need_sign(")")
    return names


def _read_row(cursor: StatementCursor, length: int) -> tuple[SqlLiteral, ...]:
    token = cursor.token
    cursor.need_sign("(")
    row = [read_literal(cursor)]
    while cursor.take_sign(","):
        row.append(read_literal(cursor))
    cursor.need_sign(")")
    if length and len(row) != length:
        cursor.report(
            "VALUE_REFUSED", f"the row has {len(row)} values, others have {length}", token, hint="as many in each"
        )
    return tuple(row)


def read_update(cursor: StatementCursor) -> UpdateStatement:
    """Read what follows UPDATE."""
    name = cursor.read_name()
    cursor.need("SET")
    values: dict[str, tuple[str, SqlLiteral]] = {}
    while True:
        token, column = cursor.token, cursor.read_name("a column")
        cursor.need_sign("=")
        if lower_name(column) in values:
            cursor.report("COLUMN_TWICE", f"the column {token.label} is set twice", token, hint="once")
        values[lower_name(column)] = column, read_literal(cursor)
        if not cursor.take_sign(","):
            break
    _need_where(cursor, "UPDATE")
    conditions = _read_conditions(cursor, like=False)
    cursor.need_end()
    return UpdateStatement(name, tuple(values.values()), conditions)


def _need_where(cursor: StatementCursor, word: str) -> None:
    if not cursor.take("WHERE"):
        cursor.fail(hint=f"WHERE key = value: {word} writes the record of one key")


def read_delete(cursor: StatementCursor) -> DeleteStatement:
    """Read what follows DELETE."""
    cursor.need("FROM")
    name = cursor.read_name()
    _need_where(cursor, "DELETE")
    conditions = _read_conditions(cursor, like=False)
    cursor.need_end()
    return DeleteStatement(name, conditions)


def _read_conditions(cursor: StatementCursor, *, like: bool) -> tuple[ColumnCondition, ...]:
    """Read ``column = value`` and, with `like`, ``column LIKE pattern``, with AND between them."""
    conditions: list[ColumnCondition] = []
    while True:
        column = cursor.read_name("a column")
        if like and cursor.take("LIKE"):
            conditions.append(ColumnCondition(column, "LIKE", cursor.read_string("a pattern in quotes")))
        elif cursor.take_sign("="):
            conditions.append(ColumnCondition(column, "=", read_literal(cursor)))
        else:
            allowed = ("=", "LIKE") if like else ("=",)
            message = f"{cursor.token.label} is no condition that this statement takes"
            cursor.fail(
                "CONDITION_REFUSED",
                message,
                expected=allowed,
                hint=f"column = value{' or column LIKE pattern' * like}, joined by AND",
            )
        if not cursor.take("AND"):
            return tuple(conditions)


# ------------------------------------------------------------------------------------------------------- system tables


def read_select(cursor: StatementCursor) -> SelectStatement | SelectRecordsStatement | SelectRowsStatement:
    """Read what follows SELECT: columns of a system table, or of records of a stream. Any other query is refused with the way round."""
    columns: list[str] = []
    if not cursor.take_sign("*"):
        columns.append(_read_column_of(cursor))
        while cursor.take_sign(","):
            columns.append(_read_column_of(cursor))
    if not cursor.take("FROM"):
        cursor.fail(
            "SELECT_REFUSED",
            f"{cursor.token.label} stands where FROM treaty.… is expected",
            hint=INSIDE["SELECT"]["GROUP"] if cursor.token.text == "(" else _OWN_QUERY,
            expected=("FROM",),
        )
    if cursor.take("STREAM"):
        return _read_records(cursor, tuple(columns))
    if cursor.take("TABLE"):
        return _read_rows(cursor, tuple(columns))
    table = _read_system_table(cursor)
    conditions = _read_conditions(cursor, like=True) if cursor.take("WHERE") else ()
    order: list[OrderTerm] = []
    if cursor.take("ORDER"):
        cursor.need("BY")
        order.append(_read_order(cursor))
        while cursor.take_sign(","):
            order.append(_read_order(cursor))
    limit = cursor.read_integer(0, _LARGEST) if cursor.take("LIMIT") else -1
    cursor.need_end()
    return SelectStatement(table, tuple(columns), conditions, tuple(order), limit)


def _read_records(cursor: StatementCursor, columns: tuple[str, ...]) -> SelectRecordsStatement:
    name = cursor.read_name("a stream or table")
    conditions = _read_conditions(cursor, like=False) if cursor.take("WHERE") else ()
    if not cursor.take("LIMIT"):
        hint = "write LIMIT 10 at the end: SELECT … FROM STREAM looks at some records, and CREATE STREAM … AS SELECT runs for good"
        cursor.fail(
            "SELECT_REFUSED", f"{cursor.token.label} stands where LIMIT is expected", hint=hint, expected=("LIMIT",)
        )
    limit = cursor.read_integer(1, RESULT_ROWS)
    cursor.need_end()
    return SelectRecordsStatement(name, columns, conditions, limit)


def _read_rows(cursor: StatementCursor, columns: tuple[str, ...]) -> SelectRowsStatement:
    name = cursor.read_name("a table")
    conditions = _read_conditions(cursor, like=False) if cursor.take("WHERE") else ()
    version, time = -1, ""
    if cursor.take("AS"):
        cursor.need("OF")
        if cursor.need_any("VERSION", "TIMESTAMP") == "VERSION":
            version = cursor.read_integer(0, _LARGEST)
        else:
            time = read_moment(cursor, "AS OF TIMESTAMP takes a time in ISO 8601")
    limit = cursor.read_integer(1, _LARGEST) if cursor.take("LIMIT") else -1
    cursor.need_end()
    return SelectRowsStatement(name, columns, conditions, version, time, limit)


def read_moment(cursor: StatementCursor, message: str) -> str:
    """Read a time in quotes with its zone, and return it in ISO 8601; another text is reported with the message, and empty."""
    token, text = cursor.token, cursor.read_string("a time in quotes")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        hint = "a time with its zone: '2026-01-31T10:00:00Z'"
        cursor.report("SYNTAX", message, token, hint=hint)
        return ""
    return moment.isoformat()


def _read_column_of(cursor: StatementCursor) -> str:
    if not cursor.is_name(cursor.token):
        message = f"{cursor.token.label} is no column of a system table"
        cursor.fail("SELECT_REFUSED", message, hint=_OWN_QUERY, expected=("a column", "'*'"))
    return cursor.read_name("a column")


def _read_system_table(cursor: StatementCursor) -> str:
    token = cursor.token
    if token.keyword != "TREATY" or cursor.following.text != ".":
        is_bare = token.text.lower() in SYSTEM_TABLES
        cursor.fail(
            "SELECT_REFUSED",
            f"{token.label} is no system table",
            hint=f"did you mean treaty.{token.text.lower()}?" if is_bare else _hint_records(token),
            expected=tuple(f"treaty.{one}" for one in SYSTEM_TABLES),
        )
    cursor.at += 2
    token, name = cursor.token, cursor.read_name("a system table")
    if name.lower() not in SYSTEM_TABLES:
        near = nearest_word(name, tuple(one.upper() for one in SYSTEM_TABLES)).lower()
        hint = f"did you mean treaty.{near}?" if near else "one of the others"
        cursor.report(
            "SELECT_REFUSED", f"there is no system table treaty.{name[:100]}", token, hint=hint, expected=SYSTEM_TABLES
        )
    return name.lower()


def _hint_records(token: SqlToken) -> str:
    """What a query over a stream or a table is written like."""
    if token.kind not in {"word", "quoted"}:
        return _OWN_QUERY
    name = token.label
    return f"records of its topic are SELECT … FROM STREAM {name} LIMIT 10, rows of a Delta table SELECT … FROM TABLE {name}; {_OWN_QUERY}"  # noqa: S608 (a hint)


def _read_order(cursor: StatementCursor) -> OrderTerm:
    column = cursor.read_name("a column")
    return OrderTerm(column, cursor.take_any("ASC", "DESC") == "DESC")
