"""Protobuf row by row, by its own runtime: the reader's message reads the payloads of all its writers."""

import base64
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from treaty.arrow.cells import AbsentCells, TooManyCellsError, find_widest, may_lack_much
from treaty.arrow.decoded import NOTHING, ReadRow, RowResult
from treaty.arrow.protobuf.absence import make_absence_counter
from treaty.arrow.protobuf.unknown import list_unknown_fields
from treaty.arrow.protobuf.values import UnreadableValueError, record_of
from treaty.formats.protobuf.encoding.wire import LENGTH, encode_varint
from treaty.plan.avro.envelope import make_header
from treaty.plan.format_plans import ProtobufFormatPlan
from treaty.plan.value import DecodePlan


def message_of(format_plan: ProtobufFormatPlan) -> tuple[Descriptor, DescriptorPool]:
    """The message that a plan reads, in a pool of its own."""
    pool = DescriptorPool()
    for text in format_plan.files:
        pool.Add(FileDescriptorProto.FromString(base64.b64decode(text)))
    return pool.FindMessageTypeByName(format_plan.message), pool


def decoder_of(plan: DecodePlan, kind: pa.StructType) -> ReadRow:
    """A function from a frame to its record as Arrow takes it (`kind`), or to why there is none."""
    format_plan = plan.recipe
    assert isinstance(format_plan, ProtobufFormatPlan)
    descriptor, _ = message_of(format_plan)
    message_class = GetMessageClass(descriptor)
    shape = record_of(descriptor, known_of(format_plan, kind), defaults=format_plan.defaults)
    numbers = frozenset(descriptor.fields_by_number)
    widest, count_absent = find_widest(kind), make_absence_counter(descriptor, known_of(format_plan, kind))
    fronts = {
        make_header(head.schema_id): (
            tuple(bytes.fromhex(front) for front in head.mine),
            tuple((bytes.fromhex(front), name) for front, name in head.others),
            {bytes.fromhex(front): encode_varint(number << 3 | LENGTH) for front, number in head.fields},
        )
        for head in format_plan.heads
    }

    def decode(value: bytes | None) -> RowResult:
        head_fronts = fronts.get(value[:5]) if value is not None else None
        if value is None or head_fronts is None:
            return NOTHING
        front = next((front for front in head_fronts[0] if value.startswith(front, 5)), None)
        if front is None:
            return _reject_other(value, head_fronts[1], "another message" if head_fronts[2] else format_plan.message)
        message: Any = message_class()
        try:
            payload = _payload(value, front, head_fronts[2])
            message.ParseFromString(payload)
        except DecodeError:
            return None, "MALFORMED", None
        if not message.IsInitialized():
            missing = ", ".join(message.FindInitializationErrors()[:3])
            return None, "INVALID", f"required fields are missing: {missing}"
        try:
            if may_lack_much(len(payload), widest):
                count_absent(message, AbsentCells())
            record = shape(message)
        except TooManyCellsError as error:
            return None, "INVALID", str(error)
        except UnreadableValueError as error:
            return None, "INVALID", str(error)
        except UnicodeDecodeError as error:  # proto2 lets any bytes be a string
            return None, "INVALID", f"a string is no UTF-8: {error}"
        if format_plan.unknown:
            record[format_plan.unknown] = list_unknown_fields(payload, numbers)
        return record, None, None

    return decode


def known_of(format_plan: ProtobufFormatPlan, kind: pa.StructType) -> pa.StructType:
    """The columns that are fields of the message."""
    return pa.struct([one for one in kind if one.name != format_plan.unknown]) if format_plan.unknown else kind


def _payload(value: bytes, front: bytes, fields: dict[bytes, bytes]) -> bytes:
    """The bytes of the reader's message: those of the frame, or a field of a message that holds them."""
    payload = value[5 + len(front) :]
    return fields[front] + encode_varint(len(payload)) + payload if fields else payload


def _reject_other(value: bytes, other_fronts: tuple[tuple[bytes, str], ...], expected: str) -> RowResult:
    """A row whose message indexes are not those of the reader's message."""
    names = sorted((name for front, name in other_fronts if value.startswith(front, 5)), key=len)
    if names:
        return None, "RESOLUTION", f"the row is a message {names[-1]}, and {expected} is read"
    if len(value) == 5:
        return None, "MALFORMED", "the message indexes are missing"
    return None, "MALFORMED", "the message indexes lead to no message of the schema"
