"""Plug-ins: what packages offer in a group of entry points, by name, each imported at its first use; and the table of formats."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from importlib import import_module
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from treaty.formats.format import Format

R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PluginPlace:
    """Where a plug-in lies, as ``module:attribute``, and the package that offers it; no package for one of this package."""

    value: str
    package: str = ""


@dataclass(frozen=True, slots=True)
class PluginTable(Generic[T]):
    """Plug-ins by name. Each has to be what `fits` says, called `noun` in errors; what has been loaded is kept."""

    fits: Callable[[object], bool]
    noun: str
    places: Mapping[str, PluginPlace]
    _loaded: dict[str, T] = field(default_factory=dict, repr=False, compare=False)

    def find(self, name: str) -> T | None:
        """The plug-in called `name`, or None. Raises `ImportError` with the package of one that is there and broken."""
        if name in self.places and name not in self._loaded:
            self._loaded[name] = self._load(self.places[name])
        return self._loaded.get(name)

    def get_loaded(self, name: str) -> T | None:
        """The plug-in called `name` if it was imported before, or None."""
        return self._loaded.get(name)

    def _load(self, place: PluginPlace) -> T:
        module, _, attribute = place.value.partition(":")
        try:
            plugin: T = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            if not place.package:
                raise
            message = f"the plug-in of the package {place.package} can't be imported: {error}"
            raise ImportError(message) from error
        if not self.fits(plugin):
            message = f"{place.value} of the package {place.package} is no {self.noun}"
            raise ImportError(message)
        return plugin


def once_for_a_path(find: Callable[[], R]) -> Callable[[], R]:
    """A function that looks for packages, called once for each path that they are found on: it reads a file of every package."""

    @lru_cache(maxsize=8)
    def find_on(path: tuple[str, ...]) -> R:
        del path
        return find()

    return wraps(find)(lambda: find_on(tuple(sys.path)))


def find_places(group: str) -> Mapping[str, PluginPlace]:
    """The places of all installed plug-ins of a group, by name."""
    from importlib.metadata import entry_points  # noqa: PLC0415 (it is loaded for plug-ins alone, and large)

    return {
        point.name: PluginPlace(point.value, point.dist.name if point.dist else point.module.partition(".")[0])
        for point in entry_points(group=group)
    }


# -------------------------------------------------------------------------------------------------------------- formats


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
    """Formats by name, those of this package and of others."""

    table: PluginTable[Format[Any]]

    @staticmethod
    def of(places: Mapping[str, str], plugins: Mapping[str, PluginPlace] = MappingProxyType({})) -> "FormatRegistry":
        """The formats of this package at these places, as ``module:attribute`` by name, and the plug-ins beside them."""
        own = {name: PluginPlace(value) for name, value in places.items()}
        return FormatRegistry(PluginTable(lambda plugin: isinstance(plugin, Format), "Format", {**plugins, **own}))

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self.table.places))

    def __getitem__(self, name: str) -> Format[Any]:
        """The format called `name`; raises `KeyError` with the names that there are."""
        format_ = self.find(name)
        if format_ is None:
            message = f"there is no format {name!r} here; known: {', '.join(self.names)}"
            raise KeyError(message)
        return format_

    def validators(self) -> frozenset[str]:
        """Names of all validators: the lints of every format, which are loaded for it."""
        return frozenset(lint for name in self.names for lint in self[name].lints)

    def find(self, name: str) -> Format[Any] | None:
        """The format called `name`, or None; raises `ImportError` if a plug-in is there and broken."""
        return self.table.find(name)


@once_for_a_path
def find_formats() -> FormatRegistry:
    """The formats of this package and of all installed plug-ins; a built-in one can't be replaced."""
    return FormatRegistry.of(BUILT_IN, find_places(GROUP))
