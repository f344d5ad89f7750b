"""The requests that export subjects with all that is kept of them, and import them into another registry with ordinals, numbers, ids and states:
their members, defaults and answers; decided in `exports.py` and `imports.py` of `core/handlers/groups`.

The importing requests need the mode IMPORT, as registrations with an id do.
"""

from dataclasses import dataclass
from typing import Literal

from treaty.core.limits import EXPORT_PAGE
from treaty.core.messages.encodings import NO_CODEC, CodecType, EncodingAssigned
from treaty.core.messages.groups import GroupCreated, GroupSettings
from treaty.core.messages.registration import RegisteredVersion
from treaty.core.messages.request import Request
from treaty.core.messages.versions import VersionFound
from treaty.core.names import EVERYWHERE, Subject
from treaty.core.policy import ForcedRegistration
from treaty.core.schema import Draft, Pairs
from treaty.core.state.values import PolicyValue

KeptState = Literal["live", "soft", "hidden"]
"""A version may be seen, is softly deleted, or is deleted and was registered again since."""


@dataclass(frozen=True, slots=True)
class HighestNumbers:
    """The highest ordinal and encoding id that a subject ever had, and those of the versions of each format and type; -1:
    none.
    """

    ordinal: int = -1
    encoding: int = -1
    types: tuple[tuple[str, str, int], ...] = ()
    """(format, type, highest number), by format and type."""


# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class ExportedSubject:
    """A subject by its qualified name, with all that is kept of it beside config, mode and versions.

    The settings have no policy: that is in the config. Of one that was `removed`, the highest encoding id is kept.
    """

    subject: str
    settings: GroupSettings
    highest: HighestNumbers = HighestNumbers()
    codecs: tuple[CodecType, ...] = ()
    """By name."""
    private: bool = False
    label_policy: str = "warn"
    removed: bool = False


@dataclass(frozen=True, slots=True)
class ExportedSubjects:
    """Subjects, by context and name."""

    subjects: tuple[ExportedSubject, ...]


@dataclass(frozen=True, slots=True)
class ExportedVersion:
    """A version with all that is kept of it. `version` has the bytes as sent where they differ from the text."""

    version: VersionFound
    state: KeptState = "live"
    policy: PolicyValue | None = None
    """The policy in force when it was admitted; None where none was stored."""
    names: Pairs = ()
    """Further names, (scheme, name)."""
    encodings: tuple[tuple[int, str], ...] = ()
    """Its encoding ids and their codecs, by id."""
    revision: int = 0
    """How often its text was replaced."""
    revision_of: int = -1
    """The ordinal of the version whose former text it is; -1: it is a version of its own."""
    superseded_by: int = -1
    """The ordinal of the version that supersedes it; -1: none does."""


@dataclass(frozen=True, slots=True)
class ExportedVersions:
    """Versions, by context, subject and ordinal."""

    versions: tuple[ExportedVersion, ...]


# -------------------------------------------------------------------------------------------------------- queries


@dataclass(frozen=True, slots=True)
class ExportSubjects(Request[ExportedSubjects]):
    """Subjects whose names begin with `prefix`, those without versions and removed ones too; context ``*`` means all contexts.

    `after` is the last subject of the previous page. A page has at most `EXPORT_PAGE` subjects.
    """

    prefix: Subject = Subject(EVERYWHERE, "")
    after: Subject | None = None
    limit: int = EXPORT_PAGE


@dataclass(frozen=True, slots=True)
class ExportVersions(Request[ExportedVersions]):
    """All versions of subjects whose names begin with `prefix`, deleted and hidden ones too.

    `after` is the subject and the ordinal of the last version of the previous page. A page has at most `EXPORT_PAGE`
    versions and ends once their texts and bytes come to `EXPORT_CHARACTERS`; an empty page is the last one.
    """

    prefix: Subject = Subject(EVERYWHERE, "")
    after: tuple[Subject, int] | None = None
    limit: int = EXPORT_PAGE


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class ImportSubject(Request[GroupCreated]):
    """Create a subject as it is in another registry, without versions; one that exists keeps its settings.

    Numbers up to `highest` are not assigned in it any more. One that is `removed` is not created: a subject that gets its name
    assigns other encoding ids, and nothing else counts on.
    """

    subject: Subject
    settings: GroupSettings
    highest: HighestNumbers = HighestNumbers()
    private: bool = False
    label_policy: str = "warn"
    removed: bool = False


@dataclass(frozen=True, slots=True)
class ImportVersion(Request[RegisteredVersion]):
    """Make a schema a version of a subject that exists, with the ordinal and the number that it has in another registry.

    It is not compared with others. The ordinal and, unless it is hidden, the number must be free, or belong to the same
    version already. What is there already can be sent again with `superseded_by`, once the version that supersedes it is there.
    """

    subject: Subject
    draft: Draft
    ordinal: int
    number: int
    """1 or more."""
    schema_id: int = -1
    """-1: that of the same schema in the context, or the next one."""
    type_version: int = -1
    """-1: the next one of its format and type."""
    state: KeptState = "live"
    policy: PolicyValue | None = None
    """None: the policy in force."""
    forced: ForcedRegistration | None = None
    properties: Pairs = ()
    names: Pairs = ()
    time: int = 0
    """In milliseconds since the epoch; 0: unknown."""
    revision: int = 0
    revision_of: int = -1
    superseded_by: int = -1
    """-1: as it is."""


@dataclass(frozen=True, slots=True)
class ImportEncoding(Request[EncodingAssigned]):
    """Let an encoding id stand for a version, deleted or not, and a codec of its subject, as in another registry."""

    subject: Subject
    encoding_id: int
    ordinal: int
    codec: str = NO_CODEC
