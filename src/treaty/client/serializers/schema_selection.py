"""Which schema a serializer writes a record with, and whether that can read what its own schema writes (`WriterSchemas`); and which one a record
was written with (`ReaderSchemas`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from treaty.client.cache import CachedRegistry, LoadingCache
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.frames import HEADER_OF, Frame, Part, encode_guid, encode_id, unframe
from treaty.client.serializers.schema_heads import SubjectHeads, make_head
from treaty.client.serializers.settings import (
    AutoRegister,
    DeserializerSettings,
    MustExist,
    SerializedPart,
    SerializerSettings,
    UseId,
    UseLatest,
    UseLatestWith,
)
from treaty.client.serializers.subject_names import SubjectNaming
from treaty.core.finding import Finding
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.schemas import GetGuid, GetSchema, SchemaFound
from treaty.core.messages.versions import FindVersion, GetVersion, Lookup, VersionFound
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.refusals import SchemaNotFound
from treaty.core.registry import Registry
from treaty.core.schema import Draft, Pairs, Reference
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.registry import find_formats

MAX_CODECS = 1000
"""The most cached codecs of a serializer."""

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class SchemaText:
    """The text and references of a schema, and `home`, the subject or context in which references are resolved."""

    text: str
    references: tuple[Reference, ...]
    home: Subject
    imports: Pairs = ()


MakeCodec = Callable[[Registry, SchemaText], C]
"""Returns a codec for a schema."""


@dataclass(frozen=True, slots=True)
class OwnSchema:
    """The serializer's own schema: its resolution in the context of a subject, and a filter of findings that concern
    its values.
    """

    resolve: Callable[[Subject], ResolvedSchema]
    is_relevant: Callable[[Finding], bool] = lambda _: True


@dataclass(frozen=True, slots=True)
class BoundSchema(Generic[C]):
    """A codec with the id and guid of its schema, and its frame: a prefix, or a header."""

    codec: C
    schema_id: int
    guid: str
    prefix: bytes
    header: bytes

    def add_header(self, data: bytes, part: Part) -> SerializedPart:
        """Return the part for bytes that begin with the prefix; with a header if the frame is in one."""
        if self.header:
            return SerializedPart(data, ((HEADER_OF[part], self.header),), self.schema_id, self.guid)
        return SerializedPart(data, (), self.schema_id, self.guid)

    def add_frame(self, head: bytes, payload: bytes, part: Part) -> SerializedPart:
        """Return a framed payload with a prefix of its format: after the guid in the header, or between frame and
        payload.
        """
        if self.header:
            return SerializedPart(payload, ((HEADER_OF[part], self.header + head),), self.schema_id, self.guid)
        return SerializedPart(self.prefix + head + payload, (), self.schema_id, self.guid)


class WriterSchemas(Generic[C]):
    """Chooses the schema for each record of a serializer. Thread-safe."""

    def __init__(
        self,
        registry: Registry,
        make: tuple[str, MakeCodec[C]],
        settings: SerializerSettings,
        draft: Callable[[], Draft] | None,
        own: OwnSchema | None = None,
    ) -> None:
        """Take a function that returns the writer's schema, called at first use; None only if the choice needs none.
        `own` resolves that schema for `strict` choices, without registering anything.
        """
        if draft is None and isinstance(settings.choice, (AutoRegister, MustExist)):
            kind = type(settings.choice).__name__
            raise ValueError(f"{kind} needs a schema; give one, or choose UseLatest, UseLatestWith or UseId")
        self.registry = registry if isinstance(registry, CachedRegistry) else CachedRegistry(registry)
        self.settings = settings
        self._format, self._make = make
        self._draft = draft
        self._own = own
        self._bound: LoadingCache[object, BoundSchema[C]] = LoadingCache(MAX_CODECS)
        self._stable: dict[tuple[str, Part, str], BoundSchema[C]] = {}
        self._naming = SubjectNaming(self.registry, settings.name_strategy)
        self._is_stable = not isinstance(settings.choice, UseLatest | UseLatestWith) and self._naming.is_stable

    def bind(self, topic: str, part: Part, name: str) -> BoundSchema[C]:
        """Return codec and frame for records of type `name` in a topic. Raises the errors of the registry."""
        bound = self._stable.get((topic, part, name))
        if bound is not None:
            return bound
        new_bound = self._find(topic, part, name)
        if self._is_stable:
            if len(self._stable) >= MAX_CODECS:
                self._stable.clear()
            self._stable[topic, part, name] = new_bound
        return new_bound

    def _find(self, topic: str, part: Part, name: str) -> BoundSchema[C]:
        choice = self.settings.choice
        if isinstance(choice, UseId):
            return self._bound.get(choice, lambda: self._bind_id(choice))
        subject = self._naming.subject(topic, part, name)
        if isinstance(choice, (UseLatest, UseLatestWith)):
            latest = self.registry.ask(version_request(choice, subject)).answer
            return self._bound.get(
                (subject, latest.guid, latest.schema_id, latest.ordinal), lambda: self._bind_latest(subject, latest)
            )
        return self._bound.get(subject, lambda: self._bind_version(subject, self._find_or_register(subject, choice)))

    def _find_or_register(self, subject: Subject, choice: AutoRegister | MustExist) -> VersionFound:
        """Register the schema or look it up."""
        assert self._draft is not None
        if isinstance(choice, MustExist):
            try:
                return self.registry.ask(Lookup(subject, self._draft(), choice.normalize)).answer
            except SchemaNotFound as missing:
                raise missing.with_remedy(", or let the serializer do it with the choice AutoRegister()") from None
        return self.registry.ask(Register(subject, self._draft(), choice.normalize)).answer.version

    def _bind_version(self, subject: Subject, version: VersionFound) -> BoundSchema[C]:
        refuse_other_format(self._format, version.format, f"version {version.number} of {subject}", "writes")
        codec = self._make(self.registry, SchemaText(version.text, version.references, subject, version.imports))
        return self._bind_codec(codec, version, subject)

    def _bind_codec(self, codec: C, stored: VersionFound | SchemaFound, within: Subject) -> BoundSchema[C]:
        framing, schema_id = self.settings.framing, stored.schema_id
        if framing == "header":
            return BoundSchema(codec, schema_id, stored.guid, b"", encode_guid(stored.guid))
        if framing == "prefix":
            return BoundSchema(codec, schema_id, stored.guid, encode_id(schema_id), b"")
        schema = (stored.format, stored.text, stored.references)
        ordinal = stored.ordinal if isinstance(stored, VersionFound) else -1
        return BoundSchema(
            codec, schema_id, stored.guid, make_head(self.registry, framing, schema, within, ordinal), b""
        )

    def _bind_latest(self, subject: Subject, latest: VersionFound) -> BoundSchema[C]:
        bound = self._bind_version(subject, latest)
        self._refuse_unreadable(
            SchemaText(latest.text, latest.references, subject, latest.imports), f"version {latest.number} of {subject}"
        )
        return bound

    def _refuse_unreadable(self, schema: SchemaText, what: str) -> None:
        """Raise `BadValueError` if the chosen schema cannot read data of the serializer's own schema."""
        choice = self.settings.choice
        if self._own is None or isinstance(choice, (AutoRegister, MustExist)) or not choice.strict:
            return
        form, own = find_formats()[self._format], self._own.resolve(schema.home)
        resolved = fetch_resolved_schema(
            self.registry, self._format, schema.text, schema.references, schema.home, imports=schema.imports
        )
        findings = form.compare(form.parse(resolved, False), form.parse(own, False), "STRICT")
        findings = tuple(filter(self._own.is_relevant, findings))
        if findings:
            message = f"{what} can't read what this serializer's own schema writes: {findings[0].message(reader='found', writer='own')}"
            raise BadValueError(f"{message} (at {findings[0].path}); strict=False turns this check off")

    def _bind_id(self, choice: UseId) -> BoundSchema[C]:
        schema_id = choice.schema_id
        schema = self.registry.ask(GetSchema(schema_id)).answer
        refuse_other_format(self._format, schema.format, f"schema {schema_id}", "writes")
        self._refuse_unreadable(text_of(schema), f"schema {schema_id}")
        schema_text = text_of(schema)
        return self._bind_codec(self._make(self.registry, schema_text), schema, schema_text.home)


