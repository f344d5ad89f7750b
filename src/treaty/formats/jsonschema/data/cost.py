"""How many steps a check takes, known before it begins: references can make few words mean many."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from treaty.core.limits import VALUE_STEPS
from treaty.formats.jsonschema.cycles import list_in_place_schemas
from treaty.formats.jsonschema.drafts import HOLDING
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import get_child, ignores_siblings

_PAIRS = 300_000
"""Pairs of a schema and a place that are looked at when steps are counted one by one."""
_OUTSIDE = frozenset({"definitions", "$defs", "contentSchema"})

Key = tuple[int, str]
Edge = tuple[str, SchemaNode]
"""A way from a schema to one that checks a part of its value: ``p`` and the name, ``i`` and the index, or ``*``."""


def list_parts(node: SchemaNode) -> Iterator[Edge]:
    """The schemas that check members and items."""
    value = node.value
    if not isinstance(value, dict) or ignores_siblings(node):
        return
    for word, row in HOLDING[node.draft.number].items():
        if row.here or word in _OUTSIDE or word not in value:
            continue
        held = value[word]
        if isinstance(held, list):
            yield from ((f"i{at}", get_child(node, word, at)) for at in range(len(held)))
        elif row.holds == "map" and isinstance(held, dict):
            sign = "p" if word == "properties" else "*"
            yield from ((f"{sign}{name}" if sign == "p" else sign, get_child(node, word, name)) for name in held)
        elif isinstance(held, dict | bool):
            yield "*", get_child(node, word)


def measure_weight(document: JsonSchema) -> int | None:
    """The most steps that checking takes for one place of a value; None if it may grow with the value's depth."""
    return _Weighing(document).weigh()


@dataclass(slots=True)
class _Frame:
    node: SchemaNode
    edges: list[Edge]
    at: int = 0


@dataclass(slots=True)
class _Weighing:
    """Tarjan's search for circles (1972), with the weight of each circle when it is complete."""

    document: JsonSchema
    order: dict[Key, int] = field(default_factory=dict)
    low: dict[Key, int] = field(default_factory=dict)
    open: list[_Frame] = field(default_factory=list)
    home: dict[Key, int] = field(default_factory=dict)
    weights: list[int] = field(default_factory=list)

    def weigh(self) -> int | None:
        """The weight of the root, or None."""
        way = [self._enter(self.document.root)]
        while way:
            frame = way[-1]
            if frame.at < len(frame.edges):
                inner = frame.edges[frame.at][1]
                frame.at += 1
                if inner.key not in self.order:
                    way.append(self._enter(inner))
                elif inner.key not in self.home:
                    self.low[frame.node.key] = min(self.low[frame.node.key], self.order[inner.key])
                continue
            way.pop()
            key = frame.node.key
            if way:
                outer = way[-1].node.key
                self.low[outer] = min(self.low[outer], self.low[key])
            if self.low[key] == self.order[key] and not self._close(key):
                return None
        total = self.weights[self.home[self.document.root.key]]
        return total if total <= VALUE_STEPS else None

    def _enter(self, node: SchemaNode) -> _Frame:
        self.order[node.key] = self.low[node.key] = len(self.order)
        frame = _Frame(node, [*(("", one) for one in list_in_place_schemas(self.document, node)), *list_parts(node)])
        self.open.append(frame)
        return frame

    def _close(self, key: Key) -> bool:
        """Weigh a complete circle; False if it may pass a place of the value more than once."""
        inside: list[_Frame] = []
        while not inside or inside[-1].node.key != key:
            inside.append(self.open.pop())
        for frame in inside:
            self.home[frame.node.key] = len(self.weights)
        total = 0
        for frame in inside:
            back = []
            total += 1 + _names(frame.node.value)
            for sign, inner in frame.edges:
                if self.home[inner.key] == len(self.weights):
                    back.append(sign)
                else:
                    total += self.weights[self.home[inner.key]]
            if len(back) > 1 and ("" in back or "*" in back or len(set(back)) < len(back)):
                return False
        self.weights.append(min(total, 2 * VALUE_STEPS))
        return True


def _names(value: Json) -> int:
    """Names that may be missing, each of which is a fault of its own."""
    held = value.get("required") if isinstance(value, dict) else None
    return len(held) if isinstance(held, list) else 0


def count_values(value: Json) -> int:
    """Values inside a value, itself included."""
    count, waiting = 0, [value]
    while waiting:
        part = waiting.pop()
        count += 1
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return count


def count_steps(document: JsonSchema, value: Json) -> int | None:
    """Steps that checking this value takes at most, counted one by one; None if they are too many to count or to take."""
    counted: dict[tuple[Key, int], int] = {}
    ids: dict[tuple[int, str], int] = {}
    open_: set[tuple[Key, int]] = set()
    way = [_CostStep(document.root, value, 0, iter(_list_inner(document, document.root, value, 0, ids)))]
    open_.add(way[0].key)
    while way:
        step = way[-1]
        following = next(step.rest, None)
        if following is None:
            way.pop()
            open_.discard(step.key)
            counted[step.key] = step.cost
            if way:
                way[-1].cost += step.cost
            if step.cost > VALUE_STEPS or len(counted) > _PAIRS:
                return None
            continue
        node, held, place = following
        cost = counted.get((node.key, place))
        if cost is not None:
            step.cost += cost
        elif (node.key, place) in open_:
            return None
        else:
            way.append(_CostStep(node, held, place, iter(_list_inner(document, node, held, place, ids))))
            open_.add(way[-1].key)
    return counted[document.root.key, 0]


@dataclass(slots=True)
class _CostStep:
    node: SchemaNode
    value: Json
    place: int
    rest: Iterator[tuple[SchemaNode, Json, int]]
    cost: int = 1

    @property
    def key(self) -> tuple[Key, int]:
        return self.node.key, self.place


def _list_inner(
    document: JsonSchema, node: SchemaNode, value: Json, place: int, ids: dict[tuple[int, str], int]
) -> Iterator[tuple[SchemaNode, Json, int]]:
    """What a schema asks of a value and its parts; patterns count for every member, which is the most they can."""
    for schema in list_in_place_schemas(document, node):
        yield schema, value, place
    if not isinstance(value, dict | list):
        return
    for sign, schema in list_parts(node):
        if isinstance(value, dict):
            if sign[0] == "p" and sign[1:] in value:
                yield schema, value[sign[1:]], ids.setdefault((place, sign[1:]), len(ids) + 1)
            elif sign == "*":
                for name, held in value.items():
                    yield schema, held, ids.setdefault((place, name), len(ids) + 1)
        elif sign == "*":
            for at, held in enumerate(value):
                yield schema, held, ids.setdefault((place, str(at)), len(ids) + 1)
        elif sign[0] == "i" and int(sign[1:]) < len(value):
            yield schema, value[int(sign[1:])], ids.setdefault((place, sign[1:]), len(ids) + 1)
