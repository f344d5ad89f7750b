"""Records of a source decoded without a JVM: key and value as JSON values, and what is wrong with those that can't be read."""

import base64
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import Any

from treaty.client.cache import CachedRegistry
from treaty.client.kafka.consumer import TopicRecord
from treaty.client.records.column_values import KAFKA_PACKED
from treaty.client.records.decoder import RecordDecoder, show_base64, show_data
from treaty.client.serializers.errors import BadRecordError, RecordErrorCode
from treaty.client.serializers.frames import HEADER_OF, Part, encode_id, split_encoding
from treaty.client.serializers.message_indexes import FIRST, encode_path
from treaty.core.column_types import SqlType, lower_name, parse_column_type
from treaty.core.messages.encodings import GetEncoding
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.refusals import NotFound
from treaty.core.registry import Registry, run_exchange
from treaty.core.sources import SchemaPin, Source, SourcePart
from treaty.core.state.columns import ColumnType, Scalar
from treaty.core.state.columns import Decimal as DecimalType
from treaty.metastore.columns.source_refresh import read_user_types
from treaty.metastore.columns.sql_types import read_sql_type
from treaty.metastore.sql.values import format_time
from treaty.plan.decoded_columns import derive_decoded_columns
from treaty.plan.frame_format import PRAVEGA
from treaty.plan.heads import framing_of
from treaty.plan.registry_queries import find_schema, list_versions

PLAIN_FRAMINGS = frozenset({"prefix", "header"})
"""Framings whose frames say their schema themselves."""


UNSET: Mapping[str, Any] = {
    "boolean": False,
    "int32": 0,
    "int64": 0,
    "float32": 0.0,
    "float64": 0.0,
    "string": "",
    "binary": "",
}
"""What a field of Protobuf that is never null has where a payload leaves it out."""
_DIGITS = Context(prec=80)


@dataclass(frozen=True, slots=True)
class DecodedRecord:
    """A record with key and value as JSON values; `bad` says by half what could not be read: code and sentence."""

    record: TopicRecord
    key: Any = None
    value: Any = None
    bad: Mapping[Part, tuple[str, str]] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """What is wrong with the record, in one line; empty for one that could be read."""
        return "; ".join(f"{part}: {code}: {message}" for part, (code, message) in self.bad.items())


