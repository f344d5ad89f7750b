"""Settings and results of serializers and deserializers of all formats."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from treaty.client.serializers.frames import Headers, Part
from treaty.client.serializers.schema_heads import Framing
from treaty.client.serializers.subject_names import AssociatedNameStrategy, SubjectNameStrategy, topic_name
from treaty.core.messages.schemas import SchemaFound
from treaty.core.names import DEFAULT_CONTEXT
from treaty.core.schema import Pairs


@dataclass(frozen=True, slots=True)
class AutoRegister:
    """Register the schema under the subject before the first record (the default)."""

    normalize: bool | None = None


@dataclass(frozen=True, slots=True)
class MustExist:
    """Look the schema up; it must be a version of the subject. Never register."""

    normalize: bool | None = None


@dataclass(frozen=True, slots=True)
class UseLatest:
    """Use the subject's latest version; looked up again when its cache entry expires.

    `strict`: if the serializer has its own schema or class, the latest version must be able to read its data.
    """

    strict: bool = True


@dataclass(frozen=True, slots=True)
class UseLatestWith:
    """Use the subject's newest version whose metadata has all these properties. `strict` as for `UseLatest`."""

    properties: Pairs
    strict: bool = True


@dataclass(frozen=True, slots=True)
class UseId:
    """Use the schema with this id. `strict` as for `UseLatest`."""

    schema_id: int
    strict: bool = True


SchemaChoice = AutoRegister | MustExist | UseLatest | UseLatestWith | UseId
"""The choice of a serializer's schema."""


@dataclass(frozen=True, slots=True)
class SerializerSettings:
    """Settings of a serializer."""

    choice: SchemaChoice = AutoRegister()
    name_strategy: SubjectNameStrategy | AssociatedNameStrategy = topic_name
    framing: Framing = "prefix"
    """What says the schema of a record; ``version``, ``md5`` and ``single-object`` are AVRO-1124's and Avro's own."""
    check: bool = True
    """Validate each value first: unknown fields, numbers out of range, missing fields."""
    lossy: bool = False
    """Truncate microseconds of times that an Avro schema stores in milliseconds; otherwise such a value is refused."""


@dataclass(frozen=True, slots=True)
class DeserializerSettings:
    """Settings of a deserializer."""

    name_strategy: SubjectNameStrategy | AssociatedNameStrategy = topic_name
    """Subject name strategy for `UseLatest` and `UseLatestWith`."""
    context: str = DEFAULT_CONTEXT
    """The context of the ids in frames."""
    framing: Framing = "prefix"
    """How records say their schema. Ids in prefixes and guids in headers are both read with ``prefix`` and ``header``; the
    heads of other framings mean a version of the subject that `name_strategy` names for the topic.
    """
    check: bool = False
    """Validate each value against its writer's schema (JSON)."""


class SerializedPart(msgspec.Struct, frozen=True):
    """The key or value of a record, for a producer. `data` is None for a tombstone."""

    data: bytes | None
    headers: Headers = ()
    schema_id: int = 0
    guid: str = ""


class DeserializedPart(msgspec.Struct, frozen=True):
    """A value and its writer's schema."""

    value: object
    writer_schema: SchemaFound


class Serializer(Protocol):
    """The interface of all serializers."""

    def __call__(self, value: Any, topic: str = "", part: Part = "value") -> SerializedPart:
        """Return the key or value part for this value; None becomes a tombstone."""
        ...

    def prepare(self, topic: str = "", part: Part = "value") -> None:
        """Find the schema of a topic's records in advance. Raises the errors of the registry."""
        ...


class Deserializer(Protocol):
    """The interface of all deserializers."""

    def __call__(
        self, data: bytes | None, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> Any:
        """Return the value of a record's part; None for a tombstone."""
        ...

    def open(
        self, data: bytes, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> DeserializedPart:
        """Return value and writer's schema."""
        ...
