"""`AsyncResolver` does what `Resolver` does, on the same scripts; and a registry of Treaty is one of Iglu's, for both."""

import asyncio
import json
import pickle
import random
from collections.abc import Iterator
from typing import Any, TypeVar

import pytest

import treaty
from tests.behaviours.iglu.loopback import respond, run_registry
from tests.scripted_iglu import ManualClock, ScriptedRegistry, list_key, make_resolver, uris
from treaty import AsyncResolver, Resolver
from treaty.client.iglu import (
    EMBEDDED,
    NOT_FOUND,
    REMOTE,
    IgluNotFoundError,
    IgluRegistry,
    IgluUnavailableError,
    ResolutionError,
    ResolverConfig,
    ResolverOptions,
    SchemaDocument,
    client_failure,
    http_registry,
    memory_registry,
    repo_failure,
    treaty_registry,
)
from treaty.client.iglu.registries import LocalSource, RegistryAnswer, RegistryQuestion
from treaty.core.iglu_key import SELF_DESCRIBING
from treaty.core.messages.request import Request
from treaty.core.refusals import Forbidden, Unavailable
from treaty.core.registry import CALL, CallOptions, Reply

A = TypeVar("A")
KEY, SECOND = "iglu:com.acme/click/jsonschema/1-0-0", "iglu:com.acme/click/jsonschema/1-0-1"
ANSWERS = (
    NOT_FOUND,
    repo_failure("down"),
    client_failure("no"),
    SchemaDocument({"type": "integer"}),
    SchemaDocument({"$supersededBy": "1-0-1"}),
)
CALLS: tuple[tuple[str, tuple[Any, ...], dict[str, bool]], ...] = (
    ("lookup", (KEY,), {}),
    ("lookup", (KEY,), {"superseding": True}),
    ("lookup", (SECOND,), {}),
    ("list_schemas", ("com.acme", "click", 1), {}),
    ("list_schemas_like", (SECOND,), {}),
    ("lookup_until", (SECOND,), {}),
    ("validate", ({"schema": KEY, "data": "x"},), {}),
    ("clear_cache", (), {}),
)


def make_scripts(seed: int) -> list[ScriptedRegistry]:
    chance = random.Random(seed)
    found = [ScriptedRegistry("a", class_priority=EMBEDDED), ScriptedRegistry("b"), ScriptedRegistry("c")]
    for one in found:
        for key in (KEY, SECOND):
            one.script(key, *chance.choices(ANSWERS, k=10))
        one.script(list_key(KEY), repo_failure("down"), uris("com.acme", "click", "1-0-0", "1-0-1"))
    return found


@pytest.mark.parametrize("algorithm", ["current", "seed"])
@pytest.mark.parametrize("seed", range(5))
def test_both_give_the_same_answers_and_ask_the_same_questions(seed: int, algorithm: str) -> None:
    clocks, scripts = (ManualClock(), ManualClock()), (make_scripts(seed), make_scripts(seed))
    chance = random.Random(seed)
    plan = [(chance.choice(CALLS), chance.choice([0, 400, 600, 70_000])) for _ in range(60)]
    blocking = make_resolver(clocks[0], scripts[0], cache_ttl=60, algorithm=algorithm)
    options = ResolverOptions(algorithm=algorithm, clock=clocks[1])
    registries = [one.registry for one in scripts[1]]

    async def replay() -> None:
        async with AsyncResolver(ResolverConfig(10, 60), registries=registries, options=options) as waiting:
            for (name, words, named), pause in plan:
                for clock in clocks:
                    clock.advance(pause)
                first: Any
                second: Any
                try:
                    first = getattr(blocking, name)(*words, **named)
                except ResolutionError as error:
                    first = error
                try:
                    second = getattr(waiting, name)(*words, **named)
                    second = await second if asyncio.iscoroutine(second) else second
                except ResolutionError as error:
                    second = error
                assert first == second

    asyncio.run(replay())
    assert [one.calls for one in scripts[0]] == [one.calls for one in scripts[1]]


def test_a_registry_that_waits_runs_in_a_thread_of_an_asyncio_program() -> None:
    calls: list[RegistryQuestion] = []

    def ask(question: RegistryQuestion) -> RegistryAnswer:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        calls.append(question)
        return SchemaDocument({})

    async def run() -> None:
        registry = IgluRegistry("slow", LocalSource(ask, blocks=True))
        async with AsyncResolver(ResolverConfig(), registries=[registry]) as resolver:
            found = await asyncio.gather(*(resolver.lookup(KEY) for _ in range(20)))
            assert {one.registry for one in found} == {"slow"}

    asyncio.run(run())
    assert len(calls) == 1


def test_a_cancelled_look_up_lets_the_next_one_ask() -> None:
    async def run() -> None:
        with run_registry({"/schemas/com.acme/click/jsonschema/1-0-0": respond(200, b"{}")}) as server:
            server.delay = 0.2
            async with AsyncResolver(ResolverConfig(), registries=[http_registry("r", server.base)]) as resolver:
                first = asyncio.create_task(resolver.lookup(KEY))
                second = asyncio.create_task(resolver.lookup(KEY))
                await asyncio.sleep(0.05)
                first.cancel()
                assert (await second).document == {}
                assert first.cancelled()

    asyncio.run(run())


