"""Requests about queries that are there; no chance is drawn for them, so that what comes after stays as it was."""

from collections.abc import Sequence
from dataclasses import replace

from treaty.core.messages.metastore import sources as m
from treaty.core.sources import Source, SourceColumn

WAYS = (
    ("ROLLBACK", False),
    ("RESET", False),
    ("ROLLBACK", True),
    ("REFRESH", False),
    ("REFRESH", True),
    ("RESET", True),
    ("nothing", False),
    ("", True),
)
"""How a query is restarted, and whether what follows it goes along; the last two are none."""


def run_once(source: Source, turn: int, expected: m.ExpectedSource | None) -> m.CreateSource:
    """A query to be run once into a source, mostly one that fits."""
    plan = None if source.query is None else replace(source.query.plan, body=f"SELECT {turn}")
    more, fewer = (*source.columns, SourceColumn("new", "INT")), source.columns[1:]
    columns = (source.columns, fewer, more, source.columns)[turn % 4]
    defined = m.SourceDefinition(
        source.name, source.kind, "INSERT INTO ONCE", columns, source.key, source.value, source.connector, source.cluster,
        "elsewhere" if turn % 7 == 6 else source.place, query=plan,
    )  # fmt: skip
    return m.CreateSource(defined, replace=turn % 8 != 5, expected=expected, dry_run=turn % 5 == 4, once=True)


def restart_query(queries: Sequence[str], names: Sequence[str], turn: int) -> m.ChangeSource:
    """A restart of a query, mostly of one that is there."""
    name = queries[turn % len(queries)] if queries and turn % 11 else names[turn % len(names)]
    way, cascade = WAYS[turn // 7 % len(WAYS)]
    comment = "noted" if turn % 13 == 0 else None
    return m.ChangeSource(name, restart=way, comment=comment, dry_run=bool(way) and turn % 10 == 0, cascade=cascade)
