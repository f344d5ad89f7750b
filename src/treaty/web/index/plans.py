"""Terms of a search become a plan: a full-text query, conditions in SQL, and parts of names that stand for whole ones."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from treaty.core.limits import SEARCH_SCANNED
from treaty.core.messages.search import SearchTerm
from treaty.core.names import context_of
from treaty.web.index.readable_subjects import ReadableSubjects
from treaty.web.index.storage import as_token, doc_token, property_token, tag_token

PARTS = 30
"""Names of fields that a part of a name stands for; where the caller may read more, more is said to be found."""
PARTS_SCANNED = 5_000
"""Names of fields that are looked at for one part of a name, those of schemas that the caller may not read among them."""
ROWS_SCANNED = 200_000
"""Versions that a search, and the look at one part of a name, pass over, those that the caller may not read among them."""
LIKE = "name LIKE ? AND name LIKE ? ESCAPE '\\'"
"""Names with a part: trigrams are looked up without ESCAPE alone, by a pattern that fits some more."""
NAMED = f"SELECT rowid FROM subject_like WHERE {LIKE} LIMIT ?"  # noqa: S608 (no text of a caller)
"""Subjects with a part of a name."""
WORD = f"""SELECT schema, subject FROM version {{subject_index}} WHERE subject IN ({NAMED}) AND {{state}} UNION
  SELECT schema, subject FROM version {{index}} WHERE {{state}} AND schema IN (SELECT rowid FROM posting WHERE posting MATCH ? LIMIT ?)"""  # noqa: S608 (no text of a caller)
"""Versions of such subjects, and those whose schemas have such a field or a word of documentation."""
OWNERS = """SELECT version.subject FROM posting CROSS JOIN version ON version.schema = posting.rowid
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
    word_values: list[tuple[Any, ...]] = field(default_factory=list)
    """The values of WORD for each word."""
    words: list[str] = field(default_factory=list)
    """What names or columns of sources have to have; sources have nothing else."""
    for_sources: bool = True
    fields: list[str] = field(default_factory=list)
    """Names of fields that were asked for; a hit shows those that its schema has."""
    is_partial: bool = False
    """Whether a part of a name stands for more names than are looked for."""

    @property
    def word_query(self) -> str:
        """A query of the schemas and subjects of versions for which all words hold."""
        subject_index = "INDEXED BY version_latest_of" if self.state == "live" else ""  # not all versions of each
        word = WORD.format(state=self.in_state, index=self.state_index, subject_index=subject_index)
        return " INTERSECT ".join(f"SELECT schema, subject FROM ({word})" for _ in self.word_values)  # noqa: S608 (no text of a caller)

    @property
    def in_state(self) -> str:
        """The condition of the state of a version."""
        return "version.latest = 1" if self.state == "live" else "version.state = 'soft'"

    @property
    def state_index(self) -> str:
        """What makes SQLite use the index of the latest live versions."""
        return "INDEXED BY version_latest" if self.state == "live" else ""


def make_plan(connection: sqlite3.Connection, terms: Sequence[SearchTerm], readable: ReadableSubjects) -> SearchPlan:
    """Return the plan of a search; parts of names stand for names in schemas that the caller may read."""
    plan = SearchPlan()
    types = [as_token(term.value) for term in terms if term.name == "type"]
    fields = [term.value for term in terms if term.name == "field"]
    for value in fields:
        found, is_partial = find_parts(connection, value, readable) if "*" in value else ([as_token(value)], False)
        names = found or [as_token(value.replace("*", ""))]  # which no field has
        kinds = [f"{name}|{kind}" for name in names for kind in types] if types else names
        plan.match.append(any_of(kinds))
        plan.fields += found
        plan.is_partial |= is_partial
        plan.words.append(as_token(value.strip("*")))
    if types and not fields:
        plan.match += [any_of([f"|{kind}"]) for kind in types]
    plan.for_sources = not types
    for term in terms:
        _add_term(connection, plan, term, readable)
    return plan


def _add_term(connection: sqlite3.Connection, plan: SearchPlan, term: SearchTerm, readable: ReadableSubjects) -> None:
    value = term.value
    match term.name:
        case "tag":
            plan.match.append(any_of([tag_token(value)]))
            plan.for_sources = False
        case "owner":
            plan.match.append(any_of([property_token("owner", value)]))
            plan.for_sources = False
        case "doc":
            plan.match.append(any_of([doc_token(value)]))
            plan.for_sources = False
        case "subject":
            plan.conditions.append(f"version.subject IN ({NAMED})")
            plan.values += [*_likes(f"*{value}*"), SEARCH_SCANNED]
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
            parts, is_partial = find_parts(connection, f"*{value}*", readable)
            in_doc = any_of([doc_token(value)])
            match = f"{any_of(parts)} OR {in_doc}" if parts else in_doc
            plan.word_values.append((*_likes(f"*{value}*"), SEARCH_SCANNED, match, SEARCH_SCANNED))
            plan.words.append(as_token(value))
            plan.fields += parts
            plan.is_partial |= is_partial


def _add_condition(plan: SearchPlan, condition: str, value: str) -> None:
    plan.conditions.append(condition)
    plan.values.append(value)
    plan.for_sources = False


def find_parts(connection: sqlite3.Connection, pattern: str, readable: ReadableSubjects) -> tuple[list[str], bool]:
    """Return the names and paths of fields that a pattern with ``*`` fits, at most PARTS, and whether there are more.

    Names that only schemas have which the caller may not read are left out, and so are those of no version.
    """
    token = "*".join(map(as_token, pattern.split("*")))
    query = f"SELECT name FROM part_like WHERE {LIKE} LIMIT ?"  # noqa: S608 (no text of a caller)
    if len(token.replace("*", "")) < 3:  # too short for trigrams
        query = f"SELECT name FROM part WHERE {LIKE} LIMIT ?"  # noqa: S608 (no text of a caller)
    parts: list[str] = []
    names, rows = 0, 0
    for (name,) in connection.execute(query, (*_likes(token), PARTS_SCANNED)):
        names += 1
        for (owner,) in connection.execute(OWNERS, (any_of([name]), ROWS_SCANNED - rows)):
            rows += 1
            if readable.has(owner):
                parts.append(name)
                break
        if len(parts) > PARTS:
            return parts[:PARTS], True
        if rows >= ROWS_SCANNED:
            return parts, True
    return parts, names >= PARTS_SCANNED


def _likes(pattern: str) -> tuple[str, str]:
    """Return a pattern with ``*`` as the two values of LIKE."""
    escaped = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return pattern.replace("*", "%"), escaped.replace("*", "%")


def any_of(tokens: Sequence[str]) -> str:
    """Return the full-text query of rows that have any of the tokens."""
    return "(" + " OR ".join(f'"{token}"' for token in tokens) + ")"
