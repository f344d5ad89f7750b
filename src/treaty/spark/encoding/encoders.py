"""Encoders: one frozen record of functions for each format, from a row to a payload."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro
from pyspark.sql.pandas import functions

from treaty.arrow.encoding.payloads import make_payload_writer
from treaty.arrow.encoding.protobuf import make_batch_writer
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.jsonschema.data.value import check_value
from treaty.formats.jsonschema.format import FORMAT
from treaty.formats.jsonschema.model import JsonSchema
from treaty.plan.encoding.value import EncodePlan
from treaty.spark.encoding.conversion import JSON_OPTIONS


@dataclass(frozen=True, slots=True)
class PayloadEncoder:
    """How payloads are written.

    - ``encode(plan, row)``: the bytes of the struct that a row was brought to (or of the one value, where the schema is no
      record), without what stands before them; a null row must stay null.
    - ``needs_workers(plan)``: whether workers of Python write them. What `encode` gives is then a struct `ENCODED`.
    """

    encode: Callable[[EncodePlan, Column], Column]
    needs_workers: Callable[[EncodePlan], bool]


ENCODED = "STRUCT<`payload`: BINARY, `said`: STRING>"
"""A payload, or what is wrong with a row that could not be written."""


def make_worker_function(work: Callable[[pa.Array], pa.Array], kind: str) -> Callable[[Column], Column]:
    """A function that Python workers run once for each row, and that no filter is moved below."""
    pyspark_functions: Any = functions
    udf = pyspark_functions.arrow_udf(work, kind).asNondeterministic()
    return cast("Callable[[Column], Column]", udf)


def _encode_avro(plan: EncodePlan, row: Column) -> Column:
    return to_avro(row, plan.text)


def _needs_no_workers(plan: EncodePlan) -> bool:
    del plan
    return False


AVRO_ENCODER = PayloadEncoder(_encode_avro, _needs_no_workers)


def _encode_message(plan: EncodePlan, row: Column) -> Column:
    return make_worker_function(make_batch_writer(plan), ENCODED)(row)


def _needs_workers(plan: EncodePlan) -> bool:
    del plan
    return True


PROTOBUF_ENCODER = PayloadEncoder(_encode_message, _needs_workers)


def _encode_rows(plan: EncodePlan, row: Column) -> Column:
    return make_worker_function(make_payload_writer(plan), ENCODED)(row)


ROW_ENCODER = PayloadEncoder(_encode_rows, _needs_workers)
"""The encoder of every other format."""


FAULTS_PER_ROW = 3
"""The most faults in the message of a row."""


def _encode_json(plan: EncodePlan, row: Column) -> Column:
    if plan.fit.way == "record":
        text = F.to_json(row, JSON_OPTIONS)
    else:
        # A value that is no object is written as the only item of a list, whose brackets are taken off again.
        inside = F.to_json(F.array(row), JSON_OPTIONS)
        text = F.when(row.isNotNull(), F.substring(inside, F.lit(2), F.length(inside) - 2))
    return make_worker_function(make_json_validator(plan.text), ENCODED)(text) if plan.validate else text.cast("binary")


def make_json_validator(schema: str) -> Callable[[pa.Array], pa.Array]:
    """A function from texts to payloads and what is wrong with those that have none: path, rule and sentence."""
    parsed: list[JsonSchema] = []  # filled in the worker: a parsed schema is not sent there

    def validate(texts: pa.Array) -> pa.Array:
        if not parsed:
            parsed.append(FORMAT.parse(ResolvedSchema("JSON", schema), False))
        messages = []
        for text in texts.to_pylist():
            faults = () if text is None else check_value(parsed[0], text)
            messages.append(
                "; ".join(f"{one.path or '/'} {one.rule}: {one.message}" for one in faults[:FAULTS_PER_ROW]) or None
            )
        message = pa.array(messages, pa.string())
        payloads = pc.if_else(message.is_null(), texts.cast(pa.binary()), pa.scalar(None, pa.binary()))
        return pa.StructArray.from_arrays([payloads, message], names=["payload", "said"])

    return validate


def _needs_validation(plan: EncodePlan) -> bool:
    return plan.validate


JSON_ENCODER = PayloadEncoder(_encode_json, _needs_validation)
