"""Which column type each Avro type becomes, as Spark's own `from_avro` has it, and what that loses: `derive_columns`, with the rule of each loss."""

from collections.abc import Mapping

from treaty.core.limits import COLUMN_RECURSION, COLUMNS, DECIMAL_DIGITS, SCHEMA_DEPTH
from treaty.core.state import columns as table
from treaty.core.state.columns import Column, ColumnLoss, Columns, ColumnType, Scalar, Struct
from treaty.formats.avro.data.recursion import find_recursive_records
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    ResolvedType,
)
from treaty.formats.avro.normal_form import get_logical_type
from treaty.formats.json_text import text_error

PLAIN: Mapping[str, str] = {
    "null": "null",
    "boolean": "boolean",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "bytes": "binary",
    "string": "string",
    "fixed": "binary",
}
"""By Avro's type, the scalar of `treaty.core.state.columns.SCALARS` that holds it."""

INSTANTS: Mapping[str, str] = {
    "date": "date",
    "timestamp-millis": "timestamp",
    "timestamp-micros": "timestamp",
    "local-timestamp-millis": "timestamp_ntz",
    "local-timestamp-micros": "timestamp_ntz",
}
"""By logical type, the scalar that holds all of it."""

LOST: Mapping[str, str] = {
    "time-millis": "TIME_AS_INTEGER",
    "time-micros": "TIME_AS_INTEGER",
    "timestamp-nanos": "NANOS_CUT",
    "local-timestamp-nanos": "NANOS_CUT",
    "duration": "DURATION_AS_BINARY",
}
"""By logical type that keeps its base type in a table, the loss."""

WIDER: Mapping[frozenset[str], str] = {frozenset({"int", "long"}): "int64", frozenset({"float", "double"}): "float64"}
"""Two branches of a union that share one column."""

NullableType = tuple[ColumnType, bool]
"""A type, and whether it may be null."""


def derive_columns(schema: AvroSchema, recursion: int = COLUMN_RECURSION) -> Columns:
    """The columns of a schema and what they lose; a schema that is no record has one column ``value``.

    Records that contain themselves are opened `recursion` levels deep, what lies deeper is left out. Raises
    `InvalidSchemaError` past the limits of columns and of nesting.
    """
    builder = _ColumnBuilder(schema, recursion)
    root = schema.resolve(schema.root)
    if isinstance(root, AvroRecord):
        column_type = builder.type(root, "", 1)
        inside = column_type[0].columns if column_type is not None and isinstance(column_type[0], Struct) else ()
        return Columns(inside, tuple(builder.losses))
    kind, nullable = builder.type(root, "value", 1) or (Scalar("null"), True)
    doc = root.doc or "" if isinstance(root, AvroEnum | AvroFixed) else ""
    return Columns((Column("value", kind, nullable, doc),), tuple(builder.losses), whole=True)


