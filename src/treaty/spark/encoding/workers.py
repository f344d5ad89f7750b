"""Functions over Arrow's arrays as Spark columns."""

from collections.abc import Callable
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.pandas import functions


def in_arrow(work: Callable[[pa.Array], pa.Array], kind: str) -> Callable[[Column], Column]:
    """A function that Python workers run once for each row, and that no filter is moved below."""
    made: Any = functions
    udf = made.arrow_udf(work, kind).asNondeterministic()
    return cast("Callable[[Column], Column]", udf)
