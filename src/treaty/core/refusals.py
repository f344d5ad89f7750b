"""Every way in which the law says no, on one page.

RegistryError
├── Refusal                     the law's answer: asking again the same way is pointless
│   ├── NotFound                what was asked for does not exist
│   │   └── SubjectNotFound · VersionNotFound · SchemaNotFound · SettingNotFound · AssociationNotFound
│   ├── Invalid                 the request itself cannot be right
│   │   └── InvalidSchema · InvalidSubject · InvalidVersion · InvalidSetting · InvalidRules ·
│   │       InvalidAssociation · TooLarge
│   ├── Denied                  not for who asks
│   │   └── Unauthenticated · Forbidden
│   └── Conflicting             right in itself, wrong in this state
│       └── Incompatible · Referenced · NotPermitted · AlreadyDeleted · NotDeletedFirst · NotLatest · NotEmpty · NameTaken ·
│           TooManyAssociations · ResourceAssociated · SubjectAssociated · StronglyAssociated · NoLiveVersion · Frozen
├── Unavailable                 can't say now: nothing was written; ask again
│   └── NotOffered              this server has no such operation
└── OutcomeUnknown              it may have been written: ask for the outcome by its command id
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from treaty.core.finding import Diagnostic, Finding


class RegistryError(Exception):
    """Root of everything a registry raises on purpose."""


@dataclass(frozen=True, slots=True)
class Reason:
    """What a refusal says: the rule, where, what stood there, what came, and what would be allowed."""

    rule: str
    message: str
    path: str = ""
    old: str = ""
    new: str = ""
    allowed: str = ""
    subject: str = ""
    version: str = ""
    """The version or id as asked for, for messages of dialects."""
    details: tuple[str, ...] = field(default=())


class Refusal(RegistryError):
    """The law says no. `reason` carries the facts, `str()` the sentence."""

    def __init__(self, reason: Reason) -> None:
        """Keep the reason."""
        super().__init__(reason.message)
        self.reason = reason

    @classmethod
    def of(cls, rule: str, message: str, **facts: str) -> Self:
        """Build a refusal of this class from its rule, its sentence and the members of `Reason`."""
        return cls(Reason(rule, message, **facts))  # type: ignore[arg-type]


class NotFound(Refusal):
    """What was asked for does not exist. Never used for "can't say now"."""


class SubjectNotFound(NotFound):
    """No such subject, or none of its versions may be seen."""


class VersionNotFound(NotFound):
    """The subject has no such version."""


class SchemaNotFound(NotFound):
    """No schema with this id, guid or content."""


class SettingNotFound(NotFound):
    """The subject has no config or mode of its own."""


class AssociationNotFound(NotFound):
    """The resource has no such association."""


class Invalid(Refusal):
    """The request itself can't be right."""


class InvalidSchema(Invalid):
    """The text is not a valid schema; `faults` says why, if it was the text."""

    def __init__(self, reason: Reason, faults: tuple[Diagnostic, ...] = ()) -> None:
        """Keep the faults beside the reason."""
        super().__init__(reason)
        self.faults = faults


class InvalidSubject(Invalid):
    """A name that no subject may have."""


class InvalidVersion(Invalid):
    """Not a version number."""


class InvalidSetting(Invalid):
    """A compatibility level, mode or other setting that does not exist."""


class InvalidRules(Invalid):
    """A rule set that breaks the rules for rule sets."""


class InvalidAssociation(Invalid):
    """A request about associations with a member that can't be right."""


class TooLarge(Invalid):
    """Past a named limit."""


class Denied(Refusal):
    """Not for who asks."""


class Unauthenticated(Denied):
    """Nobody knows who asks. `challenges` says how to show it, one scheme of HTTP each."""

    def __init__(self, reason: Reason, challenges: tuple[str, ...] = ()) -> None:
        """Keep the challenges beside the reason."""
        super().__init__(reason)
        self.challenges = challenges


class Forbidden(Denied):
    """Who asks is known, and has no right to it."""


class Conflicting(Refusal):
    """Right in itself, but not in the present state."""


