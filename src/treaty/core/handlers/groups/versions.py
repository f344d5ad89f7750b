"""Answers about versions by ordinal and by type, the history of a subject, which versions have a schema, and which of them can be read."""

from collections.abc import Iterator
from dataclasses import replace

from treaty.core.access.authorized_view import without_filter
from treaty.core.command import Command, Decision, PausingWork
from treaty.core.handlers.compatibility import PASSED, CompatibilityRequirements, check_compatibility
from treaty.core.handlers.drafts.schemas import (
    NORMALISED,
    ParsedDraft,
    VersionRules,
    policy_for,
    read,
    refuse,
    version_rules,
    with_text,
)
from treaty.core.handlers.drafts.versions import complete, extras_of, find_version
from treaty.core.handlers.groups.queries import subject_row
from treaty.core.handlers.settings import config_in_force
from treaty.core.handlers.uses import version_keys_of
from treaty.core.handlers.versions import (
    StoredVersion,
    describe_version,
    has_version,
    latest_version,
    newest_first,
    no_ordinal,
    subject_of_key,
    with_ordinal,
)
from treaty.core.messages.compatibility import CompatibilityResult
from treaty.core.messages.groups import (
    AdmittedVersion,
    CheckReading,
    FindSameSchema,
    FindSameVersion,
    GetHistory,
    GetOrdinal,
    GetTypedVersion,
    GroupVersions,
    History,
    ListGroupVersions,
)
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.policy import LATEST, NONE
from treaty.core.refusals import InvalidSchema, SchemaNotFound, VersionNotFound
from treaty.core.schema import Draft
from treaty.core.schema_engine import InvalidText, SchemaEngine
from treaty.core.state.state_tables import (
    COUNTER,
    SCHEMA_BY_GUID,
    SCHEMA_BY_LOOKUP_DIGEST,
    VERSION,
    VERSION_BY_IDENTITY,
    VersionKey,
    ordinals_key,
    types_key,
)
from treaty.core.state.view import View

PAUSE_ROWS = 64
"""Rows between two pauses."""


def get_ordinal(view: View, command: Command[GetOrdinal], engine: SchemaEngine) -> Decision[VersionFound]:
    """Return the version with an ordinal, deleted or not."""
    subject, ordinal = command.request.subject, command.request.ordinal
    subject_row(view, subject)
    stored = with_ordinal(view, subject, ordinal)
    if stored is None or stored[1].state == "purged":
        raise no_ordinal(subject, ordinal)
    return Decision((), describe_version(view, stored, data=True))


def get_typed_version(
    view: View, command: Command[GetTypedVersion], engine: SchemaEngine
) -> PausingWork[Decision[VersionFound]]:
    """Return the version with a number among those of its format and type, deleted or not.

    Its ordinal is not below its number, so versions are looked at from there on.
    """
    request = command.request
    subject = request.subject
    generation = subject_row(view, subject).generation
    if request.type_version <= _highest_type_version(view, request, generation):
        ordinals = view.get(COUNTER, ordinals_key(subject, generation))
        for ordinal in range(max(0, request.type_version), 0 if ordinals is None else ordinals.highest + 1):
            stored = with_ordinal(view, subject, ordinal)
            if stored is not None and _is_asked_for(stored, request):
                return Decision((), describe_version(view, stored, data=True))
            if ordinal % PAUSE_ROWS == 0:
                yield
    raise VersionNotFound.of(
        "VERSION_NOT_FOUND",
        f"Version {request.type_version} of type {request.type_name or 'without a name'} not found.",
        path="/typeVersion",
        subject=str(subject),
        version=str(request.type_version),
        new=str(request.type_version),
        allowed="the number of a version of this format and type",
    )


def _highest_type_version(view: View, request: GetTypedVersion, generation: int) -> int:
    counter = view.get(COUNTER, types_key(request.subject, generation, request.format, request.type_name))
    return -1 if counter is None else counter.highest


def _is_asked_for(stored: StoredVersion, request: GetTypedVersion) -> bool:
    version = stored[1]
    typed = (version.format, version.type_name, version.type_version)
    return version.state != "purged" and typed == (request.format, request.type_name, request.type_version)


def list_group_versions(
    view: View, command: Command[ListGroupVersions], engine: SchemaEngine
) -> PausingWork[Decision[GroupVersions]]:
    """List the live versions of a subject by ordinal, or the newest of each format and type."""
    request = command.request
    subject_row(view, request.subject)
    listed: list[StoredVersion] = []
    newest: dict[tuple[str, str], StoredVersion] = {}
    for stored in newest_first(view, request.subject):
        version = stored[1]
        if not request.type_name or version.type_name == request.type_name:
            kind = (version.format, version.type_name)
            newest[kind] = max(stored, newest.get(kind, stored), key=_ordinal)
            listed.append(stored)
        if len(listed) % PAUSE_ROWS == 0:
            yield
    chosen = sorted(newest.values() if request.latest else listed, key=_ordinal)
    return Decision((), GroupVersions((yield from _describe(view, chosen))))


