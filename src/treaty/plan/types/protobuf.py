"""Several Protobuf messages as one: a message with a field for each of them.

A message inside another is written as the field's number, its length and itself, so a payload becomes one of the whole
by a few bytes before it. Thus one plan, with one call of the engine, reads all types.
"""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

from treaty.client.serializers.message_indexes import FIRST, Path, encode_path
from treaty.client.serializers.protobuf import messages
from treaty.formats.protobuf.model import ProtoSchema
from treaty.plan.ddl import struct_ddl
from treaty.plan.errors import RESOLUTION, PlanError, drop_twins, nothing_readable
from treaty.plan.format_plans import MessageIndexes, ProtobufFormatPlan, RecordType
from treaty.plan.options import DecodeOptions
from treaty.plan.protobuf.planner import compose, union
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.types.groups import columns_of
from treaty.plan.value import DecodePlan, RejectedSchema, WriterSchema

PACKAGE, WHOLE, FILE = "treaty", "Types", "treaty/types.proto"


@dataclass(frozen=True, slots=True)
class _Part:
    """The plan of one message."""

    name: str
    plan: DecodePlan
    recipe: ProtobufFormatPlan


def plan_types(
    schemas: Sequence[RegisteredSchema], options: DecodeOptions
) -> tuple[DecodePlan, tuple[RecordType, ...]]:
    """The plan whose columns are the messages of all files, or those that the options names (with commas between)."""
    if options.unknown:
        raise PlanError("unknown fields are kept for one message; leave unknown out, or read one message")
    rejected: list[RejectedSchema] = []
    parts: list[_Part] = []
    files: dict[str, str] = {}
    for subject in dict.fromkeys(one.subject for one in schemas):
        own = [one for one in schemas if one.subject == subject]
        reader, losers = union(own, options)
        rejected += losers
        subject_parts = [_rename_apart(one, files, len(parts)) for one in _parts(own, reader, options, rejected)]
        clash = next((one for one in subject_parts if not _fits(files, one, parts)), None)
        if clash is not None:
            sentence = f"what {clash.name} of {subject} needs is defined in another way by another subject"
            rejected += [RejectedSchema(one.schema_id, RESOLUTION, sentence) for one in own]
            continue
        for subject_part in subject_parts:
            files |= {_file(text).name: text for text in subject_part.recipe.files}
        parts += subject_parts
    if not parts:
        raise nothing_readable(rejected)
    columns = columns_of([one.name for one in parts])
    kinds = tuple(RecordType(column, one.name, one.plan.type) for column, one in zip(columns, parts, strict=True))
    type_columns = tuple((one.column, one.type) for one in kinds)
    heads, writers = tuple(_heads(parts, schemas)), {one.schema_id: one for part in parts for one in part.plan.writers}
    rejected += [each for part in parts for each in part.plan.rejected]
    recipe = ProtobufFormatPlan(
        (*files.values(), _print_file(parts, columns)), f"{PACKAGE}.{WHOLE}", heads, options.defaults
    )
    return _plan(
        parts[0].plan,
        type_columns,
        writers,
        drop_twins(one for one in rejected if one.schema_id not in writers),
        recipe,
    ), kinds


def _plan(
    first: DecodePlan,
    columns: tuple[tuple[str, str], ...],
    writers: dict[int, WriterSchema],
    rejected: tuple[RejectedSchema, ...],
    format_plan: ProtobufFormatPlan,
) -> DecodePlan:
    return replace(
        first,
        reader="",
        type=struct_ddl(columns),
        columns=columns,
        writers=tuple(writers.values()),
        rejected=rejected,
        recipe=format_plan,
    )


