"""Codecs: how payloads are packed and unpacked, and which are refused as damaged or as too large once unpacked (`unpack_payload`).
Pravega's three are here; other packages offer more by entry point.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from types import ModuleType

from treaty.core.limits import INFLATED_BYTES, INFLATED_FLOOR, INFLATED_RATIO
from treaty.core.messages.encodings import NO_CODEC
from treaty.core.schema import Pairs
from treaty.distribution import install_command

ENTRY_POINTS = "treaty.codecs"
"""The entry point group in which other packages offer a `PayloadCodec`, by its name."""
GZIP, SNAPPY = "application/x-gzip", "application/x-snappy-framed"
"""Pravega's names. What is called framed there is one raw block."""
DENSEST = 64
"""A raw snappy block holds no more bytes than this times its own: a copy of 64 bytes takes two."""
_GZIP_STREAM = 16 + zlib.MAX_WBITS
SMALLEST_SLICE, LARGEST_SLICE = 512, 65_536
"""Bytes of a gzip stream that are fed at once: what is left of a slice behind a member is copied, so they begin small."""


class CodecError(ValueError):
    """A codec cannot unpack a payload: it is damaged, or longer than the limit."""


class MissingCodecError(ValueError):
    """No codec of this name is installed."""


@dataclass(frozen=True, slots=True)
class PayloadCodec:
    """A codec by the name that it has in groups. `properties` are added to a group with it, and never change there.

    `pack` gets a payload and the properties of the group's codec. `unpack` gets a packed payload, the properties and the
    most bytes that it may return; it raises `CodecError` for bytes that it did not pack, and past that limit.
    """

    name: str
    pack: Callable[[bytes, Pairs], bytes]
    unpack: Callable[[bytes, Pairs, int], bytes]
    properties: Pairs = ()


def find_codec(name: str) -> PayloadCodec:
    """Return the codec of a name: one of Pravega's, also by its short name, else one of an installed package.

    Raises `MissingCodecError` for a name that no package offers.
    """
    codec = CODECS.get(name)
    if codec is not None:
        return codec
    offered = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in offered:
        names = ", ".join(sorted({*filter(None, CODECS), *offered}))
        raise MissingCodecError(
            f"no installed package has the codec {name!r}; there are {names}. "
            f"Install the package that offers it (entry point {ENTRY_POINTS}), or give the codec itself"
        )
    loaded: PayloadCodec = offered[name].load()
    return loaded


def unpack_payload(codec: PayloadCodec, payload: bytes, properties: Pairs = (), limit: int = INFLATED_BYTES) -> bytes:
    """Return an unpacked payload of at most `limit` bytes, and of INFLATED_RATIO for each byte of a packed one beyond INFLATED_FLOOR.

    Raises `CodecError`, whatever the codec raises.
    """
    limit = min(limit, max(INFLATED_FLOOR, INFLATED_RATIO * len(payload))) if codec.name else limit
    try:
        unpacked = codec.unpack(payload, properties, limit)
    except CodecError:
        raise
    except Exception as error:  # a codec of another package may raise anything for bytes that it did not pack
        raise CodecError(f"the codec {codec.name} can't unpack it: {error}") from error
    if len(unpacked) > limit:
        raise too_long(limit)
    return unpacked


def too_long(limit: int) -> CodecError:
    """Return the error of a payload that unpacks to more bytes than the limit."""
    name = "INFLATED_BYTES" if limit >= INFLATED_BYTES else "INFLATED_RATIO"
    return CodecError(f"it unpacks to more than {limit} bytes (limit {name})")


# ------------------------------------------------------------------------------------------------------------- gzip


def _pack_gzip(payload: bytes, _: Pairs) -> bytes:
    packer = zlib.compressobj(wbits=_GZIP_STREAM)
    return packer.compress(payload) + packer.flush()


def _unpack_gzip(data: bytes, _: Pairs, limit: int) -> bytes:
    """Unpack all members of a gzip stream, one after the other, in time linear in the bytes of both sides."""
    if not data:
        raise CodecError("no bytes; a gzip stream has 18 or more")
    pieces: list[bytes] = []
    at, length, slice_bytes = 0, 0, LARGEST_SLICE
    while at < len(data):
        member = zlib.decompressobj(_GZIP_STREAM)
        while not member.eof:
            if at >= len(data):
                raise CodecError("the gzip stream is cut short")
            fed = data[at : at + slice_bytes]
            try:
                piece = member.decompress(fed, limit + 1 - length)
            except zlib.error as error:
                raise CodecError(f"no gzip stream: {error}") from None
            length += len(piece)
            if length > limit:
                raise too_long(limit)
            pieces.append(piece)
            at += len(fed) - len(member.unused_data)
            slice_bytes = min(2 * slice_bytes, LARGEST_SLICE)
        slice_bytes = SMALLEST_SLICE
    return b"".join(pieces)


# ----------------------------------------------------------------------------------------------------------- snappy


def read_snappy_size(data: bytes, limit: int) -> int:
    """Return the number of bytes that a raw snappy block holds. Raises `CodecError` for more than `limit`, or than the
    block can hold.
    """
    size = 0
    for place, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    else:
        raise CodecError("no snappy block: it begins with no length")
    if size > DENSEST * len(data):
        raise CodecError(f"no snappy block: {len(data)} bytes can't hold the {size} that it says")
    if size > limit:
        raise too_long(limit)
    return size


def _pack_snappy(payload: bytes, _: Pairs) -> bytes:
    return bytes(_load_cramjam().snappy.compress_raw(payload))


def _unpack_snappy(data: bytes, _: Pairs, limit: int) -> bytes:
    library, size = _load_cramjam(), read_snappy_size(data, limit)
    unpacked = bytearray(size)
    try:
        written = library.snappy.decompress_raw_into(data, unpacked)
    except library.DecompressionError as error:
        raise CodecError(f"no snappy block: {error}") from None
    if written != size:
        raise CodecError(f"no snappy block: it holds {written} bytes and says {size}")
    return bytes(unpacked)


def _load_cramjam() -> ModuleType:
    try:
        import cramjam  # noqa: PLC0415 (only programs with such payloads need it)
    except ImportError as missing:
        raise MissingCodecError(
            f"the codec {SNAPPY} needs the package cramjam: {install_command('snappy')}"
        ) from missing
    library: ModuleType = cramjam
    return library


# ------------------------------------------------------------------------------------------------------------ names

NONE_CODEC = PayloadCodec(NO_CODEC, lambda payload, _: payload, lambda payload, _, __: payload)
GZIP_CODEC = PayloadCodec(GZIP, _pack_gzip, _unpack_gzip)
SNAPPY_CODEC = PayloadCodec(SNAPPY, _pack_snappy, _unpack_snappy)
CODECS: Mapping[str, PayloadCodec] = {
    NO_CODEC: NONE_CODEC,
    "none": NONE_CODEC,
    GZIP: GZIP_CODEC,
    "gzip": GZIP_CODEC,
    SNAPPY: SNAPPY_CODEC,
    "snappy": SNAPPY_CODEC,
}
"""Pravega's codecs by their names in groups, and by short ones."""
