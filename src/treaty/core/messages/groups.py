"""The requests about subjects as groups, for what Pravega's groups, schema-repo's subjects and AVRO-1124's groups add: their members, defaults and
answers; decided in `core/handlers/groups`.

A group is a subject: a name in a context. It may exist without versions, it has settings of its own that do not change
(types, identity, order), properties, and a policy in its config. Versions have an ordinal, which is never assigned again,
and a number for each format and type (PDP-1, "Group", "VersionInfo").
"""

from collections.abc import Mapping
from dataclasses import dataclass

from treaty.core.messages.compatibility import CompatibilityResult
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import IGLU
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.policy import Level
from treaty.core.schema import Draft, Pairs
from treaty.core.state.values import PolicyValue

FORMAT = "treaty.format"
"""The property of a group that names its format: ``AVRO``, ``JSON``, ``PROTOBUF``, another word in capitals, or ``any``."""
ANY_FORMAT = "any"
"""The value of `FORMAT` for a group that takes every format; so does a group without the property.

As the format of a draft that is registered: the format of its subject, or where the subject takes every format Avro if the
text is that, else `TEXT_FORMAT`.
"""
TEXT_FORMAT = "TEXT"
"""The format of a text that is no schema of a format with a plug-in; it is kept, and never compared."""

SCHEMA_REPO, AVRO_1124 = "schema-repo", "avro-1124"
"""Origins of subjects that are created by schema-repo's dialect and by the proposal AVRO-1124."""
ORIGIN_POLICIES: Mapping[str, Config] = dict.fromkeys((SCHEMA_REPO, AVRO_1124, IGLU), Config(level="NONE"))
"""The policies of new subjects, by origin, where the request chooses none: there any schema may follow any other."""

# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class GroupFound:
    """A subject with its settings. `subject` is its qualified name, `level` the level in force.

    `types`: across (versions of any type are compared), one (all versions have one type), many (a version is compared
    with those of its format and type). `identity`: canonical, normalised, exact. `format` is that of its property, or of
    all live versions, else `ANY_FORMAT`.
    """

    subject: str
    origin: str
    types: str
    order: str
    identity: str
    format: str
    level: Level
    config: Config
    """The subject's own config; members that are inherited are None."""
    properties: Pairs = ()
    latest: int = -1
    """The ordinal of the latest live version, or -1."""
    schemes: tuple[str, ...] = ()
    """Id schemes by which its versions have names; the first one is that of ids without a scheme."""
    private: bool = False
    label_policy: str = "warn"
    """Where the order is schemaver: whether a label that does not fit its change is reported (warn) or refused (refuse)."""


@dataclass(frozen=True, slots=True)
class GroupCreated:
    """A subject that exists now; `created` is False where it existed before, with the settings that it had."""

    group: GroupFound
    created: bool


@dataclass(frozen=True, slots=True)
class GroupRemoved:
    """Whether there was a subject to remove."""

    removed: bool


@dataclass(frozen=True, slots=True)
class Groups:
    """A page of subjects, by name. `last` is the name of the last one, for `after` of the next page; of an empty page it is
    the `after` that was asked with.
    """

    groups: tuple[GroupFound, ...]
    last: str = ""


@dataclass(frozen=True, slots=True)
class GroupVersions:
    """Versions, by ordinal."""

    versions: tuple[VersionFound, ...]


@dataclass(frozen=True, slots=True)
class AdmittedVersion:
    """A live version with the policy that was in force when it was admitted; None where none was stored."""

    version: VersionFound
    policy: PolicyValue | None


@dataclass(frozen=True, slots=True)
class History:
    """The live versions of a subject in the order of their registration."""

    versions: tuple[AdmittedVersion, ...]


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Settings of a subject that is created without a version; the first four and `schemes` never change."""

    origin: str
    types: str = "across"
    order: str = "registration"
    identity: str = "canonical"
    policy: Config | None = None
    """Level, partition, strictness and validators for the subject's own config; None: all are inherited."""
    properties: Pairs = ()
    schemes: tuple[str, ...] = ()
    """Id schemes by which its versions have names: ``sequence``, ``md5``, ``crc-64-avro``, ``sha-256``, or of a plug-in."""


