"""Several Avro record types as one: a reader with a field for each of them.

A record with one field is written as that field alone, so a payload of a type is also one of a record that holds it.
Thus one plan, with one call of the engine, reads all types. The names of each type move to a namespace of its own, as
two types may mean different things by one name.
"""

from collections.abc import Sequence
from dataclasses import replace

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    is_null,
)
from treaty.plan.avro.bounds import find_bounded
from treaty.plan.avro.columns import ddl
from treaty.plan.avro.planner import compose, union
from treaty.plan.errors import drop_twins
from treaty.plan.format_plans import RecordType
from treaty.plan.options import DecodeOptions
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.types.groups import group_schemas
from treaty.plan.value import DecodePlan, RejectedSchema

WHOLE = "treaty.Types"
"""The record with a field for each type."""


def plan_types(
    schemas: Sequence[RegisteredSchema], options: DecodeOptions
) -> tuple[DecodePlan, tuple[RecordType, ...]]:
    """The plan whose columns are the record types, each read as the union of its versions."""
    names: dict[str, NamedType] = {}
    fields, wrapped, kinds = [], [], []
    losers: list[RejectedSchema] = []
    for place, group in enumerate(group_schemas(schemas, _names)):
        own = [replace(one, schema=rename_types(one.schema, f"t{place}")) for one in group.known]
        merged, lost = union(own, options.lossy)
        losers += lost
        names |= merged.names
        fields.append(Field(group.column, _optional(merged), default=None))
        ids = {rejected.schema_id for rejected in lost}
        wrapped += [
            replace(version, schema=_wrap_column(version.schema, group.column))
            for version in own
            if version.schema_id not in ids
        ]
        opened = find_bounded(merged, options.depth)
        kinds.append(RecordType(group.column, group.name, ddl(opened.root, opened.names)))
    names[WHOLE] = AvroRecord(WHOLE, tuple(fields))
    plan = compose(wrapped, AvroSchema(AvroReference(WHOLE), names), options.depth, options.lossy)
    texts = {version.schema_id: print_schema(version.schema) for version in schemas}
    writers = tuple(replace(version, text=texts[version.schema_id]) for version in plan.writers)
    return replace(plan, writers=writers, rejected=drop_twins((*losers, *plan.rejected))), tuple(kinds)


def _names(schema: RegisteredSchema) -> tuple[str, ...]:
    """The full name of a schema's root, and its aliases; what has no name is called as its kind."""
    root = schema.schema.resolve(schema.schema.root)
    return (root.full, *root.aliases) if isinstance(root, AvroRecord | AvroEnum | AvroFixed) else (root.kind,)


def _optional(schema: AvroSchema) -> AvroType:
    root = schema.resolve(schema.root)
    parts = root.branches if isinstance(root, AvroUnion) else (schema.root,)
    return AvroUnion((AvroPrimitive("null"), *(part for part in parts if not is_null(part))))


def _wrap_column(schema: AvroSchema, column: str) -> AvroSchema:
    return AvroSchema(AvroReference(WHOLE), {**schema.names, WHOLE: AvroRecord(WHOLE, (Field(column, schema.root),))})


def rename_types(schema: AvroSchema, prefix: str) -> AvroSchema:
    """The schema with all its names, and those they had before, in a namespace of their own."""

    def node(old: AvroType) -> AvroType:
        match old:
            case AvroArray():
                return replace(old, items=node(old.items))
            case AvroMap():
                return replace(old, values=node(old.values))
            case AvroUnion():
                return AvroUnion(tuple(map(node, old.branches)))
            case AvroReference():
                return AvroReference(f"{prefix}.{old.full}")
        return old

    names: dict[str, NamedType] = {}
    for full, old in schema.names.items():
        renamed = replace(old, full=f"{prefix}.{full}", aliases=tuple(f"{prefix}.{one}" for one in old.aliases))
        if isinstance(renamed, AvroRecord):
            renamed = replace(renamed, fields=tuple(replace(one, type=node(one.type)) for one in renamed.fields))
        names[renamed.full] = renamed
    return AvroSchema(node(schema.root), names)
