"""Many writers in one: the two schemas that Spark's `from_avro` is handed, and what is put before and after a payload.

The writer is a union with one envelope per id: the five bytes of the frame, the writer's own fields, and a double. The
reader is an envelope too: the reader's fields and the double. A row becomes *branch number + frame + tail*: one
concatenation. The tail comes back unharmed only if the payload was neither too short nor too long. Its bytes are odd
and below 0x80, so that a damaged length that lies in the tail is a small negative number and asks for no memory; read
as a double they are a plain number. Each plan has its own tail, and each process derives a secret one from it: a row
that contained the tail could end before its bytes do. Where a schema is no record, the envelope has one field for the
whole of it.
"""

import hashlib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
    AvroFixed,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
)
from treaty.formats.json_text import Json
from treaty.plan.avro.fitted_writer import FittedWriter, HiddenField, with_hidden
from treaty.plan.avro.flat import flatten_schema, put_nulls_first
from treaty.plan.avro.logical_types import find_column_logical
from treaty.plan.format_plans import AvroFormatPlan

FRAME = AvroFixed("treaty.Frame", 5)


HEAD, WHOLE = "_treaty_head", "_treaty_whole"


@dataclass(frozen=True, slots=True)
class EnvelopeSchemas:
    """Texts of the two schemas; with one writer there is no union, hence no branch number.

    `tail` is the name of the envelope's last field, `whole` that of the field with the whole record, empty where the
    record's fields are the envelope's own: that saves Python's reader an object per row.
    """

    writer: str
    reader: str
    union: bool
    tail: str
    whole: str


def make_envelope(fitted: Sequence[FittedWriter], reader: AvroSchema) -> EnvelopeSchemas:
    """Join fitted writers, in the order of their branches, under one reader."""
    reader = flatten_schema(reader, lambda leaf: leaf.props if find_column_logical(leaf) else ())
    reader_names = _reader_names(fitted, reader)
    roots = [_record(one.root, one.names) for one in fitted]
    target = _record(reader.root, reader_names)
    open_ = target is not None and all(root is not None for root in roots)
    tail = _find_free_name("_treaty_tail", (target, *roots))
    names: dict[str, NamedType] = {FRAME.full: FRAME}
    branches = []
    for place, (writer, root) in enumerate(zip(fitted, roots, strict=True)):
        names |= writer.names
        inside = root.fields if open_ and root else (Field(WHOLE, writer.root),)
        head = Field(_find_free_name(HEAD, (target, root)), AvroReference(FRAME.full))
        full = _free_type(f"w{place}.Envelope", writer.names)
        names[full] = AvroRecord(full, (head, *inside, Field(tail, AvroPrimitive("double"))))
        branches.append(AvroReference(full))
    inside = target.fields if open_ and target else (Field(WHOLE, reader.root),)
    full = _free_type("treaty.Envelope", reader_names)
    envelope = AvroRecord(full, (*inside, Field(tail, AvroPrimitive("double"))))
    root_type: AvroType = AvroUnion(tuple(branches)) if len(branches) > 1 else branches[0]
    return EnvelopeSchemas(
        print_schema(AvroSchema(root_type, names)),
        print_schema(put_nulls_first(AvroSchema(AvroReference(full), reader_names | {full: envelope}))),
        union=len(branches) > 1,
        tail=tail,
        whole="" if open_ else WHOLE,
    )


def _record(root: AvroType, names: Mapping[str, NamedType]) -> AvroRecord | None:
    named = names[root.full] if isinstance(root, AvroReference) else root
    return named if isinstance(named, AvroRecord) else None


def _find_free_name(name: str, records: Iterable[AvroRecord | None]) -> str:
    """The name, longer if a field of the records has it."""
    field_names = {field.name for record in records if record for field in record.fields}
    while name in field_names:
        name += "_"
    return name


def _free_type(full: str, type_names: Container[str]) -> str:
    """The name, longer if a type without a namespace has it."""
    while full in type_names:
        full += "_"
    return full


def nest_record(plan: AvroFormatPlan) -> AvroFormatPlan:
    """The same plan with the record in one field of the envelope, `whole`, where its fields were the envelope's own.

    Then one step takes the record out of its envelope, however many fields it has.
    """
    if plan.whole:
        return plan
    writer, reader = json.loads(plan.writer_text), json.loads(plan.reader_text)
    for record in writer if isinstance(writer, list) else [writer]:
        head, *inside, tail = record["fields"]
        record["fields"] = [head, _nest_fields(inside), tail]
    *inside, tail = reader["fields"]
    reader["fields"] = [_nest_fields(inside), tail]
    return replace(plan, whole=WHOLE, writer_text=json.dumps(writer), reader_text=json.dumps(reader))


def _nest_fields(fields: Sequence[Json]) -> Json:
    return {"name": WHOLE, "type": {"type": "record", "name": WHOLE, "fields": list(fields)}}


def _reader_names(fitted: Sequence[FittedWriter], reader: AvroSchema) -> dict[str, NamedType]:
    """The reader's named types, known under each writer's names for them, with the hidden fields."""
    aliases: dict[str, list[str]] = {}
    hidden: dict[tuple[str, str], HiddenField] = {}
    names = dict(reader.names)
    for writer in fitted:
        names |= {named.full: named for named in writer.extra}
        hidden |= {(secret.record, secret.name): secret for secret in writer.hidden}
        for full, target in writer.aliases:
            aliases.setdefault(target, []).append(full)
    for full, named in names.items():
        aliased = replace(named, aliases=tuple(aliases.get(full, ())))
        if isinstance(aliased, AvroRecord):
            bare = tuple(replace(field, aliases=()) for field in aliased.fields)
            aliased = with_hidden(replace(aliased, fields=bare), tuple(hidden.values()))
        names[full] = aliased
    return names


def encode_branch(place: int) -> bytes:
    """A union's branch as Avro writes it: a zigzag varint."""
    value, out = place << 1, bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def make_header(schema_id: int) -> bytes:
    """The first five bytes of a frame: magic 0 and the id, big-endian."""
    return b"\0" + schema_id.to_bytes(4, "big")


def make_ending(*parts: str, key: bytes = b"") -> bytes:
    """Eight bytes for the tail from texts, and from a secret key."""
    mixed = hashlib.blake2b(key=key, digest_size=8)
    for part in parts:
        mixed.update(len(part).to_bytes(8, "big") + part.encode("utf-8", "surrogatepass"))
    return bytes(one & 0x7F | 1 for one in mixed.digest())
