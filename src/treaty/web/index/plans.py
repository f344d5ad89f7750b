"""Terms of a search become a plan: a full-text query, conditions in SQL, and parts of names that stand for whole ones."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from treaty.core.messages.search import SearchTerm
from treaty.core.names import context_of
from treaty.web.index.readable_subjects import ReadableSubjects
from treaty.web.index.storage import as_token, doc_token, format_token, pair_token, property_token, tag_token

PARTS = 30
"""Names of fields that a part of a name stands for; where the caller may read more, more is said to be found."""
PARTS_SCANNED = 500
"""Names of fields that are looked at for one part of a name, those of schemas that the caller may not read among them."""
PARTS_ASKED = 200
"""Names of fields whose schemas are looked at for one part of a name: whether the caller may read one of them."""
ROWS_SCANNED = 200_000
"""Versions that a search, and the look at one part of a name, pass over, those that the caller may not read among them."""
FEW = 1_000
"""Subjects up to which they are listed for a condition; where more fit, each version is looked at whether it does."""
FEW_READABLE = 500
"""Subjects that the caller may read up to which a search begins with them; of more the newest versions are looked at whether they may be read."""
FEW_SCHEMAS = 1_000
"""Schemas up to which they are listed for a condition, former ones among them."""
TRIGRAM = 3
"""Characters of the shortest text that trigrams lead to."""
NAMED = "SELECT rowid FROM subject_like WHERE {} LIMIT ?"
"""Subjects with a part of a name."""
MATCHING = "SELECT rowid FROM posting WHERE posting MATCH ? ORDER BY rowid DESC LIMIT ?"
"""Schemas with a field, a type, a tag or a word of documentation."""
PAIRED = "SELECT rowid FROM subject_pair WHERE subject_pair MATCH ? LIMIT ?"
"""Subjects with one or two characters in their names."""
SHORT = """SELECT name FROM part WHERE name = ?1 UNION
  SELECT name FROM (SELECT name FROM part WHERE name BETWEEN ?1 AND ?2 LIMIT ?4) WHERE name LIKE ?3 ESCAPE '\\' UNION
  SELECT name FROM (SELECT name FROM part ORDER BY id LIMIT ?4) WHERE name LIKE ?3 ESCAPE '\\'"""
"""The name of a field that is a short text, names that begin with it, and names with it among the first ones: no trigram leads to them."""
HIGHEST = "\U0010ffff"
"""The last character: names that begin with a text are up to that text with it."""
NAMES_OF = """SELECT schema.names FROM version {} CROSS JOIN schema ON schema.id = version.schema
  WHERE version.subject IN ({}) AND {}"""
"""The names of fields of the schemas of some subjects."""
NAMES_CHARACTERS = 2_000_000
"""Characters of names of fields in which a part of a name is looked for, for a caller who may read few subjects."""
OWNERS = """SELECT version.subject FROM posting CROSS JOIN version ON version.schema = posting.rowid
  WHERE posting MATCH ? LIMIT ?"""
"""Subjects whose versions have such a field."""


@dataclass(frozen=True, slots=True)
class SubjectNames:
    """A condition that subjects fit, with `{}` for its value, and the subjects that do; None where more than FEW do."""

    condition: str
    value: str
    numbers: tuple[int, ...] | None
    is_known: bool = False
    """Whether these are the subjects that the caller may read alone: what is found is filtered by them anyway."""

    @property
    def size(self) -> int | None:
        """How many subjects fit; None where more than FEW do."""
        return None if self.numbers is None else len(self.numbers)

    def within(self, subjects: tuple[int, ...] | None) -> "SubjectNames":
        """Return the same of some subjects alone."""
        if self.numbers is None or subjects is None:
            return self
        return replace(self, numbers=tuple({*self.numbers} & {*subjects}))


@dataclass(frozen=True, slots=True)
class WordCondition:
    """A word: a part of the name of a subject or of a field, or a word of documentation.

    `match` is the full-text query of the last two, and `schemas` what fits it; None where more than FEW_SCHEMAS do.
    """

    names: SubjectNames
    match: str
    schemas: tuple[int, ...] | None

    @property
    def size(self) -> int | None:
        """How many subjects and schemas have it; None where more than FEW or FEW_SCHEMAS do."""
        return None if self.names.size is None or self.schemas is None else self.names.size + len(self.schemas)


@dataclass(slots=True)
class SearchPlan:
    """What a search asks of the tables of the index: a full-text query, conditions in SQL with their values, and words."""

    match: list[str] = field(default_factory=list)
    names: list[SubjectNames] = field(default_factory=list)
    word_conditions: list[WordCondition] = field(default_factory=list)
    match_size: int | None = None
    """How many versions the full-text query fits, where they are counted; None where they are not, or more than FEW_SCHEMAS."""
    state: str = "live"
    kinds: frozenset[str] = frozenset({"subject", "source", "query"})
    words: list[str] = field(default_factory=list)
    """Patterns of the name or of a column of a source; sources have nothing else."""
    columns: list[str] = field(default_factory=list)
    """Patterns of columns of a source."""
    for_sources: bool = True
    fields: list[str] = field(default_factory=list)
    """Names of fields that were asked for; a hit shows those that its schema has."""
    is_partial: bool = False
    """Whether a part of a name stands for more names than are looked for."""
    readable: tuple[int, ...] | None = None
    """The subjects that the caller may read, where they are few."""

    @property
    def parts(self) -> list[SubjectNames | WordCondition]:
        """All but the full-text query."""
        return [*self.names, *self.word_conditions]

    @property
    def in_state(self) -> str:
        """The condition of the state of a version."""
        return "version.latest = 1" if self.state == "live" else "version.state = 'soft'"

    @property
    def state_index(self) -> str:
        """What makes SQLite use the index of the latest live versions, or that of the deleted ones."""
        return "INDEXED BY version_latest" if self.state == "live" else "INDEXED BY version_soft"

    @property
    def subject_index(self) -> str:
        """What makes SQLite look up the latest live versions of subjects, and not all versions of each."""
        return "INDEXED BY version_latest_of" if self.state == "live" else "INDEXED BY version_subject"


def make_plan(connection: sqlite3.Connection, terms: Sequence[SearchTerm], readable: ReadableSubjects) -> SearchPlan:
    """Return the plan of a search; parts of names stand for names in schemas that the caller may read."""
    plan = SearchPlan(readable=readable.list_few(FEW_READABLE))
    for state in (term.value.lower() for term in terms if term.name == "state"):
        plan.state = state
    _add_fields_of_types(connection, plan, terms, readable)
    for term in terms:
        _add_term(connection, plan, term, readable)
    plan.names = _join_listed(plan.names, plan.readable)
    if plan.match and (plan.names or plan.word_conditions):  # else nothing is chosen by it
        schemas = _read_few(connection.execute(MATCHING, (" AND ".join(plan.match), FEW_SCHEMAS + 1)), FEW_SCHEMAS)
        plan.match_size = None if schemas is None else count_versions(connection, plan, schemas, FEW_SCHEMAS)
    return plan


def count_versions(connection: sqlite3.Connection, plan: SearchPlan, schemas: Sequence[int], limit: int) -> int | None:
    """Return how many versions of a plan's state some schemas have; None where there are more than `limit`."""
    rows = f"SELECT 1 FROM version {plan.state_index} WHERE {plan.in_state} AND schema IN ({as_list(schemas)}) LIMIT ?"  # noqa: S608 (numbers)
    count = int(connection.execute(f"SELECT count(*) FROM ({rows})", (limit + 1,)).fetchone()[0])  # noqa: S608 (no text of a caller)
    return count if count <= limit else None


