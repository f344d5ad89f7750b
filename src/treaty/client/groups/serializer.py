"""Serializer of a group: values to payloads behind Pravega's header, packed by the group's codec."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from treaty.client.cache import LoadingCache
from treaty.client.groups.codecs import PayloadCodec, find_codec
from treaty.client.groups.payloads import VersionRegistry, WritePayload, make_payload_writer
from treaty.client.groups.settings import GroupWriterSettings
from treaty.client.groups.types import GroupType, SomeType, WithSchema, as_group_type, list_group_types
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.frames import Part, encode_encoding
from treaty.client.serializers.settings import SerializedPart
from treaty.core.limits import ENCODINGS_CACHED
from treaty.core.messages.encodings import NO_CODEC, AddCodec, AssignEncoding, CodecType, ListCodecs
from treaty.core.messages.groups import CreateSubject, FindSameVersion
from treaty.core.messages.registration import Register
from treaty.core.messages.versions import VersionFound
from treaty.core.names import subject_of
from treaty.core.refusals import SchemaNotFound
from treaty.core.registry import Registry
from treaty.core.schema import Draft, Pairs
from treaty.core.schema_engine import ResolvedSchema


@dataclass(frozen=True, slots=True)
class _BoundType:
    """A type with the version that it is written under, and what stands before its payloads."""

    write: WritePayload
    version: VersionFound
    head: bytes


class GroupSerializer:
    """Serializes values of one type of a group, or of several. Thread-safe.

    It asks the registry when it is made, and afterwards only for the schema of a `WithSchema` that is new to it.
    """

    def __init__(
        self,
        registry: Registry,
        group: str,
        types: SomeType | Sequence[SomeType] = (),
        settings: GroupWriterSettings | None = None,
        *,
        format_: str = "AVRO",
    ) -> None:
        """Take the types that are written: schemas, or classes; `format_` is that of texts and classes without one.

        The class of a value chooses among several types. `group` is a subject, in a namespace `x` ``:.x:group``.
        The registry is not closed with the serializer. Raises `BadValueError` for settings that exclude each other,
        `SchemaNotFound` and `CodecNotFound` for what the settings do not register, and the errors of the registry.
        """
        self._registry = registry
        self._subject = subject_of(group)
        self._settings = settings or GroupWriterSettings()
        self._format = format_
        self._types = list_group_types(types, format_, self._resolve)
        codec = self._settings.codec
        self._codec: PayloadCodec = find_codec(codec) if isinstance(codec, str) else codec
        self._refuse_headerless()
        if self._settings.create is not None:
            registry.ask(CreateSubject(self._subject, self._settings.create))
        self._properties = self._prepare_codec()
        self._versions = VersionRegistry(registry)
        self._bound: LoadingCache[GroupType, _BoundType] = LoadingCache(ENCODINGS_CACHED)
        self._each = [(one, self._bind(one)) for one in self._types]
        self._by_class = {one.kind: bound for one, bound in self._each if one.kind is not None}

    def __call__(self, value: Any, topic: str = "", part: Part = "value") -> SerializedPart:
        """Return the bytes for this value; None becomes a tombstone. Raises `BadValueError` if the value does not fit
        its schema, or is of no type of this serializer.
        """
        if value is None:
            return SerializedPart(None)
        bound, bare = self._find(value)
        data = bound.write(bare)
        if self._codec.name != NO_CODEC:
            data = self._codec.pack(data, self._properties)
        return SerializedPart(bound.head + data, (), bound.version.schema_id, bound.version.guid)

    def prepare(self, topic: str = "", part: Part = "value") -> None:
        """Do nothing: all schemas were found when this serializer was made."""

    def _find(self, value: Any) -> tuple[_BoundType, Any]:
        if isinstance(value, WithSchema):
            group_type = as_group_type(value.schema, self._format, self._resolve)
            return self._bound.get(group_type, lambda: self._bind(group_type)), value.value
        bound = self._by_class.get(type(value))
        if bound is None:
            if len(self._each) != 1:
                names = ", ".join(one.name for one in self._types) or "no type"
                raise BadValueError(
                    f"the value is a {type(value).__name__}, this serializer writes {names}; WithSchema names its schema"
                )
            bound = self._each[0][1]
        return bound, value

    def _resolve(self, draft: Draft) -> ResolvedSchema:
        return fetch_resolved_schema(self._registry, draft.format, draft.text, draft.references, self._subject)

    def _bind(self, group_type: GroupType) -> _BoundType:
        """Find or register the version of a type, and its encoding."""
        settings = self._settings
        if settings.register_schema:
            request = Register(self._subject, group_type.draft, properties=group_type.properties, require_subject=True)
            registered = self._registry.ask(request)
            version, token = registered.answer.version, registered.token
        else:
            try:
                reply = self._registry.ask(FindSameVersion(self._subject, group_type.draft))
            except SchemaNotFound as missing:
                raise missing.with_remedy(", or let the serializer do it with register_schema=True") from None
            version, token = reply.answer, reply.token
        if version.data is None and group_type.draft.data is not None:
            version = replace(version, data=group_type.draft.data)
        head = b""
        if settings.header:
            assigned = self._registry.ask(AssignEncoding(self._subject, version.ordinal, self._codec.name)).answer
            head = encode_encoding(assigned.encoding_id)
        self._versions.add(version, token)
        write = make_payload_writer(self._versions, group_type, version, settings)
        return _BoundType(write, version, head)

    def _prepare_codec(self) -> Pairs:
        """Add the codec to the group if the settings say so; return the properties that it has there."""
        codec = self._codec
        if codec.name == NO_CODEC:
            return ()
        if self._settings.register_codec:
            self._registry.ask(AddCodec(self._subject, CodecType(codec.name, codec.properties)))
            return codec.properties
        listed = self._registry.ask(ListCodecs(self._subject)).answer.codecs
        return next((one.properties for one in listed if one.name == codec.name), codec.properties)

    def _refuse_headerless(self) -> None:
        """Raise `BadValueError` where readers could not know schema or codec without a header."""
        if self._settings.header:
            return
        why = ""
        if self._codec.name != NO_CODEC:
            why = f"the codec {self._codec.name}"
        elif len(self._types) != 1:
            why = f"{len(self._types)} types"
        elif self._types[0].draft.format == "AVRO":
            why = "Avro, which is read with the writer's schema only"
        if why:
            raise BadValueError(
                f"header=False is not possible with {why}: it needs one type of JSON, Protobuf or a custom format, and no codec"
            )
