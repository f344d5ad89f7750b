"""What is known of the values inside a value: of a property, of any other property, of an item."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from treaty.formats.budget import spend
from treaty.formats.jsonschema.compare.proof.facts import FactCase, FactSource, ValueFacts
from treaty.formats.jsonschema.compare.view import SchemaView, matches
from treaty.formats.jsonschema.model import Json

_ALWAYS = ("allOf",)
_PERHAPS = ("allOf", "anyOf", "oneOf")
_LIMIT = 1_000


@dataclass(slots=True)
class EvaluatedParts:
    """The properties and items that a schema has checked, so that nothing is left over of them."""

    names: set[str] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)
    all_names: bool = False
    prefix: int = 0
    all_items: bool = False

    def covers(self, name: str, *, surely: bool) -> bool:
        """Whether a property is among them, for sure or at all."""
        if self.all_names or name in self.names:
            return True
        matches_name = [matches(pattern, name) for pattern in self.patterns]
        return True in matches_name or (not surely and None in matches_name)


def collect_evaluated(view: SchemaView, *, surely: bool) -> EvaluatedParts:
    """What a schema has checked: what it checks whenever it fits (`surely`), or at most."""
    parts = EvaluatedParts()
    visited: set[int] = set()
    waiting = [(view, True)]
    while waiting:
        current, own = waiting.pop()
        if id(current) in visited:
            continue
        visited.add(id(current))
        spend(3 + (len(current.names("properties")) >> 3))
        if len(visited) > _LIMIT and not surely:
            parts.all_names = parts.all_items = True
            return parts
        words = current.words
        parts.names.update(current.names("properties"))
        parts.patterns.update(current.names("patternProperties"))
        parts.all_names |= "additionalProperties" in words or (not own and "unevaluatedProperties" in words)
        parts.prefix = max(parts.prefix, len(current.names("prefixItems")))
        parts.all_items |= "items" in words or (not own and "unevaluatedItems" in words)
        parts.all_items |= not surely and "contains" in words
        inner = [one for word in (_ALWAYS if surely else _PERHAPS) for one in current.list_schemas(word)]
        if not surely:
            inner += [part for word in ("if", "then", "else") if (part := current.get_part(word)) is not None]
            inner += [part for _, part in current.dependent()]
        target = current.target()
        if target is not None:
            inner.append(target)
        waiting += [(one, False) for one in inner]
    return parts


def list_names(facts: ValueFacts) -> dict[str, None]:
    """The properties that something is said about."""
    names: dict[str, None] = {}
    for view in facts.views:
        spend(1 + (len(view.names("properties")) >> 3))
        names.update(dict.fromkeys(view.names("properties")))
    for value in facts.values or ():
        if isinstance(value, dict):
            names.update(dict.fromkeys(value))
    return names


def get_property_source(facts: ValueFacts, name: str) -> FactSource:
    """What is known of a property, if it is there."""
    fits: list[SchemaView] = []
    spend(3 + len(facts.views) + (len(facts.values or ()) >> 3))
    for view in facts.views:
        hit: bool | None = False
        if name in view.names("properties"):
            fits.append(view.get_schema("properties", name))
            hit = True
        for pattern, schema in view.map_schemas("patternProperties").items():
            is_match = matches(pattern, name)
            if is_match:
                fits.append(schema)
                hit = True
            elif is_match is None:
                hit = hit or None
        if hit is False:
            _left_over(view, fits)
        if "unevaluatedProperties" in view.words and not collect_evaluated(view, surely=False).covers(
            name, surely=False
        ):
            fits.append(view.get_part("unevaluatedProperties"))  # type: ignore[arg-type]
    values = None
    if facts.values is not None:
        values = tuple(one[name] for one in facts.values if isinstance(one, dict) and name in one)
    return FactSource(tuple(fits), values=values)


def _left_over(view: SchemaView, fits: list[SchemaView]) -> None:
    part = view.get_part("additionalProperties")
    if part is not None:
        fits.append(part)


def get_others_source(facts: ValueFacts, handled: Iterable[str], pattern: str = "") -> FactSource | None:
    """What is known of a property that nothing names; None if there is none.

    It matches none of the patterns `handled`; if `pattern` is given it matches that one.
    """
    if facts.values is not None:
        return None
    fits: list[SchemaView] = []
    cases: list[tuple[tuple[int, str], tuple[FactCase, ...]]] = []
    spend(3 + len(facts.views))
    for view in facts.views:
        patterns = {one: inner for one, inner in view.map_schemas("patternProperties").items() if one not in handled}
        rest = view.get_part("additionalProperties")
        if pattern in patterns:
            fits.append(patterns[pattern])
        elif not patterns:
            _left_over(view, fits)
        elif rest is not None:
            options = tuple(FactCase((one,)) for one in (*patterns.values(), rest))
            cases.append(((id(view), f"others {sorted(handled)}"), options))
        if "unevaluatedProperties" in view.words:
            evaluated = collect_evaluated(view, surely=False)
            if not evaluated.all_names and evaluated.patterns <= set(handled):
                fits.append(view.get_part("unevaluatedProperties"))  # type: ignore[arg-type]
    return FactSource(tuple(fits), cases=tuple(cases))


def get_name_source(facts: ValueFacts) -> FactSource:
    """What is known of the name of any property."""
    fits = [part for view in facts.views if (part := view.get_part("propertyNames")) is not None]
    return FactSource(tuple(fits), types=frozenset({"string"}))


def get_item_source(facts: ValueFacts, at: int | None) -> FactSource:
    """What is known of the item at an index, if it is there; with None, of one after all tuple items."""
    fits: list[SchemaView] = []
    spend(3 + sum(1 + (len(view.names("prefixItems")) >> 1) for view in facts.views) + len(facts.values or ()))
    for view in facts.views:
        prefix = view.list_schemas("prefixItems")
        further = view.get_part("items")
        if at is not None and at < len(prefix):
            fits.append(prefix[at])
        elif further is not None:
            fits.append(further)
        elif "unevaluatedItems" in view.words:
            evaluated = collect_evaluated(view, surely=False)
            if not evaluated.all_items and (at is None or at >= evaluated.prefix):
                fits.append(view.get_part("unevaluatedItems"))  # type: ignore[arg-type]
    values: tuple[Json, ...] | None = None
    if facts.values is not None:
        arrays = [one for one in facts.values if isinstance(one, list)]
        longest = longest_tuple(facts)
        values = tuple(item for one in arrays for item in (one[longest:] if at is None else one[at : at + 1]))
    return FactSource(tuple(fits), values=values)


def longest_tuple(facts: ValueFacts) -> int:
    """The count of items that stand at places of their own."""
    tuples = [len(view.names("prefixItems")) for view in facts.views]
    tuples += [collect_evaluated(view, surely=False).prefix for view in facts.views if "unevaluatedItems" in view.words]
    tuples += [len(one) for one in facts.values or () if isinstance(one, list)]
    return max(tuples, default=0)


def most_items(facts: ValueFacts) -> int | None:
    """How many items there are at most, None if that is not known."""
    bounds = [facts.bound("maxItems", upper=True)]
    for view in facts.views:
        further = view.get_part("items")
        if further is not None and further.never:
            bounds.append(len(view.names("prefixItems")))
    if facts.values is not None:
        bounds.append(max((len(one) for one in facts.values if isinstance(one, list)), default=0))
    return min((int(one) for one in bounds if one is not None), default=None)


def least_items(facts: ValueFacts) -> int:
    """How many items there are at least."""
    if facts.values is not None:
        return min((len(one) for one in facts.values if isinstance(one, list)), default=0)
    return int(facts.bound("minItems", upper=False) or 0)
