"""Queries about schemas and versions."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.comparing import Bar, inspect, verdict_against
from tests.simulation.judging.model.drafts import (
    ReadDraft,
    no_schema,
    only_type,
    read_draft,
    refuse_other_formats,
    tags_in,
    written,
)
from tests.simulation.judging.model.levels import refuse_bad_ranges
from tests.simulation.judging.model.making import next_number
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.referring import referring_versions
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.registering import numbered, refuse_internal_names
from tests.simulation.judging.model.sameness import carried, found_version, home_of
from tests.simulation.judging.model.selecting import STATES, as_sent, describe, no_subject, select
from tests.simulation.judging.model.settings import config_in_force, policy_in_force, refuse_missing_begins
from treaty.core.finding import Diagnostic, Finding
from treaty.core.messages.compatibility import Check, CompatibilityResult
from treaty.core.messages.listings import ListVersions, VersionNumbers
from treaty.core.messages.names import GetPin, PinFound
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
from treaty.core.messages.settings import Scope
from treaty.core.messages.versions import FindVersion, GetVersion, Lookup
from treaty.core.names import Subject
from treaty.core.refusals import Invalid, InvalidSchema, NotFound, SchemaNotFound, VersionNotFound
from treaty.core.schema import Draft, TaggedPath
from treaty.core.schema_engine import InvalidText
from treaty.core.state.values import PolicyValue


def homes(past: Past, subject: Subject) -> list[Subject]:
    """The subject, and for one of the default context those of its name in the others, by context."""
    if subject.context != ".":
        return [subject]
    return [subject, *(Subject(context, subject.name) for context in past.contexts if context != ".")]


def at_home(past: Past, subject: Subject, visible: str) -> Subject:
    """The first of them that has a version that may be seen."""
    return next((home for home in homes(past, subject) if past.shown(home, STATES[visible])), subject)


# --------------------------------------------------------------------------------------------------------- schemas


def _place_of_id(past: Past, schema_id: int, subject: Subject | None) -> tuple[str, int]:
    """The context of an id: the named subject's; of the default context's, those that hold the subject too."""
    contexts = [subject.context if subject is not None else "."]
    if subject is not None and subject.name and subject.context == ".":
        contexts += [one for one in past.contexts if past.shown(Subject(one, subject.name))]
    for context in contexts:
        if past.users(context, schema_id):
            return context, schema_id
    raise No(SchemaNotFound, "SCHEMA_NOT_FOUND", version=str(schema_id))


def _first(there: Iterable[VersionNow]) -> VersionNow | None:
    """A live one before a softly deleted one."""
    there = list(there)
    for state in ("live", "soft"):
        for one in there:
            if one.state == state:
                return one
    return None


def _schema_found(past: Past, context: str, schema_id: int, subject: Subject | None) -> SchemaFound:
    users = past.users(context, schema_id)
    schema = users[0].schema
    use = None
    if subject is not None and subject.name:
        use = _first(one for one in users if one.subject.name == subject.name)
    use = use or _first(users)
    return SchemaFound(
        schema_id=schema_id,
        guid=schema.guid,
        format=schema.format,
        text=schema.text,
        references=as_sent(schema.references),
        metadata=schema.metadata,
        rules=schema.rules,
        context=context,
        subject=str(use.subject) if use else "",
        number=use.number if use else 0,
        time=use.version.time if use else 0,
        deleted=use is not None and use.state != "live",
    )


def _tags(past: Past, context: str, schema_id: int, wanted: tuple[str, ...]) -> tuple[TaggedPath, ...]:
    if not wanted:
        return ()
    schema = past.schema(context, schema_id)
    assert schema is not None
    return tuple(one for one in tags_in(past, context, schema) if "*" in wanted or set(wanted) & set(one.tags))


def get_schema(past: Past, asking: Asking, request: GetSchema) -> Yes:
    context, schema_id = _place_of_id(past, request.schema_id, request.subject)
    told = _schema_found(past, context, schema_id, request.subject)
    told = replace(told, tags=_tags(past, context, schema_id, request.find_tags))
    return Yes((), replace(told, max_id=past.highest_id(context) or 0) if request.max_id else told)


def places_of_guid(past: Past, guid: str) -> list[tuple[str, int]]:
    return sorted({(one.context, one.schema_id) for one in past.versions if one.schema.guid == guid})


def get_guid(past: Past, asking: Asking, request: GetGuid) -> Yes:
    places = places_of_guid(past, request.guid)
    if not places:
        raise No(SchemaNotFound, "SCHEMA_NOT_FOUND", version=request.guid)
    return Yes((), replace(_schema_found(past, *places[0], None), subject="", number=0))


def get_guid_ids(past: Past, asking: Asking, request: GetGuidIds) -> Yes:
    places = places_of_guid(past, request.guid)
    lowest = {context: min(id_ for each, id_ in places if each == context) for context, _ in places}
    return Yes((), GuidIds(tuple(sorted(lowest.items()))))


def uses_of(past: Past, asking: Asking, request: UsesOf) -> Yes:
    context, schema_id = _place_of_id(past, request.schema_id, request.subject)
    there = [one for one in past.users(context, schema_id) if one.state in STATES[request.visible]]
    return Yes((), Uses(tuple(sorted((str(one.subject), one.number) for one in there))))


def referenced_by(past: Past, asking: Asking, request: ReferencedBy) -> Yes:
    one = select(past, request.subject, request.version, "all")
    users = referring_versions(past, one, ("live", "soft") if request.deleted else ("live",))
    return Yes((), SchemaIds(tuple(sorted({user.schema_id for user in users}))))


# -------------------------------------------------------------------------------------------------------- versions


def get_version(past: Past, asking: Asking, request: GetVersion) -> Yes:
    visible = "all" if request.deleted else "live"
    subject = at_home(past, request.subject, visible)
    one = select(past, subject, request.version, visible)
    return Yes((), replace(describe(one), tags=_tags(past, subject.context, one.schema_id, request.find_tags)))


def get_pin(past: Past, asking: Asking, request: GetPin) -> Yes:
    """A live version with its subject's generation; of several with one schema the one of the highest number."""
    subject = at_home(past, request.subject, "live")
    if request.schema_id < 0:
        one = select(past, subject, request.version, "live")
        return Yes((), PinFound(one.generation, describe(one)))
    there = past.shown(subject, STATES["live"])
    if not there:
        raise no_subject(subject)
    alike = [one for one in there if one.schema_id == request.schema_id]
    if not alike:
        raise No(VersionNotFound, "SCHEMA_ID_NOT_FOUND", subject=str(subject), version=str(request.schema_id))
    one = max(alike, key=lambda found: (found.number, found.ordinal))
    return Yes((), PinFound(one.generation, describe(one)))


