"""Protobuf by its own runtime in Python workers: the reader's message reads the payloads of all its writers."""

import base64
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType, StringType, StructField, StructType

from treaty.spark.engines.engine import DECODED, Engine
from treaty.spark.engines.values import UnreadableValueError, record_of
from treaty.spark.plan.avro.weaving import header
from treaty.spark.plan.recipes import ProtobufRecipe
from treaty.spark.plan.value import DecodePlan

Told = tuple[Any, str | None, str | None]
"""A record, or the code and the sentence of a bad row; three times None where the id is not the plan's."""
NOTHING: Told = (None, None, None)


def _decoded(frame: DataFrame, plan: DecodePlan, column: str) -> DataFrame:
    record = DataType.fromDDL(plan.type)
    parts = [StructField("record", record), StructField("code", StringType()), StructField("said", StringType())]
    target = StructType([*frame.schema.fields, StructField(DECODED, StructType(parts))])
    kind, record_kind = to_arrow_type(target[DECODED].dataType), to_arrow_type(record)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        decode = decoder_of(plan, record_kind)
        for batch in batches:
            made = [dict(zip(kind.names, decode(value), strict=True)) for value in batch.column(column).to_pylist()]
            yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(made, kind)], names=target.names)

    return frame.mapInArrow(work, target)


def decoder_of(plan: DecodePlan, kind: pa.StructType) -> Callable[[bytes | None], Told]:
    """A function from a frame to its record as Arrow takes it (`kind`), or to why there is none."""
    recipe = plan.recipe
    assert isinstance(recipe, ProtobufRecipe)
    pool = DescriptorPool()
    for text in recipe.files:
        pool.Add(FileDescriptorProto.FromString(base64.b64decode(text)))
    descriptor = pool.FindMessageTypeByName(recipe.message)
    made = GetMessageClass(descriptor)
    shape = record_of(descriptor, kind, defaults=recipe.defaults)
    fronts = {
        header(one.schema_id): (
            tuple(bytes.fromhex(front) for front in one.mine),
            tuple((bytes.fromhex(front), name) for front, name in one.others),
        )
        for one in recipe.heads
    }

    def decode(value: bytes | None) -> Told:
        found = fronts.get(value[:5]) if value is not None else None
        if value is None or found is None:
            return NOTHING
        front = next((one for one in found[0] if value.startswith(one, 5)), None)
        if front is None:
            return _strange(value, found[1], recipe.message)
        message: Any = made()
        try:
            message.ParseFromString(value[5 + len(front) :])
        except DecodeError:
            return None, "MALFORMED", None
        if not message.IsInitialized():
            missing = ", ".join(message.FindInitializationErrors()[:3])
            return None, "INVALID", f"required fields are missing: {missing}"
        try:
            return shape(message), None, None
        except UnreadableValueError as wrong:
            return None, "INVALID", str(wrong)

    return decode


def _strange(value: bytes, others: tuple[tuple[bytes, str], ...], wanted: str) -> Told:
    """A row whose message indexes are not those of the reader's message."""
    found = sorted((name for front, name in others if value.startswith(front, 5)), key=len)
    if found:
        return None, "RESOLUTION", f"the row is a message {found[-1]}, and {wanted} is read"
    if len(value) == 5:
        return None, "MALFORMED", "the message indexes are missing"
    return None, "MALFORMED", "the message indexes lead to no message of the schema"


def _good(plan: DecodePlan) -> Column:
    del plan
    return F.col(DECODED)["record"].isNotNull()


def _record(plan: DecodePlan, value: Column) -> Column:
    del plan, value
    return F.col(DECODED)["record"]


def _failed(plan: DecodePlan) -> Column:
    del plan
    return F.col(DECODED)["code"]


def _said(plan: DecodePlan) -> Column:
    del plan
    return F.col(DECODED)["said"]


MESSAGES = Engine(_decoded, _good, _record, _failed, _said)
