"""Refusals as statuses and bodies of schema-repo and AVRO-1124: a sentence as text, or an object with the facts as JSON."""

from http import HTTPStatus
from typing import Any

import msgspec

from treaty.core import refusals as r
from treaty.core.limits import ERROR_CHARACTERS
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal, RegistryError
from treaty.wire.schemarepo.texts import JSON

NO_SUBJECT, NO_SCHEMA = "subject does not exist", "schema does not exist"
"""The sentences of schema-repo for what is not found."""
_ENTITY = {"SCHEMA_BYTES": 413, "NAME_LENGTH": 400, "GROUP_PROPERTIES": 400, "GROUP_PROPERTY_CHARACTERS": 400}
"""Limits that a request exceeds by itself, with their status; at others the registry is full."""

STATUSES: tuple[tuple[type[RegistryError], int], ...] = (
    (r.Unauthenticated, 401),
    (r.Forbidden, 403),
    (r.NotFound, 404),
    (r.NotLatest, 409),
    (r.Incompatible, 403),
    (r.NotPermitted, 403),
    (r.FormatNotAllowed, 403),
    (r.InvalidSchema, 403),
    (r.InvalidRules, 403),
    (r.TooLarge, 403),
    (r.Invalid, 400),
    (r.Conflicting, 409),
    (r.Unavailable, 503),
    (r.OutcomeUnknown, 504),
)
"""The status of each kind of error; the first one that fits counts. 403 is what a client reports as a schema that was refused, 409 as
a latest schema that was not the expected one.
"""


class SchemaRepoErrorBody(msgspec.Struct, omit_defaults=True):
    """The body of an error as JSON."""

    code: str
    """The tag of the error, or the phrase of its status in small letters."""
    message: str
    reasons: list[str] = []
    remedies: list[str] = []


def status_of_error(error: RegistryError, request: Request[Any] | None = None) -> int:
    """Return the status of an error. What conflicts with a schema that is registered refuses the schema: 403."""
    if isinstance(error, r.TooLarge):
        return _ENTITY.get(error.reason.rule, 403)
    if isinstance(request, Register) and isinstance(error, r.Conflicting) and not isinstance(error, r.NotLatest):
        return 403
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def report_error(error: RegistryError) -> SchemaRepoErrorBody:
    """Return the body of an error."""
    code = r.error_tag(error)
    if not isinstance(error, Refusal):
        return SchemaRepoErrorBody(code, str(error)[:ERROR_CHARACTERS])
    reason = error.reason
    message = reason.message[:ERROR_CHARACTERS]
    if isinstance(error, r.SubjectNotFound):
        message = f"{NO_SUBJECT}: {reason.subject or reason.message}"
    elif isinstance(error, r.VersionNotFound | r.SchemaNotFound):
        message = f"{NO_SCHEMA}: {reason.message}"
    remedies = [reason.allowed] if reason.allowed else []
    details = [one for one in reason.details if one not in message]
    return SchemaRepoErrorBody(code, message, [_fact_line(reason), *details], remedies)


def report_status(status: int, message: str) -> SchemaRepoErrorBody:
    """Return the body of an error of HTTP itself."""
    return SchemaRepoErrorBody(HTTPStatus(status).phrase.lower().replace(" ", "-"), message)


def print_error(report: SchemaRepoErrorBody, media: str) -> bytes:
    """Print a body in a media type: as text it is the sentence, with the facts in lines below."""
    if media == JSON:
        return msgspec.json.encode(report)
    lines = [*report.reasons, *(f"allowed: {one}" for one in report.remedies)]
    return "\n".join((report.message, *lines)).encode("utf-8", "backslashreplace")


def _fact_line(reason: r.Reason) -> str:
    """Return rule, place, old and new value in one line."""
    place = f" at {reason.path}" if reason.path else ""
    values = (("old", reason.old), ("new", reason.new))
    return f"{reason.rule}{place}" + "".join(f"; {name}: {value}" for name, value in values if value)
