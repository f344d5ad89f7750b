"""Both algorithms of the Iglu resolver against a model that was written apart from it, over random histories."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import pytest

from tests.scripted_iglu import ManualClock, ScriptedRegistry, look_up, make_resolver
from tests.simulation.iglu.comparing import compare, compare_async, compare_families, compare_families_async
from treaty.client.iglu import NOT_FOUND, IgluNotFoundError, SchemaDocument, client_failure, repo_failure

QUICK = 60
SEEDS = 400
BLOCK = 170
ASYNC_SEEDS = 40
SOAK = 20_000
SOAK_BLOCK = 1_000
ASYNC_SHARE = 10
"""One of so many seeds of the soak runs through the resolver for asyncio too."""
KEY = "iglu:com.acme/click/jsonschema/1-0-0"

WANTED = {
    "current": (
        "found in the cache",
        "found at a registry",
        "superseded",
        "stale",
        "failed without a request",
        "not there",
        "unavailable",
        "no cache",
        "asked more than twice",
        "asked more than eight times",
    ),
    "seed": (
        "found in the cache",
        "found at a registry",
        "superseded",
        "failed without a request",
        "not there",
        "unavailable",
        "no cache",
        "asked more than twice",
    ),
}
"""What has to happen in some of the histories."""
FAMILIES = {
    "current": (
        "family found in the cache",
        "family found at a registry",
        "family stale",
        "family failed without a request",
        "family not there",
        "family unavailable",
        "family no cache",
    ),
    "seed": ("family found in the cache", "family found at a registry", "family not there", "family unavailable"),
}
"""What has to happen in some of the histories with families."""


def run(seeds: Iterable[int], one: Callable[[int], Counter[str]] = compare) -> Counter[str]:
    """Compare each history; returns what happened in them."""
    return sum(map(one, seeds), Counter())


def require(seen: Counter[str], wanted: Mapping[str, Iterable[str]]) -> None:
    """All that is wanted has happened."""
    never = [f"{name}: {note}" for name, notes in wanted.items() for note in notes if not seen[f"{name}: {note}"]]
    assert not never, f"some of what should happen never does: {never}"


def test_resolver_and_model_agree_in_a_few_histories(figure: Callable[[str], None]) -> None:
    figure(f"{run(range(QUICK)).total()} notes of look-ups in {QUICK} histories")


@pytest.mark.slow
@pytest.mark.parametrize("first", range(QUICK, SEEDS, BLOCK))
def test_resolver_and_model_agree(first: int, figure: Callable[[str], None]) -> None:
    seen = run(range(first, first + BLOCK))

    require(seen, WANTED)
    figure(", ".join(f"{note} {count}" for note, count in sorted(seen.items())))


@pytest.mark.slow
def test_the_resolver_for_asyncio_and_the_model_agree() -> None:
    run(range(ASYNC_SEEDS), compare_async)


def test_resolver_and_model_agree_about_families(figure: Callable[[str], None]) -> None:
    seen = run(range(QUICK), compare_families)
    run(range(QUICK, QUICK + ASYNC_SHARE), compare_families_async)

    require(seen, FAMILIES)
    figure(", ".join(f"{note} {count}" for note, count in sorted(seen.items()) if "family" in note))


@pytest.mark.soak
@pytest.mark.parametrize("first", range(SEEDS, SEEDS + SOAK, SOAK_BLOCK))
def test_resolver_and_model_agree_in_many_histories(first: int) -> None:
    seeds = range(first, first + SOAK_BLOCK)
    run(seeds)
    run(seeds[::ASYNC_SHARE], compare_async)
    run(seeds, compare_families)
    run(seeds[::ASYNC_SHARE], compare_families_async)


# ------------------------------------------------------------------------------------------------- what the model found


def test_a_stale_schema_tells_the_failures_of_the_last_requests_alone() -> None:
    clock, registry = ManualClock(), ScriptedRegistry("central")
    resolver = make_resolver(clock, [registry], cache_ttl=1)
    registry.script(KEY, SchemaDocument({}), repo_failure("down"), client_failure("refused"))
    look_up(resolver, KEY)
    clock.advance(1_000)
    look_up(resolver, KEY)
    clock.advance(1_000)

    schema = look_up(resolver, KEY).schema

    assert schema is not None
    assert schema.stale["central"].errors == {client_failure("refused")}
    assert schema.stale["central"].attempts == 1


def test_not_there_is_the_last_answer_though_it_expired_while_the_registry_was_left_alone() -> None:
    clock, registry = ManualClock(), ScriptedRegistry("central")
    resolver = make_resolver(clock, [registry], cache_ttl=1)
    registry.script(KEY, *[repo_failure("down")] * 5, NOT_FOUND)
    for _ in range(6):
        look_up(resolver, KEY)
        clock.advance(2_000)
    assert registry.count() == 6

    outcome = look_up(resolver, KEY)

    assert registry.count() == 6, "it is asked after 4,596 ms; the built-in registry was asked again"
    assert isinstance(outcome.error, IgluNotFoundError)
