"""Adapters: serializers as Kafka clients expect them, without importing any of those clients.

For confluent_kafka they are callables of a value and a `SerializationContext`, for ``SerializingProducer`` and
``DeserializingConsumer`` and, as coroutine functions, for the asyncio producer and consumer. They read `topic`, `field`
(``key`` or ``value``) and `headers` of the context. For aiokafka and other clients whose serializers take only the
value, topic and part are bound in advance.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping, MutableSequence
from dataclasses import dataclass
from typing import Any, Protocol

from treaty.client.serializers.async_serializers import AsyncDeserializer, AsyncSerializer
from treaty.client.serializers.frames import Part
from treaty.client.serializers.settings import Deserializer, SerializedPart, Serializer


class SerializationContext(Protocol):
    """The members of a `SerializationContext` that are used: topic, part and headers of a record."""

    topic: Any
    field: Any
    headers: Any


def for_producer(serializer: Serializer) -> Callable[[Any, Any], bytes | None]:
    """Return a serializer for ``SerializingProducer``. A frame in a header is added to the headers given to ``produce``,
    which must be a list or a dictionary.
    """

    def serialize(value: Any, context: SerializationContext | None = None) -> bytes | None:
        return _put(serializer(value, *_place(context)), context)

    return serialize


def for_consumer(deserializer: Deserializer) -> Callable[[bytes | None, Any], Any]:
    """Return a deserializer for ``DeserializingConsumer``."""

    def deserialize(data: bytes | None, context: SerializationContext | None = None) -> Any:
        return deserializer(data, *_place(context), _headers(context))

    return deserialize


def for_async_producer(serializer: AsyncSerializer) -> Callable[[Any, Any], Awaitable[bytes | None]]:
    """Return a coroutine function from value and context to bytes."""

    async def serialize(value: Any, context: SerializationContext | None = None) -> bytes | None:
        return _put(await serializer(value, *_place(context)), context)

    return serialize


def for_async_consumer(deserializer: AsyncDeserializer) -> Callable[[bytes | None, Any], Awaitable[Any]]:
    """Return a coroutine function from bytes and context to a value."""

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
    """Add the header of a frame to the headers of the producer."""
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
    """Arguments of ``send`` for the key or value of a record: bytes, and headers if the frame is in a header."""

    data: bytes | None
    headers: list[tuple[str, bytes]]


class ConsumedRecord(Protocol):
    """The members of a consumed record that are used."""

    @property
    def topic(self) -> str:
        """The topic of the record."""
        ...

    @property
    def key(self) -> Any:
        """The bytes of the key, or None."""
        ...

    @property
    def value(self) -> Any:
        """The bytes of the value, or None."""
        ...

    @property
    def headers(self) -> Iterable[tuple[str, bytes]]:
        """Its headers."""
        ...


def bind_serializer(serializer: Serializer, topic: str, part: Part = "value") -> Callable[[Any], bytes | None]:
    """Return a function from values to bytes, for ``key_serializer`` and ``value_serializer``.

    It may block on a request to the registry; asyncio programs use `AsyncSerializer.bound`. Raises `ValueError` if the
    frame is in a header: use `half`, which returns headers.
    """

    def serialize(value: Any) -> bytes | None:
        framed = serializer(value, topic, part)
        if framed.headers:
            raise ValueError("the frame is in a header, and this function returns only bytes; use half()")
        return framed.data

    return serialize


def bind_deserializer(deserializer: Deserializer, topic: str, part: Part = "value") -> Callable[[bytes | None], Any]:
    """Return a function from bytes to values, for ``key_deserializer`` and ``value_deserializer``.

    It may block on a request to the registry, and does not read headers; `opened` awaits the registry and reads
    headers.
    """
    return lambda data: deserializer(data, topic, part)


async def serialize_part(serializer: AsyncSerializer, value: Any, topic: str, part: Part = "value") -> PartToSend:
    """Serialize the key or value of a record: ``send(topic, value=half.data, headers=half.headers)``."""
    framed = await serializer(value, topic, part)
    return PartToSend(framed.data, list(framed.headers))


async def deserialize_part(deserializer: AsyncDeserializer, record: ConsumedRecord, part: Part = "value") -> Any:
    """Deserialize the key or value of a consumed record, by its header or its frame."""
    data = record.key if part == "key" else record.value
    return await deserializer(data, record.topic, part, record.headers)
