"""Fields of unions whose default is an empty list: each is put into a record of its own, where a writer lacks it.

Avro's reader for Java makes an empty list from the type of the field, and fails where that is a union ("Not an array").
The default of a record it reads as a value of that record, whatever is inside. A record has no bytes beside those of
its fields, so both schemas may have such a field in a record of its own: rows keep their bytes, and the engine takes
the field out again.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
    AvroArray,
    AvroMap,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
)
from treaty.plan.avro.defaults import choose_branch
from treaty.plan.avro.flat import is_null
from treaty.plan.avro.resolution import AvroSide
from treaty.plan.format_plans import AvroFormatPlan, RepairedRecord
from treaty.plan.registry_queries import parse_avro

INSIDE = "_treaty_inside"
"""The field of such a record, and the step of a path that leads into it."""

Path = tuple[str, ...]
Chosen = Mapping[str, frozenset[str]]
"""Names of fields by the full name of their record."""

PLANS_KEPT = 8
"""Plans whose wrapped form is kept, since each step of a decoding asks for it."""


@lru_cache(PLANS_KEPT)
def wrap_empty_lists(plan: AvroFormatPlan) -> AvroFormatPlan:
    """The same plan with those fields in records of their own; layouts without fields say where.

    The plan itself where there are none.
    """
    if "[]" not in plan.reader_text:
        return plan
    reader, writer = parse_avro(plan.reader_text), parse_avro(plan.writer_text)
    partners = _pair_records(reader, writer)
    chosen = {full: found for full, mine in partners.items() if (found := _choose(reader.names[full], mine))}
    if not chosen:
        return plan
    old, new = dict(writer.names), dict(reader.names)
    for record in _list_records(reader):
        new[record.full] = replace(record, fields=tuple(_move_default(one, reader, chosen) for one in record.fields))
    for full, names in chosen.items():
        for name in sorted(names):
            made = [_wrap(old, one.full, name, "w") for one in partners[full] if name in _list_names(one)]
            _wrap(new, full, name, "r", tuple(made))
    moved, layouts = _move_paths(plan, reader, chosen)
    return replace(
        plan,
        writer_text=print_schema(replace(writer, names=old)),
        reader_text=print_schema(replace(reader, names=new)),
        repairs=tuple(replace(one, path=moved[one.path]) for one in plan.repairs),
        layouts=layouts,
    )


def _list_records(schema: AvroSchema) -> list[AvroRecord]:
    return [one for one in schema.names.values() if isinstance(one, AvroRecord)]


def _list_names(record: AvroRecord) -> set[str]:
    return {one.name for one in record.fields}


def _pair_records(reader: AvroSchema, writer: AvroSchema) -> dict[str, list[AvroRecord]]:
    """The records of the writers that each record of the reader is read from."""
    envelopes = writer.root.branches if isinstance(writer.root, AvroUnion) else (writer.root,)
    found = {one.full: [writer.names.get(alias) for alias in one.aliases] for one in _list_records(reader)}
    if isinstance(reader.root, AvroReference):
        found[reader.root.full] = [writer.names[one.full] for one in envelopes if isinstance(one, AvroReference)]
    return {full: [one for one in some if isinstance(one, AvroRecord)] for full, some in found.items()}


def _choose(record: NamedType, writers: Iterable[AvroRecord]) -> frozenset[str]:
    """The fields of a reader's record that Avro's reader fails at."""
    assert isinstance(record, AvroRecord)
    names = {one.name for one in record.fields if isinstance(one.type, AvroUnion) and one.default == []}
    kept = [_list_names(one) for one in writers] if names else []
    return frozenset(name for name in names if any(name not in one for one in kept))


def _wrap(names: dict[str, NamedType], owner: str, name: str, kind: str, aliases: tuple[str, ...] = ()) -> str:
    """Put one field of a record into a record of its own, and return the name of that."""
    record = names[owner]
    assert isinstance(record, AvroRecord)
    full = f"treaty.inside.{kind}{len(names)}"
    while full in names:
        full += "_"
    field = next(one for one in record.fields if one.name == name)
    default = field.default if field.default != [] else {INSIDE: []}
    wrapped = replace(field, type=AvroReference(full), default=default)
    names[full] = AvroRecord(full, (Field(INSIDE, field.type),), None, aliases)
    names[owner] = replace(record, fields=tuple(wrapped if one is field else one for one in record.fields))
    return full


def _move_default(field: Field, reader: AvroSchema, chosen: Chosen) -> Field:
    """The field with a default that has the wrapped fields of its records in their own records too."""
    if not isinstance(field.default, dict | list) or not field.default:
        return field
    return replace(field, default=_move_value(field.default, AvroSide(reader, field.type), chosen))


def _move_value(value: Any, side: AvroSide, chosen: Chosen) -> Any:
    side = side.at(choose_branch(side, value))
    solid = side.solid
    if isinstance(solid, AvroArray):
        return [_move_value(one, side.at(solid.items), chosen) for one in value]
    if isinstance(solid, AvroMap):
        return {key: _move_value(one, side.at(solid.values), chosen) for key, one in value.items()}
    if not isinstance(solid, AvroRecord):
        return value
    mine = chosen.get(solid.full, frozenset())
    given = [one for one in solid.fields if one.name in value]
    made = {one.name: _move_value(value[one.name], side.at(one.type), chosen) for one in given}
    return {name: {INSIDE: one} if name in mine else one for name, one in made.items()}


def _move_paths(
    plan: AvroFormatPlan, reader: AvroSchema, chosen: Chosen
) -> tuple[dict[Path, Path], tuple[RepairedRecord, ...]]:
    """Where each path of the plan leads now, and the layouts of records in or below which something is repaired."""
    hidden = {(one.path, one.hidden) for one in plan.repairs}
    found: list[tuple[Path, Path, AvroRecord]] = []

    def walk(node: AvroType, old: Path, new: Path) -> None:
        match node:
            case AvroReference() if isinstance(record := reader.names[node.full], AvroRecord):
                shown = tuple(
                    one for one in record.fields if (old, one.name) not in hidden and (old or one.name != plan.tail)
                )
                found.append((old, new, replace(record, fields=shown)))
                mine = chosen.get(record.full, frozenset())
                for one in shown:
                    walk(one.type, (*old, one.name), (*new, one.name, *([INSIDE] if one.name in mine else [])))
            case AvroArray():
                walk(node.items, (*old, "[]"), (*new, "[]"))
            case AvroMap():
                walk(node.values, (*old, "{}"), (*new, "{}"))
            case AvroUnion():
                parts = [part for part in node.branches if not is_null(part)]
                for place, part in enumerate(parts):
                    step = () if len(parts) == 1 else (f"member{place}",)
                    walk(part, (*old, *step), (*new, *step))

    envelope = reader.resolve(reader.root)
    assert isinstance(envelope, AvroRecord)
    walk(next((one.type for one in envelope.fields if one.name == plan.whole), reader.root), (), ())
    moved = {old: new for old, new, _ in found}
    wrapped = [(*new, name) for _, new, record in found for name in sorted(chosen.get(record.full, ()))]
    needed = {
        one[:end] for one in (*wrapped, *(moved[one.path] for one in plan.repairs)) for end in range(len(one) + 1)
    }
    return moved, (*_lay_out(found, needed), *(RepairedRecord(one, ()) for one in wrapped))


def _lay_out(found: Iterable[tuple[Path, Path, AvroRecord]], needed: set[Path]) -> Iterator[RepairedRecord]:
    for _, new, record in found:
        if new in needed:
            yield RepairedRecord(new, tuple(one.name for one in record.fields))
