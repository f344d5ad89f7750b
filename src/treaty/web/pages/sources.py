"""Sources and named types of the metastore, with their queries: lists, and a page for each."""

from treaty.core.messages.metastore import (
    DescribeSource,
    DescribeType,
    ListDependents,
    ListDropped,
    ListSources,
    ListTypes,
)
from treaty.core.messages.names import SEQUENCE, GetNamedVersion
from treaty.core.refusals import Refusal
from treaty.core.sources import SourcePart
from treaty.core.state.metastore.keys import key_of_name
from treaty.web.pages.column_readers import find_column_readers
from treaty.web.pages.page import ROWS, PageError, PageRequest, WebPage
from treaty.web.pages.subject import pin_place
from treaty.web.pages.templates import link_to, link_to_use, mark_all_unseen
from treaty.web.schemas.texts import show_text

KINDS = ("", "STREAM", "TABLE")


async def show_sources(request: PageRequest) -> WebPage:
    """Show a page of streams and tables."""
    kind, queries = request.text("kind").upper(), bool(request.text("queries"))
    if kind not in KINDS:
        raise PageError(400, f"kind = {kind[:50]!r} is neither STREAM nor TABLE")
    found = await request.ask(ListSources(kind, queries=queries, after=request.raw("after"), limit=ROWS))
    dropped = await request.ask_or_none(ListDropped(limit=ROWS), Refusal)
    members = {"kind": kind, "queries": "1" if queries else ""}
    values = {
        "sources": found.sources,
        "dropped": dropped.sources if dropped and not request.raw("after") else (),
        "next_page": link_to("sources", **members, after=found.last) if found.last else "",
        "filter": members,
    }
    return WebPage("sources.html", "Sources", values, "sources")


async def show_source(request: PageRequest) -> WebPage:
    """Show a source: its columns, its query, what it reads and who reads it, its statement."""
    name = request.raw("name")
    found = await request.ask(DescribeSource(name))
    source = found.source
    dependents = await request.ask_or_none(ListDependents(name, "SOURCE", recursive=True), Refusal)
    values = {
        "source": source,
        "readers": found.readers,
        "hidden_readers": found.hidden_readers,
        "dependents": dependents.dependents if dependents else (),
        "upstreams": [(one, link_to_use(one.kind, one.name)) for one in (dependents.upstreams if dependents else ())],
        "statement": show_text("SQL", source.statement, mark_all_unseen),
        "body": show_text("SQL", source.query.plan.body, mark_all_unseen) if source.query else None,
        "pins": [
            (side, part, str(pin_place(part) or ""), await _find_pinned_number(request, part))
            for side, part in (("key", source.key), ("value", source.value))
            if part
        ],
        "column_readers": await find_column_readers(request, [found]),
        "may_pause": request.viewer.may_source("pause", key_of_name(source.name)),
    }
    return WebPage("source.html", source.name, values, "sources")


async def _find_pinned_number(request: PageRequest, part: SourcePart) -> int:
    """Return the number of the version that a side of a source is bound to; 0 without a pin, and where the caller may not see it.

    A number is no ordinal + 1: an import gives versions the numbers that they had.
    """
    subject = pin_place(part)
    if part.pin is None or subject is None:
        return 0
    named = GetNamedVersion(subject, str(part.pin.ordinal + 1), SEQUENCE)
    version = await request.ask_or_none(named, Refusal)
    return version.number if version else 0


async def show_types(request: PageRequest) -> WebPage:
    """Show a page of named types."""
    found = await request.ask(ListTypes(after=request.raw("after"), limit=ROWS))
    values = {"types": found.types, "next_page": link_to("types", after=found.last) if found.last else ""}
    return WebPage("types.html", "Types", values, "types")


async def show_type(request: PageRequest) -> WebPage:
    """Show a named type and who uses it."""
    found = await request.ask(DescribeType(request.raw("name")))
    return WebPage("type.html", found.type.name, {"found": found, "type": found.type}, "types")
