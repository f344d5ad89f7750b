"""What must happen to a table before it can hold other rows: columns added, types widened, and what can't be done."""

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StructField,
    StructType,
)

ORDER: tuple[tuple[type[DataType], ...], ...] = ((ShortType, IntegerType, LongType), (FloatType, DoubleType))
"""Types that every format of tables widens, in steps from left to right."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs: ``add``, ``widen``, ``narrow`` (the rows' type is the smaller one) or ``clash``."""

    kind: str
    path: str
    old: str
    new: str

    def __str__(self) -> str:
        match self.kind:
            case "add":
                return f"{self.path} {self.new} is new"
            case "widen":
                return f"{self.path} grows from {self.old} to {self.new}"
        return f"{self.path} is {self.old} in the table and {self.new} in the rows"


class EvolutionError(ValueError):
    """A table can't take rows: what stands against it, and what would help. `changes` are all that are in the way."""

    def __init__(self, place: str, changes: tuple[Change, ...], remedy: str) -> None:
        """Keep the changes; the message names each."""
        super().__init__(f"{place} can't take these rows: {'; '.join(map(str, changes))}. {remedy}")
        self.changes = changes


def changes(table: StructType, rows: StructType) -> tuple[Change, ...]:
    """What is different in `rows`, columns that only the table has left out."""
    return tuple(_struct(table, rows, ""))


def _struct(table: StructType, rows: StructType, way: str) -> Iterator[Change]:
    known = {one.name.lower(): one for one in table.fields}
    for one in rows.fields:
        path = f"{way}{one.name}"
        mine = known.get(one.name.lower())
        if mine is None:
            yield Change("add", path, "", one.dataType.simpleString())
        else:
            yield from _type(mine.dataType, one.dataType, path)


def _type(table: DataType, rows: DataType, path: str) -> Iterator[Change]:
    match table, rows:
        case StructType(), StructType():
            yield from _struct(table, rows, f"{path}.")
        case ArrayType(), ArrayType():
            yield from _type(table.elementType, rows.elementType, f"{path}.element")
        case MapType(), MapType():
            yield from _type(table.keyType, rows.keyType, f"{path}.key")
            yield from _type(table.valueType, rows.valueType, f"{path}.value")
        case _:
            kind = _leaf(table, rows)
            if kind:
                yield Change(kind, path, table.simpleString(), rows.simpleString())


def _leaf(table: DataType, rows: DataType) -> str:
    if table == rows or isinstance(rows, NullType):
        return ""
    if isinstance(table, DecimalType) and isinstance(rows, DecimalType) and table.scale == rows.scale:
        return "widen" if table.precision < rows.precision else "narrow"
    for steps in ORDER:
        if type(table) in steps and type(rows) in steps:
            return "widen" if steps.index(type(table)) < steps.index(type(rows)) else "narrow"
    return "clash"


def merged(table: StructType, rows: StructType) -> StructType:
    """The columns of both, those of the table first, in their wider types. Only for what has no clash."""
    mine = {one.name.lower() for one in table.fields}
    theirs = {one.name.lower(): one for one in rows.fields}
    kept = [_field(one, theirs.get(one.name.lower())) for one in table.fields]
    return StructType([*kept, *(one for one in rows.fields if one.name.lower() not in mine)])


def _field(one: StructField, other: StructField | None) -> StructField:
    if other is None:
        return one
    return StructField(one.name, _wider(one.dataType, other.dataType), True, one.metadata or other.metadata)


def _wider(table: DataType, rows: DataType) -> DataType:
    match table, rows:
        case StructType(), StructType():
            return merged(table, rows)
        case ArrayType(), ArrayType():
            return ArrayType(_wider(table.elementType, rows.elementType))
        case MapType(), MapType():
            return MapType(_wider(table.keyType, rows.keyType), _wider(table.valueType, rows.valueType))
    return rows if _leaf(table, rows) == "widen" else table
