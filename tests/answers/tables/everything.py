"""The tables of all operations, by the names of their operations."""

from collections.abc import Mapping

from tests.answers.asks import Table
from tests.answers.tables import groups, labels, reading, registration, settings
from treaty.core.operations import OPERATIONS

TABLES: Mapping[str, Table] = {
    OPERATIONS[type(table.default)].name: table
    for table in (*reading.TABLES, *registration.TABLES, *groups.TABLES, *labels.TABLES, *settings.TABLES)
}
"""By name of the operation."""
