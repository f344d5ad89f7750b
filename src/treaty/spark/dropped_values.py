"""Counts, by schema id, the values that a candidate schema cannot represent: enum symbols, nulls, union types."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.core.limits import HISTORY_TROUBLES
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroMap,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    is_null,
)
from treaty.formats.avro.resolution import AvroResolution, pair_fields
from treaty.plan.avro.bounds import find_bounded

Test = Callable[[Column], Column]
"""Return whether a record contains the value; null is no."""


@dataclass(frozen=True, slots=True)
class ValueUse:
    """The number of rows of a schema id with a value."""

    schema_id: int
    version: int
    rows: int


@dataclass(frozen=True, slots=True)
class DroppedValue:
    """A value of a field that the candidate cannot represent, and the schema ids that write it; `sample` is a frame
    with it, in hex.

    `value` is ``symbol C``, ``null``, or a type that a union may hold (``string``). `field` is a path; ``[]`` is an
    item, ``{}`` a value of a map.
    """

    field: str
    value: str
    rows: int
    uses: tuple[ValueUse, ...]
    sample: str


@dataclass(frozen=True, slots=True)
class DroppedPlace:
    """A value that is missing, and the test for it."""

    field: str
    value: str
    holds: Test


def find_dropped(written: AvroSchema, candidate: AvroSchema, depth: int) -> tuple[DroppedPlace, ...]:
    """The values that the schema of all versions has and the candidate has not; the first `HISTORY_TROUBLES`."""
    old, new = find_bounded(written, depth), find_bounded(candidate, depth)
    return tuple(
        islice(
            _SchemaPair(old, new, AvroResolution(old, new)).list_dropped(old.root, new.root, "", _identity, _true),
            HISTORY_TROUBLES,
        )
    )


def count_dropped(
    rows_found: DataFrame,
    places: tuple[DroppedPlace, ...],
    *,
    record: str,
    ids: str,
    frames: str,
    versions: Mapping[int, int],
) -> tuple[DroppedValue, ...]:
    """Count these values in rows that the candidate does not take, decoded with the schema of all versions; those that
    no row holds are left out.
    """
    if not places:
        return ()
    tests = [F.coalesce(one.holds(F.col(record)), F.lit(False)) for one in places]
    counts = [F.count_if(test).alias(f"rows{at}") for at, test in enumerate(tests)]
    samples = [F.max(F.when(test, F.col(frames))).alias(f"sample{at}") for at, test in enumerate(tests)]
    rows = rows_found.filter(F.col(record).isNotNull()).groupBy(ids).agg(*counts, *samples).collect()
    dropped = []
    for at, place in enumerate(places):
        place_rows = sorted((row for row in rows if row[f"rows{at}"]), key=lambda row: row[ids])
        if place_rows:
            uses = tuple(ValueUse(row[ids], versions.get(row[ids], 0), row[f"rows{at}"]) for row in place_rows)
            sample = bytes(place_rows[-1][f"sample{at}"]).hex()
            dropped.append(DroppedValue(place.field, place.value, sum(use.rows for use in uses), uses, sample))
    return tuple(dropped)


@dataclass(frozen=True, slots=True)
class _SchemaPair:
    """Walks two schemas together; `column` leads from a record to the value at a path, `around` says whether what it
    lies in is there.
    """

    old: AvroSchema
    new: AvroSchema
    resolution: AvroResolution

    def list_dropped(
        self, old: AvroType, new: AvroType, path: str, column: Test, around: Test
    ) -> Iterator[DroppedPlace]:
        """What is missing at a path and below it."""
        before, after = self.old.resolve(old), self.new.resolve(new)
        if isinstance(before, AvroUnion):
            yield from self.union(before, new, path, column, around)
        elif isinstance(after, AvroUnion):
            place = self.resolution.find_branch(old, after)
            if place is not None:
                yield from self.list_dropped(old, after.branches[place], path, column, around)
        elif isinstance(before, AvroRecord) and isinstance(after, AvroRecord):
            for name, target in pair_fields(before, after).items():
                field = next(each for each in before.fields if each.name == name)
                inside = f"{path}.{name}" if path else name
                yield from self.list_dropped(field.type, target.type, inside, _field(column, name), _is_there(column))
        elif isinstance(before, AvroArray) and isinstance(after, AvroArray):
            for item in self.list_dropped(before.items, after.items, f"{path}[]", _identity, _true):
                yield DroppedPlace(item.field, item.value, _any_item(column, item.holds))
        elif isinstance(before, AvroMap) and isinstance(after, AvroMap):
            for item in self.list_dropped(before.values, after.values, f"{path}{{}}", _identity, _true):
                yield DroppedPlace(item.field, item.value, _any_value(column, item.holds))
        elif isinstance(before, AvroEnum) and isinstance(after, AvroEnum) and after.default is None:
            for symbol in before.symbols:
                if symbol not in after.symbols:
                    yield DroppedPlace(path, f"symbol {symbol}", _equals(column, symbol))

    def union(self, old: AvroUnion, new: AvroType, path: str, column: Test, around: Test) -> Iterator[DroppedPlace]:
        """What is missing of a union: null, other types, and what these hold."""
        target = self.new.resolve(new)
        union = target if isinstance(target, AvroUnion) else AvroUnion((new,))
        both = zip(old.branches, self.resolution.find_places(old, union), strict=True)
        rest = [(part, place) for part, place in both if not is_null(part)]
        if len(rest) < len(old.branches) and not any(is_null(part) for part in union.branches):
            yield DroppedPlace(path, "null", _is_null(column, around))
        for number, (part, place) in enumerate(rest):
            member = column if len(rest) == 1 else _field(column, f"member{number}")
            if place is None:
                yield DroppedPlace(path, _name(self.old, part), _is_there(member))
            else:
                yield from self.list_dropped(part, union.branches[place], path, member, around)


def _name(schema: AvroSchema, node: AvroType) -> str:
    resolved = schema.resolve(node)
    return node.full if isinstance(node, AvroReference) else getattr(resolved, "full", resolved.kind)


def _identity(column: Column) -> Column:
    return column


def _true(column: Column) -> Column:
    del column
    return F.lit(True)


def _field(column: Test, name: str) -> Test:
    return lambda record: column(record)[name]


def _equals(column: Test, symbol: str) -> Test:
    return lambda record: column(record) == symbol


def _is_there(column: Test) -> Test:
    return lambda record: column(record).isNotNull()


def _is_null(column: Test, around: Test) -> Test:
    return lambda record: around(record) & column(record).isNull()


def _any_item(column: Test, holds: Test) -> Test:
    return lambda record: F.exists(column(record), lambda item: F.coalesce(holds(item), F.lit(False)))


def _any_value(column: Test, holds: Test) -> Test:
    return lambda record: F.exists(F.map_values(column(record)), lambda item: F.coalesce(holds(item), F.lit(False)))
