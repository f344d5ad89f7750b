"""Defaults of fields: does a JSON value stand for a value of a type, as far as the Java library looks."""

import re
from collections.abc import Collection, Mapping

from treaty.core.limits import DEFAULT_STEPS
from treaty.formats.avro.model import ABSENT, Array, Map, Named, Record, Reference, Resolved, Type, Union
from treaty.formats.literal import Json

_DECIMAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?")
_HEX = re.compile(r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?")
_WORDS: Mapping[str, float] = {
    f"{sign}{word}": float(f"{sign}{word}") for sign in ("", "+", "-") for word in ("NaN", "Infinity")
}
_BLANK = "".join(map(chr, range(33)))


def number_of(text: str) -> float | None:
    """The number that a text means to Java's ``Double.parseDouble``, or None."""
    bare = text.strip(_BLANK)
    if bare in _WORDS:
        return _WORDS[bare]
    if found := _DECIMAL.fullmatch(bare):
        return float(found[1])
    if found := _HEX.fullmatch(bare):
        try:
            return float.fromhex(found[1])
        except OverflowError:
            return float("-inf" if bare[0] == "-" else "inf")
    return None


class Checker:
    """Checks defaults against types.

    `names` are the types defined so far and `enclosing` the records whose definition is not finished. A type that
    is in neither is not known yet: its default is taken on trust if it is an object, `waiting` is set, and the
    caller asks again at the end.
    """

    __slots__ = ("_enclosing", "_names", "_seen", "_steps", "waiting")

    def __init__(self, names: Mapping[str, Named], enclosing: Collection[str]) -> None:
        self._names = names
        self._enclosing = enclosing
        self._seen: dict[tuple[int, int], bool] = {}
        self._steps = 0
        self.waiting = False

    def allows(self, node: Type, value: Json) -> bool:
        """Tell whether `value` is a default for `node`; False also when finding out takes too many steps."""
        self._steps += 1
        if self._steps > DEFAULT_STEPS:
            return False
        found = self._names.get(node.full) if isinstance(node, Reference) else node
        if found is None:
            self.waiting = True
            return isinstance(value, dict) and node.full not in self._enclosing  # type: ignore[union-attr]
        if not isinstance(value, list | dict):
            return self._simple(found, value)
        key = (id(found), id(value))
        if key not in self._seen:
            self._seen[key] = self._nested(found, value)
        return self._seen[key]

    def _simple(self, node: Resolved, value: Json) -> bool:
        match node.kind:
            case "null":
                return value is None
            case "boolean":
                return type(value) is bool
            case "int":
                return type(value) is int and -(1 << 31) <= value < 1 << 31
            case "long":
                return type(value) is int and -(1 << 63) <= value < 1 << 63
            case "float" | "double":
                return type(value) is int or type(value) is float
            case "string" | "bytes" | "enum" | "fixed":
                return type(value) is str
        return type(node) is Union and any(self.allows(branch, value) for branch in node.branches)

    def _nested(self, node: Resolved, value: list[Json] | dict[str, Json]) -> bool:
        if type(node) is Union:
            return any(self.allows(branch, value) for branch in node.branches)
        if isinstance(value, list):
            return type(node) is Array and all(self.allows(node.items, item) for item in value)
        if type(node) is Map:
            return all(self.allows(node.values, member) for member in value.values())
        # A field that the value leaves out takes its own default, which is checked where it stands.
        return type(node) is Record and all(
            self.allows(field.type, value[field.name]) if field.name in value else field.default is not ABSENT
            for field in node.fields
        )
