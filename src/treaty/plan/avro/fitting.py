"""One writer rewritten so that Avro's resolver, inside a union of many writers, reads it as the reader.

Every named type of the writer moves to a namespace of its own, its fields take the names of the reader's fields they
are read as, and a field whose logical type differs is led into a hidden field of the reader.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from treaty.core.finding import Finding
from treaty.formats.avro.model import (
    ABSENT,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Primitive,
    Record,
    Reference,
    Schema,
    Type,
    Union,
)
from treaty.plan.avro.flat import is_null
from treaty.plan.avro.logical import judge, logical_of
from treaty.plan.avro.pairing import Side, branch, fields


@dataclass(frozen=True, slots=True)
class Hidden:
    """A second field of a reader's record, for writers whose logical type differs: its name, type and conversion."""

    record: str
    field: str
    name: str
    type: Type
    how: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """A rewritten writer.

    `aliases` gives the reader's name for each of its named types, `hidden` the hidden fields that it fills, `extra` the
    named types that those need in the reader.
    """

    root: Type
    names: Mapping[str, Named]
    aliases: tuple[tuple[str, str], ...]
    hidden: tuple[Hidden, ...]
    extra: tuple[Named, ...]
    findings: tuple[Finding, ...]


def fit(writer: Schema, reader: Schema, prefix: str) -> Fitted:
    """Rewrite `writer` for `reader`, its names under `prefix`; findings say where logical types don't fit."""
    known = dict(reader.names)
    work = _Fitter(writer, Schema(reader.root, known), prefix, known)
    root = work.pair(writer.root, reader.root, "")
    hidden = tuple(one for one in work.hidden.values() if one)
    extra = tuple(known[full] for full in known.keys() - reader.names.keys())
    return Fitted(root, work.names, tuple(work.aliases), hidden, extra, tuple(work.findings))


@dataclass(slots=True)
class _Fitter:
    writer: Schema
    reader: Schema
    prefix: str
    known: dict[str, Named]
    names: dict[str, Named] = field(default_factory=dict)
    done: dict[tuple[str, str], str] = field(default_factory=dict)
    aliases: list[tuple[str, str]] = field(default_factory=list)
    hidden: dict[tuple[str, str], Hidden | None] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def pair(self, writer: Type, reader: Type | None, path: str) -> Type:
        """The writer's type as it is to be read as the reader's; None reads it only to skip it."""
        old = self.writer.resolve(writer)
        new = None if reader is None else self.reader.resolve(reader)
        if isinstance(old, Union):
            return Union(tuple(self.pair(part, self._target(part, new), path) for part in old.branches))
        if isinstance(new, Union):
            target = self._target(old, new)
            return self.pair(old, target, path)
        if isinstance(old, Array):
            return Array(self.pair(old.items, new.items if isinstance(new, Array) else None, f"{path}/[]"))
        if isinstance(old, Map):
            return Map(self.pair(old.values, new.values if isinstance(new, Map) else None, f"{path}/{{}}"))
        if isinstance(old, Record | Enum | Fixed):
            return self._named(old, new if type(new) is type(old) else None, path)
        return Primitive(old.kind)

    def _target(self, writer: Type, reader: Type | None) -> Type | None:
        """The part of the reader that one branch of a writer is read as."""
        if not isinstance(reader, Union):
            return reader
        sides = [Side(self.reader, part) for part in reader.branches]
        place = branch(Side(self.writer, writer), sides)
        return None if place is None else reader.branches[place]

    def _named(self, old: Named, new: Named | None, path: str) -> Reference:
        key = (old.full, new.full if new else "")
        if key in self.done:
            return Reference(self.done[key])
        wanted = f"{self.prefix}.{new.full}" if new else f"{self.prefix}.skipped.{old.full}"
        full, turn = wanted, 2
        while full in self.names:
            full, turn = f"{wanted}_{turn}", turn + 1
        self.done[key] = full
        self.names[full] = replace(old, full=full, aliases=(), props=(), doc=None)
        if new:
            self.aliases.append((full, new.full))
        if isinstance(old, Record):
            self.names[full] = self._record(old, new if isinstance(new, Record) else None, full, path)
        return Reference(full)

    def _record(self, old: Record, new: Record | None, full: str, path: str) -> Record:
        pairs = fields(old, new) if new else {}
        made = []
        for number, one in enumerate(old.fields):
            target = pairs.get(one.name)
            if target is None or new is None:
                made.append(Field(f"_skipped_{number}", self.pair(one.type, None, path)))
                continue
            at = f"{path}/{target.name}"
            secret = self._secret(new, one, target, at)
            if secret is None:
                made.append(Field(target.name, self.pair(one.type, target.type, at)))
            else:
                made.append(Field(secret.name, self.pair(one.type, secret.type, at)))
        return Record(full, tuple(made))

    def _secret(self, record: Record, old: Field, new: Field, path: str) -> Hidden | None:
        """The hidden field that a writer's field goes to, where its logical type differs."""
        hows: set[str] = set()
        changed = self._leaves(old.type, new.type, path, hows)
        secret = None
        if hows:
            how = ",".join(sorted(hows))
            secret = Hidden(record.full, new.name, hidden_name(record, new.name, how), changed, how)
        known = self.hidden.setdefault((record.full, new.name), secret)
        if known != secret:
            self._wrong(path, f"two places of the writer differ in how {record.full}.{new.name} is to be read", "", "")
        return secret

    def _leaves(self, writer: Type, reader: Type, path: str, hows: set[str]) -> Type:
        """The reader's type with the writer's leaf wherever the logical type differs; records inside have their own."""
        old, new = self.writer.resolve(writer), self.reader.resolve(reader)
        if isinstance(old, Union):
            for part in old.branches:
                reader = self._leaves(part, reader, path, hows)
            return reader
        if isinstance(new, Union):
            sides = [Side(self.reader, part) for part in new.branches]
            place = branch(Side(self.writer, old), sides)
            if place is None:
                return reader
            parts = list(new.branches)
            parts[place] = self._leaves(old, parts[place], path, hows)
            return reader if parts[place] is new.branches[place] else Union(tuple(parts))
        if isinstance(old, Array) and isinstance(new, Array):
            items = self._leaves(old.items, new.items, f"{path}/[]", hows)
            return reader if items is new.items else Array(items)
        if isinstance(old, Map) and isinstance(new, Map):
            values = self._leaves(old.values, new.values, f"{path}/{{}}", hows)
            return reader if values is new.values else Map(values)
        if isinstance(old, Primitive | Fixed) and isinstance(new, Primitive | Fixed):
            return self._leaf(old, new, reader, path, hows)
        return reader

    def _leaf(self, old: Primitive | Fixed, new: Primitive | Fixed, reader: Type, path: str, hows: set[str]) -> Type:
        verdict = judge(old, new)
        if verdict.wrong:
            self._wrong(path, verdict.wrong, str(dict(old.props)), str(dict(new.props)))
        if not verdict.how:
            return reader
        logical = logical_of(old)
        tag = f"{verdict.how}:{logical.precision}:{logical.scale}" if logical else verdict.how
        if isinstance(old, Primitive):
            hows.add(tag)
            return old
        hows.add(f"{tag}:{old.size}")
        full = f"hidden.{old.full}_{'_'.join(tag.split(':')[2:])}_{old.size}"
        self.known[full] = Fixed(full, old.size, None, (), old.props)
        return Reference(full)

    def _wrong(self, path: str, sentence: str, old: str, new: str) -> None:
        remedy = "the same logical type with the same unit, or a decimal with no fewer digits on either side"
        self.findings.append(Finding("LOGICAL_TYPE_MISMATCH", path, f"at {path}: {sentence}", "", old, new, remedy))


def hidden_name(record: Record, name: str, how: str) -> str:
    """A name for a hidden field: the same for the same conversion, and no field of the record has it."""
    tag = "".join(char if char.isalnum() else "_" for char in how)
    taken = {one.name for one in record.fields}
    made = f"_{name}_{tag}"
    while made in taken:
        made += "_"
    return made


def with_hidden(record: Record, hidden: tuple[Hidden, ...]) -> Record:
    """The reader's record with its hidden fields; a field that has one may be missing from then on."""
    mine = {one.name: one for one in hidden if one.record == record.full}
    if not mine:
        return record
    shadowed = {one.field for one in mine.values()}
    made = [_optional(one) if one.name in shadowed and one.default is ABSENT else one for one in record.fields]
    made += [_optional(Field(one.name, one.type)) for one in mine.values()]
    return replace(record, fields=tuple(made))


def _optional(one: Field) -> Field:
    """The field with null allowed and null as its default."""
    parts = one.type.branches if isinstance(one.type, Union) else (one.type,)
    rest = tuple(part for part in parts if not is_null(part))
    return replace(one, type=Union((Primitive("null"), *rest)), default=None)
