"""Protobuf serializer and deserializer, for messages of generated classes."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, EncodeError
from google.protobuf.message import Message as Value
from google.protobuf.message_factory import GetMessageClass

from treaty.client.cache import CachedRegistry
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.frames import Part
from treaty.client.serializers.message_indexes import Path, encode_path, split_path
from treaty.client.serializers.schema_selection import MAX_CODECS, OwnSchema, ReaderSchemas, SchemaText, WriterSchemas
from treaty.client.serializers.settings import (
    AutoRegister,
    DeserializedPart,
    DeserializerSettings,
    MustExist,
    SerializedPart,
    SerializerSettings,
)
from treaty.core.finding import Finding
from treaty.core.messages.registration import Register
from treaty.core.messages.versions import Lookup
from treaty.core.names import Subject, subject_of
from treaty.core.registry import Registry
from treaty.core.schema import Draft, Reference
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.model import Message, ProtoSchema
from treaty.formats.protobuf.runtime import build_pool
from treaty.formats.registry import find_formats

FORMAT = "PROTOBUF"
KNOWN = ("google/protobuf/", "google/type/", "confluent/")
"""Well-known files, which are not registered."""


PathsAndNames = Iterator[tuple[Path, str]]


@dataclass(frozen=True, slots=True)
class ProtobufCodec:
    """The messages of a file by full name, and, for reading without a class, the factory of their classes."""

    paths: Mapping[str, Path]
    names: Mapping[Path, str]
    pool: DescriptorPool
    """The factory of message classes."""

    def descriptor(self, path: Path, data: bytes, schema: int | str) -> Descriptor:
        """Return the message at a path. Raises `BadRecordError` if there is none."""
        name = self.names.get(path)
        if name is None:
            message = f"the schema has no message at {list(path)}; it has {len(self.names)}"
            raise BadRecordError(RecordErrorCode.MALFORMED, message, data, schema)
        return self.pool.FindMessageTypeByName(name)


def _make_codec(registry: Registry, schema_text: SchemaText) -> ProtobufCodec:
    form = find_formats()[FORMAT]
    try:
        schema: ProtoSchema = form.parse(
            fetch_resolved_schema(
                registry,
                FORMAT,
                schema_text.text,
                schema_text.references,
                schema_text.home,
                imports=schema_text.imports,
            ),
            False,
        )
        names = messages(schema)
        return ProtobufCodec({name: path for path, name in names.items()}, names, build_pool(schema))
    except (InvalidSchemaError, TypeError) as error:
        raise BadValueError(f"the schema can't be used: {error}") from error


def messages(schema: ProtoSchema) -> dict[Path, str]:
    """Return full names of a file's messages by path.

    Java's client does not count the entry types of maps; Python's client counts them, before the nested messages. If a
    path has two meanings, Python's is used.
    """
    plain = _messages(schema.file.messages, schema.file.package, (), entries=False)
    counted = _messages(schema.file.messages, schema.file.package, (), entries=True)
    return {**dict(plain), **dict(counted)}


def _messages(inside: tuple[Message, ...], space: str, above: Path, *, entries: bool, first: int = 0) -> PathsAndNames:
    for at, message in enumerate(inside, first):
        name = f"{space}.{message.name}" if space else message.name
        yield (*above, at), name
        maps = sum(bool(field.key) for field in message.all_fields) if entries else 0
        yield from _messages(message.messages, name, (*above, at), entries=entries, first=maps)


class ProtobufSerializer:
    """Serializes messages of one generated class, or of any. Thread-safe."""

    def __init__(
        self, registry: Registry, kind: type[Value] | None = None, settings: SerializerSettings | None = None
    ) -> None:
        """Take the message class (None: any), whose file is the schema.

        Imported files are registered with their paths as subjects; with `MustExist` they must be registered already.
        Several classes in one topic need a subject name strategy by record. The registry is not closed with the
        serializer.
        """
        self._kind = kind
        self.takes_any = kind is None
        """Whether it serializes messages of any class."""
        self._registry = registry if isinstance(registry, CachedRegistry) else CachedRegistry(registry)
        self._settings = settings or SerializerSettings()
        self._each: dict[type[Value], _ClassSerializer] = {}
        if kind is not None:
            self._get_serializer(kind)

    def __call__(self, value: Any, topic: str = "", part: Part = "value") -> SerializedPart:
        """Return the key or value part for this message; None becomes a tombstone. Raises `BadValueError` for a message
        of another class, or without its required fields.
        """
        if value is None:
            return SerializedPart(None)
        serializer = self._each.get(type(value))
        if serializer is None:
            if self._kind is not None or not isinstance(value, Value):
                expected = "messages" if self._kind is None else cast("Descriptor", self._kind.DESCRIPTOR).full_name
                raise BadValueError(f"the value is a {type(value).__name__}, this serializer writes {expected}")
            serializer = self._get_serializer(type(value))
        return serializer.serialize(value, topic, part)

    def prepare(self, topic: str = "", part: Part = "value") -> None:
        """Find the schema of a topic's records in advance. Raises the errors of the registry."""
        if self._kind is None:
            raise ValueError("a serializer without a class has no schema before the first message; give it a class")
        self._each[self._kind].prepare(topic, part)

    def _get_serializer(self, kind: type[Value]) -> "_ClassSerializer":
        if len(self._each) >= MAX_CODECS:
            self._each.clear()
        return self._each.setdefault(kind, _ClassSerializer(self._registry, kind, self._settings))


