"""What a definition of a source must be in any state: its columns, keys, names, text and query, each refused where it can't be."""

from collections.abc import Sequence

from treaty.core import limits
from treaty.core.column_types import ColumnTypeError, SqlType, list_type_names, parse_column_type
from treaty.core.handlers.metastore.names import refuse_bad_name
from treaty.core.messages.metastore.sources import SourceDefinition
from treaty.core.refusals import InvalidSource, TooLarge
from treaty.core.schema import Pairs
from treaty.core.sources import KINDS, TABLE_KIND, ImportedQuery, QueryPlan, SourceColumn
from treaty.core.state.metastore.keys import key_of_name

CONNECTORS = ("kafka", "files", "delta", "iceberg")
ROLES = ("value", "key", "header")
OUTPUT_MODES = ("append", "update", "complete")
BAD_SUFFIX = "_bad"
BAD_COLUMNS = (
    SourceColumn("code", "STRING", nullable=False),
    SourceColumn("message", "STRING"),
    SourceColumn("schema_id", "INT"),
    SourceColumn("payload", "BINARY"),
    SourceColumn("_topic", "STRING"),
    SourceColumn("_partition", "INT"),
    SourceColumn("_offset", "BIGINT"),
    SourceColumn("_timestamp", "TIMESTAMP"),
    SourceColumn("bad_id", "STRING"),
    SourceColumn("found_at", "TIMESTAMP"),
    SourceColumn("_key", "BINARY"),
    SourceColumn("_value", "BINARY"),
    SourceColumn("_headers", "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
)
"""Columns of a stream of bad rows: why a row is bad and where it is, a name for it, when it was found, and the whole record, to decode it again."""
PSEUDO_COLUMNS = ("_topic", "_partition", "_offset", "_timestamp", "_headers", "_schema_id")
"""What every record has beside its columns."""


def refuse_bad_definition(defined: SourceDefinition) -> None:
    """Raise the refusal of a definition that can't be, whatever else there is."""
    refuse_bad_name(defined.name, "SOURCE_NAME", "/definition/name")
    _refuse_bad_word("SOURCE_KIND", "kind", defined.kind, KINDS)
    _refuse_bad_word("SOURCE_CONNECTOR", "connector", defined.connector, CONNECTORS)
    refuse_long_statement(defined.statement, "/definition/statement")
    refuse_bad_columns(defined.columns)
    if len(defined.properties) > limits.SOURCE_PROPERTIES:
        raise TooLarge.of(
            "SOURCE_PROPERTIES",
            "The source has too many properties",
            path="/definition/properties",
            new=str(len(defined.properties)),
            allowed=f"at most {limits.SOURCE_PROPERTIES}",
        )
    refuse_unknown_columns(defined.columns, defined.timestamp, defined.properties)
    grouped = defined.query is not None and bool(defined.query.key)
    refuse_keyless(defined.name, defined.kind, defined.columns, grouped=grouped)
    if defined.imported is not None:
        _refuse_bad_import(defined, defined.imported)
    if defined.query is not None:
        _refuse_bad_query(defined.query)
        _refuse_unknown(defined.columns, "GROUP BY", defined.query.key, "/definition/query/key")


def _refuse_bad_import(defined: SourceDefinition, imported: ImportedQuery) -> None:
    """Raise the refusal of a query of another system that a definition can't have."""
    if defined.query is not None or not imported.original:
        raise InvalidSource.of(
            "IMPORTED_QUERY",
            f"{defined.name} has {'a planned query too' if defined.query else 'an imported query without a text'}",
            path="/definition/imported",
            allowed="an imported query with its text, or a planned one",
        )
    refuse_long_statement("".join((imported.original, imported.suggestion, *imported.notes)), "/definition/imported")
    refuse_bad_name(imported.id or defined.name, "IMPORTED_QUERY", "/definition/imported/id")


def refuse_unknown_columns(columns: Sequence[SourceColumn], timestamp: str, properties: Pairs) -> None:
    """Raise `InvalidSource` for a column that TIMESTAMP, WATERMARK or DEDUPLICATE names and that the source has not."""
    _refuse_unknown(columns, "TIMESTAMP", (timestamp,) if timestamp else (), "/definition/timestamp")
    for word, text in properties:
        named: Sequence[str] = ()
        if word == "WATERMARK":
            named = [text.split(" DELAY ")[0]]
        elif word == "DEDUPLICATE":
            named = text.split(",")
        _refuse_unknown(columns, word, named, "/definition/properties")


def _refuse_unknown(columns: Sequence[SourceColumn], word: str, names: Sequence[str], path: str) -> None:
    if not names:
        return
    names_of_columns = {*PSEUDO_COLUMNS, *(key_of_name(column.name) for column in columns)}
    for text in names:
        name = text.strip()
        name = name[1:-1] if name[:1] == name[-1:] == "`" else name
        if key_of_name(name) not in names_of_columns:
            raise InvalidSource.of(
                "COLUMN_UNKNOWN",
                f"{word} names {name}, which is no column of the source",
                path=path,
                new=name,
                allowed=f"one of {', '.join(column.name for column in columns)[:1000]}",
            )


def refuse_keyless(name: str, kind: str, columns: Sequence[SourceColumn], *, grouped: bool) -> None:
    """Raise `InvalidSource` for a table without a key: no column has that role, and no query groups its rows."""
    if kind == TABLE_KIND and not grouped and not any(column.role == "key" for column in columns):
        raise InvalidSource.of(
            "TABLE_KEY",
            f"The table {name} has no key",
            path="/definition/columns",
            allowed="PRIMARY KEY at a column, or GROUP BY in the query",
        )


def refuse_long_statement(statement: str, path: str) -> None:
    """Raise `TooLarge` for a statement of too many bytes in UTF-8."""
    size = len(statement.encode("utf-8", "surrogatepass"))
    if size > limits.STATEMENT_BYTES:
        raise TooLarge.of(
            "STATEMENT_BYTES",
            "The statement is too long",
            path=path,
            new=str(size),
            allowed=f"at most {limits.STATEMENT_BYTES} bytes",
        )


def refuse_bad_columns(columns: Sequence[SourceColumn]) -> None:
    """Raise the refusal of columns that no source can have."""
    if not columns:
        raise InvalidSource.of(
            "SOURCE_COLUMNS",
            "The source has no columns",
            path="/definition/columns",
            allowed="columns, or a schema that has some",
        )
    if len(columns) > limits.SOURCE_COLUMNS:
        raise TooLarge.of(
            "SOURCE_COLUMNS",
            "The source has too many columns",
            path="/definition/columns",
            new=str(len(columns)),
            allowed=f"at most {limits.SOURCE_COLUMNS}",
        )
    names: set[str] = set()
    types: set[str] = set()
    for place, column in enumerate(columns):
        path = f"/definition/columns/{place}"
        refuse_bad_name(column.name, "COLUMN_NAME", f"{path}/name")
        name = column.name.lower()
        if name in names:
            raise column_twice(column.name, path)
        names.add(name)
        if column.role not in ROLES:
            _refuse_bad_word("COLUMN_ROLE", f"columns/{place}/role", column.role, ROLES)
        if column.type not in types:
            column_type(column.type, "COLUMN_TYPE", f"{path}/type")
            types.add(column.type)


def column_twice(name: str, path: str) -> InvalidSource:
    """Return the refusal of a second column of a name."""
    return InvalidSource.of(
        "COLUMN_TWICE",
        f"There is a column {name} already",
        path=path,
        new=name,
        allowed="names that differ in more than the case of their letters",
    )


def column_type(text: str, rule: str, path: str) -> SqlType:
    """Return the SQL type of a text; raises `InvalidSource`, or `TooLarge` for one that is too deep or too long."""
    try:
        return parse_column_type(text)
    except ColumnTypeError as error:
        allowed = ", ".join(error.expected) or error.hint
        if error.code in limits.__dict__:
            raise TooLarge.of(error.code, error.message, path=path, new=text, allowed=allowed) from None
        raise InvalidSource.of(rule, error.message, path=path, new=text, allowed=allowed) from None


def types_in(columns: Sequence[SourceColumn]) -> tuple[str, ...]:
    """Return the keys of the named types that columns use, in order."""
    named = (list_type_names(parse_column_type(text)) for text in {column.type for column in columns})
    return tuple(sorted({key for keys in named for key in keys}))


def _refuse_bad_query(query: QueryPlan) -> None:
    path = "/definition/query"
    if not query.body.strip():
        raise InvalidSource.of("QUERY_BODY", "The query has no body", path=f"{path}/body", allowed="a SELECT")
    refuse_long_statement(query.body, f"{path}/body")
    _refuse_bad_word("QUERY_MODE", "query/output_mode", query.output_mode, OUTPUT_MODES)
    if not query.reads:
        raise InvalidSource.of(
            "QUERY_READS", "The query reads nothing", path=f"{path}/reads", allowed="a stream or table in its FROM"
        )
    if len(query.reads) > limits.BODY_READS:
        raise TooLarge.of(
            "BODY_READS",
            "The query reads too many sources",
            path=f"{path}/reads",
            new=str(len(query.reads)),
            allowed=f"at most {limits.BODY_READS}",
        )


def _refuse_bad_word(rule: str, member: str, word: str, words: Sequence[str]) -> None:
    if word not in words:
        raise InvalidSource.of(
            rule,
            f"'{word[:100]}' is not among {', '.join(words)}",
            path=f"/definition/{member}",
            new=word,
            allowed=f"one of {', '.join(words)}",
        )
