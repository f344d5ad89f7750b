"""Columns of a schema, and what they lose."""

from dataclasses import dataclass, field

from treaty.core.finding import Diagnostic
from treaty.core.limits import COLUMN_RECURSION, COLUMNS, SCHEMA_DEPTH
from treaty.core.state.columns import Column, ColumnLoss, Columns, ColumnType, List, Map, Scalar, Struct
from treaty.formats.budget import spend
from treaty.formats.format import InvalidSchemaError
from treaty_thrift.model import NAME_STEPS, Container, Enum, Primitive, Record, ThriftSchema, Type, resolve_type

_SCALARS = {
    "bool": "boolean", "i8": "int32", "i16": "int32", "i32": "int32", "i64": "int64", "double": "float64",
    "string": "string", "binary": "binary",
}  # fmt: skip


def derive_columns(schema: ThriftSchema) -> Columns:
    """The columns of the root's fields. Raises `InvalidSchemaError` for a schema without a record."""
    root = schema.root
    if root is None:
        fault = Diagnostic("ROOT_MISSING", "", "no struct, union or exception", "a record that payloads hold")
        raise InvalidSchemaError((fault,))
    builder = _ColumnBuilder()
    if root.kind == "union":
        builder.lose("UNION_AS_STRUCT", root.name)
    return Columns(builder.columns(schema, root, ()), tuple(builder.losses))


@dataclass(slots=True)
class _ColumnBuilder:
    losses: dict[ColumnLoss, None] = field(default_factory=dict)
    count: int = 0
    open: list[tuple[bytes, str]] = field(default_factory=list)

    def lose(self, rule: str, column: str) -> None:
        """Note what is lost, once for each column."""
        self.losses.setdefault(ColumnLoss(rule, column))

    def columns(self, schema: ThriftSchema, record: Record, way: tuple[str, ...]) -> tuple[Column, ...]:
        """The columns of a record; fields that lead back to it too often are left out."""
        self.open.append((schema.digest, record.name))
        columns = []
        for member in record.fields:
            self.add_one(record.name, way)
            kind = self.type(schema, member.type, (*way, member.name))
            if kind is not None:
                nullable = member.requiredness != "required" or record.kind == "union"
                columns.append(Column(member.name, kind, nullable))
        self.open.pop()
        return tuple(columns)

    def add_one(self, name: str, way: tuple[str, ...]) -> None:
        """Count a column, or a part of one. Raises `InvalidSchemaError` past the limits."""
        self.count += 1
        spend(NAME_STEPS)
        if self.count > COLUMNS or len(way) > SCHEMA_DEPTH:
            fault = Diagnostic("TOO_MANY", f"/{name}", f"more than {COLUMNS} columns", "fewer fields")
            raise InvalidSchemaError((fault,))

    def type(self, schema: ThriftSchema, type_: Type, way: tuple[str, ...]) -> ColumnType | None:
        """The type of a column; None where a record is opened often enough, or has no columns left."""
        resolved = resolve_type(schema, type_)
        match resolved.type:
            case Primitive(name):
                return Scalar(_SCALARS[name])
            case Enum():
                self.lose("ENUM_AS_STRING", ".".join(way))
                return Scalar("string")
            case Record():
                if self.open.count((resolved.schema.digest, resolved.type.name)) >= COLUMN_RECURSION:
                    self.lose("RECURSION_CUT", ".".join(way))
                    return None
                if resolved.type.kind == "union":
                    self.lose("UNION_AS_STRUCT", ".".join(way))
                columns = self.columns(resolved.schema, resolved.type, way)
                return Struct(columns) if columns else None
            case Container():
                return self._container(resolved.schema, resolved.type, way)

    def _container(self, schema: ThriftSchema, type_: Container, way: tuple[str, ...]) -> ColumnType | None:
        self.add_one(".".join(way), way)
        parts = [self.type(schema, part, way) for part in type_.parts]
        if type_.kind != "map":
            return None if parts[0] is None else List(parts[0])
        key, value = parts
        if key is None or value is None:
            return None
        if isinstance(resolve_type(schema, type_.parts[0]).type, Container | Record):
            return List(Struct((Column("key", key, nullable=False), Column("value", value))))
        return Map(key, value)
