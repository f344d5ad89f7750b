"""Where the versions that fit a search are: a query of SQLite for one range of schemas after the other, the newest first.

What begins the query is what fits the fewest: the full-text query, or parts of names that few subjects have. Everything
else is looked at row by row. So a search that nearly everything fits ends once its page is full, and reads no more.
"""

import sqlite3
from collections.abc import Iterator
from typing import Any

from treaty.web.index.few_places import ASKED_ROWS, BLOCK, FewPlaces, PlaceBlock, condition_of, join_subject
from treaty.web.index.plans import SearchPlan, SubjectNames, WordCondition, count_versions
from treaty.web.index.readable_subjects import ReadableSubjects
from treaty.web.index.storage import PLACE, schema_of

FIRST_ROWS = 250
"""Rows of the first range that is looked at; each following one has three times as many."""
MOST_ROWS = 32_000
"""Rows of the largest range."""


class VersionPlaces:
    """The places of the versions that fit a plan."""

    def __init__(
        self, connection: sqlite3.Connection, plan: SearchPlan, readable: ReadableSubjects, row_limit: int
    ) -> None:
        """Choose what the query begins with. At most `row_limit` rows are passed over."""
        self._connection = connection
        self._most = row_limit
        few = _choose_few(connection, plan)
        self._few = None if few is None else FewPlaces(connection, plan, few, readable)
        self._values: dict[str, Any] = {"match": " AND ".join(plan.match)}
        conditions = [
            condition_of(part, number, self._values)
            for number, part in enumerate(plan.parts)
            if not (isinstance(part, SubjectNames) and part.is_known)
        ]
        rows, column = f"version {plan.state_index} WHERE {plan.in_state} AND schema", "schema"
        tables, begin = f"version {plan.state_index}", "version.schema BETWEEN :low AND :high"
        order = "version.schema DESC, version.subject"  # as the index has them
        if plan.match:
            rows, column = "posting WHERE posting MATCH :match AND rowid", "rowid"
            tables, order = f"posting CROSS JOIN version {plan.state_index}", "posting.rowid DESC"
            begin = "posting MATCH :match AND posting.rowid BETWEEN :low AND :high AND version.schema = posting.rowid"
        where = " AND ".join((begin, plan.in_state, f"({PLACE}) < :below", *conditions))
        distinct = "" if plan.state == "live" else "DISTINCT"  # a schema may have been deleted from a subject twice
        self._text = f"SELECT {distinct} {PLACE} FROM {tables}{join_subject(conditions)} WHERE {where} ORDER BY {order}"  # noqa: S608 (no text of a caller)
        self._bound = f"SELECT {column} FROM {rows} <= :high ORDER BY {column} DESC LIMIT 1 OFFSET :rows"  # noqa: S608 (no text of a caller)

    def below(self, place: int) -> Iterator[PlaceBlock]:
        """Yield the places below a place, the highest ones first, until all were yielded or `most` rows passed over."""
        if self._few is not None:
            yield from self._few.below(place, self._most)
            return
        high, rows, passed = schema_of(place), FIRST_ROWS, 0
        while passed < self._most:
            values = {**self._values, "below": place, "high": high, "rows": rows}
            bound = self._connection.execute(self._bound, values).fetchone()
            values["low"] = 0 if bound is None else bound[0]
            rest = rows
            for block in _read_blocks(self._connection.execute(self._text, values)):
                yield PlaceBlock(block, len(block), block[-1])
                rest, passed = rest - len(block), passed + len(block)
                if passed >= self._most:
                    return
            yield PlaceBlock([], max(0, rest), values["low"] << 24)
            if bound is None:
                return
            high, rows, passed = values["low"] - 1, min(3 * rows, MOST_ROWS), passed + max(0, rest)


def _choose_few(connection: sqlite3.Connection, plan: SearchPlan) -> SubjectNames | WordCondition | None:
    """Return the part of a plan that few subjects or schemas fit, if a query begins with it."""
    few = min((part for part in plan.parts if part.size is not None), key=lambda part: part.size or 0, default=None)
    if isinstance(few, WordCondition):  # very many subjects may have one of its schemas
        subjects = [part for part in plan.names if part.size is not None]
        if subjects and count_versions(connection, plan, few.schemas or (), subjects[0].size or 0) is None:
            few = subjects[0]
    if few is None or (plan.match_size is not None and (few.size or 0) * ASKED_ROWS > plan.match_size):
        return None
    return few


def _read_blocks(rows: sqlite3.Cursor) -> Iterator[list[int]]:
    while block := [place for (place,) in rows.fetchmany(BLOCK)]:
        yield block
