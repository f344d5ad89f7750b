"""The flow of a resolution without I/O: generators that yield effects, which a resolver for threads or asyncio executes."""

from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from treaty.client.iglu.algorithms import ResolutionAlgorithm, list_due
from treaty.client.iglu.cache import CacheEntry, FoundItem, ResolverCache
from treaty.client.iglu.errors import NO_FAILURES, Failures, LookupHistory, RegistryFailure, ResolutionError, make_error
from treaty.client.iglu.registries import IgluRegistry, RegistryQuestion, order_registries

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AskRegistry:
    """Ask a registry one question; the result is a `RegistryAnswer`."""

    registry: IgluRegistry
    question: RegistryQuestion


@dataclass(frozen=True, slots=True)
class RunLocked:
    """Run a generator while no other one with the same key runs; the result is its value."""

    key: Hashable
    flow: "Callable[[], Flow[Any]]"


Flow = Generator[AskRegistry | RunLocked, Any, T]
Fetch = Callable[[IgluRegistry], "Flow[Any]"]
"""A generator that asks one registry; its value is an item or a `RegistryFailure`."""


@dataclass(frozen=True, slots=True)
class ResolverState:
    """What a resolver is made of. `clock` returns milliseconds since 1970, `ttl` is in milliseconds.

    `is_schema` says whether a document is a JSON Schema. `cache` is None where nothing is cached.
    """

    registries: Sequence[IgluRegistry]
    algorithm: ResolutionAlgorithm
    cache: ResolverCache | None
    ttl: int | None
    clock: Callable[[], int]
    is_schema: Callable[[Any], bool]
    dots: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedItem:
    """An item with the time when it was stored, in milliseconds since 1970, and the registry that gave it.

    `is_cached` is False for a resolver without cache. `stale` has the failures of the registries if the item has expired
    and none of them could give a new one.
    """

    item: Any
    registry: str
    stored: int
    is_cached: bool = True
    stale: Failures = field(default_factory=lambda: NO_FAILURES)


@dataclass(frozen=True, slots=True)
class CachedLookup:
    """A look-up: the kind and key of its entry, the vendor for the order, and how one registry is asked.

    `accepts` says whether a cached item is good enough; if not, all registries are asked again.
    """

    kind: str
    key: Hashable
    subject: str
    vendor: str
    fetch: Fetch
    accepts: Callable[[Any], bool] = lambda _: True
    checks_schemas: bool = False


def resolve(state: ResolverState, lookup: CachedLookup) -> Flow[ResolvedItem]:
    """Resolve from the cache or from registries. Raises `ResolutionError`."""
    ordered = order_registries(state.registries, lookup.vendor, dots=state.dots)
    if state.cache is None:
        result = yield from _traverse(state, lookup, ordered, {})
        now = state.clock()
        if isinstance(result, FoundItem):
            return ResolvedItem(result.item, result.registry, now, is_cached=False)
        raise make_error(
            lookup.subject,
            result,
            {name: one.last_attempt for name, one in result.items()},
            is_missing=_all_missing(state, result),
        )
    outcome, _ = _read(state, lookup, ordered)
    if isinstance(outcome, ResolvedItem):
        return outcome
    if isinstance(outcome, ResolutionError):
        raise outcome
    resolved: ResolvedItem = yield RunLocked((lookup.kind, lookup.key), lambda: _resolve_locked(state, lookup, ordered))
    return resolved


def _read(
    state: ResolverState, lookup: CachedLookup, ordered: list[IgluRegistry]
) -> tuple[ResolvedItem | ResolutionError | list[IgluRegistry], Failures]:
    """What the cache answers: an item, an error, or the registries to ask, and their histories."""
    assert state.cache is not None
    entry, now = state.cache.get(lookup.kind, lookup.key), state.clock()
    if entry is None:
        return ordered, NO_FAILURES
    fresh = entry.is_fresh(now, state.ttl)
    if fresh and isinstance(entry.value, FoundItem) and lookup.accepts(entry.value.item):
        return _make_resolved(entry, entry.value), NO_FAILURES
    failures = state.algorithm.known(entry, fresh)
    if failures is None:
        return ordered, NO_FAILURES
    due = list_due(state.algorithm, ordered, failures, now)
    return due or _error(state, lookup, entry.stored, failures), failures


def _resolve_locked(state: ResolverState, lookup: CachedLookup, ordered: list[IgluRegistry]) -> Flow[ResolvedItem]:
    outcome, failures = _read(state, lookup, ordered)
    if isinstance(outcome, ResolvedItem):
        return outcome
    if isinstance(outcome, ResolutionError):
        raise outcome
    result = yield from _traverse(state, lookup, outcome, failures)
    assert state.cache is not None
    old, now = state.cache.get(lookup.kind, lookup.key), state.clock()
    entry = state.algorithm.store(old, result, now)
    state.cache.put(lookup.kind, lookup.key, entry)
    if not isinstance(entry.value, FoundItem):
        raise _error(state, lookup, entry.stored, entry.value)
    if not lookup.accepts(entry.value.item):
        raise _error(state, lookup, entry.stored, entry.stale)
    return _make_resolved(entry, entry.value)


def _make_resolved(entry: CacheEntry, item: FoundItem) -> ResolvedItem:
    return ResolvedItem(item.item, item.registry, entry.stored, stale=entry.stale)


def _traverse(
    state: ResolverState, lookup: CachedLookup, registries: list[IgluRegistry], earlier: Failures
) -> Flow[FoundItem | Failures]:
    """Ask registries in their order until one gives an item; the value is that, or the histories of all."""
    failures = dict(earlier)
    for registry in registries:
        history = failures.get(registry.name, LookupHistory())
        item = yield from lookup.fetch(registry)
        is_broken = lookup.checks_schemas and state.algorithm.checks_schemas and not isinstance(item, RegistryFailure)
        if is_broken and not state.is_schema(item.document):
            failure, is_final = RegistryFailure("RepoFailure", "the document is no JSON Schema"), True
        elif not isinstance(item, RegistryFailure):
            return FoundItem(item, registry.name)
        else:
            failure, is_final = state.algorithm.classify(item, history)
        failures[registry.name] = history.add(failure, state.clock(), is_final=is_final)
    return failures


def _error(state: ResolverState, lookup: CachedLookup, stored: int, failures: Failures) -> ResolutionError:
    expires = None if state.ttl is None else stored + state.ttl
    nexts = {
        registry.name: state.algorithm.next_attempt(registry, failures[registry.name], expires)
        for registry in state.registries
        if registry.name in failures
    }
    return make_error(lookup.subject, failures, nexts, is_missing=_all_missing(state, failures))


def _all_missing(state: ResolverState, failures: Failures) -> bool:
    return all(state.algorithm.is_missing(history) for history in failures.values())
