"""The Spark type of an Avro type, as DDL: the same mapping that Spark's own `from_avro` has."""

from collections.abc import Mapping

from treaty.formats.avro.model import (
    AvroArray,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    NamedType,
    is_null,
)
from treaty.plan.avro.logical_types import INSTANTS, WALLS, find_column_logical
from treaty.plan.ddl import quote_name

PLAIN = {
    "null": "VOID",
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bytes": "BINARY",
    "string": "STRING",
    "enum": "STRING",
    "fixed": "BINARY",
}


def columns(schema: AvroSchema) -> tuple[tuple[str, str], ...]:
    """Name and Spark type of each top-level column; none for a schema that is not a record."""
    root = schema.resolve(schema.root)
    return tuple((one.name, ddl(one.type, schema.names)) for one in root.fields) if isinstance(root, AvroRecord) else ()


def ddl(node: AvroType, names: Mapping[str, NamedType]) -> str:
    """The Spark type of one Avro type; nullability is left out."""
    match node:
        case AvroArray():
            return f"ARRAY<{ddl(node.items, names)}>"
        case AvroMap():
            return f"MAP<STRING, {ddl(node.values, names)}>"
        case AvroUnion():
            return _union(node, names)
        case AvroPrimitive() | AvroFixed():
            return _leaf(node)
        case AvroRecord():
            inside = ", ".join(f"{quote_name(one.name)}: {ddl(one.type, names)}" for one in node.fields)
            return f"STRUCT<{inside}>"
    named = names[node.full]
    return ddl(named, names) if isinstance(named, AvroRecord | AvroFixed) else "STRING"


def _leaf(node: AvroPrimitive | AvroFixed) -> str:
    logical = find_column_logical(node)
    if logical is None:
        return PLAIN[node.kind]
    if logical.name == "decimal":
        return f"DECIMAL({logical.precision}, {logical.scale})"
    if INSTANTS.get(logical.name, 9) < 9:
        return "TIMESTAMP"
    if WALLS.get(logical.name, 9) < 9:
        return "TIMESTAMP_NTZ"
    return "DATE" if logical.name == "date" else PLAIN[node.kind]


def members(union: AvroUnion, names: Mapping[str, NamedType]) -> tuple[str, ...] | None:
    """The names of the members of a choice's struct; None where all its values have one type, which is the column's then."""
    parts = [one for one in union.branches if not is_null(one)]
    if len(parts) < 2 or has_one_column(union, names):
        return None
    return tuple(f"member{place}" for place in range(len(parts)))


def has_one_column(union: AvroUnion, names: Mapping[str, NamedType]) -> bool:
    """Whether a choice of numbers of two sizes is a column of the larger one; logical types don't count there."""
    parts = [names[one.full] if isinstance(one, AvroReference) else one for one in union.branches if not is_null(one)]
    return {one.kind for one in parts} in ({"int", "long"}, {"float", "double"})


def _strip_props(node: AvroType) -> AvroType:
    return AvroPrimitive(node.kind) if isinstance(node, AvroPrimitive) else node


def _union(node: AvroUnion, names: Mapping[str, NamedType]) -> str:
    parts = [one for one in node.branches if not is_null(one)]
    member_names = members(node, names)
    if member_names is not None:
        inside = ", ".join(f"`{name}`: {ddl(one, names)}" for name, one in zip(member_names, parts, strict=True))
        return f"STRUCT<{inside}>"
    if len(parts) > 1:
        return "BIGINT" if AvroPrimitive("long") in map(_strip_props, parts) else "DOUBLE"
    return ddl(parts[0], names) if parts else "VOID"
