"""The requests that register a version, or a copy of one with other tags, metadata or rules: their members, defaults and answer; decided in
`register.py` and `derivation.py` of `core/handlers/registration`.
"""

from typing import Literal

from treaty.core.finding import Finding
from treaty.core.messages.request import Request, Selector
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.schema import Draft, Metadata, Pairs, RuleSet, TaggedPath
from treaty.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RegisteredVersion:
    """The registered version; `created` is False if it existed before."""

    version: VersionFound
    created: bool
    warnings: tuple[Finding, ...] = ()
    """What is said of its label of SchemaVer. A repetition of the command does not say it again."""


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
