"""Errors as Pravega's statuses: one table says which status stands for which error, and the body says why."""

from collections.abc import Mapping

from treaty.core import refusals as r
from treaty.core.finding import Finding, shorten_text
from treaty.core.limits import ERROR_CHARACTERS
from treaty.core.messages.encodings import AssignEncoding
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal, RegistryError, error_tag
from treaty.wire.pravega.bodies import PravegaErrorBody

STATUSES: Mapping[type[RegistryError], int] = {
    r.Unauthenticated: 401,
    r.Forbidden: 403,
    r.NotPermitted: 403,
    r.NotFound: 404,
    r.FormatNotAllowed: 417,
    r.Conflicting: 409,
    r.Invalid: 400,
    r.OutcomeUnknown: 504,
    r.Unavailable: 503,
}
"""The status of an error class and of those below it, where they have none of their own."""
CODEC_MISSING = 412
"""The status of an encoding id that is asked for with a codec that the group does not have."""


def status_of(error: RegistryError, request: Request[object] | None = None) -> int:
    """Return the status of an error of a registry."""
    if isinstance(error, r.CodecNotFound) and isinstance(request, AssignEncoding):
        return CODEC_MISSING
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 500)


def error_body(error: RegistryError) -> PravegaErrorBody:
    """Print an error of a registry."""
    if not isinstance(error, Refusal):
        return PravegaErrorBody(error_tag(error), shorten_text(str(error), ERROR_CHARACTERS))
    reason = error.reason
    message, reasons, remedies = reason.message, list(reason.details), [reason.allowed] if reason.allowed else []
    if isinstance(error, r.Incompatible):
        message = "The schema is incompatible with an earlier schema of the group"
        reasons = list_reasons(error.findings) or reasons
        remedies = list(dict.fromkeys(one.remedy for one in error.findings if one.remedy)) or remedies
    elif isinstance(error, r.InvalidSchema):
        reasons = [str(one) for one in error.faults] or reasons
    facts = f"{reason.rule}{f' at {reason.path}' if reason.path else ''}"
    changed = f": {reason.new}" if reason.new and not reason.old else f": {reason.old} -> {reason.new}"
    reasons = reasons or [facts + (changed if reason.new or reason.old else "")]
    return PravegaErrorBody(error_tag(error), shorten_text(message, ERROR_CHARACTERS), reasons, remedies)


def list_reasons(findings: tuple[Finding, ...]) -> list[str]:
    """Print findings: rule, path, and what is wrong with which schema."""
    return [
        f"{finding.rule}{f' at {finding.path}' if finding.path else ''}: {finding.message(reader='reading', writer='writing')}"
        for finding in findings
    ]
