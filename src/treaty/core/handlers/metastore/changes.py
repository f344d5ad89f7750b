"""Sources are changed in place: columns, properties, schema, name, protection and the desired state of the query."""

from dataclasses import replace

from treaty.core import limits
from treaty.core.command import Command, Decision, StagedView
from treaty.core.handlers.metastore.checkpoints.restarts import restart_query
from treaty.core.handlers.metastore.creation import describe_stored, refuse_unexpected
from treaty.core.handlers.metastore.definitions import (
    column_twice,
    refuse_bad_columns,
    refuse_keyless,
    refuse_long_statement,
    refuse_unknown_columns,
    types_in,
)
from treaty.core.handlers.metastore.names import find_source, refuse_other_kind
from treaty.core.handlers.metastore.pins import refuse_dead_pin, register_parts
from treaty.core.handlers.metastore.places.topics import expired_rows, topic_with
from treaty.core.handlers.metastore.renames import put_renamed, refuse_unfit_name, swap_sources
from treaty.core.handlers.metastore.replacement import of_bad_rows, refuse_read_columns
from treaty.core.handlers.metastore.types import refuse_other_types, refuse_unfit_columns
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    SetSourceState,
    SourceColumnChange,
    SourceStored,
    digest_statement,
)
from treaty.core.refusals import InvalidSource, NotPermitted, TooLarge
from treaty.core.schema import Pairs
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import RUNNING, STATES, Source, SourceColumn
from treaty.core.state.metastore.keys import SourceKey, key_of_name
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.rows import make_row
from treaty.core.state.view import View


def change_source(view: View, command: Command[ChangeSource], engine: SchemaEngine) -> Decision[SourceStored]:
    """Change a source in place."""
    request = command.request
    key, stored = find_source(view, request.name)
    refuse_other_kind(stored, request.kind, "ALTER")
    refuse_unexpected(stored, request.expected)
    refuse_long_statement(request.statement, "/statement")
    if request.swap:
        return swap_sources(view, command, engine)
    if request.restart or request.cascade:
        return restart_query(view, command, engine)
    _refuse_bad_rows(stored, request)
    refuse_other_types(view, request.types)
    source = _with_columns(view, command, key, stored)
    source = replace(
        source,
        properties=_with_properties(stored.properties, request.properties),
        protected=stored.protected if request.protect is None else request.protect,
        comment=stored.comment if request.comment is None else request.comment,
    )
    if (source.columns, source.properties) != (stored.columns, stored.properties):
        refuse_unknown_columns(source.columns, source.timestamp, source.properties)
    stage = StagedView(view, command, engine, "change-source", request.dry_run)
    parts = register_parts(stage, (request.key, request.key_schema), (request.value, request.value_schema))
    source = replace(source, key=parts[0] or stored.key, value=parts[1] or stored.value)
    for part in parts:
        refuse_dead_pin(stage.view, part)
    if _defines(source) != _defines(stored):
        source = replace(source, revision=stored.revision + 1)
    if request.rename and request.rename != stored.name:
        refuse_unfit_name(view, key, request.rename)
        source = replace(source, name=request.rename)
    if source == stored:
        return Decision((), describe_stored(stored))
    source = replace(source, changed_by=command.principal, changed=command.time)
    notes: tuple[str, ...] = ()
    if source.name != stored.name:
        notes = put_renamed(stage, {key: source}, "/rename")
    else:
        stage.put((make_row(SOURCE, key, source),))
        stage.put(topic_with(stage.view, source, key, present=True))
    stage.put(expired_rows(view, command.time))
    answer = describe_stored(source, replaced=True, notes=notes)
    answer = replace(answer, statement=digest_statement(request.statement))
    return Decision(stage.rows, answer, rehearsal=request.dry_run)


