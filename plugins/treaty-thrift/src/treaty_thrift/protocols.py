"""Reading the binary and the compact protocol: numbers, texts and heads, with bounds on everything that bytes claim."""

import struct
from typing import Protocol

from treaty.formats.format import BadPayloadError

BOOL, BYTE, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
"""Types in payloads, by their numbers in the binary protocol."""
WORDS = {
    BOOL: "bool", BYTE: "i8", DOUBLE: "double", I16: "i16", I32: "i32", I64: "i64", STRING: "string", STRUCT: "struct",
    MAP: "map", SET: "set", LIST: "list",
}  # fmt: skip
NESTING = 64
"""Levels of a payload, as in Thrift's own libraries."""
ABSENT_VALUES, ABSENT_PER_BYTE = 500_000, 8
"""Values of one payload that are not in its bytes, fields that are left out and their defaults: these, and so many for each byte."""
Head = tuple[int, int]
"""Type and id of a field."""


class PayloadReader(Protocol):
    """What reads payloads of one protocol."""

    @property
    def left(self) -> int:
        """Bytes that are not read."""
        ...

    def charge_absent(self, count: int) -> None:
        """Count values that a record gets and the payload does not have. Raises `BadPayloadError` past the limit."""
        ...

    def read_field(self, last: int) -> Head | None:
        """Type and id of the next field, after the one with the id `last`; None at the end of a record."""
        ...

    def read_list(self) -> tuple[int, int]:
        """Type and number of the elements of a list or set."""
        ...

    def read_map(self) -> tuple[int, int, int]:
        """Types of keys and values, and their number; types are 0 in an empty map of the compact protocol."""
        ...

    def read_bool(self) -> bool:
        """A boolean: an element, or the field whose head was just read."""
        ...

    def read_number(self, type_: int) -> int:
        """A whole number of this type."""
        ...

    def read_double(self) -> float:
        """A double."""
        ...

    def read_bytes(self) -> bytes:
        """A text or bytes."""
        ...


def malformed(message: str) -> BadPayloadError:
    """The error of bytes that no protocol writes."""
    return BadPayloadError("MALFORMED", message)


