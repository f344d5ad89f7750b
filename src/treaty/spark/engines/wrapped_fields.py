"""Fields whose default Avro's reader for Java fails at, or makes of another type: each is put into a record of its own
in both schemas, which changes no byte, where a writer lacks it.

That reader makes the default of a union of the first type that may take it, and takes a record, an enum, an array and a
map for what any value is made of. An empty list it makes from the type of the field, and fails where that is a union
("Not an array"). A record has no bytes beside those of its fields, so both schemas may have such a field in a record of
its own: rows keep their bytes, and the engine takes the field out again. The reader's record may be missing, and the
engine puts the default in its place.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
    AbsentDefault,
    AvroArray,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    is_null,
)
from treaty.formats.avro.resolution import AvroSide
from treaty.plan.avro.defaults import choose_branch
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.java_defaults import encode_default, is_made_alike
from treaty.plan.format_plans import AvroFormatPlan, FieldDefault, RepairedRecord

INSIDE = "_treaty_inside"
"""The field of such a record, and the step of a path that leads into it."""

Path = tuple[str, ...]
Chosen = Mapping[str, frozenset[str]]
"""Names of fields by the full name of their record."""

AGAIN = re.compile(r"w\d+\.again_\d+\.(.+)")
"""Names of a writer's types that the reader finds by their last part, since another type has the alias."""

PLANS_KEPT = 8
"""Plans whose wrapped form is kept, since each step of a decoding asks for it."""


@lru_cache(PLANS_KEPT)
def wrap_fields(plan: AvroFormatPlan) -> AvroFormatPlan:
    """The same plan with those fields in records of their own; layouts without fields say where, and `defaults` what
    stands for a record that is missing.

    The plan itself where there are none.
    """
    if '"default"' not in plan.reader_text:
        return plan
    reader = parse_avro(plan.reader_text)
    if not any(_list_wrong(reader, one) for one in _list_records(reader)):
        return plan
    writer = parse_avro(plan.writer_text)
    partners = _pair_records(reader, writer)
    chosen = {full: found for full, mine in partners.items() if (found := _choose(reader, full, mine))}
    if not chosen:
        return plan
    old, new = dict(writer.names), dict(reader.names)
    for record in _list_records(reader):
        new[record.full] = replace(record, fields=tuple(_move_default(one, reader, chosen) for one in record.fields))
    for full, names in chosen.items():
        for name in sorted(names):
            wrapped = [_wrap(old, one.full, name, "w") for one in partners[full] if name in _list_names(one)]
            _wrap(new, full, name, "r", tuple(wrapped))
    moved, layouts, defaults = _move_paths(plan, reader, chosen)
    return replace(
        plan,
        writer_text=print_schema(replace(writer, names=old)),
        reader_text=print_schema(replace(reader, names=new)),
        repairs=tuple(replace(one, path=moved[one.path]) for one in plan.repairs),
        layouts=layouts,
        cuts=tuple(replace(one, path=moved[one.path]) for one in plan.cuts),
        defaults=defaults,
    )


def _list_records(schema: AvroSchema) -> list[AvroRecord]:
    return [one for one in schema.names.values() if isinstance(one, AvroRecord)]


def _list_names(record: AvroRecord) -> set[str]:
    return {one.name for one in record.fields}


def _pair_records(reader: AvroSchema, writer: AvroSchema) -> dict[str, list[AvroRecord]]:
    """The records of the writers that each record of the reader is read from."""
    envelopes = writer.root.branches if isinstance(writer.root, AvroUnion) else (writer.root,)
    writers = {one.full: [writer.names.get(alias) for alias in one.aliases] for one in _list_records(reader)}
    for full, again in writer.names.items():
        if (name := AGAIN.fullmatch(full)) and name[1] in writers:
            writers[name[1]].append(again)
    if isinstance(reader.root, AvroReference):
        writers[reader.root.full] = [writer.names[one.full] for one in envelopes if isinstance(one, AvroReference)]
    return {full: [one for one in some if isinstance(one, AvroRecord)] for full, some in writers.items()}


def _choose(reader: AvroSchema, full: str, writers: Iterable[AvroRecord]) -> frozenset[str]:
    """The fields of a reader's record whose defaults are needed, and not made as they are meant."""
    record = reader.names[full]
    names = _list_wrong(reader, record) if isinstance(record, AvroRecord) else set()
    names_of_writers = [_list_names(one) for one in writers] if names else []
    return frozenset(name for name in names if any(name not in one for one in names_of_writers))


def _list_wrong(reader: AvroSchema, record: AvroRecord) -> set[str]:
    """The fields of a record whose defaults Avro's reader for Java does not make as they are meant."""
    return {one.name for one in record.fields if not _is_made(reader, one)}


def _is_made(reader: AvroSchema, field: Field) -> bool:
    if isinstance(field.default, AbsentDefault) or field.default is None:
        return True  # null is the first type of each union
    is_empty_choice = isinstance(field.type, AvroUnion) and field.default == []
    return not is_empty_choice and is_made_alike(field.default, AvroSide(reader, field.type))


