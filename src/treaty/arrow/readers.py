"""Which reader of batches a plan gets in Arrow, by its format and engine."""

from collections.abc import Callable, Mapping

import pyarrow as pa

from treaty.arrow import payloads
from treaty.arrow.avro import rows as avro
from treaty.arrow.decoded import ReadBatch, read_by_row
from treaty.arrow.jsonschema.batches import make_document_reader
from treaty.arrow.protobuf import rows as protobuf
from treaty.arrow.protobuf.batches import make_batch_reader
from treaty.plan.value import DecodePlan

_READERS: Mapping[tuple[str, str], Callable[[DecodePlan, pa.DataType], ReadBatch]] = {
    ("AVRO", "fastavro"): avro.make_batch_reader,
    ("AVRO", "spark"): avro.make_batch_reader,
    ("PROTOBUF", "upb"): lambda plan, kind: read_by_row(protobuf.decoder_of(plan, kind), kind),
    ("PROTOBUF", "ptars"): make_batch_reader,
    ("JSON", "arrow"): make_document_reader,
    ("JSON", "spark"): make_document_reader,
}
"""A plan for Spark's own functions is read to the same rows in Python; those of plug-ins by their format's payloads."""


def reader_of(plan: DecodePlan, kind: pa.DataType) -> ReadBatch:
    """The reader of a plan; `kind` is the Arrow type of its record."""
    make = _READERS.get((plan.format, plan.engine))
    return make(plan, kind) if make else read_by_row(payloads.make_row_reader(plan), kind)
