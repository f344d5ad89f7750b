"""Lines compressed with zstandard, as a stream."""

from collections.abc import Iterable, Iterator
from typing import IO

import zstandard

from treaty.core.limits import DUMP_LINE_BYTES

LEVEL = 10
"""Dumps are written seldom and kept long."""
WINDOW_BYTES = 134_217_728
"""The largest window that is read: what asks for more is refused, whatever it claims."""


def packed(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Compress lines; the frame is closed at their end."""
    work = zstandard.ZstdCompressor(level=LEVEL).compressobj()
    for line in lines:
        piece = work.compress(line)
        if piece:
            yield piece
    yield work.flush()


def unpacked(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a compressed file. Raises `OSError` where it is damaged."""
    rest = b""
    try:
        with zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES).stream_reader(file) as reader:
            while piece := reader.read(1 << 20):
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    yield line + b"\n"
                if len(rest) > DUMP_LINE_BYTES:
                    break
    except zstandard.ZstdError as error:
        raise OSError(0, f"damaged: {error}", getattr(file, "name", None)) from None
    if rest:
        yield rest
