"""Search: subjects by their fields, types, tags, documentation and names; sources and queries by names and columns."""

from collections.abc import Iterable
from typing import Any

from treaty.core.operations import NAMED_OPERATIONS
from treaty.core.refusals import Invalid, Unavailable
from treaty.web.pages.page import ROWS, PageRequest, WebPage
from treaty.web.pages.subjects import print_value
from treaty.web.pages.templates import link_to

OPERATION = "search"
"""The name of the operation; a server without it has no search."""
NO_SEARCH = "this server has no search index"
EXAMPLES = (
    ("field:*mail* tag:PII", "fields whose name has mail in it, in schemas with personal data"),
    ("field:price type:decimal", "prices that are decimals"),
    ("kind:query flights", "queries whose name or columns have flights in them"),
    ("owner:team-sales", "what a team owns"),
)
"""Searches that people may begin with, with their meanings."""
TERMS = (
    ("field", "the name or path of a field; * stands for any characters"),
    ("type", "the type of a field, of that one if a field is given too"),
    ("tag", "a tag inside a schema or in its metadata"),
    ("doc", "a word of the documentation"),
    ("owner", "the property owner of the metadata"),
    ("subject", "a part of the name of a subject"),
    ("format", "AVRO, JSON, PROTOBUF"),
    ("context", "a context"),
    ("state", "live or deleted"),
    ("kind", "subject, source or query"),
)


async def show_search(request: PageRequest) -> WebPage:
    """Show what fits; without a text how to search, and where there is no index what to do instead."""
    text, after = request.text("q"), request.raw("after")
    values: dict[str, Any] = {
        "text": text, "results": None, "reason": "", "allowed": "", "hits": (), "facets": {}, "next_page": "", "first_page": "",
        "terms": TERMS, "examples": EXAMPLES,
    }  # fmt: skip
    if text:
        values |= await find(request, text, after)
    return WebPage("search.html", f"Search {text}".strip(), values, "search")


async def find(request: PageRequest, text: str, after: str) -> dict[str, Any]:
    """Return a page of results for the template, or why there are none."""
    operation = NAMED_OPERATIONS.get(OPERATION)
    if operation is None:
        return {"reason": NO_SEARCH}
    try:
        results: Any = await request.ask(operation.request(text, after, ROWS))
    except Unavailable as reason:
        return {"reason": str(reason)}
    except Invalid as refusal:
        return {"reason": str(refusal), "allowed": refusal.reason.allowed}
    return {
        "results": results,
        "hits": [(one, hit_link(one)) for one in results.hits],
        "facets": group_facets(text, results.facets),
        "next_page": link_to("search", q=text, after=results.last) if results.last else "",
        "first_page": link_to("search", q=text) if after else "",
    }


def hit_link(hit: Any) -> str:
    """Return the address of a subject, source or query."""
    if hit.kind == "subject":
        return (
            link_to("schema", subject=hit.name, version=hit.number) if hit.number else link_to("subject", name=hit.name)
        )
    return link_to("source", name=hit.name)


def group_facets(text: str, facets: Iterable[Any]) -> dict[str, list[tuple[Any, str]]]:
    """Return the counts by facet, each with the address of the search that it narrows."""
    groups: dict[str, list[tuple[Any, str]]] = {}
    for facet in facets:
        word = print_value(facet.value)
        narrower = text if f"{facet.facet}:{word}" in text.split() else f"{text} {facet.facet}:{word}"
        groups.setdefault(facet.facet, []).append((facet, link_to("search", q=narrower)))
    return groups
