"""For confluent_kafka: callables of a value and a `SerializationContext`.

`SerializingProducer` and `DeserializingConsumer` call them so, and so do the asyncio producer and consumer, which
await them. What is read of a context: `topic`, `field` (``key`` or ``value``) and `headers`.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping, MutableSequence
from typing import Any, Protocol

from treaty.client.serializers.async_serializers import AsyncDeserializer, AsyncSerializer
from treaty.client.serializers.frames import Part
from treaty.client.serializers.settings import Deserializer, SerializedPart, Serializer


class Context(Protocol):
    """What is needed of a context: where a record goes to or comes from."""

    topic: Any
    field: Any
    headers: Any


def for_producer(serializer: Serializer) -> Callable[[Any, Any], bytes | None]:
    """Return a serializer as a `SerializingProducer` takes it.

    A frame in a header is added to the headers that are given to ``produce``, which must be a list or a dictionary.
    """

    def serialize(value: Any, context: Context | None = None) -> bytes | None:
        return _put(serializer(value, *_place(context)), context)

    return serialize


def for_consumer(deserializer: Deserializer) -> Callable[[bytes | None, Any], Any]:
    """Return a deserializer as a `DeserializingConsumer` takes it."""

    def deserialize(data: bytes | None, context: Context | None = None) -> Any:
        return deserializer(data, *_place(context), _headers(context))

    return deserialize


def for_async_producer(serializer: AsyncSerializer) -> Callable[[Any, Any], Awaitable[bytes | None]]:
    """Return a serializer of asyncio, to be awaited with value and context."""

    async def serialize(value: Any, context: Context | None = None) -> bytes | None:
        return _put(await serializer(value, *_place(context)), context)

    return serialize


def for_async_consumer(deserializer: AsyncDeserializer) -> Callable[[bytes | None, Any], Awaitable[Any]]:
    """Return a deserializer of asyncio, to be awaited with bytes and context."""

    async def deserialize(data: bytes | None, context: Context | None = None) -> Any:
        return await deserializer(data, *_place(context), _headers(context))

    return deserialize


def _place(context: Context | None) -> tuple[str, Part]:
    if context is None:
        return "", "value"
    return context.topic or "", "key" if str(getattr(context.field, "value", context.field)) == "key" else "value"


def _headers(context: Context | None) -> Iterable[tuple[str, bytes]]:
    headers = None if context is None else context.headers
    return tuple(headers.items()) if isinstance(headers, MutableMapping) else headers or ()


def _put(framed: SerializedPart, context: Context | None) -> bytes | None:
    """Put a frame's header where the producer takes its headers from."""
    if framed.headers:
        headers = None if context is None else context.headers
        if isinstance(headers, MutableSequence):
            headers.extend(framed.headers)
        elif isinstance(headers, MutableMapping):
            headers.update(framed.headers)
        else:
            raise ValueError("the frame stands in a header: give produce() a list of headers, also an empty one")
    return framed.data
