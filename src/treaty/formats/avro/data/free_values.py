"""Values that take no bytes of an Avro payload: nulls, records of nothing else, fixed types of size 0, and defaults.

A payload's size bounds all other values. These are charged to a count: that of a payload begins with AVRO_FREE_VALUES, and with
AVRO_FREE_PER_BYTE more for each of its first AVRO_FREE_BYTES bytes. A record that makes few of them and takes bytes itself is not charged.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from treaty.core.limits import AVRO_FREE_BYTES, AVRO_FREE_PER_BYTE, AVRO_FREE_VALUES
from treaty.formats.avro.model import (
    AbsentDefault,
    AvroArray,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
)

FEW = 8
"""Free values of one record that are not charged, if the record takes bytes."""
CONTAINER = 8
"""What a record, list or map counts for beside its parts."""
FEW_DEFAULTS = 1_000
"""Defaults of one record that are not charged, if they are short."""
_CHARACTERS = 32
"""Characters of a default that count as one value."""
_CLAIM = CONTAINER
"""What one item may be charged with in an engine that does not count: it takes a byte, so that no payload gets past the limit."""
_ONCE = AVRO_FREE_PER_BYTE - CONTAINER
"""The same for a record that is no item."""
ALLOWED = f"{AVRO_FREE_VALUES} + {CONTAINER} * z + {AVRO_FREE_PER_BYTE - CONTAINER} * min(z, {AVRO_FREE_BYTES})"
"""`count_allowed` as a line of a program, of a payload of `z` bytes."""


def count_allowed(size: int) -> int:
    """The free values that a payload of so many bytes may have."""
    return AVRO_FREE_VALUES + CONTAINER * size + (AVRO_FREE_PER_BYTE - CONTAINER) * min(size, AVRO_FREE_BYTES)


def weigh_defaults(defaults: Iterable[Any]) -> int:
    """What the defaults of one record count for, which are made again for each value."""
    total, few, waiting = 0, FEW_DEFAULTS, list(defaults)
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            total += len(part) + sum(len(key) // _CHARACTERS for key in part)
            waiting += part.values()
        elif isinstance(part, list | tuple):
            total += len(part)
            waiting += part
        elif isinstance(part, str | bytes):
            total += len(part) // _CHARACTERS
        few -= 1
    return total + max(0, -few)


def weigh_missing(missing: Iterable[Field]) -> int:
    """What the defaults of these fields of a reader, which its writer lacks, count for."""
    return weigh_defaults(each.default for each in missing if not isinstance(each.default, AbsentDefault))


@dataclass(slots=True)
class FreeValues:
    """Counts the free values of the types of one schema."""

    schema: AvroSchema
    _free: dict[str, bool] = field(default_factory=dict)
    _expanded: dict[str, int] = field(default_factory=dict)

    def is_free(self, node: AvroType) -> bool:
        """Whether a value of this type takes no bytes."""
        match self.schema.resolve(node):
            case AvroRecord() as one:
                if one.full not in self._free:
                    self._free[one.full] = False  # of a record inside itself
                    self._free[one.full] = all(self.is_free(part.type) for part in one.fields)
                return self._free[one.full]
            case AvroFixed() as one:
                return one.size == 0
            case AvroPrimitive() as one:
                return one.kind == "null"
        return False

    def charge_record(self, record: AvroRecord, defaults: int = 0) -> int:
        """What each value of a record is charged with; `defaults` is the weight of those that it gets."""
        leaves = sum(self.is_free(one.type) for one in record.fields) + defaults
        return CONTAINER + leaves if self.is_free(record) or leaves > FEW else 0

    def charge_item(self, node: AvroType) -> int:
        """What each item of a list is charged with, beside what its record is."""
        return int(self.is_free(node) and not isinstance(self.schema.resolve(node), AvroRecord))

    def expand(self, node: AvroType) -> int:
        """The most that one value is charged with, up to the next list or map; a record inside itself counts once."""
        match self.schema.resolve(node):
            case AvroRecord() as one:
                if one.full not in self._expanded:
                    self._expanded[one.full] = 0
                    total = self.charge_record(one) + sum(self.expand(part.type) for part in one.fields)
                    self._expanded[one.full] = min(total, 2 * AVRO_FREE_VALUES)
                return self._expanded[one.full]
            case AvroUnion() as one:
                return max((self.expand(part) for part in one.branches), default=0)
        return 0


def claims_much(writer: AvroSchema) -> bool:
    """Whether a small payload of a writer can have very many free values, so that an engine has to count them."""
    free = FreeValues(writer)
    if free.expand(writer.root) > AVRO_FREE_VALUES:
        return True
    return any(free.is_free(one) or free.expand(one) > _CLAIM for one in _list_repeated(writer))


def gives_much(reader: AvroSchema) -> bool:
    """Whether a record of a reader has defaults of so many values, or characters, that an engine has to count them; fewer suffice for
    a record in lists and maps.
    """
    repeated = _list_inside(reader, [part for node in _list_nodes(reader) for part in _list_items(node)])
    return any(
        weigh_defaults(one.default for one in record.fields if not isinstance(one.default, AbsentDefault))
        > (_CLAIM if record.full in repeated else _ONCE)
        for record in reader.names.values()
        if isinstance(record, AvroRecord)
    )


def _list_nodes(schema: AvroSchema) -> list[AvroType]:
    """The root, and the types of all fields."""
    return [
        schema.root,
        *(part.type for named in schema.names.values() if isinstance(named, AvroRecord) for part in named.fields),
    ]


def _list_items(node: AvroType) -> list[AvroType]:
    """The types of items and of values of maps in a type, records left unopened."""
    match node:
        case AvroArray():
            return [node.items, *_list_items(node.items)]
        case AvroMap():
            return [node.values, *_list_items(node.values)]
        case AvroUnion():
            return [item for branch in node.branches for item in _list_items(branch)]
    return []


def _list_inside(schema: AvroSchema, waiting: list[AvroType]) -> set[str]:
    """The full names of all records in types."""
    names: set[str] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, AvroArray | AvroMap):
            continue  # their items are among the types
        resolved = schema.resolve(node)
        if isinstance(resolved, AvroUnion):
            waiting += resolved.branches
        elif isinstance(resolved, AvroRecord) and resolved.full not in names:
            names.add(resolved.full)
            waiting += [part.type for part in resolved.fields]
    return names


def _list_repeated(schema: AvroSchema) -> list[AvroType]:
    """The types of which one value may have many: items, values of maps, and records inside themselves."""
    types: list[AvroType] = []

    def visit(node: AvroType, add: Callable[[AvroType], None]) -> None:
        match node:
            case AvroArray():
                add(node.items)
                visit(node.items, add)
            case AvroMap():
                visit(node.values, add)
                add(AvroUnion((node.values,)))  # its key takes a byte
            case AvroUnion():
                for branch in node.branches:
                    visit(branch, add)

    visit(schema.root, types.append)
    for named in schema.names.values():
        if isinstance(named, AvroRecord):
            types.append(AvroUnion((named,)))  # it may be inside itself
            for part in named.fields:
                visit(part.type, types.append)
    return types
