"""The table of formats by name; a format is imported at its first use."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from treaty.formats.format import Format
from treaty.formats.plugins import PluginPlace, PluginTable, find_places, once_for_a_path

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