def _wrap(names: dict[str, NamedType], owner: str, name: str, kind: str, aliases: tuple[str, ...] = ()) -> str:
    """Put one field of a record into a record of its own, and return the name of that."""
    record = names[owner]
    assert isinstance(record, AvroRecord)
    full = _free_name(f"treaty.inside.{kind}{len(names)}", names)
    field = next(one for one in record.fields if one.name == name)
    wrapped = replace(field, type=AvroReference(full))
    if kind == "r":
        wrapped = replace(field, type=AvroUnion((AvroPrimitive("null"), AvroReference(full))), default=None)
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
    resolved = side.resolved
    if isinstance(resolved, AvroArray):
        return [_move_value(one, side.at(resolved.items), chosen) for one in value]
    if isinstance(resolved, AvroMap):
        return {key: _move_value(one, side.at(resolved.values), chosen) for key, one in value.items()}
    if not isinstance(resolved, AvroRecord):
        return value
    chosen_names = chosen.get(resolved.full, frozenset())
    fields = [one for one in resolved.fields if one.name in value]
    moved = {one.name: _move_value(value[one.name], side.at(one.type), chosen) for one in fields}
    return {name: {INSIDE: one} if name in chosen_names else one for name, one in moved.items()}


def _move_paths(
    plan: AvroFormatPlan, reader: AvroSchema, chosen: Chosen
) -> tuple[dict[Path, Path], tuple[RepairedRecord, ...], tuple[FieldDefault, ...]]:
    """Where each path of the plan leads now, the layouts of records in or below which something is repaired, and the
    defaults of wrapped fields.
    """
    hidden = {(one.path, one.hidden) for one in plan.repairs}
    paths: list[tuple[Path, Path, AvroRecord]] = []
    unions: dict[Path, Path] = {}

    def walk(node: AvroType, old: Path, new: Path) -> None:
        match node:
            case AvroReference() if isinstance(record := reader.names[node.full], AvroRecord):
                visible = tuple(
                    field
                    for field in record.fields
                    if (old, field.name) not in hidden and (old or field.name != plan.tail)
                )
                paths.append((old, new, replace(record, fields=visible)))
                chosen_names = chosen.get(record.full, frozenset())
                for field in visible:
                    walk(
                        field.type,
                        (*old, field.name),
                        (*new, field.name, *([INSIDE] if field.name in chosen_names else [])),
                    )
            case AvroArray():
                walk(node.items, (*old, "[]"), (*new, "[]"))
            case AvroMap():
                walk(node.values, (*old, "{}"), (*new, "{}"))
            case AvroUnion():
                unions[old] = new
                parts = [part for part in node.branches if not is_null(part)]
                for place, part in enumerate(parts):
                    step = () if len(parts) == 1 else (f"member{place}",)
                    walk(part, (*old, *step), (*new, *step))

    envelope = reader.resolve(reader.root)
    assert isinstance(envelope, AvroRecord)
    walk(next((one.type for one in envelope.fields if one.name == plan.whole), reader.root), (), ())
    moved = {old: new for old, new, _ in paths} | unions
    wrapped = {(*new, name): (record, name) for _, new, record in paths for name in sorted(chosen.get(record.full, ()))}
    below = (*wrapped, *(moved[one.path] for one in plan.repairs), *(moved[one.path] for one in plan.cuts))
    needed = {one[:end] for one in below for end in range(len(one) + 1)}
    layouts = (*_lay_out(paths, needed), *(RepairedRecord(one, ()) for one in wrapped))
    records = {**reader.names} | {record.full: record for _, _, record in paths}
    bare = replace(reader, names={full: replace(one, aliases=()) for full, one in records.items()})
    defaults = (_state_default(path, record, name, bare) for path, (record, name) in wrapped.items())
    return moved, layouts, tuple(defaults)


def _state_default(path: Path, record: AvroRecord, name: str, bare: AvroSchema) -> FieldDefault:
    """The default of a field; `bare` is the reader without hidden fields."""
    field = next(one for one in record.fields if one.name == name)
    full = _free_name("treaty.Default", bare.names)
    names = {**bare.names, full: AvroRecord(full, (Field(INSIDE, field.type),))}
    text = print_schema(AvroSchema(AvroReference(full), names))
    return FieldDefault(path, text, encode_default(field.default, AvroSide(bare, field.type)).hex())


def _free_name(full: str, names: Container[str]) -> str:
    """The name, longer if it is taken."""
    while full in names:
        full += "_"
    return full


def _lay_out(paths: Iterable[tuple[Path, Path, AvroRecord]], needed: set[Path]) -> Iterator[RepairedRecord]:
    for _, new, record in paths:
        if new in needed:
            yield RepairedRecord(new, tuple(one.name for one in record.fields))
