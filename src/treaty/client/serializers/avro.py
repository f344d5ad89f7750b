"""Avro serializer and deserializer: values to framed records and back, over any `Registry`."""

from collections.abc import Iterable

from treaty.client.serializers.choosing import Reader, Text, Writer
from treaty.client.serializers.codec import Ready, full_name, read, ready, write
from treaty.client.serializers.framing import Part, unframe
from treaty.client.serializers.settings import Framed, Opened, Reading, UseLatest, Writing
from treaty.core.registry import Registry
from treaty.core.schema import Draft


def _made(registry: Registry, text: Text) -> Ready:
    return ready(registry, text.text, text.references, text.within)


class AvroSerializer:
    """Writes values under one schema, or under whatever the registry says is right. Safe to share between threads."""

    def __init__(self, registry: Registry, schema: Draft | str | None = None, settings: Writing | None = None) -> None:
        """Take the schema to write with; None only with `UseLatest` and `UseId`. The registry stays open."""
        draft = Draft(schema) if isinstance(schema, str) else schema
        self._writer = Writer(registry, "AVRO", _made, settings or Writing(), None if draft is None else lambda: draft)
        self._name = full_name(draft.text) if draft else ""

    def __call__(self, value: object, topic: str = "", part: Part = "value") -> Framed:
        """Return the record's half for this value; None becomes a delete marker.

        Raises `BadValue` where value and schema do not fit, and whatever the registry raises.
        """
        if value is None:
            return Framed(None)
        settings = self._writer.settings
        pen = self._writer.pen(topic, part, self._name)
        return pen.framed(write(pen.codec, value, check=settings.check), part, settings)


class AvroDeserializer:
    """Reads framed records, each under the schema it was written with. Safe to share between threads."""

    def __init__(
        self, registry: Registry, reader: Draft | str | UseLatest | None = None, settings: Reading | None = None
    ) -> None:
        """Take the schema to resolve values to: one of your own, the subject's latest, or None for the writer's."""
        self._reader = Reader(registry, "AVRO", _made, settings or Reading())
        self._wanted = Draft(reader) if isinstance(reader, str) else reader

    def __call__(
        self, data: bytes | None, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> object:
        """Return the value of a record's half; None for a delete marker. Raises as `open` does."""
        return None if data is None else self.open(data, topic, part, headers).value

    def open(
        self, data: bytes, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> Opened:
        """Return value and writer's schema.

        Raises `BadRecord` where the bytes are at fault (its `code` says how), `Unavailable` where the registry
        can't be asked now: that record is not bad, try again.
        """
        frame = unframe(data, headers, part)
        found, writer = self._reader.written(frame, data)
        reader = self._reader_for(topic, part, writer)
        return Opened(read(writer, reader, frame.payload, frame.schema), found)

    def _reader_for(self, topic: str, part: Part, writer: Ready) -> Ready | None:
        if self._wanted is None:
            return None
        if isinstance(self._wanted, Draft):
            return self._reader.of(self._wanted)
        return self._reader.latest(topic, part, writer.name)
