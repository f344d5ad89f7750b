"""How two frames differ: rows in one alone, rows of one key that differ, the columns at fault, counts and a sample.

Rows without a key go into buckets by a hash first, unless they are few, and the hashes of a bucket are summed: where count and sums of both frames are the same, its rows
are. So rows that are equal are not moved between tasks, and not sorted. The hash has 64 bits and begins with random bytes: a random number
is a part of the code that Spark generates, which would be compiled for each comparison.
"""

import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    MapType,
    NumericType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import print_text
from treaty.core.limits import COMPARE_ROWS
from treaty.metastore.compared_results import DIFFERS, ONLY_NEW, ONLY_OLD, ComparedRow, RowCounts
from treaty.plan.ddl import quote_name

OLDS, NEWS, OLD, NEW, FAULTS, ROW, REST, SIDE = "olds", "news", "old", "new", "faults", "row", "rest", "side"
PART = "part_{}"
EQUAL = "equal"
NOTHING = "_treaty_nothing"
NO_CELLS = f"struct(0 AS {NOTHING})"
KINDS = {ONLY_OLD: "only_old", ONLY_NEW: "only_new", DIFFERS: "differing"}
"""By kind of a row, the column that counts it."""
VALUE_CHARACTERS = 200
"""Characters of a value that are shown; the rest is cut off."""
BUCKETS = 4_096
"""Into so many parts rows without a key are put by their hashes; those of the parts that differ are compared one by one."""
BUCKET, HASH, LOW, HIGH = "bucket", "hash", "low", "high"
FIXED_WIDTH = (NumericType, BooleanType, DateType, TimestampType, TimestampNTZType)
"""Types whose values an aggregate can exchange within a row; a decimal is a number."""
DIGITS = re.compile(r'"\\u0000([^"]*)"')
"""A number with a point in JSON, which no float of Python is made of."""
JSON_OPTIONS = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""How cells are printed as JSON: with nulls, and with all digits of a timestamp, of which Spark prints milliseconds by itself."""


@dataclass(frozen=True, slots=True)
class FrameDifferences:
    """What `compare_frames` returns; the members are those of `ResultComparison`. `repeated` counts keys that a result has more than once."""

    counts: RowCounts
    faults: tuple[tuple[str, int], ...]
    lost: tuple[str, ...]
    added: tuple[str, ...]
    sample: tuple[ComparedRow, ...]
    repeated: int


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A column of both frames: its spelling in either, and whether its type is another one, so that its texts are compared."""

    old: str
    new: str
    is_retyped: bool = False


def compare_frames(old: DataFrame, new: DataFrame, key: Sequence[str], buckets: int = BUCKETS) -> FrameDifferences:
    """Return how the rows of two frames differ. Each frame is run once; once more without a key where they differ, and with one that is repeated.

    With a key (columns of both) rows of one key are compared column by column; without one equal rows are counted, by so many buckets first
    (0: at once). Columns of one frame alone are left out.
    """
    olds, news = ({lower_name(name): name for name in frame.columns} for frame in (old, new))
    columns = [
        ComparedColumn(name, news[lower], old.schema[name].dataType != new.schema[news[lower]].dataType)
        for lower, name in olds.items()
        if lower in news
    ]
    keys = {lower_name(name) for name in key}
    identity = [one for one in columns if not keys or lower_name(one.old) in keys]
    rest = [one for one in columns if one not in identity]
    lost = tuple(name for lower, name in olds.items() if lower not in news)
    added = tuple(name for lower, name in news.items() if lower not in olds)
    sides = (_select_side(old, identity, rest, is_new=False), _select_side(new, identity, rest, is_new=True))
    equal = 0
    if buckets and not keys and can_sum_rows(sides[0].schema[ROW].dataType):
        unequal, equal = leave_equal_buckets(sides, buckets)
        if unequal is None:
            return FrameDifferences(RowCounts(equal, equal, equal, 0, 0, 0), (), lost, added, (), 0)
        sides = unequal
    both = sides[0].union(sides[1])
    comparison = RowComparison(
        both, [column.new for column in identity], [column.new for column in rest], equal, has_key=bool(keys)
    )
    if comparison.can_keep_cells():
        differences = _count_and_sample(comparison, keeps_cells=True)
        if not differences.repeated:  # else cells of several rows with one key were brought together
            return replace(differences, lost=lost, added=added)
    return replace(_count_and_sample(comparison, keeps_cells=False), lost=lost, added=added)


