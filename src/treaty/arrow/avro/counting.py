"""What fastavro can't be given: a few bytes can claim thousands of millions of nulls, and records nested without end.

The first would fill the memory, the second ends the process. Every other hostile length ends where the bytes end. Only
writers with items without bytes, or with records that contain themselves, are walked through first.
"""

from collections.abc import Callable

from treaty.core.limits import AVRO_ITEMS, AVRO_NESTING
from treaty.formats.avro.model import Array, Enum, Fixed, Map, Primitive, Record, Schema, Type, Union
from treaty.plan.avro.bounds import circular

SIZES = {"float": 4, "double": 8, "boolean": 1, "null": 0}


class UncountableError(ValueError):
    """The payload ends before its value does, holds more items without bytes than AVRO_ITEMS, or nests deeper than AVRO_NESTING."""


def counter(writer: Schema) -> Callable[[bytes], bool] | None:
    """A function that says whether a payload stays within the limit; None for a writer that needs none."""
    rings = circular(writer)
    if not rings and not any(_free(writer, one.items) for one in _arrays(writer)):
        return None

    def within(payload: bytes) -> bool:
        try:
            _Walk(writer, payload, rings).skip(writer.root)
        except (UncountableError, IndexError, RecursionError):
            return False
        return True

    return within


def _arrays(schema: Schema) -> list[Array]:
    found: list[Array] = []
    todo: list[Type] = [schema.root, *schema.names.values()]
    while todo:
        match todo.pop():
            case Array() as one:
                found.append(one)
                todo.append(one.items)
            case Map(values):
                todo.append(values)
            case Union(branches):
                todo += branches
            case Record() as one:
                todo += [field.type for field in one.fields]
    return found


def _free(schema: Schema, node: Type) -> bool:
    """Whether a value of this type may take no bytes."""
    match schema.resolve(node):
        case Record() as one:
            return all(_free(schema, field.type) for field in one.fields)
        case Fixed() as one:
            return one.size == 0
        case Primitive() as one:
            return one.kind == "null"
    return False


class _Walk:
    """Goes over a payload without making values."""

    def __init__(self, schema: Schema, data: bytes, rings: frozenset[str]) -> None:
        self.rings = rings
        self.schema, self.data, self.at, self.left, self.depth = schema, data, 0, AVRO_ITEMS, 0

    def skip(self, node: Type) -> None:
        match self.schema.resolve(node):
            case Record() as one:
                turns = one.full in self.rings
                self.depth += turns
                if self.depth > AVRO_NESTING:
                    raise UncountableError
                for field in one.fields:
                    self.skip(field.type)
                self.depth -= turns
            case Fixed() as one:
                self.over(one.size)
            case Enum():
                self.long()
            case Union() as one:
                place = self.long()
                if not 0 <= place < len(one.branches):
                    raise UncountableError
                self.skip(one.branches[place])
            case Array() as one:
                self.blocks(one.items, keys=False)
            case Map() as one:
                self.blocks(one.values, keys=True)
            case Primitive() as one:
                self.primitive(one.kind)

    def primitive(self, kind: str) -> None:
        if kind in SIZES:
            self.over(SIZES[kind])
        elif kind in {"string", "bytes"}:
            self.over(self.long())
        else:
            self.long()

    def blocks(self, items: Type, *, keys: bool) -> None:
        free = not keys and _free(self.schema, items)
        while count := self.long():
            if count < 0:
                self.long()  # the bytes of the block, which fastavro does not look at either
                count = -count
            if free:
                self.left -= count
                if self.left < 0:
                    raise UncountableError
                continue
            for _ in range(count):
                if keys:
                    self.over(self.long())
                self.skip(items)

    def over(self, size: int) -> None:
        self.at += size
        if size < 0 or self.at > len(self.data):
            raise UncountableError

    def long(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
            shift += 7
            if shift > 63:
                raise UncountableError
