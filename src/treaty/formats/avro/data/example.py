"""Example values of an Avro schema in JSON encoding: plausible, finite, the same for the same seed."""

from treaty.core.limits import EXAMPLE_BYTES, EXAMPLE_VALUES, SCHEMA_DEPTH
from treaty.formats.avro.data.finite import Heights, height_of, heights
from treaty.formats.avro.data.leaves import leaf
from treaty.formats.avro.data.value import branch_name
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
)
from treaty.formats.json_printer import Json, print_json
from treaty.formats.seeded_random import SeededRandom

_FREE_DEPTH = 8
"""Levels after which an example takes the shortest way to its end."""
_FREE_VALUES = 300
"""Values after which an example takes the shortest way to its end."""


class _TooLargeError(Exception):
    """The value grows past a limit."""


def generate_example(schema: AvroSchema, seed: int) -> str:
    """A value of the schema as JSON text, the same for the same seed.

    Raises `ValueError` if the schema has no finite value, or none within the limits of nesting and of values.
    """
    known = heights(schema)
    if height_of(schema.root, known) is None:
        message = "the schema has no finite value"
        raise ValueError(message)
    for free in (True, False):
        try:
            return print_json(_Maker(schema, known, SeededRandom(seed), free=free).value(schema.root, 1))
        except _TooLargeError:
            continue
    message = f"the schema has no value of at most {SCHEMA_DEPTH} levels and {EXAMPLE_VALUES} values that is found"
    raise ValueError(message)


class _Maker:
    """Makes one value; with `free` it may take any branch and fill lists until it is large."""

    __slots__ = ("_count", "_draw", "_finite", "_free", "_known", "_schema")

    def __init__(self, schema: AvroSchema, known: Heights, draw: SeededRandom, *, free: bool) -> None:
        self._schema = schema
        self._known = known
        self._draw = draw
        self._finite: dict[int, tuple[list[AvroType], AvroType]] = {}
        self._free = free
        self._count = 0

    def value(self, node: AvroType, depth: int) -> Json:
        """A value of a type; one frame of Python's stack a level."""
        self._count += 1
        if depth > SCHEMA_DEPTH or self._count > EXAMPLE_VALUES:
            raise _TooLargeError
        found = self._schema.resolve(node)
        match found:
            case AvroUnion():
                branch = self._schema.resolve(self._branch(found, depth))
                if branch.kind == "null":
                    return None
                return {branch_name(branch): self.value(branch, depth + 1)}
            case AvroRecord():
                members: dict[str, Json] = {}
                for field in found.fields:
                    members[field.name] = self.value(field.type, depth + 1)
                return members
            case AvroArray(items):
                listed: list[Json] = []
                for _ in range(self._length(items, depth)):
                    listed.append(self.value(items, depth + 1))
                return listed
            case AvroMap(values):
                mapped: dict[str, Json] = {}
                for at in range(self._length(values, depth)):
                    mapped[f"{self._draw.pick(_KEYS)}{at}"] = self.value(values, depth + 1)
                return mapped
            case AvroEnum(symbols=symbols):
                return self._draw.pick(symbols)
        if isinstance(found, AvroFixed):
            self._count += found.size // 64
            if found.size > EXAMPLE_BYTES:
                raise _TooLargeError
        return leaf(found, self._draw)

    def _wide(self, depth: int) -> bool:
        return self._free and depth <= _FREE_DEPTH and self._count <= _FREE_VALUES

    def _branch(self, union: AvroUnion, depth: int) -> AvroType:
        if id(union) not in self._finite:
            found = [(height, one) for one in union.branches if (height := height_of(one, self._known)) is not None]
            shortest = min(found, key=lambda pair: pair[0])[1]
            self._finite[id(union)] = [one for _, one in found], shortest
        every, shortest = self._finite[id(union)]
        return self._draw.pick(every) if self._wide(depth) else shortest

    def _length(self, inside: AvroType, depth: int) -> int:
        if not self._wide(depth) or height_of(inside, self._known) is None:
            return 0
        return self._draw.below(4)


_KEYS = ("alpha", "beta", "gamma", "delta", "köln", "")
"""How the keys of a map begin; a number follows."""
