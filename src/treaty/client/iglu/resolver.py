"""`Resolver`: resolves Iglu's schemas over many registries, and validates self-describing values, for threads."""

import os
import threading
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from treaty.client.iglu.answers import (
    ConfigSource,
    IgluSchema,
    ResolverOptions,
    SchemaFamily,
    SchemaList,
    cache_size,
    lookup_family,
    lookup_list,
    lookup_schema,
    make_state,
    parse_key,
)
from treaty.client.iglu.flow import AskRegistry, Flow
from treaty.client.iglu.http import BackgroundLoop, HttpLimits, IgluHttpClient
from treaty.client.iglu.registries import (
    HttpSource,
    IgluRegistry,
    ListKey,
    LocalSource,
    RegistryAnswer,
    RegistryQuestion,
)
from treaty.client.iglu.validation import ValidationResult, ValidatorCache, validate_value
from treaty.core.iglu_key import IgluKey

T = TypeVar("T")


class Resolver:
    """Finds schemas in registries, in the order and with the cache of its configuration. Threads may share it."""

    def __init__(
        self, config: ConfigSource, *, registries: Iterable[IgluRegistry] = (), options: ResolverOptions | None = None
    ) -> None:
        """Take a configuration (read, its JSON value, or the path of its file) and further registries.

        Asks and opens nothing yet. Raises `ResolverConfigError`.
        """
        self._options = options or ResolverOptions()
        self._state = make_state(config, registries, self._options)
        self._validators = ValidatorCache(cache_size(self._state), self._options.depth)
        self._locks = KeyLocks()
        self._remote = _RemoteRegistries(self._options.http)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def registries(self) -> tuple[IgluRegistry, ...]:
        """All registries, the built-in one first, then as configured."""
        return tuple(self._state.registries)

    @property
    def depth(self) -> int:
        """The most levels of nesting of a schema or a value that is validated."""
        return self._options.depth

    def lookup(self, key: IgluKey | str, *, superseding: bool = False) -> IgluSchema:
        """Return a schema; with `superseding` the one that its registry says supersedes it.

        Raises `IgluNotFoundError` where it is nowhere, `IgluUnavailableError` where some registry can't say now, and
        `IgluKeyError` for a text that is no URI of a schema.
        """
        return self._run(lookup_schema(self._state, parse_key(key), superseding=superseding))

    def list_schemas(self, vendor: str, name: str, model: int) -> SchemaList:
        """Return the list of a model, from the first registry that has it. Raises as `lookup`."""
        return self._run(lookup_list(self._state, ListKey(vendor, name, model), None))

    def list_schemas_like(self, key: IgluKey | str) -> SchemaList:
        """Return the list of a schema's model, from the first registry whose list has the schema. Raises as `lookup`."""
        iglu_key = parse_key(key)
        return self._run(
            lookup_list(self._state, ListKey(iglu_key.vendor, iglu_key.name, iglu_key.version.model), iglu_key)
        )

    def lookup_until(self, key: IgluKey | str) -> SchemaFamily:
        """Return all schemas of a model up to one; no registry needs lists for this. Raises as `lookup`, with the error of
        the schema that failed.
        """
        return self._run(lookup_family(self._state, parse_key(key)))

    def validate(self, value: Any) -> ValidationResult:
        """Validate a self-describing value, a JSON value with ``schema`` and ``data``. The result says what is wrong."""
        return self._run(validate_value(self._state, self._validators, value))

    def clear_cache(self) -> None:
        """Forget all schemas, lists, failures and validators."""
        if self._state.cache is not None:
            self._state.cache.clear()
        self._validators.clear()

    def close(self) -> None:
        """Close connections and the thread of requests."""
        self._remote.close()

    def _run(self, flow: Flow[T]) -> T:
        """Run a generator of effects; it receives what each effect returns or raises."""
        result: Any = None
        error: Exception | None = None
        try:
            while True:
                effect = flow.send(result) if error is None else flow.throw(error)
                result, error = None, None
                try:
                    if isinstance(effect, AskRegistry):
                        result = self._ask(effect.registry, effect.question)
                    else:
                        with self._locks.lock(effect.key):
                            result = self._run(effect.flow())
                except Exception as raised:  # noqa: BLE001 (the flow decides what to do with it)
                    error = raised
        except StopIteration as end:
            value: T = end.value
            return value

    def _ask(self, registry: IgluRegistry, question: RegistryQuestion) -> RegistryAnswer:
        source = registry.source
        if isinstance(source, LocalSource):
            return source.ask(question)
        return self._remote.ask(source, question)


class KeyLocks:
    """A lock for each key that is in use, for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[Hashable, tuple[threading.Lock, int]] = {}

    @contextmanager
    def lock(self, key: Hashable) -> Iterator[None]:
        """Hold the lock of a key in the block."""
        with self._lock:
            lock, users = self._held.get(key, (threading.Lock(), 0))
            self._held[key] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, users = self._held.pop(key)
                if users > 1:
                    self._held[key] = lock, users - 1


class _RemoteRegistries:
    """Asks registries over HTTP from any thread; a forked process gets connections of its own."""

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._open: tuple[int, BackgroundLoop, IgluHttpClient] | None = None

    def ask(self, source: HttpSource, question: RegistryQuestion) -> RegistryAnswer:
        """Ask one registry."""
        with self._lock:
            if self._open is None or self._open[0] != os.getpid():
                self._open = os.getpid(), BackgroundLoop(), IgluHttpClient(self._limits)
            _, loop, asker = self._open
        return loop.run(asker.ask(source, question))

    def close(self) -> None:
        """Close connections and stop the thread."""
        with self._lock:
            opened, self._open = self._open, None
        if opened is not None and opened[0] == os.getpid():
            opened[1].run(opened[2].close())
            opened[1].close()
