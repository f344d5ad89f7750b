"""Random pairs of Protobuf schemas of many messages in two files, made as descriptors: what Treaty and Google's runtime read alike."""

import base64
import random
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from google.protobuf.descriptor_pool import DescriptorPool

from tests.oracle.protobuf_wire import Files

F = FieldDescriptorProto
GROUPS = (
    (F.TYPE_INT32, F.TYPE_INT64, F.TYPE_UINT32, F.TYPE_UINT64, F.TYPE_BOOL),
    (F.TYPE_SINT32, F.TYPE_SINT64),
    (F.TYPE_STRING, F.TYPE_BYTES),
    (F.TYPE_FIXED32, F.TYPE_SFIXED32),
    (F.TYPE_FIXED64, F.TYPE_SFIXED64),
    (F.TYPE_FLOAT,),
    (F.TYPE_DOUBLE,),
)
SCALARS = tuple(kind for group in GROUPS for kind in group)
KEYS = (F.TYPE_INT32, F.TYPE_INT64, F.TYPE_SINT32, F.TYPE_BOOL, F.TYPE_STRING, F.TYPE_FIXED64)


class Described(Files):
    """The messages of a set's last file, as the runtime knows them."""

    def __init__(self, files: FileDescriptorSet) -> None:
        self.pool = DescriptorPool()
        for one in files.file:
            self.pool.AddSerializedFile(one.SerializeToString())
        self.file = self.pool.FindFileByName(files.file[-1].name)
        self.package = files.file[-1].package


def write_text(files: FileDescriptorSet) -> str:
    """A schema as a registry takes it."""
    return base64.b64encode(files.SerializeToString()).decode()


