"""The algorithm ``current``: points 13 to 42 of the checklist of the Scala client, over scripted registries and a clock of the test."""

import pytest

from tests.scripted_iglu import ManualClock, ScriptedRegistry, look_up, make_resolver
from treaty.client.iglu import (
    BUILT_IN,
    EMBEDDED,
    MEMORY,
    NOT_FOUND,
    IgluNotFoundError,
    IgluUnavailableError,
    SchemaDocument,
    client_failure,
    repo_failure,
)
from treaty.client.iglu.algorithms import backoff

KEY = "iglu:com.acme/click/jsonschema/1-0-0"
OTHER = "iglu:com.acme/view/jsonschema/1-0-0"
SCHEMA, PATCHED = SchemaDocument({"type": "object"}), SchemaDocument({"type": "object", "title": "patched"})
DOWN, LOST, REFUSED = repo_failure("down"), repo_failure("lost"), client_failure("Unexpected response code: 403")
MISSING = frozenset({NOT_FOUND})


def test_point_13_absent_everywhere_lists_every_registry_with_one_attempt() -> None:
    clock = ManualClock()
    one, two = ScriptedRegistry("one"), ScriptedRegistry("two", class_priority=EMBEDDED)
    found = look_up(make_resolver(clock, [one, two]), KEY)
    assert found.failures == dict.fromkeys((BUILT_IN, "one", "two"), (MISSING, 1, clock.now))
    assert isinstance(found.error, IgluNotFoundError)


def test_points_21_and_23_without_a_cache_each_call_asks_again_and_says_so() -> None:
    one = ScriptedRegistry("one")
    one.script(KEY, SCHEMA)
    resolver = make_resolver(ManualClock(), [one], cache_size=0)
    found = [resolver.lookup(KEY) for _ in range(3)]
    assert [each.is_cached for each in found] == [False] * 3
    assert one.count() == 3


def test_point_22_the_first_success_stops_the_traversal() -> None:
    one, two = ScriptedRegistry("one", priority=1), ScriptedRegistry("two", priority=2)
    one.script(KEY, SCHEMA)
    assert make_resolver(ManualClock(), [two, one]).lookup(KEY).registry == "one"
    assert two.count() == 0


def test_points_24_25_and_28_a_failure_is_not_asked_again_before_its_backoff_and_then_it_is() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, DOWN, SCHEMA)
    resolver = make_resolver(clock, [one])
    first = look_up(resolver, KEY)
    assert isinstance(first.error, IgluUnavailableError)
    start = clock.now
    for pause in (0, backoff(1)):  # the boundary itself is too early
        clock.now = start + pause
        again = look_up(resolver, KEY)
        assert again.failures == first.failures
        assert again.failures["one"] == (frozenset({DOWN}), 1, start)
    clock.advance(1)
    assert first.error.next_attempts["one"] == clock.now
    assert look_up(resolver, KEY).document == SCHEMA.value
    assert one.count() == 2


def test_points_26_27_and_32_all_failures_of_two_registries_are_kept_and_a_missing_one_is_left_alone() -> None:
    clock = ManualClock()
    one, two = ScriptedRegistry("one"), ScriptedRegistry("two")
    absent, local = ScriptedRegistry("absent"), ScriptedRegistry("local", class_priority=MEMORY)
    one.script(KEY, DOWN, LOST)
    two.script(KEY, LOST, DOWN)
    resolver = make_resolver(clock, [one, two, absent, local])
    start = clock.now
    look_up(resolver, KEY)
    clock.advance(600)
    found = look_up(resolver, KEY)
    assert found.failures == {
        "one": ({DOWN, LOST}, 2, clock.now),
        "two": ({DOWN, LOST}, 2, clock.now),
        "absent": (MISSING, 1, start),
        "local": (MISSING, 1, start),
        BUILT_IN: (MISSING, 1, start),
    }
    assert one.count() + two.count() == 4
    assert absent.count() == local.count() == 1


def test_point_29_the_table_of_backoffs() -> None:
    table = {1: 504, 2: 516, 3: 564, 4: 756, 5: 1524, 6: 4596, 7: 16884, 8: 60000, 9: 20183, 10: 59549, 11: 60000}
    table |= {12: 60000, 13: 13692, 14: 21884, 15: 38268, 16: 60000, 17: 60000, 21: 60000, 10_000: 60000}
    assert {attempts: backoff(attempts) for attempts in table} == table


def test_point_30_a_refused_request_is_retried_too() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, REFUSED, SCHEMA)
    resolver = make_resolver(clock, [one])
    assert isinstance(look_up(resolver, KEY).error, IgluUnavailableError)
    clock.advance(505)
    assert look_up(resolver, KEY).document == SCHEMA.value


def test_point_31_of_more_than_32_failures_32_are_kept() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, *(repo_failure(f"{number:03}") for number in range(50)))
    resolver = make_resolver(clock, [one])
    for _ in range(50):
        look_up(resolver, KEY)
        clock.advance(60_001)
    errors, attempts, _ = look_up(resolver, KEY).failures["one"]
    assert (len(errors), attempts) == (32, 51)