KEPT_PLAN = "LogicalRDD"
"""What the plan of rows is called that are kept as they are, row by row: columns of a cache take as much work as decoding them again."""


def forget_rows(rows: DataFrame) -> None:
    """Let go of rows that were kept by a local checkpoint; others stay as they are."""
    plan = rows._jdf.queryExecution().logical()  # noqa: SLF001 (pyspark forgets such rows once nobody names them)
    if plan.getClass().getSimpleName() == KEPT_PLAN:
        plan.rdd().unpersist(False)


def _select_side(
    frame: DataFrame, identity: Sequence[ComparedColumn], rest: Sequence[ComparedColumn], *, is_new: bool
) -> DataFrame:
    """The key (or all columns) and the other columns of a frame as two structs, with the side that they are of."""

    def pick(columns: Sequence[ComparedColumn]) -> str:
        cells = (f"{_make_comparable(frame, column, is_new=is_new)} AS {quote_name(column.new)}" for column in columns)
        return f"struct({', '.join(cells)})"

    rest_cells = pick(rest) if rest else NO_CELLS
    return frame.selectExpr(f"{pick(identity)} AS {ROW}", f"{rest_cells} AS {REST}", f"{str(is_new).lower()} AS {SIDE}")


def _make_comparable(frame: DataFrame, column: ComparedColumn, *, is_new: bool) -> str:
    """A column as it can be grouped and compared: maps by their sorted entries, and of two types by their texts."""
    name = column.new if is_new else column.old
    cell, kind = quote_name(name), frame.schema[name].dataType
    if isinstance(kind, MapType):
        return _print_json(f"array_sort(map_entries({cell}))")
    if _has_map(kind) or (column.is_retyped and isinstance(kind, ArrayType | StructType)):
        return _print_json(cell)
    return f"CAST({cell} AS STRING)" if column.is_retyped else cell


def _print_json(cell: str) -> str:
    options = ", ".join(f"{print_text(name)}, {print_text(value)}" for name, value in JSON_OPTIONS.items())
    return f"to_json({cell}, map({options}))"


def _has_map(kind: DataType) -> bool:
    if isinstance(kind, ArrayType):
        return _has_map(kind.elementType)
    if isinstance(kind, StructType):
        return any(_has_map(one.dataType) for one in kind.fields)
    return isinstance(kind, MapType) or kind.typeName() == "variant"


def can_sum_rows(row: DataType) -> bool:
    """Whether rows with one hash are the same, if their nulls are hashed too: a hash passes over where a list within a list ends."""
    assert isinstance(row, StructType)
    return not any(isinstance(one.dataType, ArrayType | StructType | MapType) for one in row.fields)


def leave_equal_buckets(
    sides: tuple[DataFrame, DataFrame], buckets: int
) -> tuple[tuple[DataFrame, DataFrame] | None, int]:
    """Return the rows of two sides in buckets that are not the same in both, None where all are, and the number of rows of each in those that are."""
    row = sides[0].schema[ROW].dataType
    assert isinstance(row, StructType)
    cells = [f"{ROW}.{quote_name(name)}" for name in row.fieldNames()]
    parts = ", ".join(f"{cell} IS NULL, {cell}" for cell in cells)
    row_hash = f"xxhash64(X'{secrets.token_hex(8)}', {parts})"

    def hash_rows(side: DataFrame, olds: int, news: int) -> DataFrame:
        sign = olds - news
        return side.selectExpr(f"{row_hash} AS {HASH}").selectExpr(
            f"CAST(pmod({HASH}, {buckets}L) AS INT) AS {BUCKET}", f"{olds} AS {OLDS}", f"{news} AS {NEWS}",
            f"({HASH} & {2**32 - 1}L) * {sign} AS {LOW}", f"shiftrightunsigned({HASH}, 32) * {sign} AS {HIGH}",
        )  # fmt: skip

    # Both sides are summed at once, before anything is moved: a step more is planned and compiled for each comparison.
    both = hash_rows(sides[0], 1, 0).union(hash_rows(sides[1], 0, 1)).groupBy(BUCKET)
    summed = both.agg(*(F.expr(f"sum({name}) AS {name}") for name in (OLDS, NEWS, LOW, HIGH))).collect()
    unequal = [row[BUCKET] for row in summed if row[OLDS] != row[NEWS] or row[LOW] or row[HIGH]]
    flags = bytearray(buckets)
    for number in unequal:
        flags[number] = 1
    equal = sum(row[OLDS] for row in summed if not flags[row[BUCKET]])
    if not unequal:
        return None, equal
    place = f"CAST(pmod({row_hash}, {buckets}L) AS INT) + 1"
    is_unequal = f"substring(X'{flags.hex()}', {place}, 1) = X'01'"
    return (sides[0].where(is_unequal), sides[1].where(is_unequal)), equal


