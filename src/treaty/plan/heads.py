"""Heads: the bytes that each framing puts before the payloads of a schema."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points

from treaty.formats.avro.fingerprint import crc64, md5
from treaty.formats.protobuf.encoding.wire import encode_varint
from treaty.plan.errors import PlanError
from treaty.plan.frame_format import PREFIX, FrameFormat
from treaty.plan.registered_schema import RegisteredSchema

MARK = b"\xc3\x01"
"""The first bytes of a single object (Avro specification, "Single-object encoding")."""
HEADERS: Mapping[str, str] = {"value": "__value_schema_id", "key": "__key_schema_id"}
"""Which header of a record holds the guid, by the half of the record."""
STAMP = 17
"""Bytes of such a header: a one and the guid."""
GROUP = "treaty.framings"
"""The entry point group in which other packages offer a `Head`, by the name of their framing."""

PRAVEGA, ENCODED = "pravega", "01"
"""Pravega's framing, and the first byte of its frames in hex."""
CODECS: Mapping[str, str] = {
    "": "",
    "none": "",
    "gzip": "gzip",
    "application/x-gzip": "gzip",
    "snappy": "snappy",
    "application/x-snappy-framed": "snappy",
}
"""Codecs of Pravega's encodings by their own and by plain names; what is called framed there is one raw block."""
HEAD = 5
"""Bytes of Pravega's head."""
MARKS: Mapping[str, bytes] = {"single-object": MARK, PRAVEGA: bytes.fromhex(ENCODED)}
"""Framings whose frames all begin alike."""
Encodings = Mapping[int, tuple[int, str]]
"""For each encoding id the schema id and the codec of its payloads."""

Head = Callable[[RegisteredSchema], bytes | None]
"""The bytes before a payload that was written with a schema; None where this framing can't say that schema."""


def _avro(head: Callable[[RegisteredSchema], bytes]) -> Head:
    return lambda known: head(known) if known.format == "AVRO" else None


HEADS: Mapping[str, Head] = {
    "header": lambda known: uuid.UUID(known.guid).bytes,
    "single-object": _avro(lambda known: MARK + crc64(known.schema)),
    "md5": _avro(lambda known: md5(known.schema)),
    "version": lambda known: encode_varint(known.version * 2),
    "none": lambda _: b"",
}
"""Framings of this package beside ``prefix``.

``header``: a guid in the record's headers (Confluent's V1), the prefix where there is none. ``single-object``: Avro's
own. ``md5`` and ``version``: the writer's MD5 or its version as Avro writes a long (AVRO-1124). ``none``: nothing.
"""


def framing_of(name: str | Encodings, known: Iterable[RegisteredSchema]) -> FrameFormat:
    """The framing with the heads of all schemas that a plan knows. Raises `PlanError` for a name that is none."""
    if not isinstance(name, str):
        return _pravega({one.schema_id for one in known}, name)
    if name == PREFIX.name:
        return PREFIX
    if name == PRAVEGA:
        raise PlanError("for Pravega's framing give the table of encodings: {encoding id: (schema id, codec)}")
    found = HEADS.get(name)
    if found is None:
        plugins = {point.name: point for point in entry_points(group=GROUP)}
        if name not in plugins:
            there = ", ".join(sorted({PREFIX.name, *HEADS, *plugins}))
            raise PlanError(f"{name!r} is no framing; there are {there}")
        found = plugins[name].load()
    heads: dict[str, int] = {}
    for one in known:
        head = found(one)
        if head is not None:
            heads[head.hex()] = one.schema_id  # where two share one, they read alike, or the later version counts
    return FrameFormat(name, tuple(heads.items()))


def _pravega(known: set[int], encodings: Encodings) -> FrameFormat:
    """Pravega's heads, a 1 and the encoding id, which only the table of encodings explains."""
    heads, codecs = [], []
    for number, (schema_id, codec) in sorted(encodings.items()):
        if codec not in CODECS:
            there = ", ".join(sorted(filter(None, CODECS)))
            raise PlanError(f"encoding {number} has the codec {codec!r}, and those that can be read are {there}")
        if schema_id in known:
            head = ENCODED + number.to_bytes(4, "big").hex()
            heads.append((head, schema_id))
            if CODECS[codec]:
                codecs.append((head, CODECS[codec]))
    return FrameFormat(PRAVEGA, tuple(heads), tuple(codecs))


def encodings_of(framing: FrameFormat) -> dict[int, tuple[int, str]]:
    """The table of encodings that a framing was made from."""
    codecs = dict(framing.codecs)
    if framing.name != PRAVEGA:
        return {}
    return {
        int.from_bytes(bytes.fromhex(head)[1:], "big"): (schema_id, codecs.get(head, ""))
        for head, schema_id in framing.heads
    }
