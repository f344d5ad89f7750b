"""All tables, each with the worlds that it is asked in and the file that has its record."""

from collections.abc import Mapping
from pathlib import Path

from tests.answers.asks import Table
from tests.answers.odd import ODD
from tests.answers.shop import SHOP, TIGHT
from tests.answers.streams import STREAM_WORLDS, STREAMS
from tests.answers.tables import (
    groups,
    labels,
    oddities,
    planning,
    reading,
    registration,
    scripts,
    settings,
    source_changes,
    source_lists,
    sources,
)
from tests.answers.worlds import FOLDER, World
from treaty.core.operations import OPERATIONS

TABLES: Mapping[str, Table] = {
    OPERATIONS[type(table.default)].name: table
    for tables in (reading.TABLES, registration.TABLES, groups.TABLES, labels.TABLES, settings.TABLES)
    for table in tables
}
"""By name of the operation."""
OF_METASTORE: Mapping[str, Table] = {
    OPERATIONS[type(table.default)].name: table
    for tables in (sources.TABLES, source_changes.TABLES, source_lists.TABLES, planning.TABLES, scripts.TABLES)
    for table in tables
}
"""By name of the operation, those of the metastore."""
WORLDS = (SHOP, ODD, STREAMS)
"""Those with a record of their own."""


def records() -> Mapping[str, tuple[Table, tuple[World, ...], Path]]:
    """What is recorded, by name: a table, the worlds that it is asked in, and the file."""
    usual = {name: (table, (SHOP, TIGHT), FOLDER / f"{name}.txt") for name, table in TABLES.items()}
    odd = {
        f"odd-{name}": (table, (ODD,), FOLDER / "odd" / f"{name}.txt") for name, table in oddities.ODD_TABLES.items()
    }
    of_metastore = {
        name: (table, STREAM_WORLDS, FOLDER / "metastore" / f"{name}.txt") for name, table in OF_METASTORE.items()
    }
    return {**usual, **odd, **of_metastore}
