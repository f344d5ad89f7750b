"""Answers about schemas by id and guid, versions by number and metadata, who uses a schema, and outcomes of commands."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from treaty.core.access.authorized_view import without_filter
from treaty.core.access.private_subjects import hides_subjects, may_read
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision, PausingWork
from treaty.core.handlers.drafts.versions import describe_tags
from treaty.core.handlers.uses import is_used, referrers, version_keys_of, versions_of
from treaty.core.handlers.versions import (
    STATES,
    StoredVersion,
    as_sent,
    describe_version,
    has_version,
    newest_first,
    no_subject,
    numbers,
    same_name_elsewhere,
    schema_row,
    select,
    subject_of_key,
    with_schema,
)
from treaty.core.messages.listings import ListVersions, VersionNumbers
from treaty.core.messages.names import GetPin, PinFound
from treaty.core.messages.outcomes import CommandOutcome, GetOutcome
from treaty.core.messages.request import Visible
from treaty.core.messages.schemas import (
    GetGuid,
    GetGuidIds,
    GetSchema,
    GuidIds,
    ReferencedBy,
    SchemaFound,
    SchemaIds,
    Uses,
    UsesOf,
)
from treaty.core.messages.versions import FindVersion, GetVersion, VersionFound
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.refusals import NotFound, SchemaNotFound, VersionNotFound
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.state_tables import COUNTER, OUTCOME, SCHEMA_EVERYWHERE, OutcomeKey, SchemaKey, ids_key
from treaty.core.state.table import Key
from treaty.core.state.values import Outcome
from treaty.core.state.view import View


def get_schema(view: View, command: Command[GetSchema], engine: SchemaEngine) -> Decision[SchemaFound]:
    """Return a schema by id. The context is the named subject's, or the default one, or one that holds that subject."""
    request = command.request
    key = _schema_key(view, request.schema_id, request.subject)
    answer = _describe_schema(view, key, request.subject)
    if request.find_tags:
        answer = replace(answer, tags=describe_tags(view, key.context, key.id, engine, request.find_tags))
    if request.max_id:
        highest = view.get(COUNTER, ids_key(key.context))
        answer = replace(answer, max_id=highest.highest if highest else 0)
    return Decision((), answer)


def _schema_key(view: View, schema_id: int, subject: Subject | None) -> SchemaKey:
    for context in _contexts(view, subject):
        key = SchemaKey(context, schema_id)
        if is_used(view, key):  # a schema is there while a version is
            return key
    raise _no_schema(schema_id)


def _no_schema(schema_id: int) -> SchemaNotFound:
    return SchemaNotFound.of("SCHEMA_NOT_FOUND", f"Schema {schema_id} not found", version=str(schema_id))


def _contexts(view: View, subject: Subject | None) -> Iterator[str]:
    yield subject.context if subject else DEFAULT_CONTEXT
    if subject is not None:
        yield from (namesake.context for namesake in same_name_elsewhere(view, subject) if has_version(view, namesake))


def _describe_schema(view: View, key: SchemaKey, subject: Subject | None) -> SchemaFound:
    schema = schema_row(view, *key)
    use = _find_use(view, key, subject)
    return SchemaFound(
        schema_id=key.id,
        guid=schema.guid,
        format=schema.format,
        text=schema.text,
        references=as_sent(schema.references),
        metadata=schema.metadata,
        rules=schema.rules,
        context=key.context,
        subject=str(subject_of_key(use[0])) if use else "",
        number=use[1].number if use else 0,
        time=use[1].time if use else 0,
        deleted=use is not None and use[1].state != "live",
        imports=schema.imports,
    )


def _find_use(view: View, key: SchemaKey, subject: Subject | None) -> StoredVersion | None:
    """The use in the named subject if there is one, else the first: live ones before deleted ones."""
    heads: list[Key] = [(key.context, subject.name), ()] if subject is not None and subject.name else [()]
    candidates = (versions_of(view, key, (state,), head) for head in heads for state in STATES["all"])
    return next(chain.from_iterable(candidates), None)


def get_guid(view: View, command: Command[GetGuid], engine: SchemaEngine) -> Decision[SchemaFound]:
    """Return a schema by guid, in whatever context it is; no subject is named."""
    request = command.request
    key = next(view.find(SCHEMA_EVERYWHERE, (request.guid,)), None)
    if key is None:
        raise SchemaNotFound.of("SCHEMA_NOT_FOUND", f"Schema {request.guid} not found", version=request.guid)
    return Decision((), replace(_describe_schema(view, key, None), subject="", number=0))


def get_guid_ids(view: View, command: Command[GetGuidIds], engine: SchemaEngine) -> Decision[GuidIds]:
    """Return the ids of a guid, one per context: the lowest."""
    request = command.request
    ids: dict[str, int] = {}
    for context, schema_id in view.find(SCHEMA_EVERYWHERE, (request.guid,)):
        ids.setdefault(context, schema_id)
    return Decision((), GuidIds(tuple(sorted(ids.items()))))


def get_version(view: View, command: Command[GetVersion], engine: SchemaEngine) -> Decision[VersionFound]:
    """Return one version of a subject; an unqualified name is looked for in the other contexts too."""
    request = command.request
    visible: Visible = "all" if request.deleted else "live"
    subject = at_home(view, request.subject, visible)
    answer = describe_version(view, select(view, subject, request.version, visible))
    if request.find_tags:
        answer = replace(answer, tags=describe_tags(view, subject.context, answer.schema_id, engine, request.find_tags))
    return Decision((), answer)


