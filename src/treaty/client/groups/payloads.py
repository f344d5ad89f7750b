"""How payloads of a Pravega group's types are written, read and trimmed, by the serializers of their formats; the frame is not theirs."""

import base64
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from treaty.client.groups.settings import GroupReaderSettings, GroupWriterSettings
from treaty.client.groups.trailing_zeros import Trim, trim_json, trim_message, trim_record
from treaty.client.groups.types import GroupType
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.avro_codec import make_avro_codec
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.frames import HEADER_OF, encode_guid
from treaty.client.serializers.jsonschema import JsonDeserializer, JsonSerializer
from treaty.client.serializers.message_indexes import encode_path
from treaty.client.serializers.payloads import PayloadDeserializer, PayloadSerializer
from treaty.client.serializers.protobuf import ProtobufDeserializer, ProtobufSerializer, messages
from treaty.client.serializers.schema_selection import text_of
from treaty.client.serializers.settings import DeserializedPart, DeserializerSettings, SerializerSettings, UseId
from treaty.core.limits import ENCODINGS_CACHED
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetSchema, SchemaFound
from treaty.core.messages.versions import VersionFound
from treaty.core.registry import CALL, CallOptions, Registry, Reply
from treaty.core.state.commit import PositionToken
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.descriptor_sets import select_file
from treaty.formats.registry import find_formats

A = TypeVar("A")
WritePayload = Callable[[Any], bytes]
"""Returns the payload of a value. Raises `BadValueError`."""
OpenPayload = Callable[..., DeserializedPart]
"""`Deserializer.open` of a format: with the header of `make_frame_header` it reads payloads."""
_NAME = "value"
_SERIALIZERS: Mapping[str, Callable[[Registry, GroupType, SerializerSettings], WritePayload]] = {
    "AVRO": lambda registry, one, settings: _make_payload_writer(AvroSerializer(registry, one.given, settings)),
    "JSON": lambda registry, one, settings: _make_payload_writer(JsonSerializer(registry, one.given, settings)),
    "PROTOBUF": lambda registry, one, settings: _make_payload_writer(ProtobufSerializer(registry, one.kind, settings)),
}


def has_payloads(format_: str) -> bool:
    """Whether payloads of a format are written and read by what its record has, here or in an installed package; those of
    all others by functions of their types.
    """
    form = None if format_ in _SERIALIZERS else find_formats().find(format_)
    return format_ in _SERIALIZERS or (form is not None and bool(form.payloads))


class VersionRegistry:
    """A `Registry` that answers for schemas which were found with a group's versions; all else is the registry's."""

    def __init__(self, registry: Registry) -> None:
        """Answer for no schema yet."""
        self._registry = registry
        self._known: dict[int | str, Reply[SchemaFound]] = {}

    def add(self, version: VersionFound, token: PositionToken) -> SchemaFound:
        """Answer for the schema of a version from now on, and return it; the oldest ones are forgotten past `ENCODINGS_CACHED`."""
        schema = SchemaFound(
            version.schema_id,
            version.guid,
            version.format,
            version.text,
            version.references,
            version.metadata,
            version.rules,
            subject=version.subject,
            number=version.number,
        )
        if version.format == "PROTOBUF" and version.data is not None:
            with suppress(InvalidSchemaError):  # a set has the files that the text only names; a text is none
                set_text = base64.b64encode(select_file(version.data, version.type_name)).decode()
                schema = replace(schema, text=set_text, references=())
        self._known[version.guid] = self._known[version.schema_id] = Reply(schema, token)
        while len(self._known) > 2 * ENCODINGS_CACHED:
            self._known.pop(next(iter(self._known)), None)
        return schema

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request."""
        key = (
            request.guid
            if isinstance(request, GetGuid)
            else request.schema_id
            if isinstance(request, GetSchema)
            else None
        )
        reply = None if key is None else self._known.get(key)
        if reply is None:
            return self._registry.ask(request, call)
        return cast("Reply[A]", reply)

    def close(self) -> None:
        """Leave the registry open: it is the program's."""


def make_payload_writer(
    registry: VersionRegistry, group_type: GroupType, version: VersionFound, settings: GroupWriterSettings
) -> WritePayload:
    """Return the function that writes payloads of a type under its version, which the registry was given."""
    if group_type.write is not None:
        return group_type.write
    if not has_payloads(version.format):
        raise BadValueError(
            f"payloads of the format {version.format} need a package whose record of the format has `payloads`, or functions "
            "of their own: custom_type(..., write=…, read=…)"
        )
    chosen = SerializerSettings(
        UseId(version.schema_id, strict=False), framing="header", check=settings.check, lossy=settings.lossy
    )
    make = _SERIALIZERS.get(version.format)
    if make is not None:
        return make(registry, group_type, chosen)
    serializer = PayloadSerializer(registry, None, chosen, format_=version.format, encoding=settings.encoding)
    return _make_payload_writer(serializer)


def _make_payload_writer(
    serialize: AvroSerializer | JsonSerializer | ProtobufSerializer | PayloadSerializer,
) -> WritePayload:
    """Return the payload that a serializer writes behind a frame in a header."""
    if not (isinstance(serialize, ProtobufSerializer) and serialize.takes_any):
        serialize.prepare(_NAME)
    return lambda value: cast("bytes", serialize(value, _NAME).data)


def make_payload_reader(
    registry: VersionRegistry, format_: str, group_type: GroupType | None, settings: GroupReaderSettings
) -> OpenPayload:
    """Return the reader of a format with payloads: of the program's type, or of values without a class."""
    chosen, typed = DeserializerSettings(check=settings.check), None if group_type is None else group_type.given
    if format_ == "AVRO":
        return AvroDeserializer(registry, typed, chosen).open
    if format_ == "JSON":
        return JsonDeserializer(registry, typed, chosen).open
    if format_ == "PROTOBUF":
        return ProtobufDeserializer(registry, None if group_type is None else group_type.kind, chosen).open
    reader = None if group_type is None else group_type.draft
    return PayloadDeserializer(registry, format_, reader, chosen, encoding=settings.encoding).open


def make_trim(registry: VersionRegistry, version: VersionFound) -> Trim:
    """Return the function that drops the zeros behind payloads of a version that Java's serializers packed.

    JSON, Protobuf and Avro say where a payload ends. Payloads of all other formats, and of an Avro schema ``bytes``, stay as they are.
    """
    if version.format == "JSON":
        return trim_json
    if version.format == "PROTOBUF":
        return trim_message
    if version.format != "AVRO":
        return lambda payload: payload
    schema = text_of(registry.ask(GetGuid(version.guid)).answer)
    codec = make_avro_codec(registry, schema.text, schema.references, schema.home)
    return (lambda payload: payload) if codec.raw else partial(trim_record, codec.skip)


def make_frame_header(registry: VersionRegistry, version: VersionFound) -> tuple[tuple[str, bytes], ...]:
    """Return the header that says a version's schema to the deserializers of its format; of Protobuf the message too."""
    head = encode_guid(str(uuid.UUID(version.guid)))
    if version.format == "PROTOBUF":
        schema = text_of(registry.ask(GetGuid(version.guid)).answer)
        resolved = fetch_resolved_schema(
            registry, "PROTOBUF", schema.text, schema.references, schema.home, imports=schema.imports
        )
        parsed = find_formats()["PROTOBUF"].parse(resolved, False)
        paths = {name: path for path, name in messages(parsed).items()}
        head += encode_path(paths[version.type_name])
    return ((HEADER_OF["value"], head),)
