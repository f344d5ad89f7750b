"""Rows on which a query fails, or that its topic does not take, separated from the others: by halves, until each half passes or is one row."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.plan.rows import ROW_ID
from treaty.spark.runner.service.failures import is_of_rows, shorten_reason

TRIALS = 200
"""Runs of a body in which the rows that it fails on are looked for. Rows that are not separated by then fail together, and are tried again
by the next replay, which has fewer of them.
"""


@dataclass(frozen=True, slots=True)
class RowGroup:
    """The rows whose names have a hash that ends with these bits, and why they fail together."""

    bits: int = 0
    rest: int = 0
    reason: str = ""

    @property
    def condition(self) -> str:
        """The condition that chooses them, as SQL has it."""
        return f"(xxhash64({ROW_ID}) & {(1 << self.bits) - 1}L) = {self.rest}L"

    @property
    def rows(self) -> Column:
        """The condition as a column."""
        return F.expr(self.condition)

    def split(self) -> Iterator["RowGroup"]:
        """Return the two halves."""
        for bit in (0, 1):
            yield RowGroup(self.bits + 1, self.rest | bit << self.bits)


def find_failed_rows(rows: DataFrame, run: Callable[[Column], None]) -> Sequence[RowGroup]:
    """Return the rows on which `run` fails, with the reasons; it is given conditions that choose from `rows`.

    A query without state has no result of a row that depends on the other rows of a batch, so each half may be tried by itself. What is no
    fault of a row, such as a table that is not there, fails all rows at once.
    """
    waiting = deque([RowGroup()])
    failed: list[RowGroup] = []
    trials = 0
    while waiting:
        group = waiting.popleft()
        try:
            trials += 1
            run(group.rows)
        except (PySparkException, Py4JError) as error:
            text = str(error)
            is_last = trials + len(waiting) >= TRIALS or not is_of_rows(text)
            if is_last or rows.where(group.rows).limit(2).count() < 2:
                failed.append(RowGroup(group.bits, group.rest, shorten_reason(text)))
            else:
                waiting += group.split()
    return failed
