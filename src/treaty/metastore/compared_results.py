"""What EXPLAIN REPLACE COMPARE comes to: how the results of two queries over the same records differ, and its rows for people."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from treaty.core.messages.metastore.plans import PlannedSource
from treaty.core.sources import Source
from treaty.metastore.sql.values import ComparedRange

ONLY_OLD, ONLY_NEW, DIFFERS = "only in the old", "only in the new", "differs"
RowKind = str
"""`ONLY_OLD`, `ONLY_NEW` or `DIFFERS`."""
Row = tuple[str, str, str]
"""A row of an EXPLAIN: part, name and detail."""


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A row that is in one result alone, or differs. Values are JSON texts.

    `name` has the key of the row, or (without a key) all of its columns. Of a row in one result `values` are its other columns; of one
    that differs `changes` are the columns at fault with the old and the new value. `times` is how often a row without a key is there.
    """

    kind: RowKind
    name: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, str], ...] = ()
    changes: tuple[tuple[str, str, str], ...] = ()
    times: int = 1


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows of both results, and how many are equal, in one alone, or differ in other columns than the key."""

    old: int
    new: int
    equal: int
    only_old: int
    only_new: int
    differing: int


@dataclass(frozen=True, slots=True)
class ResultComparison:
    """How two results differ.

    `way` says how the queries were run, as batches or as streams, and why. `ranges` has the name of each source that was read, with what was read of it. `key` has the columns by which rows were found again, and is empty where whole
    rows were counted. `faults` are the columns in which rows differ, with the number of rows. `lost` and `added` are columns of one result alone; they were not compared.
    `records` has the name of a source with how many records were read and how many were bad, and `late` what streams left out of the old and the new result.
    """

    way: str
    ranges: tuple[tuple[str, str], ...]
    key: tuple[str, ...]
    counts: RowCounts
    faults: tuple[tuple[str, int], ...] = ()
    lost: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    sample: tuple[ComparedRow, ...] = ()
    notes: tuple[str, ...] = ()
    records: tuple[tuple[str, str], ...] = ()
    late: tuple[tuple[str, str], ...] = ()


class QueryComparer(Protocol):
    """Runs two queries over the same records, and compares their rows."""

    def compare(self, old: Source, new: PlannedSource, compared: ComparedRange) -> ResultComparison:
        """Return how the rows of a planned query differ from those of the query of a source; nothing is written.

        Raises `Invalid` for what can't be read over a range, for a query that fails, and past COMPARE_SECONDS.
        """
        ...


def list_comparison(comparison: ResultComparison) -> Iterator[Row]:
    """List the rows of a comparison: what was run, the counts, the columns at fault, and the sample."""
    yield "compared", "", comparison.way
    yield from (("range", name, what) for name, what in comparison.ranges)
    yield from (("records", name, text) for name, text in comparison.records)
    yield from (("late rows", name, text) for name, text in comparison.late)
    by = f"by {', '.join(comparison.key)}" if comparison.key else "whole rows, as there is no key to find them again by"
    yield "rows found", "", by
    counts = comparison.counts
    yield from (
        ("rows", "old", str(counts.old)),
        ("rows", "new", str(counts.new)),
        ("rows", "equal", str(counts.equal)),
        ("rows", ONLY_OLD, str(counts.only_old)),
        ("rows", ONLY_NEW, str(counts.only_new)),
        ("rows", DIFFERS, str(counts.differing)),
    )
    yield from (("column differs", name, f"in {_count(number)}") for name, number in comparison.faults)
    yield from (("column", name, "only in the old, and not compared") for name in comparison.lost)
    yield from (("column", name, "only in the new, and not compared") for name in comparison.added)
    yield from map(_describe_row, comparison.sample)


def _describe_row(row: ComparedRow) -> Row:
    changes = "; ".join(f"{name}: {old} → {new}" for name, old, new in row.changes)
    times = f"{row.times} times" if row.times > 1 else ""
    return row.kind, _join(row.name), ", ".join(filter(None, (_join(row.values), changes, times)))


def _join(values: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {text}" for name, text in values)


def _count(number: int) -> str:
    return f"{number:,} row{'s' * (number != 1)}"
