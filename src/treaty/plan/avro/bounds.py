"""Unrolls recursive readers to a fixed depth, because the columns of a table have one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from treaty.core.limits import AVRO_NESTING, AVRO_TEXT_BYTES
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroFixed,
    AvroMap,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
)


def find_bounded(schema: AvroSchema, depth: int) -> AvroSchema:
    """The schema with every recursive record opened `depth` levels deep; what lies deeper is left out.

    A field whose whole type lies deeper is dropped, of a union the branch. A schema without recursion is unchanged.
    """
    rings = circular(schema)
    if not rings:
        return schema
    return _Opener(schema, rings, depth).run()


def find_walled(schema: AvroSchema) -> AvroSchema:
    """A writer's schema with its recursive records opened `AVRO_NESTING` levels deep; deeper payloads are refused.

    What lies deeper is a fixed of as many bytes as Avro's limits allow, so that a decoder stops there and not when its
    stack is full.
    """
    rings = circular(schema)
    return _Opener(schema, rings, AVRO_NESTING, wall=True).run() if rings else schema


def circular(schema: AvroSchema) -> frozenset[str]:
    """Names of records that contain themselves: those in a ring of uses (Tarjan's strongly connected components)."""
    uses = {full: sorted(_uses(node)) for full, node in schema.names.items()}
    found: set[str] = set()
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: list[str] = []
    inside: set[str] = set()
    for start, first in uses.items():
        work = [(start, iter(first))] if start not in order else []
        while work:
            name, rest = work[-1]
            if name not in order:
                order[name] = lowest[name] = len(order)
                waiting.append(name)
                inside.add(name)
            below = next((one for one in rest if one in uses), None)
            if below is None:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[name])
                if lowest[name] == order[name]:
                    found |= _ring(waiting, inside, name, uses)
            elif below not in order:
                work.append((below, iter(uses[below])))
            elif below in inside:
                lowest[name] = min(lowest[name], order[below])
    return frozenset(found)


def _ring(waiting: list[str], inside: set[str], name: str, uses: Mapping[str, Sequence[str]]) -> set[str]:
    """Take a finished component off the stack; it is a ring if it has several members or uses itself."""
    members = set()
    while name in inside:
        one = waiting.pop()
        members.add(one)
        inside.discard(one)
    return members if len(members) > 1 or name in uses[name] else set()


def _containing(schema: AvroSchema, circular: frozenset[str]) -> set[str]:
    """Names of the records that are one of these, or have one inside at any depth."""
    users: dict[str, list[str]] = {}
    for full, node in schema.names.items():
        for used in _uses(node):
            users.setdefault(used, []).append(full)
    found, waiting = set(circular), list(circular)
    while waiting:
        new = [one for one in users.get(waiting.pop(), ()) if one not in found]
        found.update(new)
        waiting += new
    return found


def _uses(node: NamedType) -> set[str]:
    return (
        set[str]().union(*(_list_inside(field.type) for field in node.fields))
        if isinstance(node, AvroRecord)
        else set()
    )


def _list_inside(node: AvroType) -> set[str]:
    match node:
        case AvroRecord() | AvroReference():
            return {node.full}
        case AvroArray():
            return _list_inside(node.items)
        case AvroMap():
            return _list_inside(node.values)
        case AvroUnion():
            return set[str]().union(*map(_list_inside, node.branches))
    return set()


class _Opener:
    """Copies a schema; a record that is recursive, or has one inside, is called ``n<n>.<its name>`` at level n."""

    def __init__(self, schema: AvroSchema, circular: frozenset[str], depth: int, *, wall: bool = False) -> None:
        self.schema, self.circular, self.depth, self.wall = schema, circular, depth, wall
        self.levelled = _containing(schema, circular)
        self.names: dict[str, NamedType] = {}
        self.level = 0

    def run(self) -> AvroSchema:
        root = self.opened(self.schema.root)
        assert root is not None, "the first level is never too deep"
        return AvroSchema(root, self.names)

    def opened(self, node: AvroType) -> AvroType | None:
        match node:
            case AvroArray():
                items = self.opened(node.items)
                return items and replace(node, items=items)
            case AvroMap():
                values = self.opened(node.values)
                return values and replace(node, values=values)
            case AvroUnion():
                kept = tuple(found for branch in node.branches if (found := self.opened(branch)) is not None)
                useful = any(self._kind(branch) != "null" for branch in kept)
                return AvroUnion(kept) if useful or len(kept) == len(node.branches) else None
            case AvroRecord() | AvroReference():
                return self.named(self.schema.names[node.full])
        return node

    def _kind(self, node: AvroType) -> str:
        return self.names[node.full].kind if isinstance(node, AvroReference) else node.kind

    def named(self, node: NamedType) -> AvroType | None:
        if not isinstance(node, AvroRecord):
            self.names[node.full] = node
            return AvroReference(node.full)
        turns = node.full in self.circular
        if turns and self.level >= self.depth:
            return self.beyond(node) if self.wall else None
        full = f"n{self.level}.{node.full}" if self.level and node.full in self.levelled else node.full
        if full not in self.names:
            self.names[full] = replace(node, full=full)
            self.level += turns
            fields = tuple(kept for field in node.fields if (kept := self.field(field)) is not None)
            self.level -= turns
            self.names[full] = replace(node, full=full, fields=fields)
        return AvroReference(full)

    def beyond(self, node: AvroRecord) -> AvroType:
        full = f"beyond.{node.full}"
        self.names[full] = AvroFixed(full, AVRO_TEXT_BYTES)
        return AvroReference(full)

    def field(self, field: Field) -> Field | None:
        kind = self.opened(field.type)
        if kind is None:
            return None
        cut = (
            isinstance(kind, AvroUnion)
            and isinstance(field.type, AvroUnion)
            and len(kind.branches) < len(field.type.branches)
        )
        return replace(field, type=kind, default=ABSENT if cut and field.default is not None else field.default)
