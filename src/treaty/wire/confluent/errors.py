"""Refusals as error bodies, and back: one table says which code stands for which refusal of which request.

An error code has five digits, the first three are the HTTP status. Some classes have several codes: which one it is
depends on what was asked, so both directions take the request.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from msgspec import Struct

from treaty.core import refusals as r
from treaty.core.finding import Diagnostic, Finding, format_list, shorten_text
from treaty.core.limits import ERROR_CHARACTERS
from treaty.core.messages.request import NO_VERSION_ID_IN_RANGE, Request
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema
from treaty.core.messages.settings import DeleteConfig, DeleteMode, GetConfig, GetMode, SetMode
from treaty.core.messages.versions import DeleteSubject, Lookup
from treaty.core.names import Subject
from treaty.core.refusals import Reason, Refusal, RegistryError

INCOMPATIBLE = 40901
"""The code of a schema that breaks the policy. Confluent's servers before 8.0 say 409."""

Asked = Request[Any] | None
"""The request that was refused; None where it is not known."""


class ErrorDetails(Struct, omit_defaults=True, rename="camel"):
    """The facts of a refusal, printed only where they were asked for."""

    rule: str = ""
    path: str = ""
    old: str = ""
    new: str = ""
    allowed: str = ""
    subject: str = ""
    version: str = ""
    message: str = ""
    details: list[str] = []
    faults: list[Diagnostic] = []
    findings: list[Finding] = []
    command: str = ""


class ErrorBody(Struct, omit_defaults=True):
    """The body of every error."""

    error_code: int
    message: str
    treaty: ErrorDetails | None = None


@dataclass(frozen=True, slots=True)
class ErrorMapping:
    """A line of the table: this class, for these requests (none named: for all), has this code and this text."""

    code: int
    kind: type[Refusal]
    text: Callable[[Reason], str]
    asked: tuple[type[Any], ...] = ()


def _message_of(reason: Reason) -> str:
    return reason.message


def _message_with_rule(reason: Reason) -> str:
    return f"{reason.message}; {reason.rule}: {reason.new or 'too much'}, allowed: {reason.allowed}"


def _fill_template(template: str) -> Callable[[Reason], str]:
    """A text with `{subject}` and `{version}` in it; the refusal's own sentence if a fact is missing."""

    def text(reason: Reason) -> str:
        if ("{version}" in template and not reason.version) or ("{subject}" in template and not reason.subject):
            return reason.message
        return template.replace("{version}", reason.version).replace("{subject}", reason.subject)

    return text


def _describe_incompatible(reason: Reason) -> str:
    return (
        "Schema being registered is incompatible with an earlier schema for subject "
        f'"{reason.subject}", details: {format_list(reason.details)}'
    )


_SOFT = "was soft deleted.Set permanent=true to delete permanently"
_LIVE = "was not deleted first before being permanently deleted"
_LEVELS = (
    "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
    "forward_transitive, and full_transitive"
)
_MODES = "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD."
PINNED = "SOURCE_PINNED"
"""The rule of a refusal by sources that pin a version."""
_REFERENCED = "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject={subject},version={version}}."


def _level(reason: Reason) -> str:
    """The established text about levels, and for members without a text of Confluent the refusal's own."""
    text = _LEVELS if reason.path in {"", "/compatibility"} else reason.message
    return f"{text}; not '{reason.new}'" if reason.new else text


def _mode(reason: Reason) -> str:
    return reason.message if reason.message.startswith("Forward mode") else _MODES


_BY_ID = (GetSchema, GetGuid, GetGuidIds)
_SETTINGS = (DeleteConfig, DeleteMode)