class MessagePairs:
    """Makes a pair; the same for the same state of chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.count = 0
        self.syntax = chance.choice(("proto2", "proto3"))

    def make(self) -> tuple[FileDescriptorSet, FileDescriptorSet]:
        """An old schema and a new one."""
        old = self.files()
        new = FileDescriptorSet()
        new.CopyFrom(old)
        for _ in range(self.chance.choice((0, 1, 1, 2, 3, 4))):
            self.change(new)
        return (new, old) if self.likely(0.3) else (old, new)

    def likely(self, share: float) -> bool:
        return self.chance.random() < share

    def new_name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def files(self) -> FileDescriptorSet:
        """A file that imports another one; every message may refer to any other of the two."""
        made = FileDescriptorSet()
        for name, package, count in (
            ("dep.proto", "dep", 4),
            ("main.proto", "acme", self.chance.choice((3, 6, 6, 10, 10, 30))),
        ):
            file = made.file.add(name=name, package=package, syntax=self.syntax)
            for _ in range(self.chance.randint(1, count)):
                message = file.message_type.add(name=self.new_name("M"))
                if self.likely(0.2):
                    message.nested_type.add(name=self.new_name("M"))
                if self.likely(0.1):
                    message.enum_type.append(self.enum())
            file.enum_type.append(self.enum())
        made.file[1].dependency.append("dep.proto")
        if self.likely(0.4):  # one last name in both files
            made.file[0].message_type.add(name=made.file[1].message_type[0].name)
        for file in made.file:
            for _, message in list_messages(file):
                for _ in range(self.chance.choice((0, 1, 2, 2, 3, 3, 4, 20))):
                    self.add_field(made, file, message)
                drop_unused(message)
        return made

    def enum(self) -> EnumDescriptorProto:
        made = EnumDescriptorProto(name=self.new_name("E"))
        for number in range(self.chance.choice((1, 2, 4, 4, 30))):
            made.value.add(name=f"{made.name}_{number}", number=number)
        return made

    # ---------------------------------------------------------------------------------------------------- fields

    def add_field(self, files: FileDescriptorSet, file: FileDescriptorProto, message: DescriptorProto) -> None:
        """One more field, anywhere among the numbers."""
        taken = {one.number for one in message.field} | {
            at for one in message.reserved_range for at in range(one.start, one.end)
        }
        number = next(at for at in iter(lambda: self.chance.randint(1, 40), None) if at not in taken)
        field = message.field.add(name=self.new_name("f"), number=number, label=F.LABEL_OPTIONAL)
        self.set_type(files, file, field)
        if self.likely(0.1):
            self.make_map(file, message, field)
        elif self.likely(0.2):
            field.label = F.LABEL_REPEATED
        elif self.likely(0.25):
            self.move_into_oneof(message, field)
        elif self.syntax == "proto2" and self.likely(0.1) and field.type != F.TYPE_MESSAGE:
            field.label = F.LABEL_REQUIRED

    def set_type(self, files: FileDescriptorSet, file: FileDescriptorProto, field: FieldDescriptorProto) -> None:
        """A scalar, or a type of this file or of the other one, where this one imports it."""
        field.ClearField("type_name")
        if self.likely(0.5):
            field.type = self.chance.choice(SCALARS)
            return
        seen = files.file if file.dependency else [file]
        kinds = [(F.TYPE_MESSAGE, name) for one in seen for name, _ in list_messages(one)]
        kinds += [(F.TYPE_ENUM, name) for one in seen for name, _ in list_enums(one)]
        field.type, field.type_name = self.chance.choice(kinds)

    def make_map(self, file: FileDescriptorProto, message: DescriptorProto, field: FieldDescriptorProto) -> None:
        """A map with the field's type as its value."""
        entry = message.nested_type.add(name=f"{field.name.capitalize()}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=F.LABEL_OPTIONAL, type=self.chance.choice(KEYS))
        value = entry.field.add(name="value", number=2, label=F.LABEL_OPTIONAL, type=field.type)
        if field.HasField("type_name"):
            value.type_name = field.type_name
        whole = next(name for name, one in list_messages(file) if one is message or one == message)
        field.type, field.type_name, field.label = F.TYPE_MESSAGE, f"{whole}.{entry.name}", F.LABEL_REPEATED

    def move_into_oneof(self, message: DescriptorProto, field: FieldDescriptorProto) -> None:
        if field.label == F.LABEL_REPEATED:
            return
        field.label = F.LABEL_OPTIONAL
        if not message.oneof_decl or self.likely(0.2):
            message.oneof_decl.add(name=self.new_name("o"))
        field.oneof_index = self.chance.randrange(len(message.oneof_decl))

    # --------------------------------------------------------------------------------------------------- changes

    def change(self, files: FileDescriptorSet) -> None:
        """One change."""
        file = files.file[self.likely(0.75)]
        messages = [one for _, one in list_messages(file)]
        message = self.chance.choice(messages)
        match self.chance.randrange(12):
            case 0 | 1:
                self.add_field(files, file, message)
            case 2:
                self.change_enum(files)
            case 3:
                self.rename_type(files, file)
            case 4:
                order = [*message.field]
                self.chance.shuffle(order)
                del message.field[:]
                message.field.extend(order)
            case _ if message.field:
                self.change_field(files, file, message)
        for one in messages:
            drop_unused(one)

    def change_field(self, files: FileDescriptorSet, file: FileDescriptorProto, message: DescriptorProto) -> None:
        field = self.chance.choice(message.field)
        is_map = field.type_name.endswith(f".{field.name.capitalize()}Entry")
        match self.chance.randrange(9):
            case 0 | 1:
                message.field.remove(field)
                if self.likely(0.5):
                    message.reserved_range.add(start=field.number, end=field.number + 1)
            case 2 if not is_map:
                field.name = self.new_name("g")
            case 3:
                other = self.chance.choice(message.field)
                field.number, other.number = other.number, field.number
            case 4 | 5 if not field.HasField("type_name"):
                field.type = self.chance.choice(next(group for group in GROUPS if field.type in group))
            case 6 if not is_map:
                self.set_type(files, file, field)
            case 7 if not is_map:
                labels = [F.LABEL_OPTIONAL, F.LABEL_REPEATED, *([F.LABEL_REQUIRED] if self.syntax == "proto2" else [])]
                field.ClearField("oneof_index")
                field.label = self.chance.choice(labels)
            case _ if field.HasField("oneof_index"):
                field.ClearField("oneof_index")
            case _:
                self.move_into_oneof(message, field)

    def change_enum(self, files: FileDescriptorSet) -> None:
        enum = self.chance.choice([one for file in files.file for _, one in list_enums(file)])
        value = enum.value[-1]
        match self.chance.randrange(3):
            case 0:
                number = max(one.number for one in enum.value) + 1
                enum.value.add(name=self.new_name("V"), number=number)
            case 1 if len(enum.value) > 1:
                enum.value.remove(value)
            case _:
                value.name = self.new_name("V")

    def rename_type(self, files: FileDescriptorSet, file: FileDescriptorProto) -> None:
        """Another name for a message; its fields go with it, and so do those that refer to it."""
        full, message = self.chance.choice(list(list_messages(file)))
        message.name = self.new_name("N")
        other = f"{full.rpartition('.')[0]}.{message.name}"
        for one in files.file:
            for _, each in list_messages(one, with_entries=True):
                for field in each.field:
                    if field.type_name == full or field.type_name.startswith(f"{full}."):
                        field.type_name = other + field.type_name[len(full) :]


def list_messages(file: FileDescriptorProto, *, with_entries: bool = False) -> list[tuple[str, Any]]:
    """The messages of a file with their full names."""
    found: list[tuple[str, Any]] = []
    waiting = [(f".{file.package}.{one.name}", one) for one in file.message_type]
    while waiting:
        full, here = waiting.pop()
        if with_entries or not here.options.map_entry:
            found.append((full, here))
        waiting += [(f"{full}.{one.name}", one) for one in here.nested_type]
    return found


def list_enums(file: FileDescriptorProto) -> list[tuple[str, Any]]:
    """The enums of a file with their full names."""
    inside = [(f"{full}.{one.name}", one) for full, here in list_messages(file) for one in here.enum_type]
    return [*((f".{file.package}.{one.name}", one) for one in file.enum_type), *inside]


def drop_unused(message: DescriptorProto) -> None:
    """Drop the entries of maps and the oneofs that no field has any more; in a descriptor both would be wrong."""
    used = {field.type_name.rpartition(".")[2] for field in message.field}
    for entry in [one for one in message.nested_type if one.options.map_entry and one.name not in used]:
        message.nested_type.remove(entry)
    kept = sorted({field.oneof_index for field in message.field if field.HasField("oneof_index")})
    names = [message.oneof_decl[at].name for at in kept]
    del message.oneof_decl[:]
    for name in names:
        message.oneof_decl.add(name=name)
    for field in message.field:
        if field.HasField("oneof_index"):
            field.oneof_index = kept.index(field.oneof_index)
    gather_oneofs(message)


def gather_oneofs(message: DescriptorProto) -> None:
    """Put the members of a oneof beside each other, as protoc has them."""
    fields = [*message.field]
    first: dict[int, int] = {}
    for at, field in enumerate(fields):
        if field.HasField("oneof_index"):
            first.setdefault(field.oneof_index, at)
    order = sorted(
        range(len(fields)),
        key=lambda at: (first[fields[at].oneof_index] if fields[at].HasField("oneof_index") else at, at),
    )
    del message.field[:]
    message.field.extend(fields[at] for at in order)
