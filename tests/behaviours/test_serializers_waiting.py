"""Serializers of ordinary and of asyncio programs: one suite over both, and what only the latter promise."""

import asyncio
import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from tests.behaviours.served import Served
from tests.behaviours.test_serializers import MONEY, PRICED
from tests.behaviours.test_serializers_protobuf import kinds, order
from treaty.assemble import connect, connect_async
from treaty.client.adapters import bind_deserializer, bind_serializer, deserialize_part, serialize_part
from treaty.client.cache import CachedRegistry
from treaty.client.serializers.async_serializers import AsyncDeserializer, AsyncSerializer
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.jsonschema import JsonDeserializer, JsonSerializer
from treaty.client.serializers.protobuf import ProtobufDeserializer, ProtobufSerializer
from treaty.client.serializers.settings import (
    Deserializer,
    MustExist,
    SerializedPart,
    Serializer,
    SerializerSettings,
    UseId,
    UseLatest,
)
from treaty.client.settings import CachePolicy
from treaty.core.messages.request import Request
from treaty.core.refusals import Incompatible, SubjectNotFound, Unavailable
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Registry, Reply
from treaty.core.schema import Draft, Reference

LONG = '"long"'


@dataclasses.dataclass
class Line:
    sku: str


class Plain:
    """Serializers of ordinary programs."""

    def __init__(self, url: str) -> None:
        self.connection = connect(url)

    def writes(self, make: Callable[[Registry], Serializer]) -> Callable[..., SerializedPart]:
        return make(self.connection)

    def reads(self, make: Callable[[Registry], Deserializer]) -> Callable[..., Any]:
        return make(self.connection)

    def close(self) -> None:
        self.connection.close()


class Looped:
    """Serializers of asyncio programs, each call run on one loop."""

    def __init__(self, url: str) -> None:
        self._runner = asyncio.Runner()
        self._registry = connect_async(url)

    def writes(self, make: Callable[[Registry], Serializer]) -> Callable[..., SerializedPart]:
        write = AsyncSerializer(self._registry, make)
        return lambda *args: self._runner.run(write(*args))

    def reads(self, make: Callable[[Registry], Deserializer]) -> Callable[..., Any]:
        read = AsyncDeserializer(self._registry, make)
        return lambda *args: self._runner.run(read(*args))

    def close(self) -> None:
        self._runner.run(self._registry.close())
        self._runner.close()


Program = Plain | Looped


@pytest.fixture(params=[Plain, Looped], ids=["ordinary", "asyncio"])
def program(request: pytest.FixtureRequest, server: Served) -> Iterator[Program]:
    made: Program = request.param(server.url)
    yield made
    made.close()


def test_every_format_goes_there_and_back(program: Program) -> None:
    writes: list[tuple[Callable[[Registry], Serializer], Callable[[Registry], Deserializer], Any]] = [
        (lambda door: AvroSerializer(door, Line), lambda door: AvroDeserializer(door, Line), Line("a")),
        (lambda door: JsonSerializer(door, Line), lambda door: JsonDeserializer(door, Line), Line("a")),
        (
            lambda door: ProtobufSerializer(door, kinds()[0]),
            lambda door: ProtobufDeserializer(door, kinds()[0]),
            order(id=7),
        ),
    ]
    for number, (write, read, value) in enumerate(writes):
        framed = program.writes(write)(value, f"topic-{number}")
        assert framed.data is not None
        assert program.reads(read)(framed.data, f"topic-{number}") == value
        assert program.writes(write)(None, "t").data is None
        assert program.reads(read)(None) is None


def test_references_are_followed(program: Program, server: Served) -> None:
    with connect(server.url) as connection:
        connection.register("money", MONEY)
        connection.register("priced", PRICED)
    both = Draft(
        '{"type":"record","name":"shop.Cart","fields":[{"name":"one","type":"Priced"},{"name":"sum","type":"Money"}]}',
        references=(Reference("shop.Priced", "priced", 1), Reference("shop.Money", "money", 1)),
    )
    value = {"one": {"price": {"cents": 5}, "tip": None}, "sum": {"cents": 5}}
    data = program.writes(lambda door: AvroSerializer(door, both))(value, "carts").data
    assert program.reads(AvroDeserializer)(data) == value
    assert program.reads(lambda door: AvroDeserializer(door, UseLatest()))(data, "carts") == value


def test_frames_in_headers(program: Program) -> None:
    write = program.writes(lambda door: AvroSerializer(door, LONG, SerializerSettings(framing="header")))
    framed = write(5, "orders", "key")
    assert [name for name, _ in framed.headers] == ["__key_schema_id"]
    assert program.reads(AvroDeserializer)(framed.data, "orders", "key", framed.headers) == 5


