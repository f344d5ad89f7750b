"""Sources and types of ksqlDB as statements of the metastore, and queries as suggestions for Spark."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from treaty.core.column_types import ColumnTypeError, parse_column_type, print_column_type
from treaty.core.column_types.parser import TypeReader
from treaty.core.column_types.tokens import print_text, read_quoted, split_tokens
from treaty.metastore.ksqldb.commands import STREAM, TABLE, CommandState, KsqlSource

VALUE_FORMATS: Mapping[str, str] = {"AVRO": "AVRO", "PROTOBUF": "PROTOBUF", "JSON_SR": "JSON"}
"""Formats of values that have a schema in the registry, by ksqlDB's name."""
KEY_FORMATS: Mapping[str, str] = {**VALUE_FORMATS, "KAFKA": "KAFKA", "NONE": "NONE", "": "NONE"}
WITHOUT_SCHEMA: Mapping[str, str] = {
    "JSON": "its values are JSON without a schema: register one for the topic's values and write them as JSON_SR, or read the topic by a query",
    "DELIMITED": "its values are DELIMITED, which has no schema: write the topic as AVRO, JSON_SR or PROTOBUF",
    "KAFKA": "its value is a primitive of Kafka without a schema: write it as AVRO",
    "NONE": "it has no values",
    "PROTOBUF_NOSR": "its values are Protobuf without the registry: write it as PROTOBUF",
}
MARK = "from ksqlDB"
"""The comment of what an import has made; nothing else is replaced or dropped by one."""
_KEY = re.compile(r"\s+(?:PRIMARY\s+)?KEY\s*$", re.IGNORECASE)
_HEADER = re.compile(r"HEADER\s*\(\s*'([^']*)'\s*\)\s*", re.IGNORECASE)
_REPLACED = (
    (r"\s*EMIT\s+(?:CHANGES|FINAL)\s*;?\s*$", "", ""),
    (r"\bWINDOW\s+TUMBLING\s*\(\s*SIZE\s+(\d+)\s+(\w+)[^)]*\)", "", "GROUP BY window(_timestamp, '{0} {1}') stands for the tumbling window"),
    (r"\bWINDOW\s+HOPPING\s*\(\s*SIZE\s+(\d+)\s+(\w+)\s*,\s*ADVANCE\s+BY\s+(\d+)\s+(\w+)[^)]*\)", "", "GROUP BY window(_timestamp, '{0} {1}', '{2} {3}') stands for the hopping window"),
    (r"\bWINDOW\s+SESSION\s*\(\s*(\d+)\s+(\w+)[^)]*\)", "", "GROUP BY session_window(_timestamp, '{0} {1}') stands for the session window"),
    (r"\bWITHIN\s+[^)]*?(?=\bON\b)", "", "WITHIN becomes a condition on the times of both sides, and both have a WATERMARK"),
    (r"\bLATEST_BY_OFFSET\s*\(", "last(", ""),
    (r"\bEARLIEST_BY_OFFSET\s*\(", "first(", ""),
    (r"\bCOLLECT_LIST\s*\(", "collect_list(", ""),
    (r"\bTOPK\s*\(", "max_by(", "TOPK keeps several values, max_by one"),
    (r"\bAS\s+(?:VARCHAR|STRING)\b", "AS STRING", ""),
    (r"\bAS\s+INTEGER\b", "AS INT", ""),
    (r"\bUCASE\s*\(", "upper(", ""),
    (r"\bLCASE\s*\(", "lower(", ""),
    (r"\bLEN\s*\(", "length(", ""),
    (r"\bIFNULL\s*\(", "coalesce(", ""),
    (r"\bROWTIME\b", "_timestamp", ""),
    (r"\bWINDOWSTART\b", "window.start", ""),
    (r"\bWINDOWEND\b", "window.end", ""),
    (r"\bROWPARTITION\b", "_partition", ""),
    (r"\bROWOFFSET\b", "_offset", ""),
    (r"->", ".", ""),
)  # fmt: skip
"""A word of ksqlDB's SQL, that of Spark's, and a note."""


@dataclass(frozen=True, slots=True)
class ImportedObject:
    """An object of ksqlDB: its statement here, or why there is none (`reason`)."""

    kind: str
    name: str
    statement: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ImportedQuery:
    """A query of ksqlDB, which is not taken: its text, and a statement to begin with."""

    name: str
    query_id: str
    original: str
    suggestion: str
    notes: tuple[str, ...] = ()


