"""The model of both Iglu algorithms: what a look-up comes to, told from the list of all that registries answered before it.

It is written from the description of the algorithms by somebody who has not read the resolver, and imports nothing of it. It is slow and plain
on purpose: an entry of the cache is a list of answers, and every number is counted anew from that list at every question.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

MEMORY, EMBEDDED, REMOTE = 1, 2, 100
MISSING = ("NotFound", "")
GONE = ("ClientFailure", "gone")
"""The answer 410 over HTTP."""
NO_SCHEMA = ("RepoFailure", "made: no schema")
SEED_REQUESTS = 3

Failure = tuple[str, str]
"""Its kind and its text. A text that begins with ``made:`` is one that no registry said."""
Histories = dict[str, tuple[frozenset[Failure], int, int]]
"""By registry: its failures, how often it was asked, and when last."""


@dataclass(frozen=True)
class Document:
    """A JSON value that a registry gives."""

    value: Any


Answer = Document | Failure


@dataclass(frozen=True)
class RegistryShape:
    """All that the order of registries depends on."""

    name: str
    class_priority: int
    priority: int
    prefixes: tuple[str, ...]


BUILT_IN = RegistryShape("Iglu Client Embedded", EMBEDDED, 0, ())


@dataclass(frozen=True)
class Found:
    """A schema: its document, who gave it, and the version that supersedes the one asked for."""

    document: Any
    registry: str
    superseded_by: str | None


@dataclass(frozen=True)
class Said:
    """One registry failed once. `is_expired`: it said "not there", and that holds no more."""

    registry: str
    failure: Failure
    at: int
    is_expired: bool = False


@dataclass
class Entry:
    """What the cache has of one key: a schema, or what registries said. `stale`: why the schema is an expired one."""

    stamp: int
    found: Found | None = None
    said: list[Said] = field(default_factory=list)
    stale: Histories = field(default_factory=dict)


@dataclass
class Family:
    """What the cache has of a family. `stale`: what registries said of those of its schemas that are expired ones."""

    stamp: int
    members: list[tuple[str, Any]]
    stale: Histories


@dataclass(frozen=True)
class Outcome:
    """What a look-up comes to, and what it asked: registries and keys in order."""

    asked: list[tuple[str, str]]
    found: Found | None = None
    resolved_at: int = 0
    is_cached: bool = True
    stale: Histories = field(default_factory=dict)
    failures: Histories = field(default_factory=dict)
    is_missing: bool = False
    """Whether the error says that the schema is nowhere."""
    next_attempts: dict[str, int | None] = field(default_factory=dict)
    """By registry: the first moment at which a look-up would ask it; the present one if the next look-up does."""


# -------------------------------------------------------------------------------------------------------- parts


def backoff(attempts: int) -> int:
    """Milliseconds that have to be over before the next request."""
    if attempts <= 8:
        pause = 500 + int(4**attempts)
    elif attempts <= 12:
        pause = 500 + int(3**attempts)
    elif attempts <= 20:
        pause = 5500 + int(2**attempts)
    else:
        pause = 60_000
    return min(pause, 60_000)


def in_order(registries: Iterable[RegistryShape], key: str) -> list[RegistryShape]:
    """The registries as they are asked for a key."""
    vendor = key.removeprefix("iglu:").split("/")[0]

    def place(one: RegistryShape) -> tuple[bool, int, int]:
        return not any(vendor.startswith(prefix) for prefix in one.prefixes), one.class_priority, one.priority

    return sorted(registries, key=place)


def histories(said: Iterable[Said]) -> Histories:
    """What registries said, told for each of them."""
    told: Histories = {}
    for one in said:
        errors, attempts, last = told.get(one.registry, (frozenset(), 0, one.at))
        added = frozenset() if one.is_expired else frozenset({one.failure})
        told[one.registry] = errors | added, attempts + 1, max(last, one.at)
    return told


def together(told: Iterable[Histories]) -> Histories:
    """What registries said of several schemas, told for each registry: all failures, the most requests, the latest time."""
    found: Histories = {}
    for name, (errors, attempts, last) in (one for each in told for one in each.items()):
        before = found.get(name, (frozenset(), 0, last))
        found[name] = before[0] | errors, max(before[1], attempts), max(before[2], last)
    return found


def without_missing(said: Iterable[Said]) -> list[Said]:
    """The same, but that "not there" holds no more."""
    return [replace(one, is_expired=True) if one.failure == MISSING else one for one in said]


def numbers(version: str) -> tuple[int, ...] | None:
    """A full SchemaVer as numbers."""
    parts = version.split("-")
    return tuple(map(int, parts)) if len(parts) == 3 and all(one.isdecimal() for one in parts) else None


def is_json_schema(document: Any) -> bool:
    """Whether a document of these histories is a schema of draft 4; their only mistakes are that it is no object, or its type no text."""
    return isinstance(document, dict) and isinstance(document.get("type", ""), str)


# -------------------------------------------------------------------------------------------------------- the model


class ResolverModel:
    """One resolver. `answer` says what a registry answers now."""

    def __init__(
        self,
        algorithm: str,
        registries: Iterable[RegistryShape],
        *,
        cache_size: int,
        cache_ttl: int | None,
        answer: Callable[[str, str], Answer],
    ) -> None:
        self._is_seed = algorithm == "seed"
        self._registries = [BUILT_IN, *registries]
        self._size = cache_size
        self._ttl = None if cache_ttl is None else cache_ttl * 1000
        self._answer = answer
        self._entries: dict[tuple[str, bool], Entry] = {}
        self._uses: list[tuple[str, bool]] = []
        self._families: dict[str, Family] = {}
        self._now = 0

    @property
    def has_cache(self) -> bool:
        return self._size > 0 and (self._ttl is None or self._ttl > 0)

    def clear(self) -> None:
        self._entries, self._uses, self._families = {}, [], {}

    def look_up(self, key: str, *, superseding: bool, clock: int) -> Outcome:
        """A look-up at a time of the system's clock."""
        self._now = max(self._now, clock)
        place = key, superseding
        entry = self._entries.get(place) if self.has_cache else None
        if entry is not None:
            self._use(place)
        if entry is not None and entry.found is not None and self._is_fresh(entry, self._now):
            return self._outcome([], key, entry)
        chosen = [one for one in in_order(self._registries, key) if self._is_asked(entry, one, self._now)]
        if not chosen:
            assert entry is not None
            return self._outcome([], key, replace(entry, said=self._standing(entry, self._now)))
        asked: list[tuple[str, str]] = []
        said: list[Said] = []
        for registry in chosen:
            got = self._ask(registry.name, key, asked, superseding=superseding)
            if isinstance(got, Found):
                return self._store(asked, place, Entry(self._now, got))
            said.append(Said(registry.name, got, self._now))
        if entry is not None and entry.found is not None and not self._is_seed:
            return self._store(asked, place, Entry(self._now, entry.found, stale=histories(said)))
        return self._store(asked, place, Entry(self._now, said=self._before(entry) + said))

    def _before(self, entry: Entry | None) -> list[Said]:
        """What failures are added to. `current` adds them to all that the cache has: a "not there" that had expired counts again then."""
        if entry is None or entry.found is not None or (self._is_seed and not self._is_fresh(entry, self._now)):
            return []
        return list(entry.said)

    # ------------------------------------------------------------------------------------------------------ families

    def look_up_until(self, last: str, *, clock: int) -> Outcome:
        """The schemas of a model up to one. A family has an entry of its own in the cache, its failures have none."""
        self._now = max(self._now, clock)
        kept = self._families.pop(last, None) if self.has_cache else None
        if kept is not None:
            self._families[last] = kept  # what was used last stands at the end
            if self._is_fresh(Entry(kept.stamp), self._now):
                return self._family_outcome([], kept)
        asked: list[tuple[str, str]] = []
        walked = self._walk(last, asked)
        if isinstance(walked, Outcome) and (kept is None or self._is_seed):
            return replace(walked, asked=asked)
        if isinstance(walked, Outcome):
            assert kept is not None
            walked = Family(self._now, kept.members, walked.failures)
        if self.has_cache:
            self._families.pop(last, None)
            self._families[last] = walked
            for one in list(self._families)[: -self._size]:
                del self._families[one]
        return self._family_outcome(asked, walked)

    def _walk(self, last: str, asked: list[tuple[str, str]]) -> Family | Outcome:
        """Ask for one schema after the other; the outcome of the first one that fails where it must not."""
        start, _, version = last.rpartition("/")
        target = numbers(version)
        assert target is not None
        model, revision, addition = target[0], 0, 0
        members, stale = [], []
        while True:
            key = f"{start}/{model}-{revision}-{addition}"
            outcome = self.look_up(key, superseding=False, clock=self._now)
            asked += outcome.asked
            if outcome.found is not None:
                members.append((key, outcome.found.document))
                stale.append(outcome.stale)
                if key == last:
                    return Family(self._now, members, together(stale))
                addition += 1
            elif addition and revision < target[1] and self._is_surely_missing(outcome):
                revision, addition = revision + 1, 0
            else:
                return outcome

    @staticmethod
    def _is_surely_missing(outcome: Outcome) -> bool:
        """Whether every registry says "not there" or refuses; none of these histories is Iglu Central or its mirror."""
        kinds = {kind for errors, _, _ in outcome.failures.values() for kind, _ in errors}
        return kinds <= {"NotFound", "ClientFailure"}

    def _family_outcome(self, asked: list[tuple[str, str]], family: Family) -> Outcome:
        return Outcome(asked, Found(family.members, "", None), family.stamp, self.has_cache, family.stale)

    # ---------------------------------------------------------------------------------------------------- whom to ask

    def _is_fresh(self, entry: Entry, now: int) -> bool:
        return self._ttl is None or now - entry.stamp < self._ttl

    def _standing(self, entry: Entry | None, now: int) -> list[Said]:
        """What registries said before and what still counts at a time."""
        if entry is None or entry.found is not None:
            return []
        if self._is_fresh(entry, now):
            return list(entry.said)
        return [] if self._is_seed else without_missing(entry.said)

    def _is_asked(self, entry: Entry | None, registry: RegistryShape, now: int) -> bool:
        """Whether a look-up at a time asks a registry, if no other one gives the schema first."""
        if entry is None:
            return True
        if entry.found is not None:
            return not self._is_fresh(entry, now)
        said = [one for one in self._standing(entry, now) if one.registry == registry.name]
        errors = [one.failure for one in said if not one.is_expired]
        if MISSING in errors:
            return False
        if not errors:
            return True
        if self._is_seed:
            return len(said) < SEED_REQUESTS and NO_SCHEMA not in errors
        if registry.class_priority != REMOTE:
            return False
        return now - max(one.at for one in said) > backoff(len(said))

    def _next_attempt(self, entry: Entry, registry: RegistryShape) -> int | None:
        """The first moment from now on at which it is asked: one of those at which anything changes."""
        if not self.has_cache:
            return self._now
        last = max(one.at for one in entry.said if one.registry == registry.name)
        attempts = sum(one.registry == registry.name for one in entry.said)
        moments = [self._now, last + backoff(attempts) + 1]
        if self._ttl is not None:
            moments.append(entry.stamp + self._ttl)
        able = [one for one in moments if one >= self._now and self._is_asked(entry, registry, one)]
        return min(able, default=None)

    # ---------------------------------------------------------------------------------------------------- asking

    def _ask(self, registry: str, key: str, asked: list[tuple[str, str]], *, superseding: bool) -> Found | Failure:
        answer = self._request(registry, key, asked)
        if isinstance(answer, tuple):
            return answer
        superseded_by = None
        if superseding and isinstance(answer.value, dict) and "$supersededBy" in answer.value:
            superseded_by = answer.value["$supersededBy"]
            start, _, version = key.rpartition("/")
            wanted, own = numbers(str(superseded_by)), numbers(version)
            assert own is not None
            if wanted is None or wanted <= own:
                return "ClientFailure", f"made: superseded by {superseded_by}"
            answer = self._request(registry, f"{start}/{superseded_by}", asked)
            if isinstance(answer, tuple):
                return answer
        if self._is_seed and not is_json_schema(answer.value):
            return NO_SCHEMA
        return Found(answer.value, registry, superseded_by)

    def _request(self, registry: str, key: str, asked: list[tuple[str, str]]) -> Answer:
        if registry == BUILT_IN.name:
            return MISSING
        asked.append((registry, key))
        answer = self._answer(registry, key)
        return MISSING if self._is_seed and answer == GONE else answer

    # ---------------------------------------------------------------------------------------------------- the cache

    def _store(self, asked: list[tuple[str, str]], place: tuple[str, bool], entry: Entry) -> Outcome:
        if self.has_cache:
            self._entries[place] = entry
            self._use(place)
            kind = [one for one in self._uses if one[1] == place[1]]
            for one in kind[: -self._size]:
                self._uses.remove(one)
                del self._entries[one]
        return self._outcome(asked, place[0], entry)

    def _use(self, place: tuple[str, bool]) -> None:
        """What was used last stands at the end."""
        self._uses = [*(one for one in self._uses if one != place), place]

    def _outcome(self, asked: list[tuple[str, str]], key: str, entry: Entry) -> Outcome:
        if entry.found is not None:
            return Outcome(asked, entry.found, entry.stamp, self.has_cache, entry.stale)
        told = histories(entry.said)
        last = {one.registry: one.failure for one in entry.said if not one.is_expired}
        is_final = {name: failure in (MISSING, NO_SCHEMA) for name, failure in last.items()}
        if self._is_seed:
            is_final |= {name: True for name, (_, attempts, _) in told.items() if attempts >= SEED_REQUESTS}
        return Outcome(
            asked,
            failures=told,
            is_missing=all(is_final.values()),
            next_attempts={one.name: self._next_attempt(entry, one) for one in self._registries},
        )
