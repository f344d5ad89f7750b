"""Recursive readers cut to a bound: a table's columns nest to a fixed depth."""

from collections.abc import Mapping
from dataclasses import replace

from treaty.formats.avro.model import ABSENT, Array, Field, Map, Named, Record, Reference, Schema, Type, Union


def bounded(schema: Schema, depth: int) -> Schema:
    """The schema with every recursive record opened `depth` levels deep; what lies deeper is left out.

    A field whose whole type lies deeper is dropped, of a union the branch. A schema without recursion is unchanged.
    """
    circular = _circular(schema)
    if not circular:
        return schema
    return _Opener(schema, circular, depth).run()


def _circular(schema: Schema) -> frozenset[str]:
    """Names of records that contain themselves."""
    uses = {full: _uses(node, schema.names) for full, node in schema.names.items()}
    found = set()
    for start, first in uses.items():
        todo, seen = list(first), set[str]()
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += uses.get(name, ())
        if start in seen:
            found.add(start)
    return frozenset(found)


def _uses(node: Type, names: Mapping[str, Named]) -> set[str]:
    match node:
        case Record():
            return set[str]().union(*(_inside(field.type) for field in node.fields))
    return _inside(node)


def _inside(node: Type) -> set[str]:
    match node:
        case Record() | Reference():
            return {node.full}
        case Array():
            return _inside(node.items)
        case Map():
            return _inside(node.values)
        case Union():
            return set[str]().union(*map(_inside, node.branches))
    return set()


class _Opener:
    """Copies a schema; a recursive record at level n is called ``n<n>.<its name>``."""

    def __init__(self, schema: Schema, circular: frozenset[str], depth: int) -> None:
        self.schema, self.circular, self.depth = schema, circular, depth
        self.names: dict[str, Named] = {}
        self.level = 0

    def run(self) -> Schema:
        root = self.opened(self.schema.root)
        assert root is not None, "the first level is never too deep"
        return Schema(root, self.names)

    def opened(self, node: Type) -> Type | None:
        match node:
            case Array():
                items = self.opened(node.items)
                return items and replace(node, items=items)
            case Map():
                values = self.opened(node.values)
                return values and replace(node, values=values)
            case Union():
                kept = tuple(found for branch in node.branches if (found := self.opened(branch)) is not None)
                useful = any(self._kind(branch) != "null" for branch in kept)
                return Union(kept) if useful or len(kept) == len(node.branches) else None
            case Record() | Reference():
                return self.named(self.schema.names[node.full])
        return node

    def _kind(self, node: Type) -> str:
        return self.names[node.full].kind if isinstance(node, Reference) else node.kind

    def named(self, node: Named) -> Type | None:
        if not isinstance(node, Record):
            self.names[node.full] = node
            return Reference(node.full)
        turns = node.full in self.circular
        if turns and self.level >= self.depth:
            return None
        full = f"n{self.level}.{node.full}" if turns and self.level else node.full
        if full not in self.names:
            self.names[full] = replace(node, full=full)
            self.level += turns
            fields = tuple(kept for field in node.fields if (kept := self.field(field)) is not None)
            self.level -= turns
            self.names[full] = replace(node, full=full, fields=fields)
        return Reference(full)

    def field(self, field: Field) -> Field | None:
        kind = self.opened(field.type)
        if kind is None:
            return None
        cut = (
            isinstance(kind, Union) and isinstance(field.type, Union) and len(kind.branches) < len(field.type.branches)
        )
        return replace(field, type=kind, default=ABSENT if cut and field.default is not None else field.default)