class ReaderSchemas(Generic[C]):
    """Finds the writer's schema of each record, and its reader's schema. Thread-safe."""

    def __init__(self, registry: Registry, format_: str, make: MakeCodec[C], settings: DeserializerSettings) -> None:
        """Use this registry, through a cache if it has none."""
        self.registry = registry if isinstance(registry, CachedRegistry) else CachedRegistry(registry)
        self.settings = settings
        self._naming = SubjectNaming(self.registry, settings.name_strategy)
        self._format = format_
        self._make = make
        self._codecs: LoadingCache[object, tuple[SchemaFound, C]] = LoadingCache(MAX_CODECS)
        self._readers: LoadingCache[object, C] = LoadingCache(MAX_CODECS)
        self._known: dict[int | str, tuple[SchemaFound, C]] = {}
        self._heads = SubjectHeads(self.registry, settings.framing)

    def split(
        self, data: bytes, headers: Iterable[tuple[str, bytes]], place: tuple[str, Part], *, headed: bool = False
    ) -> Frame:
        """Return the frame of a record of a topic and part, as the framing of the settings says. Raises as `unframe`."""
        if self.settings.framing in {"prefix", "header"}:
            return unframe(data, headers, place[1], headed=headed)
        return self._heads.split(data, self._naming.subject(*place, ""))

    def find_writer(self, frame: Frame, data: bytes) -> tuple[SchemaFound, C]:
        """Return the schema of a frame. Raises `BadRecordError` if there is none, `Unavailable` if the registry does
        not answer.
        """
        writer = self._known.get(frame.schema)
        if writer is not None:
            return writer
        try:
            schema_and_codec = self._codecs.get(frame.schema, lambda: self._find(frame))
        except SchemaNotFound as refusal:
            message = f"no schema {frame.schema} in the registry"
            raise BadRecordError(RecordErrorCode.UNKNOWN_ID, message, data, frame.schema) from refusal
        if len(self._known) >= MAX_CODECS:
            self._known.clear()
        self._known[frame.schema] = schema_and_codec
        return schema_and_codec

    def _find(self, frame: Frame) -> tuple[SchemaFound, C]:
        context = self.settings.context
        within = Subject(context, "") if context != DEFAULT_CONTEXT else None
        if isinstance(frame.schema, int):
            schema = self.registry.ask(GetSchema(frame.schema, within)).answer
        else:
            schema = self.registry.ask(GetGuid(frame.schema)).answer
        if schema.format != self._format:
            message = f"schema {frame.schema} is {schema.format}, this deserializer reads {self._format}"
            raise BadRecordError(RecordErrorCode.MALFORMED, message, frame.payload, frame.schema)
        return schema, self._make(self.registry, text_of(schema))

    def prepare(self, draft: Draft) -> C:
        """Return the codec of the program's own schema."""
        within = Subject(self.settings.context, "")
        return self._readers.get(
            draft, lambda: self._make(self.registry, SchemaText(draft.text, draft.references, within, draft.imports))
        )

    def find_latest(self, choice: UseLatest | UseLatestWith, place: tuple[str, Part, str]) -> C:
        """Return the codec of the chosen version of the subject for topic, part and type name."""
        subject = self._naming.subject(*place)
        latest = self.registry.ask(version_request(choice, subject)).answer
        refuse_other_format(self._format, latest.format, f"version {latest.number} of {subject}", "reads")
        schema_text = SchemaText(latest.text, latest.references, subject, latest.imports)
        return self._readers.get(
            (subject, latest.guid, latest.schema_id), lambda: self._make(self.registry, schema_text)
        )


def version_request(choice: UseLatest | UseLatestWith, subject: Subject) -> Request[VersionFound]:
    """Return the request for the chosen version of a subject."""
    if isinstance(choice, UseLatestWith):
        return FindVersion(subject, tuple(sorted(choice.properties)))
    return GetVersion(subject, LATEST)


def text_of(schema: SchemaFound) -> SchemaText:
    """Return the text of a schema found by id or guid, with its subject or context."""
    home = subject_of(schema.subject) if schema.subject else Subject(schema.context, "")
    return SchemaText(schema.text, schema.references, home, schema.imports)


def refuse_other_format(expected: str, format_: str, what: str, does: str) -> None:
    """Raise `BadValueError` for a schema of another format."""
    if format_ != expected:
        raise BadValueError(f"{what} is {format_}; this serializer {does} {expected}")
