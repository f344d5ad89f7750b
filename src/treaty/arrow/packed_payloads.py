"""Payloads that a codec packs, in frames of a Pravega group: the codec is found by the head of a frame, and the zeros that Java packs
behind a payload are dropped. What is too large is refused by `unpack_payload` of `client/groups/codecs.py`.
"""

from collections.abc import Callable, Mapping
from functools import partial

import pyarrow as pa

from treaty.client.groups.codecs import (
    SNAPPY,
    CodecError,
    MissingCodecError,
    PayloadCodec,
    find_codec,
    read_snappy_size,
    unpack_payload,
)
from treaty.client.groups.trailing_zeros import Trim, trim_json, trim_message, trim_record
from treaty.client.serializers.avro_codec import make_text_skipper
from treaty.core.schema import Pairs
from treaty.plan.value import DecodePlan

Unpacked = tuple[bytes | None, str | None]
"""A payload, or what is wrong with it; two times None for bytes that no codec packed."""
NO_PAIRS: Mapping[str, Pairs] = {}
NO_TRIMS: Mapping[bytes, Trim] = {}


def make_unpacker(
    codecs: Mapping[bytes, str], properties: Mapping[str, Pairs] = NO_PAIRS, trims: Mapping[bytes, Trim] = NO_TRIMS
) -> Callable[[bytes | None], Unpacked]:
    """A function from a frame to its payload, by the codec of its head; `properties` are those of codecs by name."""
    ways = {head: _make_way(name, properties.get(name, ()), trims.get(head)) for head, name in codecs.items()}
    lengths = sorted({len(head) for head in ways})

    def unpack(frame: bytes | None) -> Unpacked:
        head_length = next((length for length in lengths if frame is not None and frame[:length] in ways), None)
        if frame is None or head_length is None:
            return None, None
        try:
            return ways[frame[:head_length]](frame[head_length:]), None
        except (CodecError, MissingCodecError) as error:
            return None, str(error)

    return unpack


def make_plan_unpacker(plan: DecodePlan) -> Callable[[bytes | None], Unpacked]:
    """The unpacker of a plan's frames."""
    codecs = {bytes.fromhex(head): codec for head, codec in plan.framing.codecs}
    return make_unpacker(codecs, dict(plan.framing.properties), _make_trims(plan))


def _make_trims(plan: DecodePlan) -> dict[bytes, Trim]:
    """What drops the zeros behind payloads, by the head of their frames."""
    packed = {head for head, _ in plan.framing.codecs}
    ids = {bytes.fromhex(head): number for head, number in plan.framing.heads if head in packed}
    if plan.format != "AVRO":
        trim = {"JSON": trim_json, "PROTOBUF": trim_message}.get(plan.format)
        return dict.fromkeys(ids, trim) if trim is not None else {}
    texts = {one.schema_id: one.text for one in plan.writers}
    skips = {number: make_text_skipper(texts[number]) for number in set(ids.values()) & set(texts)}
    return {head: partial(trim_record, skip) for head, number in ids.items() if (skip := skips.get(number)) is not None}


def _make_way(name: str, properties: Pairs, trim: Trim | None) -> Callable[[bytes], bytes]:
    def unpack(payload: bytes) -> bytes:
        unpacked = unpack_payload(codec or find_codec(name), payload, properties)
        return unpacked if trim is None else trim(unpacked)

    codec = _SNAPPY if name in {SNAPPY, "snappy"} else None
    return unpack


def _unpack_snappy(data: bytes, _: Pairs, limit: int) -> bytes:
    """One raw block: the length of what it holds as a varint, and that."""
    size = read_snappy_size(data, limit)
    try:
        unpacked: bytes = pa.Codec("snappy").decompress(data, size).to_pybytes()
    except OSError as error:
        raise CodecError(f"no snappy block: {error}") from None
    return unpacked


def _pack_snappy(data: bytes, _: Pairs) -> bytes:
    packed: bytes = pa.Codec("snappy").compress(data).to_pybytes()
    return packed


_SNAPPY = PayloadCodec(SNAPPY, _pack_snappy, _unpack_snappy)


def find_packer(name: str, properties: Pairs) -> Callable[[bytes], bytes]:
    """A function that packs payloads. Raises `MissingCodecError`."""
    codec = _SNAPPY if name in {SNAPPY, "snappy"} else find_codec(name)
    return lambda payload: codec.pack(payload, properties)
