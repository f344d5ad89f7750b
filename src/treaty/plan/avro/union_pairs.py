"""Which branch of an older Avro union each branch of a newer one continues (`pair_branches`), and so which column it has; which types would share one (`ReadUnion`).

A merge need not read: it can add a member. So it pairs types by what they are called, and never by what they hold, as
Avro's resolution does as a last resort.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    is_null,
    simple_of,
)
from treaty.formats.avro.resolution import AvroResolution, AvroSide, BranchKey, ResolvedType, pair_fields

NUMBERS = ("int", "long", "float", "double")
"""Kinds of numbers; `pair_branches` pairs one with any other where no nearer one is left."""
FAMILIES = (frozenset({"int", "long"}), frozenset({"float", "double"}), frozenset({"string", "bytes"}))
"""Kinds of which a wider one takes the values of the other, and a column of both keeps them."""
Named = AvroRecord | AvroEnum | AvroFixed


def pair_branches(olds: Sequence[AvroSide], news: Sequence[AvroSide]) -> list[int | None]:
    """The place of the older branch that each newer one continues; None for one that no older one is.

    By the name first, then by a name that the older one had or knows as an alias, then by the newer one's aliases, then
    by the last part of the name. Types without a name go by their kind, numbers and texts then by one that is wider or
    narrower. No two newer branches continue the same older one, but for numbers or texts where the older one is the only
    type: a column of one type does not become a choice.
    """
    table = defaultdict[BranchKey, list[int]](list)
    for place, old in enumerate(olds):
        for key in _list_keys(old.resolved):
            table[key].append(place)
    places: list[int | None] = [None] * len(news)
    used_places = set[int]()
    for rule in (_find_same, _find_known, _find_renamed, _find_last_part, _find_family):
        for at, new in enumerate(news):
            if places[at] is None:
                free = (place for key in rule(new.resolved) for place in table.get(key, ()) if place not in used_places)
                places[at] = chosen = next(free, None)
                if chosen is not None:
                    used_places.add(chosen)
    non_null = [place for place, old in enumerate(olds) if not is_null(old.node)]
    if len(non_null) == 1:
        for at, new in enumerate(news):
            if places[at] is None and _is_family(new.resolved.kind, olds[non_null[0]].resolved.kind):
                places[at] = non_null[0]
    return places


def _list_keys(resolved: ResolvedType) -> set[BranchKey]:
    """What a branch may be found by."""
    if not isinstance(resolved, Named):
        return {("kind", resolved.kind, "")}
    keys: set[BranchKey] = {("name", resolved.kind, resolved.full)}
    keys |= {("alias", resolved.kind, name) for name in resolved.aliases}
    return keys | {("last part", resolved.kind, simple_of(name)) for name in (resolved.full, *resolved.aliases)}


def _find_same(new: ResolvedType) -> Iterator[BranchKey]:
    yield ("name", new.kind, new.full) if isinstance(new, Named) else ("kind", new.kind, "")


def _find_known(new: ResolvedType) -> Iterator[BranchKey]:
    if isinstance(new, Named):
        yield "alias", new.kind, new.full


def _find_renamed(new: ResolvedType) -> Iterator[BranchKey]:
    for name in new.aliases if isinstance(new, Named) else ():
        yield "name", new.kind, name
        yield "alias", new.kind, name


def _find_last_part(new: ResolvedType) -> Iterator[BranchKey]:
    if isinstance(new, Named):
        yield "last part", new.kind, simple_of(new.full)


def _find_family(new: ResolvedType) -> Iterator[BranchKey]:
    """The kinds that a number or a text shares a column with, the nearest ones first."""
    kinds = [*(kind for some in FAMILIES if new.kind in some for kind in sorted(some))]
    kinds += NUMBERS if new.kind in NUMBERS else ()
    for kind in dict.fromkeys(kinds):
        yield "kind", kind, ""


def _is_family(kind: str, other: str) -> bool:
    return any({kind, other} <= some for some in FAMILIES)


def is_ambiguous(schema: AvroSchema) -> bool:
    """Whether a union of the schema has two branches that one type of a writer may be read as."""
    return any(_has_rivals(union, schema) for union in _list_unions(schema))


def _list_unions(schema: AvroSchema) -> Iterator[AvroUnion]:
    """Every union of a schema with several types beside null."""
    waiting: list[AvroType] = [schema.root]
    for named in schema.names.values():
        waiting += (one.type for one in named.fields) if isinstance(named, AvroRecord) else ()
    while waiting:
        match waiting.pop():
            case AvroArray(items=below) | AvroMap(values=below):
                waiting.append(below)
            case AvroUnion() as union:
                waiting += union.branches
                if sum(not is_null(one) for one in union.branches) > 1:
                    yield union


def _has_rivals(union: AvroUnion, schema: AvroSchema) -> bool:
    branches = [schema.resolve(branch) for branch in union.branches]
    names = Counter(
        (branch.kind, name)
        for branch in branches
        if isinstance(branch, Named)
        for name in {name for full in (branch.full, *branch.aliases) for name in (full, simple_of(full))}
    )
    kinds = {branch.kind for branch in branches}
    return max(names.values(), default=0) > 1 or len(kinds & {*NUMBERS}) > 1 or kinds >= {"string", "bytes"}


PlaceKey = tuple[str, ...]
"""Where a writer's type meets a union of the reader: the names of both records, and the steps from there."""


