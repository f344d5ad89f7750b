"""What a definition of a source has to be, whatever there is, and what its query reads."""

from collections.abc import Sequence

from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.metastore import sql_types
from tests.simulation.judging.model.metastore.names import is_word, refuse_bad_name
from tests.simulation.judging.model.metastore.state import (
    is_pin_of,
    key_of,
    own_pins,
    place_of,
    reaches,
    readers,
    sources,
    types,
)
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.resources import may_bind, may_path
from treaty.core import limits
from treaty.core.messages.metastore import sources as m
from treaty.core.names import Subject
from treaty.core.refusals import (
    Forbidden,
    InvalidSource,
    NotLatest,
    NotPermitted,
    SourceNotFound,
    SourceUsed,
    TooLarge,
    TypeNotFound,
)
from treaty.core.sources import ImportedQuery, QueryPlan, SchemaPin, Source, SourceColumn, SourceRead


def refuse_bad_definition(definition: m.SourceDefinition) -> None:
    """Members in the order of the text: name, kind, connector, statement, columns, properties, key, query."""
    refuse_bad_name(definition.name)
    if definition.kind not in {"STREAM", "TABLE"}:
        raise No(InvalidSource, "SOURCE_KIND")
    if definition.connector not in {"kafka", "files", "delta", "iceberg"}:
        raise No(InvalidSource, "SOURCE_CONNECTOR")
    if len(definition.statement.encode("utf-8", "surrogatepass")) > limits.STATEMENT_BYTES:
        raise No(TooLarge, "STATEMENT_BYTES")
    refuse_bad_columns(definition.columns)
    if len(definition.properties) > limits.SOURCE_PROPERTIES:
        raise No(TooLarge, "SOURCE_PROPERTIES")
    refuse_unknown_columns(definition.columns, definition.timestamp, definition.properties)
    refuse_keyless(definition.kind, definition.columns, definition.query)
    if definition.imported is not None:
        _refuse_bad_import(definition, definition.imported)
    if definition.query is not None:
        _refuse_bad_query(definition.query)
        _refuse_unknown(definition.columns, definition.query.key)


def _refuse_bad_import(definition: m.SourceDefinition, imported: ImportedQuery) -> None:
    """A query of another system has a text, and nothing has planned it."""
    if definition.query is not None or not imported.original:
        raise No(InvalidSource, "IMPORTED_QUERY")
    texts = "".join([imported.original, imported.suggestion, *imported.notes])
    if len(texts.encode("utf-8", "surrogatepass")) > limits.STATEMENT_BYTES:
        raise No(TooLarge, "STATEMENT_BYTES")
    if imported.id and not is_word(imported.id):
        raise No(InvalidSource, "IMPORTED_QUERY")


PSEUDO = {"_topic", "_partition", "_offset", "_timestamp", "_headers", "_schema_id"}
"""What a record has beside its columns."""


def refuse_unknown_columns(
    columns: tuple[SourceColumn, ...], timestamp: str, properties: tuple[tuple[str, str], ...]
) -> None:
    """What is said of columns is said of columns that are there."""
    given = dict(properties)
    named = [timestamp] if timestamp else []
    if "WATERMARK" in given:
        named.append(given["WATERMARK"].partition(" DELAY ")[0])
    if "DEDUPLICATE" in given:
        named += given["DEDUPLICATE"].split(",")
    _refuse_unknown(columns, named)


def _refuse_unknown(columns: tuple[SourceColumn, ...], named: Sequence[str]) -> None:
    if {key_of(name.strip()) for name in named} - PSEUDO - {key_of(column.name) for column in columns}:
        raise No(InvalidSource, "COLUMN_UNKNOWN")


def refuse_bad_columns(columns: tuple[SourceColumn, ...]) -> None:
    if not columns:
        raise No(InvalidSource, "SOURCE_COLUMNS")
    if len(columns) > limits.SOURCE_COLUMNS:
        raise No(TooLarge, "SOURCE_COLUMNS")
    seen = set[str]()
    for column in columns:
        if not is_word(column.name):
            raise No(InvalidSource, "COLUMN_NAME")
        if column.name.lower() in seen:
            raise No(InvalidSource, "COLUMN_TWICE")
        seen.add(column.name.lower())
        if column.role not in {"value", "key", "header"}:
            raise No(InvalidSource, "COLUMN_ROLE")
        sql_types.parse(column.type, "COLUMN_TYPE")


