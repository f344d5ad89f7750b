"""The two algorithms of resolution: which registries are asked again and when, and whether an
expired schema is kept while no registry can give a new one.

``current`` is that of the Scala client since 0.6: failed registries are asked again after a back-off, and an expired
schema is kept while no registry can give a new one. ``seed`` is the one that Iglu's page "Schema Resolution" describes:
three requests to a registry that fails, one at each look-up, and then the schema counts as missing there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from treaty.client.iglu.cache import CacheEntry, FoundItem
from treaty.client.iglu.errors import NO_FAILURES, NOT_FOUND, Failures, LookupHistory, RegistryFailure, merge_failures
from treaty.client.iglu.registries import IgluRegistry

SEED_ATTEMPTS = 3
_LONGEST = 60_000
_UNKNOWN = LookupHistory()


def backoff(attempts: int) -> int:
    """The milliseconds that must have passed, by more than none, before a failed registry is asked again."""
    if attempts <= 8:
        pause = 500 + (1 << 2 * attempts)
    elif attempts <= 12:
        pause = 500 + int(3**attempts)
    else:
        pause = 5_500 + (1 << min(attempts, 20))
    return min(pause, _LONGEST)


@dataclass(frozen=True, slots=True)
class ResolutionAlgorithm:
    """A way to resolve.

    `known` gives the failures that still hold of a cached entry, fresh or not; None: it is as if nothing was cached.
    `is_due` says whether a registry with this history is asked at this time. `classify` gives the failure as the algorithm
    takes it, and whether it is final. `store` makes the new entry from the old one and a result. `next_attempt` is the
    time from which a registry is asked again; None: not while the entry is cached. `is_missing` says whether a history
    means that the registry does not have the schema. `checks_schemas`: a text that is no JSON Schema is a final failure.
    """

    name: str
    known: Callable[[CacheEntry, bool], Failures | None]
    is_due: Callable[[IgluRegistry, LookupHistory, int], bool]
    classify: Callable[[RegistryFailure, LookupHistory], tuple[RegistryFailure, bool]]
    store: Callable[[CacheEntry | None, "FoundItem | Failures", int], CacheEntry]
    next_attempt: Callable[[IgluRegistry, LookupHistory, int | None], int | None]
    is_missing: Callable[[LookupHistory], bool]
    checks_schemas: bool = False


def _says_missing(history: LookupHistory) -> bool:
    return NOT_FOUND in history.errors


def _current_known(entry: CacheEntry, fresh: bool) -> Failures | None:  # noqa: FBT001 (a member of `ResolutionAlgorithm`)
    if isinstance(entry.value, FoundItem):
        return None
    return entry.value if fresh else {name: history.forget_missing() for name, history in entry.value.items()}


def _current_is_due(registry: IgluRegistry, history: LookupHistory, now: int) -> bool:
    if _says_missing(history):
        return False
    if not history.errors:
        return True
    return not registry.is_local and now - history.last_attempt > backoff(history.attempts)


def _current_store(old: CacheEntry | None, result: "FoundItem | Failures", now: int) -> CacheEntry:
    if old is None or isinstance(result, FoundItem):
        return CacheEntry(now, result)
    if isinstance(old.value, FoundItem):
        return CacheEntry(now, old.value, result)
    return CacheEntry(now, merge_failures(old.value, result))


def _current_next(registry: IgluRegistry, history: LookupHistory, expires: int | None) -> int | None:
    is_missing, other_errors = _says_missing(history), history.errors - {NOT_FOUND}
    if (is_missing and expires is None) or (other_errors and registry.is_local):
        return None
    after_backoff = history.last_attempt + backoff(history.attempts) + 1 if other_errors else 0
    return max(after_backoff, expires or 0 if is_missing else 0)


CURRENT = ResolutionAlgorithm(
    "current",
    _current_known,
    _current_is_due,
    lambda failure, _history: (failure, False),
    _current_store,
    _current_next,
    lambda history: history.is_missing,
)


def _seed_known(entry: CacheEntry, fresh: bool) -> Failures | None:  # noqa: FBT001 (a member of `ResolutionAlgorithm`)
    return None if isinstance(entry.value, FoundItem) or not fresh else entry.value


def _seed_is_due(_registry: IgluRegistry, history: LookupHistory, _now: int) -> bool:
    return not history.is_final


def _seed_classify(failure: RegistryFailure, history: LookupHistory) -> tuple[RegistryFailure, bool]:
    if failure.is_missing or failure.status == 410:
        return NOT_FOUND, True
    return failure, history.attempts + 1 >= SEED_ATTEMPTS


def _seed_next(_registry: IgluRegistry, history: LookupHistory, expires: int | None) -> int | None:
    return expires if history.is_final else history.last_attempt


SEED = ResolutionAlgorithm(
    "seed",
    _seed_known,
    _seed_is_due,
    _seed_classify,
    lambda _old, result, now: CacheEntry(now, result, NO_FAILURES),
    _seed_next,
    lambda history: history.is_final,
    checks_schemas=True,
)

ALGORITHMS: Mapping[str, ResolutionAlgorithm] = {one.name: one for one in (CURRENT, SEED)}
"""The algorithms by name."""


def list_due(
    algorithm: ResolutionAlgorithm, registries: list[IgluRegistry], failures: Failures, now: int
) -> list[IgluRegistry]:
    """The registries that are asked now, in their order; one without a history is asked."""
    return [one for one in registries if algorithm.is_due(one, failures.get(one.name, _UNKNOWN), now)]
