"""Columns of a decoded row: those of a decode plan whose reader is one schema, with nulls, docs and losses."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from treaty.client.serializers.protobuf import messages
from treaty.core.limits import COLUMN_RECURSION
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, Columns, ColumnType, List, Map, Scalar, Struct
from treaty.formats.avro.data import columns as avro_data
from treaty.formats.avro.model import AvroRecord, AvroSchema
from treaty.formats.jsonschema.data import columns as json_data
from treaty.formats.protobuf import columns as protobuf_data
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.registry import find_formats
from treaty.plan.avro.bounds import find_bounded
from treaty.plan.avro.columns import ddl
from treaty.plan.ddl import parse_type
from treaty.plan.errors import PlanError
from treaty.plan.payloads import is_decodable
from treaty.plan.planners import PLANNERS
from treaty.plan.registry_queries import parse_resolved
from treaty.plan.strictness import MEANT_FOR

REMEMBERED = 64
"""Schemas whose columns a process keeps."""
NAMED_MESSAGES = 20
"""Messages that the error about a missing one names."""
_TEXT = Scalar("string")


def derive_decoded_columns(schema: ResolvedSchema, *, message: str = "", depth: int = COLUMN_RECURSION) -> Columns:
    """The columns that a row has after it is decoded with this schema as the reader; a variant is the JSON text there.

    The names and types are those of the decode plan. A column is not nullable where the schema allows no null;
    JSON documents that were not validated may break that. `message` names a Protobuf message; without it the file's
    first is read. Records inside themselves are opened `depth` levels deep. `losses` say what the columns do not keep.

    Raises `InvalidSchemaError` for a text that is no schema and past the limits of columns, and `PlanError` for a
    format whose rows can't be decoded, and for `message` with another format than Protobuf.
    """
    return _derive(schema, message, depth)


@lru_cache(REMEMBERED)
def _derive(schema: ResolvedSchema, message: str, depth: int) -> Columns:
    if message and schema.format != MEANT_FOR["message"]:
        raise PlanError(f"message = {message!r} is for PROTOBUF, and the schema is {schema.format}; leave it out")
    model = parse_resolved(schema)
    if schema.format == MEANT_FOR["message"]:
        derived = _derive_message(model, message, depth)
    else:
        derived = _DERIVERS.get(schema.format, _derive_any)(schema.format, model, depth)
    return Columns(_with_text_columns(derived.columns), derived.losses, derived.whole)


def _derive_message(schema: ProtoSchema, message: str, depth: int) -> Columns:
    name, names = message.removeprefix("."), sorted(set(messages(schema).values()))
    package = schema.file.package
    if name and not {name, f"{package}.{name}"} & set(names):
        raise PlanError(f"the schema has no message {message!r}; it has {', '.join(names[:NAMED_MESSAGES]) or 'none'}")
    return protobuf_data.derive_columns(schema, message, depth)


def _derive_avro(format_: str, schema: AvroSchema, depth: int) -> Columns:
    """The types are those of the planner, which reads decimals as both engines do; the rest is the schema's."""
    del format_
    opened = find_bounded(schema, depth)
    derived = avro_data.derive_columns(opened, depth)
    if opened is not schema:
        derived = replace(derived, losses=avro_data.derive_columns(schema, depth).losses)
    root = opened.resolve(opened.root)
    nodes = [one.type for one in root.fields] if isinstance(root, AvroRecord) else [opened.root]
    kinds = [parse_type(ddl(node, opened.names)) for node in nodes]
    pairs = zip(derived.columns, kinds, strict=True)
    columns = tuple(Column(one.name, _keep_nulls(kind, one.type), one.nullable, one.doc) for one, kind in pairs)
    return Columns(columns, derived.losses, derived.whole)


def _derive_json(format_: str, schema: Any, depth: int) -> Columns:
    del format_
    return json_data.derive_columns(schema, depth)


def _derive_any(format_: str, schema: Any, depth: int) -> Columns:
    """The columns of a plug-in's format."""
    del depth
    form = find_formats().find(format_)
    if form is None or form.columns is None or not is_decodable(form):
        able = ", ".join(sorted(PLANNERS))
        raise PlanError(f"rows of the format {format_} cannot be decoded; supported are {able}")
    derived: Columns = form.columns(schema)
    return derived


_DERIVERS: Mapping[str, Callable[[str, Any, int], Columns]] = {"AVRO": _derive_avro, "JSON": _derive_json}
"""By format, for formats without messages to choose from; every other is a plug-in's."""


def _keep_nulls(kind: ColumnType, derived: ColumnType) -> ColumnType:
    """The type with what is nullable, and the docs, of the same place in the other one."""
    match kind, derived:
        case Struct(), Struct():
            pairs = zip(kind.columns, derived.columns, strict=True)
            return Struct(
                tuple(
                    Column(planned.name, _keep_nulls(planned.type, own.type), own.nullable, own.doc)
                    for planned, own in pairs
                )
            )
        case List(), List():
            return List(_keep_nulls(kind.element, derived.element), derived.nullable)
        case Map(), Map():
            return Map(kind.key, _keep_nulls(kind.value, derived.value), derived.nullable)
    return kind


def _with_text_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(Column(one.name, _with_texts(one.type), one.nullable, one.doc) for one in columns)


def _with_texts(kind: ColumnType) -> ColumnType:
    """The type with texts for variants, as decode plans have them."""
    match kind:
        case Scalar("variant"):
            return _TEXT
        case List(element, nullable):
            return List(_with_texts(element), nullable)
        case Map(key, value, nullable):
            return Map(key, _with_texts(value), nullable)
        case Struct(columns):
            return Struct(_with_text_columns(columns))
    return kind
