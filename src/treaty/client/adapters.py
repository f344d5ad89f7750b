"""Adapters: serializers in the forms that Kafka clients take, without importing any of those clients.

For confluent_kafka they are callables of a value and a `SerializationContext`. `SerializingProducer` and
`DeserializingConsumer` call them so, and so do the asyncio producer and consumer, which await them. Of a context `topic`,
`field` (``key`` or ``value``) and `headers` are read. For aiokafka and other clients whose serializers take only the value,
topic and part are bound first.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping, MutableSequence
from dataclasses import dataclass
from typing import Any, Protocol

from treaty.client.serializers.async_serializers import AsyncDeserializer, AsyncSerializer
from treaty.client.serializers.frames import Part
from treaty.client.serializers.settings import Deserializer, SerializedPart, Serializer


class SerializationContext(Protocol):
    """What is needed of a context: where a record goes to or comes from."""

    topic: Any
    field: Any
    headers: Any


def for_producer(serializer: Serializer) -> Callable[[Any, Any], bytes | None]:
    """Return a serializer as a `SerializingProducer` takes it.

    A frame in a header is added to the headers that are given to ``produce``, which must be a list or a dictionary.
    """

    def serialize(value: Any, context: SerializationContext | None = None) -> bytes | None:
        return _put(serializer(value, *_place(context)), context)

    return serialize


def for_consumer(deserializer: Deserializer) -> Callable[[bytes | None, Any], Any]:
    """Return a deserializer as a `DeserializingConsumer` takes it."""

    def deserialize(data: bytes | None, context: SerializationContext | None = None) -> Any:
        return deserializer(data, *_place(context), _headers(context))

    return deserialize


def for_async_producer(serializer: AsyncSerializer) -> Callable[[Any, Any], Awaitable[bytes | None]]:
    """Return a serializer of asyncio, to be awaited with value and context."""

    async def serialize(value: Any, context: SerializationContext | None = None) -> bytes | None:
        return _put(await serializer(value, *_place(context)), context)

    return serialize


def for_async_consumer(deserializer: AsyncDeserializer) -> Callable[[bytes | None, Any], Awaitable[Any]]:
    """Return a deserializer of asyncio, to be awaited with bytes and context."""

    async def deserialize(data: bytes | None, context: SerializationContext | None = None) -> Any:
        return await deserializer(data, *_place(context), _headers(context))

    return deserialize


def _place(context: SerializationContext | None) -> tuple[str, Part]:
    if context is None:
        return "", "value"
    return context.topic or "", "key" if str(getattr(context.field, "value", context.field)) == "key" else "value"


def _headers(context: SerializationContext | None) -> Iterable[tuple[str, bytes]]:
    headers = None if context is None else context.headers
    return tuple(headers.items()) if isinstance(headers, MutableMapping) else headers or ()


def _put(framed: SerializedPart, context: SerializationContext | None) -> bytes | None:
    """Put a frame's header where the producer takes its headers from."""
    if framed.headers:
        headers = None if context is None else context.headers
        if isinstance(headers, MutableSequence):
            headers.extend(framed.headers)
        elif isinstance(headers, MutableMapping):
            headers.update(framed.headers)
        else:
            raise ValueError("the frame is in a header: give produce() a list of headers, also an empty one")
    return framed.data


# ---------------------------------------------------------------------------------------------------- topic and part bound


@dataclass(frozen=True, slots=True)
class PartToSend:
    """What one half of a record adds to a call of ``send``: bytes, and headers where the frame is in one."""

    data: bytes | None
    headers: list[tuple[str, bytes]]


class ConsumedRecord(Protocol):
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


def bind_serializer(serializer: Serializer, topic: str, part: Part = "value") -> Callable[[Any], bytes | None]:
    """Return a function from values to bytes, as ``key_serializer`` and ``value_serializer`` want it.

    It may ask the registry; in an asyncio program take `AsyncSerializer.bound`. Raises `ValueError` where the frame
    stands in a header: `half` returns those too.
    """

    def serialize(value: Any) -> bytes | None:
        framed = serializer(value, topic, part)
        if framed.headers:
            raise ValueError("the frame is in a header, and this function returns only bytes; take half()")
        return framed.data

    return serialize


def bind_deserializer(deserializer: Deserializer, topic: str, part: Part = "value") -> Callable[[bytes | None], Any]:
    """Return a function from bytes to values, as ``key_deserializer`` and ``value_deserializer`` want it.

    It may ask the registry, and reads no headers; `opened` awaits the registry and reads them.
    """
    return lambda data: deserializer(data, topic, part)


async def serialize_part(serializer: AsyncSerializer, value: Any, topic: str, part: Part = "value") -> PartToSend:
    """Serialize one half of a record: ``send(topic, value=half.data, headers=half.headers)``."""
    framed = await serializer(value, topic, part)
    return PartToSend(framed.data, list(framed.headers))


async def deserialize_part(deserializer: AsyncDeserializer, record: ConsumedRecord, part: Part = "value") -> Any:
    """Deserialize one half of a record that was consumed, by its header or by its frame header."""
    data = record.key if part == "key" else record.value
    return await deserializer(data, record.topic, part, record.headers)
