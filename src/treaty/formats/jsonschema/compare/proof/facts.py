"""What is known of a value that a writer allowed: schemas that it fits, schemas that it does not fit, its types."""

from collections.abc import Hashable, Iterable
from decimal import Decimal
from typing import NamedTuple

from treaty.formats.budget import spend
from treaty.formats.jsonschema.compare.exact import freeze, get_json_types
from treaty.formats.jsonschema.compare.view import SchemaView
from treaty.formats.jsonschema.model import Json

NUMERIC = frozenset({"integer", "whole", "number"})
"""Numbers as they are distinguished: written as integers, whole ones like 1.0, and all others."""
TYPES = frozenset({"null", "boolean", "string", "array", "object"}) | NUMERIC
"""All types that a value may have."""
_SEVERAL = ("anyOf", "oneOf", "if")
_APART = 64
"""A oneOf with more schemas than this says of a value only which one it fits, not which ones it does not fit."""


class FactCase(NamedTuple):
    """One of several cases of which one holds: what is known in it besides."""

    fits: tuple[SchemaView, ...]
    excluded: tuple[SchemaView, ...] = ()


class FactSource(NamedTuple):
    """What knowledge is made from. `values` are all that are possible, None if they are not counted.

    `types` narrows the types, `present` names properties that are there, `settled` the distinctions that were made.
    """

    fits: tuple[SchemaView, ...]
    excluded: tuple[SchemaView, ...] = ()
    values: tuple[Json, ...] | None = None
    types: frozenset[str] = TYPES
    present: frozenset[str] = frozenset()
    settled: frozenset[Hashable] = frozenset()
    cases: tuple[tuple[Hashable, tuple[FactCase, ...]], ...] = ()

    @property
    def key(self) -> Hashable:
        """Equal for equal knowledge."""
        return (
            frozenset(map(id, self.fits)),
            frozenset(map(id, self.excluded)),
            None if self.values is None else tuple(map(freeze, self.values)),
            self.types,
            self.present,
            self.settled,
            tuple(name for name, _ in self.cases),
        )


class ValueFacts:
    """The knowledge about one value: everything that follows at once from its `source`."""

    __slots__ = ("cases", "excluded", "required", "source", "types", "values", "views")

    def __init__(self, source: FactSource) -> None:
        self.source = source
        self.types = source.types
        self.values = source.values
        self.views: list[SchemaView] = []
        self.excluded = list(source.excluded)
        self.cases = [one for one in source.cases if one[0] not in source.settled]
        self.required: set[str] = set(source.present)
        self._gather(source.fits)
        if self.values is not None:
            self._sift()

    def _gather(self, fits: Iterable[SchemaView]) -> None:
        visited: set[int] = set()
        waiting = list(fits)
        depending: list[SchemaView] = []
        while waiting:
            view = waiting.pop(0)
            if id(view) in visited:
                continue
            visited.add(id(view))
            self.views.append(view)
            self._narrow(view)
            waiting += view.list_schemas("allOf")
            target = view.target()
            if target is not None:
                waiting.append(target)
            if "dependentSchemas" in view.words or "dependentRequired" in view.words:
                depending.append(view)
            if not waiting:
                waiting += self._follow_dependencies(depending, visited)

    def _follow_dependencies(self, views: list[SchemaView], visited: set[int]) -> list[SchemaView]:
        """What properties that are there bring with them."""
        before = -1
        while before != len(self.required):
            before = len(self.required)
            for view in views:
                held = view.words.get("dependentRequired")
                spend(1 + (len(held) if isinstance(held, dict) else 0))
                for name, needed in held.items() if isinstance(held, dict) else ():
                    if name in self.required and isinstance(needed, list):
                        self.required.update(one for one in needed if isinstance(one, str))
        if not self.types <= {"object"}:
            return []  # what is no object has no properties, and nothing depends on them
        return [
            inner
            for view in views
            for name, inner in view.dependent()
            if name in self.required and id(inner) not in visited
        ]

    def _narrow(self, view: SchemaView) -> None:
        words = view.words
        if view.never:
            self.types = frozenset()
        if "type" in words:
            self.types &= get_allowed_types(view)
        if "const" in words:
            self._limit((words["const"],))
        if "enum" in words:
            self._limit(tuple(words["enum"]))  # type: ignore[arg-type]
        if "required" in words:
            self.required.update(name for name in words["required"] if isinstance(name, str))  # type: ignore[union-attr]
        if "not" in words:
            self.excluded.append(view.get_part("not"))  # type: ignore[arg-type]
        if not words.keys().isdisjoint(_SEVERAL):
            self._choices(view)

    def _choices(self, view: SchemaView) -> None:
        """Note the cases of which one holds, if they are not distinguished already."""
        words, settled = view.words, self.source.settled
        spend(2 + len(view.names("anyOf")) + len(view.names("oneOf")))
        if "anyOf" in words and (id(view), "anyOf") not in settled:
            self.cases.append(((id(view), "anyOf"), tuple(FactCase((one,)) for one in view.list_schemas("anyOf"))))
        if "oneOf" in words and (id(view), "oneOf") not in settled:
            several = view.list_schemas("oneOf")
            spend(len(several) * min(len(several), _APART) >> 4)
            siblings = [
                several[:at] + several[at + 1 :] if len(several) <= _APART else () for at in range(len(several))
            ]
            cases = tuple(FactCase((one,), rest) for one, rest in zip(several, siblings, strict=True))
            self.cases.append(((id(view), "oneOf"), cases))
        if "if" in words and (id(view), "if") not in settled:
            test, then, other = (view.get_part(word) for word in ("if", "then", "else"))
            assert test is not None
            yes = FactCase((test, then) if then is not None else (test,))
            no = FactCase((other,) if other is not None else (), (test,))
            self.cases.append(((id(view), "if"), (yes, no)))

    def _limit(self, values: tuple[Json, ...]) -> None:
        spend(len(values))
        if self.values is None:
            self.values = values
        else:
            allowed = set(map(freeze, values))
            self.values = tuple(one for one in self.values if freeze(one) in allowed)

    def _sift(self) -> None:
        """Keep the values whose type is possible, and the types of which there are values."""
        assert self.values is not None
        self.values = tuple(one for one in self.values if get_json_types(one) & self.types)
        self.types &= frozenset().union(*map(get_json_types, self.values))

    def bound(self, word: str, *, upper: bool) -> int | Decimal | None:
        """The sharpest number that a keyword says about the value, None if none does."""
        spend(1 + (len(self.views) >> 3))
        values = [view.words[word] for view in self.views if word in view.words]
        numbers = [one for one in values if isinstance(one, int | Decimal)]
        return None if not numbers else min(numbers) if upper else max(numbers)


def get_allowed_types(view: SchemaView) -> frozenset[str]:
    """The types that the keyword `type` allows."""
    named = view.words["type"]
    allowed: set[str] = set()
    for type_name in named if isinstance(named, list) else (named,):
        if type_name == "number":
            allowed |= NUMERIC
        elif type_name == "integer":
            allowed |= {"integer"} if view.node.draft.number == 4 else {"integer", "whole"}
        elif isinstance(type_name, str):
            allowed.add(type_name)
    return frozenset(allowed)
