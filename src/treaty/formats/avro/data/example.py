"""Example values of an Avro schema in JSON encoding: plausible, finite, the same for the same seed."""

from collections import deque
from collections.abc import Callable, Mapping

from treaty.core.limits import EXAMPLE_BYTES, EXAMPLE_VALUES, SCHEMA_DEPTH
from treaty.formats.avro.data.value import branch_name
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    NamedType,
    ResolvedType,
)
from treaty.formats.avro.normal_form import get_logical_type
from treaty.formats.json_text import Json, print_json
from treaty.formats.seeded_random import SeededRandom

Heights = Mapping[str, int]
"""By full name the levels of records that the shallowest value has; types without a finite value are not in it."""


def measure_heights(schema: AvroSchema) -> Heights:
    """The heights of all named types, in linear time.

    Arrays and maps may be empty, so they have a value whatever they hold; an enum without symbols has none.
    """
    heights: dict[str, int] = {}
    open_fields: dict[str, int] = {}
    users: dict[str, list[tuple[str, int]]] = {}
    ready: deque[tuple[str, int]] = deque()
    for full, node in schema.names.items():
        if isinstance(node, AvroRecord):
            needs = [names for names in (_list_needed_names(field.type) for field in node.fields) if names is not None]
            open_fields[full] = len(needs)
            for at, names in enumerate(needs):
                for name in names:
                    users.setdefault(name, []).append((full, at))
        if _is_ready(node, open_fields.get(full, 0)):
            ready.append((full, 0))
    met: set[tuple[str, int]] = set()
    while ready:  # in the order of heights, so the first word on a field is the lowest one
        full, height = ready.popleft()
        heights[full] = height
        for user in users.get(full, ()):
            if user not in met:
                met.add(user)
                open_fields[user[0]] -= 1
                if not open_fields[user[0]]:
                    ready.append((user[0], height + 1))
    return heights


def _is_ready(node: NamedType, needs: int) -> bool:
    return bool(node.symbols) if isinstance(node, AvroEnum) else not needs


def _list_needed_names(node: AvroType) -> frozenset[str] | None:
    """Names of which one must have a value for a type to have one; None where none is needed."""
    branches = node.branches if isinstance(node, AvroUnion) else (node,)
    names = [branch.full for branch in branches if isinstance(branch, AvroReference | AvroRecord | AvroEnum)]
    return None if len(names) < len(branches) else frozenset(names)


def get_height(node: AvroType, heights: Heights) -> int | None:
    """The height of a type, None where it has no finite value."""
    if isinstance(node, AvroUnion):
        branch_heights = [one for one in (get_height(branch, heights) for branch in node.branches) if one is not None]
        return min(branch_heights, default=None)
    return heights.get(node.full) if isinstance(node, AvroReference | AvroRecord | AvroEnum) else 0


_WORDS = ("north", "river", "amber", "Grüße", "a b", "", "7", 'say "hi"', "東京", "quartz", "line\nline")
_DAY = 86_400
_FIRST, _LAST = 946_684_800, 2_051_222_400
"""Seconds of the years 2000 to 2034."""


def generate_leaf(node: ResolvedType, draw: SeededRandom) -> Json:
    """A value of a primitive or fixed type."""
    if not isinstance(node, AvroPrimitive | AvroFixed):
        message = f"a {node.kind} has parts"
        raise TypeError(message)
    logical = get_logical_type(node) if node.props else None
    if logical == "decimal":
        return _text(_decimal(node, draw))
    if isinstance(node, AvroFixed):
        return _text(_FIXED[logical](draw) if logical in _FIXED else _bytes(draw, node.size))
    return _LOGICAL[logical](draw) if logical in _LOGICAL else _PLAIN[node.kind](draw)


def _text(data: bytes) -> str:
    """Bytes as Avro's JSON encoding has them."""
    return data.decode("latin-1")


def _bytes(draw: SeededRandom, length: int) -> bytes:
    return bytes(draw.below(256) for _ in range(length))


def _integer(bits: int) -> Callable[[SeededRandom], int]:
    """Small numbers as a rule, now and then the least or the greatest."""

    def draw_integer(draw: SeededRandom) -> int:
        if draw.chance(10):
            return draw.pick((-(1 << bits - 1), (1 << bits - 1) - 1))
        return draw.below(2_000) - (500 if draw.chance(30) else 0)

    return draw_integer


def _float(draw: SeededRandom) -> float:
    """Quarters, which 32 bits hold exactly."""
    return (draw.below(8_000) - 2_000) / 4


def _moment(units: int) -> Callable[[SeededRandom], int]:
    """An instant in so many parts of a second."""
    return lambda draw: (_FIRST + draw.below(_LAST - _FIRST)) * units + draw.below(units)


def _time(units: int) -> Callable[[SeededRandom], int]:
    return lambda draw: draw.below(_DAY * units)


def _uuid(draw: SeededRandom) -> bytes:
    """Sixteen bytes of a random UUID (RFC 9562, version 4)."""
    data = bytearray(_bytes(draw, 16))
    data[6] = data[6] & 0x0F | 0x40
    data[8] = data[8] & 0x3F | 0x80
    return bytes(data)


