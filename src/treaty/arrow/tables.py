"""Decoded tables become pandas and Polars tables, and rows become a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def table_of_rows(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> pa.Table:
    """Return rows of texts, whole numbers, booleans and nulls as a table; a column without a value is one of texts."""
    cells = [[row[place] for row in rows] for place in range(len(columns))]
    arrays = [
        pa.array(column) if any(one is not None for one in column) else pa.array(column, pa.string())
        for column in cells
    ]
    return pa.table(arrays, names=list(columns))


def to_pandas(table: pa.Table) -> "pd.DataFrame":
    """The table as a frame of pandas whose columns are Arrow's, so that whole numbers with nulls stay whole numbers.

    Raises `ImportError` without pandas (the extra ``pandas``).
    """
    import pandas as pd  # noqa: PLC0415 - an extra of its own

    frame: Any = table.to_pandas(types_mapper=pd.ArrowDtype)
    return frame


def to_polars(table: pa.Table) -> "pl.DataFrame":
    """The table as a frame of Polars; maps become lists of keys and values. Raises `ImportError` without Polars (the
    extra ``polars``).
    """
    import polars as pl  # noqa: PLC0415 - an extra of its own

    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame
