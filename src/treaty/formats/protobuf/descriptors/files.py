"""A `FileDescriptorProto` becomes the model of a Protobuf file."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count, groupby

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
    SymbolVisibility,
)

from treaty.formats.protobuf.descriptors.defaults import parse_default
from treaty.formats.protobuf.descriptors.names import (
    check_dotted_name,
    check_name,
    check_text,
    descriptor_error,
    get_dialect,
    get_json_name,
)
from treaty.formats.protobuf.descriptors.options import read_options
from treaty.formats.protobuf.model import (
    Enum,
    EnumValue,
    ExtendStatement,
    ExtensionsStatement,
    Field,
    ImportStatement,
    Message,
    NumberRange,
    OneOf,
    ProtoFile,
    ProtoOption,
    ReservedStatement,
    RpcMethod,
    RpcService,
    SourceLocation,
)
from treaty.formats.protobuf.syntax.cursor import MESSAGE_DEPTH
from treaty.formats.protobuf.syntax.file import EDITIONS, PACKAGE, PACKAGE_POINTS, SYNTAXES

_LABELS = {1: "optional", 2: "required", 3: "repeated"}
_VISIBILITY = {
    SymbolVisibility.VISIBILITY_UNSET: "",
    SymbolVisibility.VISIBILITY_LOCAL: "local",
    SymbolVisibility.VISIBILITY_EXPORT: "export",
}
_GROUP = FieldDescriptorProto.TYPE_GROUP
_MESSAGE = FieldDescriptorProto.TYPE_MESSAGE
_ENUM = FieldDescriptorProto.TYPE_ENUM


def read_file(proto: FileDescriptorProto) -> ProtoFile:
    """The model of a descriptor, not linked. Raises `InvalidSchemaError` where no text could say the same."""
    check_text(proto)
    return _DescriptorReader(proto).file()


class _DescriptorReader:
    """Reads one descriptor, and counts places."""

    def __init__(self, proto: FileDescriptorProto) -> None:
        self.proto = proto
        self.places = (SourceLocation(0, number) for number in count(1))
        written = get_dialect(proto)
        if written not in (*SYNTAXES, *EDITIONS):
            raise descriptor_error(
                f"the syntax {proto.syntax!r} {written}", f"one of {', '.join((*SYNTAXES, *EDITIONS))}"
            )
        self.syntax = "" if written in EDITIONS or not proto.syntax else written
        self.edition = written if written in EDITIONS else ""
        self.explicit = written == "proto2"

    def file(self) -> ProtoFile:
        """The whole file."""
        proto = self.proto
        groups = self.groups(proto.extension)
        return ProtoFile(
            self.syntax,
            self.edition,
            _package(proto.package) if proto.package else "",
            tuple(self.imports()),
            read_options(proto.options),
            tuple(self.message(one, 1) for one in proto.message_type if one.name not in groups),
            tuple(self.enum(one) for one in proto.enum_type),
            self.extends(proto.extension, proto.message_type),
            tuple(self.service(one) for one in proto.service),
        )

    def imports(self) -> Iterable[ImportStatement]:
        """Import statements; those that only bring options come last, as they do in a text."""
        public, weak = set(self.proto.public_dependency), set(self.proto.weak_dependency)
        for index, path in enumerate(self.proto.dependency):
            yield ImportStatement(
                path, "public" if index in public else "weak" if index in weak else "", next(self.places)
            )
        for path in self.proto.option_dependency:
            yield ImportStatement(path, "option", next(self.places))

    def groups(self, fields: Iterable[FieldDescriptorProto]) -> set[str]:
        """Names of the messages that are declared as groups by these fields."""
        names = [field.type_name.rpartition(".")[2] for field in fields if field.type == _GROUP]
        if len(set(names)) < len(names):  # each would be read once for each of its fields, and what is inside it again
            twice = next(one for one in names if names.count(one) > 1)
            raise descriptor_error(f"the group {twice!r} of two fields", "a group of one field")
        return set(names)

    def message(self, proto: DescriptorProto, depth: int, place: SourceLocation | None = None) -> Message:
        """A message with everything inside."""
        if depth > MESSAGE_DEPTH:
            raise descriptor_error(
                f"more than {MESSAGE_DEPTH} levels inside each other", f"at most {MESSAGE_DEPTH} levels"
            )
        place = place or next(self.places)
        entries = {entry.name: entry for entry in proto.nested_type if entry.options.map_entry}
        hidden = self.groups([*proto.field, *proto.extension]) | set(entries)
        places: dict[str, SourceLocation] = {}
        loose, members = self.fields(proto, entries, hidden, places)
        oneofs = tuple(
            OneOf(
                check_name(oneof.name),
                tuple(members[index]),
                read_options(oneof.options),
                "",
                _find_first_place(members[index], place),
            )
            for index, oneof in enumerate(proto.oneof_decl)
            if index in members
        )
        return Message(
            check_name(proto.name),
            tuple(loose),
            oneofs,
            tuple(
                self.message(nested, depth + 1, places.get(nested.name))
                for nested in proto.nested_type
                if nested.name not in hidden
            ),
            tuple(self.enum(enum) for enum in proto.enum_type),
            self.extends(proto.extension, proto.nested_type),
            tuple(
                ExtensionsStatement(
                    (NumberRange(extension_range.start, extension_range.end - 1),),
                    read_options(extension_range.options),
                    next(self.places),
                )
                for extension_range in proto.extension_range
            ),
            build_reserved(
                [NumberRange(span.start, span.end - 1) for span in proto.reserved_range], proto.reserved_name
            ),
            read_options(proto.options),
            _VISIBILITY[proto.visibility],
            "",
            place,
        )

    def fields(
        self,
        proto: DescriptorProto,
        entries: dict[str, DescriptorProto],
        hidden: set[str],
        places: dict[str, SourceLocation],
    ) -> tuple[list[Field], dict[int, list[Field]]]:
        """Fields outside of every oneof, and those inside by the oneof's index; synthetic oneofs are none.

        Messages that stand before one that is made for a field (one of the `hidden`) get their `places` here.
        """
        nested = _by_name(proto.nested_type)
        order = {one.name: index for index, one in enumerate(proto.nested_type)}
        waiting = [one.name for one in proto.nested_type if one.name not in hidden]
        waiting.reverse()
        loose: list[Field] = []
        members: dict[int, list[Field]] = {}
        for field in proto.field:
            inside = field.HasField("oneof_index") and not field.proto3_optional
            entry = entries.get(field.type_name.rpartition(".")[2]) if _may_be_message(field) else None
            before = (
                order.get(field.type_name.rpartition(".")[2], 0) if entry is not None or field.type == _GROUP else 0
            )
            while waiting and order[waiting[-1]] < before:
                places[waiting.pop()] = next(self.places)
            built = self.field(field, nested, entry, inside=inside)
            (members.setdefault(field.oneof_index, []) if inside else loose).append(built)
        return loose, members

    def field(
        self,
        proto: FieldDescriptorProto,
        nested: Mapping[str, DescriptorProto],
        entry: DescriptorProto | None = None,
        *,
        inside: bool = False,
    ) -> Field:
        """A field, a map where it has an `entry`."""
        place = next(self.places)
        repeated = proto.label == FieldDescriptorProto.LABEL_REPEATED
        label = _LABELS[proto.label] if self.explicit or repeated or proto.proto3_optional else ""
        assigned = tuple(self.list_field_options(proto))
        if entry is not None and repeated and len(entry.field) == 2:
            key, value = entry.field
            return Field(check_name(proto.name), proto.number, _type(value), "", _type(key), assigned, None, "", place)
        if proto.type == _GROUP:
            local = proto.type_name.rpartition(".")[2]
            body = nested.get(local)
            if body is None or proto.name != local.lower():
                raise descriptor_error(f"the group {proto.name!r}", "a message of the same name beside it")
            group = self.message(body, 1)
            return Field(proto.name, proto.number, local, "" if inside else label, "", assigned, group, "", place)
        return Field(
            check_name(proto.name), proto.number, _type(proto), "" if inside else label, "", assigned, None, "", place
        )

    def list_field_options(self, proto: FieldDescriptorProto) -> Iterable[ProtoOption]:
        """Options in brackets, with those that a descriptor keeps elsewhere."""
        if proto.HasField("default_value"):
            yield ProtoOption(("default",), parse_default(proto))
        if proto.HasField("json_name") and proto.json_name != get_json_name(proto.name):
            json_name: str | bytes = proto.json_name
            yield ProtoOption(("json_name",), json_name if isinstance(json_name, bytes) else json_name.encode())
        yield from read_options(proto.options)

    def extends(
        self, fields: Sequence[FieldDescriptorProto], nested: Iterable[DescriptorProto]
    ) -> tuple[ExtendStatement, ...]:
        """Extensions, neighbours of the same message together."""
        by_name = _by_name(nested)
        return tuple(
            ExtendStatement(
                check_dotted_name(extendee), tuple(self.field(one, by_name) for one in group), next(self.places)
            )
            for extendee, group in groupby(fields, key=lambda one: one.extendee)
        )

    def enum(self, proto: EnumDescriptorProto) -> Enum:
        """An enum."""
        place = next(self.places)
        values = tuple(
            EnumValue(check_name(value.name), value.number, read_options(value.options), "", next(self.places))
            for value in proto.value
        )
        ranges = [NumberRange(span.start, span.end) for span in proto.reserved_range]
        return Enum(
            check_name(proto.name),
            values,
            read_options(proto.options),
            build_reserved(ranges, proto.reserved_name),
            _VISIBILITY[proto.visibility],
            "",
            place,
        )

    def service(self, proto: ServiceDescriptorProto) -> RpcService:
        """A service."""
        place = next(self.places)
        methods = tuple(
            RpcMethod(
                check_name(method.name),
                check_dotted_name(method.input_type),
                check_dotted_name(method.output_type),
                method.client_streaming,
                method.server_streaming,
                read_options(method.options),
                "",
                next(self.places),
            )
            for method in proto.method
        )
        return RpcService(check_name(proto.name), methods, read_options(proto.options), "", place)


def _by_name(messages: Iterable[DescriptorProto]) -> dict[str, DescriptorProto]:
    """Messages by name; of two of one name the first."""
    by_name: dict[str, DescriptorProto] = {}
    for message in messages:
        by_name.setdefault(message.name, message)
    return by_name


def _find_first_place(members: list[Field], place: SourceLocation) -> SourceLocation:
    return members[0].place if members else place


def build_reserved(ranges: list[NumberRange], names: Iterable[str]) -> tuple[ReservedStatement, ...]:
    """Statements for what is set aside: one for the numbers, one for the names."""
    statements = [ReservedStatement(ranges=tuple(ranges))] if ranges else []
    listed = tuple(names)
    return (*statements, ReservedStatement(names=listed)) if listed else tuple(statements)


def _may_be_message(proto: FieldDescriptorProto) -> bool:
    """Whether a field has the type of a message, or leaves it to the name whether it is one or an enum."""
    return proto.type == _MESSAGE or not proto.HasField("type")


def _type(proto: FieldDescriptorProto) -> str:
    named = proto.type in (_MESSAGE, _ENUM, _GROUP) if proto.HasField("type") else bool(proto.type_name)
    if named:
        return check_dotted_name(proto.type_name)
    return FieldDescriptorProto.Type.Name(proto.type).removeprefix("TYPE_").lower()


def _package(text: str) -> str:
    if len(text) > PACKAGE or text.count(".") > PACKAGE_POINTS or text[0] == ".":
        raise descriptor_error(f"a package of {len(text)} characters", f"at most {PACKAGE} and {PACKAGE_POINTS} points")
    return check_dotted_name(text)
