"""Statements of SQL that make and alter a table, as texts: they need pyspark's types and no running Spark."""

from collections.abc import Iterator, Sequence

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from treaty.plan.ddl import quote_name
from treaty.spark.lake.changes import ColumnChange, read_comment
from treaty.spark.lake.table import LakeTable

COLUMN_MAPPING, TYPE_WIDENING = "delta.columnMapping.mode", "delta.enableTypeWidening"
"""Properties of a Delta table."""
MAPPING = f"'{COLUMN_MAPPING}' = 'name'"
WIDENING = f"'{TYPE_WIDENING}' = 'true'"
MAPPED_CHARACTERS = frozenset(" ,;{}()\n\t=")
"""Characters that Delta takes in a column's name only where the names of files' columns are its own."""


def print_text(text: str) -> str:
    """A text between quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def print_type(kind: DataType) -> str:
    """A type, with the comments of what is in it; everything may be null."""
    match kind:
        case StructType():
            return f"STRUCT<{', '.join(_field(one, ': ') for one in kind.fields)}>"
        case ArrayType():
            return f"ARRAY<{print_type(kind.elementType)}>"
        case MapType():
            return f"MAP<{print_type(kind.keyType)}, {print_type(kind.valueType)}>"
    return kind.simpleString().upper()


def _field(field: StructField, between: str = " ") -> str:
    comment = f" COMMENT {print_text(read_comment(field))}" if read_comment(field) else ""
    return f"{quote_name(field.name)}{between}{print_type(field.dataType)}{comment}"


def print_create(name: str, table: LakeTable, columns: StructType, comment: str = "") -> str:
    """The statement that makes a table that is not there yet."""
    lines = [f"CREATE TABLE IF NOT EXISTS {name} (", ",\n".join(f"  {_field(one)}" for one in columns.fields), ")"]
    lines.append(f"USING {table.format}")
    if table.partitions:
        lines.append(f"PARTITIONED BY ({', '.join(map(quote_name, table.partitions))})")
    if comment:
        lines.append(f"COMMENT {print_text(comment)}")
    if table.format == "parquet":
        lines.append(f"LOCATION {print_text(f'{table.folder}/rows')}")
    if table.format == "delta":
        properties = [WIDENING, *([MAPPING] if needs_column_mapping(columns) else [])]
        lines.append(f"TBLPROPERTIES ({', '.join(properties)})")
    return "\n".join(lines)


def print_alter(name: str, table: LakeTable, changes: Sequence[ColumnChange]) -> Iterator[str]:
    """The statements that make a table take what it lacks: additions, wider types, comments."""
    kinds = {change.kind for change in changes}
    properties = [WIDENING] if "widen" in kinds else []
    if any(
        change.field is not None and needs_column_mapping(StructType([change.field]))
        for change in changes
        if change.kind == "add"
    ):
        properties.append(MAPPING)
    if properties and table.format == "delta":
        yield f"ALTER TABLE {name} SET TBLPROPERTIES ({', '.join(properties)})"
    added = [f"{change.column} {_print_rest(change)}" for change in changes if change.kind == "add"]
    if added:
        yield f"ALTER TABLE {name} ADD COLUMNS ({', '.join(added)})"
    # A statement is one commit, and refuses a column together with one inside it: so there is one per depth.
    for depth in range(1, max((len(change.path) for change in changes), default=0) + 1):
        for kind, word in (("widen", "TYPE"), ("comment", "COMMENT")):
            parts = [
                f"{change.column} {word} {_print_new(change)}"
                for change in changes
                if change.kind == kind and len(change.path) == depth
            ]
            if parts:
                yield f"ALTER TABLE {name} ALTER COLUMN {', '.join(parts)}"


def _print_new(change: ColumnChange) -> str:
    return (
        print_text(change.new)
        if change.kind == "comment" or change.field is None
        else print_type(change.field.dataType)
    )


def _print_rest(change: ColumnChange) -> str:
    assert change.field is not None, "what is added has a type"
    return _field(change.field).removeprefix(f"{quote_name(change.field.name)} ")


def needs_column_mapping(kind: DataType) -> bool:
    """Whether a name in it has characters that Delta does not take as they are."""
    match kind:
        case StructType():
            return any(MAPPED_CHARACTERS & set(one.name) or needs_column_mapping(one.dataType) for one in kind.fields)
        case ArrayType():
            return needs_column_mapping(kind.elementType)
        case MapType():
            return needs_column_mapping(kind.valueType)
    return False
