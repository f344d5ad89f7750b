"""The interpreter of Avro schema resolution: nested closures for any pair of schemas, with error messages. Slower than
a compiled program.

The skipper (`treaty.client.serializers.avro_skipper`) has validated the payload, so lengths and indexes are not checked
again. Types are matched and values converted by the same functions as in compiled programs.
"""

import threading
from collections.abc import Callable, Mapping
from itertools import repeat
from struct import Struct
from typing import Any

from treaty.client.compiled.conversions import UnmatchedError, check_roots, conversion_of
from treaty.client.compiled.defaults import default_maker
from treaty.client.compiled.logical import LossError, find_logical_key, name_branch
from treaty.core.limits import AVRO_FREE_VALUES
from treaty.formats.avro.data.free_values import count_allowed, weigh_missing
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    ResolvedType,
    is_null,
)
from treaty.formats.avro.resolution import AvroResolution, find_contested, may_read, pair_fields

ReadStep = Callable[[bytes, int], tuple[Any, int]]
"""A function from payload and position to value and next position. Raises `UnmatchedError` or another `ValueError`."""
_FLOAT, _DOUBLE = Struct("<f"), Struct("<d")


def make_interpreter(writer: AvroSchema, reader: AvroSchema, *, tagged: bool = False) -> ReadStep:
    """Return the function that reads payloads of a writer as values of a reader; `tagged` as in `reader_program`."""
    interpreter = _Interpreter(writer, reader, tagged=tagged)
    try:
        check_roots(writer, reader)
    except UnmatchedError as error:
        return _refuse(str(error))
    step = interpreter.resolve(writer.root, reader.root)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        interpreter.count.left = count_allowed(len(data))
        return step(data, at)

    return read


class ThreadCount(threading.local):
    """Free values that the payload which a thread reads may still have."""

    left = 0


