"""Everything that may be asked of a registry: one frozen class per question, typed with its answer.

Commands change state, queries don't; both are decided by the same function. A dialect builds one of these and prints
the answer, a client carries it over HTTP, a node decides it.
"""

from dataclasses import dataclass
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
from treaty.core.schema import Draft, Metadata, Pairs, RuleSet, TaggedPath

A = TypeVar("A", covariant=True)

LATEST = -1
Selector = int
"""A version number of 1 or more, or `LATEST`."""


class Request(Generic[A]):
    """A question whose answer is an `A`."""

    __slots__ = ()


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class ForceReason:
    """Skip the policy, and say so in the version: who, and why."""

    who: str
    why: str


@dataclass(frozen=True, slots=True)
class ExpectedVersion:
    """What the sender takes for the last version: its number, its ordinal or its schema id (-1: no version)."""

    by: Literal["number", "ordinal", "schema_id"]
    value: int


@dataclass(frozen=True, slots=True)
class SubjectCreation:
    """How a subject is made if it is not there: origin, policy and properties; the rest follows from the origin."""

    origin: str = "confluent"
    types: str = "across"
    order: str = "registration"
    identity: str = "canonical"
    policy: Config | None = None
    """What the subject's own config is to say of its policy; None means that the config chain decides."""
    properties: Pairs = ()


@dataclass(frozen=True, slots=True)
class Register(Request[RegisteredVersion]):
    """Make this schema a version of the subject, unless it is one already.

    `number` guards the version's number (0: none asked for); `schema_id` gives it in IMPORT mode (-1: none). `names`
    are further names of the version, (scheme, name), unique per scheme in the subject.
    Tags inside the text: those of the latest version are taken over where `propagate_tags` says so and what they
    belong to is still there, then `add_tags` are added and `remove_tags` removed.
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
    """When it was registered, in milliseconds since the epoch, where somebody imports it (0: not known); -1: now."""
    add_tags: tuple[TaggedPath, ...] = ()
    remove_tags: tuple[TaggedPath, ...] = ()
    propagate_tags: bool = False
    exact: bool = False
    """To this subject itself, even where it is an alias, as importers mean it."""


@dataclass(frozen=True, slots=True)
class Derive(Request[RegisteredVersion]):
    """Make a new version out of one that is there: the same schema with other tags inside, metadata or rules.

    `number` guards the new version's number (0: none asked for). `metadata` and `rules` replace what the
    version has (None: keep it); or `merge_rules` replace its rules of the same names and are added, after those named in
    `remove_rules` are gone.
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
    """Hide a version, or (`permanent`, after hiding it) remove it for good."""

    subject: Subject
    version: Selector
    permanent: bool = False
    exact: bool = False
    """Of this subject itself, even where it is an alias."""


@dataclass(frozen=True, slots=True)
class DeleteSubject(Request[DeletedVersions]):
    """Hide all versions of a subject, or (`permanent`, after hiding them) remove it for good."""

    subject: Subject
    permanent: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a setting holds: a subject (`name` set), a context (`name` None), or everywhere (context ``*``)."""

    context: str = "."
    name: str | None = None


@dataclass(frozen=True, slots=True)
class SetConfig(Request[ConfigStored]):
    """Change members of the config at a scope: `change` has the new values, `clear` names those to forget."""

    scope: Scope
    change: Config
    clear: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteConfig(Request[ConfigStored]):
    """Forget the config at a scope; answers what it was."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class SetMode(Request[ModeStored]):
    """Set (or with None clear) the mode at a scope: READWRITE, READONLY, READONLY_OVERRIDE, IMPORT, FORWARD."""

    scope: Scope
    mode: str | None
    force: bool = False


@dataclass(frozen=True, slots=True)
class DeleteMode(Request[ModeStored]):
    """Forget the mode at a scope (`recursive`: of the context's subjects too); answers what it was."""

    scope: Scope
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class MakeContext(Request[ContextMade]):
    """Make a context before it has a subject, and give no id up to `highest_id` in it; for those who import into it."""

    context: str
    highest_id: int = 0


