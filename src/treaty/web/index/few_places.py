"""Where the versions of few subjects, and of few schemas, are that fit a search: their places are listed, and looked at some at a time.

The full-text query is asked about these alone, after what the caller may not read is left out: it would have to pass over all schemas
that it fits. Subjects lead to their versions by themselves, and not by their schemas, which very many others may have too.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import groupby, islice
from typing import Any, NamedTuple

from treaty.web.index.plans import SearchPlan, SubjectNames, WordCondition, as_list
from treaty.web.index.readable_subjects import ReadableSubjects
from treaty.web.index.storage import PLACE, schema_of, subject_of

BLOCK = 250
"""Places that are read at a time."""
ASKED = 50
"""Places about which the full-text query is asked at a time."""
ASKED_ROWS = 20
"""Rows that it costs as much to read as to ask whether a schema fits the full-text query."""
DENSE = 500
"""Schemas that the full-text query passes over as quickly as it is asked about a single one."""


class PlaceBlock(NamedTuple):
    """Some places, the highest first, and at most how many rows were passed over for them.

    All places from `low` on are among them, or were in blocks before; 0: no block follows.
    """

    places: list[int]
    rows: int
    low: int


def condition_of(part: SubjectNames | WordCondition, number: int, values: dict[str, Any]) -> str:
    """Return the condition that a version in a range of schemas fits a part of a name or a word, whose values are put down."""
    names = part if isinstance(part, SubjectNames) else part.names
    if names.numbers is None:
        values[f"name{number}"] = names.value
        condition = names.condition.format(f":name{number}")
    else:
        condition = f"version.subject IN ({as_list(names.numbers)})"
    if isinstance(part, SubjectNames):
        return condition
    if part.schemas is not None:
        return f"({condition} OR version.schema IN ({as_list(part.schemas)}))"
    values[f"word{number}"] = part.match
    words = f"SELECT rowid FROM posting WHERE posting MATCH :word{number} AND rowid BETWEEN :low AND :high"  # noqa: S608 (no text of a caller)
    return f"({condition} OR version.schema IN ({words}))"


def join_subject(conditions: Sequence[str]) -> str:
    """Return the join that conditions need: names are in another table than versions."""
    is_named = any("subject." in part.replace("version.subject", "") for part in conditions)
    return " CROSS JOIN subject ON subject.id = version.subject" if is_named else ""


class FewPlaces:
    """The places of the versions of few subjects and few schemas that fit a plan and that the caller may read."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        plan: SearchPlan,
        few: SubjectNames | WordCondition,
        readable: ReadableSubjects,
    ) -> None:
        """Put down the conditions of all other parts of the plan."""
        self._connection = connection
        self._readable = readable
        self._match = " AND ".join(plan.match)
        other_parts = [part for part in plan.parts if part is not few]
        self._words = [part for part in other_parts if isinstance(part, WordCondition) and part.schemas is None]
        self._values: dict[str, Any] = {}
        conditions = [
            condition_of(part, number, self._values)
            for number, part in enumerate(other_parts)
            if part not in self._words
        ]
        where = " AND ".join((plan.in_state, f"({PLACE}) < :below", *conditions))
        names = few if isinstance(few, SubjectNames) else few.names
        start, joined = f"SELECT {PLACE} FROM version", join_subject(conditions)  # noqa: S608 (no text of a caller)
        self._by_subject = f"{start} {plan.subject_index}{joined} WHERE version.subject IN ({as_list(names.numbers)}) AND {where} ORDER BY 1 DESC"
        self._by_schema = ""
        if isinstance(few, WordCondition):
            ordered = "ORDER BY version.schema DESC, version.subject"  # as the index has them: none is sorted
            self._by_schema = f"{start} {plan.state_index}{joined} WHERE version.schema IN ({as_list(few.schemas)}) AND {where} {ordered}"

    def below(self, place: int, row_limit: int) -> Iterator[PlaceBlock]:
        """Yield the places below a place, the highest ones first, until all were yielded or so many rows passed over."""
        is_asked = bool(self._match or self._words)
        places, passed = self._list_places(place), 0
        size = ASKED if is_asked else BLOCK
        block = [*islice(places, size)]
        while passed < row_limit:
            following = [*islice(places, size)]
            cost = len(block) * (ASKED_ROWS if is_asked else 1)
            yield PlaceBlock(self._select(block), cost, block[-1] if following else 0)
            if not following:
                return
            block, passed = following, passed + cost

    def _list_places(self, below: int) -> Iterator[int]:
        """Yield the places of these subjects and schemas, each once, the highest ones first."""
        values = {**self._values, "below": below}
        places: Iterator[int] = (place for (place,) in self._connection.execute(self._by_subject, values).fetchall())
        if self._by_schema:
            of_schemas = (place for (place,) in self._connection.execute(self._by_schema, values))
            places = merge(places, of_schemas, reverse=True)
        return (place for place, _ in groupby(places))

    def _select(self, block: list[int]) -> list[int]:
        """Return the places that may be read and that fit all full-text queries."""
        if block:
            block = self._readable.select(block)
        if block and self._match:
            schemas = self._ask(self._match, block)
            block = [place for place in block if schema_of(place) in schemas]
        for word in self._words:
            if block:
                schemas, subjects = self._ask(word.match, block), self._list_named(word.names, block)
                block = [place for place in block if schema_of(place) in schemas or subject_of(place) in subjects]
        return block

    def _ask(self, match: str, places: Sequence[int]) -> set[int]:
        """Return the schemas in some places that fit a full-text query. The text is the same for all: SQLite reads it once."""
        schemas = [*map(schema_of, places)]
        values = [match, *schemas, *schemas[-1:] * (ASKED - len(schemas))]
        rows = "rowid"
        if schemas[0] - schemas[-1] <= DENSE * len(schemas):
            rows, values[1:1] = "rowid BETWEEN ? AND ? AND +rowid", (schemas[-1], schemas[0])  # the plus: passed over
        listed = ",".join("?" * ASKED)
        query = f"SELECT rowid FROM posting WHERE posting MATCH ? AND {rows} IN ({listed})"  # noqa: S608 (no text of a caller)
        return {number for (number,) in self._connection.execute(query, values)}

    def _list_named(self, names: SubjectNames, places: Sequence[int]) -> set[int]:
        """Return the subjects in some places that a condition of names fits."""
        if names.numbers is not None:
            return {*names.numbers}
        query = f"SELECT id FROM subject WHERE id IN ({as_list([*map(subject_of, places)])}) AND {names.condition.format('?')}"  # noqa: S608 (numbers)
        return {number for (number,) in self._connection.execute(query, (names.value,))}
