"""Endpoints of validation: a schema by the linter, and a self-describing value by its schema."""

import asyncio
import json
from typing import Any

from treaty.api.iglu.exchange import IgluAnswer, IgluExchange, message
from treaty.api.iglu.schemas import find_schema
from treaty.core.iglu_key import SELF_DESCRIBING, IgluKey, IgluKeyError
from treaty.core.limits import ERROR_CHARACTERS
from treaty.core.messages.schemaver import JSON_SCHEMA
from treaty.core.schema_engine import ResolvedSchema, ValidateValue
from treaty.wire.iglu.documents import IgluBodyError, read_key
from treaty.wire.iglu.errors import FORBIDDEN, INVALID_DATA, INVALID_SCHEMA, NO_ENDPOINT, NO_SCHEMA, print_lint
from treaty.wire.iglu.lint import SKIPPED_BY_SERVERS, LintFinding, lint_document


async def validate_schema(x: IgluExchange) -> IgluAnswer:
    """Check a self-describing schema; the status is 200 with and without findings."""
    if x.values[-1] != JSON_SCHEMA:
        return message(NO_ENDPOINT, 404)
    if x.is_anonymous:
        return message(FORBIDDEN, 403)
    document = await x.document()
    value = document.value
    findings: list[LintFinding] = []
    if not isinstance(value, dict) or value.get("$schema") != SELF_DESCRIBING:
        findings.append(
            LintFinding("schemaUri", "ERROR", "", f"the schema has no member $schema that is {SELF_DESCRIBING}")
        )
    if not isinstance(value, dict) or "self" not in value:
        findings.append(LintFinding("syntax", "ERROR", "", "the schema is not self-describing: it has no member self"))
    findings += await asyncio.to_thread(lint_document, value, x.settings.depth, SKIPPED_BY_SERVERS)
    if any(finding.level == "ERROR" for finding in findings):
        return message(INVALID_SCHEMA, report=print_lint(findings))
    valid = f"The schema provided is a valid self-describing {document.key} schema"
    return message(f"{valid}, with warnings", report=print_lint(findings)) if findings else message(valid)


async def validate_instance(x: IgluExchange) -> IgluAnswer:
    """Validate a self-describing value by a schema of this registry; the status is 200 with and without violations, 422 if
    checking takes too long.
    """
    value = (await x.document()).value
    named = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(named, str) or "data" not in value:
        raise IgluBodyError(400, "The instance is not self-describing: it needs the members schema and data")
    try:
        key = IgluKey.parse(named)
    except IgluKeyError as error:
        raise IgluBodyError(400, f"The instance is not self-describing: {error}") from None
    return await _validate(x, key, value["data"])


async def validate_with_path(x: IgluExchange) -> IgluAnswer:
    """Validate a value, which names no schema, by the schema of the path (deprecated)."""
    key = read_key(*x.values)
    return await _validate(x, key, (await x.document()).value)


async def _validate(x: IgluExchange, key: IgluKey, data: Any) -> IgluAnswer:
    published = await find_schema(x, key)
    if published is None or key.format != JSON_SCHEMA:
        return message(NO_SCHEMA, 404)
    value = json.dumps(data, separators=(",", ":")).encode()
    question = ValidateValue(ResolvedSchema("JSON", published.version.text), value, x.settings.depth)
    validated = await x.validate(question, x.registry.call)
    if validated.too_costly:
        raise IgluBodyError(422, f"The instance can't be validated: {validated.too_costly}")
    if validated.issue:
        return message(f"The stored schema can't be used: {validated.issue[:ERROR_CHARACTERS]}", 500)
    if not validated.violations:
        return message(f"Instance is valid {key}")
    report = [
        {"message": text, "path": path, "keyword": keyword, "targets": list(targets)}
        for text, path, keyword, targets in validated.violations
    ]
    return message(INVALID_DATA, report=report)
