"""Types in schemas parsed by fastavro whose values take no bytes, and what they are charged with, as `formats.avro.data.free_values` says."""

import threading
from collections.abc import Mapping
from typing import Any

from treaty.client.compiled.names import find_definition, kind_of
from treaty.formats.avro.data.free_values import CONTAINER, FEW, weigh_defaults


class FreeTypes:
    """The types of one schema; `named` maps full names to definitions."""

    def __init__(self, named: Mapping[str, Any]) -> None:
        """Keep the named types."""
        self._named = named
        self._free: dict[str, bool] = {}

    def is_free(self, schema: Any) -> bool:
        """Return whether a value of this type takes no bytes."""
        schema = find_definition(schema, self._named)
        kind = kind_of(schema)
        if kind in {"record", "error"}:
            name = str(schema["name"])
            if name not in self._free:
                self._free[name] = False  # of a record inside itself
                self._free[name] = all(self.is_free(field["type"]) for field in schema["fields"])
            return self._free[name]
        if kind == "fixed":
            return int(schema["size"]) == 0
        if isinstance(schema, dict) and isinstance(schema["type"], (dict, list)):
            return self.is_free(schema["type"])
        return kind == "null"

    def charge_record(self, record: Any, defaults: int = 0) -> int:
        """Return what each value of a record is charged with; `defaults` is the weight of those that it gets."""
        leaves = sum(self.is_free(field["type"]) for field in record["fields"]) + defaults
        return CONTAINER + leaves if self.is_free(record) or leaves > FEW else 0

    def charge_item(self, schema: Any) -> int:
        """Return what each item of an array is charged with, beside what its record is."""
        is_record = kind_of(find_definition(schema, self._named)) in {"record", "error"}
        return int(not is_record and self.is_free(schema))


def weigh_missing(missing: list[Any]) -> int:
    """Return what the defaults of these fields of a reader count for."""
    return weigh_defaults(field["default"] for field in missing if "default" in field)


class ThreadCount(threading.local):
    """Free values that the payload which a thread reads may still have."""

    left = 0
