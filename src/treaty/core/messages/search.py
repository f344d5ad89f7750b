"""The request that searches schemas, sources and queries: its members, defaults and answer; decided in `core/handlers/comparison/search.py`, over
hits of the index of `web/index`.

A text is words, and terms such as ``field:carrier type:string tag:PII``. All of them must hold. The search index of the
server answers it; it is a copy that may be some seconds old.
"""

import re

from treaty.core.limits import NAME_LENGTH, SEARCH_PAGE, SEARCH_TERMS
from treaty.core.messages.request import Request
from treaty.core.refusals import Invalid
from treaty.light_dataclass import dataclass

TERMS = {
    "field": "the name or path of a field; * stands for any characters",
    "type": "the type of a field: with field of that one",
    "tag": "a tag inside a schema or in its metadata",
    "doc": "a word of a documentation",
    "owner": "the property owner of the metadata",
    "subject": "a part of the name of a subject",
    "format": "AVRO, JSON, PROTOBUF or that of a plug-in",
    "context": "a context",
    "origin": "the API that made the subject: confluent, pravega, schema-repo, avro-1124, iglu",
    "state": "live (the default) or deleted",
    "kind": "subject, source or query",
}
"""Terms of a search, with their meanings. A word without a term is a part of a name of a subject, field, source or query."""
CHOICES = {"state": ("live", "deleted"), "kind": ("subject", "source", "query")}
"""Values of the terms that have only some."""
_TERM = re.compile(r'(?:(?P<field>[A-Za-z]+):)?(?:"(?P<quoted>[^"]*)"|(?P<word>\S+))')


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """A condition: a name of `TERMS` (empty for a word) and its value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A subject, source or query (`kind`) that fits. Of a subject the version with its schema, and the fields that fit."""

    kind: str
    name: str
    number: int = 0
    schema_id: int = -1
    format: str = ""
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FacetCount:
    """How many hits have a value of a facet: format, context, origin, kind, tag or owner."""

    facet: str
    value: str
    count: int


@dataclass(frozen=True, slots=True)
class SearchResults:
    """A page of hits. `count` is their number, at least that if `more`; facets count the same hits.

    `last` is the `after` of the next page; empty: there is none. `sequence` is the position of the index.
    """

    hits: tuple[SearchHit, ...]
    count: int
    more: bool = False
    facets: tuple[FacetCount, ...] = ()
    last: str = ""
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class Search(Request[SearchResults]):
    """Find subjects by their fields, types, tags, documentation and names, and sources and queries by names and columns."""

    text: str
    after: str = ""
    limit: int = SEARCH_PAGE


def parse_terms(text: str) -> tuple[SearchTerm, ...]:
    """Parse a search. Raises `Invalid` for an unknown term, an empty search, and past a limit."""
    if len(text) > NAME_LENGTH:
        allowed = f"at most {NAME_LENGTH} characters"
        raise Invalid.of("NAME_LENGTH", "The search is too long", path="/text", allowed=allowed)
    terms = []
    for match in _TERM.finditer(text):
        name, value = (match["field"] or "").lower(), match["quoted"] if match["quoted"] is not None else match["word"]
        if name and name not in TERMS:
            message = f"{name!r} is no term of a search"
            raise Invalid.of("SEARCH_TERM", message, path="/text", new=name, allowed=", ".join(TERMS))
        if name in CHOICES and value.lower() not in CHOICES[name]:
            allowed = ", ".join(CHOICES[name])
            raise Invalid.of("SEARCH_VALUE", f"{value!r} is no {name}", path="/text", new=value, allowed=allowed)
        if value.strip('*"'):
            terms.append(SearchTerm(name, value.lower() if name in CHOICES else value))
    if not terms:
        message = "The search has no words"
        raise Invalid.of("SEARCH_EMPTY", message, path="/text", allowed=f"words, or terms: {', '.join(TERMS)}")
    if len(terms) > SEARCH_TERMS:
        raise Invalid.of(
            "SEARCH_TERMS", "The search has too many terms", path="/text", allowed=f"at most {SEARCH_TERMS}"
        )
    return tuple(terms)
