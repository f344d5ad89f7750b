"""JSON Schema serializer and deserializer: values as JSON text in framed records, checked by their schemas."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from treaty.client.meaning import meaning_of
from treaty.client.serializers.choosing import Reader, Text, Writer
from treaty.client.serializers.failures import BadRecord, BadValue, Code
from treaty.client.serializers.framing import Part, unframe
from treaty.client.serializers.settings import Framed, Opened, Reading, UseLatest, Writing
from treaty.core.finding import Fault
from treaty.core.registry import Registry
from treaty.core.schema import Draft
from treaty.formats.format import InvalidSchemaError
from treaty.formats.table import table

FORMAT = "JSON"

ToJson = Callable[[Any], Any]
"""From a program's value to what JSON has: objects as dictionaries, arrays as lists."""
FromJson = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Ready:
    """A schema that values are checked against: the faults of a value given as JSON text."""

    check: Callable[[str], tuple[Fault, ...]]


def _made(registry: Registry, text: Text) -> Ready:
    form = table()[FORMAT]
    try:
        model = form.parse(meaning_of(registry, FORMAT, text.text, text.references, text.within), False)
    except InvalidSchemaError as wrong:
        raise BadValue(f"the schema can't be used: {wrong}") from wrong
    check = form.check
    assert check is not None
    return Ready(lambda value: check(model, value))


def as_is(value: Any) -> Any:
    """The value itself."""
    return value


class JsonSerializer:
    """Writes values as JSON text. Safe to share between threads."""

    def __init__(
        self,
        registry: Registry,
        schema: Draft | str | None = None,
        settings: Writing | None = None,
        *,
        to_json: ToJson = as_is,
    ) -> None:
        """Take the schema to write with (None only with `UseLatest` and `UseId`), and what makes values JSON has.

        The `title` of the schema is the name of its records for strategies that want one. The registry stays open.
        """
        draft = Draft(schema, FORMAT) if isinstance(schema, str) else schema
        self._writer = Writer(registry, FORMAT, _made, settings or Writing(), None if draft is None else lambda: draft)
        self._name = _title(draft.text) if draft else ""
        self._to_json = to_json

    def __call__(self, value: object, topic: str = "", part: Part = "value") -> Framed:
        """Return the record's half for this value; None becomes a delete marker.

        Raises `BadValue` with every fault where the value is not valid, and whatever the registry raises.
        """
        if value is None:
            return Framed(None)
        settings = self._writer.settings
        pen = self._writer.pen(topic, part, self._name)
        try:
            made = self._to_json(value)
            text = json.dumps(made, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
            payload = text.encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise BadValue(f"the value has no JSON form: {error}") from error
        if settings.check and (faults := pen.codec.check(text)):
            raise BadValue("; ".join(map(str, faults)))
        return pen.framed(payload, part, settings)


class JsonDeserializer:
    """Reads framed JSON text. Safe to share between threads."""

    def __init__(
        self,
        registry: Registry,
        reader: Draft | str | UseLatest | None = None,
        settings: Reading | None = None,
        *,
        from_json: FromJson = as_is,
    ) -> None:
        """Take the schema to check values against: one of your own, the subject's latest, or (None) the writer's.

        Without a schema of its own it checks only where the settings say so.
        """
        self._reader = Reader(registry, FORMAT, _made, settings or Reading())
        self._wanted = Draft(reader, FORMAT) if isinstance(reader, str) else reader
        self._from_json = from_json

    def __call__(
        self, data: bytes | None, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> object:
        """Return the value of a record's half; None for a delete marker. Raises as `open` does."""
        return None if data is None else self.open(data, topic, part, headers).value

    def open(
        self, data: bytes, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> Opened:
        """Return value and writer's schema.

        Raises `BadRecord` where the bytes are at fault (MALFORMED: no JSON; INVALID: not what the schema asks for),
        `Unavailable` where the registry can't be asked now.
        """
        frame = unframe(data, headers, part)
        found, writer = self._reader.written(frame, data)
        try:
            text = str(frame.payload, "utf-8")
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadRecord(Code.MALFORMED, f"not JSON: {error}", frame.payload, frame.schema) from error
        judge = self._judge(topic, part, writer)
        if judge is not None and (faults := judge.check(text)):
            raise BadRecord(Code.INVALID, "; ".join(map(str, faults)), frame.payload, frame.schema)
        return Opened(self._from_json(value), found)

    def _judge(self, topic: str, part: Part, writer: Ready) -> Ready | None:
        if isinstance(self._wanted, Draft):
            return self._reader.of(self._wanted)
        if self._wanted is not None:
            return self._reader.latest(topic, part, "")
        return writer if self._reader.settings.check else None


def _title(text: str) -> str:
    """The title of a schema, or "" where it has none."""
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadValue(f"not a JSON Schema: {error}") from error
    title = schema.get("title") if isinstance(schema, dict) else None
    return title if isinstance(title, str) else ""
