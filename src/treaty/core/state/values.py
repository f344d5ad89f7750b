"""The values of rows: one frozen class per state table, with what each member means."""

from dataclasses import field
from typing import ClassVar

from treaty.core.policy import NONE, ForcedRegistration, Level, VersionRange
from treaty.core.schema import Metadata, Pairs, RuleSet
from treaty.core.sources import Assignment, DroppedSource, PlanningJob, Runner, Source, StoredType, Topic, TopicLease
from treaty.light_dataclass import dataclass

Extra = tuple[tuple[str, str], ...]
"""Members that this version of Treaty does not know: name and JSON text. They are kept."""


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes exactly as sent; kept only where they differ from the canonical text, and for opaque formats."""

    data: bytes
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class StoredReference:
    """A stored reference: subject and number as sent (the guid covers them), and the schema id they meant."""

    name: str
    subject: str
    version: int
    schema_id: int


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema in its context: canonical text, what identity covers, and the digests that indexes need.

    `lookup_digest` is the digest of format and text by which equal schemas are found (`core/schema.py`): its references are
    inlined, and what its format's equality ignores is in one order.
    """

    guid: str
    format: str
    text: str
    lookup_digest: str
    references: tuple[StoredReference, ...] = ()
    metadata: Metadata | None = None
    rules: RuleSet | None = None
    type_name: str = ""
    imports: Pairs = ()
    """Files that came with the text, by path; they are bound as references are, and the guid covers them."""
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class SubjectValue:
    """A subject. `generation` is the sequence of the commit that made it: made again, it is somebody else.

    `types`: across (any version may be compared with any other), one, many. `order`: registration, schemaver.
    `identity`: canonical, normalised, exact. Its policy is that of the config at its scope.
    A `private` one does not exist for callers without a right that names its vendor.
    """

    generation: int
    origin: str = "confluent"
    types: str = "across"
    order: str = "registration"
    identity: str = "canonical"
    schemes: tuple[str, ...] = ()
    """Id schemes by which its versions have names; the first one is that of ids without a scheme."""
    packages: Pairs = ()
    """Those of these schemes that come from another package, with its name."""
    properties: Pairs = ()
    private: bool = False
    label_policy: str = "warn"
    """Where versions have labels of SchemaVer: whether one that does not fit its change is reported (warn) or refused."""
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class PolicyValue:
    """The policy that was in force when a version was admitted: its level, and what goes with it in the config.

    `partition`: empty, ``type`` (same format and type) or ``property:NAME`` (same value of a metadata property).
    `strictness`: STRICT, LENIENT or LOGICAL; empty means STRICT. Very many versions have equal ones.
    """

    shared: ClassVar[bool] = True

    backward: VersionRange = NONE
    forward: VersionRange = NONE
    deny: bool = False
    partition: str = ""
    strictness: str = ""
    validators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """A policy with a name, which configs follow: the home of all that they say of their policy.

    `packages` are those of its validators that are plug-ins, by name of the validator.
    """

    policy: PolicyValue
    packages: Pairs = ()
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a subject. Its key ends with the ordinal, never given again in one generation of the subject; `number` is Confluent's version number.

    `state`: live, soft (deleted, may come back), hidden (re-registered elsewhere), purged (deleted for good).
    `policy` is the one in force when it was admitted; `forced` or `imported` say that it did not have to pass.
    """

    number: int
    schema_id: int
    format: str
    type_name: str = ""
    type_version: int = 0
    state: str = "live"
    revision: int = 0
    content: str = ""
    forced: ForcedRegistration | None = None
    imported: bool = False
    policy: PolicyValue | None = None
    properties: Pairs = ()
    time: int = 0
    identity: str = ""
    """In a subject with the identity normalised: the lookup digest of the text in its normal form."""
    revision_of: int = -1
    """The ordinal of the version whose former text it is; -1 for a version of its own. `revision` counts its texts."""
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class Name:
    """A further name of a version, unique per scheme in the subject.

    Versions share a computed name; `others` are those that have it too, by ordinal.
    """

    ordinal: int
    others: tuple[int, ...] = ()
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class SupersededVersion:
    """Which version of the subject supersedes the one in the key, by ordinal."""

    ordinal: int
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class StoredDraft:
    """A draft of a schema: its text as sent, whether it is private, and when it was stored."""

    text: str
    private: bool = False
    time: int = 0
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding id (Pravega): which schema and codec a payload has. Never given to another pair.

    `generation` and `ordinal` are those of the version that it was made for.
    """

    schema_id: int
    generation: int
    ordinal: int
    codec: str = ""
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class Codec:
    """A codec that a subject's writers may use."""

    properties: Pairs = ()
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class Counter:
    """The highest number ever given. It only rises; those of ordinals and types go together with their subject (see
    `core.counters`).

    `reserved` are ranges of ids above it, lowest and highest, that count as given: a repair by hand leaves them
    (see `core.state.reserved`). A `private` one is left of a private subject that is gone.
    """

    highest: int
    reserved: tuple[tuple[int, int], ...] = ()
    private: bool = False
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """The config at a scope, the one home of a policy; None means not set here.

    The level is one member: both directions, or denial. `partition` and `strictness` are those of a `PolicyValue`.
    `follows` is the name of a policy, whose row is then the home: the row of the config keeps no level, partition, strictness
    and validators, and handlers see those of the policy. `packages` are those of validators that are plug-ins.
    """

    level: Level | None = None
    partition: str | None = None
    strictness: str | None = None
    validators: tuple[str, ...] | None = None
    alias: str | None = None
    alias_for_deks: str | None = None
    normalize: bool | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rules: RuleSet | None = None
    override_rules: RuleSet | None = None
    follows: str | None = None
    packages: Pairs = ()
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class Mode:
    """The mode at a scope."""

    mode: str
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class Association:
    """A resource (a topic) bound to a subject. Its key has the resource's id, the kind, and the subject.

    `subject` is qualified, `resource` is the resource's name.
    """

    subject: str
    resource: str
    namespace: str
    kind: str
    """key or value."""
    lifecycle: str = "WEAK"
    frozen: bool = False
    created: int = 0
    updated: int = 0
    type: str = "topic"
    guid: str = ""
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class Context:
    """A context; it comes into being with its first registration."""

    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command came to: the sequence of its commit and its answer, so that asking twice is harmless.

    One about a private subject is `private`, though the subject may be gone.
    """

    sequence: int
    kind: str
    members: Pairs = field(default=())
    private: bool = False
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key of Iglu's API, found by its digest: what it may do on the schemas of a vendor, and who made it when."""

    vendor: str
    action: str
    """READ, BUMP, CREATE or CREATE_VENDOR."""
    created: int = 0
    creator: str = ""
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class EncryptionKeyUse:
    """A key that sealed sensitive metadata in this log. Its row is made with the first value that it sealed."""

    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class LogOrigin:
    """Where a log comes from, or went to: a place in the other log's history. Identity and digest are hex.

    `gap` is what its id counters were raised by, `url` the other log's URL without secrets. `successor` is the identity of
    the log that continues, in the row of a sealed log; empty until that log may be whole.
    """

    identity: str
    sequence: int
    digest: str
    time: int = 0
    gap: int = 0
    url: str = ""
    successor: str = ""
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class QuarantinedRow:
    """A row that could not be read and was moved out of the way by a repair, as its JSON text."""

    text: str
    reason: str
    time: int = 0
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class SnapshotPointer:
    """The newest snapshot of a log on Kafka: the state at a sequence, kept in the log itself as chunks.

    It counts because this row names it. `digest` is that of the append that ended at `sequence`, `snapshot_digest` that
    of the chunks; both are hex.
    """

    sequence: int
    digest: str
    snapshot_digest: str
    extra: Extra = ()


StoredValue = (
    Content | Schema | SubjectValue | Version | Name | SupersededVersion | StoredDraft | Encoding | Codec | Counter | ConfigValue | NamedPolicy | Mode | Association | Context
    | Source | StoredType | DroppedSource | Topic | TopicLease | Runner | Assignment | PlanningJob
    | Outcome | ApiKey | EncryptionKeyUse | LogOrigin | QuarantinedRow | SnapshotPointer
)  # fmt: skip
"""The value of a row that can be read."""
