"""For aiokafka and other clients whose serializers get only the value: topic and part are bound before."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from treaty.client.serializers.async_serializers import AsyncDeserializer, AsyncSerializer
from treaty.client.serializers.frames import Part
from treaty.client.serializers.settings import Deserializer, Serializer


@dataclass(frozen=True, slots=True)
class Half:
    """What one half of a record adds to a call of ``send``: bytes, and headers where the frame stands in one."""

    data: bytes | None
    headers: list[tuple[str, bytes]]


class Record(Protocol):
    """What is needed of a record that was consumed."""

    @property
    def topic(self) -> str:
        """Where it comes from."""
        ...

    @property
    def key(self) -> Any:
        """Its key's bytes, or None."""
        ...

    @property
    def value(self) -> Any:
        """Its value's bytes, or None."""
        ...

    @property
    def headers(self) -> Iterable[tuple[str, bytes]]:
        """Its headers."""
        ...


def bound(serializer: Serializer, topic: str, part: Part = "value") -> Callable[[Any], bytes | None]:
    """Return a function from values to bytes, as ``key_serializer`` and ``value_serializer`` want it.

    It may ask the registry; in an asyncio program take `AsyncSerializer.bound`. Raises `ValueError` where the frame
    stands in a header: `half` returns those too.
    """

    def serialize(value: Any) -> bytes | None:
        framed = serializer(value, topic, part)
        if framed.headers:
            raise ValueError("the frame stands in a header, and this function returns only bytes; take half()")
        return framed.data

    return serialize


def unbound(deserializer: Deserializer, topic: str, part: Part = "value") -> Callable[[bytes | None], Any]:
    """Return a function from bytes to values, as ``key_deserializer`` and ``value_deserializer`` want it.

    It may ask the registry, and reads no headers; `opened` awaits the registry and reads them.
    """
    return lambda data: deserializer(data, topic, part)


async def half(serializer: AsyncSerializer, value: Any, topic: str, part: Part = "value") -> Half:
    """Serialize one half of a record: ``send(topic, value=half.data, headers=half.headers)``."""
    framed = await serializer(value, topic, part)
    return Half(framed.data, list(framed.headers))


async def opened(deserializer: AsyncDeserializer, record: Record, part: Part = "value") -> Any:
    """Deserialize one half of a record that was consumed, by its header or by what stands in front."""
    data = record.key if part == "key" else record.value
    return await deserializer(data, record.topic, part, record.headers)
