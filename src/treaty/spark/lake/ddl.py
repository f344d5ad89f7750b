"""Statements of SQL that make and alter a table, as texts: they need pyspark's types and no running Spark."""

from collections.abc import Iterator, Sequence

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from treaty.plan.ddl import quote_name
from treaty.spark.lake.changes import Change, comment_of
from treaty.spark.lake.table import Table

COLUMN_MAPPING, TYPE_WIDENING = "delta.columnMapping.mode", "delta.enableTypeWidening"
"""Properties of a Delta table."""
MAPPING = f"'{COLUMN_MAPPING}' = 'name'"
WIDENING = f"'{TYPE_WIDENING}' = 'true'"
UNPLAIN = frozenset(" ,;{}()\n\t=")
"""Characters that Delta takes in a column's name only where the names of files' columns are its own."""


def literal(text: str) -> str:
    """A text between quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def type_sql(kind: DataType) -> str:
    """A type, with the comments of what is in it; everything may be null."""
    match kind:
        case StructType():
            return f"STRUCT<{', '.join(_field(one, ': ') for one in kind.fields)}>"
        case ArrayType():
            return f"ARRAY<{type_sql(kind.elementType)}>"
        case MapType():
            return f"MAP<{type_sql(kind.keyType)}, {type_sql(kind.valueType)}>"
    return kind.simpleString().upper()


def _field(one: StructField, between: str = " ") -> str:
    said = f" COMMENT {literal(comment_of(one))}" if comment_of(one) else ""
    return f"{quote_name(one.name)}{between}{type_sql(one.dataType)}{said}"


def create_sql(name: str, table: Table, columns: StructType, comment: str = "") -> str:
    """The statement that makes a table that is not there yet."""
    lines = [f"CREATE TABLE IF NOT EXISTS {name} (", ",\n".join(f"  {_field(one)}" for one in columns.fields), ")"]
    lines.append(f"USING {table.format}")
    if table.partitions:
        lines.append(f"PARTITIONED BY ({', '.join(map(quote_name, table.partitions))})")
    if comment:
        lines.append(f"COMMENT {literal(comment)}")
    if table.format == "parquet":
        lines.append(f"LOCATION {literal(f'{table.folder}/rows')}")
    if table.format == "delta":
        told = [WIDENING, *([MAPPING] if unplain(columns) else [])]
        lines.append(f"TBLPROPERTIES ({', '.join(told)})")
    return "\n".join(lines)


def alter_sql(name: str, table: Table, found: Sequence[Change]) -> Iterator[str]:
    """The statements that make a table take what it lacks: additions, wider types, comments."""
    kinds = {one.kind for one in found}
    told = [WIDENING] if "widen" in kinds else []
    if any(one.field is not None and unplain(StructType([one.field])) for one in found if one.kind == "add"):
        told.append(MAPPING)
    if told and table.format == "delta":
        yield f"ALTER TABLE {name} SET TBLPROPERTIES ({', '.join(told)})"
    added = [f"{one.column} {_rest(one)}" for one in found if one.kind == "add"]
    if added:
        yield f"ALTER TABLE {name} ADD COLUMNS ({', '.join(added)})"
    # A statement is one commit, and refuses a column together with one inside it: so there is one per depth.
    for depth in range(1, max((len(one.path) for one in found), default=0) + 1):
        for kind, word in (("widen", "TYPE"), ("comment", "COMMENT")):
            parts = [f"{one.column} {word} {_new(one)}" for one in found if one.kind == kind and len(one.path) == depth]
            if parts:
                yield f"ALTER TABLE {name} ALTER COLUMN {', '.join(parts)}"


def _new(one: Change) -> str:
    return literal(one.new) if one.kind == "comment" or one.field is None else type_sql(one.field.dataType)


def _rest(one: Change) -> str:
    assert one.field is not None, "what is added has a type"
    return _field(one.field).removeprefix(f"{quote_name(one.field.name)} ")


def unplain(kind: DataType) -> bool:
    """Whether a name in it has characters that Delta does not take as they are."""
    match kind:
        case StructType():
            return any(UNPLAIN & set(one.name) or unplain(one.dataType) for one in kind.fields)
        case ArrayType():
            return unplain(kind.elementType)
        case MapType():
            return unplain(kind.valueType)
    return False
