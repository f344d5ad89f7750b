"""Avro serializer and deserializer: by which schema a record is written and read (`AvroSerializer`, `AvroDeserializer`); payloads are
made in `avro_codec`.
"""

from collections.abc import Iterable
from typing import Any

from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.avro_codec import AvroCodec, full_name, make_avro_codec, read_payload, write_payload
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.frames import Part
from treaty.client.serializers.schema_selection import OwnSchema, ReaderSchemas, SchemaText, WriterSchemas
from treaty.client.serializers.settings import (
    DeserializedPart,
    DeserializerSettings,
    SerializedPart,
    SerializerSettings,
    UseLatest,
    UseLatestWith,
)
from treaty.client.types.errors import MisfitError
from treaty.client.types.typed import TypedSchema, as_typed
from treaty.core.names import Subject
from treaty.core.registry import Registry
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema

FORMAT = "AVRO"


def _make_codec(registry: Registry, schema_text: SchemaText) -> AvroCodec:
    return make_avro_codec(registry, schema_text.text, schema_text.references, schema_text.home)


class AvroSerializer:
    """Serializes values with one schema, or with the schema that the settings choose in the registry. Thread-safe."""

    def __init__(
        self,
        registry: Registry,
        schema: Draft | str | TypedSchema | type[Any] | None = None,
        settings: SerializerSettings | None = None,
    ) -> None:
        """Take the writer's schema, or a class with fields; None only if the settings choose a schema of the registry.

        The schema of a class is derived from it; `typed_avro` derives one with a namespace, or from any annotation. The
        registry is not closed with the serializer.
        """
        typed = as_typed(schema, FORMAT)
        self._typed = typed if typed is not None and typed.kind is not None else None
        draft = typed.draft if typed is not None else None

        def resolve_own(within: Subject) -> ResolvedSchema:
            assert draft is not None
            return fetch_resolved_schema(self._writer.registry, FORMAT, draft.text, draft.references, within)

        own_draft = None if draft is None else lambda: draft
        self._writer = WriterSchemas(
            registry,
            (FORMAT, _make_codec),
            settings or SerializerSettings(),
            own_draft,
            OwnSchema(resolve_own) if draft else None,
        )
        self._name = full_name(draft.text) if draft else ""

    def __call__(self, value: Any, topic: str = "", part: Part = "value") -> SerializedPart:
        """Return the key or value part for this value; None becomes a tombstone. Raises `BadValueError` if the value
        does not fit the schema, and the errors of the registry.
        """
        if value is None:
            return SerializedPart(None)
        bound = self._writer.bind(topic, part, self._name)
        check, lossy, typed = self._writer.settings.check, self._writer.settings.lossy, self._typed
        if typed is None:
            payload = write_payload(bound.codec, value, check=check, head=bound.prefix, lossy=lossy)
            return bound.add_header(payload, part)
        try:
            plain = typed.take(value)
        except MisfitError as error:
            raise BadValueError(str(error)) from error
        payload = write_payload(bound.codec, plain, check=check, head=bound.prefix, tagged=True, lossy=lossy)
        return bound.add_header(payload, part)

    def prepare(self, topic: str = "", part: Part = "value") -> None:
        """Find the schema of a topic's records in advance. Raises the errors of the registry."""
        self._writer.bind(topic, part, self._name)


class AvroDeserializer:
    """Deserializes framed records, each with its writer's schema. Thread-safe."""

    def __init__(
        self,
        registry: Registry,
        reader: Draft | str | TypedSchema | type[Any] | UseLatest | UseLatestWith | None = None,
        settings: DeserializerSettings | None = None,
    ) -> None:
        """Take the reader's schema: a schema, a class, or a version of the subject; None reads values as written."""
        self._reader = ReaderSchemas(registry, FORMAT, _make_codec, settings or DeserializerSettings())
        choice = isinstance(reader, UseLatest | UseLatestWith)
        self._choice: UseLatest | UseLatestWith | None = (
            reader if isinstance(reader, UseLatest | UseLatestWith) else None
        )
        self._own = None if choice else as_typed(reader, FORMAT)
        self._typed = self._own if self._own is not None and self._own.kind is not None else None
        self._ready: AvroCodec | None = None

    def __call__(
        self, data: bytes | None, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> Any:
        """Return the value of a record's part; None for a tombstone. Raises as `open` does."""
        return None if data is None else self.open(data, topic, part, headers).value

    def open(
        self, data: bytes, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> DeserializedPart:
        """Return value and writer's schema.

        Raises `BadRecordError` for invalid bytes (`code` has the kind), `Unavailable` if the registry does not answer;
        then the record may be valid, and a retry may succeed.
        """
        frame = self._reader.split(data, headers, (topic, part))
        schema, writer = self._reader.find_writer(frame, data)
        reader, typed = self._reader_for(topic, part, writer), self._typed
        plain = read_payload(writer, reader, frame.payload, frame.schema, tagged=typed is not None)
        if typed is None:
            return DeserializedPart(plain, schema)
        try:
            return DeserializedPart(typed.make(plain), schema)
        except MisfitError as error:
            raise BadRecordError(RecordErrorCode.INVALID, str(error), frame.payload, frame.schema) from error

    def _reader_for(self, topic: str, part: Part, writer: AvroCodec) -> AvroCodec | None:
        if self._own is not None:
            if self._ready is None:
                self._ready = self._reader.prepare(self._own.draft)
            return self._ready
        if self._choice is not None:
            return self._reader.find_latest(self._choice, (topic, part, writer.name))
        return None
