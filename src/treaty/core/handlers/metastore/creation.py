"""A source is created or replaced: its row, the schemas of its key and value, and what belongs to it, in one commit."""

from collections.abc import Mapping
from dataclasses import replace

from treaty.core import limits
from treaty.core.command import Command, Decision, StagedView
from treaty.core.handlers.metastore.checkpoints.assessment import assess_change, describe_policy
from treaty.core.handlers.metastore.checkpoints.continuation import replaced_query, without_revisions
from treaty.core.handlers.metastore.checkpoints.followers import describe_followers, follow_exchange
from treaty.core.handlers.metastore.checkpoints.once_queries import add_once_query
from treaty.core.handlers.metastore.definitions import BAD_COLUMNS, BAD_SUFFIX, refuse_bad_definition, types_in
from treaty.core.handlers.metastore.names import refuse_bad_name, refuse_taken_source, source_exists, source_key
from treaty.core.handlers.metastore.pins import refuse_dead_pin, register_parts
from treaty.core.handlers.metastore.places.sinks import refuse_unfit_place
from treaty.core.handlers.metastore.places.topics import KAFKA, expired_rows, refuse_reserved_topic, topic_with
from treaty.core.handlers.metastore.reads import refuse_unfit_reads
from treaty.core.handlers.metastore.replacement import (
    describe_column_changes,
    refuse_read_columns,
    refuse_unlike_source,
)
from treaty.core.handlers.metastore.types import refuse_other_types, refuse_unfit_columns
from treaty.core.messages.metastore.assessments import ChangeAssessment
from treaty.core.messages.metastore.sources import (
    CreateSource,
    ExpectedSource,
    SourceDefinition,
    SourceStored,
    digest_statement,
)
from treaty.core.refusals import NotLatest, Refusal, SourceExists, TooLarge
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import CASCADE, PAUSED, RUNNING, Incarnation, Source
from treaty.core.state.metastore.indexes import SOURCE_BY_ORIGIN
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.rows import Row, make_row
from treaty.core.state.view import View


def create_source(view: View, command: Command[CreateSource], engine: SchemaEngine) -> Decision[SourceStored]:
    """Create a source, or replace its definition."""
    request = command.request
    defined, key = request.definition, source_key(request.definition.name)
    refuse_bad_definition(defined)
    if defined.connector == KAFKA:
        refuse_reserved_topic(command, defined.place, "/definition/place")
    stored = view.get(SOURCE, key)
    if stored is not None and request.if_not_exists:
        return Decision((), describe_stored(stored, notes=(f"There is a {stored.kind.lower()} {stored.name} already",)))
    if stored is not None and not request.replace:
        raise source_exists(defined.name, stored)
    refuse_unexpected(stored, request.expected)
    if stored is None:
        refuse_taken_source(view, defined.name)
        refuse_many_sources(view)
    _refuse_unfit_definition(view, command, key)
    if request.once:
        return add_once_query(view, command, engine)
    if request.assess:
        return assess_definition(view, command, engine, stored)
    stage = StagedView(view, command, engine, "create-source", request.dry_run)
    defined = _with_schemas(stage, request)
    for part in (defined.key, defined.value):
        refuse_dead_pin(stage.view, part)
    source = _source(view, command, defined)
    refuse_unfit_place(view, command, key, stored, source)
    if stored is not None:
        refuse_unlike_source(view, key, stored, source)
        refuse_read_columns(view, command.access, key, stored.columns, source.columns)
        source = _as_replaced(view, command, key, stored, source)
    same = stored is not None and same_definition(source, stored)
    along = _list_along(view, command, key, stored, source) if not same else {}
    if stored is not None and same:
        source = stored
    else:
        stage.put((make_row(SOURCE, key, source),))
        stage.put(_topic_rows(stage.view, key, source, stored))
    stage.put(make_row(SOURCE, follower, row) for follower, row in along.items())
    also = _put_bad_rows(stage, source, key) if defined.bad_rows else ()
    if stage.rows:
        stage.put(expired_rows(view, command.time))
    answer = describe_stored(source, created=stored is None, replaced=stored is not None and not same, also=also)
    changed = () if stored is None or same else describe_column_changes(stored, source)
    answer = replace(answer, statement=digest_creation(defined), notes=(*changed, *describe_followers(along)))
    return Decision(stage.rows, answer, rehearsal=request.dry_run)


