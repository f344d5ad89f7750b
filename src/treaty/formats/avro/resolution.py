"""Avro's schema resolution: which part of a writer is read as which part of a reader.

Serializers, Arrow, plans for Spark and comparisons ask here, so that all of them read alike. The rules are those of Java's
library (`Resolver` of Avro 1.12), but for these: a full name goes before an alias, and before the place in unions that
differ in namespaces alone; an enum or a fixed in a union may have another namespace.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

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

ResolvedType = AvroPrimitive | AvroArray | AvroMap | AvroUnion | AvroRecord | AvroEnum | AvroFixed
"""A type that is not a reference."""
TypePair = tuple[AvroType, AvroType]
"""A type of a writer and one of a reader."""
Found = TypeVar("Found")

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
    def resolved(self) -> ResolvedType:
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
    """The reader's field for each writer field that has one: by name first, then by the reader's aliases.

    Of several reader fields with one alias the last one counts, as in Java. Of several writer fields for one reader field
    the first alias counts; `find_contested` says whether there are any.
    """
    by_name = {field.name: field for field in reader.fields}
    pairs = {field.name: by_name[field.name] for field in writer.fields if field.name in by_name}
    paired_names = {field.name for field in pairs.values()}
    free = {field.name for field in writer.fields} - pairs.keys()
    for target in reversed(reader.fields) if free else ():
        if target.name not in paired_names:
            old = next((alias for alias in target.aliases if alias in free), None)
            if old is not None:
                pairs[old] = target
                free.discard(old)
    return pairs


def find_contested(writer: AvroRecord, reader: AvroRecord) -> tuple[str, tuple[str, ...]] | None:
    """The first reader field that several writer fields would be read as, and these; None where there is none.

    Java refuses such a pair of records. A writer field that is another one by its name counts for that one alone.
    """
    if not any(target.aliases for target in reader.fields):
        return None
    names, own = {source.name for source in writer.fields}, {target.name for target in reader.fields}
    for target in reader.fields:
        aliases = (alias for alias in target.aliases if alias not in own)
        rivals = tuple(dict.fromkeys(name for name in (target.name, *aliases) if name in names))
        if len(rivals) > 1:
            return target.name, rivals
    return None


def is_named_alike(writer: NamedType, reader: NamedType) -> bool:
    """Whether the last parts of two names are the same, or the writer's whole name is an alias of the reader's."""
    return simple_of(writer.full) == simple_of(reader.full) or writer.full in reader.aliases


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
    return reader if is_named_alike(writer, reader) else None


def may_read(old: ResolvedType, new: ResolvedType) -> bool:
    """Whether some value may be read, by two types alone that are no unions: what is inside them is not asked."""
    if isinstance(old, AvroRecord | AvroEnum | AvroFixed):
        return find_named_reader(old, new) is not None
    return old.kind == new.kind or new.kind in PROMOTIONS.get(old.kind, ())


@dataclass(slots=True)
class AvroResolution:
    """How the types of one writer are read as those of one reader; what was found out is kept."""

    writer: AvroSchema
    reader: AvroSchema
    _tables: dict[int, "tuple[AvroUnion, UnionBranches]"] = field(default_factory=dict)
    """Branches of the reader's unions, by the id of each union; the union is kept, so that no other one gets its id."""
    _records: dict[tuple[str, str], bool] = field(default_factory=dict)

    def find_branch(self, part: AvroType, union: AvroUnion, place: int | None = None) -> int | None:
        """The place of the branch of a reader's union that a type of the writer, no union, is read as; None if there is none.

        `place`: where the type is in a union of the writer that differs from the reader's in namespaces alone.
        """
        return self._list_branches(union).find(AvroSide(self.writer, part), self, place)

    def find_places(self, node: AvroType, union: AvroUnion) -> list[int | None]:
        """The places in a reader's union for each branch of a writer's union, or for the one type that is none."""
        resolved = self.writer.resolve(node)
        if not isinstance(resolved, AvroUnion):
            return [self.find_branch(node, union)]
        alike = self._is_alike(resolved, union)
        return [self.find_branch(one, union, at if alike else None) for at, one in enumerate(resolved.branches)]

    def can_read(self, part: AvroType, target: AvroType) -> bool:
        """Whether some value of a writer's type may be read as a reader's: records are looked into, lists and maps are not."""
        return self.run_steps(self._read(part, target))

    def run_steps(self, steps: Generator[TypePair, bool, Found]) -> Found:
        """Return what steps come to that ask whether a type may be read as another. Records may be nested in any depth."""
        open_steps: list[Generator[TypePair, bool, Any]] = [steps]
        answer: Any = None
        while True:
            try:
                pair = open_steps[-1].send(answer)
            except StopIteration as end:
                open_steps.pop()
                answer = end.value
                if not open_steps:
                    return answer  # type: ignore[no-any-return]  # what the first steps return
            else:
                open_steps.append(self._read(*pair))
                answer = None

    def _list_branches(self, union: AvroUnion) -> "UnionBranches":
        if id(union) not in self._tables:
            self._tables[id(union)] = union, UnionBranches(AvroSide(self.reader, one) for one in union.branches)
        return self._tables[id(union)][1]

    def _read(self, part: AvroType, target: AvroType) -> Generator[TypePair, bool, bool]:
        """The steps of `can_read`."""
        old, new = self.writer.resolve(part), self.reader.resolve(target)
        if isinstance(old, AvroUnion):
            return True
        if isinstance(new, AvroUnion):
            return (yield from self._list_branches(new).search(AvroSide(self.writer, part), None)) is not None
        if isinstance(old, AvroRecord) and isinstance(new, AvroRecord):
            key = (old.full, new.full)
            if key not in self._records:
                self._records[key] = True  # what a record inside itself is read as does not decide
                self._records[key] = yield from self._read_fields(old, new)
            return self._records[key]
        return may_read(old, new)

    def _read_fields(self, old: AvroRecord, new: AvroRecord) -> Generator[TypePair, bool, bool]:
        if new.full.startswith(DEEPER):
            return True  # its one field takes no bytes, and a plan adds it to the writer
        pairs = pair_fields(old, new)
        filled = {one.name for one in pairs.values()}
        if any(one.default is ABSENT and one.name not in filled for one in new.fields):
            return False
        if find_contested(old, new) is not None:
            return False
        for source in old.fields:
            if source.name in pairs and not (yield source.type, pairs[source.name].type):
                return False
        return True

    def _is_alike(self, part: AvroType, target: AvroType) -> bool:
        """Whether two types differ in namespaces, docs and defaults alone."""
        waiting, compared = [(part, target)], set[tuple[str, str]]()
        while waiting:
            pair = waiting.pop()
            old, new = self.writer.resolve(pair[0]), self.reader.resolve(pair[1])
            if isinstance(old, AvroRecord) and isinstance(new, AvroRecord):
                if (old.full, new.full) in compared:
                    continue
                compared.add((old.full, new.full))
            inner = _list_inner(old, new)
            if inner is None:
                return False
            waiting += inner
        return True


