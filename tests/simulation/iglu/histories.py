"""Random histories for a resolver, each from a seed: registries, a cache, and steps of time, of answers and of look-ups."""

import random
from dataclasses import dataclass
from typing import Any

from tests.simulation.iglu.model import (
    EMBEDDED,
    GONE,
    MEMORY,
    MISSING,
    REMOTE,
    Answer,
    Document,
    RegistryShape,
    backoff,
)

VENDORS = ("com.acme", "com.acmecorp", "org.other")
PREFIXES = ("com.acme", "com.acmecorp", "com.ac", "org.other", "org.other.more", "")
VERSIONS = ("1-0-0", "1-0-1", "1-0-2", "1-0-10")
FAMILY = ("1-0-0", "1-0-1", "1-1-0", "1-1-1")
BEHIND = ("1-0-2",)
"""What is asked for at the end of a revision, and never there."""
TEXTS = ("down", "slow", "odd")
NO_SCHEMAS: tuple[Any, ...] = ([], {"type": 5})
STEPS = 45
MOODS = ("plain", "plain", "plain", "patient", "patient", "crowded")
"""Where there is patience, attempts become many; in a crowd, entries are evicted before they expire."""


@dataclass(frozen=True)
class Pass:
    """Time passes."""

    milliseconds: int


@dataclass(frozen=True)
class Jump:
    """The clock goes to where a registry of the last error is asked again, or as many milliseconds beside it."""

    which: int
    beside: int


@dataclass(frozen=True)
class Change:
    """A registry answers otherwise from now on."""

    registry: str
    key: str
    answer: Answer


@dataclass(frozen=True)
class LookUp:
    """Somebody looks a schema up."""

    key: str
    superseding: bool


@dataclass(frozen=True)
class LookUpUntil:
    """Somebody looks up all schemas of a model up to one."""

    last: str


@dataclass(frozen=True)
class Clear:
    """The cache is emptied."""


Step = Pass | Jump | Change | LookUp | LookUpUntil | Clear


@dataclass(frozen=True)
class History:
    """All that one run needs."""

    algorithm: str
    cache_size: int
    cache_ttl: int | None
    registries: tuple[RegistryShape, ...]
    keys: tuple[str, ...]
    steps: tuple[Step, ...]


def make_history(seed: int) -> History:
    """The history of a seed."""
    chance = random.Random(f"iglu {seed}")
    registries = tuple(_registry(chance, f"r{number}") for number in range(chance.randint(1, 4)))
    vendors = chance.sample(VENDORS, chance.choice((1, 1, 2)))
    keys = tuple(f"iglu:{vendor}/click/jsonschema/{version}" for vendor in vendors for version in VERSIONS)
    cache_ttl = chance.choice((None, 1, 2, 10, 60, 100, 1, 2, 10, 60, 0))
    mood = chance.choice(MOODS)
    asked = chance.sample(keys, 4 if mood == "crowded" else chance.choice((1, 1, 2, 3, 4)))
    steps: list[Step] = [
        Change(one.name, key, _answer(chance, mood)) for one in registries for key in keys if chance.random() < 0.7
    ]
    while len(steps) < len(registries) * len(keys) + STEPS:
        steps.extend(_steps(chance, registries, keys, asked, cache_ttl, mood))
    return History(
        algorithm=chance.choice(("current", "current", "seed")),
        cache_size=chance.choice((2, 3) if mood == "crowded" else (1, 2, 3, 4, 100, 100, 0)),
        cache_ttl=cache_ttl,
        registries=registries,
        keys=keys,
        steps=tuple(steps),
    )