def _parts(
    schemas: Sequence[RegisteredSchema], reader: ProtoSchema, options: DecodeOptions, rejected: list[RejectedSchema]
) -> Iterator[_Part]:
    """The plan of each message that is wanted and that some version can be read as."""
    named = {one.strip().removeprefix(".") for one in options.message.split(",") if one.strip()}
    names = [name for path, name in messages(reader).items() if name in named or (not named and len(path) == 1)]
    for name in dict.fromkeys(names):
        try:
            plan = compose(schemas, reader, replace(options, message=name))
        except PlanError as error:
            rejected += [RejectedSchema(one.schema_id, RESOLUTION, str(error)) for one in schemas]
            continue
        assert isinstance(plan.recipe, ProtobufFormatPlan), "a plan for Protobuf has its recipe"
        yield _Part(name, plan, plan.recipe)


def _rename_apart(part: _Part, files: dict[str, str], place: int) -> _Part:
    """The part with another name for its own file, where that of another subject has its name: no path distinguishes
    them.
    """
    own = _file(part.recipe.files[-1])
    if files.get(own.name, part.recipe.files[-1]) == part.recipe.files[-1]:
        return part
    own.name = f"{PACKAGE}/{place}/{own.name}"
    text = base64.b64encode(own.SerializeToString(deterministic=True)).decode()
    return replace(part, recipe=replace(part.recipe, files=(*part.recipe.files[:-1], text)))


def _fits(files: dict[str, str], part: _Part, parts: Sequence[_Part]) -> bool:
    """Whether the files of a part can stand beside those that are there: one file has one text, one name one file."""
    own_files = {_file(text).name: text for text in part.recipe.files}
    if part.name in {each.name for each in parts} or any(
        files.get(name, text) != text for name, text in own_files.items()
    ):
        return False
    defined = {name for path, text in files.items() if path not in own_files for name in _list_defined(text)}
    return not any(defined.intersection(_list_defined(text)) for text in own_files.values())


def _list_defined(text: str) -> set[str]:
    """Full names of what a file defines at its top."""
    file = _file(text)
    names = [one.name for one in file.message_type] + [one.name for one in file.enum_type]
    return {f"{file.package}.{name}" for name in names}


def _file(text: str) -> FileDescriptorProto:
    return FileDescriptorProto.FromString(base64.b64decode(text))


def _print_file(parts: Sequence[_Part], columns: Sequence[str]) -> str:
    """The file with the message that holds one of each."""
    file = FileDescriptorProto(name=FILE, package=PACKAGE, syntax="proto3")
    file.dependency.extend(dict.fromkeys(_file(one.recipe.files[-1]).name for one in parts))
    message = file.message_type.add(name=WHOLE)
    for number, (part, column) in enumerate(zip(parts, columns, strict=True), 1):
        message.field.add(
            name=column,
            number=number,
            label=FieldDescriptorProto.LABEL_OPTIONAL,
            type=FieldDescriptorProto.TYPE_MESSAGE,
            type_name=f".{part.name}",
        )
    return base64.b64encode(file.SerializeToString(deterministic=True)).decode()


def _heads(parts: Sequence[_Part], schemas: Sequence[RegisteredSchema]) -> Iterator[MessageIndexes]:
    """For each id that some part reads: the field of each message index, by the message's name in that version."""
    read: dict[int, dict[str, int]] = {}
    for number, part in enumerate(parts, 1):
        for writer in part.plan.writers:
            read.setdefault(writer.schema_id, {})[part.name] = number
    for schema in {one.schema_id: one for one in schemas}.values():
        if schema.schema_id not in read:
            continue
        names = {front: name for path, name in messages(schema.schema).items() for front in _fronts(path)}
        own_fields = {
            front: read[schema.schema_id][name] for front, name in names.items() if name in read[schema.schema_id]
        }
        other_heads = tuple((front, name) for front, name in names.items() if front not in own_fields)
        yield MessageIndexes(schema.schema_id, tuple(own_fields), other_heads, tuple(own_fields.items()))


def _fronts(path: Path) -> Iterator[str]:
    """The bytes before a payload that say this path; that of a file's first message has a short form."""
    yield encode_path(path).hex()
    if path == FIRST:
        yield "0200"
