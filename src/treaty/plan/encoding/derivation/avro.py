"""Avro schemas from columns: names by path, nullable fields as unions with the default null, logical types kept."""

import json
from collections.abc import Sequence
from dataclasses import replace

from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    Props,
    full_name,
    is_name,
    is_null,
    space_of,
)
from treaty.formats.avro.parser import parse_schema
from treaty.plan.encoding.avro import make_targets
from treaty.plan.encoding.derivation.containment import is_held
from treaty.plan.encoding.options import DeriveOptions
from treaty.plan.encoding.target import pair_names
from treaty.plan.errors import PlanError
from treaty.plan.registered_schema import RegisteredSchema

PLAIN = {
    "null": "null",
    "boolean": "boolean",
    "int32": "int",
    "int64": "long",
    "float32": "float",
    "float64": "double",
    "string": "string",
    "binary": "bytes",
    "variant": "string",
}
LOGICAL = {
    "date": ("int", "date"),
    "timestamp": ("long", "timestamp-micros"),
    "timestamp_ntz": ("long", "local-timestamp-micros"),
}
NULL = AvroPrimitive("null")


def text(columns: Sequence[Column], name: str, options: DeriveOptions, latest: RegisteredSchema | None) -> str:
    """The text of a record with these columns."""
    old = _open_record(parse_schema(latest.meaning, False)) if latest and latest.meaning else None
    root = old.resolve(old.root) if old else None
    if root is not None and not isinstance(root, AvroRecord):
        raise PlanError(f"the latest version is {root.kind}, and a frame's rows are records")
    full = options.name or (root.full if root else name)
    maker = _AvroSchemaBuilder(old, space_of(full))
    record = maker.record(Struct(tuple(columns)), full, root, "")
    return json.dumps(json.loads(print_schema(AvroSchema(record, maker.names))), ensure_ascii=False)


class _AvroSchemaBuilder:
    """Makes types; `names` are the named ones, those of the latest version among them."""

    __slots__ = ("_find_target", "_old", "_space", "names")

    def __init__(self, old: AvroSchema | None, space: str) -> None:
        self._old = old
        self._space = space
        self._find_target = make_targets(old) if old else None
        self.names: dict[str, NamedType] = dict(old.names) if old else {}

    def record(self, have: Struct, full: str, old: AvroRecord | None, path: str) -> AvroReference:
        """A record with the old one's fields that hold or need no column, and with the columns."""
        by_name = {one.name: one for one in have.columns}
        sources = pair_names(by_name, [(field.name, field.aliases) for field in old.fields] if old else ())
        fields = []
        for field in old.fields if old else ():
            source = sources.get(field.name)
            if source is None:
                if field.default is not ABSENT:
                    fields.append(field)
                continue
            fields.append(self._grow_field(by_name.pop(source), field, full, f"{path}/{field.name}"))
        fields += [self._make_field(column, full, f"{path}/{column.name}") for column in by_name.values()]
        self.names[full] = replace(old, fields=tuple(fields)) if old else AvroRecord(full, tuple(fields))
        return AvroReference(full)

    def _grow_field(self, column: Column, field: Field, full: str, path: str) -> Field:
        """A field of the latest version: as it is where it holds the column, else of the column's type."""
        if self._find_target is not None and is_held(self._find_target, field.type, replace(column, nullable=False)):
            return field
        parts = field.type.branches if isinstance(field.type, AvroUnion) else (field.type,)
        free = any(map(is_null, parts))
        non_null = [one for one in parts if not is_null(one)]
        kind = self._type(column.type, f"{full}_{field.name}", non_null[0] if len(non_null) == 1 else None, path)
        if not free:
            return replace(field, type=kind)
        return replace(field, type=AvroUnion((NULL, kind)), default=None if field.default is None else ABSENT)

    def _make_field(self, column: Column, full: str, path: str) -> Field:
        if not is_name(column.name):
            raise PlanError(f"{path} is no name in Avro: letters, digits and underscores are; rename the column")
        kind = self._type(column.type, f"{full}_{column.name}", None, path)
        doc = column.doc or None
        free = column.nullable and kind != NULL
        return Field(column.name, AvroUnion((NULL, kind)), doc, None) if free else Field(column.name, kind, doc)

    def _type(self, have: ColumnType, full: str, old: AvroType | None, path: str) -> AvroType:
        """The type of a column; `full` names a record that has no name yet."""
        was = self._old.resolve(old) if old is not None and self._old is not None else None
        match have:
            case Struct():
                record = was if isinstance(was, AvroRecord) else None
                return self.record(have, record.full if record else self._find_free_name(full), record, path)
            case List(element, nullable):
                item = was.items if isinstance(was, AvroArray) else None
                return AvroArray(self._part(element, full, item, path, nullable=nullable))
            case Map(_, value, nullable):
                inside = was.values if isinstance(was, AvroMap) else None
                return AvroMap(self._part(value, full, inside, path, nullable=nullable))
        return _leaf(have)

    def _part(self, have: ColumnType, full: str, old: AvroType | None, path: str, *, nullable: bool) -> AvroType:
        branches = old.branches if isinstance(old, AvroUnion) else (old,) if old is not None else ()
        non_null = [one for one in branches if not is_null(one)]
        kind = self._type(have, full, non_null[0] if len(non_null) == 1 else None, path)
        free = nullable or len(non_null) < len(branches)
        return AvroUnion((NULL, kind)) if free and kind != NULL else kind

    def _find_free_name(self, full: str) -> str:
        """A name that no other type has, in the namespace of the root."""
        name = full_name(full.rpartition(".")[2], self._space)
        while name in self.names:
            name += "_"
        return name


def _leaf(have: Scalar | Decimal) -> AvroPrimitive:
    if isinstance(have, Decimal):
        digits: Props = (("logicalType", "decimal"), ("precision", have.precision), ("scale", have.scale))
        return AvroPrimitive("bytes", digits)
    if have.name in LOGICAL:
        base, logical = LOGICAL[have.name]
        return AvroPrimitive(base, (("logicalType", logical),))
    return AvroPrimitive(PLAIN[have.name])


def _open_record(schema: AvroSchema) -> AvroSchema:
    """The same schema with every use of a named type a reference, docs and all."""
    return AvroSchema(
        _node(schema.root), {full: _list_named(one) for full, one in schema.names.items()}, schema.outside
    )


def _node(node: AvroType) -> AvroType:
    match node:
        case AvroArray():
            return replace(node, items=_node(node.items))
        case AvroMap():
            return replace(node, values=_node(node.values))
        case AvroUnion():
            return AvroUnion(tuple(map(_node, node.branches)))
        case AvroPrimitive() | AvroReference():
            return node
    return AvroReference(node.full)


def _list_named(node: NamedType) -> NamedType:
    if isinstance(node, AvroRecord):
        return replace(node, fields=tuple(replace(one, type=_node(one.type)) for one in node.fields))
    return node