def make_family_history(seed: int) -> History:
    """A history of families of a model, and of single schemas between them; most schemas are there most of the time."""
    chance = random.Random(f"iglu families {seed}")
    registries = tuple(_registry(chance, f"r{number}") for number in range(chance.randint(1, 3)))
    keys = tuple(f"iglu:{VENDORS[0]}/click/jsonschema/{version}" for version in FAMILY)
    asked = chance.sample(keys, chance.choice((1, 2, 4)))
    cache_ttl = chance.choice((None, 1, 2, 10, 10, 60, 0))
    steps: list[Step] = [Change(one.name, key, _answer(chance, "plain")) for one in registries for key in keys]
    steps += [Change(chance.choice(registries).name, key, Document({"title": key})) for key in keys]
    for _ in range(STEPS // 2):
        if chance.random() < 0.5:
            steps.append(Change(chance.choice(registries).name, chance.choice(keys), _answer(chance, "plain")))
        if chance.random() < 0.3:
            steps.append(Change(chance.choice(registries).name, chance.choice(keys), Document({"title": "back"})))
        steps.append(_time(chance, cache_ttl))
        if chance.random() < 0.02:
            steps.append(Clear())
        key = chance.choice(asked)
        asking = LookUpUntil(key) if chance.random() < 0.7 else LookUp(key, superseding=False)
        steps += [asking] * chance.choice((1, 1, 1, 2))
    return History(
        algorithm=chance.choice(("current", "current", "seed")),
        cache_size=chance.choice((1, 1, 2, 100, 100, 0)),
        cache_ttl=cache_ttl,
        registries=registries,
        keys=(*keys, *(f"iglu:{VENDORS[0]}/click/jsonschema/{version}" for version in BEHIND)),
        steps=tuple(steps),
    )


def _registry(chance: random.Random, name: str) -> RegistryShape:
    return RegistryShape(
        name,
        chance.choice((MEMORY, EMBEDDED, REMOTE, REMOTE, REMOTE)),
        chance.randint(-1, 2),
        tuple(chance.sample(PREFIXES, chance.choice((0, 1, 1, 2)))),
    )


def _steps(
    chance: random.Random,
    registries: tuple[RegistryShape, ...],
    keys: tuple[str, ...],
    asked: list[str],
    cache_ttl: int | None,
    mood: str,
) -> list[Step]:
    """A change or none, some time or none, and a look-up."""
    steps: list[Step] = []
    while chance.random() < (0.4 if mood == "plain" else 0.15):
        steps.append(Change(chance.choice(registries).name, chance.choice(asked), _answer(chance, mood)))
    if chance.random() < 0.15:
        steps.append(Change(chance.choice(registries).name, chance.choice(keys), _answer(chance, mood)))
    steps.append(Pass(0) if mood == "crowded" and chance.random() < 0.9 else _time(chance, cache_ttl))
    if chance.random() < 0.01:
        steps.append(Clear())
    steps.append(LookUp(chance.choice(asked), chance.random() < 0.45))
    return steps


def _time(chance: random.Random, cache_ttl: int | None) -> Step:
    kind = chance.random()
    if kind < 0.45:
        return Jump(chance.randrange(10), chance.choice((-1, 0, 0, 1)))
    if kind < 0.6:
        return Pass(0)
    if kind < 0.7:
        return Pass(chance.randint(1, 3_000))
    if kind < 0.8:
        return Pass(backoff(chance.randint(1, 9)) + chance.choice((0, 1)))
    return Pass((cache_ttl or 30) * 1000 + chance.choice((-1, 0, 1)))


def _answer(chance: random.Random, mood: str) -> Answer:
    """An answer; where there is patience, nearly all are failures."""
    patient = mood == "patient"
    kind = chance.random()
    if kind < 0.25:
        return MISSING
    if kind < (0.8 if patient else 0.42):
        return "RepoFailure", chance.choice(TEXTS)
    if kind < (0.95 if patient else 0.52):
        return chance.choice((("ClientFailure", chance.choice(TEXTS)), ("ClientFailure", chance.choice(TEXTS)), GONE))
    if kind > 0.96:
        return Document(chance.choice(NO_SCHEMAS))
    document: dict[str, Any] = {"title": f"{chance.randrange(10**9)}"}
    if chance.random() < 0.5:
        document["$supersededBy"] = chance.choice((*VERSIONS, *VERSIONS[2:], "1-0", 7))
    return Document(document)
