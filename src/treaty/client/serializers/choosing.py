"""What serializers of all formats share: which schema a record is written with, and which one it was written with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from treaty.client.cache import CachedRegistry, LoadingCache
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.failures import BadRecord, BadValue, Code
from treaty.client.serializers.framing import HEADER_OF, Frame, Part, prefix, stamp
from treaty.client.serializers.names import Naming
from treaty.client.serializers.settings import (
    AutoRegister,
    Framed,
    MustExist,
    Reading,
    UseId,
    UseLatest,
    UseLatestWith,
    Writing,
)
from treaty.core.answers import SchemaFound, VersionFound
from treaty.core.finding import Finding
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.refusals import SchemaNotFound
from treaty.core.registry import Registry
from treaty.core.requests import LATEST, FindVersion, GetGuid, GetSchema, GetVersion, Lookup, Register, Request
from treaty.core.schema import Draft, Reference
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.registry import find_formats

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
class Own:
    """What a serializer's own schema means in a subject's context, and which differences concern its values."""

    meaning: Callable[[Subject], ResolvedSchema]
    concerns: Callable[[Finding], bool] = lambda _: True


@dataclass(frozen=True, slots=True)
class Pen(Generic[C]):
    """What a serializer writes with: a schema made ready, and the frame that names it: in front, or in a header."""

    codec: C
    schema_id: int
    guid: str
    front: bytes
    header: bytes

    def framed(self, data: bytes, part: Part) -> Framed:
        """What was written behind `front`, with the header if the frame stands there."""
        if self.header:
            return Framed(data, ((HEADER_OF[part], self.header),), self.schema_id, self.guid)
        return Framed(data, (), self.schema_id, self.guid)

    def headed(self, head: bytes, payload: bytes, part: Part) -> Framed:
        """A payload with a head of its own, which stands behind the guid or before the payload."""
        if self.header:
            return Framed(payload, ((HEADER_OF[part], self.header + head),), self.schema_id, self.guid)
        return Framed(self.front + head + payload, (), self.schema_id, self.guid)


class Writer(Generic[C]):
    """Finds the schema for each record of a serializer. Safe to share between threads."""

    def __init__(
        self,
        registry: Registry,
        make: tuple[str, Make[C]],
        settings: Writing,
        draft: Callable[[], Draft] | None,
        own: Own | None = None,
    ) -> None:
        """Take the schema to write with (made when it is first needed); None only where another one is used.

        `own` is what that schema means, for `strict` choices; it must not register anything.
        """
        if draft is None and isinstance(settings.choose, (AutoRegister, MustExist)):
            kind = type(settings.choose).__name__
            raise ValueError(f"{kind} needs a schema; give one, or choose UseLatest, UseLatestWith or UseId")
        self.registry = registry if isinstance(registry, CachedRegistry) else CachedRegistry(registry)
        self.settings = settings
        self._format, self._make = make
        self._draft = draft
        self._own = own
        self._pens: LoadingCache[object, Pen[C]] = LoadingCache(MAX_CODECS)
        self._steady: dict[tuple[str, Part, str], Pen[C]] = {}
        self._naming = Naming(self.registry, settings.name_of)
        self._keeps = not isinstance(settings.choose, UseLatest | UseLatestWith) and self._naming.steady

    def pen(self, topic: str, part: Part, name: str) -> Pen[C]:
        """The pen for a topic's records of the type `name`. Raises what the registry raises."""
        known = self._steady.get((topic, part, name))
        if known is not None:
            return known
        found = self._find(topic, part, name)
        if self._keeps:
            if len(self._steady) >= MAX_CODECS:
                self._steady.clear()
            self._steady[topic, part, name] = found
        return found

    def _find(self, topic: str, part: Part, name: str) -> Pen[C]:
        choose = self.settings.choose
        if isinstance(choose, UseId):
            return self._pens.get(choose, lambda: self._by_id(choose))
        subject = self._naming.subject(topic, part, name)
        if isinstance(choose, (UseLatest, UseLatestWith)):
            latest = self.registry.ask(found_by(choose, subject)).answer
            return self._pens.get((subject, latest.guid, latest.schema_id), lambda: self._latest(subject, latest))
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
        return self._pen(codec, version.schema_id, version.guid)

    def _pen(self, codec: C, schema_id: int, guid: str) -> Pen[C]:
        if self.settings.framing == "header":
            return Pen(codec, schema_id, guid, b"", stamp(guid))
        return Pen(codec, schema_id, guid, prefix(schema_id), b"")

    def _latest(self, subject: Subject, latest: VersionFound) -> Pen[C]:
        pen = self._of(subject, latest)
        self._fits(Text(latest.text, latest.references, subject), f"version {latest.number} of {subject}")
        return pen

    def _fits(self, found: Text, what: str) -> None:
        """A schema that was found must read what the serializer's own writes."""
        choose = self.settings.choose
        if self._own is None or isinstance(choose, (AutoRegister, MustExist)) or not choose.strict:
            return
        form, own = find_formats()[self._format], self._own.meaning(found.within)
        meaning = fetch_resolved_schema(self.registry, self._format, found.text, found.references, found.within)
        findings = form.compare(form.parse(meaning, False), form.parse(own, False), "STRICT")
        findings = tuple(filter(self._own.concerns, findings))
        if findings:
            message = f"{what} can't read what this serializer's own schema writes: {findings[0].message(reader='found', writer='own')}"
            raise BadValue(f"{message} (at {findings[0].path}); strict=False writes all the same")

    def _by_id(self, choose: UseId) -> Pen[C]:
        schema_id = choose.schema_id
        found = self.registry.ask(GetSchema(schema_id)).answer
        must_be(self._format, found.format, f"schema {schema_id}", "writes")
        self._fits(text_of(found), f"schema {schema_id}")
        return self._pen(self._make(self.registry, text_of(found)), schema_id, found.guid)


