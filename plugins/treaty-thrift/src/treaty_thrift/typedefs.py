"""Typedefs of one text: which lead to themselves, and how deep their containers are, in one pass over all of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from treaty.formats.budget import spend
from treaty_thrift.model import NAME_STEPS, Container, Named, ThriftSchema, Type, Typedef


def list_names(type_: Type) -> Iterator[tuple[str, int]]:
    """The names in a type with the containers around each; an empty name stands for a primitive."""
    left = [(type_, 0)]
    while left:
        part_type, levels = left.pop()
        if isinstance(part_type, Container):
            left += ((part, levels + 1) for part in part_type.parts)
        else:
            yield (part_type.name if isinstance(part_type, Named) else ""), levels


def count_levels(schema: ThriftSchema, type_: Type) -> int:
    """Containers inside each other in a type, with those that its typedefs bring; the typedefs are measured already."""
    return max(levels + _depth(schema, name) for name, levels in list_names(type_))


def _depth(schema: ThriftSchema, name: str) -> int:
    own = schema.depths.get(name)
    if own is not None:
        return own
    prefix, _, rest = name.partition(".")
    outer = schema.prefixes.get(prefix) if rest else None
    return 0 if outer is None else outer.depths.get(rest, 0)


def measure_typedefs(schema: ThriftSchema) -> set[str]:
    """Note the depth of each typedef in `schema.depths`; returns the names of those that lead to themselves.

    They lead there through containers too, whose values would have no end.
    """
    walk = _TypedefWalk(schema)
    for name in schema.definitions:
        if name not in walk.order:
            walk.visit(name)
    return walk.circular


@dataclass(slots=True)
class _TypedefWalk:
    """Strongly connected components of the graph of typedefs by Tarjan's algorithm (1972), without recursion."""

    schema: ThriftSchema
    order: dict[str, int] = field(default_factory=dict)
    low: dict[str, int] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    closed: set[str] = field(default_factory=set)
    circular: set[str] = field(default_factory=set)

    def visit(self, root: str) -> None:
        """Look at a definition and all typedefs that it leads to, each after those that it names."""
        waiting = [(root, self._open(root))]
        while waiting:
            name, targets = waiting[-1]
            target = next(targets, None)
            if target is None:
                waiting.pop()
                self._close(name)
                if waiting:
                    outer = waiting[-1][0]
                    self.low[outer] = min(self.low[outer], self.low[name])
            elif target not in self.order:
                waiting.append((target, self._open(target)))
            elif target not in self.closed:
                self.low[name] = min(self.low[name], self.order[target])
                if target == name:
                    self.circular.add(name)

    def _open(self, name: str) -> Iterator[str]:
        """Begin with a definition; the typedefs of the own text that it names, if it is one itself."""
        self.order[name] = self.low[name] = len(self.order)
        self.pending.append(name)
        definition = self.schema.definitions[name]
        names = list_names(definition.type) if isinstance(definition, Typedef) else ()
        return (target for target, _ in names if self._is_typedef(target))

    def _is_typedef(self, name: str) -> bool:
        spend(NAME_STEPS)
        return isinstance(self.schema.definitions.get(name), Typedef)

    def _close(self, name: str) -> None:
        """All that a definition names is measured, and so is it; perhaps it completes a circle."""
        definition = self.schema.definitions[name]
        if isinstance(definition, Typedef):
            self.schema.depths[name] = count_levels(self.schema, definition.type)
        if self.low[name] < self.order[name]:
            return
        inside = [self.pending.pop()]
        while inside[-1] != name:
            inside.append(self.pending.pop())
        self.closed.update(inside)
        if len(inside) > 1:
            self.circular.update(inside)
