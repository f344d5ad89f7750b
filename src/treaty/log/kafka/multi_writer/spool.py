"""A temporary file for bytes of records that exceed the memory limit."""

import os
import tempfile
import weakref
from dataclasses import dataclass, field
from pathlib import Path

MIN_SPOOLED_BYTES = 65_536
"""Bytes of a payload from which on it is worth a file."""


class _OpenFile:
    """An open file, closed when it is not used any more."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)


def _open_unnamed() -> _OpenFile:
    """A file that ends with who knows it."""
    descriptor, path = tempfile.mkstemp(prefix="treaty-")
    Path(path).unlink()
    return _OpenFile(descriptor)


@dataclass(frozen=True, slots=True)
class SpooledBytes:
    """Bytes in such a file."""

    size: int
    start: int
    """Where in the file they begin."""
    _file: _OpenFile = field(repr=False)

    def __len__(self) -> int:
        """How many they are."""
        return self.size

    def __bytes__(self) -> bytes:
        """Read them. Raises `OSError`."""
        return self.read_first(self.size)

    def read_first(self, maximum: int) -> bytes:
        """Read the first of them, at most so many. Raises `OSError`."""
        data, size = bytearray(), min(maximum, self.size)
        while len(data) < size:
            piece = os.pread(self._file.descriptor, size - len(data), self.start + len(data))
            if not piece:
                raise OSError(0, "a file for what was read of the log was cut short")
            data += piece
        return bytes(data)


Payload = bytes | SpooledBytes
"""What `bytes` reads, and `len` measures."""


def split_file(path: Path, size: int) -> list[SpooledBytes]:
    """The bytes of a file in pieces of some size; they are those of this file, even if its name is given to another."""
    file = _OpenFile(os.open(path, os.O_RDONLY))
    end = os.fstat(file.descriptor).st_size
    return [SpooledBytes(min(size, end - at), at, file) for at in range(0, end, size)]


class PayloadSpool:
    """Keeps what is large in one file; where none can be made or it is full, in memory."""

    def __init__(self) -> None:
        """Make no file yet."""
        self._file: _OpenFile | None = None
        self._end = 0

    def store(self, payload: bytes, *, min_bytes: int | None = None) -> Payload:
        """Keep some bytes: in the file, if they are as many as `min_bytes` (MIN_SPOOLED_BYTES where it is not given)."""
        if len(payload) < (MIN_SPOOLED_BYTES if min_bytes is None else min_bytes):
            return payload
        try:
            if self._file is None:
                self._file = _open_unnamed()
            if os.pwrite(self._file.descriptor, payload, self._end) != len(payload):
                return payload
        except OSError:
            return payload
        spooled = SpooledBytes(len(payload), self._end, self._file)
        self._end += len(payload)
        return spooled

    def at(self, start: int, size: int) -> SpooledBytes:
        """Bytes that were kept in the file."""
        assert self._file is not None
        return SpooledBytes(size, start, self._file)
