"""Endpoints of schemas: publish, read, list, delete; and of drafts, texts under whole numbers, which are no versions."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

from treaty.api.iglu.exchange import IgluAnswer, IgluExchange, message
from treaty.core.iglu_key import IgluKey
from treaty.core.limits import COUNTER, IGLU_PAGE
from treaty.core.messages.schemaver import (
    JSON_SCHEMA,
    DeletePublished,
    GetDraft,
    GetPublished,
    ListPublished,
    Publish,
    PublishedSchema,
    PutDraft,
)
from treaty.core.names import Subject
from treaty.core.refusals import Forbidden, NotFound
from treaty.wire.iglu.documents import (
    IgluBodyError,
    Representation,
    bare_schema,
    media_of,
    publication_of,
    publication_of_bytes,
    raw_bytes,
    read_key,
    schema_text,
    subject_of_key,
)
from treaty.wire.iglu.errors import INVALID_SCHEMA, NO_SCHEMA, NO_SCHEMAS, print_findings, print_lint
from treaty.wire.iglu.lint import SKIPPABLE, lint_document

# -------------------------------------------------------------------------------------------------------------- read


async def get_schema(x: IgluExchange) -> IgluAnswer:
    """Return a schema, or with a model in place of the version the schemas of the model."""
    vendor, name, format_, version = x.values
    if version.isascii() and version.isdigit():
        return await _list(x, ListPublished(vendor, name, format_, min(int(version), COUNTER) or COUNTER))
    representation = x.representation("canonical")
    key = read_key(vendor, name, format_, version)
    published = await find_schema(x, key)
    if published is None:
        return message(NO_SCHEMA, 404)
    if key.format != JSON_SCHEMA and representation == "canonical":
        data = raw_bytes(published.version)
        return IgluAnswer(data, media=media_of(key.format, data))
    return IgluAnswer(schema_text(published, representation))


async def find_schema(x: IgluExchange, key: IgluKey) -> PublishedSchema | None:
    """Return a schema that the caller may read; None where there is none."""
    try:
        return await x.registry.ask(GetPublished(subject_of_key(key), str(key.version)))
    except (NotFound, Forbidden):
        return None


async def list_all(x: IgluExchange) -> IgluAnswer:
    """List all schemas that the caller may read; the list may be empty."""
    return await _list(x, ListPublished(), may_be_empty=True)


async def list_vendor(x: IgluExchange) -> IgluAnswer:
    """List the schemas of a vendor, of a vendor and name, or of a format of these."""
    vendor, name, format_ = (*x.values, "", "")[:3]
    return await _list(x, ListPublished(vendor, name, format_))


async def _list(x: IgluExchange, request: ListPublished, *, may_be_empty: bool = False) -> IgluAnswer:
    representation = x.representation("uri")
    texts = await _texts(x, request, representation)
    if not texts and not may_be_empty:
        return message(NO_SCHEMAS, 404)
    return IgluAnswer(f"[{','.join(texts)}]")


async def _texts(x: IgluExchange, request: ListPublished, representation: Representation) -> list[str]:
    texts: list[str] = []
    request = replace(request, limit=IGLU_PAGE)
    while True:
        try:
            page = (await x.registry.ask(request)).schemas
        except Forbidden:
            return []
        texts.extend(schema_text(schema, representation) for schema in page)
        if len(page) < IGLU_PAGE:
            return texts
        request = replace(request, after=(page[-1].version.subject, page[-1].label))


# ----------------------------------------------------------------------------------------------------------- publish


async def put_schema(x: IgluExchange) -> IgluAnswer:
    """Publish a schema under its path; a bare JSON schema gets `self` from it."""
    key = read_key(*x.values)
    public = x.flag("isPublic")
    if key.format != JSON_SCHEMA:
        data = await x.data()
        return await _publish(x, key, publication_of_bytes(key, data, public=public, patch=x.settings.patches_allowed))
    document = await x.document()
    request = publication_of(key, document, public=public, patch=x.settings.patches_allowed)
    own = document.value if document.key is not None else bare_schema(document, key)
    return _lint_errors(x, own) or await _publish(x, key, request)


async def post_schema(x: IgluExchange) -> IgluAnswer:
    """Publish a self-describing schema."""
    public = x.flag("isPublic")
    document = await x.document()
    key = document.key
    if key is None:
        raise IgluBodyError(400, "Cannot decode JSON schema: it has no member self")
    request = publication_of(key, document, public=public, patch=x.settings.patches_allowed)
    return _lint_errors(x, document.value) or await _publish(x, key, request)


def _lint_errors(x: IgluExchange, document: object) -> IgluAnswer | None:
    """Return the answer for a schema with errors; None for one without."""
    findings = lint_document(document, x.settings.depth, SKIPPABLE)
    return message(INVALID_SCHEMA, 400, report=print_lint(findings)) if findings else None


async def _publish(x: IgluExchange, key: IgluKey, request: Publish) -> IgluAnswer:
    published = await x.registry.ask(request)
    status = 201 if published.created else 200
    sentence = "Schema created" if published.created else "Schema updated"
    body: dict[str, Any] = {
        "message": sentence,
        "updated": not published.created,
        "location": str(key),
        "status": status,
    }
    if published.warnings:
        body["treaty"] = {"warnings": print_findings(published.warnings)}
    return IgluAnswer(body, status)


# ------------------------------------------------------------------------------------------------------------ delete


async def delete_schema(x: IgluExchange) -> IgluAnswer:
    """Delete a schema; only a super key may, and only where schemas may be replaced."""
    key = read_key(*x.values)
    if not x.is_super:
        return message("Authentication error: a super key is needed", 401)
    if not x.settings.patches_allowed:
        return message("DELETE is not allowed: the server was started without --iglu-patches", 405)
    with suppress(NotFound):
        await x.registry.ask(DeletePublished(subject_of_key(key), str(key.version)))
    return message("Schema deleted")


# ------------------------------------------------------------------------------------------------------------ drafts


def _draft_of(x: IgluExchange) -> tuple[IgluKey, Subject, int]:
    vendor, name, format_, number = x.values
    if not (number.isascii() and number.isdigit() and 0 < int(number[:11]) <= COUNTER):
        raise IgluBodyError(400, f"Cannot parse '{number[:100]}' as the number of a draft; allowed: 1 to {COUNTER}")
    key = read_key(vendor, name, format_, "1-0-0")
    return key, subject_of_key(key), int(number)


async def get_draft(x: IgluExchange) -> IgluAnswer:
    """Return the text of a draft."""
    _, subject, number = _draft_of(x)
    try:
        return IgluAnswer((await x.registry.ask(GetDraft(subject, number))).text)
    except (NotFound, Forbidden):
        return message(NO_SCHEMA, 404)


async def put_draft(x: IgluExchange) -> IgluAnswer:
    """Store a draft."""
    key, subject, number = _draft_of(x)
    private = not x.flag("isPublic")
    document = await x.document()
    if not isinstance(document.value, dict):
        raise IgluBodyError(400, "Cannot decode JSON schema: a draft is a JSON object")
    await x.registry.ask(PutDraft(subject, number, document.text, private))
    location = f"iglu:{key.vendor}/{key.name}/{key.format}/{number}"
    return IgluAnswer({"message": "Schema created", "updated": False, "location": location, "status": 201}, 201)
