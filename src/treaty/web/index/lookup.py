"""Searching an index: terms become one query of SQLite, whose rows are filtered by what the caller may read."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from treaty.core.access.rights import Access
from treaty.core.limits import SEARCH_COUNTED, SEARCH_SCANNED
from treaty.core.messages.search import FacetCount, SearchHit, SearchTerm
from treaty.core.names import Subject, context_of
from treaty.core.refusals import Unavailable
from treaty.core.schema_engine import EntriesFound, FindEntries
from treaty.core.state.metastore.keys import key_of_name
from treaty.web.index.storage import as_token
from treaty.web.index.update import stamp_of

SOURCES_FROM = (1 << 24) - 1
"""The place of the first source in the index. Places descend: subjects with the newest schemas come first, sources last."""
PARTS = 40
"""Names of fields that a part of a name stands for; where the caller may read more, more is said to be found."""
PARTS_SCANNED = 5_000
"""Names of fields that are looked at for one part of a name, those of schemas that the caller may not read among them."""
ROWS_SCANNED = 200_000
"""Versions that a search, and the look at one part of a name, pass over, those that the caller may not read among them."""
FIELDS_SHOWN = 5
"""Fields of a hit that are shown; of more none is."""
FACETS = 20
"""Values of one facet that are counted, the most frequent ones."""
_BUILDING = "the search index of this server is being built; try again in a few seconds"


NAMED = "SELECT rowid FROM subject_like WHERE name LIKE ? ESCAPE '\\' LIMIT ?"
"""Subjects with a part of a name."""
WORD = f"""(version.schema, version.subject) IN (
  SELECT schema, subject FROM version WHERE subject IN ({NAMED}) UNION
  SELECT schema, subject FROM version WHERE schema IN (SELECT rowid FROM posting WHERE posting MATCH ? LIMIT ?))"""  # noqa: S608 (no text of a caller)
"""Versions of such subjects, and those whose schemas have such a field or a word of documentation."""

OWNERS = """SELECT subject.context, subject.name, subject.private FROM posting
  CROSS JOIN version ON version.schema = posting.rowid CROSS JOIN subject ON subject.id = version.subject
  WHERE posting MATCH ? LIMIT ?"""
"""Subjects whose versions have such a field."""


@dataclass(slots=True)
class SearchPlan:
    """What a search asks of the tables of the index: a full-text query, conditions in SQL with their values, and words."""

    match: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    state: str = "live"
    kinds: frozenset[str] = frozenset({"subject", "source", "query"})
    words: list[str] = field(default_factory=list)
    """What names or columns of sources have to have; sources have nothing else."""
    for_sources: bool = True
    fields: list[str] = field(default_factory=list)
    """Names of fields that were asked for; a hit shows those that its schema has."""
    is_partial: bool = False
    """Whether a part of a name stands for more names than are looked for."""


class IndexFile:
    """The index of a machine, read by one process. `find` may be called on any thread."""

    def __init__(self, path: Path) -> None:
        """Open nothing yet."""
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    def find(self, question: FindEntries) -> EntriesFound:
        """Return entries for which all terms hold. Raises `Unavailable` while there is no whole index."""
        with self._lock:
            try:
                return self._find(self._open(), question)
            except (sqlite3.Error, OSError):
                self.close()
                raise Unavailable(_BUILDING, 2.0) from None

    def close(self) -> None:
        """Close the file; `find` opens it again."""
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
            plan = make_plan(connection, question.terms, question.access)
            return _collect(connection, plan, question, sequence)
        finally:
            connection.rollback()


# ------------------------------------------------------------------------------------------------------------ plans


def make_plan(connection: sqlite3.Connection, terms: Sequence[SearchTerm], access: Access | None) -> SearchPlan:
    """Return the plan of a search; parts of names stand for names in schemas that the caller may read."""
    plan = SearchPlan()
    types = [as_token(one.value) for one in terms if one.name == "type"]
    fields = [one.value for one in terms if one.name == "field"]
    for value in fields:
        found, is_partial = find_parts(connection, value, access) if "*" in value else ([as_token(value)], False)
        names = found or [as_token(value.replace("*", ""))]  # which no field has
        kinds = [f"{name}|{kind}" for name in names for kind in types] if types else names
        plan.match.append(_any_of("path", kinds))
        plan.fields += found
        plan.is_partial |= is_partial
        plan.words.append(as_token(value.strip("*")))
    if types and not fields:
        plan.match += [_any_of("path", [f"|{kind}"]) for kind in types]
    plan.for_sources = not types
    for one in terms:
        _add_term(connection, plan, one, access)
    return plan


def _add_term(connection: sqlite3.Connection, plan: SearchPlan, term: SearchTerm, access: Access | None) -> None:
    value = term.value
    match term.name:
        case "tag":
            plan.match.append(_any_of("tag", [as_token(value)]))
            plan.for_sources = False
        case "owner":
            plan.match.append(_any_of("tag", [f"owner={as_token(value)}"]))
            plan.for_sources = False
        case "doc":
            plan.match.append(_any_of("doc", [as_token(value)]))
            plan.for_sources = False
        case "subject":
            plan.conditions.append(f"version.subject IN ({NAMED})")
            plan.values += [_like(value), SEARCH_SCANNED]
            plan.for_sources = False
        case "format":
            _add_condition(plan, "schema.format = ?", value.upper())
        case "context":
            _add_condition(plan, "subject.context = ?", "." if value == "." else context_of(value))
        case "origin":
            _add_condition(plan, "subject.origin = ?", value.lower())
        case "state":
            plan.state = value.lower()
            plan.for_sources = plan.for_sources and plan.state == "live"
        case "kind":
            plan.kinds &= {value.lower()}
        case "":
            parts, is_partial = find_parts(connection, f"*{value}*", access)
            in_doc = _any_of("doc", [as_token(value)])
            match = f"{_any_of('path', parts)} OR {in_doc}" if parts else in_doc
            plan.conditions.append(WORD)
            plan.values += [_like(value), SEARCH_SCANNED, match, SEARCH_SCANNED]
            plan.words.append(as_token(value))
            plan.fields += parts
            plan.is_partial |= is_partial


def _add_condition(plan: SearchPlan, condition: str, value: str) -> None:
    plan.conditions.append(condition)
    plan.values.append(value)
    plan.for_sources = False


def find_parts(connection: sqlite3.Connection, pattern: str, access: Access | None) -> tuple[list[str], bool]:
    """Return the names and paths of fields that a pattern with ``*`` fits, at most PARTS, and whether there are more.

    Names that only schemas have which the caller may not read are left out, and so are those of no version.
    """
    token = "*".join(map(as_token, pattern.split("*")))
    like = token.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("*", "%")
    query = "SELECT name FROM part_like WHERE name LIKE ? ESCAPE '\\' LIMIT ?"
    if len(token.replace("*", "")) < 3:  # too short for trigrams
        query = "SELECT name FROM part WHERE name LIKE ? ESCAPE '\\' LIMIT ?"
    parts: list[str] = []
    names, rows = 0, 0
    for (name,) in connection.execute(query, (like, PARTS_SCANNED)):
        names += 1
        for owner in connection.execute(OWNERS, (_any_of("path", [name]), ROWS_SCANNED - rows)):
            rows += 1
            if access is None or _may_read(access, *owner):
                parts.append(name)
                break
        if len(parts) > PARTS:
            return parts[:PARTS], True
        if rows >= ROWS_SCANNED:
            return parts, True
    return parts, names >= PARTS_SCANNED


def _like(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%".replace("*", "%")


def _any_of(column: str, tokens: Sequence[str]) -> str:
    words = " OR ".join('"' + one.replace('"', "") + '"' for one in tokens)
    return f"({{{column}}} : ({words}))"


# ------------------------------------------------------------------------------------------------------------- rows


class IndexRow(NamedTuple):
    """A row that fits, by its place in the index; of a source `name` is its spelling, and the context is empty."""

    place: int
    kind: str
    context: str
    name: str
    private: int = 0
    number: int = 0
    schema_id: int = -1
    format: str = ""
    origin: str = ""
    fields: tuple[str, ...] = ()

    @property
    def hit(self) -> SearchHit:
        """The row as it is answered."""
        name = str(Subject(self.context, self.name)) if self.kind == "subject" else self.name
        return SearchHit(self.kind, name, self.number, self.schema_id, self.format, self.fields)


def _rows(connection: sqlite3.Connection, plan: SearchPlan) -> Iterator[IndexRow]:
    """Return what fits, by place in the index, the highest first."""
    if "subject" in plan.kinds:
        yield from _subject_rows(connection, plan)
    if plan.for_sources:
        for at, (name, kind, columns) in enumerate(connection.execute("SELECT name, kind, columns FROM source")):
            text = f"{as_token(name)} {columns}"
            if kind in plan.kinds and all(word in text for word in plan.words):
                fields = tuple(one for one in columns.split() if any(word in one for word in plan.words))
                yield IndexRow(SOURCES_FROM - at, kind, "", name, fields=fields)


def _subject_rows(connection: sqlite3.Connection, plan: SearchPlan) -> Iterator[IndexRow]:
    is_latest = "version.latest = 1" if plan.state == "live" else "version.state = 'soft'"
    conditions = [is_latest, *plan.conditions]
    values: list[Any] = list(plan.values)
    tables = "version JOIN schema ON schema.id = version.schema JOIN subject ON subject.id = version.subject"
    if plan.match:  # in this order: what fits comes by place, and most of it is a former version
        tables = f"posting CROSS JOIN {tables.replace('JOIN', 'CROSS JOIN')}"
        conditions.append("version.schema = posting.rowid")
        conditions.insert(0, "posting MATCH ?")
        values.insert(0, " AND ".join(plan.match))
    query = (
        "SELECT (version.schema << 24) | (~version.subject & 16777215), 'subject', subject.context, subject.name, "  # noqa: S608 (no text of a caller)
        "subject.private, version.number, schema.number, schema.format, subject.origin "
        f"FROM {tables} WHERE {' AND '.join(conditions)} "
        f"ORDER BY {'posting.rowid' if plan.match else 'version.schema'} DESC LIMIT ?"
    )
    for row in connection.execute(query, (*values, ROWS_SCANNED)):
        yield IndexRow(*row)


def _with_fields(connection: sqlite3.Connection, plan: SearchPlan, row: IndexRow) -> SearchHit:
    """Return a row as it is answered: a subject with the names that were asked for and that its schema has."""
    if row.kind != "subject":
        return row.hit
    shown: list[str] = []
    for name in dict.fromkeys(plan.fields):
        values = (row.place >> 24, _any_of("path", [name]))
        if connection.execute("SELECT 1 FROM posting WHERE rowid = ? AND posting MATCH ?", values).fetchone():
            shown.append(name)
        if len(shown) > FIELDS_SHOWN:
            return row.hit
    return row._replace(fields=tuple(sorted(shown))).hit


def _collect(connection: sqlite3.Connection, plan: SearchPlan, question: FindEntries, sequence: int) -> EntriesFound:
    """Return a page of what the caller may read, and count all of it up to SEARCH_COUNTED."""
    page: list[IndexRow] = []
    counted: list[IndexRow] = []
    looked, read, has_more, access = 0, 0, plan.is_partial, question.access
    for row in _rows(connection, plan):
        looked += 1
        if access is not None and not _may_read_row(access, row):
            continue
        read += 1
        if read > SEARCH_SCANNED:
            has_more = True
            break
        if len(counted) < SEARCH_COUNTED:
            counted.append(row)
        elif len(page) > question.limit:
            has_more = True
            break
        else:
            has_more = True
        if len(page) <= question.limit and (question.after < 0 or row.place < question.after):
            page.append(row)
    shown = page[: question.limit]
    last = shown[-1].place if len(page) > len(shown) else -1
    more = has_more or looked >= ROWS_SCANNED
    hits = tuple(_with_fields(connection, plan, row) for row in shown)
    facets = tuple(_count_facets(counted))
    return EntriesFound(hits, len(counted), more, facets, last, sequence)


def _count_facets(rows: Sequence[IndexRow]) -> Iterator[FacetCount]:
    for facet in ("kind", "format", "context", "origin"):
        found = Counter(getattr(row, facet) for row in rows)
        yield from (FacetCount(facet, value, times) for value, times in found.most_common(FACETS) if value)


def _may_read_row(access: Access, row: IndexRow) -> bool:
    if row.kind != "subject":
        return access.may_source("read", key_of_name(row.name))
    return _may_read(access, row.context, row.name, row.private)


def _may_read(access: Access, context: str, name: str, private: int) -> bool:
    subject = Subject(context, name)
    return access.may("read", subject) and (not private or access.may("read", subject, private=True))
