"""What a resolver is made with and returns: `ResolverOptions`, `IgluSchema`, `SchemaList`, `SchemaFamily`; and their flows."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treaty.client.iglu.algorithms import ALGORITHMS
from treaty.client.iglu.cache import ResolverCache
from treaty.client.iglu.configuration import (
    ResolverConfig,
    load_resolver_config,
    read_resolver_config,
    refuse_equal_names,
)
from treaty.client.iglu.embedded import built_in_registry
from treaty.client.iglu.errors import NO_FAILURES, Failures, ResolverConfigError
from treaty.client.iglu.flow import Flow, ResolvedItem, ResolverState, resolve
from treaty.client.iglu.http import HttpLimits
from treaty.client.iglu.lookups import FamilyMember, list_lookup, resolve_family, schema_lookup
from treaty.client.iglu.registries import IgluRegistry, ListKey
from treaty.core.iglu_key import IgluKey, SchemaVer
from treaty.core.limits import IGLU_DEPTH
from treaty.formats.jsonschema.data.draft4 import is_draft4_schema


def make_clock() -> Callable[[], int]:
    """A clock in milliseconds since 1970 that begins at the system's time and never steps back."""
    start = time.time_ns() - time.monotonic_ns()
    return lambda: (start + time.monotonic_ns()) // 1_000_000


@dataclass(frozen=True, slots=True)
class ResolverOptions:
    """Options that a configuration of Iglu has no member for.

    `algorithm` is ``current`` or ``seed``. With `dots` the prefix ``com.acme`` does not match the vendor ``com.acmecorp``.
    `depth` is the most levels of nesting of a schema or a value that is validated. `http` bounds each request. `clock`
    returns milliseconds since 1970.
    """

    algorithm: str = "current"
    dots: bool = False
    depth: int = IGLU_DEPTH
    http: HttpLimits = field(default_factory=HttpLimits)
    clock: Callable[[], int] = field(default_factory=make_clock, repr=False)


@dataclass(frozen=True, slots=True)
class IgluSchema:
    """A schema: its document, the registry that gave it, and when that was, in milliseconds since 1970.

    `superseded_by` is the version of the document where that is another one than was asked for. `stale` has the failures
    of the registries if the schema has expired in the cache, and none of them could give it again.
    """

    key: IgluKey
    document: Any = field(repr=False)
    registry: str
    resolved_at: int
    superseded_by: SchemaVer | None = None
    is_cached: bool = True
    stale: Failures = field(default_factory=lambda: NO_FAILURES)

    @property
    def used_key(self) -> IgluKey:
        """The key of the document."""
        version = self.superseded_by or self.key.version
        return IgluKey(self.key.vendor, self.key.name, self.key.format, version)


@dataclass(frozen=True, slots=True)
class SchemaList:
    """The schemas of one model, in the order of the registry that gave the list."""

    schemas: tuple[IgluKey, ...]
    registry: str
    resolved_at: int
    is_cached: bool = True
    stale: Failures = field(default_factory=lambda: NO_FAILURES)


@dataclass(frozen=True, slots=True)
class SchemaFamily:
    """The schemas of one model up to a version, with their documents, in the order of their versions."""

    members: tuple[FamilyMember, ...]
    resolved_at: int
    is_cached: bool = True
    stale: Failures = field(default_factory=lambda: NO_FAILURES)


ConfigSource = ResolverConfig | Mapping[str, Any] | str | Path
"""A configuration: read, its JSON value, or the path of its file."""


def make_state(config: ConfigSource, more: Iterable[IgluRegistry], options: ResolverOptions) -> ResolverState:
    """The state of a new resolver: the registries of a configuration and `more`. Raises `ResolverConfigError`."""
    if isinstance(config, Mapping):
        config = read_resolver_config(config)
    elif not isinstance(config, ResolverConfig):
        config = load_resolver_config(config)
    if options.algorithm not in ALGORITHMS:
        raise ResolverConfigError.of("algorithm", options.algorithm, " or ".join(ALGORITHMS))
    registries = (*config.registries, *more)
    refuse_equal_names(registries)
    return ResolverState(
        registries=(built_in_registry(), *registries),
        algorithm=ALGORITHMS[options.algorithm],
        cache=ResolverCache(config.cache_size) if config.has_cache else None,
        ttl=None if config.cache_ttl is None else config.cache_ttl * 1000,
        clock=options.clock,
        is_schema=is_draft4_schema,
        dots=options.dots,
    )


def cache_size(state: ResolverState) -> int:
    """The entries that a resolver keeps of each kind; 0 without a cache."""
    return 0 if state.cache is None else state.cache.size


def parse_key(key: IgluKey | str) -> IgluKey:
    """The key of a URI. Raises `IgluKeyError`."""
    return IgluKey.parse(key) if isinstance(key, str) else key


def lookup_schema(state: ResolverState, key: IgluKey, *, superseding: bool) -> Flow[IgluSchema]:
    """Resolve one schema."""
    resolved = yield from resolve(state, schema_lookup(key, superseding=superseding))
    item = resolved.item
    return IgluSchema(
        key, item.document, resolved.registry, resolved.stored, item.superseded_by, resolved.is_cached, resolved.stale
    )


def lookup_list(state: ResolverState, key: ListKey, including: IgluKey | None) -> Flow[SchemaList]:
    """Resolve the list of a model."""
    resolved: ResolvedItem = yield from resolve(state, list_lookup(key, including=including))
    return SchemaList(resolved.item, resolved.registry, resolved.stored, resolved.is_cached, resolved.stale)


def lookup_family(state: ResolverState, last: IgluKey) -> Flow[SchemaFamily]:
    """Resolve all schemas of a model up to one."""
    resolved = yield from resolve_family(state, last)
    return SchemaFamily(resolved.item, resolved.stored, resolved.is_cached, resolved.stale)
