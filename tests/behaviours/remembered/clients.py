"""Scenes of programs: answers, ids, versions, heads and tokens that a client remembers."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.behaviours.remembered.callers import Write
from tests.behaviours.remembered.memory import MakeScene, Scene
from treaty.assemble.runtime import connect, open_node
from treaty.client.async_cache import AsyncCachedRegistry
from treaty.client.cache import CachedRegistry
from treaty.client.connection import Connection
from treaty.client.credentials import bearer_file, oauth
from treaty.client.effects import Conversation, EffectResult, Headers, RunExclusively, SendRequest, TokenCache
from treaty.client.iglu.answers import ResolverOptions
from treaty.client.iglu.errors import NOT_FOUND
from treaty.client.iglu.registries import RegistryAnswer, RegistryQuestion, SchemaDocument, memory_registry
from treaty.client.iglu.resolver import Resolver
from treaty.client.serializers.avro import AvroSerializer
from treaty.client.serializers.errors import BadRecordError
from treaty.client.serializers.schema_heads import HEAD_SECONDS, SubjectHeads
from treaty.client.serializers.settings import SerializerSettings, UseLatest
from treaty.client.serializers.subject_names import AssociatedNameStrategy, SubjectNaming
from treaty.client.settings import CachePolicy
from treaty.core.messages.associations import Associate, AssociationSpec, Resource
from treaty.core.messages.groups import RemoveSubject
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import NotFound
from treaty.core.registry import Registry
from treaty.core.schema import Draft
from treaty.wire.http_response import HttpResponse

INT, LONG, TEXT = '"int"', '"long"', '"string"'
S = subject_of("s")


class Clock:
    """A clock that goes when it is told to, in seconds."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def latest(registry: Registry) -> object:
    """The text of the latest version, or ``none``."""
    try:
        return registry.ask(GetVersion(S, LATEST)).answer.text
    except NotFound:
        return "none"


def remove_subject(registry: Connection) -> None:
    registry.ask(RemoveSubject(S))


def register(text: str) -> Callable[[Registry | Connection], Any]:
    return lambda registry: registry.ask(Register(S, Draft(text)))


def make_anew(text: str) -> Callable[[Connection], None]:
    """Remove the subject, and register another schema in it: its numbers and ordinals begin anew."""

    def change(registry: Connection) -> None:
        remove_subject(registry)
        registry.register("s", text)

    return change


def of_cache(first: str, change: Callable[[Connection], Any], *, through: bool, seconds: float = 60.0) -> MakeScene:
    """The latest version through a client's cache; it changes `through` the cache, or by somebody else, in time."""

    @asynccontextmanager
    async def scene(_: Path) -> AsyncIterator[Scene]:
        with connect("memory:") as registry:
            if first:
                registry.register("s", first)
            cached = CachedRegistry(registry, CachePolicy(latest_ttl=seconds, missing_ttl=seconds))

            async def ask() -> object:
                return latest(cached)

            async def changed() -> None:
                change(Connection(cached) if through else registry)
                if not through:
                    await asyncio.sleep(1.1 * seconds)

            yield Scene(ask, changed)

    return scene


def of_async_cache(first: str, text: str, *, through: bool, seconds: float = 60.0) -> MakeScene:
    """The same in an asyncio program."""

    @asynccontextmanager
    async def scene(_: Path) -> AsyncIterator[Scene]:
        async with open_node("memory:") as node:
            if first:
                await node.ask(Register(S, Draft(first)))
            cached = AsyncCachedRegistry(node, CachePolicy(latest_ttl=seconds, missing_ttl=seconds))

            async def ask() -> object:
                try:
                    return (await cached.ask(GetVersion(S, LATEST))).answer.text
                except NotFound:
                    return "none"

            async def change() -> None:
                await (cached if through else node).ask(Register(S, Draft(text)))
                if not through:
                    await asyncio.sleep(1.1 * seconds)

            yield Scene(ask, change)

    return scene


@asynccontextmanager
async def associated_subject(_: Path) -> AsyncIterator[Scene]:
    """A topic is associated with a subject while its usual name is remembered."""
    with connect("memory:") as registry:
        registry.register("s", INT)
        naming = SubjectNaming(registry, AssociatedNameStrategy(seconds=0.1))

        async def ask() -> object:
            return str(naming.subject("orders", "value", ""))

        async def change() -> None:
            registry.ask(Associate(Resource("orders", "lkc", "t-1"), (AssociationSpec("value", S),)))
            await asyncio.sleep(0.11)

        yield Scene(ask, change)


@asynccontextmanager
async def latest_of_writer(_: Path) -> AsyncIterator[Scene]:
    """A subject is made anew, with the schema and id that it had, as its second version: its head is another one."""
    with connect("memory:") as registry:
        registry.register("other", INT)
        registry.register("s", INT)
        cached = CachedRegistry(registry)
        settings = SerializerSettings(choice=UseLatest(), framing="version", name_strategy=lambda *_: S)
        write = AvroSerializer(cached, settings=settings)

        async def ask() -> object:
            return write(1, "t").data

        async def change() -> None:
            remove_subject(registry)
            registry.set_level("s", "NONE")
            registry.register("s", TEXT)
            Connection(cached).register("s", INT)

        yield Scene(ask, change)


