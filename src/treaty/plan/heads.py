"""Heads: the bytes that each framing puts before the payloads of a schema."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points

from treaty.client.groups.codecs import CODECS, MissingCodecError, find_codec
from treaty.client.serializers.schema_heads import FINGERPRINTS, MARK, encode_ordinal
from treaty.core.messages.encodings import NO_CODEC
from treaty.core.schema import Pairs
from treaty.plan.errors import PlanError
from treaty.plan.frame_format import ENCODED, PRAVEGA, PREFIX, Encodings, FrameFormat, PlannedEncoding, as_encoding
from treaty.plan.registered_schema import RegisteredSchema

HEADERS: Mapping[str, str] = {"value": "__value_schema_id", "key": "__key_schema_id"}
"""Which header of a record holds the guid, by the half of the record."""
STAMP = 17
"""Bytes of such a header: a one and the guid."""
GROUP = "treaty.framings"
"""The entry point group in which other packages offer a `Head`, by the name of their framing."""

MAGICS: Mapping[str, bytes] = {PREFIX.name: b"\0", PRAVEGA: b"\1"}
"""Framings whose frames have an id of four bytes, behind these."""
HEAD = 5
"""Bytes of Pravega's head."""
MARKS: Mapping[str, bytes] = {"single-object": MARK, PRAVEGA: bytes.fromhex(ENCODED)}
"""Framings whose frames all begin alike."""

Head = Callable[[RegisteredSchema], bytes | None]
"""The bytes before a payload that was written with a schema; None where this framing can't say that schema."""


def _avro(head: Callable[[RegisteredSchema], bytes]) -> Head:
    return lambda known: head(known) if known.format == "AVRO" else None


HEADS: Mapping[str, Head] = {
    "header": lambda known: uuid.UUID(known.guid).bytes,
    "single-object": _avro(lambda known: FINGERPRINTS["single-object"](known.schema)),
    "md5": _avro(lambda known: FINGERPRINTS["md5"](known.schema)),
    "version": lambda known: encode_ordinal(known.ordinal) if known.ordinal >= 0 else None,
    "none": lambda _: b"",
}
"""Framings of this package beside ``prefix``.

``header``: a guid in the record's headers (Confluent's V1), the prefix where there is none. ``single-object``: Avro's
own. ``md5`` and ``version``: the writer's MD5, or its ordinal + 1 as Avro writes a long (AVRO-1124). ``none``: nothing.
"""


def framing_of(name: str | Encodings, schemas: Iterable[RegisteredSchema]) -> FrameFormat:
    """The framing with the heads of all schemas that a plan knows. Raises `PlanError` for a name that is none."""
    if not isinstance(name, str):
        return _pravega({one.schema_id for one in schemas}, name)
    if name == PREFIX.name:
        return PREFIX
    if name == PRAVEGA:
        raise PlanError(
            "Pravega's framing needs a group: name its subject, or give {encoding id: PlannedEncoding(...)}"
        )
    make_head = HEADS.get(name)
    if make_head is None:
        plugins = {point.name: point for point in entry_points(group=GROUP)}
        if name not in plugins:
            names = ", ".join(sorted({PREFIX.name, *HEADS, *plugins}))
            raise PlanError(f"{name!r} is no framing; there are {names}")
        make_head = plugins[name].load()
    heads: dict[str, int] = {}
    for schema in schemas:
        head = make_head(schema)
        if head is not None:
            heads[head.hex()] = schema.schema_id  # where two share one, they read alike, or the later version counts
    return FrameFormat(name, tuple(heads.items()))


def _pravega(schema_ids: set[int], encodings: Encodings) -> FrameFormat:
    """Pravega's heads, a 1 and the encoding id, which only the table of encodings explains."""
    heads: list[tuple[str, int]] = []
    codecs: list[tuple[str, str]] = []
    indexes: list[tuple[str, str]] = []
    properties: dict[str, Pairs] = {}
    for number, stated in sorted(encodings.items()):
        encoding = as_encoding(stated)
        if not isinstance(stated, PlannedEncoding):
            _refuse_missing_codec(number, encoding.codec)
        if encoding.schema_id not in schema_ids:
            continue
        head = ENCODED + number.to_bytes(4, "big").hex()
        heads.append((head, encoding.schema_id))
        if encoding.codec not in {NO_CODEC, "none"}:
            codecs.append((head, encoding.codec))
        if encoding.properties:
            properties[encoding.codec] = encoding.properties
        if encoding.index:
            indexes.append((head, encoding.index))
    return FrameFormat(PRAVEGA, tuple(heads), tuple(codecs), tuple(properties.items()), tuple(indexes))


def _refuse_missing_codec(number: int, codec: str) -> None:
    try:
        find_codec(codec)
    except MissingCodecError as missing:
        names = ", ".join(sorted(filter(None, CODECS)))
        raise PlanError(
            f"encoding {number} has the codec {codec!r}, and those that can be read are {names}"
        ) from missing
