"""Serializer and deserializer for the formats of plug-ins, by the ways to write values that their record has."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.frames import Part
from treaty.client.serializers.schema_selection import (
    MAX_CODECS,
    MakeCodec,
    OwnSchema,
    ReaderSchemas,
    SchemaText,
    WriterSchemas,
)
from treaty.client.serializers.settings import (
    DeserializedPart,
    DeserializerSettings,
    SerializedPart,
    SerializerSettings,
    UseLatest,
    UseLatestWith,
)
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.registry import Registry
from treaty.core.schema import Draft
from treaty.formats.format import BadPayloadError, Format, InvalidSchemaError, PayloadEncoding
from treaty.formats.registry import find_formats


@dataclass(frozen=True, slots=True)
class PayloadSchema:
    """A parsed schema with the function that writes its values, and the full name of its type."""

    codec: PayloadEncoding[Any]
    model: Any
    write: Callable[[Any], bytes]
    name: str


def choose_codec(form: Format[Any], encoding: str) -> PayloadEncoding[Any]:
    """Return a format's way to write values, its usual one without a name. Raises `BadValueError` if there is none."""
    if not form.payloads:
        raise BadValueError(f"records of format {form.name} cannot be written or read: its package has no payloads")
    payload_encoding = form.payloads.get(encoding or next(iter(form.payloads)))
    if payload_encoding is None:
        raise BadValueError(f"{encoding!r} is no encoding of {form.name}; there are {', '.join(form.payloads)}")
    return payload_encoding


def _make_maker(format_: str, encoding: str) -> MakeCodec[PayloadSchema]:
    """Return the function that makes the parts of a format's schemas."""
    form = find_formats().find(format_)
    if form is None:
        raise BadValueError(f"the format {format_} is not here; install the package that offers it")
    codec = choose_codec(form, encoding)

    def make(registry: Registry, schema_text: SchemaText) -> PayloadSchema:
        try:
            model = form.parse(
                fetch_resolved_schema(
                    registry,
                    format_,
                    schema_text.text,
                    schema_text.references,
                    schema_text.home,
                    imports=schema_text.imports,
                ),
                False,
            )
        except InvalidSchemaError as error:
            raise BadValueError(f"the schema can't be used: {error}") from error
        return PayloadSchema(codec, model, codec.write(model), form.show(model, False).type_name)

    return make


class PayloadSerializer:
    """Serializes values of any format with `Format.payloads`. Thread-safe."""

    def __init__(
        self,
        registry: Registry,
        schema: Draft | None = None,
        settings: SerializerSettings | None = None,
        *,
        format_: str = "",
        encoding: str = "",
    ) -> None:
        """Take the writer's schema; None only if the settings choose a schema of the registry, then name its `format_`.

        `encoding` is one of `Format.payloads`. The full name of the schema's type is the record name in subject name
        strategies. Raises `BadValueError` for a format that is not here, or has no such encoding.
        """
        name = schema.format if schema is not None else format_
        make = _make_maker(name, encoding)
        own = None
        if schema is not None:
            own = OwnSchema(
                lambda within: fetch_resolved_schema(
                    self._writer.registry, name, schema.text, schema.references, within
                )
            )
        self._writer = WriterSchemas(
            registry, (name, make), settings or SerializerSettings(), None if schema is None else lambda: schema, own
        )
        self._make = make
        self._schema = schema
        self._name: str | None = None if schema is not None else ""

    def __call__(self, value: Any, topic: str = "", part: Part = "value") -> SerializedPart:
        """Return the key or value part for this value; None becomes a tombstone. Raises `BadValueError` for a value that
        does not fit, and the errors of the registry.
        """
        if value is None:
            return SerializedPart(None)
        bound = self._writer.bind(topic, part, self._find_name())
        try:
            payload = bound.codec.write(value)
        except ValueError as error:
            raise BadValueError(str(error)) from error
        return bound.add_header(bound.prefix + payload, part)

    def prepare(self, topic: str = "", part: Part = "value") -> None:
        """Find the schema of a topic's records in advance. Raises the errors of the registry."""
        self._writer.bind(topic, part, self._find_name())

    def _find_name(self) -> str:
        """Return the full name of the own schema's type."""
        if self._name is None:
            assert self._schema is not None
            schema_text = SchemaText(self._schema.text, self._schema.references, Subject(DEFAULT_CONTEXT, ""))
            self._name = self._make(self._writer.registry, schema_text).name
        return self._name


class PayloadDeserializer:
    """Deserializes records of one format with `Format.payloads`. Thread-safe."""

    def __init__(
        self,
        registry: Registry,
        format_: str,
        reader: Draft | UseLatest | UseLatestWith | None = None,
        settings: DeserializerSettings | None = None,
        *,
        encoding: str = "",
    ) -> None:
        """Take the reader's schema, or a version of the subject; with None each record is read as it was written.

        Raises `BadValueError` for a format that is not here, or has no such `encoding`.
        """
        make = _make_maker(format_, encoding)
        self._schemas = ReaderSchemas(registry, format_, make, settings or DeserializerSettings())
        self._reader = reader
        self._reads: dict[tuple[int, int], tuple[PayloadSchema, PayloadSchema, Callable[[bytes], Any]]] = {}

    def __call__(
        self, data: bytes | None, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> Any:
        """Return the value of a record's part; None for a tombstone. Raises as `open` does."""
        return None if data is None else self.open(data, topic, part, headers).value

    def open(
        self, data: bytes, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> DeserializedPart:
        """Return value and writer's schema.

        Raises `BadRecordError` for bytes that are no value of the schema, `Unavailable` if the registry does not answer.
        """
        frame = self._schemas.split(data, headers, (topic, part))
        schema, writer = self._schemas.find_writer(frame, data)
        try:
            value = self._find_read(writer, self._find_reader(topic, part, writer))(frame.payload)
        except BadPayloadError as bad:
            raise BadRecordError(RecordErrorCode(bad.code), bad.message, frame.payload, frame.schema) from bad
        return DeserializedPart(value, schema)

    def _find_reader(self, topic: str, part: Part, writer: PayloadSchema) -> PayloadSchema:
        if self._reader is None:
            return writer
        if isinstance(self._reader, Draft):
            return self._schemas.prepare(self._reader)
        return self._schemas.find_latest(self._reader, (topic, part, writer.name))

    def _find_read(self, writer: PayloadSchema, reader: PayloadSchema) -> Callable[[bytes], Any]:
        """Return the function that reads one schema's payloads as another's; the pair is kept with it."""
        key = (id(writer), id(reader))
        read = self._reads.get(key)
        if read is None:
            if len(self._reads) >= MAX_CODECS:
                self._reads.clear()
            read = self._reads[key] = (writer, reader, writer.codec.read(writer.model, reader.model))
        return read[2]
