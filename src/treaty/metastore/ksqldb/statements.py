"""Sources and types of ksqlDB as statements of the metastore; `suggestions.py` has the queries."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from treaty.core.column_types import ColumnTypeError, parse_column_type, print_column_type
from treaty.core.column_types.parser import TypeReader
from treaty.core.column_types.tokens import print_text, read_quoted, split_tokens
from treaty.core.sources import ImportedQuery
from treaty.metastore.ksqldb.commands import TABLE, CommandState, KsqlSource
from treaty.metastore.ksqldb.formats import KEY_FORMATS, VALUE_FORMATS, WITHOUT_SCHEMA
from treaty.metastore.ksqldb.suggestions import list_queries, quote

MARK = "from ksqlDB"
"""The comment of what an import has made; nothing else is replaced or dropped by one."""
HEADERS = "ARRAY<STRUCT<key: STRING, value: BINARY>>"
"""The type of a column of all headers here; ksqlDB calls the fields KEY and VALUE."""
_HEADER = re.compile(r"HEADER\s*\(\s*'((?:[^']|'')*)'\s*\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ImportedObject:
    """An object of ksqlDB: its statement here, or why there is none (`reason`)."""

    kind: str
    name: str
    statement: str = ""
    reason: str = ""
    query: ImportedQuery | None = None
    """What writes it in ksqlDB."""
    notes: tuple[str, ...] = ()
    """What of its statement there is left out."""
    definition: str = ""
    """That of a type."""


def list_objects(state: CommandState) -> Iterator[ImportedObject]:
    """Yield types and sources in the order in which they are created; statements that come to nothing are last."""
    for name, definition in state.types.items():
        try:
            printed = print_column_type(parse_column_type(definition))
        except ColumnTypeError as error:
            yield ImportedObject("TYPE", name, reason=f"its definition is no type: {error}")
        else:
            statement = f"CREATE TYPE IF NOT EXISTS {quote(name)} AS {printed} COMMENT {print_text(MARK)}"
            yield ImportedObject("TYPE", name, statement, definition=printed)
    queries = dict(list_queries(state))
    for source in state.sources.values():
        yield replace(describe_source(source), query=queries.get(source.name))
    for statement, reason in state.plain.values():
        yield ImportedObject("STATEMENT", statement[:60], reason=reason)


def describe_source(source: KsqlSource) -> ImportedObject:
    """Return the statement of a source, or why it has none."""
    value, key = VALUE_FORMATS.get(source.value_format), KEY_FORMATS.get(source.key_format)
    if value is None:
        why = WITHOUT_SCHEMA.get(source.value_format, f"the format {source.value_format} is not known")
        return ImportedObject(source.kind, source.name, reason=why)
    if key is None:
        return ImportedObject(
            source.kind, source.name, reason=f"its keys are {source.key_format}, which has no schema here"
        )
    if source.windowed:
        return ImportedObject(
            source.kind,
            source.name,
            reason="its keys have a window, which ksqlDB's own serializers write: recreate it as a query",
        )
    try:
        read = [_column(part, source.kind) for part in split_columns(source.columns)]
    except ColumnTypeError as error:
        return ImportedObject(source.kind, source.name, reason=f"its schema has what is no column: {error}")
    columns = f" ({', '.join(text for text, _ in read)})" if read else ""
    is_inferred = source.infers_key and source.key_format in VALUE_FORMATS
    key = key if is_inferred or any(is_key for _, is_key in read) else "NONE"
    properties = {"KAFKA_TOPIC": source.topic, "KEY_FORMAT": key, "VALUE_FORMAT": value, "TIMESTAMP": source.timestamp}
    properties.update(source.properties)
    words = ", ".join(f"{name} = {print_text(text)}" for name, text in properties.items() if text)
    statement = (
        f"CREATE OR REPLACE {source.kind} {quote(source.name)}{columns} WITH ({words}) COMMENT {print_text(MARK)}"
    )
    notes = tuple(
        f"{name} = {schema_id} of ksqlDB is left out: the source has the newest version of its subject, and that id in another registry may be another schema"
        for name, schema_id in source.schema_ids
    )  # fmt: skip
    return ImportedObject(source.kind, source.name, statement, notes=notes)


def split_columns(text: str) -> list[str]:
    """Return the columns of a schema's text: what stands between commas outside of types and quotes."""
    parts, depth, quoted, begin = [], 0, "", 0
    for at, character in enumerate(text):
        if quoted:
            quoted = "" if character == quoted else quoted
        elif character in "`'\"":
            quoted = character
        else:
            depth += (character in "<(") - (character in ">)")
            if character == "," and depth == 0:
                parts.append(text[begin:at].strip())
                begin = at + 1
    return [one for one in [*parts, text[begin:].strip()] if one]


def _column(text: str, kind: str) -> tuple[str, bool]:
    """Return a column as the text of a statement, and whether it is a key.

    Raises `ColumnTypeError` for a text that is no name with a type, a role, NOT NULL and a comment.
    """
    tokens = split_tokens(text)
    reader = TypeReader(tokens, 1)
    if tokens[0].kind not in {"word", "quoted"}:
        reader.at = 0
        raise reader.refuse(f"{tokens[0].label} stands where the name of a column is expected", "a name")
    name = read_quoted(tokens[0]) if tokens[0].kind == "quoted" else tokens[0].text
    column_type, parts, is_key = print_column_type(reader.read_type()), list[str](), False
    while reader.token.kind != "end":
        header = _HEADER.match(text, reader.token.start)
        if reader.take_words("PRIMARY", "KEY") or reader.take_words("KEY"):
            is_key = True
            parts.append("PRIMARY KEY" if kind == TABLE else "KEY")
        elif reader.take_words("HEADERS"):
            column_type = HEADERS
            parts.append("HEADERS")
        elif header is not None:
            words = header[1].replace("''", "'")
            parts.append(f"HEADER({print_text(words)})")
            while reader.token.kind != "end" and reader.token.start < header.end():
                reader.at += 1
        elif reader.take_words("NOT", "NULL"):
            parts.append("NOT NULL")
        elif comment := reader.read_comment():
            parts.append(f"COMMENT {print_text(comment)}")
        else:
            raise reader.refuse(f"{reader.token.label} follows the end of the column {name}", "the end of the column")
    return " ".join((quote(name), column_type, *parts)), is_key
