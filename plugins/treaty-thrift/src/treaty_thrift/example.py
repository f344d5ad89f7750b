"""Values as JSON texts: examples from a seed, and the faults of values that others wrote."""

import json
import math
import string
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from treaty.core.finding import Diagnostic
from treaty.core.limits import EXAMPLE_VALUES, VALUE_BYTES
from treaty.formats.budget import spend
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_pointer import find_positions
from treaty.formats.json_text import read_json
from treaty.formats.seeded_random import SeededRandom
from treaty_thrift.model import NUMBERS, Container, Enum, Primitive, Record, ThriftSchema, Type, resolve_type
from treaty_thrift.shapes import MisfitError
from treaty_thrift.values import ValueShapes
from treaty_thrift.writers import BinaryWriter

OPENED = 4
"""Levels of records to which fields are set that may be left out."""
Key = tuple[bytes, str]


def check_value(schema: ThriftSchema, text: str) -> tuple[Diagnostic, ...]:
    """The first fault of a JSON value, with its place; none if it is a value of the root.

    A record is an object, an enum the name or number of a symbol, bytes are characters up to U+00FF, and the keys of a map are
    texts; a map whose keys are records or containers is an array of objects with ``key`` and ``value``.
    """
    try:
        value: Any = read_json(text, VALUE_BYTES)
    except InvalidSchemaError as wrong:
        return wrong.faults
    try:
        ValueShapes().of_root(schema).write(BinaryWriter(), value)
    except MisfitError as wrong:
        line, column = find_positions(text, {wrong.path})[wrong.path]
        return (Diagnostic("VALUE_MISFIT", wrong.path, wrong.message, "a value of the field's type", line, column),)
    except ValueError as wrong:
        return (Diagnostic("ROOT_MISSING", "", str(wrong), "a schema with a record", 1, 1),)
    return ()