def _uuid_text(draw: SeededRandom) -> str:
    digits = _uuid(draw).hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _duration(draw: SeededRandom) -> bytes:
    """Months, days and milliseconds, each four bytes, the least significant first."""
    return b"".join(draw.below(bound).to_bytes(4, "little") for bound in (24, 31, _DAY * 1_000))


def _decimal(node: AvroPrimitive | AvroFixed, draw: SeededRandom) -> bytes:
    """An unscaled number of at most the precision's digits in two's complement, the most significant byte first."""
    precision = dict(node.props)["precision"]
    digits = min(precision, 12) if isinstance(precision, int) else 1
    number = draw.below(10**digits) * (-1 if draw.chance(25) else 1)
    size = node.size if isinstance(node, AvroFixed) else (number.bit_length() // 8) + 1
    return number.to_bytes(size, "big", signed=True)


def _big_decimal(draw: SeededRandom) -> str:
    """Java's encoding: the unscaled number as Avro bytes, then the scale as an Avro int."""
    number, scale = draw.below(1_000_000), draw.below(5)
    data = number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    return _text(bytes((2 * len(data),)) + data + bytes((2 * scale,)))


_PLAIN: Mapping[str, Callable[[SeededRandom], Json]] = {
    "null": lambda _: None,
    "boolean": lambda draw: draw.chance(50),
    "int": _integer(32),
    "long": _integer(64),
    "float": _float,
    "double": _float,
    "bytes": lambda draw: _text(_bytes(draw, draw.below(6))),
    "string": lambda draw: draw.pick(_WORDS),
}
_LOGICAL: Mapping[str | None, Callable[[SeededRandom], Json]] = {
    "date": lambda draw: (_FIRST + draw.below(_LAST - _FIRST)) // _DAY,
    "time-millis": _time(1_000),
    "time-micros": _time(1_000_000),
    "timestamp-millis": _moment(1_000),
    "timestamp-micros": _moment(1_000_000),
    "timestamp-nanos": _moment(1_000_000_000),
    "local-timestamp-millis": _moment(1_000),
    "local-timestamp-micros": _moment(1_000_000),
    "local-timestamp-nanos": _moment(1_000_000_000),
    "uuid": _uuid_text,
    "big-decimal": _big_decimal,
}
_FIXED: Mapping[str | None, Callable[[SeededRandom], bytes]] = {"uuid": _uuid, "duration": _duration}


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
    heights = measure_heights(schema)
    if get_height(schema.root, heights) is None:
        message = "the schema has no finite value"
        raise ValueError(message)
    for free in (True, False):
        try:
            return print_json(_ExampleGenerator(schema, heights, SeededRandom(seed), free=free).value(schema.root, 1))
        except _TooLargeError:
            continue
    message = f"the schema has no value of at most {SCHEMA_DEPTH} levels and {EXAMPLE_VALUES} values that is found"
    raise ValueError(message)


class _ExampleGenerator:
    """Makes one value; with `free` it may take any branch and fill lists until it is large."""

    __slots__ = ("_count", "_draw", "_finite", "_free", "_known", "_schema")

    def __init__(self, schema: AvroSchema, heights: Heights, draw: SeededRandom, *, free: bool) -> None:
        self._schema = schema
        self._known = heights
        self._draw = draw
        self._finite: dict[int, tuple[list[AvroType], AvroType]] = {}
        self._free = free
        self._count = 0

    def value(self, node: AvroType, depth: int) -> Json:
        """A value of a type; one frame of Python's stack a level."""
        self._count += 1
        if depth > SCHEMA_DEPTH or self._count > EXAMPLE_VALUES:
            raise _TooLargeError
        resolved = self._schema.resolve(node)
        match resolved:
            case AvroUnion():
                branch = self._schema.resolve(self._branch(resolved, depth))
                if branch.kind == "null":
                    return None
                return {branch_name(branch): self.value(branch, depth + 1)}
            case AvroRecord():
                members: dict[str, Json] = {}
                for field in resolved.fields:
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
        if isinstance(resolved, AvroFixed):
            self._count += resolved.size // 64
            if resolved.size > EXAMPLE_BYTES:
                raise _TooLargeError
        return generate_leaf(resolved, self._draw)

    def _has_room(self, depth: int) -> bool:
        return self._free and depth <= _FREE_DEPTH and self._count <= _FREE_VALUES

    def _branch(self, union: AvroUnion, depth: int) -> AvroType:
        if id(union) not in self._finite:
            finite = [(height, one) for one in union.branches if (height := get_height(one, self._known)) is not None]
            shortest = min(finite, key=lambda pair: pair[0])[1]
            self._finite[id(union)] = [one for _, one in finite], shortest
        every, shortest = self._finite[id(union)]
        return self._draw.pick(every) if self._has_room(depth) else shortest

    def _length(self, inside: AvroType, depth: int) -> int:
        if not self._has_room(depth) or get_height(inside, self._known) is None:
            return 0
        return self._draw.below(4)


_KEYS = ("alpha", "beta", "gamma", "delta", "köln", "")
"""How the keys of a map begin; a number follows."""
