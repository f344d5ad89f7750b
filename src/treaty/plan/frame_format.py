"""`FrameFormat`: what stands before a payload and says its schema, as a table from bytes to schema ids.

Confluent's prefix needs no table, since it holds the id itself. Every other framing is one: heads of one length or of
several, none of which is the beginning of another.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FrameFormat:
    """A framing by name, and its heads (hex) with the schema ids that they mean.

    `codecs` are the heads whose payloads are compressed, each with the name of its codec.
    """

    name: str = "prefix"
    heads: tuple[tuple[str, int], ...] = ()
    codecs: tuple[tuple[str, str], ...] = ()


PREFIX = FrameFormat()