@dataclass(frozen=True, slots=True)
class DeleteContext(Request[DeletedVersions]):
    """Forget an empty context."""

    context: str


# -------------------------------------------------------------------------------------------------------- queries


@dataclass(frozen=True, slots=True)
class GetSchema(Request[SchemaFound]):
    """The schema with this id. `subject` says in which context to look first, and which use to name."""

    schema_id: int
    subject: Subject | None = None
    max_id: bool = False
    """Tell the highest id of the context too."""
    find_tags: tuple[str, ...] = ()
    """Tell what inside the text has one of these tags; ``*`` means any."""


@dataclass(frozen=True, slots=True)
class GetGuid(Request[SchemaFound]):
    """The schema with this guid (32 hex digits, lower case, dashes as in a UUID)."""

    guid: str


@dataclass(frozen=True, slots=True)
class GetGuidIds(Request[GuidIds]):
    """The ids that a guid has, one per context."""

    guid: str


@dataclass(frozen=True, slots=True)
class GetVersion(Request[VersionFound]):
    """One version of a subject."""

    subject: Subject
    version: Selector
    deleted: bool = False
    """Count softly deleted ones too."""
    find_tags: tuple[str, ...] = ()
    """Tell what inside the text has one of these tags; ``*`` means any."""
    exact: bool = False
    """Of this subject itself, even where it is an alias, as references mean it."""


@dataclass(frozen=True, slots=True)
class FindVersion(Request[VersionFound]):
    """The newest version whose metadata has all these properties."""

    subject: Subject
    properties: Pairs
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Lookup(Request[VersionFound]):
    """The version of the subject that this schema is."""

    subject: Subject
    draft: Draft
    normalize: bool | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Check(Request[CompatibilityResult]):
    """Would this schema pass the policy of the subject: against one version, or (None) those the policy compares?"""

    subject: Subject
    draft: Draft
    version: Selector | None = None
    normalize: bool | None = None


Visible = Literal["live", "all", "deleted"]
"""Which versions a list shows: live ones, softly deleted ones too, or only those."""


@dataclass(frozen=True, slots=True)
class ListSubjects(Request[Subjects]):
    """Subjects whose names begin with `prefix`; context ``*`` means all contexts.

    A list may be asked for in pages: `after` is the last name of the page before. Where it is given it counts, and
    `offset` is for registries that know nothing of it.
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

    `after` is (subject, number) of the last one of the page before; where it is given `offset` does not count.
    `rule_type` keeps versions with a rule of this type. `resource_type`, `kinds` and `lifecycles` keep subjects with such
    an association, the lifecycle NONE those without one; where one of them is given, the answer has associations.
    """

    prefix: Subject = Subject(".", "")
    visible: Visible = "live"
    latest: bool = False
    offset: int = 0
    limit: int = 1000
    after: tuple[str, int] | None = None
    aliases: bool = False
    """Tell which subjects stand for the one of each version."""
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
    """The config at a scope; `resolve` follows the chain to what is in force."""

    scope: Scope
    resolve: bool = False


@dataclass(frozen=True, slots=True)
class GetMode(Request[ModeStored]):
    """The mode at a scope; `resolve` follows the chain to what is in force."""

    scope: Scope
    resolve: bool = False


@dataclass(frozen=True, slots=True)
class ListSettings(Request[ScopeSettings]):
    """What is set at contexts, everywhere, and at subjects that begin with `prefix`, in this order.

    With a name in the prefix only subjects are listed, else every context is, be anything set there or not. A page has
    at most `SETTINGS_PAGE` entries; the next one continues `after` the last scope of the one before, whatever `offset` says.
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
    """What became of a command, by its id: one of the asker's own, or of the principal who is named."""

    command_id: str
    principal: str | None = None
