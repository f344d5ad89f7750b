"""Refusals as Iglu's statuses and bodies: a message, at times a report, and the facts in the member `treaty`."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from treaty.core import refusals as r
from treaty.core.finding import Finding, shorten_text
from treaty.core.limits import ERROR_CHARACTERS, FAULT_CHARACTERS, FINDINGS_CHARACTERS
from treaty.core.refusals import Refusal, RegistryError
from treaty.wire.iglu.lint import LintFinding

NO_SCHEMA = "The schema is not found"
NO_SCHEMAS = "No schemas available"
NO_ENDPOINT = "The endpoint does not exist"
FORBIDDEN = "Authentication error: not authorized"
INVALID_SCHEMA = "The schema does not conform to a JSON Schema v4 specification"
INVALID_DATA = "The data for a field instance is invalid against its schema"


class IgluErrorBody(msgspec.Struct, omit_defaults=True):
    """The body of an error."""

    message: str
    report: list[dict[str, Any]] = []
    """Findings about a schema or a value, with their places."""
    treaty: dict[str, Any] = {}
    """Rule, path, old, new and allowed."""
    uri_schema_key: str = msgspec.field(default="", name="uriSchemaKey")
    payload_schema_key: str = msgspec.field(default="", name="payloadSchemaKey")


STATUSES: Mapping[type[RegistryError], int] = {
    r.Unauthenticated: 401,
    r.Forbidden: 403,
    r.NotPermitted: 403,
    r.NotFound: 404,
    r.Conflicting: 409,
    r.Invalid: 400,
    r.OutcomeUnknown: 504,
    r.Unavailable: 503,
}
"""The status of a class of errors and of those below it, where they have none of their own."""
LIMITS = {"SCHEMA_BYTES": 413, "OPAQUE_BYTES": 413, "NAME_LENGTH": 400}
"""Limits that a request exceeds by itself, with their status; at others the registry is full: 403."""
MESSAGES = {
    "LABEL_EXISTS": "Schema already exists",
    "LABEL_NOT_SEQUENTIAL": "The schema version is not sequential",
    "LABEL_PRECEDING_MISSING": "Preceding SchemaVer in the group is missing, check that schemas published in proper order",
    "VISIBILITY_DIFFERS": "Inconsistent schema availability: earlier versions are {old}, this one is {new}",
}
"""Messages of the original, by the rule of a refusal."""


def status_of(error: RegistryError) -> int:
    """Return the status of an error."""
    if isinstance(error, r.TooLarge):
        return LIMITS.get(error.reason.rule, 403)
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 500)


def error_body(error: RegistryError) -> dict[str, Any]:
    """Return the body of an error."""
    if not isinstance(error, Refusal):
        return {"message": str(error)[:ERROR_CHARACTERS]}
    reason = error.reason
    message = reason.message
    if isinstance(error, r.Forbidden):
        message = FORBIDDEN
    elif isinstance(error, r.NotFound):
        message = NO_SCHEMA
    elif reason.rule in MESSAGES:
        message = MESSAGES[reason.rule].format(old=reason.old, new=reason.new)
    body: dict[str, Any] = {"message": message[:ERROR_CHARACTERS]}
    if isinstance(error, r.InvalidSchema) and error.faults:
        body["message"] = INVALID_SCHEMA
        body["report"] = [
            {
                "message": f"{fault.message}{fault.expected and '; expected '}{fault.expected}",
                "level": "ERROR",
                "pointer": fault.path or "/",
            }
            for fault in error.faults
        ]
    elif isinstance(error, r.Incompatible):
        body["report"] = print_findings(error.findings)
    if not isinstance(error, r.NotFound):
        body["treaty"] = facts_of(reason)
    return body


def facts_of(reason: r.Reason) -> dict[str, Any]:
    """Return the facts of a refusal."""
    members = {
        "rule": reason.rule,
        "message": reason.message[:ERROR_CHARACTERS],
        "path": reason.path,
        "old": reason.old,
        "new": reason.new,
        "allowed": reason.allowed,
    }
    return {word: text for word, text in members.items() if text}


def print_findings(findings: Iterable[Finding]) -> list[dict[str, str]]:
    """Return findings about two versions."""
    return [
        {
            "rule": finding.rule,
            "path": finding.path,
            "message": finding.message(reader="the new version", writer="the earlier version"),
            "allowed": finding.remedy,
        }
        for finding in findings
    ]


def print_lint(findings: Iterable[LintFinding]) -> list[dict[str, str]]:
    """Return findings of the linter in the form of a report; those past FINDINGS_CHARACTERS are left out, and long texts are cut."""
    left, report = FINDINGS_CHARACTERS, list[dict[str, str]]()
    for finding in findings:
        message, pointer = (shorten_text(text, FAULT_CHARACTERS) for text in (finding.message, finding.pointer))
        left -= len(message) + len(pointer)
        if left < 0:
            break
        report.append({"message": message, "level": finding.level, "pointer": pointer or "/"})
    return report
