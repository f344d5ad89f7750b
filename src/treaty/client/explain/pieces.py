"""`PieceReader`: pieces of a record in the order of its bytes, each with its meaning; bytes that were not expected end it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from treaty.core.limits import EXPLAINED_STEPS

SHOWN = 16
"""The most bytes and characters of a piece that are printed."""


@dataclass(frozen=True, slots=True)
class RecordPiece:
    """A piece of bytes from `offset` on: its path in the value, its meaning, and its value."""

    offset: int
    data: bytes
    path: str
    what: str
    says: str = ""

    @property
    def hex(self) -> str:
        """Return the bytes in hex, truncated if there are many."""
        cut = self.data[:SHOWN]
        more = len(self.data) - len(cut)
        return cut.hex(" ") + (f" … {more} more" if more else "")


class UnexpectedBytesError(Exception):
    """The bytes from an offset on are invalid."""

    def __init__(self, offset: int, path: str, why: str) -> None:
        """Keep offset, path and reason."""
        super().__init__(f"at byte {offset}, {path or '/'}: {why}")
        self.offset = offset
        self.path = path
        self.why = why


@dataclass(slots=True)
class PieceReader:
    """Reads a record from front to back and notes its pieces."""

    data: bytes
    at: int = 0
    pieces: list[RecordPiece] = field(default_factory=list)

    @property
    def left(self) -> int:
        """The number of bytes not read yet."""
        return len(self.data) - self.at

    def note(self, start: int, path: str, what: str, says: object = "") -> None:
        """Note the piece from `start` to here. Raises `UnexpectedBytesError` past the limit of pieces."""
        if len(self.pieces) >= EXPLAINED_STEPS:
            raise UnexpectedBytesError(start, path, f"more than {EXPLAINED_STEPS} pieces (limit EXPLAINED_STEPS)")
        self.pieces.append(RecordPiece(start, self.data[start : self.at], path, what, shorten_text(str(says))))

    def take(self, count: int, path: str, what: str) -> bytes:
        """Read bytes; raises `UnexpectedBytesError` if there are fewer."""
        if count < 0 or count > self.left:
            raise UnexpectedBytesError(self.at, path, f"{what} has {count} bytes, {self.left} are left")
        self.at += count
        return self.data[self.at - count : self.at]

    def varint(self, path: str, what: str) -> int:
        """Read a varint of at most ten bytes; notes nothing."""
        value = 0
        start = self.at
        for place in range(10):
            byte = self.take(1, path, what)[0]
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return value
        raise UnexpectedBytesError(start, path, f"{what}: a number of more than ten bytes")

    def zigzag(self, path: str, what: str) -> int:
        """Read a zig-zag varint; notes nothing."""
        value = self.varint(path, what)
        return (value >> 1) ^ -(value & 1)

    def note_rest(self, what: str) -> None:
        """Note the remaining bytes as one piece, if there are any."""
        start = self.pieces[-1].offset + len(self.pieces[-1].data) if self.pieces else 0
        if start < len(self.data):
            self.at = len(self.data)
            self.pieces.append(
                RecordPiece(
                    start,
                    self.data[start:],
                    "",
                    what,
                    f"{len(self.data) - start} byte{'s' if len(self.data) - start > 1 else ''}",
                )
            )

    def __iter__(self) -> Iterator[RecordPiece]:
        return iter(self.pieces)


def shorten_text(text: str) -> str:
    """Return a text, truncated to one line."""
    printable = text if text.isprintable() else text.encode("unicode_escape").decode()
    return printable if len(printable) <= 60 else f"{printable[:57]}..."
