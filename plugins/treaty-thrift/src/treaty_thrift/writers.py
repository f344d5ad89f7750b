"""Writing the binary and the compact protocol, and both protocols by name."""

from collections.abc import Callable
from typing import Protocol

from treaty_thrift.protocols import (
    BIG_DOUBLE,
    BOOL,
    BYTE,
    FORMATS,
    I16,
    I32,
    LITTLE_DOUBLE,
    TO_COMPACT,
    BinaryReader,
    CompactReader,
    PayloadReader,
)


class PayloadWriter(Protocol):
    """What writes payloads of one protocol: each function returns bytes."""

    def field_head(self, type_: int, id_: int, last: int) -> bytes:
        """The head of a field after the one with the id `last`."""
        ...

    def bool_field(self, id_: int, last: int, *, value: bool) -> bytes:
        """A whole boolean field."""
        ...

    def list_head(self, element: int, count: int) -> bytes:
        """The head of a list or set."""
        ...

    def map_head(self, key: int, value: int, count: int) -> bytes:
        """The head of a map."""
        ...

    def boolean(self, *, value: bool) -> bytes:
        """A boolean that is an element."""
        ...

    def number(self, type_: int, value: int) -> bytes:
        """A whole number."""
        ...

    def double(self, value: float) -> bytes:
        """A double."""
        ...

    def text(self, value: bytes) -> bytes:
        """A text or bytes."""
        ...


class BinaryWriter:
    """Writes the binary protocol."""

    __slots__ = ()

    def field_head(self, type_: int, id_: int, last: int) -> bytes:
        """As `PayloadWriter` says."""
        return bytes([type_]) + FORMATS[I16].pack(id_)

    def bool_field(self, id_: int, last: int, *, value: bool) -> bytes:
        """As `PayloadWriter` says."""
        return self.field_head(BOOL, id_, last) + self.boolean(value=value)

    def list_head(self, element: int, count: int) -> bytes:
        """As `PayloadWriter` says."""
        return bytes([element]) + FORMATS[I32].pack(count)

    def map_head(self, key: int, value: int, count: int) -> bytes:
        """As `PayloadWriter` says."""
        return bytes([key, value]) + FORMATS[I32].pack(count)

    def boolean(self, *, value: bool) -> bytes:
        """As `PayloadWriter` says."""
        return b"\1" if value else b"\0"

    def number(self, type_: int, value: int) -> bytes:
        """As `PayloadWriter` says."""
        return FORMATS[type_].pack(value)

    def double(self, value: float) -> bytes:
        """As `PayloadWriter` says."""
        return BIG_DOUBLE.pack(value)

    def text(self, value: bytes) -> bytes:
        """As `PayloadWriter` says."""
        return FORMATS[I32].pack(len(value)) + value


class CompactWriter:
    """Writes the compact protocol."""

    __slots__ = ()

    def field_head(self, type_: int, id_: int, last: int) -> bytes:
        """As `PayloadWriter` says."""
        return self._head(TO_COMPACT[type_], id_, last)

    def bool_field(self, id_: int, last: int, *, value: bool) -> bytes:
        """As `PayloadWriter` says."""
        return self._head(1 if value else 2, id_, last)

    def _head(self, number: int, id_: int, last: int) -> bytes:
        if 0 < id_ - last <= 15:
            return bytes([id_ - last << 4 | number])
        return bytes([number]) + self.number(I16, id_)

    def list_head(self, element: int, count: int) -> bytes:
        """As `PayloadWriter` says."""
        number = TO_COMPACT[element]
        return bytes([count << 4 | number]) if count < 15 else bytes([0xF0 | number]) + _varint(count)

    def map_head(self, key: int, value: int, count: int) -> bytes:
        """As `PayloadWriter` says."""
        return _varint(count) + bytes([TO_COMPACT[key] << 4 | TO_COMPACT[value]]) if count else b"\0"

    def boolean(self, *, value: bool) -> bytes:
        """As `PayloadWriter` says."""
        return b"\1" if value else b"\2"

    def number(self, type_: int, value: int) -> bytes:
        """As `PayloadWriter` says."""
        return FORMATS[BYTE].pack(value) if type_ == BYTE else _varint((value << 1) ^ (value >> 63))

    def double(self, value: float) -> bytes:
        """As `PayloadWriter` says."""
        return LITTLE_DOUBLE.pack(value)

    def text(self, value: bytes) -> bytes:
        """As `PayloadWriter` says."""
        return _varint(len(value)) + value


def _varint(value: int) -> bytes:
    content = bytearray()
    while value > 127:
        content.append(value & 127 | 128)
        value >>= 7
    content.append(value)
    return bytes(content)


MakeReader = Callable[[bytes], PayloadReader]
PROTOCOLS: dict[str, tuple[MakeReader, PayloadWriter]] = {
    "binary": (BinaryReader, BinaryWriter()),
    "compact": (CompactReader, CompactWriter()),
}
"""By name: what reads, and what writes. Thrift's libraries write the binary one where nothing else is said."""
