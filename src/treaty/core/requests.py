"""The requests of a registry, one frozen class each, typed with its answer.

Commands change the state, queries do not; `decide` decides both. Dialects build requests and print answers, clients
send them over HTTP, nodes decide them.
"""

from typing import Generic, Literal, TypeVar

from treaty.core.answers import (
    CommandOutcome,
    CompatibilityResult,
    Config,
    ConfigStored,
    ContextMade,
    Contexts,
    DeletedVersions,
    GuidIds,
    ModeStored,
    RegisteredVersion,
    SchemaFound,
    SchemaIds,
    ScopeSettings,
    Subjects,
    Uses,
    VersionFound,
    VersionNumbers,
    Versions,
)
from treaty.core.limits import COUNTER, SETTINGS_PAGE
from treaty.core.names import Subject
from treaty.core.policy import Level
from treaty.core.schema import Draft, Metadata, Pairs, RuleSet, TaggedPath
from treaty.light_dataclass import dataclass

A = TypeVar("A", covariant=True)

LATEST = -1
Selector = int
"""A version number of 1 or more, or `LATEST`."""


class Request(Generic[A]):
    """A request with an answer of type `A`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ForceReason:
    """Skip the policy; principal and reason are stored with the version."""

    who: str
    why: str


@dataclass(frozen=True, slots=True)
class ExpectedVersion:
    """The expected latest version: its number, ordinal or schema id (-1: no version)."""

    by: Literal["number", "ordinal", "schema_id"]
    value: int


@dataclass(frozen=True, slots=True)
class SubjectCreation:
    """Settings of a subject that the registration creates: origin, policy, properties, id schemes."""

    origin: str = "confluent"
    types: str = "across"
    order: str = "registration"
    identity: str = "canonical"
    policy: Config | None = None
    """The policy in the subject's own config; None: the inherited one."""
    properties: Pairs = ()
    schemes: tuple[str, ...] = ()
    private: bool = False


@dataclass(frozen=True, slots=True)
class Register(Request[RegisteredVersion]):
    """Register this schema as a version of the subject, unless it is one of the same format, type and identity.

    `number` is that of the version to be made (0: any; -1: the latest is to be this schema); `schema_id` sets the id in
    IMPORT mode (-1: none). `names` are further names of the version, (scheme, name), unique per scheme in the subject. Tags inside the text: with
    `propagate_tags` those of the latest version are copied if their part still exists, then `add_tags` are added and
    `remove_tags` removed.
    """

    subject: Subject
    draft: Draft
    normalize: bool | None = None
    """None: as configured."""
    number: int = 0
    schema_id: int = -1
    force: ForceReason | None = None
    expected: ExpectedVersion | None = None
    names: Pairs = ()
    properties: Pairs = ()
    create_with: SubjectCreation = SubjectCreation()
    time: int = -1
    """The registration time of an imported version, in milliseconds since the epoch (0: unknown); -1: now."""
    add_tags: tuple[TaggedPath, ...] = ()
    remove_tags: tuple[TaggedPath, ...] = ()
    propagate_tags: bool = False
    exact: bool = False
    """Register in this subject even if it is an alias, as imports do."""
    require_subject: bool = False
    """Refuse with `SubjectNotFound` where the subject does not exist; it is not created. One that another API than
    Confluent's created then takes formats without a plug-in too."""


@dataclass(frozen=True, slots=True)
class Derive(Request[RegisteredVersion]):
    """Register a copy of a version with other tags, metadata or rules.

    `number` is the expected number of the new version (0: any). `metadata` and `rules` replace those of the version
    (None: keep them); or rules in `remove_rules` are removed, and `merge_rules` are added, replacing those of the same
    names.
    """

    subject: Subject
    version: Selector
    number: int = 0
    add_tags: tuple[TaggedPath, ...] = ()
    remove_tags: tuple[TaggedPath, ...] = ()
    metadata: Metadata | None = None
    rules: RuleSet | None = None
    merge_rules: RuleSet | None = None
    remove_rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteVersion(Request[DeletedVersions]):
    """Soft-delete a version, or (`permanent`) delete a soft-deleted one permanently."""

    subject: Subject
    version: Selector
    permanent: bool = False
    exact: bool = False
    """Use this subject even if it is an alias."""
    force: bool = False
    """Remove its encodings too. Payloads that carry their ids can't be read afterwards."""


@dataclass(frozen=True, slots=True)
class DeleteSubject(Request[DeletedVersions]):
    """Soft-delete all versions of a subject, or (`permanent`) delete a soft-deleted subject permanently.

    A subject that was not created by Confluent's API stays without versions; `RemoveSubject` removes it.
    """

    subject: Subject
    permanent: bool = False
    force: bool = False
    """Remove encodings too. Payloads that carry their ids can't be read afterwards."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a setting: a subject (`name` set), a context (`name` None), or the registry (context ``*``)."""

    context: str = "."
    name: str | None = None


