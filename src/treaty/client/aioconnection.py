"""`AsyncConnection`: a registry with a method for everything that is usually asked, for asyncio programs.

It says what `Connection` says, word for word, with ``await``; a test holds the two together.
"""

from types import TracebackType
from typing import Self, TypeVar

from treaty.client.connection import as_draft, as_scope
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
from treaty.core.names import context_of, subject_of
from treaty.core.registry import CALL, AsyncRegistry, Call, Reply
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


class AsyncConnection:
    """A registry and the `Call` that its methods are made with."""

    def __init__(self, registry: AsyncRegistry, call: Call = CALL) -> None:
        """Stand before `registry`, which is closed with this one."""
        self.registry = registry
        self.call = call

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def ask(self, request: Request[A], call: Call | None = None) -> Reply[A]:
        """Answer any request, with the token of the state that the answer was taken from."""
        return await self.registry.ask(request, call or self.call)

    async def close(self) -> None:
        """Give back connections, threads and files."""
        await self.registry.close()

    # --------------------------------------------------------------------------------------------------- versions

    async def register(
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
        return await self._answer(
            Register(into, draft, normalize, number, schema_id, expected=expected, force=force, properties=properties)
        )

    async def derive(
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
        return await self._answer(request)

    async def lookup(
        self, subject: str, schema: Draft | str, *, normalize: bool | None = None, deleted: bool = False
    ) -> VersionFound:
        """Return the version of the subject that this schema is."""
        return await self._answer(Lookup(subject_of(subject), as_draft(schema), normalize, deleted))

    async def check(
        self, subject: str, schema: Draft | str, version: int | None = None, *, normalize: bool | None = None
    ) -> CompatibilityResult:
        """Tell whether the schema would pass: against one version, or those that the subject's policy compares."""
        return await self._answer(Check(subject_of(subject), as_draft(schema), version, normalize))

    async def version(
        self, subject: str, number: int = LATEST, *, deleted: bool = False, find_tags: tuple[str, ...] = ()
    ) -> VersionFound:
        """Return one version of the subject, the latest by default; `find_tags` asks for tags inside it (``*``: all)."""
        return await self._answer(GetVersion(subject_of(subject), number, deleted, find_tags))

    async def find(self, subject: str, properties: Pairs, *, deleted: bool = False) -> VersionFound:
        """Return the newest version whose metadata has all these properties."""
        return await self._answer(FindVersion(subject_of(subject), properties, deleted))

    async def versions(self, subject: str, visible: Visible = "live") -> tuple[int, ...]:
        """Return the subject's version numbers, ascending."""
        return (await self._answer(ListVersions(subject_of(subject), visible))).numbers

    async def subjects(self, prefix: str = ":*:", visible: Visible = "live") -> tuple[str, ...]:
        """Return qualified names of subjects, sorted; of all contexts by default."""
        return (await self._answer(ListSubjects(subject_of(prefix), visible))).names

    async def schemas(
        self, prefix: str = "", visible: Visible = "live", *, latest: bool = False, limit: int = 1000
    ) -> tuple[VersionFound, ...]:
        """Return versions of all subjects whose names begin with `prefix`; at most `limit` of them."""
        return (await self._answer(ListSchemas(subject_of(prefix), visible, latest, limit=limit))).versions

    async def delete_version(self, subject: str, number: int, *, permanent: bool = False) -> tuple[int, ...]:
        """Hide a version, or (when it is hidden) remove it for good."""
        return (await self._answer(DeleteVersion(subject_of(subject), number, permanent))).numbers

    async def delete_subject(self, subject: str, *, permanent: bool = False) -> tuple[int, ...]:
        """Hide all versions of a subject, or (when they are hidden) remove it for good; returns their numbers."""
        return (await self._answer(DeleteSubject(subject_of(subject), permanent))).numbers

    # ---------------------------------------------------------------------------------------------------- schemas

    async def schema(self, schema_id: int, subject: str | None = None) -> SchemaFound:
        """Return the schema with this id, in the subject's context if one is given."""
        return await self._answer(GetSchema(schema_id, None if subject is None else subject_of(subject)))

    async def by_guid(self, guid: str) -> SchemaFound:
        """Return the schema with this guid."""
        return await self._answer(GetGuid(guid))

    async def ids_of(self, guid: str) -> tuple[tuple[str, int], ...]:
        """Return the (context, id) pairs of a guid."""
        return (await self._answer(GetGuidIds(guid))).ids

    async def uses(
        self, schema_id: int, subject: str | None = None, visible: Visible = "live"
    ) -> tuple[tuple[str, int], ...]:
        """Return every (subject, number) that has the schema with this id."""
        return (await self._answer(UsesOf(schema_id, None if subject is None else subject_of(subject), visible))).uses

    async def referenced_by(self, subject: str, number: int = LATEST, *, deleted: bool = False) -> tuple[int, ...]:
        """Return ids of the schemas that refer to this version."""
        return (await self._answer(ReferencedBy(subject_of(subject), number, deleted))).ids

    # --------------------------------------------------------------------------------------------------- settings

    async def config(self, scope: str = "", *, resolve: bool = True) -> Config:
        """Return the config in force at a subject or context ("": the default one); or only what is set there."""
        return (await self._answer(GetConfig(as_scope(scope), resolve))).config

    async def set_config(self, scope: str, change: Config, clear: tuple[str, ...] = ()) -> Config:
        """Change members of the config and forget those named in `clear`; returns what is set there now."""
        return (await self._answer(SetConfig(as_scope(scope), change, clear))).config

    async def set_level(self, scope: str, level: str) -> Config:
        """Set the compatibility level at a subject or context."""
        return await self.set_config(scope, Config(level=level))

    async def settings(self, prefix: str = ":*:") -> tuple[ScopeSetting, ...]:
        """Return what is set at contexts, everywhere and at subjects that begin with `prefix`; contexts are always among them."""
        found: list[ScopeSetting] = []
        while True:
            after = Scope(found[-1].context, found[-1].name) if found else None
            page = (await self._answer(ListSettings(subject_of(prefix), after=after))).settings
            found += page
            if len(page) < SETTINGS_PAGE:
                return tuple(found)

    async def delete_config(self, scope: str) -> Config:
        """Forget the config at a scope; returns what it was."""
        return (await self._answer(DeleteConfig(as_scope(scope)))).config

    async def mode(self, scope: str = "", *, resolve: bool = True) -> str | None:
        """Return the mode in force at a subject or context, or only what is set there."""
        return (await self._answer(GetMode(as_scope(scope), resolve))).mode

    async def set_mode(self, scope: str, mode: str | None, *, force: bool = False) -> str | None:
        """Set the mode at a scope, or clear it with None."""
        return (await self._answer(SetMode(as_scope(scope), mode, force))).mode

    async def delete_mode(self, scope: str, *, recursive: bool = False) -> str | None:
        """Forget the mode at a scope; returns what it was."""
        return (await self._answer(DeleteMode(as_scope(scope), recursive))).mode

    # ----------------------------------------------------------------------------------------------------- others

    async def contexts(self, prefix: str = "") -> tuple[str, ...]:
        """Return the names of all contexts, the default one first."""
        return (await self._answer(ListContexts(prefix))).names

    async def make_context(self, context: str, highest_id: int = 0) -> int:
        """Make a context in mode IMPORT before it has a subject; returns the highest id that counts as given there."""
        return (await self._answer(MakeContext(context_of(context), highest_id))).highest_id

    async def delete_context(self, context: str) -> None:
        """Forget an empty context."""
        await self._answer(DeleteContext(context_of(context)))

    # ------------------------------------------------------------------------------------------------ associations

    async def associations(
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
        return (await self._answer(request)).associations

    async def find_associations(
        self, gets: tuple[ListAssociations, ...], *, schemas: bool = False
    ) -> tuple[AssociationResult, ...]:
        """Return the associations of several resources, entry by entry; `schemas` tells the latest schemas too."""
        return (await self._answer(GetAssociations(gets, schemas))).results

    async def associate(
        self, resource: Resource, *wishes: AssociationSpec, update: bool = False, dry_run: bool = False
    ) -> ResourceBound:
        """Bind kinds of a resource to subjects, all or none; `update` changes what is bound already."""
        return await self._answer(Associate(resource, wishes, update, dry_run))

    async def dissociate(self, resource_id: str, *kinds: str, cascade: bool = False, dry_run: bool = False) -> None:
        """Forget associations of a resource; with `cascade` the subjects of strong ones go for good."""
        await self._answer(Dissociate(resource_id, kinds=kinds, cascade=cascade, dry_run=dry_run))

    async def change_associations(
        self, *changes: ResourceChange, dry_run: bool = False
    ) -> tuple[AssociationResult, ...]:
        """Create, change and delete associations of several resources; returns what became of each entry."""
        return (await self._answer(ChangeAssociations(changes, dry_run))).results

    # ---------------------------------------------------------------------------------------------------- outcomes

    async def outcome(self, command_id: str, principal: str | None = None) -> CommandOutcome:
        """Return what became of a command; raises `NotFound` where nobody remembers it."""
        return await self._answer(GetOutcome(command_id, principal))

    async def _answer(self, request: Request[A]) -> A:
        return (await self.registry.ask(request, self.call)).answer