def _list_inner(old: ResolvedType, new: ResolvedType) -> list[TypePair] | None:
    """The types inside of two that have to be alike, so that these are; None where they are not, whatever is inside."""
    match old, new:
        case (AvroUnion(), AvroUnion()):
            same = len(old.branches) == len(new.branches)
            return list(zip(old.branches, new.branches, strict=True)) if same else None
        case (AvroArray(), AvroArray()):
            return [(old.items, new.items)]
        case (AvroMap(), AvroMap()):
            return [(old.values, new.values)]
        case (AvroRecord(), AvroRecord()):
            same = [one.name for one in old.fields] == [one.name for one in new.fields]
            if not same or simple_of(old.full) != simple_of(new.full):
                return None
            return [(left.type, right.type) for left, right in zip(old.fields, new.fields, strict=True)]
        case (AvroEnum(), AvroEnum()):
            return [] if simple_of(old.full) == simple_of(new.full) and old.symbols == new.symbols else None
        case (AvroFixed(), AvroFixed()):
            return [] if simple_of(old.full) == simple_of(new.full) and old.size == new.size else None
    return [] if isinstance(old, AvroPrimitive) and old.kind == new.kind else None


class UnionBranches:
    """The branches of a reader's union by what decides among them, so that each of many types finds its branch at once.

    The same kind and name first, then an alias that is the name, then the same kind and last part of the name, then a
    record that has all it needs, then a promotion: the order of the Java library's resolver, which however asks an enum
    and a fixed for the whole name. A branch that no value could be read as is passed over while there is another one. Of
    several that fit the first one counts, but of records with the same last part of the name the last one, as in Java.
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
        place, resolved = len(self._sides), branch.resolved
        self._sides.append(branch)
        self._keys.append(self._keys_of(resolved))
        for key in self._keys[place]:
            self._places[key].append(place)

    def replace(self, place: int, branch: AvroSide) -> None:
        """Enter another type in the place of a branch, or the same named type with more names or other fields."""
        for key in self._keys[place]:
            self._places[key].remove(place)
        self._sides[place] = branch
        self._keys[place] = self._keys_of(branch.resolved)
        for key in self._keys[place]:
            insort(self._places[key], place)

    def _keys_of(self, resolved: ResolvedType) -> frozenset[BranchKey]:
        if not isinstance(resolved, AvroRecord | AvroEnum | AvroFixed):
            return frozenset({("kind", resolved.kind, "")})
        keys: set[BranchKey] = {("name", resolved.kind, find_origin(resolved.full))}
        keys |= {("alias", resolved.kind, name) for name in resolved.aliases}
        keys.add(("last part", resolved.kind, simple_of(resolved.full)))
        if isinstance(resolved, AvroRecord):
            keys |= {("last part of an alias", resolved.kind, simple_of(name)) for name in resolved.aliases}
        return frozenset(keys | self._find_need(resolved)) if isinstance(resolved, AvroRecord) else frozenset(keys)

    def _find_need(self, record: AvroRecord) -> set[BranchKey]:
        """The names of one field that a record needs, the one that fewest others are entered under."""
        needed = [(field.name, *field.aliases) for field in record.fields if field.default is ABSENT]
        rarest = min(needed, key=lambda names: sum(len(self._places.get(_need(one), ())) for one in names), default=())
        return {_need(name) for name in rarest} or {NO_NEED}

    def find(self, writer: AvroSide, resolution: AvroResolution | None = None, place: int | None = None) -> int | None:
        """Return the place of the branch that a writer's type, no union, is read as, or None.

        `resolution` is asked what can be read; `place` as of `AvroResolution.find_branch`.
        """
        if not self._sides:
            return None
        pair = resolution or AvroResolution(writer.schema, self._sides[0].schema)
        return pair.run_steps(self.search(writer, place))

    def search(self, writer: AvroSide, place: int | None) -> Generator[TypePair, bool, int | None]:
        """The steps of `find`."""
        resolved = writer.resolved
        if not isinstance(resolved, AvroRecord | AvroEnum | AvroFixed):
            same = self._find_first("kind", resolved.kind, "")
            if same is not None:
                return same
            promoted = [self._find_first("kind", kind, "") for kind in PROMOTIONS.get(resolved.kind, ())]
            return min((place for place in promoted if place is not None), default=None)
        unreadable = None
        for places in self._rank(resolved, place):
            for at in islice(places, RECORDS_TRIED):
                if (yield writer.node, self._sides[at].node):
                    return at
            unreadable = places[0] if unreadable is None and places else unreadable
        if isinstance(resolved, AvroRecord):
            for at in self._candidates(resolved)[:RECORDS_TRIED]:
                if (yield writer.node, self._sides[at].node):
                    return at
        return unreadable

    def _rank(self, resolved: NamedType, place: int | None) -> Iterable[Sequence[int]]:
        """The places of branches that a named type may be by its name, the strongest reason first."""
        full, last = find_origin(resolved.full), simple_of(find_origin(resolved.full))
        yield self._places.get(("name", resolved.kind, full), ())
        yield self._places.get(("alias", resolved.kind, full), ())
        for reason in ("last part", "last part of an alias"):
            places = self._places.get((reason, resolved.kind, last), ())
            if isinstance(resolved, AvroRecord):
                places = places[::-1]
            yield (place, *(at for at in places if at != place)) if place is not None and place in places else places

    def _find_first(self, *key: str) -> int | None:
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
