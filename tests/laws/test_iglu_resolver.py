"""Laws of the Iglu resolver: the order of registries, back-off, what is kept through failures, three requests in ``seed``."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.scripted_iglu import ManualClock, ScriptedRegistry, look_up, make_resolver
from treaty.client.iglu import (
    EMBEDDED,
    MEMORY,
    NOT_FOUND,
    REMOTE,
    SchemaDocument,
    client_failure,
    http_registry,
    memory_registry,
    repo_failure,
)
from treaty.client.iglu.algorithms import backoff
from treaty.client.iglu.registries import IgluRegistry, RegistryAnswer, order_registries

KEY = "iglu:com.acme/click/jsonschema/1-0-0"
VENDORS = st.sampled_from(["com.acme", "com.acmecorp", "com", "de.other", "com.acme.web"])
ANSWERS = st.sampled_from(
    [NOT_FOUND, repo_failure("down"), repo_failure("lost"), client_failure("no"), SchemaDocument({"title": "x"})]
)
FAILURES = st.sampled_from([NOT_FOUND, repo_failure("down"), client_failure("no")])
PAUSES = st.one_of(st.integers(0, 1_000), st.sampled_from([504, 505, 516, 517, 60_000, 60_001, 200_000]))
CLASSES = st.sampled_from([MEMORY, EMBEDDED, REMOTE])


@st.composite
def registries(draw: st.DrawFn) -> list[IgluRegistry]:
    """A few registries of all kinds, with priorities and prefixes that often agree."""
    found = []
    for at in range(draw(st.integers(0, 8))):
        prefixes, priority = draw(st.lists(VENDORS, max_size=2)), draw(st.integers(0, 2))
        if draw(st.booleans()):
            found.append(http_registry(f"r{at}", "http://h", priority=priority, vendor_prefixes=prefixes))
        else:
            options = {"priority": priority, "class_priority": draw(CLASSES)}
            found.append(memory_registry(f"r{at}", {}, vendor_prefixes=prefixes, **options))
    return found


@given(configured=registries(), vendor=VENDORS, dots=st.booleans())
def test_the_order_is_a_stable_sort_by_vendor_class_and_priority(
    configured: list[IgluRegistry], vendor: str, *, dots: bool
) -> None:
    ordered = order_registries(configured, vendor, dots=dots)
    ranks = [(not one.has_vendor(vendor, dots=dots), one.class_priority, one.priority) for one in ordered]
    assert ranks == sorted(ranks)
    assert sorted(map(id, ordered)) == sorted(map(id, configured))
    for rank in {*ranks}:
        same = [one for one, of in zip(ordered, ranks, strict=True) if of == rank]
        assert same == [one for one in configured if one in same]
    assert order_registries(ordered, vendor, dots=dots) == ordered


@given(
    st.lists(st.tuples(CLASSES, st.lists(ANSWERS, min_size=1, max_size=12)), min_size=1, max_size=3),
    st.lists(PAUSES, min_size=1, max_size=25),
    st.sampled_from([None, 1, 100]),
)
def test_a_registry_is_asked_again_from_the_time_that_the_error_names_after_its_backoff_or_the_ttl(
    scripts: list[tuple[int, list[RegistryAnswer]]], pauses: Sequence[int], ttl: int | None
) -> None:
    clock = ManualClock()
    found = [ScriptedRegistry(f"r{at}", class_priority=kind) for at, (kind, _) in enumerate(scripts)]
    for one, (_, answers) in zip(found, scripts, strict=True):
        one.script(KEY, *answers)
    resolver = make_resolver(clock, found, cache_ttl=ttl)
    known = look_up(resolver, KEY)
    for pause in pauses:
        clock.advance(pause)
        before = {one.name: one.count() for one in found}
        last, known = known, look_up(resolver, KEY)
        if last.error is None:
            continue
        for one in found:
            errors, attempts, time = last.failures[one.name]
            again, due = one.count() > before[one.name], last.error.next_attempts[one.name]
            is_due = due is not None and clock.now >= due
            assert again <= is_due
            assert again or not is_due or known.error is None  # all that are due are asked, up to the first success
            if again and NOT_FOUND not in errors:
                assert one.registry.class_priority == REMOTE
                assert clock.now - time > backoff(attempts)
            elif again:
                assert ttl is not None
                assert clock.now - time >= ttl * 1_000


@given(
    st.lists(st.lists(ANSWERS, min_size=1, max_size=12), min_size=1, max_size=3),
    st.lists(PAUSES, min_size=1, max_size=40),
    st.sampled_from([None, 1, 100]),
)
def test_in_current_an_answer_once_fresh_is_never_replaced_by_a_failure(
    scripts: list[list[RegistryAnswer]], pauses: Sequence[int], ttl: int | None
) -> None:
    clock = ManualClock()
    found = [ScriptedRegistry(f"r{at}") for at in range(len(scripts))]
    for one, answers in zip(found, scripts, strict=True):
        one.script(KEY, *answers)
    resolver, had = make_resolver(clock, found, cache_ttl=ttl), False
    for pause in pauses:
        clock.advance(pause)
        outcome = look_up(resolver, KEY)
        assert outcome.schema is not None or not had
        had = outcome.schema is not None


@given(st.lists(st.lists(FAILURES, min_size=1, max_size=8), min_size=1, max_size=3), st.lists(PAUSES, max_size=12))
def test_in_seed_a_registry_gets_at_most_three_requests_and_none_after_it_said_not_there(
    scripts: list[list[RegistryAnswer]], pauses: Sequence[int]
) -> None:
    clock = ManualClock()
    found = [ScriptedRegistry(f"r{at}") for at in range(len(scripts))]
    for one, answers in zip(found, scripts, strict=True):
        one.script(KEY, *answers)
    resolver = make_resolver(clock, found, algorithm="seed")
    for pause in (0, *pauses):
        clock.advance(pause)
        look_up(resolver, KEY)
    for one, answers in zip(found, scripts, strict=True):
        given_ = (answers + [answers[-1]] * 3)[:3]
        wanted = given_.index(NOT_FOUND) + 1 if NOT_FOUND in given_ else 3
        assert one.count() == min(wanted, 1 + len(pauses))


@given(st.integers(1, 5_000))
def test_a_backoff_is_between_half_a_second_and_a_minute(attempts: int) -> None:
    assert 500 < backoff(attempts) <= 60_000
