"""Parsed models kept by meaning, within a bound of bytes and entries."""

from collections import OrderedDict
from dataclasses import field
from typing import Any

from treaty.core.limits import MODEL_BYTES, MODEL_ENTRIES
from treaty.core.schema_engine import ResolvedSchema
from treaty.light_dataclass import dataclass


def count_characters(schema: ResolvedSchema) -> int:
    """Characters of a text and of all texts that its references lead to, each counted once."""
    if not schema.bindings:
        return len(schema.text)
    digests: set[bytes] = set()
    waiting = [schema]
    total = 0
    while waiting:
        current = waiting.pop()
        if current.digest not in digests:
            digests.add(current.digest)
            total += len(current.text)
            waiting += (bound.meaning for bound in current.bindings)
    return total


@dataclass(slots=True)
class ModelCache:
    """The models used last, by format, digest of the meaning and strictness; the one unused for longest goes first."""

    entries: int = MODEL_ENTRIES
    text_bytes: int = MODEL_BYTES
    _models: OrderedDict[tuple[str, bytes, bool], tuple[Any, int]] = field(default_factory=OrderedDict, repr=False)
    _bytes: int = 0

    def get(self, key: tuple[str, bytes, bool]) -> Any | None:
        """The model kept under `key`, or None."""
        entry = self._models.get(key)
        if entry is None:
            return None
        self._models.move_to_end(key)
        return entry[0]

    def keep(self, key: tuple[str, bytes, bool], model: Any, size: int) -> None:
        """Keep a model that was made of `size` bytes of text; one larger than the whole bound is not kept."""
        if size > self.text_bytes or key in self._models:
            return
        self._models[key] = (model, size)
        self._bytes += size
        while len(self._models) > self.entries or self._bytes > self.text_bytes:
            _, (_, gone) = self._models.popitem(last=False)
            self._bytes -= gone

    def __len__(self) -> int:
        return len(self._models)
