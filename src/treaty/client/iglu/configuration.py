"""`ResolverConfig`: cache and registries of a resolver, and its reader for configurations 1-0-0 to 1-0-3."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from treaty.client.iglu.embedded import BUILT_IN, PATH_ALLOWED, embedded_registry
from treaty.client.iglu.errors import ResolverConfigError
from treaty.client.iglu.registries import IgluRegistry, http_registry
from treaty.client.suggestions import find_similar, suggest
from treaty.core.iglu_key import IgluKey, IgluKeyError, SchemaCriterion
from treaty.core.limits import IGLU_CACHE

CRITERION = SchemaCriterion.parse("iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-*")
NAME_CHARACTERS = 100
"""Characters of an unknown member that a message shows."""
_NEWEST = 3
_TTL_SINCE, _APIKEY_SINCE = 2, 1


@dataclass(frozen=True, slots=True)
class ResolverConfig:
    """A configuration: the size of the cache, the seconds after which an entry expires (None: never), the registries."""

    cache_size: int = 500
    cache_ttl: int | None = None
    registries: tuple[IgluRegistry, ...] = ()

    @property
    def has_cache(self) -> bool:
        """Whether there is a cache: a size or a TTL of 0 or less means none."""
        return self.cache_size > 0 and (self.cache_ttl is None or self.cache_ttl > 0)


def load_resolver_config(path: str | Path) -> ResolverConfig:
    """Read a configuration from a file; relative paths in it begin at its folder.

    Raises `ResolverConfigError`, and `OSError` where the file can't be read.
    """
    return read_resolver_config(Path(path).read_bytes(), folder=Path(path).parent)


def read_resolver_config(source: str | bytes | Mapping[str, Any], *, folder: Path | None = None) -> ResolverConfig:
    """Read a configuration: JSON text, or its value. Opens and fetches nothing. Raises `ResolverConfigError`."""
    value: Any = source
    if isinstance(source, (str, bytes)):
        try:
            value = msgspec.json.decode(source)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ResolverConfigError("", f"it is not JSON: {error}", "a self-describing JSON object") from None
    members = _members(value, "", {"schema", "data"}, {"schema", "data"})
    addition = _read_version(members["schema"])
    data = _members(members["data"], "data", {"cacheSize", "repositories"}, {"cacheSize", "cacheTtl", "repositories"})
    if "cacheTtl" in data and addition < _TTL_SINCE:
        raise ResolverConfigError("data.cacheTtl", f"1-0-{addition} has no such member", "it from 1-0-2 on")
    size = _integer(data["cacheSize"], "data.cacheSize", 0 if addition < _TTL_SINCE else None)
    if size > IGLU_CACHE:
        raise ResolverConfigError.of("data.cacheSize", size, f"at most the limit IGLU_CACHE of {IGLU_CACHE}")
    ttl = data.get("cacheTtl")
    if ttl is not None:
        ttl = _integer(ttl, "data.cacheTtl", 1 if addition < _NEWEST else 0)
    registries = tuple(
        _read_registry(repository, f"data.repositories[{at}]", addition, folder)
        for at, repository in enumerate(_array(data["repositories"], "data.repositories", "an array of registries"))
    )
    refuse_equal_names(registries)
    return ResolverConfig(size, ttl, registries)


def refuse_equal_names(registries: Sequence[IgluRegistry]) -> None:
    """Raise `ResolverConfigError` where two registries have one name."""
    counts = Counter(one.name for one in registries)
    for name, count in counts.items():
        if count > 1:
            message = f"repository names must be unique, {name!r} encountered {count} times"
            raise ResolverConfigError("data.repositories", message, "a name of its own for each")
    if BUILT_IN in counts:
        message = f"{BUILT_IN!r} is the name of the built-in registry"
        raise ResolverConfigError("data.repositories", message, "another name")


def _read_version(schema: Any) -> int:
    allowed = f"{CRITERION}, known are 1-0-0 to 1-0-{_NEWEST}"
    try:
        key = IgluKey.parse(schema) if isinstance(schema, str) else None
    except IgluKeyError as error:
        raise ResolverConfigError("schema", str(error), allowed) from None
    if key is None or not CRITERION.matches(key):
        raise ResolverConfigError.of("schema", schema, allowed)
    return min(key.version.addition, _NEWEST)


def _read_registry(value: Any, path: str, addition: int, folder: Path | None) -> IgluRegistry:
    names = {"name", "priority", "vendorPrefixes", "connection"}
    members = _members(value, path, names, names)
    name = _text(members["name"], f"{path}.name")
    priority = _integer(members["priority"], f"{path}.priority", None)
    prefixes = tuple(
        _text(prefix, f"{path}.vendorPrefixes[{at}]")
        for at, prefix in enumerate(_array(members["vendorPrefixes"], f"{path}.vendorPrefixes", "an array of texts"))
    )
    connection = _members(members["connection"], f"{path}.connection", set(), {"embedded", "http"})
    if len(connection) != 1:
        message = f"it has {' and '.join(sorted(connection)) or 'no kind'}"
        raise ResolverConfigError(f"{path}.connection", message, 'one of {"embedded": {"path"}}, {"http": {"uri"}}')
    ((kind, inner),) = connection.items()
    where = f"{path}.connection.{kind}"
    try:
        if kind == "embedded":
            place = _text(_members(inner, where, {"path"}, {"path"})["path"], f"{where}.path", PATH_ALLOWED)
            return embedded_registry(name, place, priority=priority, vendor_prefixes=prefixes, folder=folder)
        http = _members(inner, where, {"uri"}, {"uri", "apikey"} if addition >= _APIKEY_SINCE else {"uri"})
        key = http.get("apikey")
        return http_registry(
            name,
            _text(http["uri"], f"{where}.uri"),
            apikey=None if key is None else _text(key, f"{where}.apikey", "a text or null"),
            priority=priority,
            vendor_prefixes=prefixes,
        )
    except ResolverConfigError as error:
        if error.path.startswith("data."):
            raise
        message = str(error).partition(": ")[2].rpartition("; allowed is ")[0]
        raise ResolverConfigError(f"{where}.{error.path}", message, error.allowed) from None


def _members(value: Any, path: str, required: set[str], allowed: set[str]) -> Mapping[str, Any]:
    expected = f"an object with {', '.join(sorted(allowed))}"
    if not isinstance(value, Mapping):
        raise ResolverConfigError.of(path, value, expected)
    unknown = sorted({*value} - allowed)
    if missing := sorted(required - {*value}):
        near = find_similar(missing[0], unknown)
        hint = f", did you mean it where {near[0][:NAME_CHARACTERS]} stands?" if near else ""
        raise ResolverConfigError(path, f"{' and '.join(missing)} is missing{hint}", expected)
    if unknown:
        hint = suggest(unknown[0], sorted(allowed - {*value}))
        message = f"there is no such member{f', {hint}' if hint else ''}"
        raise ResolverConfigError(".".join(filter(None, (path, unknown[0][:NAME_CHARACTERS]))), message, expected)
    return value


def _array(value: Any, path: str, allowed: str) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        raise ResolverConfigError.of(path, value, allowed)
    return value


def _text(value: Any, path: str, allowed: str = "a text") -> str:
    if not isinstance(value, str):
        raise ResolverConfigError.of(path, value, allowed)
    return value


def _integer(value: Any, path: str, lowest: int | None) -> int:
    allowed = "a whole number of 32 bits" if lowest is None else f"a whole number from {lowest}"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or value != value // 1 or abs(value) >= 2**31 or (lowest is not None and value < lowest):
        raise ResolverConfigError.of(path, value, allowed)
    return int(value)