def digest_creation(defined: SourceDefinition) -> str:
    """Return the digest of a CREATE: SET before it may name its cluster, its bad rows and its properties."""
    return digest_statement(defined.statement, defined.cluster, defined.properties, bad_rows=defined.bad_rows)


def _list_along(
    view: View, command: Command[CreateSource], key: SourceKey, stored: Source | None, source: Source
) -> Mapping[SourceKey, Source]:
    """Return what reads all again with a source whose query begins another checkpoint, where the statement says so."""
    old, new = None if stored is None else stored.query, source.query
    if command.request.on_change != CASCADE or old is None or new is None or old.began == new.began:
        return {}
    return follow_exchange(view, command, key, "create-source", "/on_change")


def _refuse_unfit_definition(view: View, command: Command[CreateSource], key: SourceKey) -> None:
    """Raise the refusal of types, columns and reads of a definition that can't be, whatever is there."""
    request, defined = command.request, command.request.definition
    refuse_other_types(view, request.types)
    refuse_unfit_columns(view, defined.columns)
    if defined.query is not None:
        refuse_unfit_reads(view, command, defined.query.reads, key)


def describe_stored(
    source: Source,
    *,
    created: bool = False,
    replaced: bool = False,
    also: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> SourceStored:
    """Return the answer about a source that exists now."""
    return SourceStored(
        source.name, source.kind, source.generation, source.revision, created, replaced, also=also, notes=notes
    )


def refuse_unexpected(stored: Source | None, expected: ExpectedSource | None) -> None:
    """Raise `NotLatest` where a source is not of the generation and revision that a change expects."""
    if expected is None or (
        stored is not None and (stored.generation, stored.revision) == (expected.generation, expected.revision)
    ):
        return
    raise NotLatest.of(
        "SOURCE_EXPECTED",
        "The source is not the expected one",
        path="/expected",
        old="no source" if stored is None else f"generation {stored.generation}, revision {stored.revision}",
        new=f"generation {expected.generation}, revision {expected.revision}",
        allowed="read the source and decide again",
    )


def refuse_many_sources(view: View, more: int = 1) -> None:
    """Raise `TooLarge` where there are limits.SOURCES already."""
    if view.count(SOURCE, ()) + more > limits.SOURCES:
        raise TooLarge.of(
            "SOURCES", "There are too many sources", allowed=f"at most {limits.SOURCES}; drop unused ones"
        )


# --------------------------------------------------------------------------------------------------------- assessments


def assess_definition(
    view: View, command: Command[CreateSource], engine: SchemaEngine, stored: Source | None
) -> Decision[SourceStored]:
    """Return what a definition would change, where CREATE OR REPLACE would refuse too; nothing is written."""
    request = command.request
    stage = StagedView(view, command, engine, "create-source", rehearsal=True)
    refusal: Refusal | None = None
    defined = request.definition
    try:
        defined = _with_schemas(stage, request)
    except Refusal as refused:
        refusal = refused
    source = _source(view, command, defined)
    policy = describe_policy(stored, source, request, refusal)
    assessment = ChangeAssessment("new", policy=policy, refused=refusal is not None)
    if stored is not None:
        key = source_key(stored.name)
        refuse_unlike_source(view, key, stored, source)
        same = refusal is None and same_definition(_as_assessed(stored, source), stored)
        assessment = assess_change(view, command, key, stored, source, same=same)
        assessment = replace(assessment, policy=policy, refused=assessment.refused or refusal is not None)
    return Decision(stage.rows, replace(describe_stored(stored or source), assessment=assessment), rehearsal=True)


def _as_assessed(stored: Source, source: Source) -> Source:
    """A definition with all that a replacement keeps of the row, whatever its query is."""
    query = source.query and stored.query and replace(stored.query, plan=source.query.plan)
    return replace(
        source, generation=stored.generation, query=query, desired=stored.desired, protected=stored.protected, former=stored.former,
        author=stored.author, time=stored.time, once=stored.once, extra=stored.extra,
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------------- schemas


def _with_schemas(stage: StagedView, request: CreateSource) -> SourceDefinition:
    """Register the schemas of key and value, and return the definition with their versions as pins."""
    defined = request.definition
    key, value = register_parts(stage, (defined.key, request.key_schema), (defined.value, request.value_schema))
    return replace(defined, key=key, value=value)


# ------------------------------------------------------------------------------------------------------------ rows


def _source(view: View, command: Command[CreateSource], defined: SourceDefinition) -> Source:
    sequence = view.sequence + 1
    query = None
    if defined.query is not None:
        query = Incarnation(sequence, 1, defined.query, command.principal, command.time)
    return Source(
        defined.kind, defined.name, defined.statement, defined.columns, sequence, defined.key, defined.value,
        defined.connector, defined.cluster, defined.place, defined.timestamp, defined.properties, defined.comment,
        types_in(defined.columns), query=query, desired=RUNNING if defined.imported is None else PAUSED,
        author=command.principal, time=command.time, imported=defined.imported,
    )  # fmt: skip


def _as_replaced(view: View, command: Command[CreateSource], key: SourceKey, stored: Source, source: Source) -> Source:
    """The row of a source that is replaced: what it was created as stays, and its query continues or begins again."""
    query, previous = replaced_query(view, command, key, stored, source)
    return replace(
        source, generation=stored.generation, query=query, previous=previous, desired=_choose_desired_state(stored, source),
        protected=stored.protected, former=stored.former, revision=stored.revision + 1, author=stored.author, time=stored.time,
        changed_by=command.principal, changed=command.time, once=stored.once, extra=stored.extra,
    )  # fmt: skip


def _choose_desired_state(stored: Source, source: Source) -> str:
    """An imported query is PAUSED, and so is the planned one that takes its place; a source without either is RUNNING."""
    if source.imported is not None:
        return PAUSED
    return RUNNING if source.query is None else stored.desired


def same_definition(source: Source, stored: Source) -> bool:
    """Return whether two rows say the same, apart from their text, and from who wrote them when."""

    def strip_history(value: Source) -> Source:
        query = value.query and replace(
            value.query, plan=without_revisions(value.query.plan), revision=0, author="", time=0
        )
        return replace(value, statement="", query=query, previous=(), revision=0, changed_by="", changed=0)

    return strip_history(source) == strip_history(stored)


def _topic_rows(view: View, key: SourceKey, source: Source, stored: Source | None) -> list[Row]:
    moved = stored is not None and (stored.connector, stored.cluster, stored.place) != (
        source.connector,
        source.cluster,
        source.place,
    )
    rows = topic_with(view, stored, key, present=False) if stored is not None and moved else []
    return [*rows, *topic_with(view, source, key, present=True)]


def _put_bad_rows(stage: StagedView, source: Source, key: SourceKey) -> tuple[str, ...]:
    """Put the stream of the bad rows of a source on stage, unless there is one."""
    if any(stage.view.find(SOURCE_BY_ORIGIN, (key.name,))):
        return ()
    name = f"{source.name}{BAD_SUFFIX}"
    refuse_bad_name(name, "SOURCE_NAME", "/definition/bad_rows")
    try:
        refuse_taken_source(stage.view, name)
    except SourceExists as error:
        message = f"{error.reason.message}, and the bad rows of {source.name} would be called so"
        remedy = f"{source.name} without BAD_ROWS = true; or DROP of the other {name} first"
        raise SourceExists(
            replace(error.reason, message=message, path="/definition/bad_rows", allowed=remedy)
        ) from None
    refuse_many_sources(stage.view)
    bad = Source(
        "STREAM", name, "", BAD_COLUMNS, stage.base.sequence + 1, connector="delta", cluster=source.cluster,
        origin=key.name, author=stage.command.principal, time=stage.command.time,
    )  # fmt: skip
    stage.put((make_row(SOURCE, source_key(name), bad),))
    return (name,)
