"""Settings of serializers and deserializers of all formats, and what these return."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from treaty.client.serializers.frames import Headers, Part
from treaty.client.serializers.subject_names import AssociatedNameStrategy, SubjectNameStrategy, topic_name
from treaty.core.answers import SchemaFound
from treaty.core.names import DEFAULT_CONTEXT
from treaty.core.schema import Pairs
from treaty.names import refuse_renamed


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
    """Take the subject's latest version, whatever it is; looked at again when the cache's time is over.

    `strict`: where the serializer has a schema (or a class) of its own too, the one found must be able to read what
    that one writes.
    """

    strict: bool = True


@dataclass(frozen=True, slots=True)
class UseLatestWith:
    """Take the subject's newest version whose metadata has all these properties. `strict` as with `UseLatest`."""

    properties: Pairs
    strict: bool = True


@dataclass(frozen=True, slots=True)
class UseId:
    """Take the schema with this id. `strict` as with `UseLatest`."""

    schema_id: int
    strict: bool = True


SchemaChoice = AutoRegister | MustExist | UseLatest | UseLatestWith | UseId
"""Which schema a serializer writes with."""


@dataclass(frozen=True, slots=True)
class SerializerSettings:
    """Settings of a serializer."""

    choice: SchemaChoice = AutoRegister()
    name_strategy: SubjectNameStrategy | AssociatedNameStrategy = topic_name
    framing: Literal["prefix", "header"] = "prefix"
    check: bool = True
    """Compare each value with the schema first: unknown fields, numbers out of range, missing fields."""
    lossy: bool = False
    """Cut microseconds from times that an Avro schema counts in milliseconds; otherwise such a value is refused."""


@dataclass(frozen=True, slots=True)
class DeserializerSettings:
    """Settings of a deserializer."""

    name_strategy: SubjectNameStrategy | AssociatedNameStrategy = topic_name
    """Names the subject of `UseLatest` and `UseLatestWith`."""
    context: str = DEFAULT_CONTEXT
    """The context whose ids stand in the frames."""
    check: bool = False
    """Compare each value with the schema it was written with (JSON)."""


class SerializedPart(msgspec.Struct, frozen=True):
    """The key or value of a record, for a producer. `data` is None for a tombstone."""

    data: bytes | None
    headers: Headers = ()
    schema_id: int = 0
    guid: str = ""


class DeserializedPart(msgspec.Struct, frozen=True):
    """A value and the schema it was written with."""

    value: object
    writer_schema: SchemaFound


class Serializer(Protocol):
    """What serializers of all formats can do."""

    def __call__(self, value: Any, topic: str = "", part: Part = "value") -> SerializedPart:
        """Return the key or value part for this value; None becomes a tombstone."""
        ...

    def prepare(self, topic: str = "", part: Part = "value") -> None:
        """Find the schema of a topic's records now, not at the first of them. Raises what the registry raises."""
        ...


class Deserializer(Protocol):
    """What deserializers of all formats can do."""

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


if not TYPE_CHECKING:
    __getattr__ = refuse_renamed(__name__)