TABLE = (
    ErrorMapping(40101, r.Unauthenticated, _message_of),
    ErrorMapping(40301, r.Forbidden, _message_of),
    ErrorMapping(40401, r.SettingNotFound, _fill_template("Subject '{subject}' not found."), _SETTINGS),
    ErrorMapping(40401, r.SubjectNotFound, _fill_template("Subject '{subject}' not found.")),
    ErrorMapping(40408, r.SettingNotFound, _fill_template("Subject '{subject}' does not have subject-level compatibility configured"),
         (GetConfig,)),
    ErrorMapping(40409, r.SettingNotFound, _fill_template("Subject '{subject}' does not have subject-level mode configured"),
         (GetMode,)),
    ErrorMapping(40408, r.SettingNotFound, _message_of),
    ErrorMapping(40402, r.VersionNotFound, _fill_template("Version {version} not found.")),
    ErrorMapping(40403, r.SchemaNotFound, _fill_template("Schema {version} not found"), _BY_ID),
    ErrorMapping(40403, r.SchemaNotFound, _fill_template("Schema not found")),
    ErrorMapping(40410, r.AssociationNotFound, _message_of),
    ErrorMapping(40451, r.CodecNotFound, _message_of),  # not Confluent's, nor is the next one: it has no encodings
    ErrorMapping(40452, r.EncodingNotFound, _message_of),
    ErrorMapping(40450, r.NotFound, _message_of),  # not Confluent's: the outcome of a command that nobody remembers
    ErrorMapping(40404, r.AlreadyDeleted, _fill_template(f"Subject '{{subject}}' {_SOFT}"), (DeleteSubject,)),
    ErrorMapping(40406, r.AlreadyDeleted, _fill_template(f"Subject '{{subject}}' Version {{version}} {_SOFT}")),
    ErrorMapping(40405, r.NotDeletedFirst, _fill_template(f"Subject '{{subject}}' {_LIVE}"), (DeleteSubject,)),
    ErrorMapping(40407, r.NotDeletedFirst, _fill_template(f"Subject '{{subject}}' Version {{version}} {_LIVE}")),
    ErrorMapping(INCOMPATIBLE, r.Incompatible, _describe_incompatible),
    ErrorMapping(40902, r.TooManyAssociations, _message_of),
    ErrorMapping(40903, r.ResourceAssociated, _message_of),
    ErrorMapping(40904, r.SubjectAssociated, _fill_template("An association already exists for subject '{subject}'")),
    ErrorMapping(40905, r.StronglyAssociated, _fill_template("A strong association already exists for subject '{subject}'")),
    ErrorMapping(40907, r.NoLiveVersion, _fill_template("No active (non-deleted) version exists for subject '{subject}'")),
    ErrorMapping(40908, r.Frozen, _message_of),
    ErrorMapping(40950, r.NotLatest, _message_of),  # not Confluent's: its clients can't send what is refused here
    ErrorMapping(42201, r.InvalidSchema, _message_of),
    ErrorMapping(42202, r.InvalidVersion, _fill_template(NO_VERSION_ID_IN_RANGE)),
    ErrorMapping(42204, r.InvalidSetting, _mode, (SetMode,)),
    ErrorMapping(42203, r.InvalidSetting, _level),
    ErrorMapping(42205, r.NotPermitted, _message_of),
    ErrorMapping(42206, r.SchemaPinned, _message_of),
    ErrorMapping(42206, r.Referenced, _fill_template(_REFERENCED)),
    ErrorMapping(42208, r.InvalidSubject, _fill_template("The specified subject '{subject}' is not a valid.")),
    ErrorMapping(42209, r.TooLarge, _message_with_rule),
    ErrorMapping(42210, r.InvalidRules, _message_of),
    ErrorMapping(42212, r.InvalidAssociation, _message_of),
    ErrorMapping(42211, r.NotEmpty, _message_of),
    ErrorMapping(400, r.Invalid, _message_of),
    ErrorMapping(40952, r.CodecExists, _message_of),
    ErrorMapping(40953, r.Encoded, _message_of),
    ErrorMapping(40954, r.FormatNotAllowed, _message_of),
    ErrorMapping(40955, r.PreviousLevelDiffers, _message_of),
    ErrorMapping(40956, r.TypeNotAllowed, _message_of),
    ErrorMapping(40957, r.NameTaken, _message_of),
    ErrorMapping(40951, r.Conflicting, _message_of),
)  # fmt: skip
"""The first line that fits counts, so a line for certain requests stands before the one for all."""


def status_of(code: int) -> int:
    """The HTTP status of an error code."""
    return code // 100 if code > 999 else code


