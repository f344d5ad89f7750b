"""The skipper: validates an Avro payload without building values, because fastavro accepts some invalid payloads.

fastavro reads an index of -1 as the last branch or symbol, reads a boolean of 7 as true, and follows a recursive record
until the process dies. Skipping first costs about as much as decoding, and makes wrong values impossible.
"""

from collections.abc import Callable, Mapping

from treaty.core.limits import AVRO_FREE_VALUES
from treaty.formats.avro.data.free_values import FreeValues, count_allowed
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
)

Skip = Callable[[bytes, int, int], int]
"""A function from payload, position and depth to the position after the value. Raises `MalformedPayloadError`."""
_Step = Callable[[bytes, int, int, list[int]], int]
"""The same for a part of a payload, with the free values that the whole payload may still have."""

MAX_DEPTH = 100
"""The deepest nesting of values in a payload."""


class MalformedPayloadError(ValueError):
    """The payload does not fit the schema."""


def make_skipper(schema: AvroSchema) -> Skip:
    """Return the skipper of a schema."""
    step = _SkipperBuilder(schema).build(schema.root)
    return lambda data, at, depth: step(data, at, depth, [count_allowed(len(data))])


class _SkipperBuilder:
    """Builds skippers; that of a record once, so that recursion ends."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self._records: dict[str, _Step] = {}
        self._free = FreeValues(schema)

    def build(self, node: AvroType) -> _Step:
        match self._schema.resolve(node):
            case AvroUnion(branches):
                return _union_skipper([self.build(branch) for branch in branches])
            case AvroRecord() as record:
                return self._record(record)
            case AvroArray(items):
                return _blocks_skipper(self.build(items), self._free.charge_item(items))
            case AvroMap(values):
                return _blocks_skipper(_entry_skipper(self.build(values)))
            case AvroEnum() as enum:
                return _enum_skipper(len(enum.symbols))
            case AvroFixed() as fixed:
                return _fixed_skipper(fixed.size)
            case AvroPrimitive(kind):
                return _PRIMITIVES[kind]

    def _record(self, definition: AvroRecord) -> _Step:
        step = self._records.get(definition.full)
        if step is not None:
            return step
        fields: list[_Step] = []
        charge = self._free.charge_record(definition)

        def record(data: bytes, at: int, depth: int, left: list[int]) -> int:
            if depth > MAX_DEPTH:
                raise MalformedPayloadError(f"values nested deeper than {MAX_DEPTH} levels")
            if charge:
                _charge(left, charge)
            for skip in fields:
                at = skip(data, at, depth + 1, left)
            return at

        self._records[definition.full] = record
        fields.extend(self.build(field.type) for field in definition.fields)
        return record


def _long(data: bytes, at: int) -> tuple[int, int]:
    """Read a zig-zag varint: value and next position."""
    byte = data[at] if at < len(data) else _refuse_end(at)
    at += 1
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), at
    value, shift = byte & 127, 7
    while True:
        byte = data[at] if at < len(data) else _refuse_end(at)
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
        if shift > 63:
            raise MalformedPayloadError(f"a number of more than 10 bytes at byte {at}")
    if value >> 64:
        raise MalformedPayloadError(f"a number of more than 64 bits at byte {at}")
    return (value >> 1) ^ -(value & 1), at


def _refuse_end(at: int) -> int:
    raise MalformedPayloadError(f"the payload ends at byte {at}, inside a value")


def _skip_null(data: bytes, at: int, depth: int, left: list[int]) -> int:
    return at


def _skip_boolean(data: bytes, at: int, depth: int, left: list[int]) -> int:
    byte = data[at] if at < len(data) else _refuse_end(at)
    if byte > 1:
        raise MalformedPayloadError(f"a boolean of {byte} at byte {at}; 0 and 1 are allowed")
    return at + 1


def _skip_int(data: bytes, at: int, depth: int, left: list[int]) -> int:
    if at < len(data) and data[at] < 128:
        return at + 1
    value, end = _long(data, at)
    if not -(2**31) <= value < 2**31:
        raise MalformedPayloadError(f"an int of {value} at byte {at}; it does not fit 32 bits")
    return end


def _skip_long(data: bytes, at: int, depth: int, left: list[int]) -> int:
    return _long(data, at)[1]


def _skip_bytes(data: bytes, at: int, depth: int, left: list[int]) -> int:
    length, start = _long(data, at)
    end = start + length
    if length < 0 or end > len(data):
        raise MalformedPayloadError(f"a length of {length} at byte {at}; {len(data) - start} bytes are left")
    return end


def _fixed_skipper(size: int) -> _Step:
    def skip(data: bytes, at: int, depth: int, left: list[int]) -> int:
        return at + size if at + size <= len(data) else _refuse_end(len(data))

    return skip


def _enum_skipper(symbols: int) -> _Step:
    def skip(data: bytes, at: int, depth: int, left: list[int]) -> int:
        index, end = _long(data, at)
        if not 0 <= index < symbols:
            raise MalformedPayloadError(f"symbol {index} at byte {at}; the enum has 0 to {symbols - 1}")
        return end

    return skip


def _union_skipper(branches: list[_Step]) -> _Step:
    def skip(data: bytes, at: int, depth: int, left: list[int]) -> int:
        index, start = _long(data, at)
        if not 0 <= index < len(branches):
            raise MalformedPayloadError(f"branch {index} at byte {at}; the union has 0 to {len(branches) - 1}")
        return branches[index](data, start, depth, left)

    return skip


def _entry_skipper(value: _Step) -> _Step:
    def skip(data: bytes, at: int, depth: int, left: list[int]) -> int:
        return value(data, _skip_bytes(data, at, depth, left), depth, left)

    return skip


def _charge(left: list[int], free: int) -> None:
    """Count free values. Raises `MalformedPayloadError` past the limit."""
    left[0] -= free
    if left[0] < 0:
        raise MalformedPayloadError(
            f"more values that take no bytes than the limit AVRO_FREE_VALUES of {AVRO_FREE_VALUES}"
        )


def _blocks_skipper(item: _Step, charge: int = 0) -> _Step:
    """Return the skipper of arrays and maps: blocks of items, each with its count (negative: the size in bytes follows)."""

    def skip(data: bytes, at: int, depth: int, left: list[int]) -> int:
        if depth > MAX_DEPTH:
            raise MalformedPayloadError(f"values nested deeper than {MAX_DEPTH} levels")
        while True:
            count, at = _long(data, at)
            if count == 0:
                return at
            if count < 0:
                count = -count
                _, at = _long(data, at)
            if charge:
                _charge(left, count)
            for _ in range(0 if charge else count):
                at = item(data, at, depth + 1, left)

    return skip


_PRIMITIVES: Mapping[str, _Step] = {
    "null": _skip_null,
    "boolean": _skip_boolean,
    "int": _skip_int,
    "long": _skip_long,
    "float": _fixed_skipper(4),
    "double": _fixed_skipper(8),
    "bytes": _skip_bytes,
    "string": _skip_bytes,
}
