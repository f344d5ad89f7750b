"""Decoding in Python workers: whole batches of frames through the readers of the Arrow room, to the same column for all formats."""

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StringType, StructField, StructType

from treaty.arrow.cells import FrameSplitter
from treaty.arrow.readers import reader_of
from treaty.arrow.types import kind_of
from treaty.plan.value import DecodePlan
from treaty.spark.engines.engine import DECODED, DecodeEngine

PARTS = ("record", "code", "said")


def _decode(frame: DataFrame, plan: DecodePlan, column: str) -> DataFrame:
    """The frame with the record of each frame of the column, or with the code and the sentence of a bad row."""
    parts = [
        StructField("record", DataType.fromDDL(plan.engine_type)),
        *(StructField(name, StringType()) for name in PARTS[1:]),
    ]
    target = StructType([*frame.schema.fields, StructField(DECODED, StructType(parts))])
    names = target.names

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kind = kind_of(plan)
        read, cells = reader_of(plan, kind), FrameSplitter.of(kind)
        for part in (one for batch in batches for one in cells.split(batch, column)):
            decoded = read(part.column(column))
            struct = pa.StructArray.from_arrays([decoded.record, decoded.code, decoded.said], names=PARTS)
            yield pa.RecordBatch.from_arrays([*part.columns, struct], names=names)

    return frame.mapInArrow(work, target)


def _is_good(plan: DecodePlan) -> Column:
    del plan
    return F.col(DECODED)["record"].isNotNull()


def _read_record(plan: DecodePlan, value: Column) -> Column:
    del plan, value
    return F.col(DECODED)["record"]


def _find_code(plan: DecodePlan, value: Column) -> Column:
    del plan, value
    return F.col(DECODED)["code"]


def _find_message(plan: DecodePlan, value: Column) -> Column:
    del plan, value
    return F.col(DECODED)["said"]


PYTHON_WORKERS = DecodeEngine(_decode, _is_good, _read_record, _find_code, _find_message)
