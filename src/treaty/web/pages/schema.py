"""A schema: its text with colours, its fields as a tree, its ids and subjects, an example value, programs that read it."""

from dataclasses import dataclass
from typing import Any

from treaty.core.messages.listings import ListVersions
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, SchemaFound, UsesOf
from treaty.core.messages.versions import GetVersion, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound, Refusal, RegistryError
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import Format, InvalidSchemaError
from treaty.formats.registry import find_formats
from treaty.node.large_work import run_by_size
from treaty.web.pages.column_readers import find_field_readers
from treaty.web.pages.page import ROWS, PageError, PageMoved, PageRequest, RawText, WebPage
from treaty.web.pages.subject import list_pinned_sources, list_users
from treaty.web.pages.subjects import tags_of
from treaty.web.pages.templates import link_to, mark_all_unseen
from treaty.web.schemas.fields import FieldTree, list_fields
from treaty.web.schemas.snippets import list_snippets
from treaty.web.schemas.texts import ShownText, lay_out, show_text
from treaty.wire.references import KnownSchemas, resolve_schema

FIELDS = 200
"""Fields on one page."""
USES = 200
"""Uses of a schema that a page lists."""
EXAMPLE_CHARACTERS = 4_000
EXAMPLE_SEEDS = (7, 3, 11, 19, 23, 31)
"""Seeds of the example values of which the plainest is shown."""


@dataclass(frozen=True, slots=True)
class SchemaDisplay:
    """What is computed from a text: its lines, its fields, an example value."""

    text: ShownText
    tree: FieldTree
    example: str
    size: int


async def find_version(request: PageRequest) -> VersionFound:
    """Return the version that the address names; without a number it is the latest. Raises `NotFound`, `PageError`."""
    number = request.number("version", -1, lowest=-1)
    return await request.ask(GetVersion(request.subject("subject"), number, deleted=True, find_tags=("*",)))


async def show_schema(request: PageRequest) -> WebPage | PageMoved:
    """Show a version of a subject; an address with an id or a guid leads to one of its versions."""
    if not request.raw("subject"):
        return await _find_place(request)
    version = await find_version(request)
    subject = subject_of(version.subject)
    view = await _view(request, version)
    start = request.number("fields", 0)
    guid_ids = await request.ask_or_none(GetGuidIds(version.guid), NotFound)
    uses = await request.ask_or_none(UsesOf(version.schema_id, Subject(subject.context, ""), visible="all"), NotFound)
    numbers = (await request.ask(ListVersions(subject, visible="all"))).numbers
    earlier = [one for one in numbers if one < version.number]
    sources = await list_pinned_sources(request, subject)
    values = {
        "version": version,
        "subject": subject,
        "number": version.number,
        "earlier": earlier[-1] if earlier else 0,
        "later": next((one for one in numbers if one > version.number), 0),
        "view": view,
        "fields": view.tree.rows[start : start + FIELDS],
        "fields_from": start,
        "fields_next": start + FIELDS if len(view.tree.rows) > start + FIELDS else 0,
        "tags": tags_of(version),
        "ids": guid_ids.ids[:ROWS] if guid_ids else (),
        "uses": uses.uses[:USES] if uses else (),
        "use_count": len(uses.uses) if uses else 0,
        "users": await list_users(request, version),
        "sources": sources,
        "readers": await find_field_readers(request, sources) if sources else None,
        "snippets": list_snippets(
            request.server.address, version.subject, version.number, version.schema_id, version.format
        ),
        "may_register": request.viewer.may("register", subject) or request.viewer.may("bump", subject),
        "may_delete": request.viewer.may("delete", subject),
    }
    return WebPage("schema.html", f"{version.subject} version {version.number}", values, "subjects")


async def _find_place(request: PageRequest) -> PageMoved:
    """Lead from an id or a guid to a version that has it."""
    schema_found: SchemaFound
    if request.text("guid"):
        schema_found = await _find_by_guid(request, request.text("guid").lower())
    elif request.text("id"):
        place = Subject(request.text("context") or ".", "")
        schema_found = await request.ask(GetSchema(request.number("id", 0, lowest=1), place))
    else:
        raise PageError(400, "the address of this page names no schema", "begin with Subjects, or give an id or a guid")
    if not schema_found.subject:
        raise PageError(404, "no subject that you may read has this schema")
    return PageMoved(link_to("schema", subject=schema_found.subject, version=schema_found.number))


async def _find_by_guid(request: PageRequest, guid: str) -> SchemaFound:
    """Return the schema of a guid with a version that has it: a guid belongs to no context, so each that has it is asked. Raises `NotFound`."""
    schema_found = await request.ask(GetGuid(guid))
    for context, schema_id in (await request.ask(GetGuidIds(guid))).ids[:ROWS]:
        found_here = await request.ask_or_none(GetSchema(schema_id, Subject(context, "")), Refusal)
        if found_here is not None and found_here.subject:
            return found_here
    return schema_found


async def _view(request: PageRequest, version: VersionFound) -> SchemaDisplay:
    """Compute what is shown of a text, beside the event loop where it is long."""
    form = find_formats().find(version.format)
    resolved, trouble = await _resolve(request, version)
    bindings = resolved.bindings if resolved is not None else ()
    size = len(version.text) + sum(len(one.meaning.text) for one in bindings)

    def work() -> SchemaDisplay:
        laid_out = lay_out(version.format, version.text)
        tree, example = FieldTree(trouble=trouble or "this format has no fields that are known here"), ""
        if form is not None and resolved is not None:
            tree = list_fields(form, resolved)
            example = _example(form, resolved)
        return SchemaDisplay(show_text(version.format, laid_out, mark_all_unseen), tree, example, len(version.text))

    return await run_by_size(size * 8, work)


async def _resolve(request: PageRequest, version: VersionFound) -> tuple[ResolvedSchema | None, str]:
    """Return the text with what it refers to; the reason where the viewer may not read that, or it is gone."""
    known_schemas: KnownSchemas = {}
    try:
        return await resolve_schema(request.registry, request.call, version, known_schemas), ""
    except Refusal as reason:
        return None, f"a reference of this schema can't be followed: {reason}"


def _example(form: Format[Any], resolved: ResolvedSchema) -> str:
    """Return an example value, laid out; "" where there is none."""
    if form.example is None:
        return ""
    try:
        parsed = form.parse(resolved, False)
        texts = [lay_out("JSON", form.example(parsed, seed)) for seed in EXAMPLE_SEEDS]
    except (ValueError, InvalidSchemaError, RegistryError, RecursionError):
        return ""
    text = min(texts, key=_count_unusual)
    return text if len(text) <= EXAMPLE_CHARACTERS else f"{text[:EXAMPLE_CHARACTERS]}\n…"


def _count_unusual(text: str) -> int:
    """Return how many characters of a text people don't read easily."""
    return sum(not character.isascii() for character in text) + text.count("\\")


async def show_raw(request: PageRequest) -> RawText:
    """Answer with the text of a version as it is stored."""
    return RawText((await find_version(request)).text)
