"""What all schemas that check one place ask for together, as far as it can be said without looking at a value."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm

from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import follow_reference, get_child, ignores_siblings
from treaty.formats.jsonschema.regex import is_match
from treaty.formats.seeded_random import SeededRandom

TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_WORDS = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "contains", "uniqueItems"),
    "string": ("pattern", "minLength", "maxLength", "format"),
    "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
}


class ImpossibleError(ValueError):
    """Nothing is valid here, or nothing was found."""


def is_equal_value(first: Json, other: Json) -> bool:
    """Equality as JSON Schema has it: true is not 1, and 1.0 is."""
    if isinstance(first, bool) or isinstance(other, bool):
        return first is other
    if isinstance(first, list) and isinstance(other, list):
        return len(first) == len(other) and all(is_equal_value(a, b) for a, b in zip(first, other, strict=True))
    if isinstance(first, dict) and isinstance(other, dict):
        return first.keys() == other.keys() and all(is_equal_value(held, other[name]) for name, held in first.items())
    return first == other


@dataclass(slots=True)
class ExampleConstraints:
    """The conjunction of schemas; of alternatives one is chosen when it is made."""

    nodes: list[SchemaNode] = field(default_factory=list)
    types: tuple[str, ...] = TYPES
    allowed: list[Json] | None = None
    required: dict[str, None] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    steps: int = 0

    def assumed_types(self) -> tuple[str, ...]:
        """The types that the keywords speak about, if they speak about types that are allowed."""
        named = tuple(kind for kind in self.types if any(word in self.words for word in _WORDS.get(kind, ())))
        return named if named and len(self.types) == len(TYPES) else self.types

    def get_all(self, word: str, kind: type | tuple[type, ...]) -> Iterator[Json]:
        """What stands under a keyword in all schemas, where it is of that kind; booleans are no numbers."""
        for node in self.nodes:
            held = node.value.get(word) if isinstance(node.value, dict) else None
            if isinstance(held, kind) and (kind is bool or not isinstance(held, bool)):
                yield held

    def get_maximum(self, word: str, otherwise: int) -> int:
        """The highest whole number under a keyword."""
        return max((int(number) for number in self.get_all(word, (int, Decimal))), default=otherwise)  # type: ignore[arg-type]  # numbers only

    def get_minimum(self, word: str, otherwise: int) -> int:
        """The lowest whole number under a keyword."""
        return min((int(number) for number in self.get_all(word, (int, Decimal))), default=otherwise)  # type: ignore[arg-type]  # numbers only

    def names(self) -> list[str]:
        """The names of properties that any schema speaks about."""
        named = dict(self.required)
        for held in self.get_all("properties", dict):
            assert isinstance(held, dict)
            named |= dict.fromkeys(held)
        return list(named)

    def list_of_member(self, name: str) -> list[SchemaNode]:
        """The schemas of the member with this name."""
        schemas: list[SchemaNode] = []
        for node in self.nodes:
            value = node.value
            assert isinstance(value, dict)
            is_named = False
            held = value.get("properties")
            if isinstance(held, dict) and name in held:
                is_named = True
                schemas.append(get_child(node, "properties", name))
            patterns = value.get("patternProperties")
            for regex in patterns if isinstance(patterns, dict) else ():
                if is_match(regex, name):
                    is_named = True
                    schemas.append(get_child(node, "patternProperties", regex))
            if not is_named:
                words = ("additionalProperties", "unevaluatedProperties")
                schemas += [get_child(node, word) for word in words if isinstance(value.get(word), dict | bool)]
        return schemas

    def list_of_item(self, at: int) -> list[SchemaNode]:
        """The schemas of the item at this index."""
        schemas: list[SchemaNode] = []
        for node in self.nodes:
            value = node.value
            assert isinstance(value, dict)
            listed = "prefixItems" if node.draft.number > 2019 else "items"
            rest = "items" if node.draft.number > 2019 else "additionalItems"
            held = value.get(listed)
            if isinstance(held, list):
                if at < len(held):
                    schemas.append(get_child(node, listed, at))
                elif isinstance(value.get(rest), dict | bool):
                    schemas.append(get_child(node, rest))
            elif isinstance(value.get("items"), dict | bool):
                schemas.append(get_child(node, "items"))
        return schemas

    def bounds(self) -> tuple[tuple[Fraction, bool] | None, tuple[Fraction, bool] | None, Fraction | None]:
        """The lowest and the highest number, each with whether it is left out itself, and what all are multiples of."""
        low: list[tuple[Fraction, bool]] = []
        high: list[tuple[Fraction, bool]] = []
        for node in self.nodes:
            value = node.value
            assert isinstance(value, dict)
            for word, open_, into in (("minimum", "exclusiveMinimum", low), ("maximum", "exclusiveMaximum", high)):
                limit, strict = _fraction(value.get(word)), value.get(open_)
                if limit is not None:
                    into.append((limit, strict is True))
                other = _fraction(strict)
                if other is not None:
                    into.append((other, True))
        steps = [step for step in map(_fraction, self.get_all("multipleOf", (int, Decimal))) if step]
        step = steps[0] if steps else None
        for multiple in steps[1:]:
            assert step is not None
            step = Fraction(lcm(step.numerator, multiple.numerator), gcd(step.denominator, multiple.denominator))
        highest = min(high, key=lambda one: (one[0], not one[1])) if high else None
        return (max(low) if low else None), highest, step


def _fraction(value: Json) -> Fraction | None:
    return Fraction(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else None


def collect_constraints(
    document: JsonSchema, start: Iterable[SchemaNode], draw: SeededRandom, *, plain: bool
) -> ExampleConstraints:
    """All that schemas ask for, with one branch chosen of every choice; with `plain` a branch without references.

    Raises `ImpossibleError` if nothing can be valid.
    """
    constraints = ExampleConstraints()
    waiting = list(start)
    visited: set[tuple[int, str]] = set()
    while waiting:
        node = waiting.pop()
        if node.value is False:
            raise ImpossibleError("false stands here")
        if node.key in visited or not isinstance(node.value, dict):
            continue
        visited.add(node.key)
        for word in ("$ref", "$recursiveRef", "$dynamicRef"):
            target = follow_reference(document, node, word)
            if target is not None:
                waiting.append(target)
        if ignores_siblings(node):
            continue
        constraints.nodes.append(node)
        _take(constraints, node.value)
        waiting += _branches(node, node.value, draw, plain=plain)
    constraints.steps = len(visited)
    if not constraints.types or constraints.allowed == []:
        raise ImpossibleError("no type and no value is left")
    return constraints


def _take(constraints: ExampleConstraints, value: dict[str, Json]) -> None:
    constraints.words |= value.keys()
    kind = value.get("type")
    if isinstance(kind, str | list):
        kinds = [kind] if isinstance(kind, str) else kind
        # A whole number is a number too, so where one schema says number and another integer, integer is left.
        constraints.types = tuple(
            kind for kind in constraints.types if kind in kinds or (kind == "integer" and "number" in kinds)
        )
    listed = value.get("enum")
    values = listed if isinstance(listed, list) else None
    if "const" in value:
        values = [value["const"]]
    if values is not None:
        allowed = constraints.allowed
        constraints.allowed = (
            values if allowed is None else [one for one in allowed if any(is_equal_value(one, two) for two in values)]
        )
    names = value.get("required")
    if isinstance(names, list):
        constraints.required |= dict.fromkeys(name for name in names if isinstance(name, str))


def _branches(node: SchemaNode, value: dict[str, Json], draw: SeededRandom, *, plain: bool) -> Iterator[SchemaNode]:
    every = value.get("allOf")
    if isinstance(every, list):
        yield from (get_child(node, "allOf", at) for at in range(len(every)))
    for word in ("anyOf", "oneOf"):
        branches = value.get(word)
        if isinstance(branches, list) and branches:
            yield get_child(node, word, _choose_branch(branches, draw, plain=plain))
    if isinstance(value.get("if"), dict | bool):
        met = draw.chance(50)
        for word in ("if", "then") if met else ("else",):
            if isinstance(value.get(word), dict | bool):
                yield get_child(node, word)


def _choose_branch(branches: Sequence[Json], draw: SeededRandom, *, plain: bool) -> int:
    if plain:
        flat = [at for at, one in enumerate(branches) if isinstance(one, dict) and not {"$ref", "items"} & one.keys()]
        if flat:
            return draw.pick(flat)
    return draw.below(len(branches))