class Reader(Generic[C]):
    """Finds the schema that each record was written with, and the one to read it as. Safe to share between threads."""

    def __init__(self, registry: Registry, format_: str, make: Make[C], settings: Reading) -> None:
        """Ask this registry, through a cache if it has none."""
        self.registry = registry if isinstance(registry, CachedRegistry) else CachedRegistry(registry)
        self.settings = settings
        self._naming = Naming(self.registry, settings.name_of)
        self._format = format_
        self._make = make
        self._codecs: LoadingCache[object, tuple[SchemaFound, C]] = LoadingCache(MAX_CODECS)
        self._readers: LoadingCache[object, C] = LoadingCache(MAX_CODECS)
        self._known: dict[int | str, tuple[SchemaFound, C]] = {}

    def written(self, frame: Frame, data: bytes) -> tuple[SchemaFound, C]:
        """The schema of a frame. Raises `BadRecord` where there is none, `Unavailable` where nobody can say now."""
        known = self._known.get(frame.schema)
        if known is not None:
            return known
        try:
            found = self._codecs.get(frame.schema, lambda: self._find(frame))
        except SchemaNotFound as refusal:
            message = f"no schema {frame.schema} in the registry"
            raise BadRecord(Code.UNKNOWN_ID, message, data, frame.schema) from refusal
        if len(self._known) >= MAX_CODECS:
            self._known.clear()
        self._known[frame.schema] = found
        return found

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

    def latest(self, choose: UseLatest | UseLatestWith, at: tuple[str, Part, str]) -> C:
        """The version of the subject of a topic's records (topic, part, type's name) that the choice takes, made ready."""
        subject = self._naming.subject(*at)
        latest = self.registry.ask(found_by(choose, subject)).answer
        must_be(self._format, latest.format, f"version {latest.number} of {subject}", "reads")
        text = Text(latest.text, latest.references, subject)
        return self._readers.get((subject, latest.guid), lambda: self._make(self.registry, text))


def found_by(choose: UseLatest | UseLatestWith, subject: Subject) -> Request[VersionFound]:
    """The question for the version of a subject that a choice takes."""
    if isinstance(choose, UseLatestWith):
        return FindVersion(subject, tuple(sorted(choose.properties)))
    return GetVersion(subject, LATEST)


def text_of(found: SchemaFound) -> Text:
    """A schema that was found by its id or guid, in the place that it was found in."""
    within = subject_of(found.subject) if found.subject else Subject(found.context, "")
    return Text(found.text, found.references, within)


def must_be(wanted: str, format_: str, what: str, does: str) -> None:
    """Raise `BadValue` for a schema of another format."""
    if format_ != wanted:
        raise BadValue(f"{what} is {format_}; this serializer {does} {wanted}")
