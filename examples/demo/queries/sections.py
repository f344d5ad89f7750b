"""The sections of the report about the query: its table, the kill, the comparison, and what each step left."""

from collections.abc import Sequence
from html import escape
from typing import Any

from examples.demo.charts import DelayCell, draw_heat_map
from examples.demo.elements import card, table
from examples.demo.queries.expected import DelayRow
from examples.demo.queries.query_run import CheckedTable, QueryResult
from examples.demo.queries.statements import COMPARISON, QUERY, REPLACEMENT, ROLLBACK, STREAM

STEPS = {
    QUERY: ("the query", "killed in mid batch, started again"),
    REPLACEMENT: ("replaced while it runs", "all rows made again, then exchanged"),
    ROLLBACK: ("rolled back", "the first query goes on at its own checkpoint"),
}
SHOWN = 4
"""Rows that are shown of the comparison, and of the table after each step."""


def build_query_sections(result: QueryResult) -> str:
    """Return both sections; nothing for a demo that has no query."""
    if len(result.tables) < len(STEPS):
        return ""
    return _table_section(result) + _replacement_section(result)


def _table_section(result: QueryResult) -> str:
    first = result.tables[0]
    flights = sum(row[2] for row in first.rows)
    killed = ", ".join(map(str, result.killed))
    lead = (
        "Two statements of the metastore, and <code>treaty runner</code> keeps the table. The runner was killed with SIGKILL in mid batch "
        f"{killed} and started again. The table has {len(first.rows):,} rows of {flights:,} good flights: {_verdict(first)} to "
        "a computation in Python over the original data, without Spark."
    )
    unknown = next((state for state in result.states if "schema id" in state), "")
    note = (
        f"<p class='note'>Damaged events are no rows. The query said about one of them: <code>{escape(unknown)}</code>. It asked the registry, "
        "began the batch again before anything was written, and took such events for bad rows.</p>"
        if unknown
        else ""
    )
    return card(
        "A query that survives",
        lead,
        f"<pre>{escape(STREAM)};\n\n{escape(QUERY)}</pre>",
        "<h3>Minutes late on average, by carrier and scheduled hour in New York</h3>",
        draw_heat_map(_cells(result.tables[-1].rows), "delay by carrier and hour", "min"),
        note,
    )


def _verdict(result: CheckedTable) -> str:
    return "<b>equal, row by row,</b>" if result.holds else "<b>NOT EQUAL</b>"


def _cells(rows: Sequence[DelayRow]) -> list[DelayCell]:
    """The cells of the chart, carriers with most flights first."""
    flights: dict[str, int] = {}
    for carrier, _, number, *_ in rows:
        flights[carrier] = flights.get(carrier, 0) + number
    order = sorted(flights, key=lambda carrier: -flights[carrier])
    ordered = sorted(rows, key=lambda row: (order.index(row[0]), row[1]))
    return [DelayCell(row[0], row[1], row[5], f"{row[2]:,} flights") for row in ordered]


def _replacement_section(result: QueryResult) -> str:
    lead = (
        "The new query counts a flight that left early as one on time. Before it took over, <code>EXPLAIN REPLACE COMPARE</code> ran both over the "
        "same events and wrote nothing. More events came after the replacement, which the first query reads when it is back."
    )
    listed = [row for row in result.comparison if row[0] != "differs"]
    sample = [row for row in result.comparison if row[0] == "differs"][:SHOWN]
    compared = [tuple(escape(str(cell)) for cell in row) for row in (*listed, *sample)]
    steps = [
        (f"<b>{STEPS[table.statement][0]}</b><br><span class=none>{STEPS[table.statement][1]}</span>", f"{table.version}",
         f"{len(table.rows):,}", f"{sum(row[2] for row in table.rows):,}", _mark(table))
        for table in result.tables
    ]  # fmt: skip
    return card(
        "Replaced while it ran, and rolled back",
        lead,
        f"<pre>{escape(COMPARISON)}</pre>",
        table(("part", "name", "what COMPARE said"), compared),
        "<h3>The table after each step, beside the computation</h3>",
        table(("step", "version of the table", "rows", "flights", "computed rows"), steps, (1, 2, 3)),
        "<h3>The same rows, three times: minutes late on average</h3>",
        _same_rows(result.tables),
    )


def _mark(result: CheckedTable) -> str:
    return "<mark class=new>equal</mark>" if result.holds else "<mark>not equal</mark>"


def _same_rows(tables: Sequence[CheckedTable]) -> str:
    """The rows with most flights after each step."""
    keys = [row[:2] for row in sorted(tables[0].rows, key=lambda row: -row[2])[:SHOWN]]
    by_key = [{row[:2]: row for row in table.rows} for table in tables]
    head = ("carrier", "hour", *(STEPS[table.statement][0] for table in tables))
    body = [(escape(key[0]), f"{key[1]}", *(_delay(rows.get(key)) for rows in by_key)) for key in keys]
    return table(head, body, (1, 2, 3, 4))


def _delay(row: DelayRow | None) -> Any:
    return "" if row is None or row[5] is None else f"{row[5]:.2f} min of {row[3]:,}"
