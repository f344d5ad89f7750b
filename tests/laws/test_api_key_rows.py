"""Rows of API keys: a digest means one thing, lists show page by page what whoever asks administers, and no more is removed."""

import hashlib

import pytest

from tests.laws.tied import refused
from tests.laws.timed import TimedBench
from tests.worlds.world import World
from treaty.core.access.rights import Access, AccessRule
from treaty.core.messages.api_keys import AddApiKeys, ApiKeyFound, KeyAction, ListApiKeys, NewApiKey, RemoveApiKey

VENDORS = ("com.acme", "com.acme.sub", "com.other", "*")


def digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def add(vendor: str, action: KeyAction = "READ", *names: str) -> AddApiKeys:
    return AddApiKeys(vendor, tuple(NewApiKey(digest(name), action) for name in names or (vendor,)))


@pytest.fixture
def bench() -> TimedBench:
    """Three keys of each of these vendors."""
    bench = TimedBench()
    for vendor in VENDORS:
        bench.do(add(vendor, "BUMP", *(f"{vendor}{number}" for number in range(3))))
    return bench


def listed(bench: TimedBench) -> list[ApiKeyFound]:
    """All keys, page by page."""
    keys: list[ApiKeyFound] = []
    while page := bench.do(ListApiKeys(after=keys[-1].digest if keys else "")).keys:
        assert not keys or page[0].digest > keys[-1].digest, "a page begins behind the one before"
        keys += page
    return keys


@pytest.mark.parametrize("size", [1, 3, 11, 12, 13])
def test_pages_are_the_whole_list_by_digest(bench: TimedBench, size: int) -> None:
    with World(pages=(("API_KEYS_PAGE", size),)).paged():
        assert len(bench.do(ListApiKeys()).keys) == min(size, 12)
        keys = listed(bench)
    assert [key.digest for key in keys] == sorted(
        digest(f"{vendor}{number}") for vendor in VENDORS for number in range(3)
    )
    assert {(key.action, key.creator, key.created) for key in keys} == {("BUMP", "user:a", bench.now)}
    assert bench.do(ListApiKeys(digest=keys[4].digest)).keys == (keys[4],)
    assert bench.do(ListApiKeys(digest=digest("none"))).keys == ()


@pytest.mark.parametrize(
    ("subjects", "vendors"),
    [
        (("com.acme/*", "com.acme.*/*"), {"com.acme", "com.acme.sub"}),
        (("com.acme/*",), set()),
        (("com.other/*", "com.other.*/*"), {"com.other"}),
        (("*",), set()),
    ],
)
def test_keys_are_seen_and_removed_by_who_administers_their_vendor(
    bench: TimedBench, subjects: tuple[str, ...], vendors: set[str]
) -> None:
    every = listed(bench)
    bench.access = Access((AccessRule(("user:a",), frozenset({"admin"}), subjects),))
    assert {key.vendor for key in listed(bench)} == vendors
    for key in every:
        if key.vendor in vendors:
            assert bench.do(RemoveApiKey(key.digest)).removed
        else:
            assert refused(bench, RemoveApiKey(key.digest)).reason.rule == "RIGHTS"
    assert not bench.do(RemoveApiKey(digest("none"))).removed
    bench.access = None
    assert {key.vendor for key in listed(bench)} == set(VENDORS) - vendors


def test_a_digest_means_one_thing(bench: TimedBench) -> None:
    known = f"{VENDORS[0]}0"
    for request in (
        add(VENDORS[0], "CREATE", known),
        add(VENDORS[1], "BUMP", known),
        add(VENDORS[0], "BUMP", "new", "new"),
        add(VENDORS[0], "BUMP", "new", known, known),
    ):
        assert refused(bench, request).reason.rule == "API_KEY_TAKEN"
    before = listed(bench)
    bench.now += 1
    answer = bench.do(add(VENDORS[0], "BUMP", known))
    assert answer.keys == tuple(key for key in before if key.digest == digest(known))
    assert listed(bench) == before