def refuse_keyless(kind: str, columns: tuple[SourceColumn, ...], query: QueryPlan | None) -> None:
    """A table has a key: of its records, or of its query."""
    keyed = any(column.role == "key" for column in columns) or (query is not None and query.key)
    if kind == "TABLE" and not keyed:
        raise No(InvalidSource, "TABLE_KEY")


def _refuse_bad_query(query: QueryPlan) -> None:
    if not query.body.strip():
        raise No(InvalidSource, "QUERY_BODY")
    if query.output_mode not in {"append", "update", "complete"}:
        raise No(InvalidSource, "QUERY_MODE")
    if not query.reads:
        raise No(InvalidSource, "QUERY_READS")
    if len(query.reads) > limits.BODY_READS:
        raise No(TooLarge, "BODY_READS")


def types_in(past: Past, columns: tuple[SourceColumn, ...]) -> tuple[str, ...]:
    """Keys of the types that columns use; they have to be there, and not too deep when all is told."""
    read = sql_types.column_types(columns)
    keys = set[str]().union(*map(sql_types.named_in, read))
    sql_types.refuse_missing(past, keys)
    for part in read:
        sql_types.refuse_deep(past, part)
    return tuple(sorted(keys))


# ----------------------------------------------------------------------------------------------------------- reads


def refuse_bad_reads(past: Past, asking: Asking, key: str, reads: tuple[SourceRead, ...]) -> None:
    """What is read is there, is that generation, is not read in a circle, and its topic may be read."""
    there = sources(past)
    for read in reads:
        if read.source == key:
            raise No(InvalidSource, "READ_ITSELF")
        source = there.get(read.source)
        if source is None:
            raise No(SourceNotFound, "READ_NOT_FOUND")
        if source.generation != read.generation:
            raise No(NotLatest, "READ_GENERATION")
        if source.revision != read.revision:
            raise No(NotLatest, "READ_REVISION")
        refuse_topic_of_read(asking, source)
        if any(pin is not None and pin not in own_pins(source) for pin in (read.key, read.value)):
            raise No(NotLatest, "READ_PIN")


def refuse_topic_of_read(asking: Asking, source: Source) -> None:
    """Who reads a source over a topic may read the topic."""
    place = place_of(source)
    if source.connector != "kafka" and source.place and asking.access is not None:
        if not may_path(asking.access, "query", source.place):
            raise No(Forbidden, "RIGHTS")
        return
    if (
        asking.access is not None
        and place is not None
        and not may_bind(asking.access, (place[1], "", "value"), "query")
    ):
        raise No(Forbidden, "RIGHTS")


def refuse_other_types(past: Past, wanted: tuple[m.ExpectedType, ...]) -> None:
    """Types with which a request was made are there, and are the same ones."""
    for one in wanted:
        there = types(past).get(key_of(one.name))
        if there is None:
            raise No(TypeNotFound, "TYPE_NOT_FOUND")
        if there.generation != one.generation:
            raise No(NotLatest, "TYPE_GENERATION")


def refuse_circle(past: Past, key: str, reads: tuple[SourceRead, ...]) -> None:
    """Nothing reads what is made of its own result."""
    if any(reaches(past, read.source, key) for read in reads):
        raise No(NotPermitted, "READ_CYCLE")


def refuse_dead_pins(past: Past, source: Source) -> None:
    """Its own pins are live versions."""
    for pin in own_pins(source):
        refuse_dead_pin(past, pin)


def refuse_dead_pin(past: Past, pin: SchemaPin) -> None:
    there = past.of(Subject(pin.context, pin.subject))
    live = [one for one in there if one.state == "live" and one.schema_id == pin.schema_id and is_pin_of(pin, one)]
    if not any(one.ordinal == pin.ordinal for one in live):
        raise No(NotLatest, "PIN_NOT_LIVE")


# --------------------------------------------------------------------------------------------------------- readers


def refuse_lost_columns(past: Past, key: str, old: Source, columns: tuple[SourceColumn, ...]) -> None:
    """A column that somebody reads stays, with its type and its place in a record."""
    now = {key_of(column.name): (column.type, column.role, column.header) for column in columns}
    before = {key_of(column.name): (column.type, column.role, column.header) for column in old.columns}
    changed = {name for name, kind in before.items() if now.get(name) != kind}
    for reader in readers(past, key):
        query = sources(past)[reader].query
        for read in () if query is None else query.plan.reads:
            wanted = {key_of(path.partition(".")[0]) for path in read.columns} or changed
            if read.source == key and wanted & changed:
                raise No(SourceUsed, "COLUMN_READ")