class _Interpreter:
    """Builds the functions; each pair of named types once, so that recursion ends."""

    def __init__(self, writer: AvroSchema, reader: AvroSchema, *, tagged: bool) -> None:
        self._writer = writer
        self._reader = reader
        self._tagged = tagged
        self._resolution = AvroResolution(writer, reader)
        self._records: dict[tuple[str, str], ReadStep] = {}
        self._skips: dict[str, ReadStep] = {}
        self.count = ThreadCount()

    def resolve(self, writer: AvroType, reader: AvroType) -> ReadStep:
        """Return the function that reads a type of the writer as one of the reader."""
        old, new = self._writer.resolve(writer), self._reader.resolve(reader)
        if isinstance(new, AvroUnion):
            places = self._resolution.find_places(writer, new)
            parts = old.branches if isinstance(old, AvroUnion) else (writer,)
            steps = [self._branch(part, new, place) for part, place in zip(parts, places, strict=True)]
            return _choice(steps) if isinstance(old, AvroUnion) else steps[0]
        if isinstance(old, AvroUnion):
            return _choice([self.resolve(part, reader) for part in old.branches])
        if not may_read(old, new):
            return _refuse(f"the writer's {_name(old)} is not readable as the reader's {_name(new)}")
        match old, new:
            case (AvroRecord(), AvroRecord()):
                return self._record(old, new)
            case (AvroArray(), AvroArray()):
                return _array(self.resolve(old.items, new.items))
            case (AvroMap(), AvroMap()):
                return _map(self.resolve(old.values, new.values))
            case (AvroEnum(), AvroEnum()):
                return _enum(old, new)
        assert isinstance(old, AvroPrimitive | AvroFixed)
        assert isinstance(new, AvroPrimitive | AvroFixed)
        return _scalar(old, new)

    def _branch(self, writer: AvroType, union: AvroUnion, place: int | None) -> ReadStep:
        """Return the function that reads a type as a branch of the reader's union; None if no branch matches."""
        if place is None:
            old, branches = self._writer.resolve(writer), [self._reader.resolve(part) for part in union.branches]
            return _refuse(
                f"the writer's {_name(old)} matches no branch of the reader's union of {_list_branches(branches)}"
            )
        branch = union.branches[place]
        step = self.resolve(writer, branch)
        if not self._tagged or is_null(branch) or sum(not is_null(part) for part in union.branches) < 2:
            return step
        name = name_branch(self._reader.resolve(branch))

        def tag(data: bytes, at: int) -> tuple[Any, int]:
            value, at = step(data, at)
            return (name, value), at

        return tag

    def _record(self, old: AvroRecord, new: AvroRecord) -> ReadStep:
        key = (old.full, new.full)
        if key in self._records:
            return self._records[key]
        pairs = pair_fields(old, new)
        filled = {field.name for field in pairs.values()}
        missing = [field for field in new.fields if field.name not in filled]
        if (message := _find_obstacle(old, new, missing)) is not None:
            return self._records.setdefault(key, _refuse(message))
        steps: list[tuple[ReadStep, str | None]] = []
        defaults = [] if self._tagged else [(field.name, self._default(field)) for field in missing]
        order = [field.name for field in new.fields]
        count, charge = self.count, 0 if self._tagged else weigh_missing(missing)

        def record(data: bytes, at: int) -> tuple[Any, int]:
            values = {}
            if charge:
                count.left -= charge
                if count.left < 0:
                    raise ValueError(f"more values of defaults than the limit AVRO_FREE_VALUES of {AVRO_FREE_VALUES}")
            for step, name in steps:
                value, at = step(data, at)
                if name is not None:
                    values[name] = value
            for name, make in defaults:
                values[name] = make()
            return {name: values[name] for name in order if name in values}, at

        self._records[key] = record
        steps.extend(
            (self.resolve(field.type, pairs[field.name].type), pairs[field.name].name)
            if field.name in pairs
            else (self.skip(field.type), None)
            for field in old.fields
        )
        return record

    def _default(self, field: Field) -> Callable[[], Any]:
        try:
            return default_maker(field, self._reader)
        except (ValueError, ArithmeticError, TypeError, LookupError, AttributeError, RecursionError) as error:
            message = f"the default of the reader's field {field.name} is not a value of its type: {error}"

            def refuse() -> Any:
                raise UnmatchedError(message)

            return refuse

    def skip(self, writer: AvroType) -> ReadStep:
        """Return the function that skips a value of the writer."""
        match self._writer.resolve(writer):
            case AvroUnion(branches):
                return _choice([self.skip(branch) for branch in branches])
            case AvroRecord() as record:
                return self._skip_record(record)
            case AvroArray(items):
                return _array(self.skip(items))
            case AvroMap(values):
                return _map(self.skip(values))
            case AvroEnum():
                return _SCALARS["long"]
            case AvroFixed() as fixed:
                return _fixed_step(fixed.size)
            case AvroPrimitive(kind):
                return _SCALARS["bytes" if kind == "string" else kind]

    def _skip_record(self, writer: AvroRecord) -> ReadStep:
        if writer.full not in self._skips:
            steps: list[ReadStep] = []

            def record(data: bytes, at: int) -> tuple[Any, int]:
                for step in steps:
                    _, at = step(data, at)
                return None, at

            self._skips[writer.full] = record
            steps.extend(self.skip(field.type) for field in writer.fields)
        return self._skips[writer.full]


def _find_obstacle(old: AvroRecord, new: AvroRecord, missing: list[Field]) -> str | None:
    """Say why no value of one record is read as the other; None where one may be."""
    lacking = next((field.name for field in missing if field.default is ABSENT), None)
    if lacking is not None:
        return f"the writer's {old.full} has no field {lacking}, and the reader's field has no default"
    contested = find_contested(old, new)
    if contested is None:
        return None
    name, rivals = contested
    return f"several fields of the writer's {old.full} are the reader's field {name}: {', '.join(rivals)}; take an alias away"


def _name(node: ResolvedType) -> str:
    if isinstance(node, AvroRecord | AvroEnum | AvroFixed):
        return f"{node.kind} {node.full}"
    return find_logical_key(node) or node.kind