@dataclass(frozen=True, slots=True)
class CreateSubject(Request[GroupCreated]):
    """Create a subject without versions. One that exists keeps its settings, which the answer says."""

    subject: Subject
    settings: GroupSettings
    private: bool = False
    """Whether it exists only for callers with a right that names its vendor."""
    label_policy: str = "warn"
    """warn or refuse."""


@dataclass(frozen=True, slots=True)
class ChangeSubject(Request[GroupCreated]):
    """Change the policy or the properties of a subject.

    With `previous` the level in force must be this one: compared in the same decision, so that of two who change it one
    is refused with `PreviousLevelDiffers` (PDP-1, "updateCompatibility").
    """

    subject: Subject
    level: Level | None = None
    """None: the level stays."""
    previous: Level | None = None
    validators: tuple[str, ...] | None = None
    """None: the validators stay."""
    properties: Pairs | None = None
    """All properties of the subject; None: they stay."""
    label_policy: str | None = None
    """warn or refuse; None: it stays."""
    follows: str | None = None
    """The name of a policy that the subject follows from now on; None: it stays."""


@dataclass(frozen=True, slots=True)
class RemoveSubject(Request[GroupRemoved]):
    """Remove a subject with all versions, encodings, codecs, its config and its mode.

    It is refused where a schema of another subject refers to one of its versions. Encoding ids are not assigned again
    under this name.
    """

    subject: Subject


@dataclass(frozen=True, slots=True)
class DeleteOrdinal(Request[VersionFound]):
    """Soft-delete the live version with this ordinal. Its payloads can still be read; lists and checks skip it."""

    subject: Subject
    ordinal: int


# -------------------------------------------------------------------------------------------------------- queries


@dataclass(frozen=True, slots=True)
class GetSubject(Request[GroupFound]):
    """A subject with its settings."""

    subject: Subject


@dataclass(frozen=True, slots=True)
class ListGroups(Request[Groups]):
    """Subjects of one context by name, those without versions among them; at most `limit` after the name `after`."""

    context: str = "."
    after: str = ""
    limit: int = 100


@dataclass(frozen=True, slots=True)
class GetOrdinal(Request[VersionFound]):
    """The version with this ordinal, also if it is deleted; a version whose row is gone is not found."""

    subject: Subject
    ordinal: int


@dataclass(frozen=True, slots=True)
class GetTypedVersion(Request[VersionFound]):
    """The version with this number among those of one format and type, from 0 on; also if it is deleted."""

    subject: Subject
    format: str
    type_name: str
    type_version: int


@dataclass(frozen=True, slots=True)
class ListGroupVersions(Request[GroupVersions]):
    """Live versions of a subject by ordinal, of one type where `type_name` is not empty; an empty list is an answer.

    `latest` keeps only the newest of each format and type.
    """

    subject: Subject
    type_name: str = ""
    latest: bool = False


@dataclass(frozen=True, slots=True)
class GetHistory(Request[History]):
    """The live versions of a subject, each with the policy in force when it was admitted."""

    subject: Subject


@dataclass(frozen=True, slots=True)
class FindSameVersion(Request[VersionFound]):
    """The newest live version of the subject with this schema, by format, type and the subject's identity.

    It is the version that a registration of the draft would answer.
    """

    subject: Subject
    draft: Draft


@dataclass(frozen=True, slots=True)
class CheckReading(Request[CompatibilityResult]):
    """Whether a reader with this schema can read what the subject's policy lets writers write (PDP-1, "canReadUsing").

    A level that denies: the latest live version. No level: always. Else the latest live version, or the range of
    `backward` where that is wider. Always for a subject without live versions.
    """

    subject: Subject
    draft: Draft


@dataclass(frozen=True, slots=True)
class FindSameSchema(Request[GroupVersions]):
    """The newest live version with this schema in each subject of a context that has one, by name of the subject.

    Each subject's own identity says what the same schema is. Metadata and rules are those of the draft: none are
    inherited from a subject's latest version.
    """

    context: str
    draft: Draft
