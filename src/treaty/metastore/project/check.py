"""What the rows of a metastore are bound to, compared with what is there: pins, reads, types, bad rows and topics."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from treaty.core.column_types.tokens import print_name
from treaty.core.messages.names import GetPin
from treaty.core.messages.schemas import GetSchema
from treaty.core.names import Subject
from treaty.core.refusals import NotFound
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import SchemaPin, Source, SourcePart, SourceRead, StoredType
from treaty.core.state.metastore.indexes import pins_of, reads_of
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.pages import list_sources, list_types

PROBLEM, NOTE = "problem", "note"
CHECK_RULES: Mapping[str, str] = {
    "PIN_GONE": "a source is bound to a version that is gone",
    "PIN_DELETED": "a source is bound to a version that was deleted softly",
    "PIN_OLDER": "the subject of a source has a later version than the source is bound to",
    "READ_MISSING": "a query reads a source that is not there",
    "READ_GENERATION": "a query reads a source that was dropped and created again",
    "READ_PIN": "a query was planned with other schemas than its sources have now",
    "TYPE_MISSING": "a column or a type names a type that is not there",
    "BAD_ROWS_MISSING": "a source says BAD_ROWS and has no stream of them",
    "BAD_ROWS_LEFT": "a stream of bad rows belongs to a source that is not there",
    "TOPIC_FORMATS": "sources over one topic read its values in different formats",
}
"""What a check of the metastore reports."""


@dataclass(frozen=True, slots=True)
class MetastoreFinding:
    """A difference between a row and what it is bound to. `severity` is problem or note, `rule` one of `CHECK_RULES`."""

    severity: str
    rule: str
    kind: str
    name: str
    message: str
    remedy: str


def check_metastore() -> Exchange[tuple[MetastoreFinding, ...]]:
    """Return what is wrong with the rows that the caller may see, and what could be fresher, by name."""
    sources = yield from list_sources()
    types = yield from list_types()
    pins = yield from check_pins(sources)
    return tuple(
        sorted([*check_rows(sources, types), *pins], key=lambda one: (key_of_name(one.name), one.rule, one.message))
    )


def check_rows(sources: Sequence[Source], types: Sequence[StoredType]) -> Iterator[MetastoreFinding]:
    """Yield what rows say of each other and what is not so: reads, types, bad rows and topics."""
    by_key = {key_of_name(source.name): source for source in sources}
    yield from _check_types(sources, types)
    yield from _check_bad_rows(by_key)
    yield from _check_topics(sources)
    for source in sources:
        for read in reads_of(source):
            yield from _check_read(source, read, by_key)


def check_pins(sources: Sequence[Source]) -> Exchange[tuple[MetastoreFinding, ...]]:
    """Return the pins of sources that are no live versions, and those that are not the latest."""
    findings: list[MetastoreFinding] = []
    latest: dict[Subject, SchemaPin | None] = {}
    for source in sources:
        for pin in pins_of(source):
            finding = yield from _check_pin(source, pin, latest)
            if finding is not None:
                findings.append(finding)
    return tuple(findings)


def _problem(rule: str, source: Source | StoredType, message: str, remedy: str) -> MetastoreFinding:
    return MetastoreFinding(PROBLEM, rule, getattr(source, "kind", "TYPE"), source.name, message, remedy)


# ------------------------------------------------------------------------------------------------------------ pins


def _check_pin(
    source: Source, pin: SchemaPin, latest: dict[Subject, SchemaPin | None]
) -> Exchange[MetastoreFinding | None]:
    subject = Subject(pin.context, pin.subject)
    if subject not in latest:
        latest[subject] = yield from _find_pin(GetPin(subject))
    newest = latest[subject]
    own = newest if newest == pin else (yield from _find_pin(GetPin(subject, schema_id=pin.schema_id)))
    named = f"{subject} (id {pin.schema_id})"
    if own is None or own.generation != pin.generation:
        if own is None and (yield from _has_schema(pin)):
            message = f"it is bound to a version of {named} that was deleted softly"
            remedy = "register the schema again, or bind the source to a live version with CREATE OR REPLACE"
            return _problem("PIN_DELETED", source, message, remedy)
        message = f"it is bound to a version of {named} that is gone: the subject was removed, or is another one now"
        return _problem("PIN_GONE", source, message, "CREATE OR REPLACE with a schema that is there")
    if newest is not None and newest.ordinal > pin.ordinal and pin in _own_pins(source) and source.query is None:
        message = f"{subject} has a later version than the one that it is bound to (id {newest.schema_id})"
        remedy = f"ALTER {source.kind} {print_name(source.name)} REFRESH SCHEMA takes its columns"
        return MetastoreFinding(NOTE, "PIN_OLDER", source.kind, source.name, message, remedy)
    return None


def _find_pin(request: GetPin) -> Exchange[SchemaPin | None]:
    try:
        pin = yield from request_answer(request)
    except NotFound:
        return None
    version = pin.version
    return SchemaPin(*request.subject, pin.generation, version.ordinal, version.schema_id)


def _has_schema(pin: SchemaPin) -> Exchange[bool]:
    try:
        yield from request_answer(GetSchema(pin.schema_id, Subject(pin.context, "")))
    except NotFound:
        return False
    return True


def _own_pins(source: Source) -> tuple[SchemaPin, ...]:
    parts: tuple[SourcePart | None, ...] = (source.key, source.value)
    return tuple(part.pin for part in parts if part is not None and part.pin is not None)


# ------------------------------------------------------------------------------------------------- reads and types


def _check_read(source: Source, read: SourceRead, by_key: Mapping[str, Source]) -> Iterator[MetastoreFinding]:
    upstream = by_key.get(key_of_name(read.source))
    again = f"CREATE OR REPLACE {source.kind} {print_name(source.name)} AS … plans its query again"
    if upstream is None:
        message = f"its query reads {read.source}, which is not there, or not yours to see"
        yield _problem(
            "READ_MISSING",
            source,
            message,
            f"UNDROP {print_name(read.source)}, or DROP {source.kind} {print_name(source.name)}",
        )
    elif read.generation not in {upstream.generation, *upstream.former}:
        message = f"its query reads {upstream.name}, which was dropped and created again"
        yield _problem("READ_GENERATION", source, message, again)
    elif not {pin for pin in (read.key, read.value) if pin is not None} <= set(_own_pins(upstream)):
        message = f"its query was planned with another schema of {upstream.name} than {upstream.name} has now"
        yield MetastoreFinding(NOTE, "READ_PIN", source.kind, source.name, message, again)


def _check_types(sources: Sequence[Source], types: Sequence[StoredType]) -> Iterator[MetastoreFinding]:
    keys = {key_of_name(type_.name) for type_ in types}
    users: tuple[Source | StoredType, ...] = (*sources, *types)
    for user in users:
        for name in user.types:
            if name not in keys:
                yield _problem(
                    "TYPE_MISSING",
                    user,
                    f"it names the type {name}, which is not there",
                    f"CREATE TYPE {print_name(name)}",
                )


def _check_bad_rows(by_key: Mapping[str, Source]) -> Iterator[MetastoreFinding]:
    collected = {source.origin for source in by_key.values() if source.origin}
    for key, source in by_key.items():
        if source.origin and source.origin not in by_key:
            message = f"it has the bad rows of {source.origin}, which is not there"
            yield _problem("BAD_ROWS_LEFT", source, message, f"DROP STREAM {print_name(source.name)}")
        if dict(source.properties).get("BAD_ROWS") == "true" and key not in collected:
            message = "it says BAD_ROWS = true, and no stream has its bad rows"
            yield _problem(
                "BAD_ROWS_MISSING",
                source,
                message,
                f"UNDROP STREAM {print_name(f'{source.name}_bad')}, or CREATE OR REPLACE of it",
            )


def _check_topics(sources: Sequence[Source]) -> Iterator[MetastoreFinding]:
    topics: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        if source.connector == "kafka" and source.place and source.value is not None:
            topics.setdefault((source.cluster, source.place), []).append(source)
    for (_, topic), readers in topics.items():
        first = readers[0]
        for source in readers[1:]:
            ways = [(one.value.format, one.value.framing) for one in (first, source) if one.value is not None]
            if ways[0] != ways[1]:
                message = f"it reads the values of the topic {topic} as {' '.join(ways[1])}, and {first.name} as {' '.join(ways[0])}"
                yield _problem("TOPIC_FORMATS", source, message, "one format and framing for a topic, or another topic")