def list_objects(state: CommandState) -> Iterator[ImportedObject]:
    """Yield types and sources in the order in which they are created; plain statements come last."""
    for name, definition in state.types.items():
        try:
            printed = print_column_type(parse_column_type(definition))
        except ColumnTypeError as wrong:
            yield ImportedObject("TYPE", name, reason=f"its definition is no type: {wrong}")
        else:
            statement = f"CREATE TYPE IF NOT EXISTS {quote(name)} AS {printed} COMMENT {print_text(MARK)}"
            yield ImportedObject("TYPE", name, statement)
    for source in state.sources.values():
        yield describe_source(source)
    for statement in state.plain.values():
        yield ImportedObject(
            "STATEMENT",
            statement[:60],
            "",
            "a plain statement of an old version: send it here yourself, and see what it says",
        )


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
    parts = split_columns(source.columns)
    if not any(map(_KEY.search, parts)):
        key = "NONE"
    try:
        columns = ", ".join(_column(part, source.kind) for part in parts)
    except ColumnTypeError as wrong:
        return ImportedObject(source.kind, source.name, reason=f"its schema has what is no column: {wrong}")
    more = {"KAFKA_TOPIC": source.topic, "KEY_FORMAT": key, "VALUE_FORMAT": value, "TIMESTAMP": source.timestamp}
    words = ", ".join(f"{name} = {print_text(text)}" for name, text in more.items() if text)
    statement = (
        f"CREATE OR REPLACE {source.kind} {quote(source.name)} ({columns}) WITH ({words}) COMMENT {print_text(MARK)}"
    )
    return ImportedObject(source.kind, source.name, statement)


def split_columns(text: str) -> list[str]:
    """Return the columns of a schema's text: what stands between commas outside of types and quotes."""
    parts, depth, quoted, begin = [], 0, False, 0
    for at, character in enumerate(text):
        if character == "`":
            quoted = not quoted
        elif not quoted:
            depth += (character in "<(") - (character in ">)")
            if character == "," and depth == 0:
                parts.append(text[begin:at].strip())
                begin = at + 1
    return [one for one in [*parts, text[begin:].strip()] if one]


def _column(text: str, kind: str) -> str:
    """Return a column as the text of a statement. Raises `ColumnTypeError` for a text that is no name with a type and a role."""
    tokens = split_tokens(text)
    reader = TypeReader(tokens, 1)
    if tokens[0].kind not in {"word", "quoted"}:
        reader.at = 0
        raise reader.refuse(f"{tokens[0].label} stands where the name of a column is expected", "a name")
    name = read_quoted(tokens[0]) if tokens[0].kind == "quoted" else tokens[0].text
    column_type, role = print_column_type(reader.read_type()), ""
    if reader.take_words("PRIMARY", "KEY") or reader.take_words("KEY"):
        role = " PRIMARY KEY" if kind == TABLE else " KEY"
    elif reader.take_words("HEADERS"):
        role = " HEADERS"
    elif match := _HEADER.fullmatch(text[reader.token.start :]):
        return f"{quote(name)} {column_type} HEADER({print_text(match[1])})"
    if reader.token.kind != "end":
        raise reader.refuse(f"{reader.token.label} follows the end of the column {name}", "the end of the column")
    return f"{quote(name)} {column_type}{role}"


def quote(name: str) -> str:
    """Return a name between back quotes."""
    return "`" + name.replace("`", "``") + "`"


def list_queries(state: CommandState) -> Iterator[ImportedQuery]:
    """Yield the queries, with statements for Spark to begin with."""
    streams = {name.upper() for name, one in state.sources.items() if one.kind == STREAM}
    for source in state.sources.values():
        if source.query:
            yield suggest(source.name, source.kind, source.query_id, source.query, streams)
    for query_id, (sink, text) in state.inserts.items():
        found = suggest(sink, STREAM, query_id, text, streams)
        note = f"INSERT INTO is a branch of the query of {sink}: put its SELECT behind UNION ALL there"
        yield ImportedQuery(found.name, query_id, text, found.suggestion, (note, *found.notes))


def suggest(name: str, kind: str, query_id: str, text: str, streams: set[str]) -> ImportedQuery:
    """Return a query with a statement to begin with: its SELECT in Spark's words, as far as they differ by a word."""
    found = re.search(r"\bSELECT\b", text, re.IGNORECASE)
    body = text[found.start() :].strip().rstrip(";") if found else text
    notes = []
    for pattern, word, note in _REPLACED:
        for match in re.finditer(pattern, body, re.IGNORECASE) if note else ():
            notes.append(note.format(*match.groups()))
        body = re.sub(pattern, word, body, flags=re.IGNORECASE).strip()

    def read(match: re.Match[str]) -> str:
        named = match[2].strip("`").upper()
        return f"{match[1]} {'STREAM ' if named in streams else ''}{match[2]}"

    body = re.sub(r"\b(FROM|JOIN)\s+(`[^`]+`|\w+)", read, body, flags=re.IGNORECASE)
    return ImportedQuery(
        name, query_id, text, f"CREATE OR REPLACE {kind} {quote(name)} AS {body}", tuple(dict.fromkeys(notes))
    )
