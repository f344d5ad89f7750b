"""One history through the resolver and through the model; after each look-up both have to tell the same."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from tests.scripted_iglu import START, ManualClock, ScriptedRegistry
from tests.simulation.iglu.histories import (
    TEXTS,
    Change,
    Clear,
    History,
    Jump,
    LookUp,
    LookUpUntil,
    Pass,
    make_family_history,
    make_history,
)
from tests.simulation.iglu.model import GONE, MISSING, Answer, Found, Histories, Outcome, ResolverModel
from treaty.client.iglu import (
    NOT_FOUND,
    AsyncResolver,
    IgluNotFoundError,
    IgluRegistry,
    IgluSchema,
    LookupHistory,
    RegistryFailure,
    ResolutionError,
    Resolver,
    ResolverConfig,
    ResolverOptions,
    SchemaDocument,
    SchemaFamily,
    client_failure,
    repo_failure,
)

Lookup = Callable[..., IgluSchema]
"""Takes a key and `superseding`."""
LookupUntil = Callable[[str], SchemaFamily]


class Comparison:
    """One run: the world both live in, and what happened, counted."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.clock = ManualClock()
        self.config = ResolverConfig(history.cache_size, history.cache_ttl)
        self.options = ResolverOptions(algorithm=history.algorithm, clock=self.clock)
        self.answers: dict[tuple[str, str], Answer] = {}
        self.asked: list[tuple[str, str]] = []
        self.seen: Counter[str] = Counter()
        self.last = Outcome([])
        self.latest = START
        self.model = ResolverModel(
            history.algorithm,
            history.registries,
            cache_size=history.cache_size,
            cache_ttl=history.cache_ttl,
            answer=self.answer,
        )

    def answer(self, registry: str, key: str) -> Answer:
        """What a registry answers now."""
        return self.answers.get((registry, key), MISSING)

    def registries(self) -> list[IgluRegistry]:
        """The registries of the resolver, which answer the same and note who was asked."""
        made = []
        for shape in self.history.registries:
            one = ScriptedRegistry(
                shape.name, class_priority=shape.class_priority, priority=shape.priority, vendor_prefixes=shape.prefixes
            )
            for key in self.history.keys:
                one.script(key, self._noting(shape.name, key))
            made.append(one.registry)
        return made

    def _noting(self, registry: str, key: str) -> Callable[[], SchemaDocument | RegistryFailure]:
        def answered() -> SchemaDocument | RegistryFailure:
            self.asked.append((registry, key))
            answer = self.answer(registry, key)
            if not isinstance(answer, tuple):
                return SchemaDocument(answer.value)
            if answer == MISSING:
                return NOT_FOUND
            kind, text = answer
            if answer == GONE:
                return RegistryFailure("ClientFailure", text, 410)
            return client_failure(text) if kind == "ClientFailure" else repo_failure(text)

        return answered

    def run(self, lookup: Lookup, until: LookupUntil, clear: Callable[[], None], name: str) -> None:
        """Go through all steps. An assertion names the seed, the step, and what differs."""
        for number, step in enumerate(self.history.steps):
            if isinstance(step, Pass):
                self.clock.advance(step.milliseconds)
            elif isinstance(step, Jump):
                self._jump(step)
            elif isinstance(step, Change):
                self.answers[step.registry, step.key] = step.answer
            elif isinstance(step, Clear):
                self.model.clear()
                clear()
            else:
                differing = self._look_up(step, lookup, until)
                told = f"{name}, {self.history.algorithm}, size {self.history.cache_size}, TTL {self.history.cache_ttl}"
                assert not differing, f"{told}, step {number}, {step}: {differing}"

    def _jump(self, step: Jump) -> None:
        times = sorted(one for one in self.last.next_attempts.values() if one is not None and one > self.latest)
        if times:
            self.clock.now = max(self.clock.now, times[step.which % len(times)] + step.beside)

    def _look_up(self, step: LookUp | LookUpUntil, lookup: Lookup, until: LookupUntil) -> dict[str, str]:
        self.latest = max(self.latest, self.clock.now)
        self.asked.clear()
        try:
            if isinstance(step, LookUpUntil):
                expected = self.model.look_up_until(step.last, clock=self.clock.now)
                outcome = told_family(until(step.last), self.asked)
            else:
                expected = self.model.look_up(step.key, superseding=step.superseding, clock=self.clock.now)
                outcome = told_schema(lookup(step.key, superseding=step.superseding), self.asked)
        except ResolutionError as error:
            outcome = told_error(error, self.asked, self.latest)
        self.last = expected
        self._count(expected, "family " if isinstance(step, LookUpUntil) else "")
        return differences(expected, outcome)

    def _count(self, outcome: Outcome, what: str) -> None:
        """Note what this look-up was an example of."""
        found, algorithm = outcome.found, self.history.algorithm
        tries = max((attempts for _, attempts, _ in outcome.failures.values()), default=0)
        notes = {
            "found in the cache": found is not None and not outcome.asked,
            "found at a registry": found is not None and bool(outcome.asked),
            "superseded": found is not None and found.superseded_by is not None,
            "stale": bool(outcome.stale),
            "failed without a request": found is None and not outcome.asked,
            "not there": outcome.is_missing,
            "unavailable": found is None and not outcome.is_missing,
            "no cache": not self.model.has_cache,
            "asked more than twice": tries > 2,
            "asked more than eight times": tries > 8,
        }
        self.seen.update(f"{algorithm}: {what}{note}" for note, is_so in notes.items() if is_so)


