"""Where the versions that fit a search are: a query of SQLite for one range of schemas after the other, the newest first.

What begins the query is what fits the fewest: the full-text query, or parts of names that few subjects have. Everything
else is looked at row by row. So a search that nearly everything fits ends once its page is full, and reads no more.

What begins with few subjects is looked at some schemas at a time, and the full-text query is asked about these alone: it would
have to pass over all schemas that it fits.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from treaty.web.index.plans import SearchPlan, SubjectNames, WordCondition, as_list
from treaty.web.index.storage import SUBJECTS, schema_of

FIRST_ROWS = 250
"""Rows of the first range that is looked at; each following one has twice as many."""
MOST_ROWS = 32_000
"""Rows of the largest range."""
BLOCK = 250
"""Places that are read at a time."""
SCHEMAS = 50
"""Schemas about which the full-text query is asked at a time."""
ASKED_ROWS = 20
"""Rows that it costs as much as to pass over them to ask whether a schema fits the full-text query."""
PLACE = f"(version.schema << 24) | (~version.subject & {SUBJECTS})"
"""The place of a version: the number of its schema, and that of its subject below it. Places descend in an answer."""


class PlaceRange(NamedTuple):
    """The places of one range of schemas, the highest first, some at a time, and at most how many rows are passed over for them.

    All places from `low` on are among them, or were in ranges before; 0: no range follows.
    """

    blocks: Iterator[list[int]]
    rows: int
    low: int


class _PlaceQuery(NamedTuple):
    """The parts of a query whose first table is what fits the fewest.

    `column` of `rows` is what its ranges are counted by. Where the query begins with few versions, `chosen` lists their schemas, and
    SCHEMA_LIST stands for some of these.
    """

    tables: str
    conditions: tuple[str, ...]
    order: str
    rows: str = ""
    column: str = ""
    chosen: str = ""


class VersionPlaces:
    """The places of the versions that fit a plan."""

    def __init__(self, connection: sqlite3.Connection, plan: SearchPlan, row_limit: int) -> None:
        """Choose what the query begins with. At most `row_limit` rows are passed over."""
        self._connection = connection
        self._most = row_limit
        self._values: dict[str, Any] = {"match": " AND ".join(plan.match)}
        query = self._choose(plan)
        is_named = any("subject." in part.replace("version.subject", "") for part in self._conditions)
        joined = " CROSS JOIN subject ON subject.id = version.subject" if is_named else ""
        conditions = " AND ".join((*query.conditions, plan.in_state, f"({PLACE}) < :below", *self._conditions))
        distinct = "" if plan.state == "live" else "DISTINCT"  # a schema may have been deleted from a subject twice
        self._text = f"SELECT {distinct} {PLACE} FROM {query.tables}{joined} WHERE {conditions} ORDER BY {query.order}"  # noqa: S608 (no text of a caller)
        self._chosen = query.chosen
        self._asks = ":match" in conditions or ":word" in conditions
        self._bound = ""
        if query.rows:
            self._bound = (
                f"SELECT {query.column} FROM {query.rows} <= :high ORDER BY {query.column} DESC LIMIT 1 OFFSET :rows"  # noqa: S608 (no text of a caller)
            )

    def below(self, place: int) -> Iterator[PlaceRange]:
        """Yield ranges of places below a place, the highest ones first, until all were yielded or `most` rows passed over."""
        if self._chosen:
            yield from self._chosen_below(place)
            return
        high, rows, passed = schema_of(place), FIRST_ROWS, 0
        while passed < self._most:
            values = {**self._values, "below": place, "high": high, "rows": rows}
            bound = self._connection.execute(self._bound, values).fetchone()
            values["low"] = 0 if bound is None else bound[0]
            yield PlaceRange(_read_blocks(self._connection.execute(self._text, values)), rows, values["low"] << 24)
            if bound is None:
                return
            high, rows, passed = values["low"] - 1, min(2 * rows, MOST_ROWS), passed + rows

    def _chosen_below(self, place: int) -> Iterator[PlaceRange]:
        """Yield the same where the query begins with few versions: some schemas at a time."""
        values = {**self._values, "below": place, "high": schema_of(place - 1)}
        schemas = [number for (number,) in self._connection.execute(self._chosen, values)]
        step, passed = SCHEMAS if self._asks else max(1, len(schemas)), 0
        for at in range(0, max(1, len(schemas)), step):  # also without any: the range that ends the search
            if passed >= self._most:
                return
            block = schemas[at : at + step]
            low = block[-1] if at + step < len(schemas) else 0
            rows = self._connection.execute(*self._ask_about(block, values))
            cost = len(block) * (ASKED_ROWS if self._asks else 1)
            yield PlaceRange(_read_blocks(rows), cost, low << 24)
            passed += cost

    def _ask_about(self, schemas: Sequence[int], values: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """Return the query about some schemas, with its values: the same text for all of SCHEMAS, so that SQLite reads it once."""
        if len(schemas) != SCHEMAS:
            return self._text.replace(SCHEMA_LIST, as_list(schemas)), values
        names = {f"schema{place}": number for place, number in enumerate(schemas)}
        return self._text.replace(SCHEMA_LIST, ",".join(f":{name}" for name in names)), {**values, **names}

    # --------------------------------------------------------------------------------------------------- the query

    def _choose(self, plan: SearchPlan) -> _PlaceQuery:
        """Return what the query begins with; the conditions of all else are put down."""
        self._conditions = list[str]()
        parts: list[SubjectNames | WordCondition] = [*plan.names, *plan.word_conditions]
        listed = [part for part in parts if part.size is not None]
        few = min(listed, key=lambda part: part.size or 0, default=None)
        for number, part in enumerate(parts):
            if part is not few and not (isinstance(part, SubjectNames) and part.is_known):
                self._conditions.append(self._fits(part, number))
        if few is not None and (plan.match_size is None or (few.size or 0) <= plan.match_size):
            if plan.match:
                self._conditions.append(_HAS_MATCH)
            return self._begin_with_few(plan, few)
        if few is not None and not (isinstance(few, SubjectNames) and few.is_known):
            self._conditions.append(self._fits(few, len(parts)))
        if plan.match:
            tables, ranged = f"posting CROSS JOIN version {plan.state_index}", "posting.rowid BETWEEN :low AND :high"
            conditions = ("posting MATCH :match", ranged, "version.schema = posting.rowid")
            return _PlaceQuery(
                tables, conditions, "posting.rowid DESC", "posting WHERE posting MATCH :match AND rowid", "rowid"
            )
        tables, rows = f"version {plan.state_index}", f"version {plan.state_index} WHERE {plan.in_state} AND schema"
        return _PlaceQuery(tables, (_RANGED,), _NEWEST_FIRST, rows, "schema")

    def _begin_with_few(self, plan: SearchPlan, few: SubjectNames | WordCondition) -> _PlaceQuery:
        """Return a query that begins with the versions of few subjects, and those of few schemas that have a word."""
        ranged = ":low AND :high"
        self._conditions = [part.replace(f"BETWEEN {ranged}", f"IN ({SCHEMA_LIST})") for part in self._conditions]
        names = few if isinstance(few, SubjectNames) else few.names
        rows = f"SELECT schema FROM version {plan.subject_index} WHERE {plan.in_state} AND subject IN ({as_list(names.numbers)})"  # noqa: S608 (numbers)
        if isinstance(few, WordCondition):
            rows += f" UNION SELECT schema FROM version {plan.state_index} WHERE {plan.in_state} AND schema IN ({as_list(few.schemas)})"  # noqa: S608 (numbers)
        chosen = f"SELECT DISTINCT schema FROM ({rows}) WHERE schema <= :high ORDER BY schema DESC"  # noqa: S608 (no text of a caller)
        conditions = (f"version.schema IN ({SCHEMA_LIST})", _is_chosen(names.numbers, few))
        return _PlaceQuery(f"version {plan.state_index}", conditions, _NEWEST_FIRST, chosen=chosen)

    def _fits(self, part: SubjectNames | WordCondition, number: int) -> str:
        """Return the condition that a version fits a part of a name or a word, whose values are put down."""
        names = part if isinstance(part, SubjectNames) else part.names
        if names.numbers is None:
            self._values[f"name{number}"] = names.value
            condition = names.condition.format(f":name{number}")
        else:
            condition = f"version.subject IN ({as_list(names.numbers)})"
        if isinstance(part, SubjectNames):
            return condition
        if part.schemas is not None:
            return f"({condition} OR version.schema IN ({as_list(part.schemas)}))"
        self._values[f"word{number}"] = part.match
        words = f"SELECT rowid FROM posting WHERE posting MATCH :word{number} AND rowid BETWEEN :low AND :high"  # noqa: S608
        return f"({condition} OR version.schema IN ({words}))"


def _is_chosen(subjects: Sequence[int] | None, few: SubjectNames | WordCondition) -> str:
    """Return the condition that a version is of what a query begins with: other subjects may have the same schemas, very many of them."""
    # The plus: no look for each pair of a schema and a subject.
    condition = f"+version.subject IN ({as_list(subjects)})"
    if isinstance(few, WordCondition):
        condition = f"({condition} OR +version.schema IN ({as_list(few.schemas)}))"
    return condition


def _read_blocks(rows: sqlite3.Cursor) -> Iterator[list[int]]:
    while block := [place for (place,) in rows.fetchmany(BLOCK)]:
        yield block


_NEWEST_FIRST = "version.schema DESC, version.subject"
_RANGED = "version.schema BETWEEN :low AND :high"
SCHEMA_LIST = "<schemas>"
"""What stands for numbers of schemas in a query that begins with few versions."""
_HAS_MATCH = f"version.schema IN (SELECT rowid FROM posting WHERE posting MATCH :match AND rowid IN ({SCHEMA_LIST}))"  # noqa: S608 (no text of a caller)
