"""Descriptor messages of a pool of their own: what else this process has loaded does not change how they are read."""

from collections.abc import Iterable
from functools import lru_cache
from typing import cast

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_FILE = "google.protobuf.FileDescriptorProto"
_SET = "google.protobuf.FileDescriptorSet"


@lru_cache(maxsize=1)
def _build_plain_classes() -> tuple[type[FileDescriptorProto], type[FileDescriptorSet]]:
    return _build_classes(())


def get_file_class() -> type[FileDescriptorProto]:
    """`FileDescriptorProto` that knows no extension: options of other files stay as they were written."""
    return _build_plain_classes()[0]


def get_set_class() -> type[FileDescriptorSet]:
    """`FileDescriptorSet` that knows no extension."""
    return _build_plain_classes()[1]


def build_file_class(files: Iterable[FileDescriptorProto]) -> type[FileDescriptorProto]:
    """`FileDescriptorProto` that knows the options which these files define; each file after those that it imports.

    Raises `TypeError` for files that do not belong together.
    """
    return _build_classes(files)[0]


def _build_classes(files: Iterable[FileDescriptorProto]) -> tuple[type[FileDescriptorProto], type[FileDescriptorSet]]:
    pool = DescriptorPool()
    own = descriptor_pb2.DESCRIPTOR
    pool.AddSerializedFile(own.serialized_pb)
    for proto in files:
        if proto.name != own.name:
            pool.AddSerializedFile(_without_defaults(proto).SerializeToString())
    classes = (GetMessageClass(pool.FindMessageTypeByName(name)) for name in (_FILE, _SET))
    file, many = classes
    return cast("type[FileDescriptorProto]", file), cast("type[FileDescriptorSet]", many)


def _without_defaults(file: FileDescriptorProto) -> FileDescriptorProto:
    """A file without default values: a pool refuses some that protoc writes, and no option is read by them."""
    copy = type(file).FromString(file.SerializeToString())
    waiting: list[DescriptorProto] = [*copy.message_type]
    fields = [*copy.extension]
    while waiting:
        message = waiting.pop()
        waiting += message.nested_type
        fields += (*message.field, *message.extension)
    for field in fields:
        field.ClearField("default_value")
    return copy
