"""Decoded tables as pandas and Polars tables."""

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def to_pandas(table: pa.Table) -> "pd.DataFrame":
    """The table as a frame of pandas whose columns are Arrow's, so that whole numbers with nulls stay whole numbers.

    Raises `ImportError` without pandas (the extra ``pandas``).
    """
    import pandas as pd  # noqa: PLC0415 - an extra of its own

    made: Any = table.to_pandas(types_mapper=pd.ArrowDtype)
    return made


def to_polars(table: pa.Table) -> "pl.DataFrame":
    """The table as a frame of Polars; maps become lists of keys and values. Raises `ImportError` without Polars (the
    extra ``polars``).
    """
    import polars as pl  # noqa: PLC0415 - an extra of its own

    made = pl.from_arrow(table)
    assert isinstance(made, pl.DataFrame)
    return made