def _join_listed(names: Sequence[SubjectNames], readable: tuple[int, ...] | None) -> list[SubjectNames]:
    """Return conditions of subjects, with one in place of those whose subjects are listed, the readable ones among them."""
    listed = [{*part.numbers} for part in names if part.numbers is not None]
    if readable is not None:
        listed.append({*readable})
    broad = [part for part in names if part.numbers is None]
    if not listed:
        return broad
    numbers = tuple(sorted(set.intersection(*listed)))
    return [*broad, SubjectNames("", "", numbers, is_known=readable is not None and len(listed) == 1)]


def _add_fields_of_types(
    connection: sqlite3.Connection, plan: SearchPlan, terms: Sequence[SearchTerm], readable: ReadableSubjects
) -> None:
    """Add what `field:` and `type:` ask for: in one search they ask for a field of that type."""
    types = [as_token(term.value) for term in terms if term.name == "type"]
    fields = [term.value for term in terms if term.name == "field"]
    for value in fields:
        parts, is_partial = (
            find_parts(connection, plan, value, readable) if "*" in value else ([as_token(value)], False)
        )
        names = parts or [as_token(value.replace("*", ""))]  # which no field has
        kinds = [f"{name}|{kind}" for name in names for kind in types] if types else names
        plan.match.append(any_of(kinds))
        plan.fields += parts
        plan.is_partial |= is_partial
        plan.columns.append(_as_pattern(value))
    if types and not fields:
        plan.match += [any_of([f"|{kind}"]) for kind in types]
    plan.for_sources = not types


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
            plan.names.append(_find_subjects(connection, value))
            plan.for_sources = False
        case "format":
            plan.match.append(any_of([format_token(value)]))
            plan.for_sources = False
        case "context":
            plan.names.append(_list_subjects(connection, "context", "." if value == "." else context_of(value)))
            plan.for_sources = False
        case "origin":
            plan.names.append(_list_subjects(connection, "origin", value.lower()))
            plan.for_sources = False
        case "state":
            plan.for_sources = plan.for_sources and plan.state == "live"
            if value.lower() != plan.state:  # two states hold of nothing
                plan.kinds = frozenset()
        case "kind":
            plan.kinds &= {value.lower()}
        case "":
            parts, is_partial = find_parts(connection, plan, f"*{value}*", readable)
            in_doc = any_of([doc_token(value)])
            match = f"{any_of(parts)} OR {in_doc}" if parts else in_doc
            schemas = _read_few(connection.execute(MATCHING, (match, FEW_SCHEMAS + 1)), FEW_SCHEMAS)
            names = _find_subjects(connection, value).within(plan.readable)
            plan.word_conditions.append(WordCondition(names, match, schemas))
            plan.words.append(_as_pattern(f"*{value}*"))
            plan.fields += parts
            plan.is_partial |= is_partial


def _list_subjects(connection: sqlite3.Connection, column: str, value: str) -> SubjectNames:
    """Return the subjects with a value in a column that has an index."""
    rows = connection.execute(f"SELECT id FROM subject WHERE {column} = ? LIMIT ?", (value, FEW + 1))  # noqa: S608 (no text of a caller)
    return SubjectNames(f"subject.{column} = {{}}", value, _read_few(rows, FEW))


def _find_subjects(connection: sqlite3.Connection, value: str) -> SubjectNames:
    """Return the subjects with a part of a name; pairs of characters lead to one too short for trigrams."""
    condition, values = like(f"*{value}*")
    numbers: tuple[int, ...] | None = None
    if len(value) < TRIGRAM and "*" not in value:
        numbers = _read_few(connection.execute(PAIRED, (f'"{pair_token(value)}"', FEW + 1)), FEW)
    elif max(map(len, value.split("*"))) >= TRIGRAM:
        numbers = _read_few(connection.execute(NAMED.format(condition), (*values, FEW + 1)), FEW)
    return SubjectNames("subject.name LIKE {} ESCAPE '\\'", values[-1], numbers)


def _read_few(rows: sqlite3.Cursor, limit: int) -> tuple[int, ...] | None:
    """Return numbers; None where there are more than so many."""
    numbers = tuple(chain.from_iterable(rows.fetchall()))
    return numbers if len(numbers) <= limit else None


