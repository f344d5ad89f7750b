"""The key and the value of a source's records: their columns with types, which of them a record of the source has, and what encodes
them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.client.records.column_values import PayloadWriter, make_payload_writer, write_primitive
from treaty.client.references import resolve_schema
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.frames import HEADER_OF, Headers, Part, encode_encoding, encode_guid, encode_id
from treaty.core.column_types import SqlType, parse_column_type
from treaty.core.messages.encodings import NO_CODEC, AssignEncoding
from treaty.core.messages.schemas import GetSchema, SchemaFound
from treaty.core.names import Subject
from treaty.core.refusals import Invalid
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import Source, SourceColumn, SourcePart
from treaty.core.state.columns import Column, Columns, Scalar, Struct
from treaty.formats.format import InvalidSchemaError
from treaty.metastore.columns.sql_types import read_sql_type
from treaty.metastore.sql.properties import KAFKA
from treaty.plan.decoded_columns import derive_decoded_columns
from treaty.plan.errors import PlanError
from treaty.plan.frame_format import PRAVEGA
from treaty.plan.heads import HEADS
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_resolved

NO_COLUMNS = Columns(())


@dataclass(frozen=True, slots=True)
class RecordSide:
    """A key or value: its columns by name, and the schema that they are encoded with (None for a primitive of Kafka).

    `decoded` are the columns of the schema, in which they may have other types. With `whole` the schema is no record, and has one column.
    `encoding_id` is that of Pravega's framing.
    """

    part: Part
    source_part: SourcePart
    columns: tuple[Column, ...]
    known: RegisteredSchema | None = None
    decoded: Columns = NO_COLUMNS
    whole: bool = False
    encoding_id: int = 0


Encode = Callable[[Mapping[str, Any]], tuple[bytes, Headers]]
"""From the columns of one half of a row to its bytes, and the headers that say its schema. Raises `BadValueError`."""


def read_side(
    source: Source, part: Part, types: Mapping[str, SqlType], *, writes: bool = True
) -> Exchange[RecordSide | None]:
    """Return one half of a source's records; None for keys that are not read.

    With `writes` the encoding of Pravega's framing is assigned, which is a commit the first time.
    """
    own: SourcePart | None = getattr(source, part)
    columns = tuple(_column(one, types) for one in source.columns if one.role == part)
    if own is None:
        return None
    if own.pin is None:
        return RecordSide(part, own, columns, whole=True)
    pin = own.pin
    schema: SchemaFound = yield from request_answer(GetSchema(pin.schema_id, Subject(pin.context, "")))
    within = Subject(pin.context, pin.subject)
    resolved = yield from resolve_schema(schema.format, schema.text, schema.references, within, imports=schema.imports)
    try:
        registered = RegisteredSchema(
            pin.schema_id, pin.subject, 0, schema.format, parse_resolved(resolved), meaning=resolved, guid=schema.guid,
            ordinal=pin.ordinal,
        )  # fmt: skip
        decoded = derive_decoded_columns(resolved, message=own.full_name if schema.format == "PROTOBUF" else "")
    except (InvalidSchemaError, PlanError) as error:
        raise Invalid.of("SOURCE_SCHEMA", f"the schema of the {part} can't be used: {error}", path="/sql") from error
    encoding_id = 0
    if own.framing == PRAVEGA and writes:
        assigned = yield from request_answer(AssignEncoding(within, pin.ordinal, NO_CODEC))
        encoding_id = assigned.encoding_id
    return RecordSide(part, own, columns, registered, decoded, decoded.whole, encoding_id)


def _column(column: SourceColumn, types: Mapping[str, SqlType]) -> Column:
    return Column(column.name, read_sql_type(parse_column_type(column.type), types.get), column.nullable)


def make_encoder(side: RecordSide) -> Encode:
    """Return what encodes the columns of a half. Raises `BadValueError` for a schema or framing that nothing can be encoded with."""
    if side.known is None or side.source_part.format == KAFKA:
        (column,) = side.columns
        kind = column.type
        assert isinstance(kind, Scalar), "a key in the format KAFKA is a primitive"
        return lambda cells: (write_primitive(cells[column.name], kind), ())
    message = side.source_part.full_name if side.known.format == "PROTOBUF" else ""
    writer = make_payload_writer(side.known.format, side.known.schema, Struct(side.decoded.columns), message)
    head, headers = _frame(side, side.known, writer)
    names = [one.name for one in side.columns]

    def encode(cells: Mapping[str, Any]) -> tuple[bytes, Headers]:
        value = cells.get(names[0]) if side.whole else cells
        if value is None:
            raise BadValueError(f"at /{names[0]}: NULL alone is no value of the schema")
        return head + writer.write(value), headers

    return encode


def _frame(side: RecordSide, registered: RegisteredSchema, writer: PayloadWriter) -> tuple[bytes, Headers]:
    """Return what stands before payloads, and the headers beside them."""
    framing = side.source_part.framing
    if framing == "header":
        return b"", ((HEADER_OF[side.part], encode_guid(registered.guid) + writer.head),)
    if framing == "prefix":
        return encode_id(registered.schema_id) + writer.head, ()
    if framing == PRAVEGA:
        return encode_encoding(side.encoding_id), ()
    front = HEADS[framing](registered) if framing in HEADS else None
    if front is None:
        raise BadValueError(f"the framing {framing} has no frames for schemas of {registered.format}")
    return front + writer.head, ()