@dataclass(frozen=True, slots=True)
class RowComparison:
    """Rows of two frames, with the columns of their key (or all columns) and the others; so many `equal` rows of both were left out before."""

    both: DataFrame
    key_names: Sequence[str]
    names: Sequence[str]
    equal: int
    has_key: bool

    def can_keep_cells(self) -> bool:
        """Return whether Spark can collect the other columns of each key in a row of fixed width, so that it sorts no rows."""
        rest = self.both.schema[REST].dataType
        assert isinstance(rest, StructType)
        return bool(self.names) and all(isinstance(field.dataType, FIXED_WIDTH) for field in rest.fields)

    def group(self, *, keeps_cells: bool) -> DataFrame:
        """Return a row for each key, or each distinct row, with how often it is there and with the other columns of both frames.

        These are `OLD` and `NEW`. `keeps_cells`: they are collected cell by cell, each from a row in which it is not null.
        """
        # By columns of their own, by which queries that group have put their rows into partitions already: those are not moved again.
        parts = {PART.format(place): quote_name(name) for place, name in enumerate(self.key_names)}
        flat = [f"{ROW}.{name} AS {part}" for part, name in parts.items()]
        cells = [quote_name(name) for name in self.names] if keeps_cells else []
        endings = {f"{REST}.{name}": f"_{place}" for place, name in enumerate(cells)} if cells else {REST: ""}
        # A record among the aggregates lets Spark sort the rows; where the rows are their keys, numbers are enough.
        firsts = [
            f"first(IF({is_other}, NULL, {cell}), true) AS {side}{ending}"
            for side, is_other in ((OLD, SIDE), (NEW, f"NOT {SIDE}"))
            for cell, ending in endings.items()
        ]
        sums = (
            f"sum(IF({SIDE}, 0L, 1L)) AS {OLDS}",
            f"sum(IF({SIDE}, 1L, 0L)) AS {NEWS}",
            *(firsts if self.names else ()),
        )
        grouped = self.both.selectExpr(*flat, REST, SIDE).groupBy(*parts).agg(*map(F.expr, sums))
        row = f"struct({', '.join(f'{part} AS {name}' for part, name in parts.items())}) AS {ROW}"
        return grouped.selectExpr(OLDS, NEWS, row, *(self._print_side(side, cells) for side in (OLD, NEW)))

    def _print_side(self, side: str, cells: Sequence[str]) -> str:
        """Return the expression of the other columns of a frame: as they were collected, or of none."""
        if cells:
            return f"struct({', '.join(f'{side}_{place} AS {name}' for place, name in enumerate(cells))}) AS {side}"
        return side if self.names else f"{NO_CELLS} AS {side}"

    def mark(self, grouped: DataFrame) -> DataFrame:
        """Return grouped rows with counts by kind, and of those that are not equal the columns at fault and both sides as JSON."""
        in_both = f"({OLDS} > 0 AND {NEWS} > 0)"
        unequal = (
            f"IF({in_both} AND NOT {OLD}.{quote_name(name)} <=> {NEW}.{quote_name(name)}, {print_text(name)}, NULL)"
            for name in self.names
        )
        faults = f"array_compact(array({', '.join(unequal)}))" if self.names else "CAST(array() AS ARRAY<STRING>)"
        differs = f"(size({FAULTS}) > 0)"
        if self.has_key:
            counted = {
                EQUAL: f"IF({in_both} AND NOT {differs}, 1L, 0L)", "differing": f"IF({differs}, 1L, 0L)",
                "only_old": f"IF({NEWS} = 0, 1L, 0L)", "only_new": f"IF({OLDS} = 0, 1L, 0L)",
            }  # fmt: skip
        else:
            counted = {
                EQUAL: f"least({OLDS}, {NEWS})", "differing": "0L",
                "only_old": f"greatest({OLDS} - {NEWS}, 0L)", "only_new": f"greatest({NEWS} - {OLDS}, 0L)",
            }  # fmt: skip
        texts = (f"IF({differs} OR {OLDS} <> {NEWS}, {_print_json(name)}, NULL) AS {name}" for name in (ROW, OLD, NEW))
        marked = grouped.selectExpr("*", f"{faults} AS {FAULTS}")
        return marked.selectExpr(OLDS, NEWS, FAULTS, *(f"{cell} AS {name}" for name, cell in counted.items()), *texts)