def find_version(past: Past, asking: Asking, request: FindVersion) -> Yes:
    there = past.shown(request.subject, STATES["all" if request.deleted else "live"])
    if not there:
        raise no_subject(request.subject)
    for one in reversed(there):
        metadata = one.schema.metadata
        if metadata is not None and set(request.properties) <= set(metadata.properties):
            return Yes((), describe(one))
    raise No(SchemaNotFound, "SCHEMA_NOT_FOUND", subject=str(request.subject))


def list_versions(past: Past, asking: Asking, request: ListVersions) -> Yes:
    there = past.shown(at_home(past, request.subject, request.visible), STATES[request.visible])
    if not there:
        raise no_subject(request.subject)
    deleted = tuple(one.number for one in there if one.state != "live")
    return Yes((), VersionNumbers(tuple(one.number for one in there), deleted))


# ---------------------------------------------------------------------------------------------------------- drafts


def refuse_unknown_format(past: Past, subject: Subject, draft: Draft) -> None:
    row = past.subjects.get(subject)
    if row is None or row.origin == "confluent":
        refuse_other_formats(draft)


def lookup(past: Past, asking: Asking, request: Lookup) -> Yes:
    states = STATES["all" if request.deleted else "live"]
    draft = written(request.draft)
    for subject in homes(past, request.subject) if draft.text else ():
        there = past.shown(subject, states)
        if not there:
            continue
        refuse_unknown_format(past, subject, draft)
        config = config_in_force(past, Scope(*subject))
        normalize = bool(request.normalize) or bool(config.normalize)
        new = read_draft(past, subject, draft, "all", strict=False, normalize=normalize)
        if isinstance(new, InvalidText):
            raise no_schema(new)
        match = found_version(past, subject, there, new, config, any_type=not draft.type_name)
        if match is not None:
            return Yes((), describe(match))
    if past.shown(request.subject, states):
        raise No(SchemaNotFound, "SCHEMA_NOT_FOUND", subject=str(request.subject))
    raise no_subject(request.subject)


