"""Defaults of fields: does a JSON value stand for a value of a type, as far as the Java library looks."""

import re
from collections.abc import Collection, Generator, Iterable, Mapping

from treaty.core.limits import DEFAULT_STEPS
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroMap,
    AvroRecord,
    AvroReference,
    AvroType,
    AvroUnion,
    NamedType,
    ResolvedType,
)
from treaty.formats.budget import current_budget
from treaty.formats.json_text import Json

_DECIMAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?")
_HEX = re.compile(r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?")
_WORDS: Mapping[str, float] = {
    f"{sign}{word}": float(f"{sign}{word}") for sign in ("", "+", "-") for word in ("NaN", "Infinity")
}
_BLANK = "".join(map(chr, range(33)))


def parse_double(text: str) -> float | None:
    """The number that a text means to Java's ``Double.parseDouble``, or None."""
    bare = text.strip(_BLANK)
    if bare in _WORDS:
        return _WORDS[bare]
    if match := _DECIMAL.fullmatch(bare):
        return float(match[1])
    if match := _HEX.fullmatch(bare):
        try:
            return float.fromhex(match[1])
        except OverflowError:
            return float("-inf" if bare[0] == "-" else "inf")
    return None


Task = Generator[tuple[AvroType, Json], bool, bool]
"""Checks one value: yields the values inside it with their types, is sent whether they fit, returns whether it fits."""


class DefaultChecker:
    """Checks defaults against types.

    `names` are the types defined so far and `enclosing` the records whose definition is not finished. A type that
    is in neither is not known yet: its default is taken on trust if it is an object, `waiting` is set, and the
    caller asks again at the end.
    """

    __slots__ = ("_budget", "_enclosing", "_names", "_seen", "_steps", "waiting")

    def __init__(self, names: Mapping[str, NamedType], enclosing: Collection[str]) -> None:
        self._names = names
        self._enclosing = enclosing
        self._seen: dict[tuple[int, int], bool] = {}
        self._steps = 0
        self._budget = current_budget()
        self.waiting = False

    def allows(self, node: AvroType, value: Json) -> bool:
        """Return whether `value` is a default for `node`; False also when finding out takes too many steps."""
        if not isinstance(value, list | dict):
            return self._scalar(node, value)
        # Values wait on a list and not on Python's stack, which other people's frames share.
        waiting = [self._fits(node, value)]
        fits: bool | None = None
        while waiting:
            try:
                pair = waiting[-1].send(fits)  # type: ignore[arg-type]
            except StopIteration as stop:
                waiting.pop()
                fits = stop.value
            else:
                waiting.append(self._fits(*pair))
                fits = None
        return bool(fits)

    def _resolve(self, node: AvroType, value: Json) -> ResolvedType | bool:
        """The definition of a type; of one that is not known yet, whether the value may stand for the time being."""
        resolved = self._names.get(node.full) if isinstance(node, AvroReference) else node
        if resolved is not None:
            return resolved
        self.waiting = True
        return isinstance(value, dict) and node.full not in self._enclosing  # type: ignore[union-attr]

    def _scalar(self, node: AvroType, value: Json) -> bool:
        self._steps += 1
        self._budget.spend(1)
        resolved = self._resolve(node, value)
        if isinstance(resolved, bool):
            return resolved
        if isinstance(resolved, AvroUnion):
            return any(self._scalar(branch, value) for branch in resolved.branches)
        return _is_simple_value(resolved, value)

    def _fits(self, node: AvroType, value: Json) -> Task:
        self._steps += 1
        self._budget.spend(3 + (len(node.fields) >> 3 if isinstance(node, AvroRecord) else 0))
        resolved = self._resolve(node, value)
        if isinstance(resolved, bool):
            return resolved
        key = (id(resolved), id(value))
        if key not in self._seen:
            if isinstance(resolved, AvroUnion):
                self._seen[key] = yield from self._some_branch(resolved, value)
            else:
                self._seen[key] = yield from self._all_members(resolved, value)
        return self._seen[key] and self._steps <= DEFAULT_STEPS

    def _some_branch(self, union: AvroUnion, value: Json) -> Task:
        for branch in union.branches:
            if (yield branch, value):
                return True
        return False

    def _all_members(self, node: ResolvedType, value: Json) -> Task:
        members: Iterable[tuple[AvroType, Json]]
        if isinstance(node, AvroArray) and isinstance(value, list):
            members = ((node.items, item) for item in value)
        elif isinstance(node, AvroMap) and isinstance(value, dict):
            members = ((node.values, member) for member in value.values())
        elif isinstance(node, AvroRecord) and isinstance(value, dict):
            # A field that the value leaves out takes its own default, which is checked where it stands.
            if any(field.default is ABSENT and field.name not in value for field in node.fields):
                return False
            members = ((field.type, value[field.name]) for field in node.fields if field.name in value)
        else:
            return False
        for kind, member in members:
            nested = isinstance(member, list | dict)
            if self._steps > DEFAULT_STEPS or not ((yield kind, member) if nested else self._scalar(kind, member)):
                return False
        return True


def _is_simple_value(node: ResolvedType, value: Json) -> bool:
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
    return False
