"""The changes that a table needs to hold other rows: added columns, wider types, comments, and impossible changes."""

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

from treaty.plan.ddl import quote_name

ORDER: tuple[tuple[type[DataType], ...], ...] = ((ShortType, IntegerType, LongType), (FloatType, DoubleType))
"""Types that every format of tables widens, in steps from left to right."""


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """One thing that differs at `path`: ``add``, ``widen``, ``narrow`` (the rows' type is the smaller one), ``clash``,
    ``twin`` (two names that differ in case alone), ``comment`` (`old` and `new` are texts) or ``extra`` (only the table
    has it).
    """

    kind: str
    path: tuple[str, ...]
    old: str
    new: str
    field: StructField | None = None
    """The column as it shall be, where it is added or widened."""

    @property
    def column(self) -> str:
        """The path as a column of SQL."""
        return ".".join(map(quote_name, self.path))

    def __str__(self) -> str:
        name = ".".join(self.path)
        match self.kind:
            case "add":
                return f"{name} {self.new} is new"
            case "widen":
                return f"{name} grows from {self.old} to {self.new}"
            case "twin":
                return f"{self.old} and {self.new} differ in nothing but upper and lower case"
            case "comment":
                return f"the comment of {name} is {self.old!r}, and {self.new!r} in the rows"
            case "extra":
                return f"{name} {self.old} is in the table alone"
        return f"{name} is {self.old} in the table and {self.new} in the rows"


class EvolutionError(ValueError):
    """A table cannot hold the rows; the message has the conflicting changes and a remedy."""

    def __init__(self, place: str, changes: tuple[ColumnChange, ...], remedy: str) -> None:
        """Keep the changes; the message names each."""
        super().__init__(f"{place} cannot hold these rows: {'; '.join(map(str, changes))}. {remedy}")
        self.changes = changes


def list_changes(table: StructType, rows: StructType) -> tuple[ColumnChange, ...]:
    """What is different in `rows`; comments that rows do not have, and columns that only the table has, are left out."""
    return tuple(one for one in list_differences(table, rows) if one.kind != "extra")


def list_differences(table: StructType, rows: StructType) -> tuple[ColumnChange, ...]:
    """All that is different, columns that only the table has too."""
    return tuple(_struct(table, rows, ()))


def _struct(table: StructType, rows: StructType, way: tuple[str, ...]) -> Iterator[ColumnChange]:
    table_fields = {one.name.lower(): one for one in table.fields}
    spellings: dict[str, str] = {}
    for row_field in rows.fields:
        path, low = (*way, row_field.name), row_field.name.lower()
        if low in spellings:
            yield ColumnChange("twin", path, spellings[low], row_field.name)
            continue
        spellings[low] = row_field.name
        table_field = table_fields.get(low)
        if table_field is None:
            yield ColumnChange("add", path, "", row_field.dataType.simpleString(), row_field)
            continue
        path = (*way, table_field.name)
        yield from _type(table_field.dataType, row_field.dataType, path, row_field)
        if read_comment(row_field) not in {"", read_comment(table_field)}:
            yield ColumnChange("comment", path, read_comment(table_field), read_comment(row_field))
    for low, table_field in table_fields.items():
        if low not in spellings:
            yield ColumnChange("extra", (*way, table_field.name), table_field.dataType.simpleString(), "")


def _type(table: DataType, rows: DataType, path: tuple[str, ...], field: StructField) -> Iterator[ColumnChange]:
    match table, rows:
        case StructType(), StructType():
            yield from _struct(table, rows, path)
        case ArrayType(), ArrayType():
            yield from _type(
                table.elementType, rows.elementType, (*path, "element"), _with_type(field, rows.elementType)
            )
        case MapType(), MapType():
            yield from _type(table.keyType, rows.keyType, (*path, "key"), _with_type(field, rows.keyType))
            yield from _type(table.valueType, rows.valueType, (*path, "value"), _with_type(field, rows.valueType))
        case _:
            kind = _leaf(table, rows)
            if kind:
                yield ColumnChange(kind, path, table.simpleString(), rows.simpleString(), _with_type(field, rows))


def _with_type(field: StructField, kind: DataType) -> StructField:
    return StructField(field.name, kind)


def read_comment(field: StructField) -> str:
    """What a column's comment is; nothing where it has none."""
    return str(field.metadata.get("comment") or "") if field.metadata else ""


def _leaf(table: DataType, rows: DataType) -> str:
    if table == rows or isinstance(rows, NullType):
        return ""
    if isinstance(table, DecimalType) and isinstance(rows, DecimalType) and table.scale == rows.scale:
        return "widen" if table.precision < rows.precision else "narrow"
    for steps in ORDER:
        if type(table) in steps and type(rows) in steps:
            return "widen" if steps.index(type(table)) < steps.index(type(rows)) else "narrow"
    return "clash"


def merge_columns(table: StructType, rows: StructType) -> StructType:
    """The columns of both, those of the table first, in their wider types and with the rows' comments. Only for what
    has no clash.
    """
    table_names = {one.name.lower() for one in table.fields}
    theirs = {one.name.lower(): one for one in rows.fields}
    merged = [_field(one, theirs.get(one.name.lower())) for one in table.fields]
    return StructType([*merged, *(one for one in rows.fields if one.name.lower() not in table_names)])


def _field(table_field: StructField, other: StructField | None) -> StructField:
    if other is None:
        return table_field
    metadata = {"comment": read_comment(other)} if read_comment(other) else {}
    return StructField(
        table_field.name,
        _widen(table_field.dataType, other.dataType),
        True,
        {**(table_field.metadata or {}), **metadata},
    )


def _widen(table: DataType, rows: DataType) -> DataType:
    match table, rows:
        case StructType(), StructType():
            return merge_columns(table, rows)
        case ArrayType(), ArrayType():
            return ArrayType(_widen(table.elementType, rows.elementType))
        case MapType(), MapType():
            return MapType(_widen(table.keyType, rows.keyType), _widen(table.valueType, rows.valueType))
    return rows if _leaf(table, rows) == "widen" else table