def get_history(view: View, command: Command[GetHistory], engine: SchemaEngine) -> PausingWork[Decision[History]]:
    """Return the live versions of a subject by ordinal, each with the policy that it passed."""
    subject = command.request.subject
    subject_row(view, subject)
    live: list[StoredVersion] = []
    for stored in newest_first(view, subject):
        live.append(stored)
        if len(live) % PAUSE_ROWS == 0:
            yield
    live.sort(key=_ordinal)
    versions = yield from _describe(view, live)
    pairs = zip(live, versions, strict=True)
    return Decision((), History(tuple(AdmittedVersion(version, stored[1].policy) for stored, version in pairs)))


def _ordinal(stored: StoredVersion) -> int:
    return stored[0].ordinal


def _describe(view: View, versions: list[StoredVersion]) -> PausingWork[tuple[VersionFound, ...]]:
    described = []
    for stored in versions:
        described.append(describe_version(view, stored, data=True))
        if len(described) % PAUSE_ROWS == 0:
            yield
    return tuple(described)


# ----------------------------------------------------------------------------------------------------- same schemas


def find_same_version(view: View, command: Command[FindSameVersion], engine: SchemaEngine) -> Decision[VersionFound]:
    """Find the newest live version with this schema, as a registration of it would."""
    subject = command.request.subject
    subject_row(view, subject)
    draft, config = _read(view, subject, command.request.draft, engine)
    match = find_version(view, subject, draft, config)
    if match is None:
        raise SchemaNotFound.not_registered(str(subject), draft.draft.format, draft.type_name)
    return Decision((), describe_version(view, match, data=True))


def find_same_schema(
    view: View, command: Command[FindSameSchema], engine: SchemaEngine
) -> PausingWork[Decision[GroupVersions]]:
    """Find the newest live version with this schema in each subject of a context that may be read."""
    context, draft = command.request.context, command.request.draft
    base, reads = without_filter(view)
    subjects: set[Subject] = set()
    for count, key in enumerate(_candidates(view, base, context, draft, engine)):
        if reads(key):
            subjects.add(subject_of_key(key))
        if count % PAUSE_ROWS == 0:
            yield
    matches = []
    for subject in sorted(subjects):
        match = find_version(base, subject, *_read(view, subject, draft, engine))
        if match is not None:
            matches.append(describe_version(base, match, data=True))
        yield
    return Decision((), GroupVersions(tuple(matches)))


def _candidates(view: View, base: View, context: str, draft: Draft, engine: SchemaEngine) -> Iterator[VersionKey]:
    """Live versions that may be this schema by some identity: as it was sent, and in its normal form."""
    anywhere = Subject(context, "")
    for normalize in (False, True):
        parsed = _read_as(view, anywhere, draft, engine, VersionRules(identity=NORMALISED), normalize=normalize)
        for index, entry in ((SCHEMA_BY_GUID, parsed.guid), (SCHEMA_BY_LOOKUP_DIGEST, parsed.lookup_digest)):
            for schema in base.find(index, (context, entry)):
                yield from version_keys_of(base, schema, ("live",))
        for key in base.find(VERSION_BY_IDENTITY, (context, parsed.identity)):
            value = base.get(VERSION, key)
            if value is not None and value.state == "live":
                yield key


def _read(view: View, subject: Subject, draft: Draft, engine: SchemaEngine) -> tuple[ParsedDraft, Config]:
    """Read a draft as it would be compared in a subject, and return the config in force there. Raises `InvalidSchema`."""
    config = config_in_force(view, Scope(*subject))
    rules = version_rules(view, subject)
    return _read_as(view, subject, draft, engine, rules, normalize=bool(config.normalize)), config


def _read_as(
    view: View, subject: Subject, draft: Draft, engine: SchemaEngine, rules: VersionRules, *, normalize: bool
) -> ParsedDraft:
    draft = with_text(draft, engine)
    if not draft.text:
        raise InvalidSchema.of("SCHEMA_EMPTY", "Empty schema", path="/schema", allowed="a schema text")
    parsed = read(view, subject, draft, engine, visible="all", strict=False, normalize=normalize, rules=rules)
    if isinstance(parsed, InvalidText):
        raise refuse(parsed, draft)
    return parsed


# ------------------------------------------------------------------------------------------------------ what is read


def check_reading(view: View, command: Command[CheckReading], engine: SchemaEngine) -> Decision[CompatibilityResult]:
    """Check whether a reader with this schema can read what writers of the subject may have written."""
    subject = command.request.subject
    subject_row(view, subject)
    draft, config = _read(view, subject, command.request.draft, engine)
    draft = complete(draft, extras_of(view, latest_version(view, subject)), config)
    policy = policy_for(config, version_rules(view, subject))
    compares = policy.deny or policy.backward != NONE or policy.forward != NONE
    if not compares or not has_version(view, subject):
        return Decision((), PASSED)
    wider = () if policy.deny or policy.backward in {NONE, LATEST} else (policy.backward,)
    result = PASSED
    for backward in (LATEST, *wider):  # a range may begin behind the latest version that is left
        bar = CompatibilityRequirements(replace(policy, backward=backward, forward=NONE, deny=False), Config())
        result = check_compatibility(view, engine, draft, subject, bar=bar)
        if not result.compatible:
            break
    return Decision((), result)