def find_parts(
    connection: sqlite3.Connection, plan: SearchPlan, pattern: str, readable: ReadableSubjects
) -> tuple[list[str], bool]:
    """Return the names and paths of fields that a pattern with ``*`` fits, at most PARTS, and whether there are more.

    Names that only schemas have which the caller may not read are left out, and so are those of no version.
    """
    token = _as_pattern(pattern)
    if plan.readable is not None:
        return _find_parts_of(connection, plan, plan.readable, token)
    plain = token.replace("*", "")
    condition, likes = like(token)
    query, values = f"SELECT name FROM part_like WHERE {condition} LIMIT ?", (*likes, PARTS_SCANNED)  # noqa: S608 (no text of a caller)
    is_short = max(map(len, token.split("*"))) < TRIGRAM
    if is_short:  # too short for trigrams
        query, values = SHORT, (plain, plain + HIGHEST, likes[-1], PARTS_SCANNED)
    parts: list[str] = []
    rows, listed = 0, connection.execute(query, values).fetchall()
    is_cut = len(listed) > PARTS_ASKED
    for (name,) in listed[:PARTS_ASKED]:
        for (owner,) in connection.execute(OWNERS, (any_of([name]), ROWS_SCANNED - rows)):
            rows += 1
            if readable.has(owner):
                parts.append(name)
                break
        if len(parts) > PARTS:
            return parts[:PARTS], True
        if rows >= ROWS_SCANNED:
            return parts, True
    if is_short:
        listed = connection.execute("SELECT 1 FROM part LIMIT ?", (PARTS_SCANNED,)).fetchall()
    return parts, len(listed) >= PARTS_SCANNED or is_cut


def _find_parts_of(
    connection: sqlite3.Connection, plan: SearchPlan, subjects: Sequence[int], token: str
) -> tuple[list[str], bool]:
    """Return the same for a caller who may read few subjects, from the names of their schemas."""
    pieces, parts, left = token.split("*"), set[str](), NAMES_CHARACTERS
    query = NAMES_OF.format(plan.subject_index, as_list(subjects), plan.in_state)
    for (names,) in connection.execute(query):
        left -= len(names)
        if left < 0:
            return sorted(parts)[:PARTS], True
        if all(piece in names for piece in pieces):
            parts.update(name for name in names.split(" ") if _has_pieces(name, pieces))
        if len(parts) > PARTS:
            return sorted(parts)[:PARTS], True
    return sorted(parts), False


def _as_pattern(text: str) -> str:
    """Return a pattern with ``*`` as one of tokens."""
    return "*".join(map(as_token, text.split("*")))


def fits_pattern(name: str, pattern: str) -> bool:
    """Return whether a token is one that a pattern of tokens fits."""
    return _has_pieces(name, pattern.split("*")) if "*" in pattern else name == pattern


def _has_pieces(name: str, pieces: Sequence[str]) -> bool:
    """Return whether a name is of pieces, with any characters between them."""
    first, *middle, last = pieces
    at = len(first)
    for piece in middle:
        place = name.find(piece, at)
        if place < 0:
            return False
        at = place + len(piece)
    return name.startswith(first) and name.endswith(last) and at <= len(name) - len(last)


def like(pattern: str) -> tuple[str, tuple[str, ...]]:
    """Return the condition of names that a pattern with ``*`` fits, with its values.

    Trigrams are looked up without ESCAPE alone, by a pattern that fits some more where characters of LIKE are in it.
    """
    escaped = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    if escaped == pattern:
        return "name LIKE ?", (pattern.replace("*", "%"),)
    return "name LIKE ? AND name LIKE ? ESCAPE '\\'", (pattern.replace("*", "%"), escaped.replace("*", "%"))


def as_list(numbers: Sequence[int] | None) -> str:
    """Return numbers as a list of SQL; NULL, which equals nothing, without any: an empty list has no plan with INDEXED BY."""
    return ",".join(map(str, numbers or ())) or "NULL"


def any_of(tokens: Sequence[str]) -> str:
    """Return the full-text query of rows that have any of the tokens."""
    return "(" + " OR ".join(f'"{token}"' for token in tokens) + ")"