def _count_and_sample(comparison: RowComparison, *, keeps_cells: bool) -> FrameDifferences:
    """Return how the rows differ, without the columns of one frame alone."""
    marked = comparison.mark(comparison.group(keeps_cells=keeps_cells))
    compared = marked.localCheckpoint(eager=False)  # kept by the first job as rows: columns of a cache take more work
    try:
        counts, faults, repeated = _count(compared, comparison.names, comparison.equal, has_key=comparison.has_key)
        if keeps_cells and repeated:
            return FrameDifferences(counts, faults, (), (), (), repeated)
        numbers = {ONLY_OLD: counts.only_old, ONLY_NEW: counts.only_new, DIFFERS: counts.differing}
        sample = _sample(compared, [kind for kind in (DIFFERS, ONLY_OLD, ONLY_NEW) if numbers[kind]])
    finally:
        forget_rows(compared)
    return FrameDifferences(counts, faults, (), (), sample, repeated)


def _count(
    compared: DataFrame, names: Sequence[str], equal: int, *, has_key: bool
) -> tuple[RowCounts, tuple[tuple[str, int], ...], int]:
    """The counts, the columns at fault, and the keys that are there more than once; so many `equal` rows of both were left out before."""
    parts = (OLDS, NEWS, EQUAL, "only_old", "only_new", "differing")
    sums = [f"sum({part})" for part in parts]
    sums.append(f"sum(IF({OLDS} > 1 OR {NEWS} > 1, 1L, 0L))")
    sums += (f"sum(IF(array_contains({FAULTS}, {print_text(name)}), 1L, 0L))" for name in names)
    row = compared.selectExpr(*sums).collect()[0]
    numbers = [int(one or 0) for one in row]
    at_fault = [(name, number) for name, number in zip(names, numbers[len(parts) + 1 :], strict=True) if number]
    at_fault.sort(key=lambda one: -one[1])
    olds, news, equals, *unequal = numbers[: len(parts)]
    counts = RowCounts(olds + equal, news + equal, equals + equal, *unequal)
    return counts, tuple(at_fault), numbers[len(parts)] if has_key else 0


def _sample(compared: DataFrame, kinds: Sequence[str]) -> tuple[ComparedRow, ...]:
    """Some rows of each kind, in the order of kinds. A job for each: the first rows of a union would be moved between tasks."""
    sample: list[ComparedRow] = []
    for kind in kinds:
        rows = compared.where(f"{KINDS[kind]} > 0").orderBy(ROW).limit(COMPARE_ROWS).collect()
        sample += (_read_row(kind, row) for row in sorted(rows, key=lambda row: row[ROW].encode()))
    return tuple(sample)


def _read_row(kind: str, row: Any) -> ComparedRow:
    name = _read_values(row[ROW])
    if kind == DIFFERS:
        old, new = dict(_read_values(row[OLD])), dict(_read_values(row[NEW]))
        return ComparedRow(kind, name, changes=tuple((one, old[one], new[one]) for one in row[FAULTS]))
    values = _read_values(row[OLD if kind == ONLY_OLD else NEW])
    return ComparedRow(kind, name, tuple(one for one in values if one[0] != NOTHING), times=int(row[KINDS[kind]]))


def _read_values(text: str) -> tuple[tuple[str, str], ...]:
    """The members of an object of JSON with their values as JSON again; numbers with a point keep their digits, long ones are cut off."""
    members = json.loads(text, parse_float=lambda digits: f"\0{digits}")
    texts = {name: DIGITS.sub(r"\1", json.dumps(value, ensure_ascii=False)) for name, value in members.items()}
    return tuple(
        (name, text if len(text) <= VALUE_CHARACTERS else f"{text[:VALUE_CHARACTERS]}…") for name, text in texts.items()
    )
