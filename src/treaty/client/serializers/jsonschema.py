"""JSON Schema serializer and deserializer: values as JSON text in framed records, validated against their schemas."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from treaty.client.references import fetch_resolved_schema
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
from treaty.core.finding import Diagnostic
from treaty.core.names import Subject
from treaty.core.registry import Registry
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import find_formats

FORMAT = "JSON"

ToJson = Callable[[Any], Any]
"""A function from a value to JSON: objects as dictionaries, arrays as lists."""
FromJson = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class JsonValidator:
    """A schema that values are validated against."""

    check: Callable[[str], tuple[Diagnostic, ...]]


def _make_validator(registry: Registry, schema_text: SchemaText) -> JsonValidator:
    form = find_formats()[FORMAT]
    try:
        model = form.parse(
            fetch_resolved_schema(registry, FORMAT, schema_text.text, schema_text.references, schema_text.home), False
        )
    except InvalidSchemaError as error:
        raise BadValueError(f"the schema can't be used: {error}") from error
    check = form.check
    assert check is not None
    return JsonValidator(lambda value: check(model, value))


def as_is(value: Any) -> Any:
    """The value itself."""
    return value


class JsonSerializer:
    """Serializes values as JSON text. Thread-safe."""

    def __init__(
        self,
        registry: Registry,
        schema: Draft | str | TypedSchema | type[Any] | None = None,
        settings: SerializerSettings | None = None,
        *,
        to_json: ToJson | None = None,
    ) -> None:
        """Take the writer's schema, or a class with fields; None only if the settings choose a schema of the registry.

        The schema of a class is derived from it; `typed_json` derives one of another draft, or from any annotation.
        `to_json` converts values to JSON. The `title` of the schema is the record name in subject name strategies. The
        registry is not closed with the serializer.
        """
        typed = as_typed(schema, FORMAT)
        draft = typed.draft if typed is not None else None

        def resolve_own(within: Subject) -> ResolvedSchema:
            assert draft is not None
            return fetch_resolved_schema(self._writer.registry, FORMAT, draft.text, draft.references, within)

        own_draft = None if draft is None else lambda: draft
        self._writer = WriterSchemas(
            registry,
            (FORMAT, _make_validator),
            settings or SerializerSettings(),
            own_draft,
            OwnSchema(resolve_own) if draft else None,
        )
        self._name = _title(draft.text) if draft else ""
        self._to_json = to_json or (typed.take if typed else as_is)

    def __call__(self, value: Any, topic: str = "", part: Part = "value") -> SerializedPart:
        """Return the key or value part for this value; None becomes a tombstone. Raises `BadValueError` with every
        fault of an invalid value, and the errors of the registry.
        """
        if value is None:
            return SerializedPart(None)
        settings = self._writer.settings
        bound = self._writer.bind(topic, part, self._name)
        try:
            plain = self._to_json(value)
            text = json.dumps(plain, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
            payload = text.encode()
        except MisfitError as error:
            raise BadValueError(str(error)) from error
        except (TypeError, ValueError, RecursionError) as error:
            raise BadValueError(f"the value has no JSON form: {error}") from error
        if settings.check and (faults := bound.codec.check(text)):
            raise BadValueError("; ".join(map(str, faults)))
        return bound.add_header(bound.prefix + payload, part)

    def prepare(self, topic: str = "", part: Part = "value") -> None:
        """Find the schema of a topic's records in advance. Raises the errors of the registry."""
        self._writer.bind(topic, part, self._name)


class JsonDeserializer:
    """Deserializes framed JSON text. Thread-safe."""

    def __init__(
        self,
        registry: Registry,
        reader: Draft | str | TypedSchema | type[Any] | UseLatest | UseLatestWith | None = None,
        settings: DeserializerSettings | None = None,
        *,
        from_json: FromJson | None = None,
    ) -> None:
        """Take the class of the values, or the schema to validate them: a schema, or a version of the subject.

        For a class its fields must be present and of their types; other properties are ignored. With None values are
        validated against their writer's schema if the settings say so.
        """
        self._reader = ReaderSchemas(registry, FORMAT, _make_validator, settings or DeserializerSettings())
        self._choice: UseLatest | UseLatestWith | None = (
            reader if isinstance(reader, UseLatest | UseLatestWith) else None
        )
        own = as_typed(None if isinstance(reader, UseLatest | UseLatestWith) else reader, FORMAT)
        self._own = own.draft if own is not None and own.kind is None else None
        self._from_json = from_json or (own.make if own else as_is)

    def __call__(
        self, data: bytes | None, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> Any:
        """Return the value of a record's part; None for a tombstone. Raises as `open` does."""
        return None if data is None else self.open(data, topic, part, headers).value

    def open(
        self, data: bytes, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> DeserializedPart:
        """Return value and writer's schema.

        Raises `BadRecordError` for invalid bytes (MALFORMED: not JSON; INVALID: not valid against the schema),
        `Unavailable` if the registry does not answer.
        """
        frame = self._reader.split(data, headers, (topic, part))
        schema, writer = self._reader.find_writer(frame, data)
        try:
            text = str(frame.payload, "utf-8")
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadRecordError(
                RecordErrorCode.MALFORMED, f"not JSON: {error}", frame.payload, frame.schema
            ) from error
        validator = self._find_validator(topic, part, writer)
        if validator is not None and (faults := validator.check(text)):
            raise BadRecordError(RecordErrorCode.INVALID, "; ".join(map(str, faults)), frame.payload, frame.schema)
        try:
            return DeserializedPart(self._from_json(value), schema)
        except MisfitError as error:
            raise BadRecordError(RecordErrorCode.INVALID, str(error), frame.payload, frame.schema) from error

    def _find_validator(self, topic: str, part: Part, writer: JsonValidator) -> JsonValidator | None:
        if self._own is not None:
            return self._reader.prepare(self._own)
        if self._choice is not None:
            return self._reader.find_latest(self._choice, (topic, part, ""))
        return writer if self._reader.settings.check else None


def _title(text: str) -> str:
    """Return the title of a schema, or ""."""
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadValueError(f"not a JSON Schema: {error}") from error
    title = schema.get("title") if isinstance(schema, dict) else None
    return title if isinstance(title, str) else ""
