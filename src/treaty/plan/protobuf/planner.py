"""From Protobuf writers and a reader to a plan: which ids the reader's message can read, and by which indexes."""

import base64
from collections.abc import Iterator, Mapping, Sequence

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from treaty.client.serializers.message_indexes import FIRST, Path, encode_path
from treaty.client.serializers.protobuf import messages
from treaty.core.limits import DEFAULT_CHARACTERS
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Columns, ColumnType, List, Map, Scalar, Struct
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.columns import derive_columns
from treaty.formats.protobuf.compare.comparison import compare
from treaty.formats.protobuf.encoding.files import build_descriptor, build_descriptor_set
from treaty.formats.protobuf.format import FORMAT as PROTOBUF
from treaty.formats.protobuf.model import Message, ProtoSchema
from treaty.formats.protobuf.runtime import build_pool
from treaty.plan.ddl import columns_ddl, find_free_name, list_docs, struct_ddl
from treaty.plan.errors import RESOLUTION, PlanError, nothing_readable, refuse_schema, reject_schema
from treaty.plan.format_plans import MessageIndexes, ProtobufFormatPlan
from treaty.plan.options import DecodeOptions
from treaty.plan.protobuf.merge import keep_lists, merge_file
from treaty.plan.protobuf.widths import list_cut_fields
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.value import DecodePlan, RejectedSchema, WriterSchema

BASE = -1
"""The id of the reader of a plan before among the versions of a union."""
MISREAD = frozenset(
    (
        *("FIELD_KIND_CHANGED", "FIELD_SCALAR_KIND_CHANGED", "FIELD_NAMED_TYPE_CHANGED", "FIELD_NUMERIC_LABEL_CHANGED"),
        *("FIELD_LIST_READ_AS_ONE", "FIELD_BYTES_READ_AS_TEXT", "FIELD_ENCODING_CHANGED", "MESSAGE_SET_CHANGED"),
        "COMPARISON_TOO_LARGE",
    )
)
"""Rules whose breach makes bytes mean something else. Other breaches leave fields out or make single rows invalid."""


def union(versions: Sequence[RegisteredSchema], options: DecodeOptions) -> tuple[ProtoSchema, list[RejectedSchema]]:
    """The newest version with what older ones had besides; versions that don't go together with it are left out. Lists of the
    reader of a plan before stay lists (see `find_base`).
    """
    del options
    newest, losers = versions[-1], []
    merged, schema = _copy_file(newest.schema), newest.schema
    bindings = {one.name: one for one in newest.meaning.bindings} if newest.meaning else {}
    for version in reversed(versions[:-1]):
        tried = FileDescriptorProto.FromString(merged.SerializeToString())
        merge_file(tried, _copy_file(version.schema))
        if version.schema_id == BASE:
            keep_lists(tried, _copy_file(version.schema))
        needed = {each.name: each for each in version.meaning.bindings} | bindings if version.meaning else bindings
        text = base64.b64encode(tried.SerializeToString(deterministic=True)).decode()
        try:
            schema = PROTOBUF.parse(ResolvedSchema(PROTOBUF.name, text, tuple(needed.values())), False)
        except InvalidSchemaError as error:
            losers.append(reject_schema(version, error))
            continue
        merged, bindings = tried, needed
    return schema, losers


def find_base(
    before: DecodePlan, versions: Sequence[RegisteredSchema], options: DecodeOptions
) -> list[RegisteredSchema]:
    """The reader of a plan of a union as its oldest version, where it is another one than the union of the versions that are
    still there: so numbers stay as wide, lists stay lists and fields stay, whatever was deleted. Nothing where a file that it
    imports is not among those of the versions.
    """
    if versions and PROTOBUF.show(union(versions, options)[0], False).canonical == before.reader:
        return []
    bindings = {each.name: each for one in versions if one.meaning for each in one.meaning.bindings}
    try:
        reader = PROTOBUF.parse(ResolvedSchema(PROTOBUF.name, before.reader, tuple(bindings.values())), False)
    except InvalidSchemaError:
        return []
    return [RegisteredSchema(BASE, before.subject, 0, PROTOBUF.name, reader)]


def _copy_file(schema: ProtoSchema) -> FileDescriptorProto:
    """The descriptor of a file, of the runtime's own class."""
    return FileDescriptorProto.FromString(build_descriptor(schema).SerializeToString())


