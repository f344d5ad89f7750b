"""The union reader: merges all versions of a subject into one schema, without dropping or narrowing anything.

A column keeps the first name it had; later names reach it through aliases. Types widen (int to long, float to double,
decimals to more digits, text beside bytes to bytes), unions and enums grow, records and what lies inside arrays and
maps merge likewise. A whole number of 64 bits beside a fraction is refused, unless the caller takes a double for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from treaty.core.finding import Finding
from treaty.formats.avro.model import (
    ABSENT,
    AbsentDefault,
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
    Props,
    ResolvedType,
    is_null,
)
from treaty.formats.avro.resolution import AvroSide, find_branch, pair_fields
from treaty.formats.json_text import Json
from treaty.plan.avro.defaults import choose_branch, translate_default
from treaty.plan.avro.logical_types import AvroLogicalType, find_logical, unite_logical
from treaty.plan.avro.union_pairs import NUMBERS, is_ambiguous, list_read_unions, pair_branches
from treaty.plan.format_plans import REFUSE

NULL = AvroPrimitive("null")
MOVED = ", whose types have the names of others by then"
ROUNDED = ', unless lossy = "double" makes doubles of both, which rounds numbers beyond 53 bits'


class MergeError(ValueError):
    """Two versions have no schema that reads both without loss; `finding` says where."""

    def __init__(self, finding: Finding) -> None:
        """Keep the finding."""
        super().__init__(finding.sentence)
        self.finding = finding


def merge(versions: Sequence[AvroSchema], lossy: str = REFUSE) -> AvroSchema:
    """One schema that reads every version, oldest first. Raises `MergeError`."""
    merged = versions[0]
    for place, newer in enumerate(versions[1:], 1):
        merged = merge_next(merged, newer, versions[:place], lossy)
    return merged


def merge_next(merged: AvroSchema, newer: AvroSchema, earlier: Sequence[AvroSchema], lossy: str = REFUSE) -> AvroSchema:
    """One schema that reads the earlier versions, which `merged` is made of, and a newer one.

    Each type of a union keeps its column, and two types of one version have two. Raises `MergeError` where the names
    don't allow that.
    """
    work = _Merger(merged, newer, lossy, dict(merged.names))
    root = work.merge_types(merged.root, newer.root, "")
    union = AvroSchema(root, work.with_defaults())
    if is_ambiguous(union):
        _check_members(merged, union, newer, earlier)
    return union


def merge_by_structure(versions: Sequence[AvroSchema], lossy: str = REFUSE) -> AvroSchema:
    """One schema that reads every version as development builds made it: a record type of a newer version could be an
    older one with fewer fields, and the type of a default was the first one of its union.

    Raises `MergeError`. What such builds wrote into tables is found by it, and nothing is read by it.
    """
    merged = versions[0]
    for newer in versions[1:]:
        work = _Merger(merged, newer, lossy, dict(merged.names), by_structure=True)
        root = work.merge_types(merged.root, newer.root, "")
        merged = AvroSchema(root, work.with_defaults())
    return merged


def _check_members(merged: AvroSchema, union: AvroSchema, newer: AvroSchema, earlier: Sequence[AvroSchema]) -> None:
    """Raise `MergeError` where a type of an earlier version would move to another column, or two of the newer one share one."""
    for read_union in list_read_unions(newer, union).values():
        if read_union.shared:
            raise _conflict(
                "/" + "/".join(read_union.path),
                read_union.shared[0],
                read_union.shared[1],
                ", for both would be one type to it",
            )
    for version in earlier:
        before, after = list_read_unions(version, merged), list_read_unions(version, union)
        for key, had in before.items():
            has = after.get(key)
            if has is not None and has.members != had.members:
                moved = next(
                    at for at, pair in enumerate(zip(had.members, has.members, strict=True)) if pair[0] != pair[1]
                )
                raise _conflict(
                    "/" + "/".join(had.path), f"{had.branches[moved]} of earlier versions", "this version", MOVED
                )


@dataclass(slots=True)
class _Merger:
    older: AvroSchema
    newer: AvroSchema
    lossy: str
    names: dict[str, NamedType]
    seen: set[tuple[str, str]] = field(default_factory=set)
    origins: dict[tuple[str, str], tuple[Json, AvroSide]] = field(default_factory=dict)
    """Where the default of a merged field comes from, by record and field: as its version has it, and its type there."""
    by_structure: bool = False

    def merge_types(self, left: AvroType, right: AvroType, path: str) -> AvroType:
        """The type that reads a left and a right."""
        old, new = self._resolve_older(left), self.newer.resolve(right)
        if isinstance(old, AvroUnion) or isinstance(new, AvroUnion):
            return self._unions(left, right, path)
        if isinstance(old, AvroArray) and isinstance(new, AvroArray):
            return replace(old, items=self.merge_types(old.items, new.items, f"{path}/[]"))
        if isinstance(old, AvroMap) and isinstance(new, AvroMap):
            return replace(old, values=self.merge_types(old.values, new.values, f"{path}/{{}}"))
        if isinstance(old, AvroRecord | AvroEnum | AvroFixed) and type(old) is type(new):
            return self._merge_named(old, new, path)
        if isinstance(old, AvroPrimitive) and isinstance(new, AvroPrimitive):
            return self._primitives(old, new, path)
        raise _conflict(path, old.kind, new.kind)

    def _resolve_older(self, node: AvroType) -> ResolvedType:
        """Follow a reference of an older type, which has fields of the newer one by now: merged names know those, too."""
        return self.names[node.full] if isinstance(node, AvroReference) else node

    def _primitives(self, old: AvroPrimitive, new: AvroPrimitive, path: str) -> AvroType:
        logical = unite_logical(old, new)
        if isinstance(logical, str):
            raise _conflict(path, f"{old.kind} ({find_logical(old)})", f"{new.kind} ({find_logical(new)})")
        if old.kind == new.kind:
            return AvroPrimitive(old.kind, _props(logical)) if logical else old
        if {old.kind, new.kind} == {"string", "bytes"}:
            return AvroPrimitive("bytes")  # any text has bytes, and not all bytes are text
        if old.kind not in NUMBERS or new.kind not in NUMBERS or (logical and logical.name != "time-micros"):
            raise _conflict(path, old.kind, new.kind)
        if "long" in {old.kind, new.kind} and {old.kind, new.kind} & {"float", "double"}:
            if self.lossy != REFUSE and logical is None:
                return AvroPrimitive("double")
            # A double holds no long exactly, and no table widens one to the other.
            raise _conflict(path, old.kind, new.kind, ROUNDED)
        wide = max(old.kind, new.kind, key=NUMBERS.index)
        # An int does not fit into a float without loss, but into a double.
        return AvroPrimitive("double" if wide == "float" else wide, _props(logical))

    def _unions(self, left: AvroType, right: AvroType, path: str) -> AvroType:
        olds, news = _branches(self._resolve_older(left), left), _branches(self.newer.resolve(right), right)
        merged = AvroSchema(NULL, self.names)
        pairs = pair_branches([AvroSide(merged, one) for one in olds], [AvroSide(self.newer, one) for one in news])
        branches = list(olds)
        for part, named in zip(news, pairs, strict=True):
            place = self._find_by_structure(part, branches, len(olds)) if self.by_structure else named
            if place is None:
                branches.append(self.adopt_type(part, path))
            else:
                branches[place] = self.merge_types(branches[place], part, path)
        non_null_count, grown = (sum(not is_null(one) for one in some) for some in (olds, branches))
        if non_null_count == 1 and grown > 1:
            raise _conflict(path, "one type", "a choice of several, which is another column")
        return branches[0] if len(branches) == 1 else AvroUnion(tuple(branches))

    def _find_by_structure(self, part: AvroType, branches: Sequence[AvroType], olds: int) -> int | None:
        """The branch that a newer type is read as, by Avro's resolution; of those of its own version only another kind."""
        merged = AvroSchema(NULL, self.names)
        sides = [AvroSide(merged, one) for one in branches]
        place = find_branch(AvroSide(self.newer, part), sides)
        if place is not None and place >= olds and isinstance(part, AvroReference):
            return None
        numbers = (at for at, side in enumerate(sides[:olds]) if side.resolved.kind in NUMBERS)
        is_number = self.newer.resolve(part).kind in NUMBERS
        return next(numbers, None) if place is None and is_number else place

    def _merge_named(self, old: NamedType, new: NamedType, path: str) -> AvroReference:
        if (old.full, new.full) in self.seen:
            return AvroReference(old.full)
        self.seen.add((old.full, new.full))
        merged_type = self.names[old.full]
        aliases = _names(merged_type.aliases, (new.full, *new.aliases), old.full)
        if isinstance(merged_type, AvroFixed) and isinstance(new, AvroFixed):
            self.names[merged_type.full] = replace(
                merged_type, aliases=aliases, props=self._merge_fixed(merged_type, new, path)
            )
        elif isinstance(merged_type, AvroEnum) and isinstance(new, AvroEnum):
            symbols = tuple(dict.fromkeys((*merged_type.symbols, *new.symbols)))
            default = merged_type.default if new.default is None else new.default
            self.names[merged_type.full] = replace(merged_type, aliases=aliases, symbols=symbols, default=default)
        elif isinstance(merged_type, AvroRecord) and isinstance(new, AvroRecord):
            fields = self._record(merged_type, new, path)
            self.names[merged_type.full] = replace(merged_type, aliases=aliases, fields=fields)
        return AvroReference(old.full)

    def _merge_fixed(self, old: AvroFixed, new: AvroFixed, path: str) -> Props:
        if old.size != new.size:
            raise _conflict(path, f"fixed of {old.size} bytes", f"fixed of {new.size} bytes")
        logical = unite_logical(old, new)
        if isinstance(logical, str) or (logical and find_logical(replace(old, props=_props(logical))) != logical):
            raise _conflict(
                path, str(find_logical(old)), str(find_logical(new))
            )  # its bytes have no room for the digits of both
        return _props(logical) if logical else old.props

    def _record(self, old: AvroRecord, new: AvroRecord, path: str) -> tuple[Field, ...]:
        same = self._pair_older(old, new)
        pairs = {target.name: one for one in new.fields if (target := same.get(one.name)) is not None}
        self._originate(self.older, old.full, self.older.names.get(old.full))
        fields = []
        for old_field in old.fields:
            partner = pairs.get(old_field.name)
            if partner is None:
                fields.append(_make_optional(old_field))
                continue
            kind = self.merge_types(old_field.type, partner.type, f"{path}/{old_field.name}")
            default = partner.default if partner.default is not ABSENT else old_field.default
            if not isinstance(partner.default, AbsentDefault):
                self.origins[old.full, old_field.name] = partner.default, AvroSide(self.newer, partner.type)
            aliases = _names(old_field.aliases, (partner.name, *partner.aliases), old_field.name)
            fields.append(
                replace(old_field, type=kind, aliases=aliases, doc=partner.doc or old_field.doc, default=default)
            )
        matched = {one.name for one in pairs.values()}
        used_names = {one.name for one in fields} | {alias for one in fields for alias in one.aliases}
        for new_field in new.fields:
            if new_field.name not in matched:
                fresh = tuple(alias for alias in new_field.aliases if alias not in used_names)
                added = replace(
                    new_field, type=self.adopt_type(new_field.type, f"{path}/{new_field.name}"), aliases=fresh
                )
                fields.append(_make_optional(added))
                if not isinstance(new_field.default, AbsentDefault):
                    self.origins[old.full, new_field.name] = new_field.default, AvroSide(self.newer, new_field.type)
        return tuple(fields)

    def _originate(self, schema: AvroSchema, full: str, record: NamedType | None) -> None:
        """Note where the defaults of a record come from that have no origin yet."""
        for own_field in record.fields if isinstance(record, AvroRecord) else ():
            if not isinstance(own_field.default, AbsentDefault):
                self.origins.setdefault((full, own_field.name), (own_field.default, AvroSide(schema, own_field.type)))

    def with_defaults(self) -> dict[str, NamedType]:
        """The merged names; each default is said in their words, and one that has none is null."""
        for full in self.names:
            self._originate(self.older, full, self.older.names.get(full))
        for full in [*self.names] * 2:  # in the second turn all types are as the first one left them
            merged_type = self.names[full]
            if isinstance(merged_type, AvroRecord):
                self.names[full] = replace(
                    merged_type, fields=tuple(self._with_default(full, one) for one in merged_type.fields)
                )
        return self.names

    def _with_default(self, full: str, field: Field) -> Field:
        origin = self.origins.get((full, field.name))
        if origin is None or field.default is ABSENT:
            return field
        target = AvroSide(AvroSchema(field.type, self.names), field.type)
        default = translate_default(*origin, target)
        if isinstance(default, AbsentDefault):
            return _make_optional(replace(field, default=ABSENT))
        if not isinstance(field.type, AvroUnion):
            return replace(field, default=default)
        if self.by_structure:
            first = choose_branch(target, default)
            rest = tuple(part for part in field.type.branches if part is not first)
            return replace(field, type=AvroUnion((first, *rest)), default=default)
        # The members keep their order, which is that of the columns: null alone may stand anywhere among them.
        nulls, solids = (tuple(part for part in field.type.branches if is_null(part) is null) for null in (True, False))
        kind = AvroUnion((*nulls, *solids) if default is None else (*solids[:1], *nulls, *solids[1:]))
        return replace(field, type=kind, default=default)

    @staticmethod
    def _pair_older(old: AvroRecord, new: AvroRecord) -> dict[str, Field]:
        """The older field that each newer one continues: by name, by its own aliases, or by a name it had before."""
        continued = pair_fields(new, old)
        matched = {field.name for field in continued.values()}
        free = [one for one in old.fields if one.name not in matched]
        for newer in new.fields:
            if newer.name not in continued:
                target = next(
                    (each for each in free if each.name in newer.aliases or set(each.aliases) & set(newer.aliases)),
                    None,
                )
                if target is not None:
                    continued[newer.name] = target
                    free.remove(target)
        return continued

    def adopt_type(self, node: AvroType, path: str) -> AvroType:
        """A newer type as the merged schema has it: its named types join those of the same name."""
        match node:
            case AvroArray():
                return replace(node, items=self.adopt_type(node.items, path))
            case AvroMap():
                return replace(node, values=self.adopt_type(node.values, path))
            case AvroUnion():
                return AvroUnion(tuple(self.adopt_type(branch, path) for branch in node.branches))
            case AvroPrimitive():
                return node
        named = self.newer.names[node.full]
        merged_type = self.names.get(named.full)
        if merged_type is not None and type(merged_type) is type(named):
            return self._merge_named(merged_type, named, path)
        if merged_type is not None:
            raise _conflict(path, merged_type.kind, named.kind)
        self.names[named.full] = named
        self.seen.add((named.full, named.full))
        if isinstance(named, AvroRecord):
            self._originate(self.newer, named.full, named)
            fields = tuple(
                replace(field, type=self.adopt_type(field.type, f"{path}/{field.name}")) for field in named.fields
            )
            self.names[named.full] = replace(named, fields=fields)
        return AvroReference(named.full)


def _branches(resolved: AvroType, node: AvroType) -> tuple[AvroType, ...]:
    return resolved.branches if isinstance(resolved, AvroUnion) else (node,)


def _names(aliases: tuple[str, ...], more: tuple[str, ...], own: str) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys((*aliases, *more)) if name != own)


def _props(logical: AvroLogicalType | None) -> Props:
    if logical is None:
        return ()
    digits: Props = (("precision", logical.precision), ("scale", logical.scale)) if logical.name == "decimal" else ()
    return (("logicalType", logical.name), *digits)


def _make_optional(field: Field) -> Field:
    """A field that some versions lack: null for them, unless it has a default."""
    if field.default is not ABSENT:
        return field
    rest = tuple(part for part in _branches(field.type, field.type) if not is_null(part))
    return replace(field, type=AvroUnion((NULL, *rest)), default=None)


def _conflict(path: str, old: str, new: str, more: str = "") -> MergeError:
    remedy = "a type that can be read as the older one, or a new field beside it"
    sentence = f"at {path or '/'}: {new} cannot share a column with {old}{more}"
    return MergeError(Finding("UNION_CONFLICT", path, sentence, "", old, new, remedy + more))
