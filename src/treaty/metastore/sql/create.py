"""CREATE of streams, tables and types, with the words of Spark and Flink for them."""

from treaty.core.column_types import SQL_TYPE_WORDS
from treaty.core.schema import Pairs
from treaty.metastore.sql.bodies import read_body
from treaty.metastore.sql.cursor import StatementCursor
from treaty.metastore.sql.foreign_words import INSIDE
from treaty.metastore.sql.heads import GivenProperties, pairs_of, read_columns, read_properties, refuse_query_properties
from treaty.metastore.sql.properties import LABEL, canonical_names, defaults_for
from treaty.metastore.sql.statements import CreateSourceStatement, CreateTypeStatement, OnceStatement
from treaty.metastore.sql.values import HeadColumn

_OF_SPARK = {
    "USING": "WITH (CONNECTOR = 'delta')",
    "OPTIONS": "WITH (property = value, …)",
    "LOCATION": "WITH (PATH = '…')",
    "PARTITIONED": "leave it out: a topic has PARTITIONS",
    "CLUSTER": "leave it out",
}
_READ_ONLY = "leave SOURCE out: who may insert is a permission"


def read_create(cursor: StatementCursor, settings: Pairs) -> CreateSourceStatement | CreateTypeStatement:
    """Read what follows CREATE. `settings` are defaults of properties, from SET."""
    replace_token = cursor.token
    or_replace = _read_replace(cursor)
    if cursor.token.keyword in {"SOURCE", "SINK"} and cursor.following.keyword not in {"STREAM", "TABLE"}:
        _refuse_source(cursor)
    if cursor.token.keyword == "SOURCE":
        cursor.fail(
            "KSQL_SOURCE",
            "a read-only SOURCE of ksqlDB is not needed here",
            hint=_READ_ONLY,
            expected=("STREAM", "TABLE"),
        )
    if not or_replace and cursor.take("TYPE"):
        return _read_type(cursor)
    kind = read_source_kind(cursor)
    if_not_exists = _read_not_exists(cursor)
    if or_replace and if_not_exists:
        cursor.report("SYNTAX", "OR REPLACE and IF NOT EXISTS exclude each other", replace_token, hint="one of the two")
    return _read_source(cursor, settings, kind, or_replace=or_replace, if_not_exists=if_not_exists)


def _refuse_source(cursor: StatementCursor) -> None:
    """Raise an error for what RisingWave calls a source or a sink, and for a connector of ksqlDB."""
    word = cursor.token.keyword
    hint = "CREATE STREAM name (columns) WITH (KAFKA_TOPIC = 'topic', VALUE_FORMAT = 'AVRO')"
    if cursor.following.keyword == "CONNECTOR":
        cursor.at += 1
        cursor.fail(
            "SYNTAX", "there are no connectors here", hint=INSIDE["CREATE"]["CONNECTOR"], expected=("STREAM", "TABLE")
        )
    if word == "SINK":
        hint = INSIDE["CREATE"]["SINK"]
    cursor.fail("SYNTAX", f"{word} is no word for a source here", hint=hint, expected=("STREAM", "TABLE"))


def _read_replace(cursor: StatementCursor) -> bool:
    if not cursor.take("OR"):
        return False
    cursor.need_any("REPLACE", "ALTER", "REFRESH")
    return True


def _read_not_exists(cursor: StatementCursor) -> bool:
    if not cursor.take("IF"):
        return False
    cursor.need("NOT", "EXISTS")
    return True


def read_source_kind(cursor: StatementCursor) -> str:
    """Read STREAM, TABLE or a synonym; a streaming table is empty, since columns and body say what it is."""
    if cursor.take("STREAMING"):
        cursor.need("TABLE")
        return ""
    if cursor.take("MATERIALIZED"):
        cursor.need_any("VIEW", "TABLE")
        return "TABLE"
    return cursor.need_any("STREAM", "TABLE")