def compose(versions: Sequence[RegisteredSchema], reader: ProtoSchema, options: DecodeOptions) -> DecodePlan:
    """The plan for these writers and this reader's message. Raises `PlanError` if no writer can be read,
    `InvalidSchemaError` for a reader that Protobuf's runtime does not take.
    """
    names = messages(reader)
    name = options.message.removeprefix(".") or names.get(FIRST, "")
    if name not in names.values():
        had = ", ".join(sorted(set(names.values()))[:20]) or "none"
        raise PlanError(f"the reader has no message {name!r}; it has {had}")
    columns, runtime = derive_columns(reader, name, options.depth), build_pool(reader).FindMessageTypeByName(name)
    _require_short_defaults(runtime, options)
    paths = [path for path, each in names.items() if each == name]
    concerned = tuple(f"#/{each}/" for each in _list_reached(reader, name))
    writers, heads, rejected, own_file = [], [], [], _copy_file(reader)
    for version in {one.schema_id: one for one in versions}.values():
        all_findings = compare(reader, version.schema)
        findings = [each for each in all_findings if each.rule in MISREAD and each.path.startswith(concerned)]
        own = messages(version.schema)
        own_paths = [path for path, each in own.items() if each == name] or [path for path in paths if path in own]
        cut_fields = list_cut_fields(own_file, _copy_file(version.schema))
        narrow = next((each for each in cut_fields if f"#/{each[0]}".startswith(concerned)), None)
        if findings:
            rejected.append(refuse_schema(version, findings))
        elif narrow is not None:
            rejected.append(_cut_short(version, *narrow))
        elif not own_paths:
            had = ", ".join(sorted(set(own.values()))[:5]) or "none"
            sentence = f"id {version.schema_id} ({version.subject} version {version.version}) has no message {name}; it has {had}"
            rejected.append(RejectedSchema(version.schema_id, RESOLUTION, sentence))
        else:
            text = PROTOBUF.show(version.schema, False).canonical
            writers.append(WriterSchema(version.schema_id, version.subject, version.version, text))
            heads.append(_read_indexes(version.schema_id, own, own_paths))
    if not writers:
        raise nothing_readable(rejected)
    columns_ = columns_ddl(columns)
    unknown = find_free_name("unknown_fields", {each.lower() for each, _ in columns_}) if options.unknown else ""
    columns_ = (*columns_, (unknown, "MAP<INT, BINARY>")) if unknown else columns_
    return DecodePlan(
        subject="",
        format=PROTOBUF.name,
        reader_name="given",
        reader=PROTOBUF.show(reader, False).canonical,
        type=struct_ddl(columns_),
        columns=columns_,
        writers=tuple(writers),
        rejected=tuple(rejected),
        recipe=ProtobufFormatPlan(_files(reader), name, tuple(heads), options.defaults, unknown),
        engine="ptars" if not unknown and has_bare_fields(runtime, columns) else "upb",
        depth=options.depth,
        docs=tuple(list_docs(columns)),
    )


def _read_indexes(schema_id: int, names: Mapping[Path, str], read_paths: Sequence[Path]) -> MessageIndexes:
    """The message indexes of a version's frames: those of the message to be read, and the names behind all others."""
    other_fronts = ((front, name) for path, name in names.items() if path not in read_paths for front in _fronts(path))
    return MessageIndexes(
        schema_id, tuple(front for path in read_paths for front in _fronts(path)), tuple(other_fronts)
    )


def _require_short_defaults(message: Descriptor, options: DecodeOptions) -> None:
    """Raise `PlanError` where a message, and those inside it, have defaults of very many characters: each row may have them again."""
    waiting, visited, total, longest = [message] if options.defaults else [], {message.full_name}, 0, (0, "")
    while waiting:
        for field in waiting.pop().fields:
            inner = field.message_type
            if inner is not None and inner.full_name not in visited:
                visited.add(inner.full_name)
                waiting.append(inner)
            if field.has_default_value and isinstance(field.default_value, str | bytes):
                total += len(field.default_value)
                longest = max(longest, (len(field.default_value), field.full_name))
    if total > DEFAULT_CHARACTERS:
        raise PlanError(
            f"the defaults of {message.full_name} and of messages inside it have {total:,} characters, and each row may have them "
            f"again; at most {DEFAULT_CHARACTERS:,} are read (limit DEFAULT_CHARACTERS). The longest is that of {longest[1]}: read "
            "without defaults"
        )


def _cut_short(version: RegisteredSchema, path: str, reader: str, writer: str) -> RejectedSchema:
    """A writer whose numbers Protobuf's readers would cut to their low bits without a word."""
    sentence = (
        f"id {version.schema_id} ({version.subject} version {version.version}) cannot be read: {path} is {writer} there and {reader} in the reader, "
        f"which would cut its values; read with union, or let the reader have {writer}"
    )
    return RejectedSchema(version.schema_id, RESOLUTION, sentence)


def _fronts(path: Path) -> Iterator[str]:
    """The bytes before a payload that say this path; that of a file's first message has a short form."""
    yield encode_path(path).hex()
    if path == FIRST:
        yield "0200"


def _files(reader: ProtoSchema) -> tuple[str, ...]:
    files = build_descriptor_set(reader).file
    return tuple(base64.b64encode(one.SerializeToString(deterministic=True)).decode() for one in files)


def _list_reached(schema: ProtoSchema, name: str) -> Iterator[str]:
    """Messages of the reader's own file that can be inside the message, itself included, as a finding's path has them."""
    waiting, visited = [name], {name}
    while waiting:
        full = waiting.pop()
        symbol = schema.symbols.get(full)
        if symbol is None or not isinstance(symbol.node, Message):
            continue
        space = f"{schema.file.package}."
        yield full.removeprefix(space if schema.file.package else "").replace(".", "/")
        for field in symbol.node.all_fields:
            inner = schema.resolve(full, field.type)
            if inner is not None and inner.full not in visited:
                visited.add(inner.full)
                waiting.append(inner.full)


def has_bare_fields(descriptor: Descriptor, columns: Columns) -> bool:
    """Whether nothing in the columns of a message is a group, a message set or the bytes of a message."""
    return _message(descriptor, Struct(columns.columns))


def _message(descriptor: Descriptor, kind: Struct) -> bool:
    if descriptor.GetOptions().message_set_wire_format:
        return False
    return all(_field(descriptor.fields_by_name[one.name], one.type) for one in kind.columns)


def _field(field: FieldDescriptor, kind: ColumnType) -> bool:
    if field.type == FieldDescriptor.TYPE_GROUP:
        return False
    if field.message_type is None:
        return True
    if isinstance(kind, Map):
        return _field(field.message_type.fields_by_name["value"], kind.value)
    inner = kind.element if isinstance(kind, List) else kind
    if isinstance(inner, Struct):
        return _message(field.message_type, inner)
    plain = field.message_type.full_name == "google.protobuf.BytesValue"
    return plain or inner != Scalar("binary")