def _list_branches(branches: list[ResolvedType]) -> str:
    more = f" and {len(branches) - 5} more" if len(branches) > 5 else ""
    return ", ".join(map(_name, branches[:5])) + more


def _refuse(message: str) -> ReadStep:
    def refuse(data: bytes, at: int) -> tuple[Any, int]:
        raise UnmatchedError(message)

    return refuse


def _choice(steps: list[ReadStep]) -> ReadStep:
    def choose(data: bytes, at: int) -> tuple[Any, int]:
        index, at = _long(data, at)
        return steps[index](data, at)

    return choose


def _blocks(data: bytes, at: int) -> tuple[int, int]:
    count, at = _long(data, at)
    return (-count, _long(data, at)[1]) if count < 0 else (count, at)


def _array(step: ReadStep) -> ReadStep:
    def array(data: bytes, at: int) -> tuple[Any, int]:
        items: list[Any] = []
        count, at = _blocks(data, at)
        while count:
            for _ in repeat(None, count):
                value, at = step(data, at)
                items.append(value)
            count, at = _blocks(data, at)
        return items, at

    return array


def _map(step: ReadStep) -> ReadStep:
    def entries(data: bytes, at: int) -> tuple[Any, int]:
        mapping: dict[str, Any] = {}
        count, at = _blocks(data, at)
        while count:
            for _ in repeat(None, count):
                key, at = _string(data, at)
                mapping[key], at = step(data, at)
            count, at = _blocks(data, at)
        return mapping, at

    return entries


def _enum(writer: AvroEnum, reader: AvroEnum) -> ReadStep:
    symbols = frozenset(reader.symbols)

    def enum(data: bytes, at: int) -> tuple[Any, int]:
        index, at = _long(data, at)
        symbol = writer.symbols[index]
        if symbol not in symbols:
            if reader.default is None:
                raise UnmatchedError(f"the reader's {_name(reader)} has no symbol {symbol}, and no default")
            symbol = reader.default
        return symbol, at

    return enum


def _scalar(writer: AvroPrimitive | AvroFixed, reader: AvroPrimitive | AvroFixed) -> ReadStep:
    step = _fixed_step(writer.size) if isinstance(writer, AvroFixed) else _SCALARS[writer.kind]
    try:
        convert = conversion_of(writer, reader)
    except UnmatchedError as error:
        return _refuse(f"the writer's {error}")
    if convert is None:
        return step
    function, more = convert

    def scalar(data: bytes, at: int) -> tuple[Any, int]:
        value, at = step(data, at)
        try:
            return function(value, *more), at
        except (ValueError, ArithmeticError, TypeError) as error:
            if isinstance(error, LossError):
                raise
            raise ValueError(f"a {_name(writer)} is no {_name(reader)}: {error}") from error

    return scalar


def _long(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return (value >> 1) ^ -(value & 1), at
        shift += 7


def _null(data: bytes, at: int) -> tuple[Any, int]:
    return None, at


def _boolean(data: bytes, at: int) -> tuple[Any, int]:
    return data[at] == 1, at + 1


def _float(data: bytes, at: int) -> tuple[Any, int]:
    return _FLOAT.unpack_from(data, at)[0], at + 4


def _double(data: bytes, at: int) -> tuple[Any, int]:
    return _DOUBLE.unpack_from(data, at)[0], at + 8


def _bytes(data: bytes, at: int) -> tuple[Any, int]:
    length, at = _long(data, at)
    return bytes(data[at : at + length]), at + length


def _string(data: bytes, at: int) -> tuple[str, int]:
    value, at = _bytes(data, at)
    try:
        return value.decode(), at
    except UnicodeDecodeError as error:
        raise ValueError(f"a string is no UTF-8: {error.reason} at byte {at - len(value) + error.start}") from None


def _fixed_step(size: int) -> ReadStep:
    return lambda data, at: (bytes(data[at : at + size]), at + size)


_SCALARS: Mapping[str, ReadStep] = {
    "null": _null,
    "boolean": _boolean,
    "int": _long,
    "long": _long,
    "float": _float,
    "double": _double,
    "bytes": _bytes,
    "string": _string,
}
