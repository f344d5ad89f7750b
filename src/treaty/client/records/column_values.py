"""Values of columns as payloads: in the forms that Avro, JSON Schema and Protobuf have for them."""

import base64
import json
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Context, Decimal
from typing import Any

import msgspec
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import EncodeError
from google.protobuf.message_factory import GetMessageClass

from treaty.client.records import avro
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.message_indexes import FIRST, encode_path
from treaty.client.serializers.protobuf import messages
from treaty.core.state.columns import ColumnType, List, Map, Scalar, Struct
from treaty.core.state.columns import Decimal as DecimalType
from treaty.formats.avro.data.value import branch_name
from treaty.formats.avro.model import ABSENT, AvroArray, AvroMap, AvroRecord, AvroSchema, AvroType, AvroUnion
from treaty.formats.protobuf.columns import DECIMAL, KNOWN
from treaty.formats.protobuf.runtime import build_pool
from treaty.formats.registry import find_formats

Cells = Mapping[str, Any]
"""Values by name of column; what a row leaves out is not there."""
WritePayload = Callable[[Any], bytes]
"""From the columns of a row, or the value of a schema that is no record, to its payload. Raises `BadValueError`."""
KAFKA_PACKED: Mapping[str, str] = {"int32": ">i", "int64": ">q", "float32": ">f", "float64": ">d"}
"""Numbers as Kafka's own serializers write them."""
_DIGITS = Context(prec=80)
_JSON_TEXTS = frozenset(KNOWN) - {"google.protobuf.Timestamp", "google.type.Date"}


@dataclass(frozen=True, slots=True)
class PayloadWriter:
    """Writes payloads of a schema; `head` stands before each of them (message indexes of Protobuf)."""

    write: WritePayload
    head: bytes = b""


def make_payload_writer(format_: str, schema: Any, columns: Struct, message: str = "") -> PayloadWriter:
    """Return the writer of payloads of a parsed schema, from these columns; `message` is the Protobuf message, by default the first of the file.

    Raises `BadValueError` for a format without a writer, and for a message that the schema does not have.
    """
    make = _WRITERS.get(format_)
    if make is None:
        raise BadValueError(f"rows of the format {format_} are not written here; {', '.join(_WRITERS)} are")
    return make(schema, columns, message)


def write_primitive(value: Any, kind: Scalar) -> bytes:
    """Return a key as Kafka's own serializers write it: numbers in big-endian, texts in UTF-8, bytes as they are."""
    packed = KAFKA_PACKED.get(kind.name)
    if packed is not None:
        return struct.pack(packed, value)
    return value.encode() if isinstance(value, str) else bytes(value)


# --------------------------------------------------------------------------------------------------------------- Avro


def _avro(schema: AvroSchema, columns: Struct, message: str) -> PayloadWriter:
    del columns, message
    return PayloadWriter(lambda value: avro.encode(schema, _avro_value(schema, schema.root, value)))


def _avro_value(schema: AvroSchema, node: AvroType, value: Any) -> Any:
    """Return a value as the encoder takes it: fields that are left out get their default, else null."""
    resolved = schema.resolve(node)
    match resolved:
        case AvroUnion(branches):
            return _avro_branch(schema, branches, value)
        case AvroRecord() if isinstance(value, Mapping):
            record = {}
            for field in resolved.fields:
                if field.name in value:
                    record[field.name] = _avro_value(schema, field.type, value[field.name])
                elif field.default is ABSENT:
                    record[field.name] = None
            return record | {name: one for name, one in value.items() if name not in {f.name for f in resolved.fields}}
        case AvroArray(items) if isinstance(value, list):
            return [_avro_value(schema, items, one) for one in value]
        case AvroMap(values) if isinstance(value, Mapping):
            return {str(name): _avro_value(schema, values, one) for name, one in value.items()}
    return _avro_leaf(resolved.kind, value)


def _avro_branch(schema: AvroSchema, branches: tuple[AvroType, ...], value: Any) -> Any:
    if value is None:
        return None
    non_null = [one for one in branches if schema.resolve(one).kind != "null"]
    if len(non_null) == 1:
        return _avro_value(schema, non_null[0], value)
    names = [f"member{at}" for at in range(len(non_null))]
    if isinstance(value, Mapping) and value and set(value) <= set(names):  # a choice is a struct of its branches
        chosen = [name for name, one in value.items() if one is not None]
        if len(chosen) != 1:
            raise BadValueError(f"a choice has one member that is not NULL, and this one has {len(chosen)}")
        node = non_null[names.index(chosen[0])]
        return {branch_name(schema.resolve(node)): _avro_value(schema, node, value[chosen[0]])}
    return _avro_leaf("", value)


def _avro_leaf(kind: str, value: Any) -> Any:
    match value:
        case datetime():
            return f"{value.replace(tzinfo=None).isoformat()}{'' if value.tzinfo is None else 'Z'}"
        case date():
            return value.isoformat()
        case Decimal():
            return float(value) if kind in {"float", "double"} else format(value, "f")
        case bytes():
            return value.decode("latin-1")
    return value