def of_heads(framing: Any, text: str, *, waits: bool) -> MakeScene:
    """A reader knows a head or a number, and the subject is made anew; or the registry is away meanwhile."""

    @asynccontextmanager
    async def scene(_: Path) -> AsyncIterator[Scene]:
        clock = Clock()
        with connect("memory:") as registry:
            registry.register("s", INT)
            heads = SubjectHeads(registry, framing, clock=clock)
            strategy = SerializerSettings(framing=framing, name_strategy=lambda *_: S)
            shown = AvroSerializer(registry, INT, strategy)(1, "t").data or b""

            async def ask() -> object:
                try:
                    return registry.schema(heads.split(shown, S).schema).text  # type: ignore[arg-type]  # an id
                except BadRecordError as bad:
                    return bad.code.name
                except NotFound:
                    return "a schema that is gone"

            async def change() -> None:
                nonlocal shown
                make_anew(text)(registry)
                if waits:
                    clock.now += HEAD_SECONDS
                else:
                    shown = AvroSerializer(registry, text, strategy)("a", "t").data or b""

            yield Scene(ask, change)

    return scene


# ---------------------------------------------------------------------------------------------------------- tokens


def play(talk: Conversation[Headers], *answers: HttpResponse) -> str:
    """Hold a conversation about credentials; return the token."""
    left = list(answers)
    event: EffectResult = None
    try:
        while True:
            step = talk.send(event)
            if isinstance(step, RunExclusively):
                event = {"Authorization": play(step.conversation(), *left)}
            else:
                event = left.pop(0) if isinstance(step, SendRequest) else None
    except StopIteration as done:
        return str(done.value["Authorization"])


def of_token_file(write: Write, *, refused: bool = False) -> MakeScene:
    """The file of a client's token changes; or a server has `refused` the token of a file that looks as it did."""

    @asynccontextmanager
    async def scene(folder: Path) -> AsyncIterator[Scene]:
        file, tokens, clock = folder / "token", TokenCache(), Clock()
        file.write_text("token-1")
        credentials = bearer_file(file)

        async def ask() -> object:
            return play(credentials.headers(tokens, clock))

        async def change() -> None:
            write(file, "token-2")
            if refused:
                assert credentials.invalidate(tokens, {"Authorization": "Bearer token-1"})

        yield Scene(ask, change)

    return scene


def of_oauth(*, refused: bool) -> MakeScene:
    """A token that was issued nears its end, or a server refuses it."""

    @asynccontextmanager
    async def scene(_: Path) -> AsyncIterator[Scene]:
        tokens, clock = TokenCache(), Clock()
        credentials, number = oauth("http://127.0.0.1/token", "id", "secret"), 1

        async def ask() -> object:
            body = json.dumps({"access_token": f"token-{number}", "expires_in": 100}).encode()
            return play(credentials.headers(tokens, clock), HttpResponse(200, lambda _: None, body))

        async def change() -> None:
            nonlocal number
            number = 2
            if refused:
                credentials.invalidate(tokens, {"Authorization": "Bearer token-1"})
            else:
                clock.now += 81

        yield Scene(ask, change)

    return scene


# ------------------------------------------------------------------------------------------------------------- Iglu

NAMED = {"vendor": "v", "name": "n", "format": "jsonschema", "version": "1-0-0"}
KEY = "iglu:v/n/jsonschema/1-0-0"


def iglu_schema(kind: str) -> dict[str, Any]:
    return {"$schema": "http://json-schema.org/draft-04/schema#", "self": NAMED, "type": kind}


def of_resolver(first: str, *, by_clear: bool = False) -> MakeScene:
    """A schema changes in a registry, or comes into it; the answer of a resolver holds for its time to live."""

    @asynccontextmanager
    async def scene(_: Path) -> AsyncIterator[Scene]:
        clock = Clock()
        held = {KEY: iglu_schema(first)} if first else {}
        config = {
            "schema": "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-3",
            "data": {"cacheSize": 10, "cacheTtl": 60, "repositories": []},
        }

        def answer(_: RegistryQuestion) -> RegistryAnswer:
            return SchemaDocument(held[KEY]) if KEY in held else NOT_FOUND

        options = ResolverOptions(clock=lambda: int(clock.now * 1000))
        with Resolver(config, registries=[memory_registry("own", answer)], options=options) as resolver:

            async def ask() -> object:
                return resolver.validate({"schema": KEY, "data": 7}).outcome

            async def change() -> None:
                held[KEY] = iglu_schema("string")
                if by_clear:
                    resolver.clear_cache()
                else:
                    clock.now += 61

            yield Scene(ask, change)

    return scene