# -------------------------------------------------------------------------------------------------------- comparing


def told_schema(schema: IgluSchema, asked: list[tuple[str, str]]) -> Outcome:
    """What the resolver found, in the model's words."""
    version = None if schema.superseded_by is None else str(schema.superseded_by)
    found = Found(schema.document, schema.registry, version)
    return Outcome(list(asked), found, schema.resolved_at, schema.is_cached, told_histories(schema.stale))


def told_family(family: SchemaFamily, asked: list[tuple[str, str]]) -> Outcome:
    """A family in the model's words."""
    members = [(str(one.key), one.document) for one in family.members]
    found = Found(members, "", None)
    return Outcome(list(asked), found, family.resolved_at, family.is_cached, told_histories(family.stale))


def told_error(error: ResolutionError, asked: list[tuple[str, str]], now: int) -> Outcome:
    """The resolver's error in the model's words. A time that has come is the present one."""
    return Outcome(
        list(asked),
        failures=told_histories(error.failures),
        is_missing=isinstance(error, IgluNotFoundError),
        next_attempts={
            name: None if one is None else max(one, now) for name, one in (error.next_attempts or {}).items()
        },
    )


def told_histories(failures: Mapping[str, LookupHistory]) -> Histories:
    """What each registry said, with a mark at what the resolver says in its place."""

    def told(one: RegistryFailure) -> tuple[str, str]:
        is_said = one.is_missing or one.message in (*TEXTS, GONE[1])
        return one.kind, one.message if is_said else f"made: {one.message}"

    return {name: (frozenset(map(told, one.errors)), one.attempts, one.last_attempt) for name, one in failures.items()}


def differences(expected: Outcome, outcome: Outcome) -> dict[str, str]:
    """Each member that differs, with both values. Of failures that no registry said the kind and the number count, not the text."""
    differing = {}
    for name in Outcome.__dataclass_fields__:
        right, told = _comparable(getattr(expected, name)), _comparable(getattr(outcome, name))
        if right != told:
            differing[name] = f"expected {right}, got {told}"
    return differing


def _comparable(value: Any) -> Any:
    if not isinstance(value, dict) or not all(isinstance(one, tuple) for one in value.values()):
        return value
    return {
        name: (sorted((kind, text.partition(":")[0]) for kind, text in errors), attempts, last)
        for name, (errors, attempts, last) in value.items()
    }


# -------------------------------------------------------------------------------------------------------- running


def compare(seed: int, make: Callable[[int], History] = make_history) -> Counter[str]:
    """The history of a seed through the resolver. Returns what happened in it."""
    comparison = Comparison(make(seed))
    with Resolver(comparison.config, registries=comparison.registries(), options=comparison.options) as resolver:
        comparison.run(resolver.lookup, resolver.lookup_until, resolver.clear_cache, f"seed {seed}")
    return comparison.seen


def compare_families(seed: int) -> Counter[str]:
    """The same with families."""
    return compare(seed, make_family_history)


def compare_async(seed: int, make: Callable[[int], History] = make_history) -> Counter[str]:
    """The same through the resolver for asyncio."""
    comparison = Comparison(make(seed))
    resolver = AsyncResolver(comparison.config, registries=comparison.registries(), options=comparison.options)
    with asyncio.Runner() as runner:

        def lookup(key: str, *, superseding: bool) -> IgluSchema:
            return runner.run(resolver.lookup(key, superseding=superseding))

        def until(key: str) -> SchemaFamily:
            return runner.run(resolver.lookup_until(key))

        comparison.run(lookup, until, resolver.clear_cache, f"seed {seed}, asyncio")
        runner.run(resolver.close())
    return comparison.seen


def compare_families_async(seed: int) -> Counter[str]:
    """The same with families."""
    return compare_async(seed, make_family_history)