@dataclass(frozen=True, slots=True)
class SetConfig(Request[ConfigStored]):
    """Change members of the config at a scope: `change` has the new values, `clear` the names of members to unset."""

    scope: Scope
    change: Config
    clear: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteConfig(Request[ConfigStored]):
    """Delete the config at a scope; answers the deleted config."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class SetMode(Request[ModeStored]):
    """Set (or with None clear) the mode at a scope: READWRITE, READONLY, READONLY_OVERRIDE, IMPORT, FORWARD."""

    scope: Scope
    mode: str | None
    force: bool = False


@dataclass(frozen=True, slots=True)
class DeleteMode(Request[ModeStored]):
    """Delete the mode at a scope (`recursive`: also of the context's subjects); answers the deleted mode."""

    scope: Scope
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class MakeContext(Request[ContextMade]):
    """Create an empty context in which no id up to `highest_id` is assigned; for imports."""

    context: str
    highest_id: int = 0


@dataclass(frozen=True, slots=True)
class DeleteContext(Request[DeletedVersions]):
    """Delete an empty context."""

    context: str


@dataclass(frozen=True, slots=True)
class GetSchema(Request[SchemaFound]):
    """The schema with this id. `subject` determines the context, and the version in the answer."""

    schema_id: int
    subject: Subject | None = None
    max_id: bool = False
    """Include the highest id of the context."""
    find_tags: tuple[str, ...] = ()
    """Include the parts of the text with one of these tags; ``*`` is any."""


@dataclass(frozen=True, slots=True)
class GetGuid(Request[SchemaFound]):
    """The schema with this guid (32 hex digits, lower case, dashes as in a UUID)."""

    guid: str


@dataclass(frozen=True, slots=True)
class GetGuidIds(Request[GuidIds]):
    """The ids of a guid, one per context."""

    guid: str


@dataclass(frozen=True, slots=True)
class GetVersion(Request[VersionFound]):
    """One version of a subject."""

    subject: Subject
    version: Selector
    deleted: bool = False
    """Include soft-deleted versions."""
    find_tags: tuple[str, ...] = ()
    """Include the parts of the text with one of these tags; ``*`` is any."""
    exact: bool = False
    """Use this subject even if it is an alias, as references do."""


@dataclass(frozen=True, slots=True)
class FindVersion(Request[VersionFound]):
    """The newest version whose metadata has all these properties."""

    subject: Subject
    properties: Pairs
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Lookup(Request[VersionFound]):
    """The version of the subject with this schema, of any type unless the draft says one."""

    subject: Subject
    draft: Draft
    normalize: bool | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Check(Request[CompatibilityResult]):
    """Whether this schema is compatible with one version, or (None) with those that the subject's policy compares."""

    subject: Subject
    draft: Draft
    version: Selector | None = None
    normalize: bool | None = None
    level: Level | None = None
    """Check by this level, not by the subject's; with `version` None alone."""


Visible = Literal["live", "all", "deleted"]
"""The versions in a list: live ones, also soft-deleted ones, or only those."""


@dataclass(frozen=True, slots=True)
class ListSubjects(Request[Subjects]):
    """Subjects whose names begin with `prefix`; context ``*`` means all contexts.

    `after` is the last name of the previous page and takes precedence over `offset`, which is for registries without
    it.
    """

    prefix: Subject = Subject("*", "")
    visible: Visible = "live"
    offset: int = 0
    limit: int = COUNTER
    after: str | None = None


@dataclass(frozen=True, slots=True)
class ListVersions(Request[VersionNumbers]):
    """Version numbers of a subject, ascending; never empty (an empty list is a `SubjectNotFound`)."""

    subject: Subject
    visible: Visible = "live"


@dataclass(frozen=True, slots=True)
class ListSchemas(Request[Versions]):
    """Versions of all subjects that begin with `prefix`, by subject and number; `latest` keeps only the newest.

    `after` is (subject, number) of the last version of the previous page and takes precedence over `offset`.
    `rule_type` selects versions with a rule of this type. `resource_type`, `kinds` and `lifecycles` select subjects
    with such an association, the lifecycle NONE those without one; with any of them the answer has associations.
    """

    prefix: Subject = Subject(".", "")
    visible: Visible = "live"
    latest: bool = False
    offset: int = 0
    limit: int = 1000
    after: tuple[str, int] | None = None
    aliases: bool = False
    """Include the aliases of each subject."""
    rule_type: str = ""
    resource_type: str = ""
    kinds: tuple[str, ...] = ()
    lifecycles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsesOf(Request[Uses]):
    """Every (subject, number) that has the schema with this id."""

    schema_id: int
    subject: Subject | None = None
    visible: Visible = "live"


@dataclass(frozen=True, slots=True)
class ReferencedBy(Request[SchemaIds]):
    """Ids of schemas that refer to this version."""

    subject: Subject
    version: Selector
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class GetConfig(Request[ConfigStored]):
    """The config at a scope; with `resolve` the one in force."""

    scope: Scope
    resolve: bool = False


@dataclass(frozen=True, slots=True)
class GetMode(Request[ModeStored]):
    """The mode at a scope; with `resolve` the one in force."""

    scope: Scope
    resolve: bool = False


@dataclass(frozen=True, slots=True)
class ListSettings(Request[ScopeSettings]):
    """Settings of contexts, of the registry, and of subjects that begin with `prefix`, in this order.

    With a name in the prefix only subjects are listed, else every context, with or without settings. A page has at most
    `SETTINGS_PAGE` entries; `after` is the last scope of the previous page and takes precedence over `offset`.
    """

    prefix: Subject = Subject("*", "")
    offset: int = 0
    limit: int = SETTINGS_PAGE
    after: Scope | None = None


@dataclass(frozen=True, slots=True)
class ListContexts(Request[Contexts]):
    """All contexts, the default one first."""

    prefix: str = ""


@dataclass(frozen=True, slots=True)
class GetOutcome(Request[CommandOutcome]):
    """The outcome of a command by id: of the caller, or of the given principal."""

    command_id: str
    principal: str | None = None
