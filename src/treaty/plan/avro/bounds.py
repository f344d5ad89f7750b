"""Unrolls recursive readers to a fixed depth, because the columns of a table have one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from treaty.core.limits import AVRO_NESTING, AVRO_TEXT_BYTES
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    is_null,
)
from treaty.formats.avro.resolution import DEEPER, DEEPER_MARK, LEVEL
from treaty.plan.avro.columns import has_one_column
from treaty.plan.avro.logical_types import PLAIN


def find_bounded(schema: AvroSchema, depth: int, *, keeps_deeper: bool = False) -> AvroSchema:
    """The schema with every recursive record opened `depth` levels deep; what lies deeper is left out.

    A field whose whole type lies deeper is dropped, of a union the branch. A schema without recursion is unchanged.

    With `keeps_deeper` such a branch stays, behind the others, with records of no values (see `is_deeper`). A
    value of it is then read as nothing, and never as another branch.
    """
    rings = find_circular(schema)
    if not rings:
        return schema
    return _Opener(schema, rings, depth, keeps_deeper=keeps_deeper).run()


def is_deeper(node: AvroType) -> bool:
    """Whether a branch of a bounded schema stands for values beyond the depth alone."""
    match node:
        case AvroReference():
            return node.full.startswith(DEEPER)
        case AvroArray():
            return is_deeper(node.items)
        case AvroMap():
            return is_deeper(node.values)
        case AvroUnion():
            non_null = [branch for branch in node.branches if not is_null(branch)]
            return bool(non_null) and all(map(is_deeper, non_null))
    return False


def find_walled(schema: AvroSchema) -> AvroSchema:
    """A writer's schema with its recursive records opened `AVRO_NESTING` levels deep; deeper payloads are refused.

    What lies deeper is a fixed of as many bytes as Avro's limits allow, so that a decoder stops there and not when its
    stack is full.
    """
    rings = find_circular(schema)
    return _Opener(schema, rings, AVRO_NESTING, wall=True).run() if rings else schema


def find_circular(schema: AvroSchema) -> frozenset[str]:
    """Names of records that contain themselves: those in a ring of uses (Tarjan's strongly connected components)."""
    uses = {full: sorted(_uses(node)) for full, node in schema.names.items()}
    ring_names: set[str] = set()
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
                    ring_names |= _ring(waiting, inside, name, uses)
            elif below not in order:
                work.append((below, iter(uses[below])))
            elif below in inside:
                lowest[name] = min(lowest[name], order[below])
    return frozenset(ring_names)


def _ring(waiting: list[str], inside: set[str], name: str, uses: Mapping[str, Sequence[str]]) -> set[str]:
    """Take a finished component off the stack; it is a ring if it has several members or uses itself."""
    members = set()
    while name in inside:
        member = waiting.pop()
        members.add(member)
        inside.discard(member)
    return members if len(members) > 1 or name in uses[name] else set()


def _find_containing(schema: AvroSchema, circular: frozenset[str]) -> set[str]:
    """Names of the records that are one of these, or have one inside at any depth."""
    users: dict[str, list[str]] = {}
    for full, node in schema.names.items():
        for used in _uses(node):
            users.setdefault(used, []).append(full)
    containing, waiting = set(circular), list(circular)
    while waiting:
        new = [one for one in users.get(waiting.pop(), ()) if one not in containing]
        containing.update(new)
        waiting += new
    return containing


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
    """Copies a schema; a record that is recursive, or has one inside, has the number of its level before its name."""

    def __init__(
        self,
        schema: AvroSchema,
        circular: frozenset[str],
        depth: int,
        *,
        wall: bool = False,
        keeps_deeper: bool = False,
    ) -> None:
        self.schema, self.circular, self.depth, self.wall = schema, circular, depth, wall
        self.keeps_deeper = keeps_deeper
        self.levelled = _find_containing(schema, circular)
        self.names: dict[str, NamedType] = {}
        self.level = 0

    def run(self) -> AvroSchema:
        root = self.open_type(self.schema.root)
        assert root is not None, "the first level is never too deep"
        return AvroSchema(root, self.names)

    def open_type(self, node: AvroType) -> AvroType | None:
        match node:
            case AvroArray():
                items = self.open_type(node.items)
                return items and replace(node, items=items)
            case AvroMap():
                values = self.open_type(node.values)
                return values and replace(node, values=values)
            case AvroUnion():
                return self.union(node)
            case AvroRecord() | AvroReference():
                return self.open_named(self.schema.names[node.full])
        return node

    def union(self, node: AvroUnion) -> AvroType | None:
        """The branches that are no deeper; None where null alone is left of several."""
        pairs = [(branch, self.open_type(branch)) for branch in node.branches]
        kept_branches = tuple(found for _, found in pairs if found is not None)
        if len(kept_branches) == len(pairs):
            return AvroUnion(kept_branches)
        if all(map(is_null, kept_branches)):
            return None
        if self.keeps_deeper:
            if has_one_column(
                AvroUnion(kept_branches), self.names
            ):  # of which no value has a logical type, which members would have
                kept_branches = tuple(
                    replace(branch, props=(*branch.props, (PLAIN, True)))
                    if isinstance(branch, AvroPrimitive)
                    else branch
                    for branch in kept_branches
                )
            kept_branches += tuple(self.hollow_out(branch) for branch, counterpart in pairs if counterpart is None)
        return AvroUnion(kept_branches)

    def hollow_out(self, node: AvroType) -> AvroType:
        """A type that lies deeper, with records of no values: it takes all that the type takes, and holds nothing."""
        match node:
            case AvroArray():
                return replace(node, items=self.hollow_out(node.items))
            case AvroMap():
                return replace(node, values=self.hollow_out(node.values))
            case AvroUnion():
                return AvroUnion(tuple(map(self.hollow_out, node.branches)))
            case AvroRecord() | AvroReference():
                named = self.schema.names[node.full]
                if not isinstance(named, AvroRecord):
                    return self.open_named(named) or node
                full = f"{DEEPER}{node.full}"
                # No type of a writer has this field by itself, so none is taken for this record by its fields.
                self.names[full] = AvroRecord(full, (Field(DEEPER_MARK, AvroPrimitive("null")),), None, named.aliases)
                return AvroReference(full)
        return node

    def open_named(self, node: NamedType) -> AvroType | None:
        if not isinstance(node, AvroRecord):
            self.names[node.full] = node
            return AvroReference(node.full)
        turns = node.full in self.circular
        if turns and self.level >= self.depth:
            return self.wall_off(node) if self.wall else None
        full = f"{LEVEL}{self.level}.{node.full}" if self.level and node.full in self.levelled else node.full
        if full not in self.names:
            self.names[full] = replace(node, full=full)
            self.level += turns
            fields = tuple(kept for field in node.fields if (kept := self.field(field)) is not None)
            self.level -= turns
            self.names[full] = replace(node, full=full, fields=fields)
        return AvroReference(full)

    def wall_off(self, node: AvroRecord) -> AvroType:
        full = f"beyond.{node.full}"
        self.names[full] = AvroFixed(full, AVRO_TEXT_BYTES)
        return AvroReference(full)

    def field(self, field: Field) -> Field | None:
        kind = self.open_type(field.type)
        if kind is None:
            return None
        cut = (
            isinstance(kind, AvroUnion)
            and isinstance(field.type, AvroUnion)
            and sum(not is_deeper(one) for one in kind.branches) < len(field.type.branches)
        )
        return replace(field, type=kind, default=ABSENT if cut and field.default is not None else field.default)
