"""Avro serializer and deserializer: values to framed records and back, over any `Registry`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from treaty.client.cache import Cached, Memo
from treaty.client.serializers.codec import Ready, full_name, read, ready, write
from treaty.client.serializers.failures import BadRecord, BadValue, Code
from treaty.client.serializers.framing import HEADER_OF, Frame, Headers, Part, prefix, stamp, unframe
from treaty.client.serializers.names import NameOf, topic_name
from treaty.core.answers import SchemaFound, VersionFound
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.refusals import SchemaNotFound
from treaty.core.registry import Registry
from treaty.core.requests import LATEST, GetGuid, GetSchema, GetVersion, Lookup, Register
from treaty.core.schema import Draft

MAX_CODECS = 1000
"""Schemas kept ready for the codec, in each serializer."""


@dataclass(frozen=True, slots=True)
class AutoRegister:
    """Register the schema under the subject before the first record (the default)."""

    normalize: bool | None = None


@dataclass(frozen=True, slots=True)
class MustExist:
    """The schema must be a version of the subject already; never register."""

    normalize: bool | None = None


@dataclass(frozen=True, slots=True)
class UseLatest:
    """Take the subject's latest version, whatever it is; looked at again when the cache's time is over."""


@dataclass(frozen=True, slots=True)
class UseId:
    """Take the schema with this id."""

    schema_id: int


Choice = AutoRegister | MustExist | UseLatest | UseId
"""Which schema a serializer writes with."""


@dataclass(frozen=True, slots=True)
class Writing:
    """Settings of a serializer."""

    choose: Choice = AutoRegister()
    name_of: NameOf = topic_name
    framing: Literal["prefix", "header"] = "prefix"
    check: bool = True
    """Compare each value with the schema first: unknown fields, numbers out of range, missing fields."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Settings of a deserializer."""

    name_of: NameOf = topic_name
    """Names the subject of `UseLatest`."""
    context: str = DEFAULT_CONTEXT
    """The context whose ids stand in the frames."""


@dataclass(frozen=True, slots=True)
class Framed:
    """Half a record, ready for a producer. `data` is None for a delete marker."""

    data: bytes | None
    headers: Headers = ()
    schema_id: int = 0
    guid: str = ""


@dataclass(frozen=True, slots=True)
class Opened:
    """A value and the schema it was written with."""

    value: object
    written: SchemaFound


@dataclass(frozen=True, slots=True)
class _Pen:
    """What a serializer writes with: a schema made ready, and the frame that names it."""

    codec: Ready
    schema_id: int
    guid: str


class AvroSerializer:
    """Writes values under one schema, or under whatever the registry says is right. Safe to share between threads."""

    def __init__(self, registry: Registry, schema: Draft | str | None = None, settings: Writing | None = None) -> None:
        """Take the schema to write with; None only with `UseLatest` and `UseId`. The registry stays open."""
        self._settings = settings or Writing()
        self._draft = Draft(schema) if isinstance(schema, str) else schema
        choose = self._settings.choose
        if self._draft is None and isinstance(choose, (AutoRegister, MustExist)):
            raise ValueError(f"{type(choose).__name__} needs a schema; give one, or choose UseLatest or UseId")
        self._name = full_name(self._draft.text) if self._draft else ""
        self._registry = registry if isinstance(registry, Cached) else Cached(registry)
        self._pens: Memo[object, _Pen] = Memo(MAX_CODECS)

    def __call__(self, value: object, topic: str = "", part: Part = "value") -> Framed:
        """Return the record's half for this value; None becomes a delete marker.

        Raises `BadValue` where value and schema do not fit, and whatever the registry raises.
        """
        if value is None:
            return Framed(None)
        pen = self._pen(topic, part)
        payload = write(pen.codec, value, check=self._settings.check)
        if self._settings.framing == "header":
            return Framed(payload, ((HEADER_OF[part], stamp(pen.guid)),), pen.schema_id, pen.guid)
        return Framed(prefix(pen.schema_id) + payload, (), pen.schema_id, pen.guid)

    def _pen(self, topic: str, part: Part) -> _Pen:
        choose = self._settings.choose
        if isinstance(choose, UseId):
            return self._pens.get(choose, lambda: self._by_id(choose.schema_id))
        subject = self._settings.name_of(topic, part, self._name)
        if isinstance(choose, UseLatest):
            latest = self._registry.ask(GetVersion(subject, LATEST)).answer
            return self._pens.get((subject, latest.guid, latest.schema_id), lambda: self._of(subject, latest))
        return self._pens.get(subject, lambda: self._of(subject, self._agreed(subject, choose)))

    def _agreed(self, subject: Subject, choose: AutoRegister | MustExist) -> VersionFound:
        """Register the schema or look it up."""
        assert self._draft is not None
        if isinstance(choose, MustExist):
            return self._registry.ask(Lookup(subject, self._draft, choose.normalize)).answer
        return self._registry.ask(Register(subject, self._draft, choose.normalize)).answer.version

    def _of(self, subject: Subject, version: VersionFound) -> _Pen:
        _must_be_avro(version.format, f"version {version.number} of {subject}")
        codec = ready(self._registry, version.text, version.references, subject)
        return _Pen(codec, version.schema_id, version.guid)

    def _by_id(self, schema_id: int) -> _Pen:
        found = self._registry.ask(GetSchema(schema_id)).answer
        _must_be_avro(found.format, f"schema {schema_id}")
        return _Pen(_codec_of(self._registry, found), schema_id, found.guid)


