"""What serializers of all formats share: which schema a record is written with, and which one it was written with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from treaty.client.cache import Cached, Memo
from treaty.client.serializers.failures import BadRecord, BadValue, Code
from treaty.client.serializers.framing import HEADER_OF, Frame, Part, prefix, stamp
from treaty.client.serializers.settings import AutoRegister, Framed, MustExist, Reading, UseId, UseLatest, Writing
from treaty.core.answers import SchemaFound, VersionFound
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.refusals import SchemaNotFound
from treaty.core.registry import Registry
from treaty.core.requests import LATEST, GetGuid, GetSchema, GetVersion, Lookup, Register
from treaty.core.schema import Draft, Reference

MAX_CODECS = 1000
"""Schemas kept ready for the codec, in each serializer."""

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Text:
    """A schema's text and references, and the subject (or context) that it stands in."""

    text: str
    references: tuple[Reference, ...]
    within: Subject


Make = Callable[[Registry, Text], C]
"""Makes a schema ready for the codec."""


@dataclass(frozen=True, slots=True)
class Pen(Generic[C]):
    """What a serializer writes with: a schema made ready, and the frame that names it."""

    codec: C
    schema_id: int
    guid: str

    def framed(self, payload: bytes, part: Part, settings: Writing, head: bytes = b"") -> Framed:
        """Put the frame around a payload; `head` stands before it, after the id or behind the guid."""
        if settings.framing == "header":
            return Framed(payload, ((HEADER_OF[part], stamp(self.guid) + head),), self.schema_id, self.guid)
        return Framed(prefix(self.schema_id) + head + payload, (), self.schema_id, self.guid)


class Writer(Generic[C]):
    """Finds the schema for each record of a serializer. Safe to share between threads."""

    def __init__(
        self, registry: Registry, format_: str, make: Make[C], settings: Writing, draft: Callable[[], Draft] | None
    ) -> None:
        """Take the schema to write with (made when it is first needed); None only with `UseLatest` and `UseId`."""
        if draft is None and isinstance(settings.choose, (AutoRegister, MustExist)):
            kind = type(settings.choose).__name__
            raise ValueError(f"{kind} needs a schema; give one, or choose UseLatest or UseId")
        self.registry = registry if isinstance(registry, Cached) else Cached(registry)
        self.settings = settings
        self._format = format_
        self._make = make
        self._draft = draft
        self._pens: Memo[object, Pen[C]] = Memo(MAX_CODECS)

    def pen(self, topic: str, part: Part, name: str) -> Pen[C]:
        """The pen for a topic's records of the type `name`. Raises what the registry raises."""
        choose = self.settings.choose
        if isinstance(choose, UseId):
            return self._pens.get(choose, lambda: self._by_id(choose.schema_id))
        subject = self.settings.name_of(topic, part, name)
        if isinstance(choose, UseLatest):
            latest = self.registry.ask(GetVersion(subject, LATEST)).answer
            return self._pens.get((subject, latest.guid, latest.schema_id), lambda: self._of(subject, latest))
        return self._pens.get(subject, lambda: self._of(subject, self._agreed(subject, choose)))

    def _agreed(self, subject: Subject, choose: AutoRegister | MustExist) -> VersionFound:
        """Register the schema or look it up."""
        assert self._draft is not None
        if isinstance(choose, MustExist):
            return self.registry.ask(Lookup(subject, self._draft(), choose.normalize)).answer
        return self.registry.ask(Register(subject, self._draft(), choose.normalize)).answer.version

    def _of(self, subject: Subject, version: VersionFound) -> Pen[C]:
        must_be(self._format, version.format, f"version {version.number} of {subject}", "writes")
        codec = self._make(self.registry, Text(version.text, version.references, subject))
        return Pen(codec, version.schema_id, version.guid)

    def _by_id(self, schema_id: int) -> Pen[C]:
        found = self.registry.ask(GetSchema(schema_id)).answer
        must_be(self._format, found.format, f"schema {schema_id}", "writes")
        return Pen(self._make(self.registry, text_of(found)), schema_id, found.guid)


class Reader(Generic[C]):
    """Finds the schema that each record was written with, and the one to read it as. Safe to share between threads."""

    def __init__(self, registry: Registry, format_: str, make: Make[C], settings: Reading) -> None:
        """Ask this registry, through a cache if it has none."""
        self.registry = registry if isinstance(registry, Cached) else Cached(registry)
        self.settings = settings
        self._format = format_
        self._make = make
        self._codecs: Memo[object, tuple[SchemaFound, C]] = Memo(MAX_CODECS)
        self._readers: Memo[object, C] = Memo(MAX_CODECS)

    def written(self, frame: Frame, data: bytes) -> tuple[SchemaFound, C]:
        """The schema of a frame. Raises `BadRecord` where there is none, `Unavailable` where nobody can say now."""
        try:
            return self._codecs.get(frame.schema, lambda: self._find(frame))
        except SchemaNotFound as refusal:
            message = f"no schema {frame.schema} in the registry"
            raise BadRecord(Code.UNKNOWN_ID, message, data, frame.schema) from refusal

    def _find(self, frame: Frame) -> tuple[SchemaFound, C]:
        context = self.settings.context
        within = Subject(context, "") if context != DEFAULT_CONTEXT else None
        if isinstance(frame.schema, int):
            found = self.registry.ask(GetSchema(frame.schema, within)).answer
        else:
            found = self.registry.ask(GetGuid(frame.schema)).answer
        if found.format != self._format:
            message = f"schema {frame.schema} is {found.format}, this deserializer reads {self._format}"
            raise BadRecord(Code.MALFORMED, message, frame.payload, frame.schema)
        return found, self._make(self.registry, text_of(found))

    def of(self, draft: Draft) -> C:
        """A schema of the program's own, made ready."""
        within = Subject(self.settings.context, "")
        return self._readers.get(draft, lambda: self._make(self.registry, Text(draft.text, draft.references, within)))

    def latest(self, topic: str, part: Part, name: str) -> C:
        """The latest version of the subject of a topic's records, made ready."""
        subject = self.settings.name_of(topic, part, name)
        latest = self.registry.ask(GetVersion(subject, LATEST)).answer
        must_be(self._format, latest.format, f"version {latest.number} of {subject}", "reads")
        text = Text(latest.text, latest.references, subject)
        return self._readers.get((subject, latest.guid), lambda: self._make(self.registry, text))


def text_of(found: SchemaFound) -> Text:
    """A schema that was found by its id or guid, in the place that it was found in."""
    within = subject_of(found.subject) if found.subject else Subject(found.context, "")
    return Text(found.text, found.references, within)


def must_be(wanted: str, format_: str, what: str, does: str) -> None:
    """Raise `BadValue` for a schema of another format."""
    if format_ != wanted:
        raise BadValue(f"{what} is {format_}; this serializer {does} {wanted}")
