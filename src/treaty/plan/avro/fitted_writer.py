"""Rewrites a writer so that Avro's resolver, in a union of many writers, reads it as the reader.

Each named type of the writer gets a namespace of its own, its fields get the names of the matching reader fields, and a
field with a different logical type is read into a hidden field of the reader.
"""

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from treaty.core.finding import Finding
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    ResolvedType,
    is_null,
    simple_of,
)
from treaty.formats.avro.resolution import DEEPER, DEEPER_MARK, AvroResolution, find_named_reader, pair_fields
from treaty.formats.avro.rules import MISSING_UNION_BRANCH
from treaty.plan.avro.bounds import is_deeper
from treaty.plan.avro.columns import has_one_column
from treaty.plan.avro.logical_types import find_logical, resolve_logical


@dataclass(frozen=True, slots=True)
class HiddenField:
    """A second field of a reader's record, for writers whose logical type differs: its name, type and conversion."""

    record: str
    field: str
    name: str
    type: AvroType
    how: str


@dataclass(frozen=True, slots=True)
class FittedWriter:
    """A rewritten writer.

    `aliases` gives the reader's name for each of its named types, `hidden` the hidden fields that it fills, `extra` the
    named types that those need in the reader. `unread` says which types are passed over, though the reader takes them.
    """

    root: AvroType
    names: Mapping[str, NamedType]
    aliases: tuple[tuple[str, str], ...]
    hidden: tuple[HiddenField, ...]
    extra: tuple[NamedType, ...]
    findings: tuple[Finding, ...]
    unread: tuple[Finding, ...] = ()


def fit_writer(writer: AvroSchema, reader: AvroSchema, prefix: str) -> FittedWriter:
    """Rewrite `writer` for `reader`, its names under `prefix`; findings say where logical types don't fit."""
    reader_names = dict(reader.names)
    grown = AvroSchema(reader.root, reader_names)
    work = _Fitter(writer, grown, prefix, reader_names, AvroResolution(writer, grown))
    work.check_root()
    root = work.pair(writer.root, reader.root, "")
    hidden = tuple(one for one in work.hidden.values() if one)
    extra = tuple(named for full, named in reader_names.items() if full not in reader.names)
    return FittedWriter(root, work.names, tuple(work.aliases), hidden, extra, tuple(work.findings), tuple(work.unread))


