"""Counts of a batch by schema id and error code, made by Spark within the write itself: one key a row, one aggregate.

A row's key is its id times 16 plus a digit for its error. Ids that no plan knows count as -1, because there may be any
number of them. The aggregate is exact below `KEYS` different keys, more than the `DECODE_WRITERS` ids of a plan can
make.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, Row
from pyspark.sql import functions as F

from treaty.plan.rows import CODES

KEY, ROW_ID = "_key", "_row_id"
KEYS, TRACKED = 8_000, 20_000
DELETE, NO_SCHEMA_ID = "DELETE", -1
"""What a delete marker counts as, and the id of rows whose id is unknown or none."""
_GOOD, _DELETE, _OTHER, _BASE = 0, 14, 15, 16
_DIGITS: Mapping[str, int] = {code: place for place, code in enumerate(CODES, 1)}
_WORDS: Mapping[int, str] = {_GOOD: "", _DELETE: DELETE, _OTHER: "OTHER", **{at: code for code, at in _DIGITS.items()}}
NAMELESS = ("TOO_SHORT", "BAD_MAGIC", "UNKNOWN_ID")
"""Errors of rows without an id that a plan knows."""

Counts = dict[tuple[int, str], int]
"""Rows by schema id and error code; the code is "" for good rows."""


def make_count_key(column: str, record: str, error: str) -> Column:
    """The key of a row, a BIGINT."""
    code = F.col(error)["code"]
    digits = [F.lit(part) for pair in _DIGITS.items() for part in pair]
    digit = F.coalesce(F.try_element_at(F.create_map(*digits), code), F.lit(_OTHER))
    number = F.coalesce(F.col(ROW_ID), F.lit(NO_SCHEMA_ID)).cast("bigint")
    return (
        F.when(F.col(record).isNotNull(), number * _BASE)
        .when(code.isNull(), F.lit(NO_SCHEMA_ID * _BASE + _DELETE))
        .otherwise(F.when(code.isin(*NAMELESS), F.lit(NO_SCHEMA_ID)).otherwise(number) * _BASE + digit)
    )


def make_aggregates() -> tuple[Column, ...]:
    """The aggregates that `counted` reads."""
    keys = F.expr(f"approx_top_k({KEY}, {KEYS}, {TRACKED})").alias("keys")
    return F.count(F.lit(1)).alias("rows"), keys


def read_counts(aggregates: Mapping[str, object]) -> Counts:
    """The counts that the aggregates made."""
    pairs = aggregates["keys"] or ()
    assert isinstance(pairs, Iterable)
    counts: Counts = {}
    for counted in pairs:
        assert isinstance(counted, Row)
        number, digit = divmod(counted["item"], _BASE)
        counts[number, _WORDS[digit]] = counted["count"]
    assert sum(counts.values()) == aggregates["rows"], "fewer keys than KEYS are counted exactly"
    return counts


def add_counts(*several: Mapping[tuple[int, str], int]) -> Counts:
    """The sum of counts."""
    total: Counts = {}
    for counts in several:
        for key, rows in counts.items():
            total[key] = total.get(key, 0) + rows
    return {key: rows for key, rows in sorted(total.items()) if rows}


@dataclass(frozen=True, slots=True)
class RowTotals:
    """What counts say in five numbers."""

    rows: int
    good: int
    bad: int
    deletes: int
    unknown: int

    def pairs(self) -> tuple[tuple[str, int], ...]:
        """The counts as members of an event."""
        pairs = (("bad", self.bad), ("deletes", self.deletes), ("good", self.good), ("rows", self.rows))
        return (*pairs, ("unknown", self.unknown))


def sum_counts(counts: Mapping[tuple[int, str], int]) -> RowTotals:
    """The five numbers of counts."""
    rows = sum(counts.values())
    good = sum(number for (_, code), number in counts.items() if not code)
    deletes = sum(number for (_, code), number in counts.items() if code == DELETE)
    unknown = sum(number for (_, code), number in counts.items() if code == "UNKNOWN_ID")
    return RowTotals(rows, good, rows - good - deletes, deletes, unknown)
