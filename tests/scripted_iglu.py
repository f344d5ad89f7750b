"""The seam for tests of the Iglu resolver: registries whose answers a test scripts call by call, and a clock that it sets.

How a model, or any other test, drives a resolver (all other names come from `treaty.client.iglu`):

    clock = ManualClock()
    central = ScriptedRegistry("central")                       # of the class of HTTP: asked late, retried
    local = ScriptedRegistry("local", class_priority=EMBEDDED)  # a local class: MEMORY or EMBEDDED
    resolver = make_resolver(clock, [central, local], cache_size=10, cache_ttl=60, algorithm="current")

    central.script(KEY, repo_failure("down"), SchemaDocument({}))  # the first call, the second and all later ones
    outcome = look_up(resolver, KEY)          # a LookupOutcome: the schema, or the failures of each registry
    clock.advance(600)                        # milliseconds; only the test moves the clock
    central.calls                             # every question so far, in order: IgluKey or ListKey

A key without a script is answered ``NotFound``. An answer is `SchemaDocument(value)`, `NOT_FOUND`, `repo_failure(text)`,
`client_failure(text)`, or a function without arguments that returns one of these (it may move the clock or wait). Lists
are asked with a `ListKey`; their answer is a `SchemaDocument` with an array of URIs. The built-in registry
(`BUILT_IN`) is always part of a resolver, of class EMBEDDED and priority 0, and says ``NotFound`` to all keys but those
of Iglu itself. Nothing else is asked, and nothing waits.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from treaty.client.iglu import (
    NOT_FOUND,
    REMOTE,
    IgluKey,
    IgluSchema,
    ListKey,
    RegistryFailure,
    ResolutionError,
    Resolver,
    ResolverConfig,
    ResolverOptions,
    SchemaDocument,
    memory_registry,
)
from treaty.client.iglu.registries import IgluRegistry, RegistryAnswer, RegistryQuestion

START = 1_700_000_000_000
Scripted = RegistryAnswer | Callable[[], RegistryAnswer]


class ManualClock:
    """A clock in milliseconds since 1970 that only the test moves."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, milliseconds: int) -> None:
        self.now += milliseconds


class ScriptedRegistry:
    """A registry whose answers are scripted; `calls` has every question."""

    def __init__(
        self, name: str, *, class_priority: int = REMOTE, priority: int = 0, vendor_prefixes: Iterable[str] = ()
    ) -> None:
        self.name = name
        self.calls: list[RegistryQuestion] = []
        self._scripts: dict[RegistryQuestion, list[Scripted]] = {}
        self.registry: IgluRegistry = memory_registry(
            name, self._answer, class_priority=class_priority, priority=priority, vendor_prefixes=vendor_prefixes
        )

    def script(self, question: RegistryQuestion | str, *answers: Scripted) -> None:
        """Answer the next calls with these, and all after them with the last one."""
        self._scripts[IgluKey.parse(question) if isinstance(question, str) else question] = list(answers)

    def count(self, question: RegistryQuestion | str | None = None) -> int:
        """How often it was asked: this question, or any."""
        wanted = IgluKey.parse(question) if isinstance(question, str) else question
        return len(self.calls) if wanted is None else self.calls.count(wanted)

    def _answer(self, question: RegistryQuestion) -> RegistryAnswer:
        self.calls.append(question)
        left = self._scripts.get(question)
        if not left:
            return NOT_FOUND
        answer = left.pop(0) if len(left) > 1 else left[0]
        return answer() if callable(answer) else answer


@dataclass(frozen=True)
class LookupOutcome:
    """What a look-up gave: the schema, or the error with the failures of all registries."""

    schema: IgluSchema | None
    error: ResolutionError | None

    @property
    def document(self) -> Any:
        assert self.schema is not None, self.error
        return self.schema.document

    @property
    def failures(self) -> dict[str, tuple[frozenset[RegistryFailure], int, int]]:
        """By registry: its failures, attempts, and the time of the last one."""
        assert self.error is not None, self.schema
        return {name: (one.errors, one.attempts, one.last_attempt) for name, one in self.error.failures.items()}


def make_resolver(
    clock: Callable[[], int],
    registries: Iterable[ScriptedRegistry],
    *,
    cache_size: int = 10,
    cache_ttl: int | None = None,
    algorithm: str = "current",
) -> Resolver:
    """A resolver over scripted registries; `cache_ttl` is in seconds, as in a configuration."""
    options = ResolverOptions(algorithm=algorithm, clock=clock)
    config = ResolverConfig(cache_size, cache_ttl)
    return Resolver(config, registries=[one.registry for one in registries], options=options)


def look_up(resolver: Resolver, key: IgluKey | str, *, superseding: bool = False) -> LookupOutcome:
    """Look a schema up, and return what came."""
    try:
        return LookupOutcome(resolver.lookup(key, superseding=superseding), None)
    except ResolutionError as error:
        return LookupOutcome(None, error)


def uris(vendor: str, name: str, *versions: str) -> SchemaDocument:
    """A list as a registry gives it."""
    return SchemaDocument([f"iglu:{vendor}/{name}/jsonschema/{version}" for version in versions])


def list_key(key: str) -> ListKey:
    """The list that a schema is in."""
    one = IgluKey.parse(key)
    return ListKey(one.vendor, one.name, one.version.model)
