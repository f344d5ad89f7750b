"""Searching an index: a plan becomes one query of SQLite, whose rows are filtered by what the caller may read."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from treaty.core.access.rights import Access
from treaty.core.limits import SEARCH_COUNTED, SEARCH_SCANNED
from treaty.core.messages.search import FacetCount, SearchHit
from treaty.core.names import Subject
from treaty.core.refusals import Unavailable
from treaty.core.schema_engine import EntriesFound, FindEntries
from treaty.core.state.metastore.keys import key_of_name
from treaty.web.index.plans import ROWS_SCANNED, SearchPlan, any_of, make_plan
from treaty.web.index.readable_subjects import ReadableCache, ReadableSubjects
from treaty.web.index.storage import as_token
from treaty.web.index.update import stamp_of, subjects_stamp

SUBJECTS = (1 << 24) - 1
"""The highest number of a subject in a place."""
SOURCES_FROM = SUBJECTS
"""The place of the first source in the index. Places descend: subjects with the newest schemas come first, sources last."""
FIELDS_SHOWN = 5
"""Fields of a hit that are shown; of more none is."""
FIELD_ROWS = 20_000
"""Rows that are looked at for the fields of the hits of a page; past them no more fields are shown."""
FACETS = 20
"""Values of one facet that are counted, the most frequent ones."""
LOOKED = 1_500
"""Versions that are looked at to count further ones once the page is full; past them more is said to be found."""
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


def _subject_places(connection: sqlite3.Connection, plan: SearchPlan) -> Iterator[int]:
    """Return the places of the versions that fit, the highest first: the number of the schema, and that of the subject below it."""
    conditions = [plan.in_state, *plan.conditions]
    values = list(plan.values)
    tables, order = ["version"], "version.schema DESC, version.subject"
    words = [value for each in plan.word_values for value in each]
    if plan.match:  # what fits comes by place, as both indexes have it; most of it is a former version
        tables, order = ["posting", f"version {plan.state_index}"], "posting.rowid DESC"
        conditions = ["posting MATCH ?", "version.schema = posting.rowid", *conditions]
        values.insert(0, " AND ".join(plan.match))
        if words:
            conditions.append(f"(version.schema, version.subject) IN ({plan.word_query})")
            values += words
    elif words:
        tables = [f"({plan.word_query}) AS word", "version"]
        conditions = ["version.schema = word.schema", "version.subject = word.subject", *conditions]
        values = words + values
    for name, key in (("schema", "version.schema"), ("subject", "version.subject")):
        if any(condition.startswith(f"{name}.") for condition in plan.conditions):
            tables.append(name)
            conditions.append(f"{name}.id = {key}")
    query = (
        "SELECT (version.schema << 24) | (~version.subject & 16777215) "  # noqa: S608 (no text of a caller)
        f"FROM {' CROSS JOIN '.join(tables)} WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT ?"
    )
    return (place for (place,) in connection.execute(query, (*values, ROWS_SCANNED)))


def _source_rows(connection: sqlite3.Connection, plan: SearchPlan, access: Access | None) -> Iterator[IndexRow]:
    """Return the sources and queries that fit and that the caller may read."""
    if not plan.for_sources:
        return
    for at, (name, kind, columns) in enumerate(connection.execute("SELECT name, kind, columns FROM source")):
        text = f"{as_token(name)} {columns}"
        fits = kind in plan.kinds and all(word in text for word in plan.words)
        if fits and (access is None or access.may_source("read", key_of_name(name))):
            fields = tuple(column for column in columns.split() if any(word in column for word in plan.words))
            yield IndexRow(SOURCES_FROM - at, kind, "", name, fields=fields)


def _collect(
    connection: sqlite3.Connection, plan: SearchPlan, question: FindEntries, readable: ReadableSubjects, sequence: int
) -> EntriesFound:
    """Return a page of what the caller may read, and count all of it up to SEARCH_COUNTED."""
    page: list[int] = []
    counted: list[int] = []
    looked, read, has_more = 0, 0, plan.is_partial
    after = question.after if question.after >= 0 else 1 << 63
    for place in _subject_places(connection, plan) if "subject" in plan.kinds else ():
        looked += 1
        is_full = len(page) > question.limit
        if is_full and (len(counted) >= SEARCH_COUNTED or looked > LOOKED):
            has_more = True
            break
        if not readable.has(SUBJECTS - (place & SUBJECTS)):
            continue
        read += 1
        if read > SEARCH_SCANNED:
            has_more = True
            break
        if len(counted) < SEARCH_COUNTED:
            counted.append(place)
        else:
            has_more = True
        if not is_full and place < after:
            page.append(place)
    sources = {row.place: row for row in _source_rows(connection, plan, question.access)}
    fitting = [place for place in sources if place < after]
    room = SEARCH_COUNTED - len(counted)
    has_more |= len(sources) > room or looked >= ROWS_SCANNED
    shown = (page + fitting)[: question.limit]
    last = shown[-1] if len(page) + len(fitting) > len(shown) else -1
    rows = [sources.get(place) or _read_row(connection, plan, place) for place in shown]
    fields = _find_fields(connection, plan, [place >> 24 for place in shown if place not in sources])
    hits = tuple(row._replace(fields=row.fields or fields.get(row.place >> 24, ())).hit for row in rows)
    kinds = [row.kind for row in list(sources.values())[: max(0, room)]]
    facets = tuple(_count_facets(connection, counted, kinds))
    return EntriesFound(hits, len(counted) + len(kinds), has_more, facets, last, sequence)


READ = """SELECT subject.context, subject.name, version.number, schema.number, schema.format FROM version
  JOIN schema ON schema.id = version.schema JOIN subject ON subject.id = version.subject
  WHERE version.schema = ? AND version.subject = ? AND """


def _read_row(connection: sqlite3.Connection, plan: SearchPlan, place: int) -> IndexRow:
    """Return what is answered of a version in a place."""
    values = (place >> 24, SUBJECTS - (place & SUBJECTS))
    context, name, number, schema_id, format_ = connection.execute(READ + plan.in_state, values).fetchone()
    return IndexRow(place, "subject", context, name, number, schema_id, format_)


def _find_fields(
    connection: sqlite3.Connection, plan: SearchPlan, schemas: Sequence[int]
) -> dict[int, tuple[str, ...]]:
    """Return the names that were asked for and that the schemas of a page have, by their numbers; none for one that has too many."""
    if not schemas or not plan.fields:
        return {}
    wanted, left = {number: list[str]() for number in schemas}, FIELD_ROWS
    query = "SELECT rowid FROM posting WHERE posting MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?"
    for name in dict.fromkeys(plan.fields):
        for (number,) in connection.execute(query, (any_of([name]), min(wanted), max(wanted), max(0, left))):
            left -= 1
            if number in wanted:
                wanted[number].append(name)
    return {number: tuple(sorted(names)) for number, names in wanted.items() if len(names) <= FIELDS_SHOWN}


def _count_facets(connection: sqlite3.Connection, places: Sequence[int], kinds: Sequence[str]) -> Iterator[FacetCount]:
    """Count formats, contexts, origins, tags and owners of versions in some places, and the kinds of all hits."""
    schemas = Counter(place >> 24 for place in places)
    subjects = Counter(SUBJECTS - (place & SUBJECTS) for place in places)
    yield from _most_frequent("kind", Counter({"subject": len(places)}) + Counter(kinds))
    for facets, query, counts in (
        (("format", "owner"), "SELECT id, format, owner FROM schema WHERE id", schemas),
        (("context", "origin"), "SELECT id, context, origin FROM subject WHERE id", subjects),
        (("tag",), "SELECT schema, name FROM tag WHERE schema", schemas),
    ):
        values = [Counter[str]() for _ in facets]
        marks = ",".join("?" * len(counts))
        for number, *row in connection.execute(f"{query} IN ({marks})", list(counts)):
            for value, column in zip(row, values, strict=True):
                column[value] += counts[number]
        for facet, column in zip(facets, values, strict=True):
            yield from _most_frequent(facet, column)


def _most_frequent(facet: str, values: Counter[str]) -> Iterator[FacetCount]:
    return (FacetCount(facet, value, times) for value, times in values.most_common(FACETS) if value)