def error_body(error: RegistryError, request: Asked = None, *, details: bool = False) -> ErrorBody:
    """Print a refusal, or what else a registry raises on purpose."""
    if isinstance(error, Refusal):
        line = next(line for line in TABLE if isinstance(error, line.kind) and _fits(line, request))
        reason = _complete_reason(error.reason, request)
        return ErrorBody(
            line.code, shorten_text(line.text(reason), ERROR_CHARACTERS), _details(error) if details else None
        )
    if isinstance(error, r.OutcomeUnknown):
        return ErrorBody(504, str(error), ErrorDetails(rule="OUTCOME_UNKNOWN", command=error.command_id))
    return ErrorBody(503 if isinstance(error, r.Unavailable) else 500, str(error))


def only_code(refusal: Refusal) -> int:
    """Return the error code of a refusal where its class has one for all requests; 0 where that depends on the request."""
    kind = next(line.kind for line in TABLE if isinstance(refusal, line.kind))
    codes = {line.code for line in TABLE if line.kind is kind}
    return codes.pop() if len(codes) == 1 else 0


def _fits(line: ErrorMapping, request: Asked) -> bool:
    return not line.asked or isinstance(request, line.asked)


def _complete_reason(reason: Reason, request: Asked) -> Reason:
    """Fill in the subject and version that were asked for if the refusal lacks them."""
    subject, version = getattr(request, "subject", None), getattr(request, "version", None)
    scope = getattr(request, "scope", None)
    if scope is not None:
        subject = Subject(scope.context, scope.name or "")
    for member in ("schema_id", "guid"):
        if isinstance(request, _BY_ID):
            version = getattr(request, member, version)
    return replace(
        reason,
        subject=reason.subject or ("" if subject is None else str(subject)),
        version=reason.version or ("" if version is None else str(version)),
    )


def _details(error: Refusal) -> ErrorDetails:
    reason = error.reason
    return ErrorDetails(
        rule=reason.rule,
        path=reason.path,
        old=reason.old,
        new=reason.new,
        allowed=reason.allowed,
        subject=reason.subject,
        version=reason.version,
        message=reason.message,
        details=list(reason.details),
        faults=list(error.faults) if isinstance(error, r.InvalidSchema) else [],
        findings=list(error.findings) if isinstance(error, r.Incompatible) else [],
    )


NEAREST: dict[int, type[Refusal]] = {
    401: r.Unauthenticated,
    403: r.Forbidden,
    404: r.NotFound,
    409: r.Incompatible,
    413: r.TooLarge,
}
"""What a code that is not in the table means, by its status."""


def error_of(body: ErrorBody, request: Asked = None, *, retry_after: float = 1.0) -> RegistryError:
    """Read an error body: its refusal, `Unavailable`, or `OutcomeUnknown`.

    Codes that are not in the table become the nearest class by their status. A bare 404 is not a `NotFound`: it comes
    from something that is not a registry, or not at this address, and says nothing about what was asked.
    """
    facts = body.treaty or ErrorDetails()
    if facts.command:
        return r.OutcomeUnknown(facts.command)
    status = status_of(body.error_code)
    if status >= 500 or status in {408, 429} or body.error_code in {404, -1}:
        return r.Unavailable(f"{body.message} (code {body.error_code})", retry_after)
    kind = next((line.kind for line in TABLE if line.code == body.error_code and _fits(line, request)), None)
    reason = Reason(
        rule=facts.rule or str(body.error_code),
        message=facts.message or body.message,
        path=facts.path,
        old=facts.old,
        new=facts.new,
        allowed=facts.allowed,
        subject=facts.subject,
        version=facts.version,
        details=tuple(facts.details),
    )
    if body.treaty is None:
        reason = _complete_reason(reason, request)
        if kind is r.SchemaNotFound and isinstance(request, Lookup):
            return r.SchemaNotFound.not_registered(reason.subject, request.draft.format, request.draft.type_name)
    if kind is None:  # a plain 409 is how Confluent's servers before 8.0 call an incompatible schema
        kind = NEAREST.get(status, r.Invalid)
    if kind is r.SchemaPinned and reason.rule != PINNED:  # both have one code
        kind = r.Referenced
    if kind is r.InvalidSchema:
        return r.InvalidSchema(reason, tuple(facts.faults))
    if kind is r.Incompatible:
        return r.Incompatible(reason, tuple(facts.findings))
    return kind(reason)