@dataclass(frozen=True, slots=True)
class ReadUnion:
    """A union of a reader as one writer meets it.

    `path` leads there from the root, by the reader's names, ``[]`` for items of an array, ``{}`` for values of a map,
    ``member0`` for one of several types. `branches` are the writer's types, and `members` says for each of them which
    of the reader's types beside null it is read as, counted from 0; None where it is null or read as none.
    """

    path: tuple[str, ...]
    branches: tuple[str, ...]
    members: tuple[int | None, ...]

    @property
    def shared(self) -> tuple[str, ...]:
        """Types of the writer that are one member, empty where each has its own; numbers of one family may share one."""
        kinds = defaultdict[int, list[str]](list)
        for branch, member in zip(self.branches, self.members, strict=True):
            if member is not None:
                kinds[member].append(branch)
        many = (one for one in kinds.values() if len(one) > 1 and not any({*one} <= some for some in FAMILIES))
        return tuple(next(many, ()))


def list_read_unions(writer: AvroSchema, reader: AvroSchema) -> Mapping[PlaceKey, ReadUnion]:
    """The unions of a reader that a writer's types meet, each with the members they are read as."""
    work = _Reading(writer, reader, AvroResolution(writer, reader))
    work.pair(writer.root, reader.root, (), ())
    return work.found


@dataclass(slots=True)
class _Reading:
    writer: AvroSchema
    reader: AvroSchema
    resolution: AvroResolution
    found: dict[PlaceKey, ReadUnion] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)

    def pair(self, writer_type: AvroType, reader_type: AvroType, key: PlaceKey, path: tuple[str, ...]) -> None:
        """Follow two types down to all unions."""
        old, new = self.writer.resolve(writer_type), self.reader.resolve(reader_type)
        if isinstance(new, AvroUnion):
            self._read(writer_type, new, key, path)
        elif isinstance(old, AvroUnion):
            for branch in old.branches:
                self.pair(branch, reader_type, key, path)
        elif isinstance(old, AvroArray) and isinstance(new, AvroArray):
            self.pair(old.items, new.items, (*key, "[]"), (*path, "[]"))
        elif isinstance(old, AvroMap) and isinstance(new, AvroMap):
            self.pair(old.values, new.values, (*key, "{}"), (*path, "{}"))
        elif isinstance(old, AvroRecord) and isinstance(new, AvroRecord) and (old.full, new.full) not in self.seen:
            self.seen.add((old.full, new.full))
            pairs = pair_fields(old, new)
            for child in old.fields:
                if child.name in pairs:
                    target = pairs[child.name]
                    self.pair(child.type, target.type, (old.full, new.full, target.name), (*path, target.name))

    def _read(self, writer_type: AvroType, new: AvroUnion, key: PlaceKey, path: tuple[str, ...]) -> None:
        """The branches of a writer, or its one type, in a union of the reader."""
        old = self.writer.resolve(writer_type)
        parts = old.branches if isinstance(old, AvroUnion) else (writer_type,)
        non_null = [place for place, one in enumerate(new.branches) if not is_null(one)]
        both = zip(parts, self.resolution.find_places(writer_type, new), strict=True)
        places = [None if is_null(one) else place for one, place in both]
        members = tuple(None if place is None else non_null.index(place) for place in places)
        names = tuple(_name(self.writer.resolve(one)) for one in parts)
        if len(non_null) > 1 or len([*_drop_nulls(parts)]) > 1:
            self.found[key] = ReadUnion(path, names, members)
        for part, place, member in zip(parts, places, members, strict=True):
            if place is not None:
                step = () if len(non_null) == 1 else (f"member{member}",)
                self.pair(part, new.branches[place], (*key, *step), (*path, *step))


def _drop_nulls(parts: Iterable[AvroType]) -> Iterator[AvroType]:
    return (one for one in parts if not is_null(one))


def _name(resolved: ResolvedType) -> str:
    return resolved.full if isinstance(resolved, Named) else resolved.kind