class _ClassSerializer:
    """Writes messages of one class."""

    def __init__(self, registry: Registry, kind: type[Value], settings: SerializerSettings) -> None:
        self._descriptor = cast("Descriptor", kind.DESCRIPTOR)
        self._writer = WriterSchemas(
            registry, (FORMAT, _make_codec), settings, self._draft, OwnSchema(self._resolve_own, self._is_relevant)
        )
        own = isinstance(settings.choice, (AutoRegister, MustExist))
        self._head = encode_path(_path(self._descriptor)) if own else None

    def serialize(self, value: Value, topic: str, part: Part) -> SerializedPart:
        name = self._descriptor.full_name
        bound = self._writer.bind(topic, part, name)
        front = self._head
        if front is None:
            path = bound.codec.paths.get(name)
            if path is None:
                raise BadValueError(
                    f"schema {bound.schema_id} has no message {name}; it has {', '.join(bound.codec.paths)}"
                )
            front = encode_path(path)
        try:
            payload = value.SerializeToString(deterministic=True)
        except EncodeError as error:
            raise BadValueError(str(error)) from error
        return bound.add_frame(front, payload, part)

    def prepare(self, topic: str, part: Part) -> None:
        self._writer.bind(topic, part, self._descriptor.full_name)

    def _resolve_own(self, within: Subject) -> ResolvedSchema:
        return _resolve_file(self._descriptor.file, {})

    def _is_relevant(self, finding: Finding) -> bool:
        """Return only findings inside the written message; other messages of the file may change."""
        package = self._descriptor.file.package
        name = self._descriptor.full_name.removeprefix(f"{package}." if package else "")
        return finding.path.startswith(f"#/{name.replace('.', '/')}/")

    def _draft(self) -> Draft:
        return self._make_draft(self._descriptor.file, {})

    def _make_draft(self, file: FileDescriptor, stored: dict[str, Reference]) -> Draft:
        """Return a file as a draft, after the files that it imports."""
        references = tuple(self._reference(one, stored) for one in file.dependencies if not one.name.startswith(KNOWN))
        return Draft(_text(file), FORMAT, references)

    def _reference(self, file: FileDescriptor, references: dict[str, Reference]) -> Reference:
        if file.name not in references:
            draft = self._make_draft(file, references)
            subject, choice = subject_of(file.name), self._writer.settings.choice
            if isinstance(choice, MustExist):
                number = self._writer.registry.ask(Lookup(subject, draft, choice.normalize)).answer.number
            else:
                assert isinstance(choice, AutoRegister)  # others need no schema of their own
                number = self._writer.registry.ask(Register(subject, draft, choice.normalize)).answer.version.number
            references[file.name] = Reference(file.name, file.name, number)
        return references[file.name]


def _text(file: FileDescriptor) -> str:
    proto = FileDescriptorProto()
    file.CopyToProto(proto)
    return base64.b64encode(proto.SerializeToString(deterministic=True)).decode()


def _resolve_file(file: FileDescriptor, resolved: dict[str, ResolvedSchema]) -> ResolvedSchema:
    """Resolve a file of the program, without requests."""
    if file.name not in resolved:
        needed = [one for one in file.dependencies if not one.name.startswith(KNOWN)]
        bindings = tuple(ResolvedReference(one.name, one.name, 1, _resolve_file(one, resolved)) for one in needed)
        resolved[file.name] = ResolvedSchema(FORMAT, _text(file), bindings)
    return resolved[file.name]


def _path(descriptor: Descriptor) -> Path:
    """Return the path of a message in its file."""
    above = descriptor.containing_type
    if above is None:
        return (list(descriptor.file.message_types_by_name).index(descriptor.name),)
    return (*_path(above), list(above.nested_types_by_name).index(descriptor.name))


class ProtobufDeserializer:
    """Deserializes framed messages, to a generated class or to classes made from the registry's schemas. Thread-safe."""

    def __init__(
        self, registry: Registry, kind: type[Value] | None = None, settings: DeserializerSettings | None = None
    ) -> None:
        """Take the message class; None makes one from the writer's schema."""
        self._kind = kind
        self._reader = ReaderSchemas(registry, FORMAT, _make_codec, settings or DeserializerSettings())

    def __call__(
        self, data: bytes | None, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> Any:
        """Return the message of a record's part; None for a tombstone. Raises as `open` does."""
        return None if data is None else self.open(data, topic, part, headers).value

    def open(
        self, data: bytes, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> DeserializedPart:
        """Return message and writer's schema. Raises `BadRecordError` for invalid bytes (`code` has the kind),
        `Unavailable` if the registry does not answer.
        """
        frame = self._reader.split(data, headers, (topic, part), headed=True)
        schema, writer = self._reader.find_writer(frame, data)
        if frame.head is None:
            path, payload = split_path(frame.payload, frame.schema)
        else:
            (path, _), payload = split_path(frame.head or b"\x00", frame.schema), frame.payload
        descriptor = writer.descriptor(path, data, frame.schema)
        value = (self._kind or GetMessageClass(descriptor))()
        try:
            value.ParseFromString(payload)
        except DecodeError as error:
            raise BadRecordError(RecordErrorCode.MALFORMED, str(error), payload, frame.schema) from error
        return DeserializedPart(value, schema)