def test_a_registry_that_raises_frees_the_key() -> None:
    answers: Iterator[Any] = iter([ZeroDivisionError(), SchemaDocument({})])

    def ask(_: RegistryQuestion) -> RegistryAnswer:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, SchemaDocument)
        return answer

    resolver = Resolver(ResolverConfig(), registries=[memory_registry("m", ask)])
    with pytest.raises(ZeroDivisionError):
        resolver.lookup(KEY)
    assert resolver.lookup(KEY).document == {}


def test_answers_and_errors_can_be_sent_to_other_processes() -> None:
    one = ScriptedRegistry("one")
    one.script(KEY, SchemaDocument({"type": "integer"}))
    resolver = make_resolver(ManualClock(), [one])
    found, result = resolver.lookup(KEY), resolver.validate({"schema": SECOND, "data": 1})
    assert pickle.loads(pickle.dumps(found)) == found
    assert pickle.loads(pickle.dumps(result)) == result


# ------------------------------------------------------------------------------------------------------------ Treaty


class RefusingRegistry:
    """A registry that answers every request with one error."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        raise self._error

    def close(self) -> None:
        pass


def text_of(version: str, name: str = "click") -> str:
    own = {"vendor": "com.acme", "name": name, "format": "jsonschema", "version": version}
    return json.dumps({"$schema": SELF_DESCRIBING, "self": own, "properties": {f"p{version}": {"type": "string"}}})


def test_the_subject_of_a_schema_holds_its_versions() -> None:
    with treaty.connect("memory:") as registry:
        registry.set_level("", "NONE")
        for version in ("1-0-0", "1-0-1", "2-0-0"):
            registry.register("com.acme/click/jsonschema", treaty.Draft(text_of(version), "JSON"))
        registry.register("com.acme/click/jsonschema-2", treaty.Draft(text_of("1-0-2"), "JSON"))
        registry.register("com.acme/click/jsonschema", treaty.Draft(text_of("1-0-3", "other"), "JSON"))
        registry.register("com.acme/click/jsonschema", treaty.Draft('{"title": "no name"}', "JSON"))
        resolver = Resolver(ResolverConfig(0), registries=[treaty_registry("own", registry)])
        assert resolver.lookup(SECOND).document == json.loads(text_of("1-0-1"))
        assert [str(one.version) for one in resolver.list_schemas("com.acme", "click", 1).schemas] == ["1-0-0", "1-0-1"]
        assert len(resolver.lookup_until(SECOND).members) == 2
        for version in ("1-0-2", "1-0-3", "3-0-0"):
            with pytest.raises(IgluNotFoundError):
                resolver.lookup(KEY.replace("1-0-0", version))
        registry.delete_version("com.acme/click/jsonschema", 2)
        with pytest.raises(IgluNotFoundError):
            resolver.lookup(SECOND)


def test_versions_come_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    with treaty.connect("memory:") as registry:
        registry.set_level("", "NONE")
        for addition in range(5):
            registry.register("com.acme/click/jsonschema", treaty.Draft(text_of(f"1-0-{addition}"), "JSON"))
        registry.register("com.acme/click/jsonschema-2", treaty.Draft("{}", "JSON"))
        resolver = Resolver(ResolverConfig(0), registries=[treaty_registry("own", registry)])
        for page in (1, 2, 5, 6):
            monkeypatch.setattr("treaty.client.iglu.subjects._PAGE", page)
            assert len(resolver.list_schemas("com.acme", "click", 1).schemas) == 5
        monkeypatch.setattr("treaty.client.iglu.subjects.IGLU_FAMILY", 3)
        monkeypatch.setattr("treaty.client.iglu.subjects._PAGE", 1)
        with pytest.raises(IgluUnavailableError, match="IGLU_FAMILY"):
            resolver.lookup(KEY)


@pytest.mark.parametrize(
    ("error", "kind"), [(Unavailable("not now"), "RepoFailure"), (Forbidden.of("READ", "no"), "ClientFailure")]
)
def test_a_registry_of_treaty_that_cannot_answer_is_no_missing_schema(error: Exception, kind: str) -> None:
    one = treaty_registry("own", RefusingRegistry(error))
    assert one.class_priority == REMOTE
    with pytest.raises(IgluUnavailableError) as raised:
        Resolver(ResolverConfig(), registries=[one]).lookup(KEY)
    assert [each.kind for each in raised.value.failures["own"].errors] == [kind]


def test_other_formats_cannot_be_found_by_their_text() -> None:
    with treaty.connect("memory:") as registry, pytest.raises(IgluUnavailableError, match="jsonschema"):
        Resolver(ResolverConfig(), registries=[treaty_registry("own", registry)]).lookup("iglu:a/b/avro/1-0-0")