class Incompatible(Conflicting):
    """The schema breaks the policy in force; `findings` of the first version that fails."""

    def __init__(self, reason: Reason, findings: tuple[Finding, ...] = ()) -> None:
        """Keep the findings beside the reason; `reason.details` has them as told sentences."""
        super().__init__(reason)
        self.findings = findings


class Referenced(Conflicting):
    """Somebody else's schema refers to it."""


class NotPermitted(Conflicting):
    """The mode in force forbids it."""


class AlreadyDeleted(Conflicting):
    """It was deleted (softly) before."""


class NotDeletedFirst(Conflicting):
    """It must be deleted softly before it is deleted for good."""


class NotLatest(Conflicting):
    """The state is not the one that the command expected."""


class NotEmpty(Conflicting):
    """A context that still has subjects."""


class NameTaken(Conflicting):
    """Another version of the subject has this name."""


class TooManyAssociations(Conflicting):
    """The subject has as many associations as it may have."""


class ResourceAssociated(Conflicting):
    """The resource has an association of this kind already."""


class SubjectAssociated(Conflicting):
    """The subject has an association, which stands in the way."""


class StronglyAssociated(Conflicting):
    """The subject belongs to another resource."""


class NoLiveVersion(Conflicting):
    """An associated subject needs a version that is live."""


class Frozen(Conflicting):
    """The association must not be changed."""


class Unavailable(RegistryError):
    """Can't say now: nothing was written, asking again is right. `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        """Keep the time after which asking again makes sense."""
        super().__init__(message)
        self.retry_after = retry_after


class NotOffered(Unavailable):
    """Who answers there knows no such operation: a registry of another kind or age, or no registry at this address.

    It says nothing about what was asked, and asking the same server again will say the same.
    """


class OutcomeUnknown(RegistryError):
    """It may have been written: ask for the outcome of `command_id` before doing it again."""

    def __init__(self, command_id: str) -> None:
        """Keep the command's id."""
        super().__init__(f"the outcome of command {command_id} is not known yet; ask for it by this id")
        self.command_id = command_id


ERROR_TAGS: Mapping[type[RegistryError], str] = {
    Refusal: "refusal",
    NotFound: "not-found",
    SubjectNotFound: "subject-not-found",
    VersionNotFound: "version-not-found",
    SchemaNotFound: "schema-not-found",
    SettingNotFound: "setting-not-found",
    AssociationNotFound: "association-not-found",
    Invalid: "invalid",
    InvalidSchema: "invalid-schema",
    InvalidSubject: "invalid-subject",
    InvalidVersion: "invalid-version",
    InvalidSetting: "invalid-setting",
    InvalidRules: "invalid-rules",
    InvalidAssociation: "invalid-association",
    TooLarge: "too-large",
    Denied: "denied",
    Unauthenticated: "unauthenticated",
    Forbidden: "forbidden",
    Conflicting: "conflicting",
    Incompatible: "incompatible",
    Referenced: "referenced",
    NotPermitted: "not-permitted",
    AlreadyDeleted: "already-deleted",
    NotDeletedFirst: "not-deleted-first",
    NotLatest: "not-latest",
    NotEmpty: "not-empty",
    NameTaken: "name-taken",
    TooManyAssociations: "too-many-associations",
    ResourceAssociated: "resource-associated",
    SubjectAssociated: "subject-associated",
    StronglyAssociated: "strongly-associated",
    NoLiveVersion: "no-live-version",
    Frozen: "frozen",
    Unavailable: "unavailable",
    NotOffered: "not-offered",
    OutcomeUnknown: "outcome-unknown",
}
"""What stands for each class of errors in what is stored and sent between nodes. Classes may be renamed, tags never."""
ERROR_CLASSES: Mapping[str, type[RegistryError]] = {tag: kind for kind, tag in ERROR_TAGS.items()}


def error_tag(error: RegistryError) -> str:
    """Return the tag of an error; one that only a plug-in knows has that of its nearest base."""
    return next(ERROR_TAGS[kind] for kind in type(error).__mro__ if kind in ERROR_TAGS)
