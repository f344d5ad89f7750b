"""Which part of a writer is read as which part of a reader: fields by name or alias, branches of unions by Avro's rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    simple_of,
)

Solid = AvroPrimitive | AvroArray | AvroMap | AvroUnion | AvroRecord | AvroEnum | AvroFixed
"""A type that is not a reference."""

PROMOTIONS = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}


@dataclass(frozen=True, slots=True)
class Side:
    """One of two schemas, and a type in it."""

    schema: AvroSchema
    node: AvroType

    @property
    def solid(self) -> Solid:
        """The type with references followed."""
        return self.schema.resolve(self.node)

    def at(self, node: AvroType) -> "Side":
        """Another type of the same schema."""
        return Side(self.schema, node)


def fields(writer: AvroRecord, reader: AvroRecord) -> dict[str, Field]:
    """The reader's field for each writer field that has one: by name first, then by the reader's aliases."""
    by_name = {field.name: field for field in reader.fields}
    found = {field.name: by_name[field.name] for field in writer.fields if field.name in by_name}
    taken = {field.name for field in found.values()}
    free = {field.name for field in writer.fields} - found.keys()
    for field in reader.fields:
        if field.name not in taken:
            old = next((alias for alias in field.aliases if alias in free), None)
            if old is not None:
                found[old] = field
                free.discard(old)
    return found


def branch(writer: Side, branches: Sequence[Side]) -> int | None:
    """The place of the reader's branch that a writer's type is read as, or None.

    The same kind and name first, then the same kind and last part of the name, then a record that has all it needs,
    then a promotion: the order of the Java library's resolver.
    """
    solid = writer.solid
    named = isinstance(solid, AvroRecord | AvroEnum | AvroFixed)
    for tries in (_same_name, _same_simple_name, _enough) if named else (_same_kind, _promoted):
        for place, candidate in enumerate(branches):
            if tries(solid, candidate.solid):
                return place
    return None


def _same_kind(writer: Solid, reader: Solid) -> bool:
    return writer.kind == reader.kind


def _promoted(writer: Solid, reader: Solid) -> bool:
    return reader.kind in PROMOTIONS.get(writer.kind, ())


def _same_name(writer: Solid, reader: Solid) -> bool:
    if not isinstance(writer, AvroRecord | AvroEnum | AvroFixed) or not isinstance(
        reader, AvroRecord | AvroEnum | AvroFixed
    ):
        return False
    return writer.kind == reader.kind and (writer.full == reader.full or writer.full in reader.aliases)


def _same_simple_name(writer: Solid, reader: Solid) -> bool:
    if not isinstance(writer, AvroRecord | AvroEnum | AvroFixed) or not isinstance(
        reader, AvroRecord | AvroEnum | AvroFixed
    ):
        return False
    known = {simple_of(reader.full), *map(simple_of, reader.aliases)}
    return writer.kind == reader.kind and simple_of(writer.full) in known


def _enough(writer: Solid, reader: Solid) -> bool:
    if not isinstance(writer, AvroRecord) or not isinstance(reader, AvroRecord):
        return False
    have = {field.name for field in fields(writer, reader).values()}
    return all(field.name in have or field.default is not ABSENT for field in reader.fields)