class _ColumnBuilder:
    """Makes the types of one schema. `level` counts the records around a place that contain themselves."""

    __slots__ = ("_circular", "_count", "_level", "_recursion", "_schema", "losses")

    def __init__(self, schema: AvroSchema, recursion: int) -> None:
        self._schema = schema
        self._circular = find_recursive_records(schema)
        self._recursion = recursion
        self._level = 0
        self._count = 0
        self.losses: list[ColumnLoss] = []

    def type(self, node: AvroType, path: str, depth: int) -> NullableType | None:
        """The type of a column at a path; None where recursion is cut. `depth` is its nesting, which SCHEMA_DEPTH limits."""
        if depth > SCHEMA_DEPTH + 1:  # what is inside the last level has none of its own
            message = f"the columns nest deeper than the limit SCHEMA_DEPTH of {SCHEMA_DEPTH} once names are resolved"
            raise text_error("SCHEMA_TOO_DEEP", message, f"at most {SCHEMA_DEPTH} levels")
        resolved = self._schema.resolve(node)
        match resolved:
            case AvroArray(items):
                element = self.type(items, f"{path}.element", depth + 1)
                return (table.List(*element), False) if element else None
            case AvroMap(values):
                value = self.type(values, f"{path}.value", depth + 1)
                return (table.Map(Scalar("string"), *value), False) if value else None
            case AvroUnion():
                return self._union(resolved, path, depth)
            case AvroRecord():
                return self._record(resolved, path, depth)
            case AvroEnum(symbols=symbols):
                self._add_loss("ENUM_AS_STRING", path, f"{len(symbols)} symbols of {resolved.full}")
                return Scalar("string"), False
        return self._leaf(resolved, path), resolved.kind == "null"

    def _add_loss(self, rule: str, path: str, detail: str = "") -> None:
        self.losses.append(ColumnLoss(rule, path, detail))

    def _leaf(self, node: AvroPrimitive | AvroFixed, path: str) -> ColumnType:
        members = dict(node.props) if node.props else {}
        name = members.get("logicalType")
        if not isinstance(name, str):
            return Scalar(PLAIN[node.kind])
        logical = get_logical_type(node) or ""
        if logical == "decimal":
            precision, scale = members["precision"], members.get("scale", 0)
            assert isinstance(precision, int)
            assert isinstance(scale, int)
            if precision <= DECIMAL_DIGITS:
                return table.Decimal(precision, scale)
            self._add_loss("DECIMAL_TOO_WIDE", path, f"{precision} digits")
        elif logical in INSTANTS:
            return Scalar(INSTANTS[logical])
        elif logical == "uuid" and node.kind == "string":
            self._add_loss("UUID_AS_STRING", path)
        elif logical in LOST:
            self._add_loss(LOST[logical], path, logical)
        else:
            self._add_loss("LOGICAL_UNKNOWN", path, f"{name} on {node.kind}")
        return Scalar(PLAIN[node.kind])

    def _union(self, node: AvroUnion, path: str, depth: int) -> NullableType | None:
        branches = [one for one in map(self._schema.resolve, node.branches) if one.kind != "null"]
        parts = [one for one in branches if self._holds(one)]
        nullable = len(branches) < len(node.branches)
        if len(parts) < len(branches):
            self._add_loss("RECURSION_CUT", path, " or ".join(_word(one) for one in branches if one not in parts))
            if not parts:
                return None
        if not parts:
            return Scalar("null"), True
        if len(parts) == 1:
            column_type = self.type(parts[0], path, depth + 1)
            return (column_type[0], column_type[1] or nullable) if column_type else None
        shared = WIDER.get(frozenset(one.kind for one in parts)) if len(parts) == 2 else None
        if shared is not None:
            for part in parts:
                if isinstance(part, AvroPrimitive) and (logical := get_logical_type(part)):
                    self._add_loss("LOGICAL_UNKNOWN", path, f"{logical} beside another number")
            return Scalar(shared), nullable
        self._add_loss("UNION_AS_STRUCT", path, " or ".join(map(_word, parts)))
        members: list[Column] = []
        for part in parts:
            column_type = self.type(part, f"{path}.member{len(members)}", depth + 1)
            assert column_type is not None, "what is cut has been left out"
            self._grow()
            members.append(Column(f"member{len(members)}", column_type[0]))
        return Struct(tuple(members)), nullable

    def _holds(self, node: AvroType) -> bool:
        """Whether anything is left of a type here, or recursion is cut around all of it."""
        resolved = self._schema.resolve(node)
        if isinstance(resolved, AvroArray | AvroMap):
            return self._holds(resolved.items if isinstance(resolved, AvroArray) else resolved.values)
        if isinstance(resolved, AvroUnion):
            held = [self._holds(branch) for branch in resolved.branches]
            useful = (
                holds and self._schema.resolve(branch).kind != "null"
                for holds, branch in zip(held, resolved.branches, strict=True)
            )
            return all(held) or any(useful)
        return (
            self._level < self._recursion or not isinstance(resolved, AvroRecord) or resolved.full not in self._circular
        )

    def _record(self, node: AvroRecord, path: str, depth: int) -> NullableType | None:
        turns = node.full in self._circular
        if turns and self._level >= self._recursion:
            self._add_loss("RECURSION_CUT", path, f"{node.full} at depth {self._recursion}")
            return None
        self._level += turns
        inside: list[Column] = []
        for field in node.fields:
            column_type = self.type(field.type, f"{path}.{field.name}" if path else field.name, depth + 1)
            if column_type is not None:
                self._grow()
                inside.append(Column(field.name, column_type[0], column_type[1], self._doc(field)))
        self._level -= turns
        return Struct(tuple(inside)), False

    def _doc(self, field: Field) -> str:
        """A field's own doc, else the one of the named type in it."""
        if field.doc:
            return field.doc
        resolved = self._schema.resolve(field.type)
        return resolved.doc or "" if isinstance(resolved, AvroRecord | AvroEnum | AvroFixed) else ""

    def _grow(self) -> None:
        self._count += 1
        if self._count > COLUMNS:
            message = f"the schema becomes more columns than the limit COLUMNS of {COLUMNS}"
            raise text_error("COLUMNS_TOO_MANY", message, f"at most {COLUMNS}, those inside others included")


def _word(node: ResolvedType) -> str:
    return node.full if isinstance(node, AvroRecord | AvroEnum | AvroFixed) else node.kind
