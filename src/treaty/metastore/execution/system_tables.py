"""SELECT from the system tables ``treaty.*``: rows of the metastore and the registry by column, condition and order."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import lru_cache

from treaty.core.column_types import lower_name
from treaty.core.limits import RESULT_ROWS
from treaty.core.messages.listings import ListSchemas, ListSubjects
from treaty.core.names import Subject
from treaty.core.refusals import Invalid, TooLarge
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import QUERY, Source
from treaty.metastore.execution.pages import list_fed_queries, list_sources, list_types, list_upstreams
from treaty.metastore.execution.results import Cell, ResultRows
from treaty.metastore.sql.statements import SelectStatement
from treaty.metastore.sql.values import ColumnCondition

SOURCE_COLUMNS = (
    "name", "kind", "connector", "cluster", "place", "key_format", "value_format", "subject", "schema_id", "generation", "revision",
    "query_state", "protected", "author", "created", "comment",
)  # fmt: skip


def select(statement: SelectStatement) -> Exchange[ResultRows]:
    """Return the rows that a SELECT asks for. Raises `Invalid` for a column that the table does not have."""
    for condition in statement.conditions:
        _refuse_long_pattern(condition)
    table = yield from TABLE_READERS[statement.table]()
    places = {name: place for place, name in enumerate(table.columns)}
    chosen = statement.columns or table.columns
    ordered = [(_place(places, term.column, statement.table), term.descending) for term in statement.order]
    tests = [(_place(places, one.column, statement.table), one) for one in statement.conditions]
    rows = [row for row in table.rows if all(_fits(row[place], one) for place, one in tests)]
    for place, descending in reversed(ordered):
        rows.sort(key=lambda row, at=place: _order_of(row[at]), reverse=descending)  # type: ignore[misc]
    limit = len(rows) if statement.limit < 0 else statement.limit
    column_places = [_place(places, name, statement.table) for name in chosen]
    return ResultRows(
        tuple(table.columns[place] for place in column_places),
        [tuple(row[place] for place in column_places) for row in rows[:limit]],
    )


def _place(places: Mapping[str, int], name: str, table: str) -> int:
    place = places.get(name.lower())
    if place is None:
        near = get_close_matches(name.lower(), places, 1)
        hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(places)}"
        raise Invalid.of("COLUMN_UNKNOWN", f"treaty.{table} has no column {name}", path="/sql", new=name, allowed=hint)
    return place


def _fits(cell: Cell, condition: ColumnCondition) -> bool:
    """Return whether a cell meets a condition; null meets none."""
    if cell is None or condition.value is None:
        return False
    if condition.operator == "LIKE":
        return matches_like(str(condition.value), str(cell))
    if isinstance(cell, bool) or isinstance(condition.value, bool):
        return cell is condition.value
    return str(cell) == str(condition.value)


LIKE_CHARACTERS = 1_000
"""Characters of a LIKE pattern."""


def _refuse_long_pattern(condition: ColumnCondition) -> None:
    if condition.operator == "LIKE" and len(str(condition.value)) > LIKE_CHARACTERS:
        raise TooLarge.of(
            "LIKE_CHARACTERS",
            "The pattern of LIKE is too long",
            path="/sql",
            allowed=f"at most {LIKE_CHARACTERS} characters",
        )


def matches_like(pattern: str, text: str) -> bool:
    """Return whether a text matches a LIKE pattern: ``%`` is any text, ``_`` one character, a backslash before either means
    itself. The time is the product of both lengths at most.
    """
    segments = _segments(pattern)
    first, last = segments[0], segments[-1]
    if len(segments) == 1:
        return len(text) == len(first) and _is_at(first, text, 0)
    end = len(text) - len(last)
    if end < len(first) or not _is_at(first, text, 0) or not _is_at(last, text, end):
        return False
    place = len(first)
    for segment in segments[1:-1]:
        place = next((at for at in range(place, end - len(segment) + 1) if _is_at(segment, text, at)), -1)
        if place < 0:
            return False
        place += len(segment)
    return True


@lru_cache(64)
def _segments(pattern: str) -> tuple[tuple[str | None, ...], ...]:
    """Return what stands between the ``%`` of a pattern: characters, None for any one."""
    segments: list[list[str | None]] = [[]]
    for piece in re.findall(r"\\.|.", pattern, re.DOTALL):
        if piece == "%":
            if segments[-1] or len(segments) == 1:  # several in a row are one
                segments.append([])
        else:
            segments[-1].append(None if piece == "_" else piece[-1])
    return tuple(map(tuple, segments))


def _is_at(segment: tuple[str | None, ...], text: str, place: int) -> bool:
    return all(wanted is None or wanted == text[place + at] for at, wanted in enumerate(segment))


def _order_of(cell: Cell) -> tuple[int, str, int, str]:
    """The place of a cell: null, then numbers, then texts as SHOW has names, whatever the case of their letters."""
    if cell is None:
        return (0, "", 0, "")
    return (1, "", int(cell), "") if isinstance(cell, int) else (2, lower_name(cell), 0, cell)


def _select_sources() -> Exchange[ResultRows]:
    listing = ResultRows(SOURCE_COLUMNS)
    for source in (yield from list_sources()):
        listing.rows.append(_source_row(source))
    return listing


def _source_row(source: Source) -> tuple[Cell, ...]:
    pin = source.value.pin if source.value else None
    return (
        source.name, source.kind, source.connector, source.cluster, source.place, source.key.format if source.key else None,
        source.value.format if source.value else None, pin.subject if pin else None, pin.schema_id if pin else None,
        source.generation, source.revision, source.desired if source.query else None, source.protected, source.author,
        source.time, source.comment,
    )  # fmt: skip


def _select_types() -> Exchange[ResultRows]:
    listing = ResultRows(("name", "definition", "generation", "author", "created", "comment", "label"))
    for type_ in (yield from list_types()):
        listing.add(
            type_.name, type_.definition, type_.generation, type_.author, type_.time, type_.comment, type_.label
        )
    return listing


def _select_queries() -> Exchange[ResultRows]:
    """Return the queries, with the runner that has each (null: none) and the epoch of its lease."""
    columns = ("source", "kind", "state", "generation", "incarnation", "revision", "output_mode", "engine")
    listing = ResultRows((*columns, "runner", "epoch", "body"))
    queries, runners = yield from list_fed_queries()
    for fed in queries:
        source, query = fed.source, fed.source.query
        if query is None:
            continue
        plan = query.plan
        runner = next((one.runner for one in fed.assigned if one.part == QUERY), None)
        lease = runners.get(runner or "")
        listing.add(
            source.name, source.kind, source.desired, source.generation, query.began, query.revision, plan.output_mode, plan.engine,
            runner, None if lease is None else lease.epoch, plan.body,
        )  # fmt: skip
    return listing


def _select_dependencies() -> Exchange[ResultRows]:
    listing = ResultRows(("name", "kind", "needs", "needs_kind", "effect"))
    for name, kind, dependent in (yield from list_upstreams()):
        listing.add(name, kind, dependent.name, dependent.kind, dependent.effect)
    return listing


def _select_subjects() -> Exchange[ResultRows]:
    listing = ResultRows(("subject",))
    for subject in (yield from request_answer(ListSubjects(limit=RESULT_ROWS))).names:
        listing.add(subject)
    return listing


def _select_versions() -> Exchange[ResultRows]:
    listing = ResultRows(("subject", "version", "schema_id", "guid", "format", "type"))
    listed = yield from request_answer(ListSchemas(Subject("*", ""), limit=RESULT_ROWS))
    for version in listed.versions:
        listing.add(version.subject, version.number, version.schema_id, version.guid, version.format, version.type_name)
    return listing


TABLE_READERS: Mapping[str, Callable[[], Exchange[ResultRows]]] = {
    "sources": _select_sources,
    "types": _select_types,
    "queries": _select_queries,
    "dependencies": _select_dependencies,
    "subjects": _select_subjects,
    "versions": _select_versions,
}
"""The function that reads a system table, by each name of `SYSTEM_TABLES`."""