def _read_source(
    cursor: StatementCursor, settings: Pairs, kind: str, *, or_replace: bool, if_not_exists: bool
) -> CreateSourceStatement:
    name = cursor.read_name("a name")
    columns: tuple[HeadColumn, ...] = ()
    if cursor.token.text == "(":
        columns = read_columns(cursor, kind)
    else:
        cursor.take_sign("(")
    comment, written = _read_options(cursor)
    if cursor.following.text == "=" and canonical_names(cursor.token.text):
        word = cursor.token.text
        cursor.fail(
            "SYNTAX", f"the property {word} stands outside of WITH", hint=f"WITH ({word} = …)", expected=("WITH",)
        )
    body, final = "", False
    if cursor.take("AS"):
        first = cursor.at
        start, end, final = read_body(cursor)
        body = cursor.text[start:end]
        kind = kind or _streaming_kind(cursor, columns, first)
    else:
        cursor.need_end()
        refuse_query_properties(cursor, written)
        kind = kind or ("TABLE" if any(one.role == "key" for one in columns) else "STREAM")
    properties = defaults_for(pairs_of(written), settings, query=bool(body))
    return CreateSourceStatement(kind, name, columns, properties, body, comment, or_replace, if_not_exists, final)


def read_once(cursor: StatementCursor) -> OnceStatement:
    """Read INSERT INTO ONCE; columns go by their names, as BY NAME says elsewhere."""
    cursor.need("ONCE")
    name = cursor.read_name()
    if cursor.take("BY"):
        cursor.need("NAME")
    start, end, final = read_body(cursor)
    if final:
        cursor.fail("KSQL_EMIT", "a query that is run once has no EMIT", hint="leave EMIT FINAL out", expected=())
    return OnceStatement(name, cursor.text[start:end])


def _read_options(cursor: StatementCursor) -> tuple[str, GivenProperties]:
    """Read COMMENT and WITH or TBLPROPERTIES, in any order."""
    comment = ""
    properties: GivenProperties = {}
    while True:
        if not comment and cursor.take("COMMENT"):
            comment = cursor.read_string()
        elif not properties and cursor.take_any("WITH", "TBLPROPERTIES"):
            properties = read_properties(cursor)
        elif cursor.token.keyword in _OF_SPARK:
            word = cursor.token.keyword
            cursor.fail("SYNTAX", f"{word} of Spark is no clause here", hint=_OF_SPARK[word], expected=("WITH", "AS"))
        else:
            return comment, properties


def _streaming_kind(cursor: StatementCursor, columns: tuple[HeadColumn, ...], first: int) -> str:
    """A streaming table is a TABLE with a key, or where its body groups rows outside of parentheses."""
    if any(one.role == "key" for one in columns):
        return "TABLE"
    depth = 0
    for at in range(first, len(cursor.tokens) - 1):
        token = cursor.tokens[at]
        if token.kind == "sign":
            depth += (token.text == "(") - (token.text == ")")
        elif not depth and token.keyword == "GROUP" and cursor.tokens[at + 1].keyword == "BY":
            return "TABLE"
    return "STREAM"


def _read_type(cursor: StatementCursor) -> CreateTypeStatement:
    if_not_exists = _read_not_exists(cursor)
    token, name = cursor.token, cursor.read_name("a name")
    if name.upper() in SQL_TYPE_WORDS:
        message = f"{name} is a type of SQL"
        cursor.report("TYPE_NAME_TAKEN", message, token, hint="another name")
    cursor.need("AS")
    kind = cursor.read_type()
    comment, written = _read_options(cursor)
    cursor.need_end()
    for word, (_, word_token) in written.items():
        if word != LABEL:
            message = f"{word} is no property of a type"
            cursor.report("PROPERTY_MISPLACED", message, word_token, hint="a type has LABEL alone", expected=(LABEL,))
    return CreateTypeStatement(name, kind, if_not_exists, comment, dict(pairs_of(written)).get(LABEL, ""))