class SourceReader:
    """Decodes the records of a source, or of a topic that no source stands over (`source` is None)."""

    def __init__(self, registry: Registry, source: Source | None) -> None:
        """Read what the columns need; raises the registry's errors."""
        self._registry = CachedRegistry(registry)
        self._source = source
        self._decoders: dict[str, RecordDecoder] = {}
        self._heads: dict[tuple[Subject, str], Mapping[bytes, int]] = {}
        self.types: Mapping[str, SqlType] = {}
        self._whole: dict[Part, str] = {}
        if source is not None:
            kinds = [parse_column_type(one.type) for one in source.columns]
            self.types = run_exchange(self._registry, read_user_types(kinds)).expanded
            for part in ("key", "value"):
                self._whole[part] = self._find_whole(part)

    def _find_whole(self, part: Part) -> str:
        """Return the column of a half that is one value and no record; empty where it is a record."""
        assert self._source is not None, "a topic has no columns"
        own: SourcePart | None = getattr(self._source, part)
        names = [one.name for one in self._source.columns if one.role == part]
        if own is None or len(names) != 1:
            return ""
        if own.pin is None:
            return names[0]
        schema = find_schema(self._registry, own.pin.schema_id, own.pin.context)
        if schema is None or schema.meaning is None:
            return ""
        return names[0] if derive_decoded_columns(schema.meaning).whole else ""

    def decode(self, record: TopicRecord) -> DecodedRecord:
        """Decode a record. Raises `Unavailable` where the registry does not answer."""
        parts: dict[Part, Any] = {"key": None, "value": None}
        bad: dict[Part, tuple[str, str]] = {}
        halves: dict[Part, bytes | None] = {"key": record.key, "value": record.value}
        for part, data in halves.items():
            if data is None:
                continue
            try:
                parts[part] = self._decode_part(part, data, record)
            except BadRecordError as error:
                parts[part], bad[part] = show_base64(data), (error.code, error.message)
            except NotFound as missing:
                parts[part], bad[part] = show_base64(data), (RecordErrorCode.UNKNOWN_ID, str(missing))
        return DecodedRecord(record, parts["key"], parts["value"], bad)

    def _decode_part(self, part: Part, data: bytes, record: TopicRecord) -> Any:
        own: SourcePart | None = None if self._source is None else getattr(self._source, part)
        if own is None:
            return self._decoder(DEFAULT_CONTEXT).decode_part(data, part, record.headers, "auto").value
        if own.pin is None:
            return self._read_primitive(part, data)
        decoder = self._decoder(own.pin.context)
        if own.framing in PLAIN_FRAMINGS:
            return decoder.decode_part(data, part, record.headers).value
        return decoder.decode_part(self._restore_frame(own, own.pin, data), part).value

    def _decoder(self, context: str) -> RecordDecoder:
        if context not in self._decoders:
            self._decoders[context] = RecordDecoder(self._registry, context)
        return self._decoders[context]

    def _read_primitive(self, part: Part, data: bytes) -> Any:
        """Read a key as Kafka's own deserializers do. Raises `BadRecordError` for a number of another length."""
        assert self._source is not None, "a topic has no columns"
        column = next(one for one in self._source.columns if one.role == part)
        kind = read_sql_type(parse_column_type(column.type), self.types.get)
        packed = KAFKA_PACKED.get(kind.name) if isinstance(kind, Scalar) else None
        if packed is None:
            return show_data(data)
        if len(data) != struct.calcsize(packed):
            message = f"{len(data)} bytes, and {column.name} is {column.type}, which has {struct.calcsize(packed)}"
            raise BadRecordError(RecordErrorCode.MALFORMED, message, data)
        return struct.unpack(packed, data)[0]

    def _restore_frame(self, own: SourcePart, pin: SchemaPin, data: bytes) -> bytes:
        """Return a record of another framing with the prefix of its schema. Raises `BadRecordError` for a head that no schema has."""
        subject = Subject(pin.context, pin.subject)
        if own.framing == "none":
            return encode_id(pin.schema_id) + data
        if own.framing == PRAVEGA:
            encoding_id, payload = split_encoding(data)
            version = self._registry.ask(GetEncoding(subject, encoding_id)).answer.version
            index = encode_path(FIRST) if version.format == "PROTOBUF" else b""
            return encode_id(version.schema_id) + index + payload
        heads = self._heads.get((subject, own.framing))
        if heads is None or not any(data.startswith(head) for head in heads):  # a version may have come meanwhile
            framing = framing_of(own.framing, list_versions(self._registry, subject))
            heads = {bytes.fromhex(head): schema_id for head, schema_id in framing.heads}
            self._heads[subject, own.framing] = heads
        head = next((one for one in heads if data.startswith(one)), None)
        if head is None:
            message = f"no version of {subject} has the head {data[:16].hex()} of the framing {own.framing}"
            raise BadRecordError(RecordErrorCode.UNKNOWN_ID, message, data)
        return encode_id(heads[head]) + data[len(head) :]

    def cells(self, decoded: DecodedRecord) -> dict[str, Any]:
        """Return the columns of a record by key of their name: those of the source, and the pseudo-columns."""
        record = decoded.record
        cells: dict[str, Any] = {
            "_partition": record.partition,
            "_offset": record.offset,
            "_timestamp": None if record.time is None else format_time(record.time),
            "_headers": [{"key": name, "value": show_data(content)} for name, content in record.headers],
        }
        if self._source is None:
            return {**cells, "_topic": None, "key": decoded.key, "value": decoded.value}
        cells["_topic"] = self._source.place
        for column in self._source.columns:
            if column.role == "header":
                cells[lower_name(column.name)] = self._header(column.header, record)
                continue
            part: Part = "key" if column.role == "key" else "value"
            value = decoded.key if part == "key" else decoded.value
            if self._whole[part] == column.name:
                cells[lower_name(column.name)] = value
            else:
                kind = read_sql_type(parse_column_type(column.type), self.types.get)
                cell = _member(value, column.name)
                if cell is None and not column.nullable and isinstance(value, dict) and isinstance(kind, Scalar):
                    cell = UNSET.get(kind.name)
                cells[lower_name(column.name)] = _read_cell(cell, kind)
        return cells

    @staticmethod
    def _header(name: str, record: TopicRecord) -> Any:
        if name:
            return next((show_data(content) for header, content in reversed(record.headers) if header == name), None)
        hidden = frozenset(HEADER_OF.values())
        return [{"key": one, "value": show_data(content)} for one, content in record.headers if one not in hidden]


def _member(value: Any, name: str) -> Any:
    """Return a member of a JSON object by its name, or by the name that Protobuf's JSON has for it."""
    if not isinstance(value, dict):
        return None
    if name in value:
        return value[name]
    first, *rest = name.split("_")
    return value.get(first + "".join(word[:1].upper() + word[1:] for word in rest))


def _read_cell(value: Any, kind: ColumnType) -> Any:
    """Return a decimal or a day of Protobuf, which are messages, as text; any other value as it is."""
    if isinstance(value, dict) and isinstance(kind, DecimalType):
        unscaled = int.from_bytes(base64.b64decode(value.get("value", "")), "big", signed=True)
        return format(Decimal(unscaled).scaleb(-kind.scale, _DIGITS), "f")
    if isinstance(value, dict) and kind == Scalar("date"):
        return f"{value.get('year', 0):04}-{value.get('month', 0):02}-{value.get('day', 0):02}"
    return value
