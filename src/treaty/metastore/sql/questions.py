"""EXPLAIN, ASSERT and PRINT are parsed: ranges, time-outs and limits that may follow."""

from treaty.core.schema import Pairs
from treaty.metastore.sql.bodies import read_body
from treaty.metastore.sql.create import read_create
from treaty.metastore.sql.cursor import StatementCursor
from treaty.metastore.sql.heads import keep_topic_properties, read_properties
from treaty.metastore.sql.records import read_moment
from treaty.metastore.sql.statements import (
    ASSERT_TIMEOUT,
    AssertSchemaStatement,
    AssertTopicStatement,
    CreateSourceStatement,
    ExplainStatement,
    PrintStatement,
)
from treaty.metastore.sql.values import EARLIEST, LATEST, ComparedRange

_MILLISECONDS = {"MILLISECOND": 1, "SECOND": 1_000, "MINUTE": 60_000, "HOUR": 3_600_000}
_UNITS = {f"{unit}{plural}": number for unit, number in _MILLISECONDS.items() for plural in ("", "S")}
_LARGEST = 2**63 - 1
_REPLACED = frozenset({"CREATE", "STREAM", "TABLE", "COMPARE"})
_LONGEST = 1_000_000
_NOT_EXPLAINED = frozenset({
    "ALTER", "ASSERT", "DEFINE", "DELETE", "DESC", "DESCRIBE", "DROP", "EXPLAIN", "INSERT", "LIST", "PAUSE", "PRINT", "REFRESH",
    "RESET", "RESUME", "ROLLBACK", "SET", "SHOW", "UNDROP", "UPDATE",
})  # fmt: skip
_EXPLAINED = "EXPLAIN name, EXPLAIN CREATE … AS … or EXPLAIN SELECT …; a dry run says what another statement would do"


def read_explain(cursor: StatementCursor, settings: Pairs) -> ExplainStatement:
    """Read what follows EXPLAIN."""
    replace = cursor.token if cursor.following.keyword in _REPLACED and cursor.take("REPLACE") else None
    compare = _read_range(cursor) if replace is not None and cursor.take("COMPARE") else None
    if cursor.take("CREATE") or replace is not None:
        statement = read_create(cursor, settings)
        if not isinstance(statement, CreateSourceStatement):
            cursor.report("SYNTAX", "EXPLAIN takes a source, no type", cursor.tokens[0], hint="CREATE STREAM or TABLE")
            return ExplainStatement()
        return ExplainStatement(
            statement=_with_replace(statement) if replace is not None else statement, compare=compare
        )
    if cursor.token.keyword in {"SELECT", "FROM", "WITH"} or cursor.token.text == "(":
        start, end, final = read_body(cursor)
        return ExplainStatement(body=cursor.text[start:end], final=final)
    if cursor.token.keyword in _NOT_EXPLAINED and cursor.following.kind != "end":
        message = f"EXPLAIN takes no {cursor.token.keyword}: it is of a query"
        cursor.fail("SYNTAX", message, hint=_EXPLAINED, expected=("a name", "CREATE", "SELECT"))
    cursor.take_before_name("QUERY", "STREAM", "TABLE")
    name = cursor.read_name("a name, CREATE or SELECT")
    cursor.need_end()
    return ExplainStatement(name)


def _read_range(cursor: StatementCursor) -> ComparedRange:
    """Read ``FROM … TO …`` behind COMPARE, of which each may be left out."""
    start = _read_bound(cursor, EARLIEST) if cursor.take("FROM") else EARLIEST
    end = _read_bound(cursor, LATEST) if cursor.take("TO") else LATEST
    return ComparedRange(start, end)


def _read_bound(cursor: StatementCursor, word: str) -> str:
    """The end of a range that has a word, or a time with its zone."""
    if cursor.take(word.upper()):
        return word
    return read_moment(cursor, f"COMPARE takes {word} or a time in ISO 8601") or word


def _with_replace(statement: CreateSourceStatement) -> CreateSourceStatement:
    return CreateSourceStatement(
        statement.kind,
        statement.name,
        statement.columns,
        statement.properties,
        statement.body,
        statement.comment,
        or_replace=True,
        final=statement.final,
    )


def read_assert(cursor: StatementCursor) -> AssertSchemaStatement | AssertTopicStatement:
    """Read what follows ASSERT."""
    exists = not cursor.take("NOT")
    if not exists:
        cursor.need("EXISTS")
    if cursor.need_any("SCHEMA", "TOPIC") == "TOPIC":
        topic = _read_text_or_name(cursor, "a topic")
        partitions, replicas = 0, 0
        if cursor.take("WITH"):
            partitions, replicas = keep_topic_properties(cursor, read_properties(cursor))
        return AssertTopicStatement(topic, partitions, replicas, exists, _read_timeout(cursor))
    subject, schema_id = "", 0
    if cursor.take("SUBJECT"):
        subject = _read_text_or_name(cursor, "a subject")
    if cursor.take("ID"):
        schema_id = cursor.read_integer(1, 2_147_483_647)
    if not subject and not schema_id:
        cursor.fail()
    return AssertSchemaStatement(subject, schema_id, exists, _read_timeout(cursor))


def _read_text_or_name(cursor: StatementCursor, what: str) -> str:
    return cursor.read_string() if cursor.token.kind in {"text", "raw"} else cursor.read_name(what)


def _read_timeout(cursor: StatementCursor) -> int:
    """The milliseconds of a TIMEOUT that ends the statement."""
    timeout = ASSERT_TIMEOUT
    if cursor.take("TIMEOUT"):
        number = cursor.read_integer(0, _LONGEST)
        timeout = number * _UNITS[cursor.need_any(*_UNITS)]
    cursor.need_end()
    return timeout


def read_print(cursor: StatementCursor) -> PrintStatement:
    """Read what follows PRINT."""
    name = _read_text_or_name(cursor, "a source or topic")
    from_beginning, interval, limit = False, 1, -1
    if cursor.take("FROM"):
        cursor.need("BEGINNING")
        from_beginning = True
    while True:
        if cursor.take_any("INTERVAL", "SAMPLE"):
            interval = cursor.read_integer(1, _LARGEST)
        elif cursor.take("LIMIT"):
            limit = cursor.read_integer(0, _LARGEST)
        else:
            break
    cursor.need_end()
    return PrintStatement(name, from_beginning, interval, limit)
