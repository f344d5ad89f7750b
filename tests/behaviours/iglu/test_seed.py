"""The algorithm ``seed``: three requests, one at each look-up, and then a schema counts as missing; over scripted registries."""

import pytest

from tests.scripted_iglu import ManualClock, ScriptedRegistry, list_key, look_up, make_resolver, uris
from treaty.client.iglu import (
    EMBEDDED,
    NOT_FOUND,
    IgluNotFoundError,
    IgluUnavailableError,
    RegistryFailure,
    SchemaDocument,
    repo_failure,
)

KEY = "iglu:com.acme/click/jsonschema/1-0-0"
SCHEMA, PATCHED = SchemaDocument({"type": "object"}), SchemaDocument({"type": "object", "title": "patched"})
DOWN, LOST = repo_failure("down"), repo_failure("lost")
GONE = RegistryFailure("ClientFailure", "Unexpected response code: 410", 410)


@pytest.mark.parametrize("class_priority", [EMBEDDED, 100])
def test_a_registry_is_asked_three_times_in_all_without_any_pause(class_priority: int) -> None:
    one = ScriptedRegistry("one", class_priority=class_priority)
    one.script(KEY, DOWN, LOST, DOWN, SCHEMA)
    resolver = make_resolver(ManualClock(), [one], algorithm="seed")
    kinds = [type(look_up(resolver, KEY).error) for _ in range(5)]
    assert kinds == [IgluUnavailableError] * 2 + [IgluNotFoundError] * 3
    assert one.count() == 3
    errors, attempts, _ = look_up(resolver, KEY).failures["one"]
    assert (set(errors), attempts) == ({DOWN, LOST}, 3)


def test_a_schema_that_comes_at_the_third_request_is_kept() -> None:
    one = ScriptedRegistry("one")
    one.script(KEY, DOWN, DOWN, SCHEMA, DOWN)
    resolver = make_resolver(ManualClock(), [one], algorithm="seed")
    look_up(resolver, KEY)
    look_up(resolver, KEY)
    assert [look_up(resolver, KEY).document for _ in range(5)] == [SCHEMA.value] * 5
    assert one.count() == 3


@pytest.mark.parametrize("answer", [NOT_FOUND, GONE], ids=["404", "410"])
def test_not_there_is_final_at_once_and_other_registries_are_still_asked(answer: RegistryFailure) -> None:
    one, two = ScriptedRegistry("one"), ScriptedRegistry("two")
    one.script(KEY, answer, SCHEMA)
    two.script(KEY, DOWN, DOWN, DOWN)
    resolver = make_resolver(ManualClock(), [one, two], algorithm="seed")
    for _ in range(5):
        found = look_up(resolver, KEY)
    assert (one.count(), two.count()) == (1, 3)
    assert found.failures["one"][0] == {NOT_FOUND}


def test_gone_is_a_refusal_that_is_retried_in_current() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, GONE, SCHEMA)
    resolver = make_resolver(clock, [one])
    assert isinstance(look_up(resolver, KEY).error, IgluUnavailableError)
    clock.advance(505)
    assert look_up(resolver, KEY).document == SCHEMA.value


def test_not_there_after_an_error_ends_the_requests() -> None:
    one = ScriptedRegistry("one")
    one.script(KEY, DOWN, NOT_FOUND, SCHEMA)
    resolver = make_resolver(ManualClock(), [one], algorithm="seed")
    for _ in range(4):
        found = look_up(resolver, KEY)
    assert one.count() == 2
    assert found.failures["one"][:2] == (frozenset({DOWN, NOT_FOUND}), 2)
    assert isinstance(found.error, IgluNotFoundError)


def test_a_document_that_is_no_json_schema_is_final() -> None:
    one, two = ScriptedRegistry("one"), ScriptedRegistry("two", priority=1)
    one.script(KEY, SchemaDocument({"type": "nonsense"}), SCHEMA)
    two.script(KEY, DOWN, SCHEMA)
    resolver = make_resolver(ManualClock(), [one, two], algorithm="seed")
    assert "no JSON Schema" in str(look_up(resolver, KEY).error)
    assert look_up(resolver, KEY).document == SCHEMA.value
    assert (one.count(), two.count()) == (1, 2)


def test_a_schema_expires_by_the_time_it_was_fetched_however_often_it_is_read() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, SCHEMA, PATCHED)
    resolver = make_resolver(clock, [one], algorithm="seed", cache_ttl=10)
    for _ in range(11):
        assert look_up(resolver, KEY).document == SCHEMA.value
        clock.advance(909)
    clock.advance(1)
    assert look_up(resolver, KEY).document == PATCHED.value


def test_an_expired_schema_that_cannot_be_fetched_becomes_a_failure() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, SCHEMA, DOWN)
    resolver = make_resolver(clock, [one], algorithm="seed", cache_ttl=10)
    look_up(resolver, KEY)
    clock.advance(10_000)
    assert look_up(resolver, KEY).failures["one"] == (frozenset({DOWN}), 1, clock.now)


def test_an_expired_failure_is_forgotten_and_three_more_requests_follow() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, DOWN)
    resolver = make_resolver(clock, [one], algorithm="seed", cache_ttl=10)
    for _ in range(5):
        look_up(resolver, KEY)
    clock.advance(10_000)
    assert look_up(resolver, KEY).failures["one"][1] == 1
    for _ in range(5):
        look_up(resolver, KEY)
    assert one.count() == 6


def test_lists_have_the_same_three_requests() -> None:
    one, key = ScriptedRegistry("one"), list_key(KEY)
    one.script(key, DOWN, DOWN, uris("com.acme", "click", "1-0-0"))
    resolver = make_resolver(ManualClock(), [one], algorithm="seed")
    for _ in range(2):
        with pytest.raises(IgluUnavailableError):
            resolver.list_schemas("com.acme", "click", 1)
    assert [str(one) for one in resolver.list_schemas("com.acme", "click", 1).schemas] == [KEY]
