"""The methods of a connection as exchanges, without I/O: the requests of each method, and its result; comparisons, groups, policies and publication have a file each beside it.

An exchange is a generator that yields requests, receives their answers and returns a value. `Connection` and
`AsyncConnection` run it against a registry. Subjects are strings in their qualified form (``orders-value``,
``:.context:orders-value``), schemas are texts or a `Draft`.
"""

from typing import TypeVar

from treaty.core.limits import ASSOCIATIONS_LISTED, SETTINGS_PAGE
from treaty.core.messages.associations import (
    Associate,
    AssociationResult,
    AssociationSpec,
    ChangeAssociations,
    Dissociate,
    GetAssociations,
    ListAssociations,
    OfId,
    OfName,
    OfSubject,
    Resource,
    ResourceAssociation,
    ResourceBound,
    ResourceChange,
)
from treaty.core.messages.compatibility import Check, CompatibilityResult
from treaty.core.messages.contexts import DeleteContext, ListContexts, MakeContext
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.names import GetNamedVersion
from treaty.core.messages.outcomes import CommandOutcome, GetOutcome
from treaty.core.messages.registration import Derive, ExpectedVersion, ForceReason, Register, RegisteredVersion
from treaty.core.messages.request import LATEST, Visible
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, ReferencedBy, SchemaFound, UsesOf
from treaty.core.messages.settings import (
    Config,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    ListSettings,
    Scope,
    ScopeSetting,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup, VersionFound
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, context_of, subject_of
from treaty.core.policy import Level
from treaty.core.registry import Exchange, request_answer
from treaty.core.schema import Draft, Metadata, Pairs, RuleSet, TaggedPath

A = TypeVar("A")

EVERY_SCOPE = "*"
"""In place of a subject: settings of the whole registry."""


# ------------------------------------------------------------------------------------------------------------ versions


def register(
    subject: str,
    schema: Draft | str,
    *,
    normalize: bool | None = None,
    number: int = 0,
    schema_id: int = -1,
    expected: ExpectedVersion | None = None,
    force: ForceReason | None = None,
    properties: Pairs = (),
    names: Pairs = (),
    require_subject: bool = False,
) -> Exchange[RegisteredVersion]:
    """Register the schema as a version of the subject; an existing version is returned. `number` is that of the version to be
    made, and then an existing one is not returned, or -1: the latest version is to be this schema; `schema_id` sets the id
    in mode IMPORT. `names` are further names, (id scheme, name). With `require_subject` the subject is not created.
    """
    request = Register(
        subject_of(subject),
        as_draft(schema),
        normalize,
        number,
        schema_id,
        expected=expected,
        force=force,
        names=names,
        properties=properties,
        require_subject=require_subject,
    )
    return (yield from request_answer(request))


def derive(
    subject: str,
    version: int | str = LATEST,
    *,
    add_tags: tuple[TaggedPath, ...] = (),
    remove_tags: tuple[TaggedPath, ...] = (),
    metadata: Metadata | None = None,
    rules: RuleSet | None = None,
    number: int = 0,
) -> Exchange[RegisteredVersion]:
    """Register a copy of a version with tags added or removed, other metadata or other rules."""
    chosen = yield from number_of(subject, version)
    request = Derive(subject_of(subject), chosen, number, add_tags, remove_tags, metadata, rules)
    return (yield from request_answer(request))


def lookup(
    subject: str, schema: Draft | str, *, normalize: bool | None = None, deleted: bool = False
) -> Exchange[VersionFound]:
    """Return the version of the subject with this schema. Raises `SchemaNotFound`."""
    return (yield from request_answer(Lookup(subject_of(subject), as_draft(schema), normalize, deleted)))


def check(
    subject: str,
    schema: Draft | str,
    version: int | str | None = None,
    *,
    normalize: bool | None = None,
    level: Level | None = None,
) -> Exchange[CompatibilityResult]:
    """Return whether the schema is compatible with one version, or with those that the subject's policy compares, or
    that this `level` would.
    """
    chosen = None if version is None else (yield from number_of(subject, version))
    return (yield from request_answer(Check(subject_of(subject), as_draft(schema), chosen, normalize, level)))


def version(
    subject: str, number: int | str = LATEST, *, deleted: bool = False, find_tags: tuple[str, ...] = ()
) -> Exchange[VersionFound]:
    """Return one version of the subject, the latest by default; `find_tags` asks for tags inside it (``*``: all).

    A text is the id of the version in its group, or ``group/id``; here and wherever a method takes a version.
    """
    if isinstance(number, str) and not find_tags:
        return (yield from named_version(subject, number))
    number = yield from number_of(subject, number)
    return (yield from request_answer(GetVersion(subject_of(subject), number, deleted, find_tags)))


def named_version(subject: str, name: str, scheme: str = "") -> Exchange[VersionFound]:
    """Return the version with a name by an id scheme (default: that of the subject's ids), also if it is deleted."""
    name = name.removeprefix(f"{subject}/")
    return (yield from request_answer(GetNamedVersion(subject_of(subject), name, scheme)))


def number_of(subject: str, version: int | str) -> Exchange[int]:
    """Return the number of a version: as given, or of the version with this id."""
    return version if isinstance(version, int) else (yield from named_version(subject, version)).number


def find(subject: str, properties: Pairs, *, deleted: bool = False) -> Exchange[VersionFound]:
    """Return the newest version whose metadata has all these properties."""
    return (yield from request_answer(FindVersion(subject_of(subject), properties, deleted)))


def versions(subject: str, visible: Visible = "live") -> Exchange[tuple[int, ...]]:
    """Return the subject's version numbers, ascending."""
    return (yield from request_answer(ListVersions(subject_of(subject), visible))).numbers


def subjects(prefix: str = ":*:", visible: Visible = "live") -> Exchange[tuple[str, ...]]:
    """Return qualified names of subjects, sorted; of all contexts by default."""
    return (yield from request_answer(ListSubjects(subject_of(prefix), visible))).names


def schemas(
    prefix: str = "", visible: Visible = "live", *, latest: bool = False, limit: int = 1000
) -> Exchange[tuple[VersionFound, ...]]:
    """Return versions of all subjects whose names begin with `prefix`; at most `limit` of them."""
    return (yield from request_answer(ListSchemas(subject_of(prefix), visible, latest, limit=limit))).versions


def delete_version(
    subject: str, number: int | str, *, permanent: bool = False, force: bool = False
) -> Exchange[tuple[int, ...]]:
    """Soft-delete a version; with `permanent` delete a soft-deleted one permanently, with `force` its encodings too."""
    chosen = yield from number_of(subject, number)
    return (yield from request_answer(DeleteVersion(subject_of(subject), chosen, permanent, force=force))).numbers


def delete_subject(subject: str, *, permanent: bool = False, force: bool = False) -> Exchange[tuple[int, ...]]:
    """Soft-delete all versions of a subject; with `permanent` delete soft-deleted ones permanently, with `force` their
    encodings too. Returns their numbers.
    """
    return (yield from request_answer(DeleteSubject(subject_of(subject), permanent, force))).numbers


# ------------------------------------------------------------------------------------------------------------- schemas


def schema(schema_id: int, subject: str | None = None) -> Exchange[SchemaFound]:
    """Return the schema with this id, in the subject's context if one is given."""
    return (yield from request_answer(GetSchema(schema_id, None if subject is None else subject_of(subject))))


def by_guid(guid: str) -> Exchange[SchemaFound]:
    """Return the schema with this guid."""
    return (yield from request_answer(GetGuid(guid)))


def ids_of(guid: str) -> Exchange[tuple[tuple[str, int], ...]]:
    """Return the (context, id) pairs of a guid."""
    return (yield from request_answer(GetGuidIds(guid))).ids


def uses(
    schema_id: int, subject: str | None = None, visible: Visible = "live"
) -> Exchange[tuple[tuple[str, int], ...]]:
    """Return every (subject, number) that has the schema with this id."""
    return (
        yield from request_answer(UsesOf(schema_id, None if subject is None else subject_of(subject), visible))
    ).uses


def referenced_by(subject: str, number: int | str = LATEST, *, deleted: bool = False) -> Exchange[tuple[int, ...]]:
    """Return ids of the schemas that refer to this version."""
    chosen = yield from number_of(subject, number)
    return (yield from request_answer(ReferencedBy(subject_of(subject), chosen, deleted))).ids


# ------------------------------------------------------------------------------------------------------------ settings


def config(scope: str = "", *, resolve: bool = True) -> Exchange[Config]:
    """Return the config in force at a subject or context ("": the default context), or only its own members."""
    return (yield from request_answer(GetConfig(as_scope(scope), resolve))).config


def set_config(scope: str, change: Config, clear: tuple[str, ...] = ()) -> Exchange[Config]:
    """Set members of the config and unset those in `clear`; returns the members now set."""
    return (yield from request_answer(SetConfig(as_scope(scope), change, clear))).config


def set_level(scope: str, level: str) -> Exchange[Config]:
    """Set the compatibility level at a subject or context."""
    return (yield from set_config(scope, Config(level=level)))


def settings(prefix: str = ":*:") -> Exchange[tuple[ScopeSetting, ...]]:
    """Return the settings of all contexts, of the whole registry, and of subjects that begin with `prefix`."""
    settings_found: list[ScopeSetting] = []
    while True:
        after = Scope(settings_found[-1].context, settings_found[-1].name) if settings_found else None
        page = (yield from request_answer(ListSettings(subject_of(prefix), after=after))).settings
        settings_found += page
        if len(page) < SETTINGS_PAGE:
            return tuple(settings_found)


def delete_config(scope: str) -> Exchange[Config]:
    """Delete the config at a scope; returns the deleted config."""
    return (yield from request_answer(DeleteConfig(as_scope(scope)))).config


def mode(scope: str = "", *, resolve: bool = True) -> Exchange[str | None]:
    """Return the mode in force at a subject or context, or only its own."""
    return (yield from request_answer(GetMode(as_scope(scope), resolve))).mode


def set_mode(scope: str, mode: str | None, *, force: bool = False) -> Exchange[str | None]:
    """Set the mode at a scope; None deletes it."""
    return (yield from request_answer(SetMode(as_scope(scope), mode, force))).mode


def delete_mode(scope: str, *, recursive: bool = False) -> Exchange[str | None]:
    """Delete the mode at a scope; returns the deleted mode."""
    return (yield from request_answer(DeleteMode(as_scope(scope), recursive))).mode


# -------------------------------------------------------------------------------------------------------------- others


def contexts(prefix: str = "") -> Exchange[tuple[str, ...]]:
    """Return the names of all contexts, the default one first."""
    return (yield from request_answer(ListContexts(prefix))).names


def make_context(context: str, highest_id: int = 0) -> Exchange[int]:
    """Create an empty context in mode IMPORT; returns the highest id that counts as assigned there."""
    return (yield from request_answer(MakeContext(context_of(context), highest_id))).highest_id


def delete_context(context: str) -> Exchange[None]:
    """Delete an empty context."""
    yield from request_answer(DeleteContext(context_of(context)))


# -------------------------------------------------------------------------------------------------------- associations


def associations(
    of: OfSubject | OfName | OfId | str,
    *,
    kinds: tuple[str, ...] = (),
    lifecycle: str = "",
    offset: int = 0,
    limit: int = ASSOCIATIONS_LISTED,
) -> Exchange[tuple[ResourceAssociation, ...]]:
    """Return the associations of a subject (a string names one) or of resources; at most `limit` of them."""
    place = OfSubject(subject_of(of)) if isinstance(of, str) else of
    request = ListAssociations(place, kinds=kinds, lifecycle=lifecycle, offset=offset, limit=limit)
    return (yield from request_answer(request)).associations


def find_associations(
    gets: tuple[ListAssociations, ...], *, schemas: bool = False
) -> Exchange[tuple[AssociationResult, ...]]:
    """Return the associations of several resources, one result per entry; with `schemas` also the latest schemas."""
    return (yield from request_answer(GetAssociations(gets, schemas))).results


def associate(
    resource: Resource, *specs: AssociationSpec, update: bool = False, dry_run: bool = False
) -> Exchange[ResourceBound]:
    """Associate a resource with subjects by kind, all or none; `update` changes existing associations."""
    return (yield from request_answer(Associate(resource, specs, update, dry_run)))


def dissociate(resource_id: str, *kinds: str, cascade: bool = False, dry_run: bool = False) -> Exchange[None]:
    """Delete associations of a resource; `cascade` permanently deletes the subjects of strong ones."""
    yield from request_answer(Dissociate(resource_id, kinds=kinds, cascade=cascade, dry_run=dry_run))


def change_associations(*changes: ResourceChange, dry_run: bool = False) -> Exchange[tuple[AssociationResult, ...]]:
    """Create, change and delete associations of several resources; returns the result of each entry."""
    return (yield from request_answer(ChangeAssociations(changes, dry_run))).results


# ------------------------------------------------------------------------------------------------------------ outcomes


def outcome(command_id: str, principal: str | None = None) -> Exchange[CommandOutcome]:
    """Return the outcome of a command; raises `NotFound` where it has no outcome."""
    return (yield from request_answer(GetOutcome(command_id, principal)))


# ---------------------------------------------------------------------------------------------------------- arguments


def as_draft(schema: Draft | str) -> Draft:
    """Return a schema argument as a draft; a string is Avro."""
    return Draft(schema) if isinstance(schema, str) else schema


def as_scope(text: str) -> Scope:
    """Parse a scope: a subject, a context (``:.context:``), the default context (``""``) or the whole registry (``*``)."""
    if text == EVERY_SCOPE:
        return Scope(EVERYWHERE, None)
    subject = subject_of(text)
    return Scope(subject.context, subject.name or None) if text else Scope(DEFAULT_CONTEXT, None)