# --------------------------------------------------------------------------------------------------------------- JSON

_print_json = msgspec.json.Encoder(decimal_format="number").encode


def _json(model: Any, columns: Struct, message: str) -> PayloadWriter:
    del columns, message
    check = find_formats()["JSON"].check
    assert check is not None, "JSON Schema checks values"

    def write(value: Any) -> bytes:
        faults: Any = ()
        for keep_nulls in (False, True):  # a member that may be left out is; others have null where they may
            payload = _print_json(_json_value(value, keep_nulls=keep_nulls))
            faults = check(model, payload.decode())
            if not faults:
                return payload
        raise BadValueError("; ".join(f"at {one.path or '/'}: {one.message}" for one in faults))

    return PayloadWriter(write)


def _json_value(value: Any, *, keep_nulls: bool) -> Any:
    match value:
        case Mapping():
            return {
                str(name): _json_value(member, keep_nulls=keep_nulls)
                for name, member in value.items()
                if keep_nulls or member is not None
            }
        case list():
            return [_json_value(item, keep_nulls=keep_nulls) for item in value]
        case bytes():
            return base64.b64encode(value).decode()
        case datetime():
            return f"{value.replace(tzinfo=None).isoformat()}{'' if value.tzinfo is None else 'Z'}"
        case date():
            return value.isoformat()
        case float() if not math.isfinite(value):
            raise BadValueError(f"JSON has no number {value}")
    return value


# ----------------------------------------------------------------------------------------------------------- Protobuf


def _protobuf(model: Any, columns: Struct, message: str) -> PayloadWriter:
    names = messages(model)
    paths = {name: path for path, name in names.items()}
    name = message.removeprefix(".") or names.get(FIRST, "")
    if name not in paths:
        raise BadValueError(f"the schema has no message {message or 'at all'}; it has {', '.join(paths) or 'none'}")
    pool = build_pool(model)
    descriptor = pool.FindMessageTypeByName(name)
    runtime = GetMessageClass(descriptor)

    def write(value: Any) -> bytes:
        try:
            built = ParseDict(_message(descriptor, columns, value), runtime(), descriptor_pool=pool)
            return built.SerializeToString(deterministic=True)
        except BadValueError:
            raise
        except (ParseError, EncodeError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise BadValueError(f"not a {name}: {error}") from error

    return PayloadWriter(write, encode_path(paths[name]))


def _message(descriptor: Descriptor, columns: Struct, value: Cells) -> dict[str, Any]:
    """Return a message as the runtime reads it from JSON."""
    kinds = {one.name: one.type for one in columns.columns}
    members = {}
    for name, cell in value.items():
        field = descriptor.fields_by_name[name]
        if cell is not None:
            members[name] = _field(field, kinds[name], cell)
        elif not field.has_presence and not field.is_repeated:
            raise BadValueError(f"at /{name}: NULL is no value of a field that is always set")
    return members


def _field(field: FieldDescriptor, kind: ColumnType, value: Any) -> Any:
    entry = field.message_type
    if isinstance(kind, Map) and entry is not None:
        inside = entry.fields_by_name["value"]
        return {_map_key(name): _leaf(inside, kind.value, one) for name, one in value.items()}
    if isinstance(kind, List):
        return [_leaf(field, kind.element, one) for one in value]
    return _leaf(field, kind, value)


def _map_key(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _leaf(field: FieldDescriptor, kind: ColumnType, value: Any) -> Any:
    inner = field.message_type
    full = "" if inner is None else inner.full_name
    match value:
        case None:
            raise BadValueError(f"at /{field.name}: NULL is no element of a list or map of Protobuf")
        case bytes():
            return base64.b64encode(value).decode()
        case Mapping():
            assert inner is not None, "a struct is a message"
            assert isinstance(kind, Struct), "a struct has columns"
            return _message(inner, kind, value)
        case Decimal() if full == DECIMAL and isinstance(kind, DecimalType):
            return _decimal(value, kind)
        case Decimal():
            return format(value, "f")
        case datetime():
            return f"{value.replace(tzinfo=None).isoformat()}Z"
        case date():
            return {"year": value.year, "month": value.month, "day": value.day}
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case str() if full in _JSON_TEXTS:
            return json.loads(value)
    return value


def _decimal(value: Decimal, kind: DecimalType) -> dict[str, Any]:
    """Return Confluent's decimal: the unscaled number in big-endian, and the digits of its type."""
    unscaled = int(value.scaleb(kind.scale, _DIGITS))
    data = unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)
    return {"value": base64.b64encode(data).decode(), "precision": kind.precision, "scale": kind.scale}


_WRITERS: Mapping[str, Callable[[Any, Struct, str], PayloadWriter]] = {
    "AVRO": _avro,
    "JSON": _json,
    "PROTOBUF": _protobuf,
}
"""By format, what makes a writer of a parsed schema."""
