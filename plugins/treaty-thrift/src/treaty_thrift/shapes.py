"""Primitives, enums and containers: the ways between their values and bytes, for every protocol."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treaty.formats.format import BadPayloadError
from treaty_thrift.model import NUMBERS, Enum
from treaty_thrift.protocols import (
    BOOL,
    BYTE,
    DOUBLE,
    I16,
    I32,
    I64,
    LIST,
    MAP,
    NESTING,
    SET,
    STRING,
    WORDS,
    PayloadReader,
    malformed,
)
from treaty_thrift.writers import PayloadWriter

Read = Callable[[PayloadReader, int], Any]
"""A function from a reader and a depth to a value."""
Write = Callable[[PayloadWriter, Any], bytes]
"""A function from a writer and a value to bytes. It raises `ValueError` without the path."""
_TYPES = {
    "bool": BOOL,
    "i8": BYTE,
    "i16": I16,
    "i32": I32,
    "i64": I64,
    "double": DOUBLE,
    "string": STRING,
    "binary": STRING,
}
CONTAINERS = {"list": LIST, "set": SET, "map": MAP}


class MisfitError(ValueError):
    """A value that its type can't hold; `path` grows on the way out."""

    def __init__(self, path: str, message: str) -> None:
        """Say what was found and at which path."""
        super().__init__(f"at {path or '/'}: {message}")
        self.path = path
        self.message = message

    def under(self, step: object) -> "MisfitError":
        """The same below a member."""
        return MisfitError(f"/{step}{self.path}", self.message)


@dataclass(frozen=True, slots=True)
class Shape:
    """A type made ready: its number in payloads, and the ways between values and bytes."""

    number: int
    read: Read
    write: Write


def show_value(value: Any) -> str:
    """A value in a message."""
    return repr(value)[:60]


# ---------------------------------------------------------------------------------------------------------- primitives


def take_bool(value: Any) -> bool:
    """A boolean, or the word for it that is the key of a map in JSON."""
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):  # the key of a map in JSON
        return bool(value == "true")
    raise MisfitError("", f"{show_value(value)} is no boolean")


def _take_number(value: Any, bits: int) -> int:
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) <= 20:  # the key of a map in JSON
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise MisfitError("", f"{show_value(value)} is no whole number")
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise MisfitError("", f"{show_value(value)} has more than {bits} bits")
    return value


def _take_double(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise MisfitError("", f"{show_value(value)} is no number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise MisfitError("", f"{show_value(value)} is no number that a double holds") from None


def _take_text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise MisfitError("", f"{show_value(value)} is no text")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise MisfitError("", f"{show_value(value)} has no form in UTF-8") from None


def _take_bytes(value: Any) -> bytes:
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, str):  # JSON has no bytes: a character for each
        try:
            return value.encode("latin-1")
        except UnicodeEncodeError:
            pass
    raise MisfitError("", f"{show_value(value)} is neither bytes nor characters up to U+00FF")


def _read_text(reader: PayloadReader, depth: int) -> str:
    del depth
    content = reader.read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError as wrong:
        raise BadPayloadError("INVALID", f"a string is no UTF-8: {wrong}") from None


def _make_number(name: str, number: int) -> Shape:
    bits = NUMBERS[name]
    return Shape(
        number,
        lambda reader, _: reader.read_number(number),
        lambda writer, value: writer.number(number, _take_number(value, bits)),
    )


PRIMITIVES: Mapping[str, Shape] = {
    **{name: _make_number(name, _TYPES[name]) for name in ("i8", "i16", "i32", "i64")},
    "bool": Shape(
        BOOL, lambda reader, _: reader.read_bool(), lambda writer, value: writer.boolean(value=take_bool(value))
    ),
    "double": Shape(
        DOUBLE, lambda reader, _: reader.read_double(), lambda writer, value: writer.double(_take_double(value))
    ),
    "string": Shape(STRING, _read_text, lambda writer, value: writer.text(_take_text(value))),
    "binary": Shape(
        STRING, lambda reader, _: reader.read_bytes(), lambda writer, value: writer.text(_take_bytes(value))
    ),
}


def make_enum(enum: Enum) -> Shape:
    """The shape of an enum: values are the names of its symbols."""
    names = {symbol.number: symbol.name for symbol in reversed(enum.symbols)}
    numbers = {symbol.name: symbol.number for symbol in enum.symbols}

    def read(reader: PayloadReader, _: int) -> str:
        number = reader.read_number(I32)
        if number not in names:
            raise BadPayloadError("INVALID", f"{number} is no symbol of the enum {enum.name}")
        return names[number]

    def write(writer: PayloadWriter, value: Any) -> bytes:
        number = numbers.get(value) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int) or number not in names:
            raise MisfitError("", f"{show_value(value)} is no symbol of {enum.name}; it has {', '.join(numbers)[:200]}")
        return writer.number(I32, number)

    return Shape(I32, read, write)


# ---------------------------------------------------------------------------------------------------------- containers


def make_list(number: int, element: Shape) -> Shape:
    """The shape of a list or set."""

    def read(reader: PayloadReader, depth: int) -> list[Any]:
        if depth > NESTING:
            raise malformed(f"more than {NESTING} levels")
        type_, count = reader.read_list()
        if count and type_ != element.number:
            raise malformed(f"the elements are {WORDS[type_]}, not {WORDS[element.number]}")
        return [element.read(reader, depth + 1) for _ in range(count)]

    def write(writer: PayloadWriter, value: Any) -> bytes:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence | set | frozenset):
            raise MisfitError("", f"{show_value(value)} is no {WORDS[number]}")
        parts = [writer.list_head(element.number, len(value))]
        for at, part in enumerate(value):
            try:
                parts.append(element.write(writer, part))
            except MisfitError as wrong:
                raise wrong.under(at) from None
        return b"".join(parts)

    return Shape(number, read, write)


def make_map(key: Shape, held: Shape, *, pairs: bool) -> Shape:
    """With `pairs` a map is a list of keys and values, because its keys are no names."""

    def read(reader: PayloadReader, depth: int) -> Any:
        if depth > NESTING:
            raise malformed(f"more than {NESTING} levels")
        key_type, value_type, count = reader.read_map()
        if count and (key_type, value_type) != (key.number, held.number):
            raise malformed(
                f"the map has {WORDS[key_type]} and {WORDS[value_type]}, not {WORDS[key.number]} and {WORDS[held.number]}"
            )
        entries = [(key.read(reader, depth + 1), held.read(reader, depth + 1)) for _ in range(count)]
        return [{"key": key, "value": value} for key, value in entries] if pairs else dict(entries)

    def write(writer: PayloadWriter, value: Any) -> bytes:
        items = _list_pairs(value) if pairs else value.items() if isinstance(value, Mapping) else None
        if items is None:
            raise MisfitError("", f"{show_value(value)} is no map")
        parts = [writer.map_head(key.number, held.number, len(items))]
        for entry_key, entry_value in items:
            try:
                parts += (key.write(writer, entry_key), held.write(writer, entry_value))
            except MisfitError as wrong:
                raise wrong.under(entry_key if isinstance(entry_key, Hashable) else "key") from None
        return b"".join(parts)

    return Shape(MAP, read, write)


def _list_pairs(value: Any) -> list[tuple[Any, Any]] | None:
    if not isinstance(value, list) or not all(
        isinstance(element, Mapping) and element.keys() == {"key", "value"} for element in value
    ):
        return None
    return [(element["key"], element["value"]) for element in value]
