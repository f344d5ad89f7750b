"""Who reads a column of a source: the queries whose plans need it, as far as the viewer may see them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from treaty.core.column_types.leaf_paths import ELEMENT, KEY, VALUE, LeafPath, lower_path, parse_path
from treaty.core.column_types.types import ColumnTypeError
from treaty.core.messages.metastore import DescribeSource, SourceFound
from treaty.core.refusals import Refusal
from treaty.core.sources import Source
from treaty.core.state.metastore.keys import key_of_name
from treaty.web.pages.page import PageRequest

READERS = 50
"""Queries whose plans one page looks at."""


@dataclass(slots=True)
class ColumnReaders:
    """Queries by the paths of the columns that they read, in small letters. `is_whole` is False past READERS."""

    paths: dict[LeafPath, list[str]] = field(default_factory=dict)
    looked: int = 0
    is_whole: bool = True

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
    for wanted in place:
        name = next(names, wanted)
        while name != wanted and name in {ELEMENT, KEY, VALUE}:
            name = next(names, wanted)
        if name != wanted:
            return False
    return True


async def find_column_readers(request: PageRequest, sources: Sequence[SourceFound]) -> ColumnReaders:
    """Return the queries that read columns of these sources; READERS of them are looked at."""
    readers = ColumnReaders()
    seen: dict[str, Source | None] = {}
    for found in sources:
        key = key_of_name(found.source.name)
        for name in found.readers:
            if name not in seen and len(seen) >= READERS:
                readers.is_whole = False
                continue
            if name not in seen:
                described = await request.ask_or_none(DescribeSource(name), Refusal)
                seen[name] = described.source if described else None
            query = seen[name]
            if query is not None:
                readers.add(query, key)
    return readers


async def find_field_readers(request: PageRequest, sources: Sequence[Source]) -> ColumnReaders:
    """Return the queries that read columns of any of these sources."""
    found = [await request.ask_or_none(DescribeSource(source.name), Refusal) for source in sources[:READERS]]
    readers = await find_column_readers(request, [one for one in found if one is not None])
    readers.is_whole &= len(sources) <= READERS
    return readers
