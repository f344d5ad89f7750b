"""Search: hits of the index, as far as the tables still have them and the caller may read them."""

from dataclasses import replace

from treaty.core.access.authorized_view import without_filter
from treaty.core.access.private_subjects import may_read
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision
from treaty.core.handlers.drafts.schemas import answers
from treaty.core.handlers.versions import version_with_number
from treaty.core.limits import SEARCH_PAGE
from treaty.core.messages.request import Visible
from treaty.core.messages.search import Search, SearchHit, SearchResults, parse_terms
from treaty.core.names import subject_of
from treaty.core.refusals import Invalid
from treaty.core.schema_engine import EntriesFound, FindEntries, SchemaEngine
from treaty.core.state.metastore.keys import key_of_name
from treaty.core.state.view import View


def search(view: View, command: Command[Search], engine: SchemaEngine) -> Decision[SearchResults]:
    """Answer a search from the index. What was deleted or hidden since the index was made is left out of the page."""
    request = command.request
    terms = parse_terms(request.text)
    limit = max(1, min(request.limit, SEARCH_PAGE))
    question = FindEntries(terms, command.access, _place(request.after), limit)
    (entries,) = answers(engine, (question,))
    assert isinstance(entries, EntriesFound)
    base = without_filter(view)[0]
    visible: Visible = "deleted" if any(term.name == "state" and term.value == "deleted" for term in terms) else "live"
    hits = tuple(hit for hit in entries.hits if _is_there(base, command.access, hit, visible))
    gone = len(entries.hits) - len(hits)
    last = str(entries.last) if entries.last >= 0 else ""
    results = SearchResults(hits, max(0, entries.count - gone), entries.more, entries.facets, last, entries.sequence)
    return Decision((), results if not gone else replace(results, facets=()))


def _place(after: str) -> int:
    if not after:
        return -1
    if after.isascii() and after.isdecimal() and len(after) <= 18:
        return int(after)
    message = f"{after[:100]!r} is no place in a search"
    raise Invalid.of("SEARCH_AFTER", message, path="/after", new=after[:100], allowed="`last` of the page before")


def _is_there(base: View, access: Access | None, hit: SearchHit, visible: Visible) -> bool:
    """Return whether the tables have a hit, for who asks."""
    if hit.kind != "subject":
        return access is None or access.may_source("read", key_of_name(hit.name))
    subject = subject_of(hit.name)
    return may_read(base, access, subject) and version_with_number(base, subject, hit.number, visible) is not None
