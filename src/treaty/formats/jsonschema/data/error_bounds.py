"""How much a validator may write about the faults of a value, and how often it compares, both known before it begins.

Each error of the library quotes its part of the value, the keyword of the schema and two paths, and an error of a choice holds those of
all branches. It makes all errors at once, or the first one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from treaty.core.limits import VALUE_COMPARISONS, VIOLATIONS_CHARACTERS
from treaty.formats.jsonschema.bundle import list_nodes
from treaty.formats.jsonschema.cycles import list_in_place_schemas
from treaty.formats.jsonschema.data.cost import count_values, list_parts
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode

Reported = Literal["all", "first", "none"]
"""The errors that may be asked for: all, the first one, or none."""
ALL: Reported = "all"
FIRST: Reported = "first"
NONE: Reported = "none"
_ERROR = 100
"""Characters that an error counts for beside what it quotes."""
_PLACES = 100_000
"""Pairs of a schema and a part of a value that are looked at."""
_QUOTED = frozenset({"enum", "const", "pattern", "required", "dependencies", "dependentRequired", "not", "format"})
_CHOICES = ("anyOf", "oneOf")


def count_compared(document: JsonSchema) -> int:
    """The members of all enums with which the library compares one after the other: it finds texts among texts at once."""
    return sum(_count_members(node) for node in list_nodes(document))


def _count_members(node: SchemaNode) -> int:
    held = node.value.get("enum") if isinstance(node.value, dict) else None
    return len(held) if isinstance(held, list) and not all(isinstance(one, str) for one in held) else 0


def compares_much(document: JsonSchema, compared: int, value: Json) -> bool:
    """Whether checking a value takes more comparisons than VALUE_COMPARISONS; `compared` is what `count_compared` returned."""
    if not compared or compared * count_values(value) <= VALUE_COMPARISONS:
        return False
    total = 0
    for places, (node, _, _, _) in enumerate(_walk(document, value)):
        total += _count_members(node)
        if total > VALUE_COMPARISONS or places > _PLACES:
            return True
    return False


def find_reported(document: JsonSchema, value: Json) -> Reported:
    """The errors about a value that together have no more characters than VIOLATIONS_CHARACTERS, for sure."""
    sizes = _Sizes()
    total, in_choices, largest = 0, 0, 0
    for places, (node, part, path, is_in_choice) in enumerate(_walk(document, value)):
        size = _ERROR + path + sizes.quote(node) + sizes.measure(part)
        total += size * _count_errors(node)
        in_choices += size * _count_errors(node) if is_in_choice else 0
        largest = max(largest, size)
        if in_choices > VIOLATIONS_CHARACTERS or places > _PLACES:
            return NONE
    if total <= VIOLATIONS_CHARACTERS:
        return ALL
    return FIRST if in_choices + largest <= 2 * VIOLATIONS_CHARACTERS else NONE


def _count_errors(node: SchemaNode) -> int:
    """The most errors of one schema about one part of a value, beside those of the schemas inside it."""
    if not isinstance(node.value, dict):
        return 1
    required, needed = node.value.get("required"), node.value.get("dependentRequired", node.value.get("dependencies"))
    count = len(node.value)
    count += len(required) if isinstance(required, list) else 0
    if isinstance(needed, dict):
        count += sum(len(one) for one in needed.values() if isinstance(one, list))
    return count


def _walk(document: JsonSchema, value: Json) -> Iterable[tuple[SchemaNode, Json, int, bool]]:
    """Every schema with every part of a value that it may check, the characters of both paths, and whether it is in a choice."""
    waiting: list[tuple[SchemaNode, Json, int, bool]] = [(document.root, value, 0, False)]
    while waiting:
        node, part, path, is_in_choice = waiting.pop()
        yield node, part, path, is_in_choice
        chooses = is_in_choice or (isinstance(node.value, dict) and any(word in node.value for word in _CHOICES))
        waiting += ((inner, part, path + 20, chooses) for inner in list_in_place_schemas(document, node))
        if isinstance(part, dict):
            for sign, inner in list_parts(node):
                if sign[0] == "p" and sign[1:] in part:
                    waiting.append((inner, part[sign[1:]], path + 2 * len(sign) + 20, is_in_choice))
                elif sign == "*":
                    longer = path + 20 + len(inner.place) - len(node.place)
                    waiting += ((inner, member, longer + len(name), is_in_choice) for name, member in part.items())
        elif isinstance(part, list):
            for sign, inner in list_parts(node):
                if sign == "*":
                    waiting += ((inner, item, path + 40, is_in_choice) for item in part)
                elif sign[0] == "i" and int(sign[1:]) < len(part):
                    waiting.append((inner, part[int(sign[1:])], path + 40, is_in_choice))


@dataclass(slots=True)
class _Sizes:
    """Characters of values as JSON, each container measured once."""

    _measured: dict[int, int] = field(default_factory=dict)
    _quoted: dict[tuple[int, str], int] = field(default_factory=dict)

    def quote(self, node: SchemaNode) -> int:
        """What an error may quote of a schema."""
        size = self._quoted.get(node.key)
        if size is None:
            held = node.value if isinstance(node.value, dict) else {}
            size = sum(self.measure(one) for word, one in held.items() if word in _QUOTED)
            self._quoted[node.key] = size
        return size

    def measure(self, value: Json) -> int:
        """About the characters of a value."""
        if not isinstance(value, dict | list):
            return len(value) + 2 if isinstance(value, str) else 8
        size = self._measured.get(id(value))
        if size is not None:
            return size
        waiting: list[Json] = [value]
        while waiting:
            current = waiting[-1]
            assert isinstance(current, dict | list)
            parts = list(current.values()) if isinstance(current, dict) else current
            unknown = [part for part in parts if isinstance(part, dict | list) and id(part) not in self._measured]
            if unknown:
                waiting += unknown
                continue
            waiting.pop()
            names = sum(map(len, current)) + 4 * len(current) if isinstance(current, dict) else 0
            self._measured[id(current)] = 2 + 2 * len(current) + names + sum(map(self.measure, parts))
        return self._measured[id(value)]
