"""The leaves of hidden fields whose values are converted, wherever they stand: in lists, in maps, in members of choices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.model import (
    AvroArray,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    is_null,
)
from treaty.formats.avro.parser import parse_schema
from treaty.plan.avro.columns import has_one_column
from treaty.plan.avro.flat import flatten_schema
from treaty.plan.avro.logical_types import AvroLogicalType, find_logical
from treaty.plan.format_plans import ALLOW, AvroFormatPlan, FieldRepair, RepairedRecord

Path = tuple[str, ...]
"""Steps into a value: a field or a member of a choice by its name, ``[]`` for items of an array, ``{}`` for values of a map."""

PLANS_KEPT = 8
"""Plans whose conversions are kept, since each step of a decoding asks for them."""


@dataclass(frozen=True, slots=True)
class LeafConversion:
    """A leaf at a path in the value of a hidden field: its logical type, and the one that the field has there."""

    path: Path
    old: AvroLogicalType
    new: AvroLogicalType

    @property
    def multiplies(self) -> bool:
        """Whether an instant becomes nanoseconds, of which 64 bits hold only those of some centuries."""
        return self.new.name.endswith("nanos") and not self.old.name.endswith("nanos")

    @property
    def divides(self) -> bool:
        """Whether nanoseconds become a unit in which the last digits have no place."""
        return self.old.name.endswith("nanos") and not self.new.name.endswith("nanos")


@lru_cache(PLANS_KEPT)
def list_conversions(plan: AvroFormatPlan) -> Mapping[FieldRepair, tuple[LeafConversion, ...]]:
    """The leaves to convert, for each repair of a plan: where its hidden field and the field itself differ."""
    if not plan.repairs:
        return {}
    reader = flatten_schema(parse_schema(ResolvedSchema("AVRO", plan.reader_text), False))
    top = reader.root
    if plan.whole:
        top = _list_types(_find_record(reader, top, ()))[plan.whole]
    return {one: tuple(_compare_fields(reader, top, one, plan.layouts)) for one in plan.repairs}


@lru_cache(PLANS_KEPT)
def list_places(plan: AvroFormatPlan) -> Mapping[FieldRepair, Mapping[int, Path]]:
    """The path to the owners of each repair's field, by writer: it leads through hidden fields of records around them."""
    hidden = {(number, one.path, one.field): one.hidden for one in plan.repairs for number in one.ids}
    wrapped = {one.path for one in plan.layouts if not one.fields}

    def find(path: Path, number: int) -> Iterator[str]:
        at = 0
        while at < len(path):
            name = hidden.get((number, path[:at], path[at]))
            yield path[at] if name is None else name
            # A hidden field is in no record of its own.
            at += 2 if name is not None and path[: at + 1] in wrapped else 1

    return {one: {number: tuple(find(one.path, number)) for number in one.ids} for one in plan.repairs}


def must_be_exact(plan: AvroFormatPlan, conversion: LeafConversion) -> bool:
    """Whether a row is bad that would lose digits of this leaf."""
    return conversion.divides and plan.lossy != ALLOW


def _compare_fields(
    reader: AvroSchema, top: AvroType, repair: FieldRepair, layouts: Sequence[RepairedRecord]
) -> Iterator[LeafConversion]:
    kinds = _list_types(_find_record(reader, top, repair.path))
    kind = kinds[repair.field]
    if RepairedRecord((*repair.path, repair.field), ()) in layouts:  # the field is in a record of its own
        (kind,) = _list_types(_find_record(reader, kind, ())).values()
    yield from _compare(reader, kinds[repair.hidden], kind, ())


def _list_types(record: AvroRecord) -> dict[str, AvroType]:
    return {field.name: field.type for field in record.fields}


def _find_record(reader: AvroSchema, node: AvroType, path: Path) -> AvroRecord:
    resolved = reader.resolve(node)
    match resolved:
        case AvroUnion():
            parts = _list_parts(resolved)
            if len(parts) == 1:
                return _find_record(reader, parts[0], path)
            return _find_record(reader, parts[int(path[0].removeprefix("member"))], path[1:])
        case AvroArray():
            return _find_record(reader, resolved.items, path[1:])
        case AvroMap():
            return _find_record(reader, resolved.values, path[1:])
    assert isinstance(resolved, AvroRecord)
    return _find_record(reader, _list_types(resolved)[path[0]], path[1:]) if path else resolved


def _list_parts(node: AvroType) -> tuple[AvroType, ...]:
    """The types of values that are not null."""
    return tuple(one for one in node.branches if not is_null(one)) if isinstance(node, AvroUnion) else (node,)


def _compare(reader: AvroSchema, old: AvroType, new: AvroType, path: Path) -> Iterator[LeafConversion]:
    olds, news = _list_parts(old), _list_parts(new)
    if isinstance(old, AvroUnion) and len(olds) > 1:
        is_one = has_one_column(old, reader.names)  # in plans of before, which read such choices as they were
        for place, (left, right) in enumerate(zip(olds, news, strict=True)):
            yield from _compare(reader, left, right, path if is_one else (*path, f"member{place}"))
        return
    for left, right in zip(olds, news, strict=True):
        if isinstance(left, AvroArray) and isinstance(right, AvroArray):
            yield from _compare(reader, left.items, right.items, (*path, "[]"))
        elif isinstance(left, AvroMap) and isinstance(right, AvroMap):
            yield from _compare(reader, left.values, right.values, (*path, "{}"))
        elif (had := _find_logical(reader, left)) and (has := _find_logical(reader, right)) and had != has:
            yield LeafConversion(path, had, has)


def _find_logical(reader: AvroSchema, node: AvroType) -> AvroLogicalType | None:
    resolved = reader.resolve(node) if isinstance(node, AvroReference) else node
    return find_logical(resolved) if isinstance(resolved, AvroPrimitive | AvroFixed) else None


def explain_overflow(plan: AvroFormatPlan) -> str:
    """What is said of a row with a time that is beyond the nanoseconds of its column: the paths that it may be at."""
    paths = [
        "/" + "/".join((*repair.path, repair.field))
        for repair, leaves in list_conversions(plan).items()
        if any(leaf.multiplies for leaf in leaves)
    ]
    return f"{' or '.join(dict.fromkeys(paths))}: a time is beyond 64 bits of nanoseconds"
