"""Protobuf payloads are validated by Protobuf's runtime, a whole batch at once.

A batch becomes one message with a repeated field of the message that is read. That one is read exactly if each of them
is, and one call into the runtime costs less than many.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from treaty.arrow.decoded import list_frames
from treaty.formats.protobuf.encoding.wire import encode_varint

TAG = b"\x0a"
"""Field 1, a length and bytes."""


@dataclass(frozen=True, slots=True)
class PayloadValidator:
    """Says which payloads the runtime takes; the classes are those of the batch and of one message."""

    batch: Any
    message: Any
    demanding: bool
    """Whether a message that can be read may still lack something: looking through all of them costs a quarter of
    reading.
    """

    def find_valid(self, payloads: pa.Array) -> Any:
        """A mask of the payloads (none of them null) that can be read, and in which all required fields are set."""
        joined = wrap_payloads(payloads, TAG)
        ends = np.frombuffer(joined.buffers()[1], np.int32)
        joined_bytes = memoryview(joined.buffers()[2] or b"")[ends[joined.offset] : ends[joined.offset + len(joined)]]
        if self._takes(self.batch(), joined_bytes):
            return np.ones(len(payloads), bool)
        message = self.message()
        return np.array([self._takes(message, one) for one in list_frames(payloads)], bool)

    def _takes(self, message: Any, data: Any) -> bool:
        try:
            message.ParseFromString(data)
        except DecodeError:
            return False
        return not self.demanding or bool(message.IsInitialized())


def has_checks(root: Descriptor) -> bool:
    """Whether a message, or one inside it, may lack a required field: it has one, or extensions, which may have one."""
    visited: dict[str, Descriptor] = {}
    ahead = [root]
    while ahead:
        current = ahead.pop()
        if current.full_name not in visited:
            visited[current.full_name] = current
            ahead += [field.message_type for field in current.fields if field.message_type is not None]
    return any(one.is_extendable or any(field.is_required for field in one.fields) for one in visited.values())


def wrap_payloads(payloads: pa.Array, tag: bytes) -> pa.Array:
    """Each payload as a field with this tag: tag, length, payload."""
    lengths = pc.binary_length(payloads).dictionary_encode()
    fronts = pa.array([tag + encode_varint(one) for one in lengths.dictionary.to_pylist()], pa.binary())
    return pc.binary_join_element_wise(fronts.take(lengths.indices), payloads, b"")


def make_validator(descriptor: Descriptor, pool: DescriptorPool) -> PayloadValidator:
    """The validator of a message of the pool, to which the message of a batch is added."""
    file = FileDescriptorProto(name="treaty/batch.proto", package="treaty.batch", syntax="proto2")
    file.dependency.append(descriptor.file.name)
    batch_message = file.message_type.add(name="Batch")
    rows = batch_message.field.add(name="rows", number=1)
    rows.label, rows.type = FieldDescriptorProto.LABEL_REPEATED, FieldDescriptorProto.TYPE_MESSAGE
    rows.type_name = f".{descriptor.full_name}"
    pool.Add(file)
    batch = GetMessageClass(pool.FindMessageTypeByName("treaty.batch.Batch"))
    return PayloadValidator(batch, GetMessageClass(descriptor), has_checks(descriptor))
