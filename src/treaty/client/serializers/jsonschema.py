"""JSON Schema serializer and deserializer: values as JSON text in framed records, checked by their schemas."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.frames import Part, unframe
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
"""From a program's value to what JSON has: objects as dictionaries, arrays as lists."""
FromJson = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class JsonValidator:
    """A schema that values are checked against: the faults of a value given as JSON text."""

    check: Callable[[str], tuple[Diagnostic, ...]]


def _make_validator(registry: Registry, text: SchemaText) -> JsonValidator:
    form = find_formats()[FORMAT]
    try:
        model = form.parse(fetch_resolved_schema(registry, FORMAT, text.text, text.references, text.within), False)
    except InvalidSchemaError as wrong:
        raise BadValueError(f"the schema can't be used: {wrong}") from wrong
    check = form.check
    assert check is not None
    return JsonValidator(lambda value: check(model, value))


def as_is(value: Any) -> Any:
    """The value itself."""
    return value


class JsonSerializer:
    """Writes values as JSON text. Safe to share between threads."""

    def __init__(
        self,
        registry: Registry,
        schema: Draft | str | TypedSchema | type[Any] | None = None,
        settings: SerializerSettings | None = None,
        *,
        to_json: ToJson | None = None,
    ) -> None:
        """Take the schema to write with, or a class with fields whose values are written; None only where another is used.

        A class's schema is derived from it; `typed_json` derives one of another draft, or from any annotation. `to_json`
        makes values that JSON has. The `title` of the schema is the name of its records for strategies that want one.
        The registry stays open.
        """
        typed = as_typed(schema, FORMAT)
        draft = typed.draft if typed is not None else None

        def own(within: Subject) -> ResolvedSchema:
            assert draft is not None
            return fetch_resolved_schema(self._writer.registry, FORMAT, draft.text, draft.references, within)

        given = None if draft is None else lambda: draft
        self._writer = WriterSchemas(
            registry,
            (FORMAT, _make_validator),
            settings or SerializerSettings(),
            given,
            OwnSchema(own) if draft else None,
        )
        self._name = _title(draft.text) if draft else ""
        self._to_json = to_json or (typed.take if typed else as_is)

    def __call__(self, value: Any, topic: str = "", part: Part = "value") -> SerializedPart:
        """Return the key or value part for this value; None becomes a tombstone.

        Raises `BadValueError` with every fault where the value is not valid, and whatever the registry raises.
        """
        if value is None:
            return SerializedPart(None)
        settings = self._writer.settings
        bound = self._writer.bind(topic, part, self._name)
        try:
            made = self._to_json(value)
            text = json.dumps(made, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
            payload = text.encode()
        except MisfitError as error:
            raise BadValueError(str(error)) from error
        except (TypeError, ValueError, RecursionError) as error:
            raise BadValueError(f"the value has no JSON form: {error}") from error
        if settings.check and (faults := bound.codec.check(text)):
            raise BadValueError("; ".join(map(str, faults)))
        return bound.add_header(bound.prefix + payload, part)

    def prepare(self, topic: str = "", part: Part = "value") -> None:
        """Find the schema of a topic's records now, not at the first of them. Raises what the registry raises."""
        self._writer.bind(topic, part, self._name)


class JsonDeserializer:
    """Reads framed JSON text. Safe to share between threads."""

    def __init__(
        self,
        registry: Registry,
        reader: Draft | str | TypedSchema | type[Any] | UseLatest | UseLatestWith | None = None,
        settings: DeserializerSettings | None = None,
        *,
        from_json: FromJson | None = None,
    ) -> None:
        """Take the class to read values into, or the schema to check them against: one's own, or a version of the subject.

        A class checks by being made: its own fields must be there and of their types, other properties are passed over.
        With None values are checked, against the schema they were written with, only where the settings say so.
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

        Raises `BadRecordError` where the bytes are at fault (MALFORMED: no JSON; INVALID: not what the schema asks for),
        `Unavailable` where the registry can't be asked now.
        """
        frame = unframe(data, headers, part)
        found, writer = self._reader.find_writer(frame, data)
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
            return DeserializedPart(self._from_json(value), found)
        except MisfitError as error:
            raise BadRecordError(RecordErrorCode.INVALID, str(error), frame.payload, frame.schema) from error

    def _find_validator(self, topic: str, part: Part, writer: JsonValidator) -> JsonValidator | None:
        if self._own is not None:
            return self._reader.prepare(self._own)
        if self._choice is not None:
            return self._reader.find_latest(self._choice, (topic, part, ""))
        return writer if self._reader.settings.check else None


def _title(text: str) -> str:
    """The title of a schema, or "" where it has none."""
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadValueError(f"not a JSON Schema: {error}") from error
    title = schema.get("title") if isinstance(schema, dict) else None
    return title if isinstance(title, str) else ""
