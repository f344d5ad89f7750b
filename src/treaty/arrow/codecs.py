"""Decompression of payloads, with a limit on their size."""

import zlib
from collections.abc import Callable, Mapping

import pyarrow as pa

from treaty.core.limits import INFLATED_BYTES

GZIP = 16 + zlib.MAX_WBITS
DENSEST = 64
"""A raw snappy block holds no more bytes than this times its own: a copy of 64 bytes takes two."""


def make_inflater(codecs: Mapping[bytes, str]) -> Callable[[bytes | None], bytes | None]:
    """A function from a frame to its payload, by the codec of its head; None for what is damaged, too large or no such
    frame.
    """
    ways = {head: CODECS[name] for head, name in codecs.items()}
    lengths = sorted({len(head) for head in ways})

    def inflate(frame: bytes | None) -> bytes | None:
        found = next((length for length in lengths if frame is not None and frame[:length] in ways), None)
        return None if frame is None or found is None else ways[frame[:found]](frame[found:])

    return inflate


def _gzip(data: bytes) -> bytes | None:
    """All members of a gzip stream, one after the other."""
    made, left = b"", data
    while left:
        member = zlib.decompressobj(GZIP)
        try:
            made += member.decompress(left, INFLATED_BYTES + 1 - len(made))
        except zlib.error:
            return None
        if not member.eof or len(made) > INFLATED_BYTES:
            return None
        left = member.unused_data
    return made if data else None


def _snappy(data: bytes) -> bytes | None:
    """One raw block: the length of what it holds as a varint, and that."""
    size = 0
    for place, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    else:
        return None
    if size > min(INFLATED_BYTES, DENSEST * len(data)):
        return None
    try:
        made: bytes = pa.Codec("snappy").decompress(data, size).to_pybytes()
    except OSError:
        return None
    return made


CODECS: Mapping[str, Callable[[bytes], bytes | None]] = {"gzip": _gzip, "snappy": _snappy}
