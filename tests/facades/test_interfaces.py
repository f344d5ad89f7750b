"""One subject through all APIs: what one registers, every other one reads, with the same ids and texts, and what one refuses, all refuse."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx2
import pytest

from tests.facades.interfaces import AVRO_1124, INTERFACES, Interface, Said
from treaty.api.application import build_application
from treaty.assemble import open_node


def order(*fields: str) -> str:
    inner = ",".join(['{"name":"id","type":"long"}', *fields])
    return f'{{"type":"record","name":"Order","namespace":"shop","fields":[{inner}]}}'


def optional(count: int) -> str:
    """A schema with so many optional fields; each can be read with every other."""
    return order(*(f'{{"name":"f{n}","type":["null","int"],"default":null}}' for n in range(count)))


NEEDS = order('{"name":"must","type":"int"}')
"""A schema that can't read data of any other."""
SPELLED = optional(0).replace(",", ", ").replace(":", ": ")
"""Another spelling of the first schema."""
IDENTITIES = {"confluent": False, "pravega": False, "schema-repo": True, "avro-1124": True, "treaty": False}
"""Whether another spelling is another version, by the API that creates the subject."""
UNKNOWN = frozenset({"list", "get", "latest", "find", "delete"})
"""What is answered with 404 for a subject that does not exist."""
INTERFACE = pytest.mark.parametrize("one", INTERFACES, ids=lambda one: one.name)


@asynccontextmanager
async def server() -> AsyncIterator[httpx2.AsyncClient]:
    async with open_node("memory:") as node:
        transport = httpx2.ASGITransport(app=build_application(node).dispatcher)
        async with httpx2.AsyncClient(transport=transport, base_url="http://test", headers={"accept": "*/*"}) as http:
            yield http


def play(story: Callable[[httpx2.AsyncClient], Awaitable[None]]) -> None:
    async def run() -> None:
        async with server() as http:
            await story(http)

    asyncio.run(run())


async def create(http: httpx2.AsyncClient, one: Interface, subject: str) -> None:
    """Create a subject with the level BACKWARD; the proposal does it with the first schema."""
    if one.says("create"):
        made = await one("create", http, subject)
        assert made.status < 300, (one.name, made)


async def read_everywhere(http: httpx2.AsyncClient, subject: str, texts: dict[int, str], newest: int) -> None:
    """Read every live version by its id, the list, the newest, and versions by their text, through each API."""
    schema_ids: dict[str, list[int | None]] = {}
    for one in INTERFACES:
        assert (await one("list", http, subject)).value == [it + one.first for it in texts], one.name
        assert (await one("latest", http, subject)).value == texts[newest], one.name
        read = [await one("get", http, subject, ordinal + one.first) for ordinal in texts]
        assert [it.value for it in read] == list(texts.values()), one.name
        if one.says("find"):
            ids = [(await one("find", http, subject, text)).value for text in texts.values()]
            assert ids == [it + one.first for it in texts], one.name
        schema_ids[one.name] = [it.schema_id for it in read]
    told = {name: ids for name, ids in schema_ids.items() if None not in ids}
    assert told.keys() == {"confluent", "treaty"}
    assert told["confluent"] == told["treaty"]


@INTERFACE
def test_what_one_registers_all_others_read(one: Interface) -> None:
    """The subject is created by one API, and each of the five adds a version."""

    async def story(http: httpx2.AsyncClient) -> None:
        await create(http, one, "orders")
        texts: dict[int, str] = {}
        for ordinal, other in enumerate([one, *(it for it in INTERFACES if it is not one)]):
            texts[ordinal] = optional(ordinal)
            assert (await other("register", http, "orders", texts[ordinal])).value == ordinal + other.first, other.name
            await read_everywhere(http, "orders", texts, ordinal)
        for other in INTERFACES:  # what is there is not registered again
            assert (await other("register", http, "orders", texts[1])).value == 1 + other.first, other.name

    play(story)


@INTERFACE
def test_each_refuses_the_same_schema_with_its_own_status(one: Interface) -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        await create(http, one, "orders")
        assert (await one("register", http, "orders", optional(0))).status < 300
        for other in INTERFACES:
            assert await other("register", http, "orders", NEEDS) == Said(other.incompatible), other.name
            if other.says("check"):
                assert await other("check", http, "orders", NEEDS) == Said(200, False), other.name
                assert await other("check", http, "orders", optional(2)) == Said(200, True), other.name
            if other.says("level"):
                assert (await other("level", http, "orders")).value == "BACKWARD", other.name
        await read_everywhere(http, "orders", {0: optional(0)}, 0)

    play(story)


@pytest.mark.parametrize("one", [one for one in INTERFACES if one.says("delete")], ids=lambda one: one.name)
def test_a_version_that_one_deletes_is_read_by_its_id_alone(one: Interface) -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        await create(http, one, "orders")
        texts = {ordinal: optional(ordinal) for ordinal in range(3)}
        for text in texts.values():
            await one("register", http, "orders", text)
        assert (await one("delete", http, "orders", 1 + one.first)).status < 300
        for other in INTERFACES:
            assert (await other("get", http, "orders", 1 + other.first)).value == texts[1], other.name
            if other.says("find"):
                assert await other("find", http, "orders", texts[1]) == Said(404), other.name
        await read_everywhere(http, "orders", {0: texts[0], 2: texts[2]}, 2)

        for ordinal in (0, 2):
            assert (await one("delete", http, "orders", ordinal + one.first)).status < 300
        for other in INTERFACES:
            assert (await other("latest", http, "orders")).status == 404, other.name
            assert (await other("get", http, "orders", 2 + other.first)).value == texts[2], other.name
        for (
            other
        ) in INTERFACES:  # a schema whose versions are all deleted is another version when it is registered again
            assert (await other("register", http, "orders", texts[1])).value == 3 + other.first, other.name

    play(story)


@INTERFACE
def test_another_spelling_is_another_version_as_the_subject_was_created(one: Interface) -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        await create(http, one, "orders")
        assert (await one("register", http, "orders", optional(0))).value == one.first
        expected = 1 if IDENTITIES[one.name] else 0
        for other in INTERFACES:
            assert (await other("register", http, "orders", SPELLED)).value == expected + other.first, other.name
            if other.says("find"):
                assert (await other("find", http, "orders", SPELLED)).value == expected + other.first, other.name

    play(story)


def test_a_subject_that_does_not_exist() -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        values = {"get": (1,), "delete": (1,), "find": (optional(0),)}
        for one in INTERFACES:
            for word in sorted(UNKNOWN & one.words.keys()):
                assert await one(word, http, "nobody", *values.get(word, ())) == Said(404), (one.name, word)

    play(story)


def test_an_id_that_no_version_has() -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        await AVRO_1124("register", http, "orders", optional(0))
        for one in INTERFACES:
            assert await one("get", http, "orders", 7) == Said(404), one.name

    play(story)
