"""The request for the feed of queries, with which runners and watchers wait for news: its members, defaults and answer; decided in
`core/handlers/metastore/queries.py`.
"""

from treaty.core.limits import SOURCES_PAGE
from treaty.core.messages.request import Request
from treaty.core.sources import Source
from treaty.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class AssignedPart:
    """A part of a source (query or bad) with the runner that has it, and the epoch of its lease."""

    part: str
    runner: str
    epoch: int


@dataclass(frozen=True, slots=True)
class FedQuery:
    """A source that is run: it has a query, or the bad rows of another one; with those who have its parts."""

    source: Source
    assigned: tuple[AssignedPart, ...] = ()


@dataclass(frozen=True, slots=True)
class FedRunner:
    """A runner: its name, the epoch of its lease, who holds it, and the address of its status."""

    name: str
    epoch: int
    holder: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class QueryFeed:
    """A page of what is run, by key; `last` is the key of the last source, for `after` of the next page; empty: no more.

    `token` stands for the state of sources, types, assignments and runners: who sends it with the next request waits for another
    state. `changed` is False where that was the state all the time; then nothing is listed. Runners are on the first page.
    """

    token: str
    changed: bool = True
    queries: tuple[FedQuery, ...] = ()
    runners: tuple[FedRunner, ...] = ()
    last: str = ""


@dataclass(frozen=True, slots=True)
class ListQueries(Request[QueryFeed]):
    """What is run, at most `limit` (one at least) after the key `after`; with `token` once the state is another one.

    While it is the same the answer waits up to `wait` seconds.
    """

    token: str = ""
    wait: int = 0
    after: str = ""
    limit: int = SOURCES_PAGE
