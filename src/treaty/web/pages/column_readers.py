"""Who reads a column of a source: the queries whose plans need it, as far as the viewer may see them.

Where their runners answer, also how many rows of the source they have read, and when the last one.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add

from treaty.core.column_types.leaf_paths import ELEMENT, KEY, VALUE, LeafPath, lower_path, parse_path
from treaty.core.column_types.types import ColumnTypeError
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.metastore.sources import DescribeSource, SourceFound
from treaty.core.refusals import Denied, NotFound, NotOffered, Refusal
from treaty.core.sources import QUERY, Source
from treaty.core.state.metastore.keys import key_of_name
from treaty.web.pages.page import PageRequest
from treaty.web.pages.part_rates import RUNNERS_ASKED, Rates, ReadCount, ask_rates

READERS = 50
"""Queries whose plans one page looks at."""
BEFORE_SURROGATES = 0xD7FF
"""The last character before those that only come in pairs."""


@dataclass(slots=True)
class ColumnReaders:
    """Queries by the paths of the columns that they read, in small letters. `is_whole` is False past READERS."""

    paths: dict[LeafPath, list[str]] = field(default_factory=dict)
    is_whole: bool = True
    counts: dict[str, ReadCount] = field(default_factory=dict)
    """What queries have read of the sources, by their names; of none whose runner does not answer."""

    def of(self, path: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the queries that read a column, a part of it, or what it is a part of."""
        place = lower_path(path)
        return tuple(sorted({name for read, queries in self.paths.items() if _meet(read, place) for name in queries}))

    def add(self, query: Source, source: str) -> None:
        """Add what a query reads of a source, whose key is given."""
        reads = query.query.plan.reads if query.query else ()
        for text in (column for read in reads if read.source == source for column in read.columns):
            try:
                path = lower_path(parse_path(text))
            except ColumnTypeError:
                continue
            queries = self.paths.setdefault(path, [])
            if query.name not in queries:
                queries.append(query.name)


def _meet(read: LeafPath, place: LeafPath) -> bool:
    """Return whether one path leads into the other. The fields of a schema have no name for what is in an array or map."""
    names = iter(read)
    for step in place:
        name = next(names, step)
        while name != step and name in {ELEMENT, KEY, VALUE}:
            name = next(names, step)
        if name != step:
            return False
    return True


async def find_column_readers(request: PageRequest, sources: Sequence[SourceFound]) -> ColumnReaders:
    """Return the queries that read columns of these sources; READERS of them are looked at."""
    readers = ColumnReaders()
    queries: dict[str, Source | None] = {}
    for upstream in sources:
        key = key_of_name(upstream.source.name)
        for name in upstream.readers:
            if name not in queries and len(queries) >= READERS:
                readers.is_whole = False
                continue
            if name not in queries:
                described = await request.ask_or_none(DescribeSource(name), Refusal)
                queries[name] = described.source if described else None
            query = queries[name]
            if query is not None:
                readers.add(query, key)
    described_queries = [query for query in queries.values() if query is not None and query.query is not None]
    rates = await _ask_rates_of(request, described_queries) if described_queries else {}
    generations = {upstream.source.generation for upstream in sources}
    for query in described_queries:
        numbers = rates.get((query.generation, QUERY))
        counts = [read for read in numbers.reads if read.generation in generations] if numbers else []
        if counts:
            readers.counts[query.name] = reduce(add, counts)
    return readers


async def _ask_rates_of(request: PageRequest, queries: Sequence[Source]) -> Rates:
    """Return what runners say: all of them where they are few, else those that have the first of some queries."""
    refused = (Denied, NotFound, NotOffered)
    feed = await request.ask_or_none(ListQueries(limit=1), *refused)
    runners = feed.runners if feed else ()
    if len(runners) > RUNNERS_ASKED:
        names: set[str] = set()
        for query in queries[:RUNNERS_ASKED]:
            page = await request.ask_or_none(ListQueries(after=key_before(query), limit=1), *refused)
            names.update(place.runner for fed in (page.queries if page else ()) for place in fed.assigned)
        runners = tuple(runner for runner in runners if runner.name in names)
    return await ask_rates(request, runners)


def key_before(source: Source) -> str:
    """Return what a page of queries is asked after so that it begins with this source."""
    key = key_of_name(source.name)
    place = ord(key[-1]) - 1
    place = BEFORE_SURROGATES if 0xD800 <= place <= 0xDFFF else place
    return f"{key[:-1]}{chr(place)}{chr(sys.maxunicode)}"


async def find_field_readers(request: PageRequest, sources: Sequence[Source]) -> ColumnReaders:
    """Return the queries that read columns of any of these sources."""
    described = [await request.ask_or_none(DescribeSource(source.name), Refusal) for source in sources[:READERS]]
    readers = await find_column_readers(request, [answer for answer in described if answer is not None])
    readers.is_whole &= len(sources) <= READERS
    return readers