def test_points_33_34_and_39_a_success_holds_for_the_ttl_and_then_a_patch_is_seen() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, SCHEMA, SCHEMA, PATCHED)
    resolver = make_resolver(clock, [one], cache_ttl=10)
    first = resolver.lookup(KEY)
    clock.advance(9_999)
    assert resolver.lookup(KEY) == first
    clock.advance(1)
    second = resolver.lookup(KEY)
    assert (second.document, second.resolved_at) == (SCHEMA.value, clock.now)
    clock.advance(10_000)
    assert resolver.lookup(KEY).document == PATCHED.value
    assert one.count() == 3


def test_point_35_a_success_between_failures_is_what_remains() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, DOWN, DOWN, SCHEMA, DOWN)
    resolver = make_resolver(clock, [one], cache_ttl=1)
    for _ in range(3):
        last = look_up(resolver, KEY)
        clock.advance(2_000)
    assert last.document == SCHEMA.value
    assert look_up(resolver, KEY).document == SCHEMA.value
    assert one.count() == 4


def test_points_36_and_40_an_expired_schema_is_kept_through_a_failure_for_another_ttl_and_says_so() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, SCHEMA, DOWN, PATCHED)
    resolver = make_resolver(clock, [one], cache_ttl=10)
    assert resolver.lookup(KEY).stale == {}
    clock.advance(10_000)
    kept = resolver.lookup(KEY)
    assert (kept.document, kept.resolved_at) == (SCHEMA.value, clock.now)
    assert kept.stale["one"].errors == {DOWN}
    clock.advance(9_999)
    assert resolver.lookup(KEY) == kept
    assert one.count() == 2
    clock.advance(1)
    found = resolver.lookup(KEY)
    assert (found.document, found.stale) == (PATCHED.value, {})


def test_point_37_a_missing_schema_is_found_after_the_ttl_and_not_before() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, NOT_FOUND, SCHEMA)
    resolver = make_resolver(clock, [one], cache_ttl=200)
    error = look_up(resolver, KEY).error
    assert error is not None
    assert error.next_attempts["one"] == clock.now + 200_000
    clock.advance(150_000)
    assert look_up(resolver, KEY).error == error
    clock.advance(100_000)
    assert look_up(resolver, KEY).document == SCHEMA.value
    assert one.count() == 2


def test_point_38_missing_again_after_the_ttl_counts_two_attempts_and_is_cached() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    resolver = make_resolver(clock, [one], cache_ttl=10)
    look_up(resolver, KEY)
    clock.advance(10_000)
    second = look_up(resolver, KEY)
    assert second.failures["one"] == (MISSING, 2, clock.now)
    clock.advance(9_999)
    assert look_up(resolver, KEY).failures == second.failures
    assert one.count() == 2


def test_point_41_without_a_ttl_missing_is_cached_until_it_is_evicted() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, NOT_FOUND, SCHEMA)
    resolver = make_resolver(clock, [one], cache_size=1)
    error = look_up(resolver, KEY).error
    assert error is not None
    assert error.next_attempts["one"] is None
    clock.advance(10**12)
    assert look_up(resolver, KEY).error == error
    look_up(resolver, OTHER)
    assert look_up(resolver, KEY).document == SCHEMA.value


def test_point_42_the_least_recently_used_entry_is_evicted_and_its_failures_with_it() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    third = "iglu:com.acme/buy/jsonschema/1-0-0"
    one.script(KEY, SCHEMA)
    one.script(OTHER, DOWN, SCHEMA)
    one.script(third, SCHEMA)
    resolver = make_resolver(clock, [one], cache_size=2)
    resolver.lookup(KEY)
    assert look_up(resolver, OTHER).error is not None
    resolver.lookup(KEY)
    resolver.lookup(third)  # evicts OTHER, which was used before KEY
    resolver.lookup(KEY)
    assert one.count(KEY) == 1
    assert look_up(resolver, OTHER).document == SCHEMA.value  # no back-off is left


@pytest.mark.parametrize("class_priority", [MEMORY, EMBEDDED])
def test_a_local_registry_is_not_asked_again_after_a_failure(class_priority: int) -> None:
    clock, one = ManualClock(), ScriptedRegistry("one", class_priority=class_priority)
    one.script(KEY, DOWN, SCHEMA)
    resolver = make_resolver(clock, [one], cache_ttl=10)
    error = look_up(resolver, KEY).error
    assert error is not None
    assert error.next_attempts["one"] is None
    clock.advance(10**9)
    assert look_up(resolver, KEY).failures["one"] == (frozenset({DOWN}), 1, clock.now - 10**9)


def test_a_registry_that_said_not_there_last_counts_as_not_there() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, DOWN, NOT_FOUND)
    resolver = make_resolver(clock, [one])
    look_up(resolver, KEY)
    clock.advance(505)
    found = look_up(resolver, KEY)
    assert found.failures["one"][0] == {DOWN, NOT_FOUND}
    assert isinstance(found.error, IgluNotFoundError)
