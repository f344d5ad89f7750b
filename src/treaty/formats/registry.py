"""The table of formats by name; a format is imported at its first use."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from treaty.formats.format import Format

BUILT_IN: Mapping[str, str] = {
    "AVRO": "treaty.formats.avro.format:FORMAT",
    "JSON": "treaty.formats.jsonschema.format:FORMAT",
    "PROTOBUF": "treaty.formats.protobuf.format:FORMAT",
}
"""The formats of this package: name and place of the record."""

GROUP = "treaty.formats"
"""The entry point group in which other packages offer a `Format`."""


@dataclass(frozen=True, slots=True)
class FormatRegistry:
    """Formats by name. `places` says where each one lies; what has been loaded is kept."""

    places: Mapping[str, str]
    _loaded: dict[str, Format[Any]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self.places))

    def __getitem__(self, name: str) -> Format[Any]:
        """The format called `name`; raises `KeyError` with the names that there are."""
        found = self.find(name)
        if found is None:
            message = f"there is no format {name!r} here; known: {', '.join(self.names)}"
            raise KeyError(message)
        return found

    def validators(self) -> frozenset[str]:
        """Names of all validators: the lints of every format, which are loaded for it."""
        return frozenset(lint for name in self.names for lint in self[name].lints)

    def find(self, name: str) -> Format[Any] | None:
        """The format called `name`, or None; raises `ImportError` if a plug-in is there and broken."""
        if name not in self._loaded:
            if name not in self.places:
                return None
            module, _, attribute = self.places[name].partition(":")
            self._loaded[name] = getattr(import_module(module), attribute)
        return self._loaded[name]


def find_formats() -> FormatRegistry:
    """The formats of this package and of all installed plug-ins; a built-in one can't be replaced."""
    return _find_formats(tuple(sys.path))


@lru_cache(maxsize=8)
def _find_formats(path: tuple[str, ...]) -> FormatRegistry:
    """The formats that packages on a path offer. To look for them reads a file of every package, so it is done once for
    a path.
    """
    del path
    plugins = {point.name: point.value for point in entry_points(group=GROUP)}
    return FormatRegistry({**plugins, **BUILT_IN})