def generate_example(schema: ThriftSchema, seed: int) -> str:
    """A value of the root as JSON text, the same for the same seed. Raises `ValueError` where there is none."""
    root = schema.root
    if root is None:
        raise ValueError("the schema has no struct, union or exception")
    generator = _ExampleGenerator(SeededRandom(seed), _find_ranks(schema))
    try:
        return json.dumps(generator.record(schema, root, OPENED), ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise ValueError("each value of the schema has too many levels") from None


def _find_ranks(schema: ThriftSchema) -> dict[Key, float]:
    """For each record how many levels its smallest value has; infinite where it has none."""
    records: dict[Key, tuple[ThriftSchema, Record]] = {}
    left: list[tuple[ThriftSchema, Type]] = []
    containers: set[tuple[bytes, Container]] = set()

    def add(home: ThriftSchema, record: Record) -> None:
        if (home.digest, record.name) not in records:
            records[home.digest, record.name] = home, record
            left.extend((home, field.type) for field in record.fields)

    assert schema.root is not None
    add(schema, schema.root)
    while left:
        resolved = resolve_type(*left.pop())
        if isinstance(resolved.type, Record):
            add(resolved.schema, resolved.type)
        elif isinstance(resolved.type, Container) and (resolved.schema.digest, resolved.type) not in containers:
            containers.add((resolved.schema.digest, resolved.type))
            left.extend((resolved.schema, part) for part in resolved.type.parts)
    return _rank_records(records)


def _rank_records(records: dict[Key, tuple[ThriftSchema, Record]]) -> dict[Key, float]:
    """The levels of each record, the smallest first, so that each is looked at once: a union has one more than the smallest of
    its fields, a struct one more than the largest that it needs.
    """
    ranks: dict[Key, float] = dict.fromkeys(records, math.inf)
    open_: dict[Key, int] = {}
    needing: dict[Key, list[Key]] = {}
    ready: deque[tuple[Key, int]] = deque()
    for key, (home, record) in records.items():
        union = record.kind == "union"
        types = [resolve_type(home, field.type) for field in record.fields if union or field.requiredness == "required"]
        spend(1 + len(types))
        inner = [
            (resolved.schema.digest, resolved.type.name) for resolved in types if isinstance(resolved.type, Record)
        ]
        others = [resolved for resolved in types if not isinstance(resolved.type, Record)]
        void = [resolved for resolved in others if isinstance(resolved.type, Enum) and not resolved.type.symbols]
        open_[key] = 1 if union else len(inner) + len(void)
        for record_key in inner:
            needing.setdefault(record_key, []).append(key)
        if (len(others) > len(void)) if union else not open_[key]:
            open_[key] = 0
            ready.append((key, 1))
    while ready:
        key, rank = ready.popleft()
        ranks[key] = rank
        for outer in needing.pop(key, ()):
            open_[outer] -= 1
            if open_[outer] == 0:
                ready.append((outer, rank + 1))
    return ranks


def rank_of(home: ThriftSchema, type_: Type, ranks: dict[Key, float]) -> float:
    """Levels of the smallest value of a type; a container may be empty."""
    resolved = resolve_type(home, type_)
    if isinstance(resolved.type, Record):
        return ranks[resolved.schema.digest, resolved.type.name]
    return math.inf if isinstance(resolved.type, Enum) and not resolved.type.symbols else 0


@dataclass(slots=True)
class _ExampleGenerator:
    random: SeededRandom
    ranks: dict[Key, float]
    count: int = field(default=0)

    def record(self, schema: ThriftSchema, record: Record, left: int) -> dict[str, Any]:
        """A value of a record; with no levels left only what it must have."""
        if self.ranks[schema.digest, record.name] == math.inf:
            raise ValueError(f"{record.name} has no finite value")
        if record.kind == "union":
            by_rank = sorted(record.fields, key=lambda field: rank_of(schema, field.type, self.ranks))
            able = [field for field in by_rank if rank_of(schema, field.type, self.ranks) < math.inf]
            chosen = self.random.pick(able) if left > 0 else able[0]
            return {chosen.name: self.value(schema, chosen.type, left - 1)}
        return dict(self._members(schema, record, left))

    def _members(self, schema: ThriftSchema, record: Record, left: int) -> Iterator[tuple[str, Any]]:
        for member in record.fields:
            is_finite = rank_of(schema, member.type, self.ranks) < math.inf
            if member.requiredness == "required" or (left > 0 and is_finite and self.random.chance(75)):
                yield member.name, self.value(schema, member.type, left - 1)

    def value(self, schema: ThriftSchema, type_: Type, left: int) -> Any:
        """A value of a type."""
        self.count += 1
        if self.count > EXAMPLE_VALUES:
            raise ValueError(f"an example has more than {EXAMPLE_VALUES} values")
        resolved = resolve_type(schema, type_)
        match resolved.type:
            case Primitive(name):
                return self._primitive(name)
            case Enum(symbols=symbols):
                return self.random.pick(symbols).name
            case Record():
                return self.record(resolved.schema, resolved.type, left)
        return self._container(resolved.schema, resolved.type, left)

    def _container(self, schema: ThriftSchema, type_: Container, left: int) -> Any:
        finite = all(rank_of(schema, part, self.ranks) < math.inf for part in type_.parts)
        rows = [[self.value(schema, part, left - 1) for part in type_.parts] for _ in range(self._length(left, finite))]
        if type_.kind == "list":
            return [row[0] for row in rows]
        if type_.kind == "set":
            return list({json.dumps(row[0]): row[0] for row in rows}.values())
        key = resolve_type(schema, type_.parts[0]).type
        if isinstance(key, Container | Record):
            return [{"key": key, "value": value} for key, value in rows]
        return {_print_key(key): value for key, value in rows}

    def _length(self, left: int, finite: bool) -> int:  # noqa: FBT001 - a fact of the type, not a switch
        return self.random.below(4) if left > 0 and finite else 0

    def _primitive(self, name: str) -> Any:
        if name in NUMBERS:
            bits = self.random.pick((3, 7, NUMBERS[name] - 1))
            return self.random.below(1 << bits) * self.random.pick((1, -1))
        if name == "bool":
            return self.random.chance(50)
        if name == "double":
            return (self.random.below(2_000_001) - 1_000_000) / self.random.pick((1, 4, 1000))
        letters = string.ascii_lowercase if name == "string" else "".join(map(chr, range(256)))
        return "".join(self.random.pick(letters) for _ in range(self.random.below(12)))


def _print_key(key: Any) -> str:
    return key if isinstance(key, str) else json.dumps(key)
