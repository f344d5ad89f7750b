"""`diff`, `try_change` and `search` of a connection: the request that each makes, as `exchanges` does for other methods. Their bodies over HTTP are in `wire/differences.py` and `wire/search.py`."""

from treaty.client.exchanges import as_draft
from treaty.core.limits import SEARCH_PAGE
from treaty.core.messages.differences import CompareVersions, ComparisonSide, SchemasCompared
from treaty.core.messages.search import Search, SearchResults
from treaty.core.names import subject_of
from treaty.core.registry import Exchange, request_answer
from treaty.core.schema import Draft
from treaty.wire.differences import as_side


def diff(old: str | Draft, new: str | Draft) -> Exchange[SchemasCompared]:
    """Return all differences of two schemas, harmful or not, with their places in the texts of the answer.

    Each is ``subject@version``, a guid, or a `Draft`.
    """
    return (yield from request_answer(CompareVersions(as_side(new), as_side(old))))


def try_change(
    subject: str, schema: Draft | str, *, old: str | Draft | None = None, normalize: bool | None = None
) -> Exchange[SchemasCompared]:
    """Return what would happen if this schema were registered in a subject, in the member `change`; nothing is written.

    It is compared with `old`, else with the version that refuses it, else with the latest one.
    """
    side = None if old is None else as_side(old)
    home = subject_of(subject)
    new = ComparisonSide(draft=as_draft(schema))
    return (yield from request_answer(CompareVersions(new, side, home, normalize)))


def search(text: str, *, after: str = "", limit: int = SEARCH_PAGE) -> Exchange[SearchResults]:
    """Return a page of what fits a search such as ``field:carrier type:string tag:PII``; `after` is `last` of the page before.

    Raises `NotOffered` where the registry keeps no index, as one in this process, and `Unavailable` while it is built.
    """
    return (yield from request_answer(Search(text, after, limit)))
