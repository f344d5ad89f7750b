"""`Connection`: a registry with a method for everything that is usually asked, answers without wrapping.

It is a `Registry` itself, so serializers and caches take it as it is. Subjects are given as strings in their qualified
form (``orders-value``, ``:.context:orders-value``), schemas as texts or as `Draft`.
"""

from types import TracebackType
from typing import Self, TypeVar

from treaty.core.answers import (
    CommandOutcome,
    CompatibilityResult,
    Config,
    RegisteredVersion,
    Resource,
    ResourceAssociation,
    SchemaFound,
    ScopeSetting,
    VersionFound,
)
from treaty.core.associations import (
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
    ResourceBound,
    ResourceChange,
)
from treaty.core.limits import ASSOCIATIONS_LISTED, SETTINGS_PAGE
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, context_of, subject_of
from treaty.core.registry import CALL, Call, Registry, Reply
from treaty.core.requests import (
    LATEST,
    Check,
    DeleteConfig,
    DeleteContext,
    DeleteMode,
    DeleteSubject,
    DeleteVersion,
    Derive,
    ExpectedVersion,
    FindVersion,
    ForceReason,
    GetConfig,
    GetGuid,
    GetGuidIds,
    GetMode,
    GetOutcome,
    GetSchema,
    GetVersion,
    ListContexts,
    ListSchemas,
    ListSettings,
    ListSubjects,
    ListVersions,
    Lookup,
    MakeContext,
    ReferencedBy,
    Register,
    Request,
    Scope,
    SetConfig,
    SetMode,
    UsesOf,
    Visible,
)
from treaty.core.schema import Draft, Metadata, Pairs, RuleSet, TaggedPath

A = TypeVar("A")

EVERY_SCOPE = "*"
"""In place of a subject: the settings that hold everywhere."""


