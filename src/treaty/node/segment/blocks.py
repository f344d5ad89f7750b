"""Rows in compressed blocks: a row is found by its number, and its neighbours come along."""

import zlib
from array import array
from collections.abc import Sequence
from dataclasses import field
from threading import Lock

import zstandard

from treaty.light_dataclass import dataclass

BLOCK_BYTES = 4_096
"""Bytes of a block before it is compressed: what one look decompresses."""
SAMPLES = 3_000
"""Rows from which a dictionary is made."""
DICTIONARY_BYTES = 524_288
LEVEL, QUICK = 6, 4
"""Levels of what is kept in a file, and of what a start waits for: twice as quick, and a tenth larger."""
SEGMENT, SPAN = 64, 8
"""What a dictionary is put together from (`k` and `d` of zstandard's trainer); left to it, it tries some for a second."""


class BlockDamagedError(ValueError):
    """A block that is not the one which was written at its place; the message says in what it differs."""


@dataclass(slots=True)
class BlockWriter:
    """Lines of bytes on their way into blocks. `ends` has the end of each block, `firsts` its first row, `sums` its
    CRC-32.

    It may continue after blocks that were written before (`prior`).
    """

    dictionary: bytes = b""
    prior: memoryview = field(default_factory=lambda: memoryview(b""))
    level: int = LEVEL
    data: bytearray = field(default_factory=bytearray)
    ends: "array[int]" = field(default_factory=lambda: array("Q"))
    firsts: "array[int]" = field(default_factory=lambda: array("I"))
    sums: "array[int]" = field(default_factory=lambda: array("I"))
    count: int = 0
    _open: list[bytes] = field(default_factory=list)
    _size: int = 0
    _work: zstandard.ZstdCompressor | None = None

    def add(self, line: bytes) -> int:
        """Add a line, which has no line break; return its number."""
        if not self._open:
            self.firsts.append(self.count)
        self._open.append(line)
        self._size += len(line) + 1
        self.count += 1
        if self._size >= BLOCK_BYTES:
            self._flush()
        return self.count - 1

    def _flush(self) -> None:
        if self._work is None:
            dictionary = zstandard.ZstdCompressionDict(self.dictionary) if self.dictionary else None
            self._work = zstandard.ZstdCompressor(
                level=self.level, dict_data=dictionary, write_checksum=False, write_dict_id=False
            )
        block = self._work.compress(b"\n".join(self._open))
        self._put(block, zlib.crc32(block))
        self._open.clear()
        self._size = 0

    def _put(self, block: bytes | memoryview, checksum: int) -> None:
        self.data += block
        self.ends.append(len(self.prior) + len(self.data))
        self.sums.append(checksum)

    def copy(self, block: memoryview, checksum: int, count: int) -> None:
        """Add a block of so many lines as it is, with the checksum that it has; it was compressed with the same
        dictionary.
        """
        self.close()
        self.firsts.append(self.count)
        self._put(block, checksum)
        self.count += count

    def close(self) -> None:
        """Write what is left."""
        if self._open:
            self._flush()


def dictionary_of(samples: Sequence[bytes]) -> bytes:
    """Make a dictionary from some lines; none where they are too few to learn from."""
    if len(samples) < 100:
        return b""
    try:
        return zstandard.train_dictionary(DICTIONARY_BYTES, [*samples], k=SEGMENT, d=SPAN).as_bytes()
    except zstandard.ZstdError:  # nothing repeats
        return b""


class BlockReader:
    """Lines by number. A block is compared with its checksum each time it is read: blocks that changed places are
    noticed.
    """

    def __init__(
        self, data: memoryview, *, ends: memoryview, firsts: memoryview, sums: memoryview, dictionary: bytes
    ) -> None:
        """Take what a writer made."""
        self.data, self.ends, self.firsts, self.sums, self.dictionary = data, ends, firsts, sums, dictionary
        compression_dictionary = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        self._work = zstandard.ZstdDecompressor(dict_data=compression_dictionary)
        self._turn = Lock()  # it works for one thread at a time

    def block(self, number: int) -> list[bytes]:
        """The lines of a block. Raises `BlockDamagedError`."""
        try:
            with self._turn:
                return self._work.decompress(self.raw(number)).split(b"\n")
        except zstandard.ZstdError as error:
            raise BlockDamagedError(str(error)) from None

    def size(self, number: int) -> int:
        """The bytes of a block's lines, as it states them itself. Raises `BlockDamagedError`."""
        try:
            return zstandard.frame_content_size(self._bytes(number))
        except zstandard.ZstdError as error:
            raise BlockDamagedError(str(error)) from None

    def _bytes(self, number: int) -> memoryview:
        return self.data[self.ends[number - 1] if number else 0 : self.ends[number]]

    def raw(self, number: int) -> memoryview:
        """A block as it is kept. Raises `BlockDamagedError`."""
        block = self._bytes(number)
        checksum = zlib.crc32(block)
        if checksum != self.sums[number]:
            raise BlockDamagedError(f"its bytes have the checksum {checksum:08x}, not {self.sums[number]:08x}")
        return block
