"""Rows to frames: casts, defaults and checks planned from the schema, so that one bad row never fails a job."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from treaty.core.names import subject_of
from treaty.core.registry import Registry
from treaty.core.requests import LATEST, GetVersion, Lookup, Register
from treaty.core.schema import Draft
from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
    ABSENT,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Reference,
    Schema,
    Type,
    Union,
)
from treaty.spark.plan.asking import by_id
from treaty.spark.plan.avro.columns import ddl
from treaty.spark.plan.avro.flat import is_null
from treaty.spark.plan.avro.weaving import header
from treaty.spark.plan.ddl import quoted
from treaty.spark.plan.reasons import PlanError

Solid = Primitive | Array | Map | Record | Enum | Fixed


@dataclass(frozen=True, slots=True)
class Part:
    """A value on its way into a frame: the column as the schema wants it, and why it may be refused (null: it isn't)."""

    made: Column
    problems: tuple[Column, ...]


def to_registry(
    frame: DataFrame,
    registry: Registry,
    subject: str,
    *,
    version: int = LATEST,
    schema: str = "",
    register: bool = False,
    columns: Sequence[str] = (),
    value: str = "value",
    error: str = "error",
) -> DataFrame:
    """The frame with its `columns` (all of them if none are named) as one registry frame in the column `value`.

    The schema is a `version` of the subject, or the text `schema`: it must be a version already, or is made one where
    `register` says so. Columns are cast, missing fields take their defaults or null. A row that the schema can't hold
    has no value and an error ``{code: INVALID, message, schema_id, payload: null}``.

    Raises `PlanError` where no row could be encoded, `NotFound` for a version that does not exist, `Incompatible` where
    a new one is refused, and `Unavailable`.
    """
    place = subject_of(subject)
    if not schema:
        schema_id = registry.ask(GetVersion(place, version)).answer.schema_id
    elif register:
        schema_id = registry.ask(Register(place, Draft(schema))).answer.version.schema_id
    else:
        schema_id = registry.ask(Lookup(place, Draft(schema))).answer.schema_id
    known = by_id(registry, schema_id, place.context)
    if known is None or known.schema is None:
        message = f"{subject} has no Avro schema with id {schema_id}"
        raise PlanError(message)
    return encode(frame, known.schema, schema_id, columns=columns, value=value, error=error)


def encode(
    frame: DataFrame, schema: Schema, schema_id: int, *, columns: Sequence[str] = (), value: str, error: str
) -> DataFrame:
    """`to_registry` with a parsed schema and its id."""
    root = schema.resolve(schema.root)
    chosen = frame.select(*map(quoted, columns)) if columns else frame
    if not isinstance(root, Record):
        message = f"a row is a record, but the schema is {root.kind}"
        raise PlanError(message)
    part = _Encoder(schema).record(root, chosen.schema, lambda name: F.col(quoted(name)), "")
    wrong = F.coalesce(*part.problems, F.lit(None).cast("string"))
    packed = F.concat(F.lit(header(schema_id)), to_avro(part.made, print_schema(schema)))
    bad = F.struct(
        F.lit("INVALID").alias("code"),
        wrong.alias("message"),
        F.lit(schema_id).alias("schema_id"),
        F.lit(None).cast("binary").alias("payload"),
    )
    return frame.withColumns({value: F.when(wrong.isNull(), packed), error: F.when(wrong.isNotNull(), bad)})


@dataclass(frozen=True, slots=True)
class _Encoder:
    schema: Schema

    def record(self, record: Record, have: StructType, get: Callable[[str], Column], path: str) -> Part:
        """A struct with the record's fields, from what there is."""
        types = {field.name: field.dataType for field in have.fields}
        strange = types.keys() - {name for field in record.fields for name in (field.name, *field.aliases)}
        if strange:
            message = f"the schema has no field for {', '.join(f'{path}/{name}' for name in sorted(strange))}: drop them first"
            raise PlanError(message)
        parts = []
        for field in record.fields:
            name = next((name for name in (field.name, *field.aliases) if name in types), None)
            at = f"{path}/{field.name}"
            part = self.absent(field, at) if name is None else self.value(field.type, types[name], get(name), at)
            parts.append(replace(part, made=part.made.alias(field.name)))
        problems = tuple(problem for part in parts for problem in part.problems)
        return Part(F.struct(*(part.made for part in parts)), problems)

    def absent(self, field: Field, path: str) -> Part:
        """A field that the frame has no column for: its default, or null."""
        kind = ddl(field.type, self.schema.names)
        parts = field.type.branches if isinstance(field.type, Union) else (field.type,)
        if field.default is ABSENT:
            if any(map(is_null, parts)):
                return Part(F.lit(None).cast(kind), ())
            message = f"there is no column for {path}, and the field has neither a default nor null"
            raise PlanError(message)
        if field.default is None:
            return Part(F.lit(None).cast(kind), ())
        if kind == "BINARY":
            return Part(F.lit(str(field.default).encode("latin-1")), ())
        if isinstance(field.default, dict | list):
            return Part(F.from_json(F.lit(json.dumps(field.default)), kind), ())
        return Part(F.lit(field.default).cast(kind), ())

    def value(self, node: Type, have: DataType, column: Column, path: str) -> Part:
        """A column as one type of the schema."""
        found = self.schema.names[node.full] if isinstance(node, Reference) else node
        if not isinstance(found, Union):
            part = self.solid(found, have, column, path)
            nothing = F.when(column.isNull(), F.lit(f"{path} is null, and the schema has no null there"))
            return Part(part.made, (nothing, *part.problems))
        parts = [one for one in found.branches if not is_null(one)]
        if len(parts) != 1:
            return self.cast(ddl(found, self.schema.names), have, column, path)
        inside = self.value(parts[0], have, column, path)
        here = inside.problems if len(parts) == len(found.branches) else inside.problems[1:]
        return Part(F.when(column.isNotNull(), inside.made), tuple(F.when(column.isNotNull(), one) for one in here))

    def solid(self, node: Solid, have: DataType, column: Column, path: str) -> Part:
        """A column that is not null as a type that is no union."""
        match node:
            case Record() if isinstance(have, StructType):
                return self.record(node, have, lambda name: column[name], path)
            case Array() if isinstance(have, ArrayType):
                return self.items(node, have, column, path)
            case Map() if isinstance(have, MapType):
                return self.entries(node, have, column, path)
            case Enum():
                part = self.cast("STRING", have, column, path)
                known = part.made.isin(list(node.symbols))
                return Part(part.made, (*part.problems, F.when(~known, F.lit(f"{path} is no symbol of {node.full}"))))
            case Record() | Array() | Map():
                message = f"{path} is {have.simpleString()}, which cannot be a {node.kind}"
                raise PlanError(message)
        return self.cast(ddl(node, self.schema.names), have, column, path)

    def items(self, node: Array, have: ArrayType, column: Column, path: str) -> Part:
        """An array, item by item."""
        at = f"{path}/[]"
        made = F.transform(column, lambda item: self.value(node.items, have.elementType, item, at).made)

        def wrong(item: Column) -> Column:
            problems = self.value(node.items, have.elementType, item, at).problems
            return F.coalesce(*problems, F.lit(None).cast("string"))

        return Part(
            made, (F.try_element_at(F.filter(F.transform(column, wrong), lambda one: one.isNotNull()), F.lit(1)),)
        )

    def entries(self, node: Map, have: MapType, column: Column, path: str) -> Part:
        """A map, value by value; keys must be strings."""
        at = f"{path}/{{}}"
        made = F.transform_values(column, lambda _, item: self.value(node.values, have.valueType, item, at).made)

        def wrong(item: Column) -> Column:
            problems = self.value(node.values, have.valueType, item, at).problems
            return F.coalesce(*problems, F.lit(None).cast("string"))

        found = F.filter(F.transform(F.map_values(column), wrong), lambda one: one.isNotNull())
        return Part(made, (F.try_element_at(found, F.lit(1)),))

    def cast(self, kind: str, have: DataType, column: Column, path: str) -> Part:
        """A leaf, cast where its type differs; a value that does not survive the cast is a problem of its row."""
        if have == DataType.fromDDL(kind):
            return Part(column, ())
        made = column.try_cast(kind)
        lost = column.isNotNull() & made.isNull()
        return Part(made, (F.when(lost, F.lit(f"{path} does not fit into {kind}")),))
