"""Framed records of any format become JSON values: by which schema, and how bytes are shown that have none."""

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from google.protobuf.json_format import SerializeToJsonError
from google.protobuf.message import Message

from treaty.client.cache import CachedRegistry
from treaty.client.serializers.avro import AvroDeserializer
from treaty.client.serializers.errors import BadRecordError, RecordErrorCode
from treaty.client.serializers.frames import HEADER_OF, Part, unframe
from treaty.client.serializers.jsonschema import JsonDeserializer
from treaty.client.serializers.payloads import PayloadDeserializer
from treaty.client.serializers.protobuf import ProtobufDeserializer
from treaty.client.serializers.settings import DeserializedPart, DeserializerSettings
from treaty.core.messages.schemas import GetGuid, GetSchema, SchemaFound
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.refusals import SchemaNotFound
from treaty.core.registry import Registry
from treaty.formats.protobuf.protojson import make_json_value
from treaty.formats.registry import find_formats

DecodeMode = Literal["auto", "schema", "text", "bytes"]
"""The form of a key or value; ``auto``: by the schema of its frame if there is one, else text."""

OpenPart = Callable[[bytes, str, Part, tuple[tuple[str, bytes], ...]], DeserializedPart]
"""A function from a key's or value's bytes, topic, part and headers to its value and schema."""


@dataclass(frozen=True, slots=True)
class DecodedPart:
    """A key or value as a JSON value, with its writer's schema, if it has one."""

    value: Any
    writer_schema: SchemaFound | None = None


class RecordDecoder:
    """Decodes records of mixed formats, each by the id or guid in its frame. Thread-safe."""

    def __init__(self, registry: Registry, context: str = DEFAULT_CONTEXT, encoding: str = "") -> None:
        """Use this registry through a cache; `context` is that of the ids in the frames. `encoding` is one of
        `Format.payloads`, for formats of plug-ins.
        """
        self._registry = registry if isinstance(registry, CachedRegistry) else CachedRegistry(registry)
        self._within = Subject(context, "") if context != DEFAULT_CONTEXT else None
        self._settings = DeserializerSettings(context=context)
        self._encoding = encoding
        self._opens: dict[str, OpenPart] = {
            "AVRO": AvroDeserializer(self._registry, None, self._settings).open,
            "JSON": JsonDeserializer(self._registry, None, self._settings).open,
            "PROTOBUF": ProtobufDeserializer(self._registry, None, self._settings).open,
        }

    def decode_part(
        self, data: bytes | None, part: Part, headers: Iterable[tuple[str, bytes]] = (), how: DecodeMode = "schema"
    ) -> DecodedPart:
        """Decode a key or value. Raises `BadRecordError` for invalid bytes, and the errors of the registry."""
        if data is None:
            return DecodedPart(None)
        if how == "bytes":
            return DecodedPart(show_base64(data))
        if how == "text":
            return DecodedPart(show_data(data))
        if how == "schema":
            return self._decode_framed(data, part, tuple(headers))
        given_headers = tuple(headers)  # "auto": by the schema where the data names one, else as text
        if data[:1] in {b"\0", b"\1"} or any(name == HEADER_OF[part] for name, _ in given_headers):
            try:
                return self._decode_framed(data, part, given_headers)
            except BadRecordError:
                pass
        return DecodedPart(show_data(data))

    def _decode_framed(self, data: bytes, part: Part, headers: tuple[tuple[str, bytes], ...]) -> DecodedPart:
        frame = unframe(data, headers, part, headed=True)
        try:
            if isinstance(frame.schema, int):
                schema = self._registry.ask(GetSchema(frame.schema, self._within)).answer
            else:
                schema = self._registry.ask(GetGuid(frame.schema)).answer
        except SchemaNotFound as refusal:
            message = f"no schema {frame.schema} in the registry"
            raise BadRecordError(RecordErrorCode.UNKNOWN_ID, message, data, frame.schema) from refusal
        opened = self._find_open(schema.format, data, frame.schema)(data, "", part, headers)
        try:
            return DecodedPart(to_json_value(opened.value), opened.writer_schema)
        except (SerializeToJsonError, TypeError, ValueError) as error:
            raise BadRecordError(
                RecordErrorCode.MALFORMED, f"it has no JSON form: {error}", data, frame.schema
            ) from error

    def _find_open(self, format_: str, data: bytes, schema: int | str) -> OpenPart:
        """How records of a format are deserialized."""
        open_part = self._opens.get(format_)
        form = find_formats().find(format_) if open_part is None else None
        if form is not None and form.payloads:
            open_part = PayloadDeserializer(self._registry, format_, None, self._settings, encoding=self._encoding).open
            self._opens[format_] = open_part
        if open_part is None:
            message = f"schema {schema} is {format_}, which cannot be shown as JSON"
            raise BadRecordError(RecordErrorCode.MALFORMED, message, data, schema)
        return open_part


def show_data(data: bytes) -> Any:
    """Return bytes as text if they are UTF-8, else as `show_base64` does."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return show_base64(data)
    return text if text.isprintable() or "\0" not in text else show_base64(data)


def show_base64(data: bytes) -> dict[str, str]:
    """Bytes that are no text, as ``{"base64": …}``."""
    return {"base64": base64.b64encode(data).decode()}


def to_json_value(value: Any) -> Any:
    """Convert a deserialized value to JSON: dates and times in ISO 8601, decimals as digits, bytes as characters."""
    match value:
        case Message():
            return make_json_value(value)
        case dict():
            return {str(name): to_json_value(one) for name, one in value.items()}
        case list() | tuple():
            return [to_json_value(one) for one in value]
        case float() if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 (NaN differs from itself)
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124 (as above)
        case bytes() | bytearray():
            return value.decode("latin-1")
        case Decimal():
            return format(value, "f")
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case date() | time():
            return value.isoformat()
        case UUID():
            return str(value)
    return value