class _Bytes:
    """A payload and how far it is read."""

    __slots__ = ("_absent", "_at", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._absent = ABSENT_VALUES + ABSENT_PER_BYTE * len(data)

    def charge_absent(self, count: int) -> None:
        """As `PayloadReader` says."""
        self._absent -= count
        if self._absent < 0:
            raise malformed(f"its records leave out more values than the limit ABSENT_VALUES of {ABSENT_VALUES}")

    @property
    def left(self) -> int:
        """Bytes that are not read."""
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        """The next bytes."""
        if not 0 <= size <= self.left:
            raise malformed(f"{size} bytes are claimed at byte {self._at}, and {self.left} are left")
        self._at += size
        return self._data[self._at - size : self._at]

    def check_count(self, count: int, bytes_each: int) -> int:
        """Refuse more elements than there can be: each has a byte at least."""
        if not 0 <= count * bytes_each <= self.left:
            raise malformed(f"{count} elements are claimed at byte {self._at}, and {self.left} bytes are left")
        return count


def check_type(type_: int) -> int:
    """Refuse a number that is no type."""
    if type_ not in WORDS:
        raise malformed(f"{type_} is no type")
    return type_


FORMATS = {BYTE: struct.Struct("!b"), I16: struct.Struct("!h"), I32: struct.Struct("!i"), I64: struct.Struct("!q")}
BIG_DOUBLE, LITTLE_DOUBLE = struct.Struct("!d"), struct.Struct("<d")


class BinaryReader(_Bytes):
    """Reads the binary protocol."""

    __slots__ = ()

    def read_field(self, last: int) -> Head | None:
        """As `PayloadReader` says."""
        type_ = self.take(1)[0]
        return (check_type(type_), self.read_number(I16)) if type_ else None

    def read_list(self) -> tuple[int, int]:
        """As `PayloadReader` says."""
        return check_type(self.take(1)[0]), self.check_count(self.read_number(I32), 1)

    def read_map(self) -> tuple[int, int, int]:
        """As `PayloadReader` says."""
        key, value = self.take(2)
        count = self.check_count(self.read_number(I32), 2)
        return (check_type(key), check_type(value), count) if count else (0, 0, 0)

    def read_bool(self) -> bool:
        """As `PayloadReader` says."""
        value = self.take(1)[0]
        if value > 1:
            raise malformed(f"{value} is no boolean")
        return value == 1

    def read_number(self, type_: int) -> int:
        """As `PayloadReader` says."""
        form = FORMATS[type_]
        number: int = form.unpack(self.take(form.size))[0]
        return number

    def read_double(self) -> float:
        """As `PayloadReader` says."""
        number: float = BIG_DOUBLE.unpack(self.take(8))[0]
        return number

    def read_bytes(self) -> bytes:
        """As `PayloadReader` says."""
        return self.take(self.read_number(I32))


_COMPACT = {
    1: BOOL,
    2: BOOL,
    3: BYTE,
    4: I16,
    5: I32,
    6: I64,
    7: DOUBLE,
    8: STRING,
    9: LIST,
    10: SET,
    11: MAP,
    12: STRUCT,
}
TO_COMPACT = {type_: number for number, type_ in _COMPACT.items() if number != 2}
_BITS = {I16: 16, I32: 32, I64: 64}


def _compact_type(number: int) -> int:
    type_ = _COMPACT.get(number)
    if type_ is None:
        raise malformed(f"{number} is no type of the compact protocol")
    return type_


class CompactReader(_Bytes):
    """Reads the compact protocol."""

    __slots__ = ("_bool",)

    def __init__(self, data: bytes) -> None:
        """Begin at the first byte."""
        super().__init__(data)
        self._bool: bool | None = None

    def read_field(self, last: int) -> Head | None:
        """As `PayloadReader` says."""
        self._bool = None
        head = self.take(1)[0]
        if head == 0:
            return None
        type_, delta = _compact_type(head & 15), head >> 4
        if type_ == BOOL:
            self._bool = head & 15 == 1
        id_ = last + delta if delta else self.read_number(I16)
        if not -32768 <= id_ < 32768:
            raise malformed(f"{id_} is no id of a field")
        return type_, id_

    def read_list(self) -> tuple[int, int]:
        """As `PayloadReader` says."""
        self._bool = None
        head = self.take(1)[0]
        count = head >> 4 if head >> 4 != 15 else self._read_varint(32)
        return _compact_type(head & 15), self.check_count(count, 1)

    def read_map(self) -> tuple[int, int, int]:
        """As `PayloadReader` says."""
        self._bool = None
        count = self._read_varint(32)
        if not count:
            return 0, 0, 0
        types = self.take(1)[0]
        return _compact_type(types >> 4), _compact_type(types & 15), self.check_count(count, 2)

    def read_bool(self) -> bool:
        """As `PayloadReader` says."""
        if self._bool is not None:
            pending, self._bool = self._bool, None
            return pending
        value = self.take(1)[0]
        if value not in {1, 2}:
            raise malformed(f"{value} is no boolean of the compact protocol")
        return value == 1

    def read_number(self, type_: int) -> int:
        """As `PayloadReader` says."""
        if type_ == BYTE:
            return BinaryReader.read_number(self, BYTE)  # type: ignore[arg-type]  # both take one byte alike
        number = self._read_varint(_BITS[type_])
        return (number >> 1) ^ -(number & 1)

    def read_double(self) -> float:
        """As `PayloadReader` says."""
        number: float = LITTLE_DOUBLE.unpack(self.take(8))[0]
        return number

    def read_bytes(self) -> bytes:
        """As `PayloadReader` says."""
        return self.take(self._read_varint(32))

    def _read_varint(self, bits: int) -> int:
        number = shift = 0
        while True:
            byte = self.take(1)[0]
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            if shift >= bits + 6:
                raise malformed(f"a number of more than {bits} bits at byte {self._at}")
        if number >> bits:
            raise malformed(f"a number of more than {bits} bits at byte {self._at}")
        return number


def skip(reader: PayloadReader, type_: int, depth: int = 0) -> None:
    """Read over a value."""
    if depth > NESTING:
        raise malformed(f"more than {NESTING} levels")
    match type_:
        case 2:
            reader.read_bool()
        case 4:
            reader.read_double()
        case 11:
            reader.read_bytes()
        case 12:
            last = 0
            while head := reader.read_field(last):
                last = head[1]
                skip(reader, head[0], depth + 1)
        case 13:
            key, value, count = reader.read_map()
            for _ in range(count):
                skip(reader, key, depth + 1)
                skip(reader, value, depth + 1)
        case 14 | 15:
            element, count = reader.read_list()
            for _ in range(count):
                skip(reader, element, depth + 1)
        case _:
            reader.read_number(type_)
