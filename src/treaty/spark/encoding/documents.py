"""JSON by Spark's own `to_json`, and on request judged by its schema in Python workers."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.jsonschema.data.value import check_value
from treaty.formats.jsonschema.format import FORMAT
from treaty.formats.jsonschema.model import JsonSchema
from treaty.plan.encoding.value import EncodePlan
from treaty.spark.encoding import encoder
from treaty.spark.encoding.encoder import Encoder
from treaty.spark.encoding.fitting import WRITTEN
from treaty.spark.encoding.workers import in_arrow

FAULTS_TOLD = 3
"""Faults that one row tells."""


def _payload(plan: EncodePlan, row: Column) -> Column:
    if plan.fit.way == "record":
        text = F.to_json(row, WRITTEN)
    else:
        # A value that is no object is written as the only item of a list, whose brackets are taken off again.
        inside = F.to_json(F.array(row), WRITTEN)
        text = F.when(row.isNotNull(), F.substring(inside, F.lit(2), F.length(inside) - 2))
    return in_arrow(judge_of(plan.text), encoder.WRITTEN)(text) if plan.validate else text.cast("binary")


def judge_of(schema: str) -> Callable[[pa.Array], pa.Array]:
    """A function from texts to payloads and what is wrong with those that have none: path and keyword."""
    parsed: list[JsonSchema] = []

    def judge(texts: pa.Array) -> pa.Array:
        if not parsed:
            parsed.append(FORMAT.parse(ResolvedSchema("JSON", schema), False))
        told = []
        for text in texts.to_pylist():
            faults = () if text is None else check_value(parsed[0], text)
            told.append(
                "; ".join(f"{one.path or '/'} {one.rule}: {one.message}" for one in faults[:FAULTS_TOLD]) or None
            )
        said = pa.array(told, pa.string())
        payloads = pc.if_else(said.is_null(), texts.cast(pa.binary()), pa.scalar(None, pa.binary()))
        return pa.StructArray.from_arrays([payloads, said], names=["payload", "said"])

    return judge


def _apart(plan: EncodePlan) -> bool:
    return plan.validate


DOCUMENTS = Encoder(_payload, _apart)
