"""The answers of a registry, one frozen class each."""

from dataclasses import field

from treaty.core.finding import Finding
from treaty.core.policy import Level
from treaty.core.schema import Metadata, Pairs, Reference, RuleSet, TaggedPath
from treaty.light_dataclass import dataclass

TOPIC = "topic"
"""The resource type of topics in requests of clients."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of associations: a topic, by name in a namespace (a cluster), and by an id that never changes."""

    name: str
    namespace: str
    id: str = ""
    type: str = TOPIC


@dataclass(frozen=True, slots=True)
class ResourceAssociation:
    """An association. `subject` is qualified; times are in milliseconds since the epoch."""

    subject: str
    guid: str
    resource: Resource
    kind: str
    lifecycle: str = "WEAK"
    frozen: bool = False
    created: int = 0
    updated: int = 0


@dataclass(frozen=True, slots=True)
class SchemaFound:
    """A schema by id or guid; `subject` and `number` are one of its versions, if known."""

    schema_id: int
    guid: str
    format: str
    text: str
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rules: RuleSet | None = None
    context: str = "."
    subject: str = ""
    """Qualified name of a subject that has it, or ""."""
    number: int = 0
    time: int = 0
    deleted: bool = False
    max_id: int | None = None
    tags: tuple[TaggedPath, ...] = ()
    """Tags inside the text, if requested."""
    imports: Pairs = ()
    """Files that came with the text and that it imports, by path; no subject has them."""


@dataclass(frozen=True, slots=True)
class ForcedRegistration:
    """The caller who skipped the policy, and the reason."""

    who: str
    why: str


@dataclass(frozen=True, slots=True)
class VersionFound:
    """A version of a subject (qualified name), with its schema. `time` is in milliseconds since the epoch."""

    subject: str
    number: int
    ordinal: int
    schema_id: int
    guid: str
    format: str
    text: str
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rules: RuleSet | None = None
    time: int = 0
    deleted: bool = False
    properties: Pairs = ()
    forced: ForcedRegistration | None = None
    imported: bool = False
    """Whether it was imported with its id, without a compatibility check."""
    tags: tuple[TaggedPath, ...] = ()
    """Tags inside the text, if requested."""
    type_name: str = ""
    type_version: int = 0
    """The number among the versions of its format and type, from 0 on."""
    data: bytes | None = None
    """The bytes as sent, where they differ from the text; in answers to requests of groups and of encodings alone."""
    imports: Pairs = ()
    """Files that came with the text and that it imports, by path; no subject has them."""
    names: Pairs = ()
    """Its further names, (scheme, name); in answers to registrations and to requests of groups and of encodings alone."""
    warnings: tuple[str, ...] = ()
    """As in `DeletedVersions`; in answers to deletions alone."""


@dataclass(frozen=True, slots=True)
class RegisteredVersion:
    """The registered version; `created` is False if it existed before."""

    version: VersionFound
    created: bool
    warnings: tuple[Finding, ...] = ()
    """What is said of its label of SchemaVer. A repetition of the command does not say it again."""


@dataclass(frozen=True, slots=True)
class DeletedVersions:
    """Numbers of the deleted versions, ascending.

    `warnings` are names of sources that are bound to versions that were deleted softly: they read them still, and keep them from
    going for good. The first limits.WARNED_SOURCES that the caller may see.
    """

    numbers: tuple[int, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of a subject, a context or the registry; None is unset. Defaults of metadata and rules are completed by
    a new version's own, overrides replace them.
    """

    level: str | None = None
    """Compatibility level: NONE, BACKWARD, FORWARD, FULL and the _TRANSITIVE ones; in answers the nearest stricter one."""
    exact_level: Level | None = None
    """The exact level. In answers only if it has no name; `level` is then the nearest stricter one."""
    alias: str | None = None
    alias_for_deks: str | None = None
    normalize: bool | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    policy: str | None = None
    """STRICT, LENIENT or LOGICAL."""
    group: str | None = None
    """Name of the metadata property whose value partitions the versions that are compared; empty for none."""
    partition: str | None = None
    """The exact partition: empty, ``type`` (same format and type) or ``property:NAME``; in answers only if the group
    cannot express it.
    """
    validators: tuple[str, ...] | None = None
    """Validators that every new version must pass, with their parameters in parentheses."""
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rules: RuleSet | None = None
    override_rules: RuleSet | None = None
    follows: str | None = None
    """Name of a policy; level, partition, strictness and validators are then those of this policy."""


@dataclass(frozen=True, slots=True)
class ConfigStored:
    """The config at a scope, or the deleted one."""

    config: Config


@dataclass(frozen=True, slots=True)
class ModeStored:
    """The mode at a scope, or the deleted one; None if it was cleared."""

    mode: str | None


@dataclass(frozen=True, slots=True)
class ScopeSetting:
    """Settings of a subject, of a context (`name` None) or of the registry (context ``*``); None is unset. `highest_id`
    is the highest id ever assigned in a context, else 0.
    """

    context: str
    name: str | None
    config: Config | None = None
    mode: str | None = None
    highest_id: int = 0


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """Settings, by scope."""

    settings: tuple[ScopeSetting, ...]


@dataclass(frozen=True, slots=True)
class CompatibilityResult:
    """Whether a schema is compatible: the findings about the first incompatible version, and their messages in
    Confluent's form.
    """

    compatible: bool
    messages: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Subjects:
    """Qualified names, sorted."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VersionNumbers:
    """Version numbers, ascending; `deleted` are the soft-deleted ones among them."""

    numbers: tuple[int, ...]
    deleted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions, by subject and number, with aliases and associations of their subjects if requested."""

    versions: tuple[VersionFound, ...]
    aliases: tuple[tuple[str, ...], ...] = ()
    associations: tuple[tuple[ResourceAssociation, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Uses:
    """(qualified subject, number) pairs."""

    uses: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SchemaIds:
    """Schema ids, ascending."""

    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GuidIds:
    """(context, id) pairs."""

    ids: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Contexts:
    """Names of contexts, the default one first."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextMade:
    """A context, and the highest id that is assigned or reserved in it."""

    name: str
    highest_id: int


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The outcome of a command: the sequence of its commit, and the answer in its portable form."""

    command_id: str
    sequence: int
    result: str = ""
    members: Pairs = field(default=())
