"""Which part of a writer is read as which part of a reader: fields by name or alias, branches of unions by Avro's rules."""

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
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
    NamedType,
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


LEVEL, DEEPER = "_treaty_level_", "_treaty_deeper."
"""What stands before the name of a record whose recursion is opened to a depth, and of one that lies deeper."""
DEEPER_MARK = "_treaty_deeper"
"""The only field of a record that lies deeper: null, which takes no bytes of a writer."""
BranchKey = tuple[str, ...]
"""What a branch is looked up by: which property of it, its kind, and a name."""
NO_NEED: BranchKey = ("need", "record", "")
"""The key of records all of whose fields have defaults."""


RECORDS_TRIED = 100
"""Records of a reader's union whose fields are held against those of one writer's record without a branch of its name."""


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


def find_origin(full: str) -> str:
    """The name that a record had before its recursion was opened: the two sides may stand at different levels."""
    if full.startswith(LEVEL):
        return full.partition(".")[2]
    return full.removeprefix(DEEPER)


def pair_fields(writer: AvroRecord, reader: AvroRecord) -> dict[str, Field]:
    """The reader's field for each writer field that has one: by name first, then by the reader's aliases."""
    by_name = {field.name: field for field in reader.fields}
    pairs = {field.name: by_name[field.name] for field in writer.fields if field.name in by_name}
    paired_names = {field.name for field in pairs.values()}
    free = {field.name for field in writer.fields} - pairs.keys()
    for field in reader.fields:
        if field.name not in paired_names:
            old = next((alias for alias in field.aliases if alias in free), None)
            if old is not None:
                pairs[old] = field
                free.discard(old)
    return pairs


def find_named_reader(writer: NamedType, reader: AvroType | None) -> NamedType | None:
    """Return the reader's type if a named type of the writer in the same place is read as it, else None.

    An enum and a fixed need the same last part of the name, or an alias that is the writer's whole name, and a fixed the
    same size; a record is read by its fields, whatever its name. So does the Java library's resolver outside of a
    reader's unions.
    """
    if isinstance(writer, AvroRecord):
        return reader if isinstance(reader, AvroRecord) else None
    if not (
        (isinstance(writer, AvroEnum) and isinstance(reader, AvroEnum))
        or (isinstance(writer, AvroFixed) and isinstance(reader, AvroFixed) and writer.size == reader.size)
    ):
        return None
    return reader if simple_of(writer.full) == simple_of(reader.full) or writer.full in reader.aliases else None


class UnionBranches:
    """The branches of a reader's union by what decides among them, so that each of many types finds its branch at once.

    The same kind and name first, then an alias that is the name, then the same kind and last part of the name, then a
    record that has all it needs, then a promotion: the order of the Java library's resolver, which however asks an enum
    and a fixed for the whole name. Of several that fit the first one counts.
    """

    def __init__(self, branches: Iterable[AvroSide] = ()) -> None:
        """Enter the branches."""
        self._sides: list[AvroSide] = []
        self._keys: list[frozenset[BranchKey]] = []
        """The keys that each branch is entered under."""
        self._places: defaultdict[BranchKey, list[int]] = defaultdict(list)
        """Places of branches by their keys, ascending."""
        for branch in branches:
            self.append(branch)

    def append(self, branch: AvroSide) -> None:
        """Enter a branch behind the others."""
        place, solid = len(self._sides), branch.solid
        self._sides.append(branch)
        self._keys.append(self._keys_of(solid))
        for key in self._keys[place]:
            self._places[key].append(place)

    def replace(self, place: int, branch: AvroSide) -> None:
        """Enter another type in the place of a branch, or the same named type with more names or other fields."""
        for key in self._keys[place]:
            self._places[key].remove(place)
        self._sides[place] = branch
        self._keys[place] = self._keys_of(branch.solid)
        for key in self._keys[place]:
            insort(self._places[key], place)

    def _keys_of(self, solid: Solid) -> frozenset[BranchKey]:
        if not isinstance(solid, AvroRecord | AvroEnum | AvroFixed):
            return frozenset({("kind", solid.kind, "")})
        names = {solid.full, *solid.aliases}
        keys: set[BranchKey] = {("name", solid.kind, find_origin(solid.full))}
        keys |= {("alias", solid.kind, name) for name in solid.aliases}
        short = names if isinstance(solid, AvroRecord) else {solid.full}
        keys |= {("last part", solid.kind, simple_of(name)) for name in short}
        return frozenset(keys | self._find_need(solid)) if isinstance(solid, AvroRecord) else frozenset(keys)

    def _find_need(self, record: AvroRecord) -> set[BranchKey]:
        """The names of one field that a record needs, the one that fewest others are entered under."""
        needed = [(field.name, *field.aliases) for field in record.fields if field.default is ABSENT]
        rarest = min(needed, key=lambda names: sum(len(self._places.get(_need(one), ())) for one in names), default=())
        return {_need(name) for name in rarest} or {NO_NEED}

    def find(self, writer: AvroSide) -> int | None:
        """Return the place of the branch that a writer's type is read as, or None."""
        solid = writer.solid
        if not isinstance(solid, AvroRecord | AvroEnum | AvroFixed):
            same = self._first("kind", solid.kind, "")
            if same is not None:
                return same
            promoted = [self._first("kind", kind, "") for kind in PROMOTIONS.get(solid.kind, ())]
            return min((place for place in promoted if place is not None), default=None)
        full = find_origin(solid.full)
        place = self._first("name", solid.kind, full)
        if place is None:
            place = self._first("alias", solid.kind, full)
        if place is None:
            place = self._first("last part", solid.kind, simple_of(full))
        if place is None and isinstance(solid, AvroRecord):
            likely = self._candidates(solid)[:RECORDS_TRIED]
            place = next((at for at in likely if _has_all(writer, self._sides[at])), None)
        return place

    def _first(self, *key: str) -> int | None:
        places = self._places.get(key)
        return places[0] if places else None

    def _candidates(self, writer: AvroRecord) -> list[int]:
        """The places of records that may have all they need from a writer's record, in their order."""
        keys = {NO_NEED, *(_need(field.name) for field in writer.fields)}
        return sorted({place for key in keys for place in self._places.get(key, ())})


def _need(name: str) -> BranchKey:
    return "need", "record", name


def find_branch(writer: AvroSide, branches: Sequence[AvroSide]) -> int | None:
    """The place of the reader's branch that a writer's type is read as, or None; for many types make `UnionBranches`."""
    return UnionBranches(branches).find(writer)


def _has_all(writer: AvroSide, reader: AvroSide) -> bool:
    """Whether a reader's record has what it needs in a writer's one, each field of a type that may be read as its own."""
    old, new = writer.solid, reader.solid
    assert isinstance(old, AvroRecord)
    assert isinstance(new, AvroRecord)
    pairs = pair_fields(old, new)
    have = {field.name for field in pairs.values()}
    if any(field.name not in have and field.default is ABSENT for field in new.fields):
        return False
    return all(
        _may_read(writer.at(one.type), reader.at(pairs[one.name].type)) for one in old.fields if one.name in pairs
    )


def _may_read(writer: AvroSide, reader: AvroSide) -> bool:
    """Whether some value may be read, by the two types alone: what arrays, maps, records and unions hold is not asked."""
    old, new = writer.solid, reader.solid
    if isinstance(old, AvroUnion) or isinstance(new, AvroUnion):
        return True
    if isinstance(old, AvroRecord | AvroEnum | AvroFixed):
        return find_named_reader(old, new) is not None
    return old.kind == new.kind or new.kind in PROMOTIONS.get(old.kind, ())
