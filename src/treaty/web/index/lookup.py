"""Searching an index: a plan becomes one query of SQLite, whose rows are filtered by what the caller may read."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from treaty.core.access.rights import Access
from treaty.core.limits import SEARCH_COUNTED
from treaty.core.messages.search import FacetCount, SearchHit
from treaty.core.names import Subject
from treaty.core.refusals import Unavailable
from treaty.core.schema_engine import EntriesFound, FindEntries
from treaty.core.state.metastore.keys import key_of_name
from treaty.web.index.places import VersionPlaces
from treaty.web.index.plans import ROWS_SCANNED, SearchPlan, as_list, fits_pattern, make_plan
from treaty.web.index.readable_subjects import ReadableCache, ReadableSubjects
from treaty.web.index.storage import SUBJECTS, TOP, as_token, place_of, schema_of, subject_of
from treaty.web.index.update import stamp_of, subjects_stamp

SOURCES_FROM = SUBJECTS
"""The place of the first source in the index. Places descend: subjects with the newest schemas come first, sources last."""
FIELDS_SHOWN = 5
"""Fields of a hit that are shown; of more none is."""
FIELD_CHARACTERS = 100_000
"""Characters of names of a schema up to which a hit shows those that were asked for."""
FACETS = 20
"""Values of one facet that are counted, the most frequent ones."""
COUNTED_ROWS = 500
"""Rows of the index that are passed over to count further versions where the page is full; past them more is said to be found."""
CACHE_BYTES = 6 << 20
"""Pages of the index that a process keeps in memory: a search reads rows of a thousand schemas and subjects, each in a page of its own."""
ROWS_LEARNING = 10_000
"""Versions that a search passes over while it is not known whether its caller may read few subjects or many."""
_BUILDING = "the search index of this server is being built; try again in a few seconds"


class IndexFile:
    """The index of a machine, read by one process. `find` may be called on any thread."""

    def __init__(self, path: Path) -> None:
        """Open nothing yet."""
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._readable = ReadableCache()

    def find(self, question: FindEntries) -> EntriesFound:
        """Return entries for which all terms hold. Raises `Unavailable` while there is no whole index."""
        with self._lock:
            try:
                return self._find(self._open(), question)
            except (sqlite3.Error, OSError):
                self.close()
                raise Unavailable(_BUILDING, 2.0) from None

    def close(self) -> None:
        """Close the file; `find` opens it again. Nothing is kept of it: another file may have its inode by then, and its numbers."""
        self._readable = ReadableCache()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        inode = self._path.stat().st_ino
        if self._connection is None or inode != self._inode:
            self.close()
            self._connection = sqlite3.connect(
                f"{self._path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
            )
            self._connection.execute(f"PRAGMA cache_size = -{CACHE_BYTES // 1024}")
            self._inode = inode
        return self._connection

    def _find(self, connection: sqlite3.Connection, question: FindEntries) -> EntriesFound:
        connection.execute("BEGIN")
        try:
            sequence = stamp_of(connection)[1]
            if sequence < 0:
                raise Unavailable(_BUILDING, 2.0)
            readable = self._readable.of(connection, question.access, (self._inode, subjects_stamp(connection)))
            plan = make_plan(connection, question.terms, readable)
            return _collect(connection, plan, question, readable, sequence)
        finally:
            connection.rollback()


# ------------------------------------------------------------------------------------------------------------- rows


class IndexRow(NamedTuple):
    """A row that fits, by its place in the index; of a source `name` is its spelling, and the context is empty."""

    place: int
    kind: str
    context: str
    name: str
    number: int = 0
    schema_id: int = -1
    format: str = ""
    fields: tuple[str, ...] = ()

    @property
    def hit(self) -> SearchHit:
        """The row as it is answered."""
        name = str(Subject(self.context, self.name)) if self.kind == "subject" else self.name
        return SearchHit(self.kind, name, self.number, self.schema_id, self.format, self.fields)


def _source_rows(connection: sqlite3.Connection, plan: SearchPlan, access: Access | None) -> Iterator[IndexRow]:
    """Return the sources and queries that fit and that the caller may read."""
    if not plan.for_sources:
        return
    patterns = (*plan.columns, *plan.words)
    pieces = [piece for pattern in patterns for piece in f" {pattern} ".split("*")]
    for at, (name, kind, columns) in enumerate(connection.execute("SELECT name, kind, columns FROM source")):
        text = f" {as_token(name)} {columns} "
        if kind not in plan.kinds or not all(piece in text for piece in pieces):
            continue  # of very many sources most end here, before their columns are looked at one by one
        names = columns.split()
        fits = all(_has_any(names, pattern) for pattern in plan.columns)
        fits = fits and all(_has_any((as_token(name), *names), word) for word in plan.words)
        if fits and (access is None or access.may_source("read", key_of_name(name))):
            fields = tuple(column for column in names if any(fits_pattern(column, pattern) for pattern in patterns))
            yield IndexRow(SOURCES_FROM - at, kind, "", name, fields=fields)


def _has_any(names: Sequence[str], pattern: str) -> bool:
    return any(fits_pattern(name, pattern) for name in names)


def _collect(
    connection: sqlite3.Connection, plan: SearchPlan, question: FindEntries, readable: ReadableSubjects, sequence: int
) -> EntriesFound:
    """Return a page of what the caller may read, and count all of it up to SEARCH_COUNTED."""
    places = VersionPlaces(connection, plan, readable, ROWS_LEARNING if readable.is_learning else ROWS_SCANNED)
    after = question.after if question.after >= 0 else TOP
    counted, end = _count(places, question.limit, readable) if "subject" in plan.kinds else ([], 0)
    has_more = plan.is_partial or end > 0
    page = [place for place in counted if place < after][: question.limit + 1]
    if len(page) > question.limit:
        end = 0
    elif end > 0:
        rest, end = _read_page(places, min(after, end), question.limit + 1 - len(page), readable)
        page += rest
    sources = {row.place: row for row in _source_rows(connection, plan, question.access)}
    room = SEARCH_COUNTED - len(counted)
    has_more |= len(sources) > room
    fitting = [place for place in sources if place < after] if end == 0 else []
    shown_places = (page + fitting)[: question.limit]
    last = shown_places[-1] if len(page) + len(fitting) > len(shown_places) else end or -1
    version_places = [place for place in shown_places if place not in sources]
    versions = _read_versions(connection, plan, version_places)
    fields = _find_fields(connection, plan, [*map(schema_of, version_places)])
    hits = tuple(
        sources[place].hit
        if place in sources
        else versions[place]._replace(fields=fields.get(schema_of(place), ())).hit
        for place in shown_places
    )
    kinds = [row.kind for row in list(sources.values())[: max(0, room)]]
    facets = tuple(_count_facets(connection, counted, kinds))
    return EntriesFound(hits, len(counted) + len(kinds), has_more, facets, last, sequence)


def _count(places: VersionPlaces, page: int, readable: ReadableSubjects) -> tuple[list[int], int]:
    """Return the highest readable places, and the place below which none was looked at; 0 where all were.

    There are at most SEARCH_COUNTED of them. Once they fill a page, no more than about COUNTED_ROWS rows are passed over.
    """
    counted: list[int] = []
    passed, end = 0, TOP
    for block in places.below(TOP):
        counted += readable.select(block.places)
        if len(counted) > SEARCH_COUNTED:
            return counted[:SEARCH_COUNTED], counted[SEARCH_COUNTED - 1]
        passed, end = passed + block.rows, block.low
        if len(counted) > page and passed >= COUNTED_ROWS:
            return counted, end
    return counted, end


def _read_page(places: VersionPlaces, below: int, count: int, readable: ReadableSubjects) -> tuple[list[int], int]:
    """Return so many readable places below one, and the place below which none was looked at; 0 where all were, or they are enough."""
    page: list[int] = []
    end = below
    for block in places.below(below):
        page += readable.select(block.places)
        if len(page) >= count:
            return page[:count], 0
        end = block.low
    return page, end


VERSIONS = """WITH place (schema, subject) AS (VALUES {})
  SELECT version.schema, version.subject, subject.context, subject.name, version.number, schema.number, schema.format FROM place
  CROSS JOIN version ON version.schema = place.schema AND version.subject = place.subject AND {}
  CROSS JOIN schema ON schema.id = version.schema CROSS JOIN subject ON subject.id = version.subject"""
"""What is answered of versions; one that was deleted from its subject twice is there twice."""


def _read_versions(connection: sqlite3.Connection, plan: SearchPlan, places: Sequence[int]) -> dict[int, IndexRow]:
    """Return what is answered of the versions in some places, by these."""
    if not places:
        return {}
    versions: dict[int, IndexRow] = {}
    pairs = ",".join(f"({schema_of(place)},{subject_of(place)})" for place in places)
    for schema, subject, *values in connection.execute(VERSIONS.format(pairs, plan.in_state)):
        place = place_of(schema, subject)
        versions.setdefault(place, IndexRow(place, "subject", *values))
    return versions


def _find_fields(
    connection: sqlite3.Connection, plan: SearchPlan, schemas: Sequence[int]
) -> dict[int, tuple[str, ...]]:
    """Return the names that were asked for and that the schemas of a page have, by their numbers; none for one that has too many."""
    if not schemas or not plan.fields:
        return {}
    field_names, fields = {*plan.fields}, dict[int, tuple[str, ...]]()
    query = f"SELECT id, names FROM schema WHERE id IN ({as_list(schemas)}) AND length(names) <= ?"  # noqa: S608 (numbers)
    for number, names in connection.execute(query, (FIELD_CHARACTERS,)):
        names_there = tuple(sorted(field_names.intersection(names.split(" "))))
        fields[number] = names_there if len(names_there) <= FIELDS_SHOWN else ()
    return fields


def _count_facets(connection: sqlite3.Connection, places: Sequence[int], kinds: Sequence[str]) -> Iterator[FacetCount]:
    """Count formats, contexts, origins, tags and owners of versions in some places, and the kinds of all hits."""
    schemas, subjects = [*map(schema_of, places)], [*map(subject_of, places)]
    yield from _most_frequent("kind", Counter({"subject": len(places)}) + Counter(kinds))
    for facets, table, key, numbers in (
        (("format", "owner"), "schema", "id", schemas),
        (("context", "origin"), "subject", "id", subjects),
        (("name",), "tag", "schema", schemas),
    ):
        counts: dict[str, Counter[str]] = {facet: Counter() for facet in facets}
        columns = ", ".join(facets)
        for times, group in _group_by_times(numbers):
            query = f"SELECT {columns}, count(*) FROM {table} WHERE {key} IN ({as_list(group)}) GROUP BY {columns}"  # noqa: S608 (numbers)
            for *values, rows in connection.execute(query):
                for facet, value in zip(facets, values, strict=True):
                    counts[facet][value] += rows * times
        for facet, values_there in counts.items():
            yield from _most_frequent("tag" if table == "tag" else facet, values_there)


def _group_by_times(numbers: Sequence[int]) -> Iterable[tuple[int, Sequence[int]]]:
    """Return numbers by how often they are there: subjects share a schema, which counts for each of them."""
    counts = Counter(numbers)
    if len(counts) == len(numbers):
        return ((1, numbers),)
    groups: dict[int, list[int]] = {}
    for number, times in counts.items():
        groups.setdefault(times, []).append(number)
    return groups.items()


def _most_frequent(facet: str, values: Counter[str]) -> Iterator[FacetCount]:
    return (FacetCount(facet, value, times) for value, times in values.most_common(FACETS) if value)
