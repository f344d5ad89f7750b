"""`FrameFormat`: what stands before a payload and says its schema, as a table from bytes to schema ids.

Confluent's prefix needs no table, since it holds the id itself. Every other framing is one: heads of one length or of
several, none of which is the beginning of another.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from treaty.core.messages.encodings import NO_CODEC
from treaty.core.schema import Pairs


@dataclass(frozen=True, slots=True)
class FrameFormat:
    """A framing by name, and its heads (hex) with the schema ids that they mean.

    `codecs` are the heads whose payloads are packed, each with the name of its codec; `properties` are those of the codecs
    that have some. `indexes` are Protobuf's message indexes (hex) of heads that say the message themselves.
    """

    name: str = "prefix"
    heads: tuple[tuple[str, int], ...] = ()
    codecs: tuple[tuple[str, str], ...] = ()
    properties: tuple[tuple[str, Pairs], ...] = ()
    indexes: tuple[tuple[str, str], ...] = ()


PREFIX = FrameFormat()
PRAVEGA, ENCODED = "pravega", "01"
"""Pravega's framing, and the first byte of its frames in hex."""


@dataclass(frozen=True, slots=True)
class PlannedEncoding:
    """What an encoding id stands for: schema and codec, and of a Protobuf message its indexes in hex."""

    schema_id: int
    codec: str = NO_CODEC
    properties: Pairs = ()
    index: str = ""


Encodings = Mapping[int, PlannedEncoding | tuple[int, str]]
"""What each encoding id stands for; a pair is schema id and codec."""


def as_encoding(encoding: PlannedEncoding | tuple[int, str]) -> PlannedEncoding:
    """The encoding that a pair stands for too."""
    return encoding if isinstance(encoding, PlannedEncoding) else PlannedEncoding(*encoding)


def encodings_of(framing: FrameFormat) -> dict[int, PlannedEncoding]:
    """The table of encodings that a framing was made from."""
    codecs, indexes, properties = dict(framing.codecs), dict(framing.indexes), dict(framing.properties)
    if framing.name != PRAVEGA:
        return {}
    encodings = {}
    for head, schema_id in framing.heads:
        codec = codecs.get(head, NO_CODEC)
        number = int.from_bytes(bytes.fromhex(head)[1:], "big")
        encodings[number] = PlannedEncoding(schema_id, codec, properties.get(codec, ()), indexes.get(head, ""))
    return encodings
