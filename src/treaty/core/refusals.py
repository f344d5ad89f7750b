"""All errors of a registry, a class for each refusal: its rule, sentence, path, old and new value, and what would be allowed.

RegistryError
├── Refusal                     a rule rejects the request: the same request would be rejected again
│   ├── NotFound                the subject, version, schema or setting does not exist
│   │   └── SubjectNotFound · VersionNotFound · SchemaNotFound · SettingNotFound · AssociationNotFound ·
│   │       CodecNotFound · EncodingNotFound · SourceNotFound · TypeNotFound
│   ├── Invalid                 the request is wrong in any state
│   │   └── InvalidSchema · InvalidSubject · InvalidVersion · InvalidSetting · InvalidRules ·
│   │       InvalidAssociation · InvalidCodec · InvalidSource · TooLarge
│   ├── Denied                  the caller may not do this
│   │   └── Unauthenticated · Forbidden
│   └── Conflicting             the request conflicts with the current state
│       └── Incompatible · Referenced · NotPermitted · AlreadyDeleted · NotDeletedFirst · NotLatest · NotEmpty · NameTaken ·
│           TooManyAssociations · ResourceAssociated · SubjectAssociated · StronglyAssociated · NoLiveVersion · Frozen ·
│           SchemaPinned · CodecExists · Encoded · PreviousLevelDiffers · FormatNotAllowed · LabelRefused · SourceExists · SourceUsed
├── Unavailable                 temporary: nothing was written; retry later
│   └── NotOffered              the server has no such operation
└── OutcomeUnknown              the command may have been executed: retry with the same id
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Self

from treaty.core.finding import Diagnostic, Finding, shorten_text
from treaty.core.limits import ERROR_CHARACTERS, FINDINGS_CHARACTERS, NAME_LENGTH
from treaty.light_dataclass import dataclass


class RegistryError(Exception):
    """Base class of all errors of a registry."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The facts of a refusal: rule, path, old value, new value, and what would be allowed.

    The message has ERROR_CHARACTERS at most, each other text NAME_LENGTH, and the details FINDINGS_CHARACTERS together: whatever a
    request holds, an answer that quotes it is bounded.
    """

    rule: str
    message: str
    path: str = ""
    old: str = ""
    new: str = ""
    allowed: str = ""
    subject: str = ""
    version: str = ""
    """The version or id of the request, for messages of dialects."""
    details: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Shorten what is too long."""
        for name in ("rule", "path", "old", "new", "allowed", "subject", "version"):
            self._shorten(name, NAME_LENGTH)
        self._shorten("message", ERROR_CHARACTERS)
        if sum(map(len, self.details)) > FINDINGS_CHARACTERS:
            object.__setattr__(self, "details", _keep_first(self.details))

    def _shorten(self, name: str, limit: int) -> None:
        text = getattr(self, name)
        if len(text) > limit:
            object.__setattr__(self, name, shorten_text(text, limit))