@dataclass(slots=True)
class _Fitter:
    writer: AvroSchema
    reader: AvroSchema
    prefix: str
    known: dict[str, NamedType]
    resolution: AvroResolution
    names: dict[str, NamedType] = field(default_factory=dict)
    done: dict[tuple[str, str, bool], str] = field(default_factory=dict)
    aliases: list[tuple[str, str]] = field(default_factory=list)
    hidden: dict[tuple[str, str], HiddenField | None] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    unread: list[Finding] = field(default_factory=list)
    turns: dict[str, int] = field(default_factory=dict)
    """The last number that was put behind a name because the name was taken."""
    origins: dict[str, str] = field(default_factory=dict)
    """By the name of a hidden type, that of the reader's type in whose place it stands."""
    lasts: frozenset[str] = frozenset()
    """The last parts of the names and aliases of the reader's types."""

    def __post_init__(self) -> None:
        """Look at the reader's names."""
        named = self.reader.names.values()
        self.lasts = frozenset(simple_of(name) for one in named for name in (one.full, *one.aliases))

    def pair(self, writer: AvroType, reader: AvroType | None, path: str, *, aliased: bool = True) -> AvroType:
        """The writer's type as it is to be read as the reader's; None reads it only to skip it.

        A named type that is not `aliased` is found without an alias of the reader's.
        """
        old = self.writer.resolve(writer)
        new = None if reader is None else self.reader.resolve(reader)
        if isinstance(old, AvroUnion):
            return self._union(old, new, path)
        if isinstance(new, AvroUnion):
            (target,) = self._targets(old, new)
            return self.pair(old, target, path)
        if isinstance(old, AvroArray):
            return AvroArray(self.pair(old.items, new.items if isinstance(new, AvroArray) else None, f"{path}/[]"))
        if isinstance(old, AvroMap):
            return AvroMap(self.pair(old.values, new.values if isinstance(new, AvroMap) else None, f"{path}/{{}}"))
        if isinstance(old, AvroRecord | AvroEnum | AvroFixed):
            return self._fit_named(old, find_named_reader(old, new), path, aliased=aliased)
        return AvroPrimitive(old.kind)

    def _union(self, old: AvroUnion, new: AvroType | None, path: str) -> AvroType:
        """A writer's union. Of types that one type of the reader takes, one gets its alias: Java's library refuses two of one name."""
        owners: dict[str, int] = {}
        targets: list[tuple[AvroType, AvroType | None, str]] = []
        for place, (part, target) in enumerate(zip(old.branches, self._targets(old, new), strict=True)):
            resolved, full = self.writer.resolve(part), ""
            if target is not None and isinstance(resolved, AvroRecord | AvroEnum | AvroFixed):
                named = find_named_reader(resolved, self.reader.resolve(target))
                full = named.full if named else ""
                if full not in owners or resolved.full == self.origins.get(full, full):
                    owners[full] = place
            targets.append((part, target, full))
        parts = []
        for place, (part, target, full) in enumerate(targets):
            aliased, resolved = not full or owners[full] == place, self.writer.resolve(part)
            # A record is found by its fields, these in a reader's union by the whole name alone.
            is_unread = not aliased and isinstance(new, AvroUnion) and isinstance(resolved, AvroEnum | AvroFixed)
            if is_unread:
                self._add_unread(path, resolved, self.writer.resolve(old.branches[owners[full]]))
            parts.append(self.pair(part, None if is_unread else target, path, aliased=aliased))
        return AvroUnion(tuple(parts))

    def _targets(self, writer: AvroType, reader: AvroType | None) -> list[AvroType | None]:
        """The part of the reader that each branch of a writer's union is read as, or the one type that is none."""
        if isinstance(reader, AvroUnion):
            places = self.resolution.find_places(writer, reader)
            return [None if place is None else reader.branches[place] for place in places]
        return [reader] * (len(writer.branches) if isinstance(writer, AvroUnion) else 1)

    def _fit_named(self, old: NamedType, new: NamedType | None, path: str, *, aliased: bool) -> AvroReference:
        key = (old.full, new.full if new else "", aliased)
        if key in self.done:
            return AvroReference(self.done[key])
        full = self.done[key] = self._free_name(old, new, aliased=aliased)
        self.names[full] = replace(old, full=full, aliases=(), props=(), doc=None)
        if new and aliased:
            self.aliases.append((full, new.full))
        if isinstance(old, AvroRecord):
            self.names[full] = self._record(old, new if isinstance(new, AvroRecord) else None, full, path)
        return AvroReference(full)

    def _free_name(self, old: NamedType, new: NamedType | None, *, aliased: bool) -> str:
        """A new name: without an alias its last part is that of the reader's type, and of a type to be skipped it is no type's."""
        if new and not aliased:
            return next(
                full for number in count(1) if (full := f"{self.prefix}.again_{number}.{new.full}") not in self.names
            )
        base_name = f"{self.prefix}.{new.full}" if new else f"{self.prefix}.skipped.{old.full}"
        full = base_name
        while full in self.names or (new is None and simple_of(full) in self.lasts):
            self.turns[base_name] = self.turns.get(base_name, 1) + 1
            full = f"{base_name}_{self.turns[base_name]}"
        return full

    def _record(self, old: AvroRecord, new: AvroRecord | None, full: str, path: str) -> AvroRecord:
        pairs = pair_fields(old, new) if new else {}
        fields = []
        for number, old_field in enumerate(old.fields):
            target = pairs.get(old_field.name)
            if target is None or new is None:
                fields.append(Field(f"_skipped_{number}", self.pair(old_field.type, None, path)))
                continue
            field_path = f"{path}/{target.name}"
            secret = self._secret(new, old_field, target, field_path)
            if secret is None:
                fields.append(Field(target.name, self.pair(old_field.type, target.type, field_path)))
            else:
                fields.append(Field(secret.name, self.pair(old_field.type, secret.type, field_path)))
        if new:
            self._agree_on_defaults(new, {target.name for target in pairs.values()}, path)
        if new and new.full.startswith(DEEPER):
            fields.append(Field(DEEPER_MARK, AvroPrimitive("null")))
        return AvroRecord(full, tuple(fields))

    def _secret(self, record: AvroRecord, old: Field, new: Field, path: str) -> HiddenField | None:
        """The hidden field that a writer's field goes to, where its logical type differs."""
        hows: set[str] = set()
        changed = self._leaves(old.type, new.type, path, hows)
        secret = None
        if hows:
            how = ",".join(sorted(hows))
            secret = HiddenField(record.full, new.name, hidden_name(record, new.name, how), changed, how)
        self._agree(record, new, secret, path)
        return secret

    def _agree_on_defaults(self, record: AvroRecord, filled: Container[str], path: str) -> None:
        """A field that a record of the writer lacks has its default, unless the value of a hidden field takes its place."""
        for target in record.fields:
            if target.name not in filled and target.default is not ABSENT and target.default is not None:
                self._agree(record, target, None, f"{path}/{target.name}")

    def _agree(self, record: AvroRecord, field: Field, secret: HiddenField | None, path: str) -> None:
        """A field of the reader is in one hidden field, in all records of the writer that are read as its own, or in none."""
        if self.hidden.setdefault((record.full, field.name), secret) != secret:
            self._add_finding(
                path, f"two places of the writer differ in how {record.full}.{field.name} is to be read", "", ""
            )

    def check_root(self) -> None:
        """Find the leaves of a schema that is no record: no hidden field can stand beside it."""
        hows: set[str] = set()
        self._leaves(self.writer.root, self.reader.root, "", hows)
        for how in sorted(hows):
            old, new = how.split(":")[:2]
            self._add_finding("", f"{old} becomes {new} in fields of records only, and the schema is none", old, new)

    def _leaves(self, writer: AvroType, reader: AvroType, path: str, hows: set[str]) -> AvroType:
        """The reader's type with the writer's leaf wherever the logical type differs; records inside have their own."""
        old, new = self.writer.resolve(writer), self.reader.resolve(reader)
        if isinstance(new, AvroUnion):
            return self._union_leaves(old, new, reader, path, hows)
        if isinstance(old, AvroUnion):
            return self._shared_leaves(old.branches, reader, path, hows)
        if isinstance(old, AvroArray) and isinstance(new, AvroArray):
            items = self._leaves(old.items, new.items, f"{path}/[]", hows)
            return reader if items is new.items else AvroArray(items)
        if isinstance(old, AvroMap) and isinstance(new, AvroMap):
            values = self._leaves(old.values, new.values, f"{path}/{{}}", hows)
            return reader if values is new.values else AvroMap(values)
        if isinstance(old, AvroPrimitive | AvroFixed) and isinstance(new, AvroPrimitive | AvroFixed):
            return self._leaf(old, new, reader, path, hows)
        return reader

    def _union_leaves(self, old: AvroType, new: AvroUnion, reader: AvroType, path: str, hows: set[str]) -> AvroType:
        """The reader's union with the leaves of a writer's types, each in the branch that it is read as."""
        read_types = defaultdict[int, list[AvroType]](list)
        parts_of_writer = old.branches if isinstance(old, AvroUnion) else (old,)
        for part, place in zip(parts_of_writer, self.resolution.find_places(old, new), strict=True):
            if place is not None:
                read_types[place].append(part)
        own_hows: set[str] = set()
        parts = [
            self._shared_leaves(read_types[place], part, path, own_hows) for place, part in enumerate(new.branches)
        ]
        within_depth = AvroUnion(tuple(part for part in new.branches if not is_deeper(part)))
        if own_hows and has_one_column(within_depth, self.reader.names):
            self._add_finding(
                path, "a column of int and long does not say which of them a number was", ", ".join(own_hows), ""
            )
        hows |= own_hows
        return AvroUnion(tuple(parts)) if own_hows else reader

    def _shared_leaves(self, olds: Sequence[AvroType], reader: AvroType, path: str, hows: set[str]) -> AvroType:
        """The reader's type for all types of a writer's union that are read as it: one conversion has to serve them."""
        resolved, by_hows = self.reader.resolve(reader), dict[frozenset[str], AvroType]()
        for old in olds:
            own_hows: set[str] = set()
            converted = self._leaves(old, reader, path, own_hows)
            leaf = self.writer.resolve(old)
            fixed = isinstance(leaf, AvroFixed) and find_named_reader(leaf, resolved) is not None
            if own_hows or fixed or {leaf.kind, resolved.kind} <= {"int", "long"}:
                by_hows[frozenset(own_hows)] = converted
        if len(by_hows) > 1:
            units = ", ".join(sorted(set().union(*by_hows)))
            self._add_finding(
                path, "two types of the writer are one to the reader, but not in the same unit", units, ""
            )
        hows.update(*by_hows)
        return next((made for mine, made in by_hows.items() if mine), reader)

    def _leaf(
        self,
        old: AvroPrimitive | AvroFixed,
        new: AvroPrimitive | AvroFixed,
        reader: AvroType,
        path: str,
        hows: set[str],
    ) -> AvroType:
        if isinstance(old, AvroFixed) and find_named_reader(old, new) is None:
            return reader
        resolution = resolve_logical(old, new)
        if resolution.wrong:
            self._add_finding(path, resolution.wrong, str(dict(old.props)), str(dict(new.props)))
        if not resolution.how:
            return reader
        logical = find_logical(old)
        tag = f"{resolution.how}:{logical.precision}:{logical.scale}" if logical else resolution.how
        if isinstance(old, AvroPrimitive):
            hows.add(tag)
            return old
        hows.add(f"{tag}:{old.size}")
        # Two branches of the reader's union that are converted alike stay two.
        target = new.full if isinstance(new, AvroFixed) else new.kind
        full = f"hidden.decimal_{'_'.join(tag.split(':')[2:])}_{old.size}.{target}"
        self.origins[full], before = target, self.known.get(full)
        names = tuple(dict.fromkeys((*(before.aliases if before else ()), old.full)))
        # In a union the writer's own name finds it.
        self.known[full] = AvroFixed(full, old.size, None, names, old.props)
        return AvroReference(full)

    def _add_unread(self, path: str, unread: ResolvedType, owner: ResolvedType) -> None:
        assert isinstance(unread, AvroEnum | AvroFixed)
        assert isinstance(owner, AvroEnum | AvroFixed)
        pair = f"{owner.full} and {unread.full} of {{writer}} are one type to the {{reader}}"
        sentence = f"at {path or 'the root'}: {pair}, and only {owner.full} is read as it"
        remedy = "a type of its own for each in the reader's union"
        self.unread.append(Finding(MISSING_UNION_BRANCH.id, path, sentence, "", unread.full, owner.full, remedy))

    def _add_finding(self, path: str, sentence: str, old: str, new: str) -> None:
        remedy = "the same logical type with the same unit, or a decimal with no fewer digits on either side"
        where = path or "the root"
        self.findings.append(Finding("LOGICAL_TYPE_MISMATCH", path, f"at {where}: {sentence}", "", old, new, remedy))


def hidden_name(record: AvroRecord, name: str, how: str) -> str:
    """A name for a hidden field: the same for the same conversion, and no field of the record has it."""
    tag = "".join(char if char.isalnum() else "_" for char in how)
    field_names = {one.name for one in record.fields}
    hidden_field = f"_{name}_{tag}"
    while hidden_field in field_names:
        hidden_field += "_"
    return hidden_field


def with_hidden(record: AvroRecord, hidden: tuple[HiddenField, ...]) -> AvroRecord:
    """The reader's record with its hidden fields; a field that has one may be missing from then on."""
    own = {one.name: one for one in hidden if one.record == record.full}
    if not own:
        return record
    shadowed = {one.field for one in own.values()}
    fields = [_optional(one) if one.name in shadowed and one.default is ABSENT else one for one in record.fields]
    fields += [_optional(Field(one.name, one.type)) for one in own.values()]
    return replace(record, fields=tuple(fields))


def _optional(field: Field) -> Field:
    """The field with null allowed and null as its default."""
    parts = field.type.branches if isinstance(field.type, AvroUnion) else (field.type,)
    rest = tuple(part for part in parts if not is_null(part))
    return replace(field, type=AvroUnion((AvroPrimitive("null"), *rest)), default=None)