class AvroDeserializer:
    """Reads framed records, each under the schema it was written with. Safe to share between threads."""

    def __init__(
        self, registry: Registry, reader: Draft | str | UseLatest | None = None, settings: Reading | None = None
    ) -> None:
        """Take the schema to resolve values to: one of your own, the subject's latest, or None for the writer's."""
        self._settings = settings or Reading()
        self._reader = Draft(reader) if isinstance(reader, str) else reader
        self._registry = registry if isinstance(registry, Cached) else Cached(registry)
        self._codecs: Memo[object, tuple[SchemaFound, Ready]] = Memo(MAX_CODECS)
        self._readers: Memo[object, Ready] = Memo(MAX_CODECS)

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
        try:
            found, writer = self._codecs.get(frame.schema, lambda: self._writer(frame))
        except SchemaNotFound as refusal:
            message = f"no schema {frame.schema} in the registry"
            raise BadRecord(Code.UNKNOWN_ID, message, data, frame.schema) from refusal
        reader = self._reader_for(topic, part, writer)
        return Opened(read(writer, reader, frame.payload, frame.schema), found)

    def _writer(self, frame: Frame) -> tuple[SchemaFound, Ready]:
        context = self._settings.context
        within = Subject(context, "") if context != DEFAULT_CONTEXT else None
        if isinstance(frame.schema, int):
            found = self._registry.ask(GetSchema(frame.schema, within)).answer
        else:
            found = self._registry.ask(GetGuid(frame.schema)).answer
        if found.format != "AVRO":
            message = f"schema {frame.schema} is {found.format}, this deserializer reads AVRO"
            raise BadRecord(Code.MALFORMED, message, frame.payload, frame.schema)
        return found, _codec_of(self._registry, found)

    def _reader_for(self, topic: str, part: Part, writer: Ready) -> Ready | None:
        if self._reader is None:
            return None
        if isinstance(self._reader, Draft):
            draft = self._reader
            within = Subject(self._settings.context, "")
            return self._readers.get(draft, lambda: ready(self._registry, draft.text, draft.references, within))
        subject = self._settings.name_of(topic, part, writer.name)
        latest = self._registry.ask(GetVersion(subject, LATEST)).answer
        _must_be_avro(latest.format, f"version {latest.number} of {subject}")
        return self._readers.get(
            (subject, latest.guid), lambda: ready(self._registry, latest.text, latest.references, subject)
        )


def _codec_of(registry: Registry, found: SchemaFound) -> Ready:
    within = subject_of(found.subject) if found.subject else Subject(found.context, "")
    return ready(registry, found.text, found.references, within)


def _must_be_avro(format: str, what: str) -> None:  # noqa: A002 (the word of the protocol)
    if format != "AVRO":
        raise BadValue(f"{what} is {format}; this serializer writes AVRO")
