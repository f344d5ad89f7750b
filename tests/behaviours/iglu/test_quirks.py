"""Peculiarities of the Scala client, each kept or mended, as the table of docs/howto/iglu-resolve.md says; numbers are those of its rows."""

import time

from tests.scripted_iglu import ManualClock, ScriptedRegistry, look_up, make_resolver
from treaty.client.iglu import EMBEDDED, NOT_FOUND, IgluNotFoundError, SchemaDocument, client_failure, repo_failure
from treaty.client.iglu.answers import make_clock

KEY, NEWER = "iglu:com.acme/click/jsonschema/1-0-0", "iglu:com.acme/click/jsonschema/1-0-1"
SCHEMA, DOWN = SchemaDocument({"title": "x"}), repo_failure("down")


def test_quirk_1_kept_a_failing_registry_keeps_the_missing_of_another_from_expiring() -> None:
    clock, absent, failing = ManualClock(), ScriptedRegistry("absent"), ScriptedRegistry("failing")
    absent.script(KEY, NOT_FOUND, SCHEMA)
    failing.script(KEY, DOWN)
    resolver = make_resolver(clock, [absent, failing], cache_ttl=2)
    for _ in range(5):
        look_up(resolver, KEY)
        clock.advance(1_600)  # longer than the first back-offs, shorter than the TTL
    assert absent.count() == 1
    assert failing.count() == 5
    resolver.clear_cache()  # the remedy
    assert look_up(resolver, KEY).document == SCHEMA.value


def test_quirk_2_mended_superseding_and_plain_look_ups_do_not_share_an_entry() -> None:
    one = ScriptedRegistry("one")
    old = SchemaDocument({"$supersededBy": "1-0-1"})
    one.script(KEY, old)
    one.script(NEWER, SCHEMA)
    resolver = make_resolver(ManualClock(), [one])
    for _ in range(2):
        assert resolver.lookup(KEY, superseding=True).document == SCHEMA.value
        assert resolver.lookup(KEY).document == old.value


def test_quirk_3_kept_a_corrupt_embedded_schema_is_read_again_after_eviction_alone() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one", class_priority=EMBEDDED)
    one.script(KEY, DOWN, SCHEMA)
    resolver = make_resolver(clock, [one], cache_ttl=1, cache_size=1)
    for _ in range(3):
        assert look_up(resolver, KEY).error is not None
        clock.advance(10_000)
    look_up(resolver, NEWER)
    assert look_up(resolver, KEY).document == SCHEMA.value


def test_quirk_4_kept_an_expired_schema_is_there_for_a_fallback_while_it_is_not_evicted() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, SCHEMA, DOWN)
    resolver = make_resolver(clock, [one], cache_ttl=1, cache_size=1)
    resolver.lookup(KEY)
    look_up(resolver, NEWER)
    assert look_up(resolver, KEY).error is not None


def test_quirk_5_mended_a_stale_schema_says_that_it_is_one() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, SCHEMA, DOWN)
    resolver = make_resolver(clock, [one], cache_ttl=1)
    assert resolver.lookup(KEY).stale == {}
    clock.advance(1_000)
    stale = resolver.lookup(KEY).stale["one"]
    assert (set(stale.errors), stale.last_attempt) == ({DOWN}, clock.now)


def test_quirk_6_kept_a_refused_request_is_made_again_every_minute() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, client_failure("Unexpected response code: 403"))
    resolver = make_resolver(clock, [one])
    for _ in range(30):
        look_up(resolver, KEY)
        clock.advance(60_001)
    assert one.count() == 30


def test_quirk_7_mended_the_clock_never_steps_back_and_shows_the_time_of_the_system() -> None:
    clock = make_clock()
    seen = [clock() for _ in range(1_000)]
    assert seen == sorted(seen)
    assert abs(seen[0] - time.time_ns() // 1_000_000) < 60_000


def test_quirk_8_kept_a_failed_family_is_walked_again_from_the_cache() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, SCHEMA)
    resolver = make_resolver(clock, [one])
    for _ in range(3):
        error = None
        try:
            resolver.lookup_until(NEWER)
        except IgluNotFoundError as raised:
            error = raised
        assert error is not None
        clock.advance(1)
    assert one.count() == 2