class Connection:
    """A registry and the `Call` that its methods are made with."""

    def __init__(self, registry: Registry, call: Call = CALL) -> None:
        """Stand before `registry`, which is closed with this one."""
        self.registry = registry
        self.call = call

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, request: Request[A], call: Call | None = None) -> Reply[A]:
        """Answer any request, with the token of the state that the answer was taken from."""
        return self.registry.ask(request, call or self.call)

    def close(self) -> None:
        """Give back connections, threads and files."""
        self.registry.close()

    # --------------------------------------------------------------------------------------------------- versions

    def register(
        self,
        subject: str,
        schema: Draft | str,
        *,
        normalize: bool | None = None,
        number: int = 0,
        schema_id: int = -1,
        expected: ExpectedVersion | None = None,
        force: ForceReason | None = None,
        properties: Pairs = (),
    ) -> RegisteredVersion:
        """Make the schema a version of the subject, unless it is one already.

        `number` guards the version's number, `schema_id` gives the id in mode IMPORT.
        """
        draft, into = as_draft(schema), subject_of(subject)
        return self._answer(
            Register(into, draft, normalize, number, schema_id, expected=expected, force=force, properties=properties)
        )

    def derive(
        self,
        subject: str,
        version: int = LATEST,
        *,
        add_tags: tuple[TaggedPath, ...] = (),
        remove_tags: tuple[TaggedPath, ...] = (),
        metadata: Metadata | None = None,
        rules: RuleSet | None = None,
        number: int = 0,
    ) -> RegisteredVersion:
        """Make a new version out of one: with tags inside its text added and removed, other metadata, other rules."""
        request = Derive(subject_of(subject), version, number, add_tags, remove_tags, metadata, rules)
        return self._answer(request)

    def lookup(
        self, subject: str, schema: Draft | str, *, normalize: bool | None = None, deleted: bool = False
    ) -> VersionFound:
        """Return the version of the subject that this schema is."""
        return self._answer(Lookup(subject_of(subject), as_draft(schema), normalize, deleted))

    def check(
        self, subject: str, schema: Draft | str, version: int | None = None, *, normalize: bool | None = None
    ) -> CompatibilityResult:
        """Tell whether the schema would pass: against one version, or those that the subject's policy compares."""
        return self._answer(Check(subject_of(subject), as_draft(schema), version, normalize))

    def version(
        self, subject: str, number: int = LATEST, *, deleted: bool = False, find_tags: tuple[str, ...] = ()
    ) -> VersionFound:
        """Return one version of the subject, the latest by default; `find_tags` asks for tags inside it (``*``: all)."""
        return self._answer(GetVersion(subject_of(subject), number, deleted, find_tags))

    def find(self, subject: str, properties: Pairs, *, deleted: bool = False) -> VersionFound:
        """Return the newest version whose metadata has all these properties."""
        return self._answer(FindVersion(subject_of(subject), properties, deleted))

    def versions(self, subject: str, visible: Visible = "live") -> tuple[int, ...]:
        """Return the subject's version numbers, ascending."""
        return self._answer(ListVersions(subject_of(subject), visible)).numbers

    def subjects(self, prefix: str = ":*:", visible: Visible = "live") -> tuple[str, ...]:
        """Return qualified names of subjects, sorted; of all contexts by default."""
        return self._answer(ListSubjects(subject_of(prefix), visible)).names

    def schemas(
        self, prefix: str = "", visible: Visible = "live", *, latest: bool = False, limit: int = 1000
    ) -> tuple[VersionFound, ...]:
        """Return versions of all subjects whose names begin with `prefix`; at most `limit` of them."""
        return self._answer(ListSchemas(subject_of(prefix), visible, latest, limit=limit)).versions

    def delete_version(self, subject: str, number: int, *, permanent: bool = False) -> tuple[int, ...]:
        """Hide a version, or (when it is hidden) remove it for good."""
        return self._answer(DeleteVersion(subject_of(subject), number, permanent)).numbers

    def delete_subject(self, subject: str, *, permanent: bool = False) -> tuple[int, ...]:
        """Hide all versions of a subject, or (when they are hidden) remove it for good; returns their numbers."""
        return self._answer(DeleteSubject(subject_of(subject), permanent)).numbers

    # ---------------------------------------------------------------------------------------------------- schemas

    def schema(self, schema_id: int, subject: str | None = None) -> SchemaFound:
        """Return the schema with this id, in the subject's context if one is given."""
        return self._answer(GetSchema(schema_id, None if subject is None else subject_of(subject)))

    def by_guid(self, guid: str) -> SchemaFound:
        """Return the schema with this guid."""
        return self._answer(GetGuid(guid))

    def ids_of(self, guid: str) -> tuple[tuple[str, int], ...]:
        """Return the (context, id) pairs of a guid."""
        return self._answer(GetGuidIds(guid)).ids

    def uses(
        self, schema_id: int, subject: str | None = None, visible: Visible = "live"
    ) -> tuple[tuple[str, int], ...]:
        """Return every (subject, number) that has the schema with this id."""
        return self._answer(UsesOf(schema_id, None if subject is None else subject_of(subject), visible)).uses

    def referenced_by(self, subject: str, number: int = LATEST, *, deleted: bool = False) -> tuple[int, ...]:
        """Return ids of the schemas that refer to this version."""
        return self._answer(ReferencedBy(subject_of(subject), number, deleted)).ids

    # --------------------------------------------------------------------------------------------------- settings

    def config(self, scope: str = "", *, resolve: bool = True) -> Config:
        """Return the config in force at a subject or context ("": the default one); or only what is set there."""
        return self._answer(GetConfig(as_scope(scope), resolve)).config

    def set_config(self, scope: str, change: Config, clear: tuple[str, ...] = ()) -> Config:
        """Change members of the config and forget those named in `clear`; returns what is set there now."""
        return self._answer(SetConfig(as_scope(scope), change, clear)).config

    def set_level(self, scope: str, level: str) -> Config:
        """Set the compatibility level at a subject or context."""
        return self.set_config(scope, Config(level=level))

    def settings(self, prefix: str = ":*:") -> tuple[ScopeSetting, ...]:
        """Return what is set at contexts, everywhere and at subjects that begin with `prefix`; contexts are always among them."""
        found: list[ScopeSetting] = []
        while True:
            after = Scope(found[-1].context, found[-1].name) if found else None
            page = self._answer(ListSettings(subject_of(prefix), after=after)).settings
            found += page
            if len(page) < SETTINGS_PAGE:
                return tuple(found)

    def delete_config(self, scope: str) -> Config:
        """Forget the config at a scope; returns what it was."""
        return self._answer(DeleteConfig(as_scope(scope))).config

    def mode(self, scope: str = "", *, resolve: bool = True) -> str | None:
        """Return the mode in force at a subject or context, or only what is set there."""
        return self._answer(GetMode(as_scope(scope), resolve)).mode

    def set_mode(self, scope: str, mode: str | None, *, force: bool = False) -> str | None:
        """Set the mode at a scope, or clear it with None."""
        return self._answer(SetMode(as_scope(scope), mode, force)).mode

    def delete_mode(self, scope: str, *, recursive: bool = False) -> str | None:
        """Forget the mode at a scope; returns what it was."""
        return self._answer(DeleteMode(as_scope(scope), recursive)).mode

    # ----------------------------------------------------------------------------------------------------- others

    def contexts(self, prefix: str = "") -> tuple[str, ...]:
        """Return the names of all contexts, the default one first."""
        return self._answer(ListContexts(prefix)).names

    def make_context(self, context: str, highest_id: int = 0) -> int:
        """Make a context in mode IMPORT before it has a subject; returns the highest id that counts as given there."""
        return self._answer(MakeContext(context_of(context), highest_id)).highest_id

    def delete_context(self, context: str) -> None:
        """Forget an empty context."""
        self._answer(DeleteContext(context_of(context)))

    # ------------------------------------------------------------------------------------------------ associations

    def associations(
        self,
        of: OfSubject | OfName | OfId | str,
        *,
        kinds: tuple[str, ...] = (),
        lifecycle: str = "",
        offset: int = 0,
        limit: int = ASSOCIATIONS_LISTED,
    ) -> tuple[ResourceAssociation, ...]:
        """Return the associations of a subject (a string names one) or of resources; at most `limit` of them."""
        place = OfSubject(subject_of(of)) if isinstance(of, str) else of
        request = ListAssociations(place, kinds=kinds, lifecycle=lifecycle, offset=offset, limit=limit)
        return self._answer(request).associations

    def find_associations(
        self, gets: tuple[ListAssociations, ...], *, schemas: bool = False
    ) -> tuple[AssociationResult, ...]:
        """Return the associations of several resources, entry by entry; `schemas` tells the latest schemas too."""
        return self._answer(GetAssociations(gets, schemas)).results

    def associate(
        self, resource: Resource, *wishes: AssociationSpec, update: bool = False, dry_run: bool = False
    ) -> ResourceBound:
        """Bind kinds of a resource to subjects, all or none; `update` changes what is bound already."""
        return self._answer(Associate(resource, wishes, update, dry_run))

    def dissociate(self, resource_id: str, *kinds: str, cascade: bool = False, dry_run: bool = False) -> None:
        """Forget associations of a resource; with `cascade` the subjects of strong ones go for good."""
        self._answer(Dissociate(resource_id, kinds=kinds, cascade=cascade, dry_run=dry_run))

    def change_associations(self, *changes: ResourceChange, dry_run: bool = False) -> tuple[AssociationResult, ...]:
        """Create, change and delete associations of several resources; returns what became of each entry."""
        return self._answer(ChangeAssociations(changes, dry_run)).results

    # ---------------------------------------------------------------------------------------------------- outcomes

    def outcome(self, command_id: str, principal: str | None = None) -> CommandOutcome:
        """Return what became of a command; raises `NotFound` where nobody remembers it."""
        return self._answer(GetOutcome(command_id, principal))

    def _answer(self, request: Request[A]) -> A:
        return self.registry.ask(request, self.call).answer


def as_draft(schema: Draft | str) -> Draft:
    """A schema as people give it: a text is Avro."""
    return Draft(schema) if isinstance(schema, str) else schema


def as_scope(text: str) -> Scope:
    """Read a scope: a subject, a context (``:.context:``), the default context (``""``) or everywhere (``*``)."""
    if text == EVERY_SCOPE:
        return Scope(EVERYWHERE, None)
    subject = subject_of(text)
    return Scope(subject.context, subject.name or None) if text else Scope(DEFAULT_CONTEXT, None)