def _keep_first(details: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first details, as many as have FINDINGS_CHARACTERS together."""
    shortened: list[str] = []
    left = FINDINGS_CHARACTERS
    for detail in details:
        text = shorten_text(detail, ERROR_CHARACTERS)
        left -= len(text)
        if left < 0:
            break
        shortened.append(text)
    return tuple(shortened)


class Refusal(RegistryError):
    """A rule rejects the request. `reason` has the facts, `str()` the sentence."""

    def __init__(self, reason: Reason) -> None:
        """Keep the reason."""
        super().__init__(reason.message)
        self.reason = reason

    @classmethod
    def of(cls, rule: str, message: str, **facts: str) -> Self:
        """Build a refusal of this class from its rule, its sentence and the members of `Reason`."""
        return cls(Reason(rule, message, **facts))  # type: ignore[arg-type]


class NotFound(Refusal):
    """The requested object does not exist. A temporary failure is `Unavailable` instead."""


class SubjectNotFound(NotFound):
    """The subject does not exist, or the caller may not read it."""


class VersionNotFound(NotFound):
    """The subject does not have this version."""


class SchemaNotFound(NotFound):
    """No schema has this id, guid or text."""

    @classmethod
    def not_registered(cls, subject: str, format_: str = "", type_name: str = "") -> Self:
        """Build the refusal of a text that is no version of a subject; it says the format and the type of the text where they are known."""
        schema = f"schema of type {type_name}" if type_name else "schema"
        known_format = f" ({format_})" if format_ else ""
        return cls.of(
            "SCHEMA_NOT_FOUND",
            f"this {schema}{known_format} is no version of {subject}: register it first",
            new=type_name,
            allowed="a schema that is a version of the subject",
            subject=subject,
        )

    def with_remedy(self, remedy: str) -> Self:
        """Return the refusal with what else a program can do."""
        return type(self)(replace(self.reason, message=f"{self.reason.message}{remedy}"))


class SettingNotFound(NotFound):
    """The subject has no config or mode of its own."""


class AssociationNotFound(NotFound):
    """The resource has no such association."""


class CodecNotFound(NotFound):
    """The subject has no codec of this name."""


class EncodingNotFound(NotFound):
    """The subject has no encoding with this id."""


class SourceNotFound(NotFound):
    """The metastore has no source of this name, or the caller may not see it."""


class TypeNotFound(NotFound):
    """The metastore has no type of this name."""


class Invalid(Refusal):
    """The request is wrong in any state."""


class InvalidSchema(Invalid):
    """The schema is not valid; `faults` lists the problems of its text."""

    def __init__(self, reason: Reason, faults: tuple[Diagnostic, ...] = ()) -> None:
        """Set the reason and the diagnostics."""
        super().__init__(reason)
        self.faults = faults


class InvalidSubject(Invalid):
    """The name is not allowed for a subject."""


class InvalidVersion(Invalid):
    """The version is not a number from 1 on, `latest` or -1."""


class InvalidSetting(Invalid):
    """A compatibility level, mode or other setting that does not exist."""


class InvalidRules(Invalid):
    """The rule set of a data contract is not valid."""


class InvalidAssociation(Invalid):
    """A member of a request about associations is not valid."""


class InvalidCodec(Invalid):
    """The name or the properties of a codec are not valid."""


class InvalidSource(Invalid):
    """A member of the definition of a source or type is not valid."""


class TooLarge(Invalid):
    """The request exceeds a limit."""


class Denied(Refusal):
    """The caller may not do this."""


class Unauthenticated(Denied):
    """The request is not authenticated. `challenges` lists the accepted HTTP schemes."""

    def __init__(self, reason: Reason, challenges: tuple[str, ...] = ()) -> None:
        """Set the reason and the challenges."""
        super().__init__(reason)
        self.challenges = challenges


class Forbidden(Denied):
    """The caller is authenticated and lacks a permission."""


class Conflicting(Refusal):
    """The request conflicts with the current state."""


class Incompatible(Conflicting):
    """The schema breaks the compatibility policy; `findings` compares it with the first version that it breaks."""

    def __init__(self, reason: Reason, findings: tuple[Finding, ...] = ()) -> None:
        """Set the reason and the findings; `reason.details` has the findings as sentences."""
        super().__init__(reason)
        self.findings = findings


class Referenced(Conflicting):
    """Another schema refers to it."""


class SchemaPinned(Referenced):
    """Sources of the metastore pin the version; `reason.details` has their names."""


class NotPermitted(Conflicting):
    """The mode of the subject, context or server forbids it."""


class AlreadyDeleted(Conflicting):
    """It is soft-deleted already."""


class NotDeletedFirst(Conflicting):
    """It must be soft-deleted before it is hard-deleted."""


class NotLatest(Conflicting):
    """The state is not the one that the request expects."""


class NotEmpty(Conflicting):
    """The context has subjects."""


class TypeNotAllowed(Conflicting):
    """The versions of the subject are of one type, and the schema is of another."""


class NameTaken(Conflicting):
    """Another version of the subject has this name."""


class TooManyAssociations(Conflicting):
    """The subject has reached its limit of associations."""


class ResourceAssociated(Conflicting):
    """The resource has an association of this kind already."""


class SubjectAssociated(Conflicting):
    """The subject has an association that prevents the change."""


class StronglyAssociated(Conflicting):
    """The subject has a strong association with another resource."""


class NoLiveVersion(Conflicting):
    """The subject has no live version, and an association needs one."""


class Frozen(Conflicting):
    """The association is frozen."""


class CodecExists(Conflicting):
    """The subject has a codec of this name with other properties."""


class Encoded(Conflicting):
    """The version has encodings: payloads that carry their ids could not be read without it."""


class PreviousLevelDiffers(Conflicting):
    """The compatibility level is not the one that the change expects."""


class FormatNotAllowed(Conflicting):
    """The subject is limited to another format."""


class LabelRefused(Conflicting):
    """The label of a version, or what the version supersedes, does not follow from the versions that are there."""


class SourceExists(Conflicting):
    """The name belongs to another source or type."""


class SourceUsed(Conflicting):
    """Others read the source, use the type, or stand over the topic; `reason.details` names those that the caller may see."""


class Unavailable(RegistryError):
    """Temporarily unavailable: nothing was written; the request can be retried after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        """Set the message and the seconds to wait before a retry."""
        super().__init__(message)
        self.retry_after = retry_after


class NotOffered(Unavailable):
    """The server does not have the operation: another kind or version of registry, or no registry at all.

    A retry against the same server has the same result.
    """


class OutcomeUnknown(RegistryError):
    """The command may have been executed: ask for the outcome of `command_id`, or retry with this id."""

    def __init__(self, command_id: str) -> None:
        """Set the id of the command."""
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
    CodecNotFound: "codec-not-found",
    EncodingNotFound: "encoding-not-found",
    SourceNotFound: "source-not-found",
    TypeNotFound: "type-not-found",
    Invalid: "invalid",
    InvalidSchema: "invalid-schema",
    InvalidSubject: "invalid-subject",
    InvalidVersion: "invalid-version",
    InvalidSetting: "invalid-setting",
    InvalidRules: "invalid-rules",
    InvalidAssociation: "invalid-association",
    InvalidCodec: "invalid-codec",
    InvalidSource: "invalid-source",
    TooLarge: "too-large",
    Denied: "denied",
    Unauthenticated: "unauthenticated",
    Forbidden: "forbidden",
    Conflicting: "conflicting",
    Incompatible: "incompatible",
    Referenced: "referenced",
    SchemaPinned: "schema-pinned",
    NotPermitted: "not-permitted",
    AlreadyDeleted: "already-deleted",
    NotDeletedFirst: "not-deleted-first",
    NotLatest: "not-latest",
    NotEmpty: "not-empty",
    TypeNotAllowed: "type-not-allowed",
    NameTaken: "name-taken",
    TooManyAssociations: "too-many-associations",
    ResourceAssociated: "resource-associated",
    SubjectAssociated: "subject-associated",
    StronglyAssociated: "strongly-associated",
    NoLiveVersion: "no-live-version",
    Frozen: "frozen",
    CodecExists: "codec-exists",
    Encoded: "encoded",
    PreviousLevelDiffers: "previous-level-differs",
    FormatNotAllowed: "format-not-allowed",
    LabelRefused: "label-refused",
    SourceExists: "source-exists",
    SourceUsed: "source-used",
    Unavailable: "unavailable",
    NotOffered: "not-offered",
    OutcomeUnknown: "outcome-unknown",
}
"""The tag of each error class in stored rows and between nodes. Classes may be renamed, tags never."""
ERROR_CLASSES: Mapping[str, type[RegistryError]] = {tag: kind for kind, tag in ERROR_TAGS.items()}


def error_tag(error: RegistryError) -> str:
    """Return the tag of an error, or of its nearest base class with a tag."""
    return next(ERROR_TAGS[kind] for kind in type(error).__mro__ if kind in ERROR_TAGS)
