"""`IgluRegistry`: one place where Iglu schemas may be found, its kinds, and the order in which registries are asked. A bad URL or API key is refused (`http_registry`)."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from treaty.client.iglu.errors import NOT_FOUND, RegistryFailure, ResolverConfigError, repo_failure
from treaty.core.iglu_key import IgluKey
from treaty.core.urls import UrlError, split_server_url, split_url

MEMORY, EMBEDDED, REMOTE = 1, 2, 100
"""Class priorities: registries of a lower class are asked first, whatever their own priority is."""

_CENTRAL = re.compile(r"\biglucentral\b")
_VISIBLE = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class ListKey:
    """The versions of one model of a schema."""

    vendor: str
    name: str
    model: int

    @property
    def path(self) -> str:
        """The path of the list in a registry."""
        return f"{self.vendor}/{self.name}/jsonschema/{self.model}"

    def __str__(self) -> str:
        return f"the list of iglu:{self.path}"


@dataclass(frozen=True, slots=True)
class SchemaDocument:
    """The JSON value that a registry gave."""

    value: Any = field(repr=False)


RegistryAnswer = SchemaDocument | RegistryFailure
RegistryQuestion = IgluKey | ListKey


@dataclass(frozen=True, slots=True)
class LocalSource:
    """A registry that is a function. `blocks`: it reads files or waits, so asyncio programs run it in a thread."""

    ask: Callable[[RegistryQuestion], RegistryAnswer]
    blocks: bool = False


@dataclass(frozen=True, slots=True)
class HttpSource:
    """A registry at a URL. Schemas are at ``BASE/schemas/VENDOR/NAME/FORMAT/VERSION``."""

    base: str
    apikey: str | None = field(default=None, repr=False)

    def url_of(self, question: RegistryQuestion) -> str:
        """The URL of a schema or a list."""
        return f"{self.base}/schemas/{question.path}"


@dataclass(frozen=True, slots=True)
class IgluRegistry:
    """A registry with its name, its place in the order, and its source.

    `class_priority` is that of its kind. `is_local`: its failures are not retried by the algorithm ``current``.
    """

    name: str
    source: LocalSource | HttpSource
    priority: int = 0
    vendor_prefixes: tuple[str, ...] = ()
    class_priority: int = REMOTE

    @property
    def is_local(self) -> bool:
        """Whether it is in memory or embedded."""
        return self.class_priority < REMOTE

    @property
    def is_central(self) -> bool:
        """Whether it is Iglu Central or a mirror: its host has the word ``iglucentral``."""
        if not isinstance(self.source, HttpSource):
            return False
        return _CENTRAL.search(split_url(self.source.base).hostname or "") is not None

    def has_vendor(self, vendor: str, *, dots: bool = False) -> bool:
        """Whether a vendor begins with one of the prefixes; with `dots` only where the prefix ends at a dot of the vendor, or with it."""
        if dots:
            return any(not one or f"{vendor}.".startswith(f"{one.rstrip('.')}.") for one in self.vendor_prefixes)
        return vendor.startswith(self.vendor_prefixes)


def order_registries(registries: Iterable[IgluRegistry], vendor: str, *, dots: bool = False) -> list[IgluRegistry]:
    """The registries in the order in which they are asked: those with a prefix of the vendor first, then by class, then by
    priority, lower first; equal ones stay in the order of the configuration.
    """
    return sorted(registries, key=lambda one: (not one.has_vendor(vendor, dots=dots), one.class_priority, one.priority))


def http_registry(
    name: str, uri: str, *, apikey: str | None = None, priority: int = 0, vendor_prefixes: Iterable[str] = ()
) -> IgluRegistry:
    """A registry at an ``http`` or ``https`` URL; one slash at its end is ignored. Raises `ResolverConfigError`."""
    base = _normalize_base(uri)
    if apikey and not _VISIBLE.fullmatch(apikey):
        raise ResolverConfigError("apikey", "it has characters that a header can't carry", "visible ASCII, as a UUID")
    return IgluRegistry(name, HttpSource(base, apikey or None), priority, tuple(vendor_prefixes))


def _normalize_base(uri: str) -> str:
    allowed = "http(s)://host[:port][/path], without user, query and fragment"
    try:
        parts = split_server_url(uri)
    except UrlError:
        raise ResolverConfigError("uri", "it is no URL", allowed) from None
    is_bad = parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0
    if is_bad or parts.query or parts.fragment or not _VISIBLE.fullmatch(uri):
        raise ResolverConfigError.of("uri", uri if "@" not in uri else "…", allowed)
    if "@" in parts.netloc:
        raise ResolverConfigError("uri", "it has a user or a password", f"{allowed}; a key goes into apikey")
    return f"{parts.scheme}{uri[len(parts.scheme) :]}".removesuffix("/")


def memory_registry(
    name: str,
    schemas: Mapping[IgluKey | str, Any] | Callable[[RegistryQuestion], RegistryAnswer],
    *,
    priority: int = 0,
    vendor_prefixes: Iterable[str] = (),
    class_priority: int = MEMORY,
) -> IgluRegistry:
    """Return a registry in memory, which answers from schemas by key, or by a function of each question.

    With `class_priority` `REMOTE` it is treated as one over HTTP: it is asked later, and its failures are retried.
    """
    if callable(schemas):
        ask = schemas
    else:
        documents = {IgluKey.parse(key) if isinstance(key, str) else key: value for key, value in schemas.items()}

        def ask(question: RegistryQuestion) -> RegistryAnswer:
            if isinstance(question, IgluKey) and question in documents:
                return SchemaDocument(documents[question])
            return NOT_FOUND

    return IgluRegistry(name, LocalSource(ask), priority, tuple(vendor_prefixes), class_priority)


def read_document(content: bytes) -> RegistryAnswer:
    """The JSON value of an answer or a file; a failure where it is none."""
    try:
        return SchemaDocument(msgspec.json.decode(content))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # the words of the Scala client for an empty or cut text
        text = "exhausted input" if "truncated" in str(error) else str(error)
        return repo_failure(f"ParsingFailure: {text}")
    except RecursionError:
        return repo_failure("ParsingFailure: the text nests too deeply")
