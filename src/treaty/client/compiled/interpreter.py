"""The interpreter of Avro schema resolution: nested closures for any pair of schemas, with error messages. Slower than
a compiled program.

The skipper (`treaty.client.serializers.avro_skipper`) has validated the payload, so lengths and indexes are not checked
again. Types are matched and values converted by the same functions as in compiled programs.
"""

from collections.abc import Callable, Mapping
from itertools import repeat
from struct import Struct
from typing import Any

from treaty.client.compiled.conversions import conversion_of
from treaty.client.compiled.defaults import default_maker
from treaty.client.compiled.free_types import ThreadCount, weigh_missing
from treaty.client.compiled.logical import LossError
from treaty.client.compiled.matches import RECORDS, SchemaMatcher, UnmatchedError, pair_fields
from treaty.client.compiled.names import NAMED, branch_of, find_definition, kind_of, logical_of
from treaty.core.limits import AVRO_FREE_VALUES
from treaty.formats.avro.data.free_values import count_allowed

ReadStep = Callable[[bytes, int], tuple[Any, int]]
"""A function from payload and position to value and next position. Raises `UnmatchedError` or another `ValueError`."""
Parsed = tuple[Any, Mapping[str, Any]]
"""A schema parsed by fastavro, and its named types."""
_FLOAT, _DOUBLE = Struct("<f"), Struct("<d")


def make_interpreter(writer: Parsed, reader: Parsed, *, tagged: bool = False) -> ReadStep:
    """Return the function that reads payloads of a writer as values of a reader; `tagged` as in `resolver_program`."""
    interpreter = _Interpreter(writer[1], reader[1], tagged=tagged)
    step = interpreter.resolve(writer[0], reader[0])

    def read(data: bytes, at: int) -> tuple[Any, int]:
        interpreter.count.left = count_allowed(len(data))
        return step(data, at)

    return read


class _Interpreter:
    """Builds the functions; each pair of named types once, so that recursion ends."""

    def __init__(self, written: Mapping[str, Any], readable: Mapping[str, Any], *, tagged: bool) -> None:
        self._written = written
        self._wanted = readable
        self._tagged = tagged
        self._matcher = SchemaMatcher(written, readable)
        self._records: dict[tuple[str, str], ReadStep] = {}
        self._skips: dict[str, ReadStep] = {}
        self.count = ThreadCount()

    def resolve(self, writer: Any, reader: Any) -> ReadStep:
        """Return the function that reads a type of the writer as one of the reader."""
        writer, reader = find_definition(writer, self._written), find_definition(reader, self._wanted)
        if isinstance(writer, list):
            places = range(len(writer)) if writer is reader else self._matcher.find_places(writer, reader)
            return _choice([self._branch(each, reader, at) for each, at in zip(writer, places, strict=True)])
        if isinstance(reader, list):
            return self._branch(writer, reader, self._matcher.find_branch(writer, reader))
        if not self._matcher.is_match(writer, reader):
            return _refuse(f"the writer's {_name(writer)} is not readable as the reader's {_name(reader)}")
        match kind_of(writer):
            case "record" | "error":
                return self._record(writer, reader)
            case "array":
                return _array(self.resolve(writer["items"], reader["items"]))
            case "map":
                return _map(self.resolve(writer["values"], reader["values"]))
            case "enum":
                return _enum(writer, reader)
        return _scalar(writer, reader)

    def _branch(self, writer: Any, reader: Any, at: int | None) -> ReadStep:
        """Return the function that reads a type as a branch of the reader's union; None if no branch matches."""
        if not isinstance(reader, list):
            return self.resolve(writer, reader)
        if at is None:
            writer = find_definition(writer, self._written)
            return _refuse(
                f"the writer's {_name(writer)} matches no branch of the reader's union of {_list_branches(reader)}"
            )
        step = self.resolve(writer, reader[at])
        if not self._tagged or reader[at] == "null" or len([each for each in reader if each != "null"]) < 2:
            return step
        name = branch_of(find_definition(reader[at], self._wanted))

        def tag(data: bytes, at: int) -> tuple[Any, int]:
            value, at = step(data, at)
            return (name, value), at

        return tag

    def _record(self, writer: Any, reader: Any) -> ReadStep:
        key = (str(writer["name"]), str(reader["name"]))
        if key in self._records:
            return self._records[key]
        pairs, missing = pair_fields(writer, reader)
        lacking = next((field["name"] for field in missing if "default" not in field), None)
        if lacking is not None:
            refuse = _refuse(f"the writer's {key[0]} has no field {lacking}, and the reader's field has no default")
            return self._records.setdefault(key, refuse)
        steps: list[tuple[ReadStep, str | None]] = []
        defaults = [] if self._tagged else [(field["name"], self._default(field)) for field in missing]
        order = [field["name"] for field in reader["fields"]]
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
            (self.skip(field["type"]), None)
            if target is None
            else (self.resolve(field["type"], target["type"]), target["name"])
            for field, target in pairs
        )
        return record

    def _default(self, field: Any) -> Callable[[], Any]:
        try:
            return default_maker(field, self._wanted)
        except (ValueError, ArithmeticError, TypeError, LookupError, AttributeError, RecursionError) as error:
            message = f"the default of the reader's field {field['name']} is not a value of its type: {error}"

            def refuse() -> Any:
                raise UnmatchedError(message)

            return refuse

    def skip(self, writer: Any) -> ReadStep:
        """Return the function that skips a value of the writer."""
        writer = find_definition(writer, self._written)
        if isinstance(writer, list):
            return _choice([self.skip(each) for each in writer])
        match kind_of(writer):
            case "record" | "error":
                return self._skip_record(writer)
            case "array":
                return _array(self.skip(writer["items"]))
            case "map":
                return _map(self.skip(writer["values"]))
            case "enum":
                return _SCALARS["long"]
            case "fixed":
                return _fixed_step(int(writer["size"]))
            case "string":
                return _SCALARS["bytes"]
        return _SCALARS[kind_of(writer)]

    def _skip_record(self, writer: Any) -> ReadStep:
        name = str(writer["name"])
        if name not in self._skips:
            steps: list[ReadStep] = []

            def record(data: bytes, at: int) -> tuple[Any, int]:
                for step in steps:
                    _, at = step(data, at)
                return None, at

            self._skips[name] = record
            steps.extend(self.skip(field["type"]) for field in writer["fields"])
        return self._skips[name]


def _name(schema: Any) -> str:
    if isinstance(schema, list):
        return "union"
    kind = kind_of(schema)
    if kind in NAMED:
        return f"{'record' if kind in RECORDS else kind} {schema['name']}"
    return logical_of(schema) or kind


def _list_branches(branches: list[Any]) -> str:
    more = f" and {len(branches) - 5} more" if len(branches) > 5 else ""
    return ", ".join(branch if isinstance(branch, str) else _name(branch) for branch in branches[:5]) + more


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


def _enum(writer: Any, reader: Any) -> ReadStep:
    symbols = frozenset(reader["symbols"])

    def enum(data: bytes, at: int) -> tuple[Any, int]:
        index, at = _long(data, at)
        symbol = writer["symbols"][index]
        if symbol not in symbols:
            if reader.get("default") is None:
                raise UnmatchedError(f"the reader's {_name(reader)} has no symbol {symbol}, and no default")
            symbol = reader["default"]
        return symbol, at

    return enum


def _scalar(writer: Any, reader: Any) -> ReadStep:
    kind = kind_of(writer)
    step = _fixed_step(int(writer["size"])) if kind == "fixed" else _SCALARS[kind]
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
