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
class AvroSide:
    """One of two schemas, and a type in it."""

    schema: AvroSchema
    node: AvroType

    @property
    def solid(self) -> Solid:
        """The type with references followed."""
        return self.schema.resolve(self.node)

    def at(self, node: AvroType) -> "AvroSide":
        """Another type of the same schema."""
        return AvroSide(self.schema, node)


def pair_fields(writer: AvroRecord, reader: AvroRecord) -> dict[str, Field]:
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


class UnionBranches:
    """The branches of a reader's union by what decides among them, so that each of many types finds its branch at once.

    The same kind and name first, then the same kind and last part of the name, then a record that has all it needs,
    then a promotion: the order of the Java library's resolver. Of several that fit the first one counts.
    """

    def __init__(self, branches: Sequence[AvroSide]) -> None:
        """Enter the branches."""
        self._kinds: dict[str, int] = {}
        self._names: dict[tuple[str, str], int] = {}
        self._simple_names: dict[tuple[str, str], int] = {}
        self._records: list[tuple[int, AvroRecord]] = []
        for place, candidate in enumerate(branches):
            solid = candidate.solid
            self._kinds.setdefault(solid.kind, place)
            if isinstance(solid, AvroRecord | AvroEnum | AvroFixed):
                for name in (solid.full, *solid.aliases):
                    self._names.setdefault((solid.kind, name), place)
                    self._simple_names.setdefault((solid.kind, simple_of(name)), place)
            if isinstance(solid, AvroRecord):
                self._records.append((place, solid))

    def find(self, writer: AvroSide) -> int | None:
        """Return the place of the branch that a writer's type is read as, or None."""
        solid = writer.solid
        if not isinstance(solid, AvroRecord | AvroEnum | AvroFixed):
            if solid.kind in self._kinds:
                return self._kinds[solid.kind]
            promoted = [self._kinds[kind] for kind in PROMOTIONS.get(solid.kind, ()) if kind in self._kinds]
            return min(promoted, default=None)
        place = self._names.get((solid.kind, solid.full))
        if place is None:
            place = self._simple_names.get((solid.kind, simple_of(solid.full)))
        if place is None and isinstance(solid, AvroRecord):
            place = next((at for at, record in self._records if _has_all(solid, record)), None)
        return place


def find_branch(writer: AvroSide, branches: Sequence[AvroSide]) -> int | None:
    """The place of the reader's branch that a writer's type is read as, or None; for many types make a `BranchTable`."""
    return UnionBranches(branches).find(writer)


def _has_all(writer: AvroRecord, reader: AvroRecord) -> bool:
    have = {field.name for field in pair_fields(writer, reader).values()}
    return all(field.name in have or field.default is not ABSENT for field in reader.fields)
