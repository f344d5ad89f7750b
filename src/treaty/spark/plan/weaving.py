"""Many writers in one: the two schemas that Spark's `from_avro` is handed, and what is put before and after a payload.

The writer is a union with one record per id, ``{h: the five bytes of the frame, r: the writer, t: double}``, the reader
``{r: the reader, t: double}``. A row becomes *branch number + frame + tail*: one concatenation. The tail comes back
unharmed only if the payload was neither too short nor too long. Its bytes are odd and below 0x80, so that a damaged
length that lies in the tail is a small negative number and asks for no memory; read as a double they are a plain number.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import Field, Fixed, Named, Primitive, Record, Reference, Schema, Type, Union
from treaty.spark.plan.fitting import Fitted, Hidden, with_hidden

TAIL = bytes.fromhex("3f5d2b714d1b6735")
TAIL_VALUE: float = struct.unpack("<d", TAIL)[0]
"""The tail as Avro reads it: a little-endian double."""
FRAME = Fixed("treaty.Frame", 5)


@dataclass(frozen=True, slots=True)
class Woven:
    """Texts of the two schemas; with one writer there is no union, hence no branch number."""

    writer: str
    reader: str
    union: bool


def weave(fitted: Sequence[Fitted], reader: Schema) -> Woven:
    """Join fitted writers, in the order of their branches, under one reader."""
    names: dict[str, Named] = {FRAME.full: FRAME}
    branches = []
    for place, one in enumerate(fitted):
        names |= one.names
        envelope = _envelope(f"w{place}.Envelope", one.root, framed=True)
        names[envelope.full] = envelope
        branches.append(Reference(envelope.full))
    root: Type = Union(tuple(branches)) if len(branches) > 1 else branches[0]
    return Woven(print_schema(Schema(root, names)), print_schema(_reader(fitted, reader)), len(branches) > 1)


def _envelope(full: str, root: Type, *, framed: bool) -> Record:
    parts = [Field("r", root), Field("t", Primitive("double"))]
    return Record(full, tuple([Field("h", Reference(FRAME.full)), *parts] if framed else parts))


def _reader(fitted: Sequence[Fitted], reader: Schema) -> Schema:
    """The reader in its envelope, its named types known under each writer's names for them."""
    aliases: dict[str, list[str]] = {}
    hidden: dict[tuple[str, str], Hidden] = {}
    names = dict(reader.names)
    for one in fitted:
        names |= {named.full: named for named in one.extra}
        hidden |= {(secret.record, secret.name): secret for secret in one.hidden}
        for full, target in one.aliases:
            aliases.setdefault(target, []).append(full)
    for full, named in names.items():
        known = replace(named, aliases=tuple(aliases.get(full, ())))
        if isinstance(known, Record):
            bare = tuple(replace(field, aliases=()) for field in known.fields)
            known = with_hidden(replace(known, fields=bare), tuple(hidden.values()))
        names[full] = known
    envelope = _envelope("treaty.Envelope", reader.root, framed=False)
    return Schema(Reference(envelope.full), names | {envelope.full: envelope})


def branch_number(place: int) -> bytes:
    """A union's branch as Avro writes it: a zigzag varint."""
    value, out = place << 1, bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def header(schema_id: int) -> bytes:
    """The first five bytes of a frame: magic 0 and the id, big-endian."""
    return b"\0" + schema_id.to_bytes(4, "big")
