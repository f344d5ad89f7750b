"""What a registry answers: one frozen class per kind of answer."""

from dataclasses import dataclass, field

from treaty.core.finding import Finding
from treaty.core.policy import Level
from treaty.core.schema import Metadata, Pairs, Reference, RuleSet, TaggedPath

TOPIC = "topic"
"""The type of resource that clients know."""


@dataclass(frozen=True, slots=True)
class Resource:
    """What is associated: a topic, by its name in a namespace (a cluster), and by an id that it keeps for life."""

    name: str
    namespace: str
    id: str = ""
    type: str = TOPIC


@dataclass(frozen=True, slots=True)
class ResourceAssociation:
    """One association as it stands. `subject` is qualified; times are milliseconds since the epoch."""

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
    """A schema by id or guid; `subject` and `number` name one use of it, where one is known."""

    schema_id: int
    guid: str
    format: str
    text: str
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rules: RuleSet | None = None
    context: str = "."
    subject: str = ""
    """Qualified name of a subject that has it, or empty."""
    number: int = 0
    time: int = 0
    deleted: bool = False
    max_id: int | None = None
    tags: tuple[TaggedPath, ...] = ()
    """What inside the text has tags, where they were asked for."""


@dataclass(frozen=True, slots=True)
class ForcedRegistration:
    """Who put a version past the policy, and why."""

    who: str
    why: str


@dataclass(frozen=True, slots=True)
class VersionFound:
    """A version of a subject (qualified name), with its schema. `time` is milliseconds since the epoch."""

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
    """Whether it came with its id from another registry, and did not have to pass the policy."""
    tags: tuple[TaggedPath, ...] = ()
    """What inside the text has tags, where they were asked for."""


@dataclass(frozen=True, slots=True)
class RegisteredVersion:
    """The version that the schema now is; `created` is False where it was one before."""

    version: VersionFound
    created: bool


@dataclass(frozen=True, slots=True)
class DeletedVersions:
    """Numbers of the versions that this deletion took, ascending."""

    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of a subject, a context or everything; None means not set here.

    `metadata` and `rules` members hold defaults (merged under) and overrides (merged over) for new versions.
    """

    level: str | None = None
    """Compatibility level: NONE, BACKWARD, FORWARD, FULL and their _TRANSITIVE forms; in answers the nearest stricter one."""
    exact_level: Level | None = None
    """The level itself. In answers only where no word names it, and the word beside it is then the nearest stricter one."""
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
    """The partition itself: empty, ``type`` (same format and type) or ``property:NAME``; in answers only where no group says it."""
    validators: tuple[str, ...] | None = None
    """Names of what every new version must follow beside its compatibility: lints of its format."""
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rules: RuleSet | None = None
    override_rules: RuleSet | None = None


@dataclass(frozen=True, slots=True)
class ConfigStored:
    """The config at a scope, or (for a deletion) the one that was there."""

    config: Config


@dataclass(frozen=True, slots=True)
class ModeStored:
    """The mode at a scope, or (for a deletion) the one that was there; None where it was cleared."""

    mode: str | None


@dataclass(frozen=True, slots=True)
class ScopeSetting:
    """What is set at a subject, at a context (`name` None) or everywhere (context ``*``); None where nothing is.

    `highest_id` is the highest id that the context ever gave, 0 for all but contexts.
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
    """Whether a schema is compatible: findings of the first version that fails, and the same as the dialects print them."""

    compatible: bool
    messages: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Subjects:
    """Qualified names, sorted."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VersionNumbers:
    """Version numbers, ascending; `deleted` are those among them that are softly deleted."""

    numbers: tuple[int, ...]
    deleted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions, by subject and number; beside each, where it was asked for, aliases and associations of its subject."""

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
    """A context that is there, and the highest id that it gave or counts as given."""

    name: str
    highest_id: int


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """What became of a command: the sequence of its commit, and the answer in its portable form."""

    command_id: str
    sequence: int
    result: str = ""
    members: Pairs = field(default=())
