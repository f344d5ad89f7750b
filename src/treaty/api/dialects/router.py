"""Paths to entries of a table: segments are taken apart before they are decoded, so that a name may hold any character."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, unquote

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class RouteMatch(Generic[E]):
    """A path that fits: its pattern and entry by method, and the values of its open segments, in order."""

    methods: Mapping[str, tuple[str, E]]
    values: tuple[str, ...]

    @property
    def allow(self) -> str:
        """The ``Allow`` header of this path."""
        names = {*self.methods, "OPTIONS", *(("HEAD",) if "GET" in self.methods else ())}
        return ", ".join(sorted(names))


@dataclass(frozen=True, slots=True)
class RouteTable(Generic[E]):
    """A table of paths. Build it with `build_routes`."""

    by_length: Mapping[int, Sequence[tuple[tuple[str | None, ...], Mapping[str, tuple[str, E]]]]] = field(
        default_factory=dict
    )

    def find(self, segments: tuple[str, ...]) -> RouteMatch[E] | None:
        """Return what is at a path, or None. Paths written first win."""
        for pattern, methods in self.by_length.get(len(segments), ()):
            for fixed, segment in zip(pattern, segments, strict=True):
                if fixed is not None and fixed != segment:
                    break
            else:
                pairs = zip(pattern, segments, strict=True)
                return RouteMatch(methods, tuple(segment for fixed, segment in pairs if fixed is None))
        return None


def build_routes(table: Mapping[str, Mapping[str, E]]) -> RouteTable[E]:
    """Build a table from paths such as ``/subjects/{}/versions`` to entries by method."""
    by_length: dict[int, list[tuple[tuple[str | None, ...], Mapping[str, tuple[str, E]]]]] = {}
    for path, methods in table.items():
        pattern = tuple(None if part == "{}" else part for part in split_path(path))
        entries = {method: (path, entry) for method, entry in methods.items()}
        by_length.setdefault(len(pattern), []).append((pattern, entries))
    return RouteTable(by_length)


def split_path(path: str) -> tuple[str, ...]:
    """Take a path apart; the root has no segments, one slash at the end does not count."""
    trimmed = path[1:-1] if path.endswith("/") else path[1:]
    return tuple(trimmed.split("/")) if trimmed or len(path) > 1 else ()


def decode_path(raw_path: bytes) -> tuple[str, ...]:
    """Take a raw path apart and decode each segment once.

    Raises `UnicodeDecodeError` where a segment is not UTF-8.
    """
    return tuple(
        unquote(part, errors="strict") if "%" in part else part
        for part in split_path(raw_path.decode("ascii", "strict"))
    )


def first_members(query_string: bytes) -> dict[str, str]:
    """Return the members of a query; of several with one name the first one counts."""
    return dict(reversed(parse_qsl(query_string.decode("latin-1"), keep_blank_values=True)))