def test_choices_and_refusals(program: Program, server: Served) -> None:
    with pytest.raises(SubjectNotFound):
        program.writes(lambda door: AvroSerializer(door, LONG, SerializerSettings(MustExist())))(1, "orders")
    with connect(server.url) as connection:
        made = connection.register("orders-value", LONG).version
    assert (
        program.writes(lambda door: AvroSerializer(door, LONG, SerializerSettings(MustExist())))(1, "orders").schema_id
        == 1
    )
    for choose in (UseLatest(), UseId(made.schema_id)):
        settings = SerializerSettings(choose)
        write = program.writes(partial(AvroSerializer, schema=None, settings=settings))
        assert [write(number, "orders").data for number in range(2)] == [b"\0\0\0\0\x01\0", b"\0\0\0\0\x01\x02"]
        with pytest.raises(BadValueError):
            write("text", "orders")
    with pytest.raises(Incompatible):
        program.writes(lambda door: AvroSerializer(door, '"boolean"'))(True, "orders")
    with pytest.raises(BadRecordError) as bad:
        program.reads(AvroDeserializer)(b"\0\0\0\0\x63abc")
    assert bad.value.code == RecordErrorCode.UNKNOWN_ID


# ---------------------------------------------------------------------------------------------------- asyncio alone


class Slow:
    """A registry that waits before each answer until it is told, counts what passes, and can be out of order."""

    def __init__(self, registry: AsyncRegistry) -> None:
        self.registry = registry
        self.go = asyncio.Event()
        self.asked: list[Request[Any]] = []
        self.down = False

    async def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        self.asked.append(request)
        await self.go.wait()
        if self.down:
            raise Unavailable("out of order")
        return await self.registry.ask(request, call)

    async def close(self) -> None:
        await self.registry.close()


async def waiting(url: str) -> None:
    slow = Slow(connect_async(url))
    write = AsyncSerializer(slow, lambda door: AvroSerializer(door, LONG))
    first = [asyncio.ensure_future(write(number, "orders")) for number in range(20)]
    ticks = 0
    while ticks < 50:  # the loop is free while the registry thinks
        await asyncio.sleep(0)
        ticks += 1
    assert not any(one.done() for one in first)
    assert len(slow.asked) == 1
    slow.go.set()
    framed = await asyncio.gather(*first)
    assert len({one.schema_id for one in framed}) == 1
    assert len(slow.asked) == 1
    plain = await write.bind("orders")
    assert [plain(number) for number in range(20)] == [one.data for one in framed]
    assert len(slow.asked) == 1

    slow.asked.clear()
    slow.down = True
    read = AsyncDeserializer(slow, AvroDeserializer)
    with pytest.raises(Unavailable):
        await read(framed[3].data)
    slow.down = False
    assert await asyncio.gather(*(read(one.data) for one in framed)) == list(range(20))
    assert len(slow.asked) == 2

    slow.go.clear()
    stopped = asyncio.ensure_future(AsyncSerializer(slow, lambda door: AvroSerializer(door, LONG))(1, "others"))
    await asyncio.sleep(0)
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    await slow.close()


async def plugs(url: str) -> None:
    registry = connect_async(url)
    headed = AsyncSerializer(registry, lambda door: AvroSerializer(door, LONG, SerializerSettings(framing="header")))
    made = await serialize_part(headed, 5, "orders")
    record = Consumed("orders", None, made.data, made.headers)
    read = AsyncDeserializer(registry, AvroDeserializer)
    assert await deserialize_part(read, record) == 5
    assert await deserialize_part(read, record, "key") is None
    with pytest.raises(Unavailable, match="is in a header"):
        (await headed.bind("orders"))(5)
    latest = AsyncSerializer(registry, lambda door: AvroSerializer(door, settings=SerializerSettings(UseLatest())))
    assert (await latest.bind("orders"))(5) == b"\0\0\0\0\x01\n"
    await registry.close()


async def forgets(url: str) -> None:
    """What was fetched for one record is no answer for the next one."""
    async with connect_async(url) as registry:
        at_once = CachePolicy(latest_ttl=0.0)
        write = AsyncSerializer(
            registry,
            lambda door: AvroSerializer(CachedRegistry(door, at_once), settings=SerializerSettings(UseLatest())),
        )
        await AsyncSerializer(registry, lambda door: AvroSerializer(door, LONG))(5, "orders")
        assert (await write(5, "orders")).data == b"\0\0\0\0\x01\n"
        with pytest.raises(Unavailable, match="await the serializer itself"):
            (await write.bind("orders"))(5)


@dataclasses.dataclass
class Consumed:
    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]


@pytest.mark.parametrize("story", [waiting, plugs, forgets], ids=lambda story: story.__name__)
def test_asyncio(server: Served, story: Callable[[str], Any]) -> None:
    asyncio.run(story(server.url))


def test_plain_functions_of_a_value(server: Served) -> None:
    with connect(server.url) as connection:
        write = bind_serializer(AvroSerializer(connection, Line), "lines")
        read = bind_deserializer(AvroDeserializer(connection, Line), "lines")
        assert read(write(Line("a"))) == Line("a")
        assert write(None) is None
        assert read(None) is None
        headed = bind_serializer(AvroSerializer(connection, Line, SerializerSettings(framing="header")), "lines")
        with pytest.raises(ValueError, match=r"use half\(\)"):
            headed(Line("a"))