def _refuse_bad_rows(stored: Source, request: ChangeSource) -> None:
    """Raise `NotPermitted` for a stream of bad rows: the source whose rows it has decides all but protection and comment."""
    if stored.origin and (request.columns or request.properties or request.key or request.value or request.rename):
        raise of_bad_rows(stored, "/name")


def _defines(source: Source) -> tuple[object, ...]:
    return source.columns, source.properties, source.key, source.value


def _with_columns(view: View, command: Command[ChangeSource], key: SourceKey, stored: Source) -> Source:
    changes = command.request.columns
    if not changes:
        return stored
    if stored.query is not None:
        raise NotPermitted.of(
            "QUERY_COLUMNS",
            f"The columns of {stored.name} are those of its query",
            path="/columns",
            allowed="CREATE OR REPLACE with another query",
        )
    columns = stored.columns
    for place, change in enumerate(changes):
        columns = _change_columns(columns, change, f"/columns/{place}")
    refuse_bad_columns(columns)
    refuse_keyless(stored.name, stored.kind, columns, grouped=False)
    types = types_in(columns)
    refuse_unfit_columns(view, columns)
    refuse_read_columns(view, command.access, key, stored.columns, columns)
    return replace(stored, columns=columns, types=types)


def _change_columns(
    columns: tuple[SourceColumn, ...], change: SourceColumnChange, path: str
) -> tuple[SourceColumn, ...]:
    name = change.column.name
    place = next((at for at, column in enumerate(columns) if key_of_name(column.name) == key_of_name(name)), None)
    if change.op == "add":
        if place is not None:
            raise column_twice(name, path)
        return (*columns, change.column)
    if place is None:
        raise InvalidSource.of(
            "COLUMN_NOT_FOUND",
            f"There is no column {name}",
            path=path,
            new=name,
            allowed="a column that DESCRIBE shows",
        )
    rest = columns[place + 1 :]
    return (*columns[:place], *rest) if change.op == "drop" else (*columns[:place], change.column, *rest)


def _with_properties(stored: Pairs, changes: Pairs) -> Pairs:
    merged = {**dict(stored), **dict(changes)}
    properties = tuple(sorted((name, text) for name, text in merged.items() if text))
    if len(properties) > limits.SOURCE_PROPERTIES:
        raise TooLarge.of(
            "SOURCE_PROPERTIES",
            "The source has too many properties",
            path="/properties",
            new=str(len(properties)),
            allowed=f"at most {limits.SOURCE_PROPERTIES}",
        )
    return properties if changes else stored


def set_state(view: View, command: Command[SetSourceState], engine: SchemaEngine) -> Decision[SourceStored]:
    """Pause or resume the query of a source."""
    request = command.request
    key, stored = find_source(view, request.name)
    if stored.query is None and stored.imported is not None:
        if request.state != RUNNING:
            return Decision((), describe_stored(stored))
        raise NotPermitted.of(
            "QUERY_NOT_PLANNED",
            f"The query of {stored.name} comes from another system, and nothing has planned it",
            path="/state",
            old=stored.imported.original[:1000],
            new=request.state,
            allowed=f"replace it first, for example: {stored.imported.suggestion[:2000]}",
        )
    if stored.query is None:
        raise InvalidSource.of(
            "QUERY_NONE",
            f"{stored.name} has no query",
            path="/name",
            new=request.name,
            allowed="a stream or table that was made with AS",
        )
    if request.state not in STATES:
        raise InvalidSource.of(
            "QUERY_STATE_WORD",
            f"'{request.state[:100]}' is no state",
            path="/state",
            new=request.state,
            allowed=f"one of {', '.join(STATES)}",
        )
    if stored.desired == request.state:
        return Decision((), describe_stored(stored))
    source = replace(stored, desired=request.state, changed_by=command.principal, changed=command.time)
    rows = (make_row(SOURCE, key, source), *expired_rows(view, command.time))
    return Decision(rows, describe_stored(source, replaced=True), rehearsal=request.dry_run)
