"""Example values of a schema, made from a seed and proved by the validator."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from treaty.formats.jsonschema.canonical import print_value
from treaty.formats.jsonschema.data.example_constraints import (
    ExampleConstraints,
    ImpossibleError,
    collect_constraints,
    is_equal_value,
)
from treaty.formats.jsonschema.data.mutation import decimal, generate_junk, mutate
from treaty.formats.jsonschema.data.pattern import generate_match
from treaty.formats.jsonschema.data.value import get_validator, is_valid
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import get_child
from treaty.formats.seeded_random import SeededRandom

_TRIES = 24
_STEPS = 4_000
_DEEP = 5
_WORDS = ("alder", "birch", "cedar", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "yew", "Übersee", "")
_FORMATS = {
    "date-time": ("2024-05-01T12:30:00Z", "1999-12-31T23:59:59.5+02:00"),
    "date": ("2024-05-01", "1970-01-01"),
    "time": ("12:30:00Z", "23:59:59+01:00"),
    "duration": ("P1D", "PT15M"),
    "email": ("ann@example.org", "b.c@example.com"),
    "idn-email": ("ann@example.org",),
    "hostname": ("example.org", "a.example.com"),
    "idn-hostname": ("example.org",),
    "ipv4": ("192.0.2.1", "198.51.100.7"),
    "ipv6": ("2001:db8::1", "::1"),
    "uri": ("https://example.org/a", "urn:isbn:0451450523"),
    "uri-reference": ("a/b#c", "https://example.org"),
    "iri": ("https://example.org/ä",),
    "uuid": ("f81d4fae-7dec-11d0-a765-00a0c91e6bf6",),
    "json-pointer": ("/a/0",),
    "regex": ("^a+$",),
}


def generate_example(document: JsonSchema, seed: int) -> str:
    """A plausible value of the schema as JSON text, the same for the same seed.

    Raises `ValueError` for a schema that has no value, or none that was found.
    """
    return print_value(generate_sample(document, seed, wild=False))


def generate_sample(document: JsonSchema, seed: int, *, wild: bool = True) -> Json:
    """A valid value of the schema; `wild` ones lie at bounds, have members that the schema does not name, and are changed at random
    as long as they stay valid.

    Raises `ValueError` for a schema that has no value, or none that was found.
    """
    draw = SeededRandom(seed)
    get_validator(document)
    for at in range(_TRIES):
        maker = _ExampleGenerator(document, draw, wild=wild, plain=at > _TRIES // 2)
        try:
            value = maker.make([document.root], 0)
        except ImpossibleError:
            continue
        if is_valid(document, value):
            return mutate(document, value, draw) if wild and draw.chance(60) else value
    raise ValueError(f"no valid value was found in {_TRIES} tries")


@dataclass(slots=True)
class _ExampleGenerator:
    """One try."""

    document: JsonSchema
    draw: SeededRandom
    wild: bool
    plain: bool
    steps: int = 0

    def make(self, nodes: Iterable[SchemaNode], depth: int) -> Json:
        """A value for all these schemas together; whether it is valid, the validator says."""
        self.steps += 1
        if self.steps > _STEPS or depth > 40:
            raise ImpossibleError("too many steps")
        constraints = collect_constraints(self.document, nodes, self.draw, plain=self.plain or depth > _DEEP)
        self.steps += constraints.steps // 10
        if constraints.allowed is not None:
            return self.draw.pick(constraints.allowed)
        kinds = constraints.types if self.wild and self.draw.chance(20) else constraints.assumed_types()
        if depth > _DEEP:
            kinds = tuple(kind for kind in kinds if kind not in ("object", "array")) or kinds
        if len(constraints.types) > 6 and not constraints.words & {"type", "properties"} and self.wild:
            return generate_junk(self.draw)
        kind = self.draw.pick([one for one in kinds if one != "null"] or kinds) if self.draw.chance(85) else None
        match kind or self.draw.pick(kinds):
            case "object":
                return self.object(constraints, depth)
            case "array":
                return self.array(constraints, depth)
            case "string":
                return self.string(constraints)
            case "boolean":
                return self.draw.chance(50)
            case "null":
                return None
            case other:
                return self.number(constraints, is_integer=other == "integer")

    def object(self, constraints: ExampleConstraints, depth: int) -> Json:
        """Required members, some of the others, and where that is too few some that the schema does not name."""
        minimum, maximum = constraints.get_maximum("minProperties", 0), constraints.get_minimum("maxProperties", 1_000)
        share = 0 if depth > _DEEP else self.draw.pick((20, 60, 90)) if self.wild else 80
        members: dict[str, Json] = {}
        names = [name for name in constraints.names() if name in constraints.required or self.draw.chance(share)]
        if len(constraints.required) > _STEPS:
            raise ImpossibleError("too many steps")
        if self.wild and self.draw.chance(30):
            names += [self.draw.pick(("extra", "zz", "a", "b", "x-1"))]
        for held in constraints.get_all("patternProperties", dict):
            assert isinstance(held, dict)
            for _ in range(min(len(held), 3) if depth <= _DEEP else 0):
                if self.draw.chance(60):
                    names.append(self._matching(self.draw.pick(list(held))))
        names += [f"{self.draw.pick(_WORDS[:8])}{at or ''}" for at in range(max(0, min(minimum, 500) - len(names)))]
        if not names and constraints.words & {"additionalProperties"} and not self.draw.chance(30):
            names = [self.draw.pick(_WORDS[:8])]
        waiting = deque(dict.fromkeys((*constraints.required, *names)))
        while waiting:
            name = waiting.popleft()
            if name in members or (name not in constraints.required and len(members) >= maximum):
                continue
            try:
                members[name] = self.make(constraints.list_of_member(name), depth + 1)
            except ImpossibleError:
                if name in constraints.required:
                    raise
                continue
            for word in ("dependencies", "dependentRequired"):
                for held in constraints.get_all(word, dict):
                    needed = held.get(name) if isinstance(held, dict) else None
                    waiting += [one for one in needed if isinstance(one, str)] if isinstance(needed, list) else []
        return members

    def _matching(self, regex: str) -> str:
        try:
            return generate_match(regex, self.draw)
        except (ValueError, IndexError):
            raise ImpossibleError("no text for a pattern") from None

    def array(self, constraints: ExampleConstraints, depth: int) -> Json:
        """As few items as may be where it is deep, a few more elsewhere."""
        minimum, maximum = constraints.get_maximum("minItems", 0), constraints.get_minimum("maxItems", 1_000)
        listed = max(
            (len(members) for word in ("items", "prefixItems") for members in constraints.get_all(word, list)),  # type: ignore[arg-type]  # lists only
            default=0,
        )
        drawn_count = 0 if depth > _DEEP else self.draw.below(4) + (listed if self.draw.chance(60) else 0)
        contained = [node for node in constraints.nodes if isinstance(node.value, dict) and "contains" in node.value]
        count = min(
            max(minimum, drawn_count, constraints.get_maximum("minContains", 1) if contained else 0),
            max(maximum, minimum),
            300,
        )
        unique = any(constraints.get_all("uniqueItems", bool))
        items: list[Json] = []
        for at in range(count):
            extra = (
                [get_child(node, "contains") for node in contained]
                if at < constraints.get_maximum("minContains", 1)
                else []
            )
            for _ in range(10):
                try:
                    item = self.make([*constraints.list_of_item(at), *extra], depth + 1)
                except ImpossibleError:
                    if at < minimum or extra:
                        raise
                    return items
                if not unique or not any(is_equal_value(item, other) for other in items):
                    items.append(item)
                    break
        return items

    def string(self, constraints: ExampleConstraints) -> str:
        """A text of the pattern, the format or the length that is asked for."""
        minimum, maximum = constraints.get_maximum("minLength", 0), constraints.get_minimum("maxLength", 1_000_000)
        for regex in constraints.get_all("pattern", str):
            assert isinstance(regex, str)
            text = self._matching(regex)
            return text if len(text) >= minimum else text + text[-1:] * min(minimum - len(text), 10_000)
        for name in constraints.get_all("format", str):
            if name in _FORMATS and not (self.wild and self.draw.chance(20)):
                return self.draw.pick(_FORMATS[str(name)])
        text = self.draw.pick(_WORDS)
        if self.wild and self.draw.chance(40):
            text = text[:1] * (maximum if maximum <= 200 and self.draw.chance(50) else minimum)
        return (text + "e" * min(max(0, minimum - len(text)), 100_000))[: max(maximum, 0)]

    def number(self, constraints: ExampleConstraints, *, is_integer: bool) -> Json:
        """A number at a bound, beside it, or anywhere between."""
        low, high, step = constraints.bounds()
        if is_integer:
            step = Fraction(step.numerator) if step else Fraction(1)
        grid = step or Fraction(1, self.draw.pick((1, 2, 4, 10, 100)))
        if low is not None and high is not None and not step:
            while grid > (high[0] - low[0]) / 4 > 0:
                grid /= 10
        first = -(-low[0] // grid) if low else (high[0] // grid - 100 if high else -self.draw.pick((0, 100)))
        last = high[0] // grid if high else first + self.draw.pick((10, 200, 10**6))
        if low and low[1] and first * grid == low[0]:
            first += 1
        if high and high[1] and last * grid == high[0]:
            last -= 1
        if first > last:
            raise ImpossibleError("no number lies between the bounds")
        if self.wild and self.draw.chance(40):
            return decimal(self.draw.pick((first, last)) * grid)
        return decimal((first + self.draw.below(min(last - first + 1, 2**40))) * grid)
