"""Statements that ask: the requests that they make, and what builds their entities."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from treaty.api.ksqldb import entities as e
from treaty.api.ksqldb.bodies import KsqlEntity
from treaty.core.handlers.metastore.names import refuse_other_kind
from treaty.core.limits import RESULT_ROWS
from treaty.core.messages.metastore.sources import DescribeSource, SourceFound
from treaty.core.refusals import NotOffered
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import Source
from treaty.core.state.metastore.indexes import reads_of
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.pages import list_sources, list_types
from treaty.metastore.execution.topic_statements import show_topics
from treaty.metastore.sql.properties import PROPERTIES
from treaty.metastore.sql.statements import DescribeStatement, ShowStatement, SqlStatement

T = TypeVar("T")
BuildEntity = Callable[[], KsqlEntity]
"""Builds the entity of a statement from the rows that it needs."""


def answer_question(statement: SqlStatement, sent: str) -> Exchange[BuildEntity]:
    """Ask what a statement needs that `is_question` names, and return what builds its entity, without any more questions."""
    if isinstance(statement, DescribeStatement):
        return (yield from _describe(statement, sent))
    assert isinstance(statement, ShowStatement), "there are no other questions"
    return (yield from _SHOWN[statement.listing](statement, sent))


def is_question(statement: SqlStatement) -> bool:
    """Say whether a statement only asks, and ksqlDB has an entity for what it asks."""
    if isinstance(statement, DescribeStatement):
        return statement.kind != "TYPE"
    return isinstance(statement, ShowStatement) and statement.listing in _SHOWN


def _show_streams(statement: ShowStatement, sent: str) -> Exchange[BuildEntity]:
    return (yield from _show_sources("STREAM", "streams", statement, sent))


def _show_tables(statement: ShowStatement, sent: str) -> Exchange[BuildEntity]:
    return (yield from _show_sources("TABLE", "tables", statement, sent))


def _show_sources(kind: str, name: str, statement: ShowStatement, sent: str) -> Exchange[BuildEntity]:
    sources, warnings = _first_rows((yield from list_sources(kind)))
    if not statement.extended:
        return lambda: e.entity(name, sent, warnings, **{name: [e.source_entry(source) for source in sources]})
    stored = yield from list_types()

    def build() -> KsqlEntity:
        types = e.known_types(stored)
        described = [e.describe_source(SourceFound(source), types, extended=True) for source in sources]
        return e.entity("source_descriptions", sent, warnings, sourceDescriptions=described)

    return build


def _show_queries(_statement: ShowStatement, sent: str) -> Exchange[BuildEntity]:
    writers = [source for source in (yield from list_sources()) if e.has_query(source)]
    sources, warnings = _first_rows(writers)
    return lambda: e.entity("queries", sent, warnings, queries=[e.query_entry(source) for source in sources])


def _show_types(_statement: ShowStatement, sent: str) -> Exchange[BuildEntity]:
    stored, warnings = _first_rows((yield from list_types()))

    def build() -> KsqlEntity:
        types = e.known_types(stored)
        return e.entity(
            "type_list", sent, warnings, types={type_.name: e.type_body(type_.definition, types) for type_ in stored}
        )

    return build


def _show_topics(_statement: ShowStatement, sent: str) -> Exchange[BuildEntity]:
    """The topics of sources: with their replicas where the server knows their clusters."""
    try:
        listing = yield from show_topics(extended=True)
    except NotOffered:
        listing = yield from show_topics(extended=False)
    rows = [dict(zip(listing.columns, row, strict=True)) for row in listing.rows]
    topics, warnings = _first_rows([row for row in rows if row["sources"]])
    return lambda: e.entity("kafka_topics", sent, warnings, topics=[e.topic_entry(row) for row in topics])


def _show_properties(_statement: ShowStatement, sent: str) -> Exchange[BuildEntity]:
    """The properties of sources, with what values they take: a server's own settings are not shown."""
    yield from ()
    listed = [
        {"name": name, "scope": "SOURCE", "value": ", ".join(about.allowed)}
        for name, about in sorted(PROPERTIES.items())
    ]
    return lambda: e.entity("properties", sent, properties=listed, overwrittenProperties=[], defaultProperties=[])


def _describe(statement: DescribeStatement, sent: str) -> Exchange[BuildEntity]:
    described = yield from request_answer(DescribeSource(statement.name))
    refuse_other_kind(described.source, statement.kind, "DESCRIBE")
    stored = (yield from list_types()) if described.source.types else ()
    readers = (yield from _list_readers(described.source)) if described.readers else []

    def build() -> KsqlEntity:
        body = e.describe_source(described, e.known_types(stored), readers, extended=statement.extended)
        return e.entity("sourceDescription", sent, sourceDescription=body)

    return build


def _list_readers(source: Source) -> Exchange[list[Source]]:
    """Return the sources whose queries read a source."""
    key = key_of_name(source.name)
    sources = yield from list_sources(queries=True)
    return [source for source in sources if any(key_of_name(read.source) == key for read in reads_of(source))]


def _first_rows(rows: Sequence[T]) -> tuple[Sequence[T], tuple[str, ...]]:
    """Return the first RESULT_ROWS rows, with a warning where there are more."""
    if len(rows) <= RESULT_ROWS:
        return rows, ()
    return rows[:RESULT_ROWS], (f"only the first {RESULT_ROWS} of {len(rows)} entries are here (limit RESULT_ROWS)",)


_SHOWN: Mapping[str, Callable[[ShowStatement, str], Exchange[BuildEntity]]] = {
    "STREAMS": _show_streams,
    "TABLES": _show_tables,
    "QUERIES": _show_queries,
    "TYPES": _show_types,
    "TOPICS": _show_topics,
    "PROPERTIES": _show_properties,
}
"""By what a SHOW shows."""