@dataclass(frozen=True)
class Checked:
    """A draft that is checked: as it was sent and as it would stand, what it has to pass, and what is found already."""

    sent: ReadDraft
    new: ReadDraft
    bar: Bar
    live: list[VersionNow]
    faults: tuple[Diagnostic, ...]
    other_type: tuple[Finding, ...]
    only: VersionNow | None = None

    def judged(self, past: Past, policy: PolicyValue | None = None) -> tuple[CompatibilityResult, int]:
        """The verdict, under another policy if one is given, and the number of the version that fails."""
        bar = self.bar if policy is None else Bar(policy, self.bar.config)
        said = {"faults": self.faults, "other_type": self.other_type, "only": self.only}
        return verdict_against(past, self.new, self.live, bar, **said)  # type: ignore[arg-type]


def check(past: Past, asking: Asking, request: Check) -> Yes:
    """What a registration would be told of its policy."""
    return Yes((), checked(past, request).judged(past)[0])


def checked(past: Past, request: Check) -> Checked:
    subject, draft = request.subject, written(request.draft)
    config, home = config_in_force(past, Scope(*subject)), home_of(past, subject)
    policy = policy_in_force(config, home.types)
    if request.level is not None:
        policy = checked_level(past, request, policy)
    live = past.shown(subject)
    only = None
    if request.version is not None and not (request.version == -1 and not live):
        try:
            only = select(past, subject, request.version)
        except No as absent:
            if issubclass(absent.kind, NotFound):
                raise No(VersionNotFound, "VERSION_NOT_FOUND", version=str(request.version)) from None
            raise
    refuse_unknown_format(past, subject, draft)
    if not draft.text:
        raise No(InvalidSchema, "SCHEMA_EMPTY")
    normalize = bool(request.normalize) or bool(config.normalize)
    strict = config.validate_new_schemas is not False
    new = read_draft(past, subject, draft, "live", strict=strict, normalize=normalize)
    if isinstance(new, InvalidText):
        raise no_schema(new)
    refuse_internal_names(config, new)
    sent, new = new, carried(new, config, live[-1].schema if live else None)
    new = numbered(new, next_number(past, subject), asked=False)
    faults = inspect(past, new, live, policy, home.types)
    wrong = any(new.type_name != kind for kind in only_type(past, subject, home))
    other = (Finding("TYPE_NOT_ALLOWED", "/type", ""),) if wrong else ()
    return Checked(sent, new, Bar(policy, config), live, faults, other, only)


def checked_level(past: Past, request: Check, policy: PolicyValue) -> PolicyValue:
    """The policy with the level of a check in the place of the subject's."""
    level = request.level
    assert level is not None
    if request.version is not None:
        raise No(Invalid, "CHECK_LEVEL")
    refuse_bad_ranges(level)
    refuse_missing_begins(past, Scope(*request.subject), level)
    return replace(policy, backward=level.backward, forward=level.forward, deny=level.deny)
