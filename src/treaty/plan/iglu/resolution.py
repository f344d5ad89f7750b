"""`ResolvedSchemas`: what the schemas that a batch names came to. Workers validate by this value and ask no registry."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from treaty.client.iglu.errors import IgluNotFoundError, IgluUnavailableError
from treaty.client.iglu.resolver import Resolver
from treaty.core.iglu_key import IgluKey, IgluKeyError
from treaty.core.limits import IGLU_BATCH_SCHEMAS, IGLU_DEPTH

FORMAT = 1
"""The format of the stored form."""
FOUND, NOT_FOUND, UNAVAILABLE = "found", "not_found", "unavailable"
WAIT_SECONDS = 0.25
"""Seconds between two attempts for schemas that no registry can give now."""


@dataclass(frozen=True, slots=True)
class SchemaResolution:
    """What one schema came to: ``found``, ``not_found`` (no registry has it) or ``unavailable`` (one can't say now).

    `used` is the URI of the document, another one than `uri` where that is superseded. `document` and `error` (in the
    form of the Scala client) are JSON texts; `resolved_at` is in milliseconds since 1970.
    """

    uri: str
    outcome: str
    used: str = ""
    registry: str = ""
    resolved_at: int = 0
    document: str = field(default="", repr=False)
    error: str = ""

    @property
    def superseded_by(self) -> str:
        """The version that was used instead of the one that is named; empty where that one was used."""
        return self.used.rpartition("/")[2] if self.used and self.used != self.uri else ""


@dataclass(frozen=True)
class ResolvedSchemas:
    """The schemas of a batch by URI. Stored beside the batch, a later run of it comes to the same rows.

    `depth` is the most levels of nesting of a value that is validated.
    """

    entries: tuple[SchemaResolution, ...] = ()
    depth: int = IGLU_DEPTH

    @cached_property
    def by_uri(self) -> Mapping[str, SchemaResolution]:
        """The entries by the URI that values name."""
        return {one.uri: one for one in self.entries}

    @property
    def versions(self) -> Mapping[str, str]:
        """By URI that values name, the URI of the document that they are validated with."""
        return {one.uri: one.used for one in self.entries if one.outcome == FOUND}

    @property
    def unavailable(self) -> tuple[SchemaResolution, ...]:
        """Schemas that some registry can't give now: the batch should come again."""
        return tuple(one for one in self.entries if one.outcome == UNAVAILABLE)

    def to_json(self) -> str:
        """The stored form."""
        stored = {"schemas": FORMAT, "depth": self.depth, "entries": [asdict(one) for one in self.entries]}
        return json.dumps(stored, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> "ResolvedSchemas":
        """Read the stored form. Raises `ValueError` for a format that this version does not know."""
        stored: dict[str, Any] = json.loads(text)
        if stored.get("schemas") != FORMAT:
            message = f"these schemas have the format {stored.get('schemas')!r}, known is {FORMAT}: upgrade Treaty"
            raise ValueError(message)
        return ResolvedSchemas(tuple(SchemaResolution(**one) for one in stored["entries"]), stored["depth"])


class TooManySchemasError(RuntimeError):
    """A batch names more schemas than the limit ``IGLU_BATCH_SCHEMAS``; ``count`` is how many were found until then."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"a batch names {count} schemas or more, at most {IGLU_BATCH_SCHEMAS} are allowed; make batches smaller, "
            "or look for values that make up names of schemas"
        )


def resolve_schemas(
    resolver: Resolver,
    uris: Iterable[str],
    earlier: ResolvedSchemas | None = None,
    *,
    depth: int = IGLU_DEPTH,
    patience: float = 0.0,
) -> ResolvedSchemas:
    """Resolve the schemas that a batch names, each once. Texts that are no URI of a schema are left out.

    What is `earlier` is kept and not asked again, but for what was unavailable. For `patience` seconds those that are
    unavailable are asked again, as soon as the resolver asks its registries again. Raises `TooManySchemasError`.
    """
    entries = {one.uri: one for one in earlier.entries if one.outcome != UNAVAILABLE} if earlier else {}
    missing = sorted(uri for uri in {*uris, *(earlier.by_uri if earlier else ())} - set(entries) if is_schema_uri(uri))
    if len(entries) + len(missing) > IGLU_BATCH_SCHEMAS:
        raise TooManySchemasError(len(entries) + len(missing))
    end = time.monotonic() + patience
    while True:
        entries |= {uri: _resolve(resolver, uri) for uri in missing}
        missing = [uri for uri in missing if entries[uri].outcome == UNAVAILABLE]
        if not missing or time.monotonic() + WAIT_SECONDS > end:
            break
        time.sleep(WAIT_SECONDS)
    resolved = ResolvedSchemas(tuple(entries[uri] for uri in sorted(entries)), earlier.depth if earlier else depth)
    return earlier if earlier is not None and resolved.entries == earlier.entries else resolved


def forget_unavailable(earlier: ResolvedSchemas) -> ResolvedSchemas:
    """The same without what no registry could give."""
    return replace(earlier, entries=tuple(one for one in earlier.entries if one.outcome != UNAVAILABLE))


def is_schema_uri(uri: str) -> bool:
    """Whether a text is the URI of a schema."""
    try:
        IgluKey.parse(uri)
    except IgluKeyError:
        return False
    return True


def _resolve(resolver: Resolver, uri: str) -> SchemaResolution:
    try:
        lookup = resolver.lookup(uri, superseding=True)
    except IgluNotFoundError as error:
        return SchemaResolution(uri, NOT_FOUND, error=_compact(error.to_json()))
    except IgluUnavailableError as error:
        return SchemaResolution(uri, UNAVAILABLE, error=_compact(error.to_json()))
    return SchemaResolution(
        uri, FOUND, str(lookup.used_key), lookup.registry, lookup.resolved_at, _compact(lookup.document)
    )


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