def get_pin(view: View, command: Command[GetPin], engine: SchemaEngine) -> Decision[PinFound]:
    """Return a live version with the generation of its subject; an unqualified name is looked for in the other contexts too."""
    request = command.request
    subject = at_home(view, request.subject, "live")
    if request.schema_id < 0:
        stored = select(view, subject, request.version, "live")
    else:
        candidates = with_schema(view, subject, request.schema_id, STATES["live"])
        newest = max(candidates, key=lambda candidate: (candidate[1].number, candidate[0].ordinal), default=None)
        if newest is None:
            raise _no_such_pin(view, subject, request.schema_id)
        stored = newest
    return Decision((), PinFound(stored[0].generation, describe_version(view, stored)))


def _no_such_pin(view: View, subject: Subject, schema_id: int) -> NotFound:
    if not has_version(view, subject):
        return no_subject(subject)
    return VersionNotFound.of(
        "SCHEMA_ID_NOT_FOUND",
        f"No live version of subject '{subject}' has the schema id {schema_id}.",
        path="/schema_id",
        subject=str(subject),
        version=str(schema_id),
        new=str(schema_id),
        allowed="the schema id of a live version of this subject",
    )


def at_home(view: View, subject: Subject, visible: Visible) -> Subject:
    """Return the subject, or the one of this name in another context where the default one has none."""
    if has_version(view, subject, visible):
        return subject
    return next((home for home in same_name_elsewhere(view, subject) if has_version(view, home, visible)), subject)


def find_version(
    view: View, command: Command[FindVersion], engine: SchemaEngine
) -> PausingWork[Decision[VersionFound]]:
    """Return the newest version whose metadata has the properties."""
    request = command.request
    visible: Visible = "all" if request.deleted else "live"
    if not has_version(view, request.subject, visible):
        raise no_subject(request.subject)
    properties = set(request.properties)
    for stored in newest_first(view, request.subject, visible):
        yield
        answer = describe_version(view, stored)
        if answer.metadata is not None and properties <= set(answer.metadata.properties):
            return Decision((), answer)
    message = f"no version of {request.subject} has these properties in its metadata"
    raise SchemaNotFound.of("SCHEMA_NOT_FOUND", message, subject=str(request.subject))


def list_versions(view: View, command: Command[ListVersions], engine: SchemaEngine) -> Decision[VersionNumbers]:
    """List the version numbers of a subject."""
    request = command.request
    subject = at_home(view, request.subject, request.visible)
    versions = numbers(view, subject, request.visible)
    if not versions:
        raise no_subject(request.subject)
    deleted = tuple(number for number, state in versions if state != "live")
    return Decision((), VersionNumbers(tuple(number for number, _ in versions), deleted))


def uses_of(view: View, command: Command[UsesOf], engine: SchemaEngine) -> PausingWork[Decision[Uses]]:
    """List where a schema is used."""
    request = command.request
    key = yield from _find_used(view, request.schema_id, request.subject)
    uses: list[tuple[str, int]] = []
    base, reads = without_filter(view)
    for use, version in versions_of(base, key, STATES[request.visible]):
        if reads(use):
            uses.append((str(subject_of_key(use)), version.number))
        yield
    return Decision((), Uses(tuple(sorted(uses))))


def _find_used(view: View, schema_id: int, subject: Subject | None) -> PausingWork[SchemaKey]:
    """Return the key of a schema as `_schema_key` does; one that is used very often where nothing may be read is paused
    over.
    """
    base, reads = without_filter(view)
    for context in _contexts(view, subject):
        key = SchemaKey(context, schema_id)
        for use in version_keys_of(base, key):
            if reads(use):
                return key
            yield
    raise _no_schema(schema_id)


def referenced_by(view: View, command: Command[ReferencedBy], engine: SchemaEngine) -> Decision[SchemaIds]:
    """List the ids of schemas that refer to a version."""
    request = command.request
    stored = select(view, request.subject, request.version, "all")
    ids = sorted({key.id for key in referrers(view, stored[0], "all" if request.deleted else "live")})
    return Decision((), SchemaIds(tuple(ids)))


def get_outcome(view: View, command: Command[GetOutcome], engine: SchemaEngine) -> Decision[CommandOutcome]:
    """Return the outcome of a command."""
    request = command.request
    principal = command.principal if request.principal is None else request.principal
    value = view.get(OUTCOME, OutcomeKey(principal, request.command_id))
    if value is None:
        raise NotFound.of(
            "OUTCOME_UNKNOWN",
            f"No outcome of command {request.command_id} is remembered: it wrote nothing, or it is too long ago",
            version=request.command_id,
            allowed="the principal who sent it, or an administrator who names that one",
        )
    members = value.members if _may_hear(view, command.access, value) else ()
    return Decision((), CommandOutcome(request.command_id, value.sequence, value.kind, members))


def _may_hear(view: View, access: Access | None, outcome: Outcome) -> bool:
    """Return whether a caller may hear the answer of a command: it may be about a private subject, which may be gone by now."""
    base, _ = without_filter(view)
    if access is None or not (outcome.private or hides_subjects(base, access)):
        return True
    subject = dict(outcome.members).get("subject")
    if subject is None:
        return access.sees_private
    home = subject_of(subject)
    return access.may("read", home, private=True) if outcome.private else may_read(base, access, home)
