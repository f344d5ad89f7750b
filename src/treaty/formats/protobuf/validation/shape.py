"""Descriptors against the rules that a text keeps by its grammar: labels, types, oneofs and the entries of maps."""

from collections.abc import Sequence

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import Message

from treaty.formats.protobuf.descriptors.names import check_text, get_dialect, get_entry_name
from treaty.formats.protobuf.linker.diagnostics import DiagnosticList

_GROUP = FieldDescriptorProto.TYPE_GROUP
_NAMED = frozenset((FieldDescriptorProto.TYPE_MESSAGE, FieldDescriptorProto.TYPE_ENUM, _GROUP))
_OPTIONAL = FieldDescriptorProto.LABEL_OPTIONAL
_REPEATED = FieldDescriptorProto.LABEL_REPEATED
_REQUIRED = FieldDescriptorProto.LABEL_REQUIRED


def check_shape(proto: FileDescriptorProto, faults: DiagnosticList) -> None:
    """Check what a compiler's parser would never write, and what a compiler refuses; `faults` gets every fault."""
    check_text(proto)
    _Shape(get_dialect(proto), faults).file(proto)


class _Shape:
    """Walks through one descriptor."""

    def __init__(self, dialect: str, faults: DiagnosticList) -> None:
        self.dialect = dialect
        self.editions = dialect not in ("proto2", "proto3")
        self.faults = faults

    def file(self, proto: FileDescriptorProto) -> None:
        """The whole file."""
        for kind, listed in (("public", proto.public_dependency), ("weak", proto.weak_dependency)):
            for index in listed:
                if not 0 <= index < len(proto.dependency):
                    expected = f"an index below {len(proto.dependency)}, the number of dependencies"
                    self.add(f"{kind}_dependency", f"the {kind} dependency {index}", expected)
        if proto.option_dependency and (not self.editions or self.dialect < "2024"):
            self.add("option_dependency", f"an import option in {self.dialect}", "edition 2024 or later")
        prefix = f"{proto.package}." if proto.package else ""
        for message in proto.message_type:
            self.message(message, prefix + message.name)
        self.extensions(proto.extension, prefix)

    def add(self, path: str, message: str, expected: str, rule: str = "DESCRIPTOR_INVALID") -> None:
        """A fault of a definition."""
        self.faults.add(rule, path, message, expected=expected)

    def message(self, proto: DescriptorProto, full: str) -> None:
        """A message with everything inside."""
        for field in proto.field:
            path = f"{full}.{field.name}"
            if field.extendee:
                self.add(path, f"a field with the extendee {field.extendee!r}", "an extendee on extensions alone")
            self.field(field, path)
        self.oneofs(proto, full)
        self.map_entries(proto, full)
        self.extensions(proto.extension, f"{full}.")
        for nested in proto.nested_type:
            self.message(nested, f"{full}.{nested.name}")

    def extensions(self, fields: Sequence[FieldDescriptorProto], prefix: str) -> None:
        """Extensions of one scope."""
        for field in fields:
            path = prefix + field.name
            if not field.extendee:
                self.add(path, "an extension without an extendee", "the name of the extended message")
            if field.HasField("oneof_index"):
                self.add(path, f"an extension with the oneof_index {field.oneof_index}", "none for extensions")
            self.optional(field, path)
            self.field(field, path)

    def field(self, field: FieldDescriptorProto, path: str) -> None:
        """Label and type of a field or extension."""
        if field.label == _REQUIRED and self.dialect == "proto3":
            self.add(path, "a required field in proto3", "optional or repeated", "REQUIRED_NOT_ALLOWED")
        elif field.label == _REQUIRED and self.editions:
            expected = "LABEL_OPTIONAL, with the feature field_presence = LEGACY_REQUIRED"
            self.add(path, f"LABEL_REQUIRED in edition {self.dialect}", expected, "LABEL_OF_OTHER_SYNTAX")
        if field.type == _GROUP and self.dialect != "proto2":
            expected = "TYPE_MESSAGE, in editions with the feature message_encoding = DELIMITED"
            self.add(path, f"TYPE_GROUP in {self.dialect}", expected, "GROUP_NOT_ALLOWED")
        if field.HasField("type"):
            word = FieldDescriptorProto.Type.Name(field.type)
            if field.type in _NAMED and not field.type_name:
                self.add(path, f"{word} without a type_name", "the name of a message or enum")
            elif field.type not in _NAMED and field.HasField("type_name"):
                self.add(
                    path, f"{word} with the type_name {field.type_name!r}", "no type_name, or the type of that name"
                )

    def optional(self, field: FieldDescriptorProto, path: str) -> None:
        """The mark of a label `optional` in proto3."""
        if field.proto3_optional and self.dialect != "proto3":
            self.add(path, f"proto3_optional in {self.dialect}", "proto3_optional in proto3 alone")

    def oneofs(self, proto: DescriptorProto, full: str) -> None:
        """Each oneof has fields that follow each other; one that stands for a label has one field, and comes last."""
        count = len(proto.oneof_decl)
        members: list[list[FieldDescriptorProto]] = [[] for _ in range(count)]
        last = -1
        for field in proto.field:
            path = f"{full}.{field.name}"
            at = field.oneof_index if field.HasField("oneof_index") else -1
            self.optional(field, path)
            if field.HasField("oneof_index") and not 0 <= at < count:
                expected = f"an index below {count}, the number of oneofs of {full!r}"
                self.add(path, f"the oneof_index {at}", expected)
                at = -1
            elif field.HasField("oneof_index"):
                self.member(field, path, proto.oneof_decl[at].name)
                if members[at] and at != last:
                    message = (
                        f"{field.name!r} is apart from the other fields of the oneof {proto.oneof_decl[at].name!r}"
                    )
                    self.add(path, message, "the fields of a oneof one after the other")
                members[at].append(field)
            elif field.proto3_optional:
                self.add(path, "proto3_optional outside of every oneof", "a oneof of its own, made for the field")
            last = at
        synthetic = False
        for oneof, fields in zip(proto.oneof_decl, members, strict=True):
            path = f"{full}.{oneof.name}"
            if not fields:
                self.add(path, f"the oneof {oneof.name!r} without fields", "at least one field", "ONEOF_EMPTY")
            elif any(field.proto3_optional for field in fields):
                synthetic = True
                if len(fields) > 1:
                    message = f"{len(fields)} fields in the oneof {oneof.name!r}, which stands for the label optional"
                    self.add(path, message, "one field")
            elif synthetic:
                self.add(path, f"the oneof {oneof.name!r} after one that stands for a label", "such oneofs last")

    def member(self, field: FieldDescriptorProto, path: str, oneof: str) -> None:
        """A field of a oneof has no label."""
        if field.label != _OPTIONAL:
            word = FieldDescriptorProto.Label.Name(field.label)
            self.add(path, f"{word} in the oneof {oneof!r}", "LABEL_OPTIONAL, or no oneof_index")

    def map_entries(self, proto: DescriptorProto, full: str) -> None:
        """A message with `map_entry` is the entry of one map beside it, and nothing else."""
        entries = [one for one in proto.nested_type if one.options.map_entry]
        by_name: dict[str, list[FieldDescriptorProto]] = {}
        for field in proto.field if entries else ():
            by_name.setdefault(field.type_name.rpartition(".")[2], []).append(field)
        for entry in entries:
            name = f"{full}.{entry.name}"
            named = by_name.get(entry.name, ())
            owners = [one for one in named if f".{name}".endswith(f".{one.type_name.lstrip('.')}")]
            fits = len(owners) == 1 and owners[0].label == _REPEATED
            if not fits or entry.name != get_entry_name(owners[0].name) or not _is_plain_entry(entry):
                expected = "map_entry on the message of one repeated field, with key = 1 and value = 2 alone"
                self.add(name, f"map_entry on {entry.name!r}", expected, "MAP_BY_HAND")


_ENTRY = frozenset(("name", "field", "options"))
_PART = frozenset(("name", "number", "label", "type", "type_name", "json_name", "options"))


def _is_plain_entry(entry: DescriptorProto) -> bool:
    """Whether a message has nothing but what ``map<key, value>`` says."""
    parts = [(one.name, one.number, one.label) for one in entry.field]
    if parts != [("key", 1, _OPTIONAL), ("value", 2, _OPTIONAL)] or not _names(entry) <= _ENTRY:
        return False
    return _names(entry.options) == {"map_entry"} and all(_is_plain_part(one) for one in entry.field)


def _is_plain_part(field: FieldDescriptorProto) -> bool:
    """Whether the key or value of an entry has a name, a type and the features of its map alone."""
    renamed = field.HasField("json_name") and field.json_name != field.name
    return not renamed and field.type != _GROUP and _names(field) <= _PART and _names(field.options) <= {"features"}


def _names(proto: Message) -> set[str]:
    return {field.name for field, _ in proto.ListFields()}
