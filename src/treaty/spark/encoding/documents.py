"""JSON by Spark's own `to_json`, and on request judged by its schema in Python workers."""

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.core.meaning import Meaning
from treaty.formats.jsonschema.data.value import check
from treaty.formats.jsonschema.format import FORMAT
from treaty.formats.jsonschema.model import Document
from treaty.plan.encoding.value import EncodePlan
from treaty.spark.encoding.encoder import Encoder
from treaty.spark.encoding.fitting import WRITTEN
from treaty.spark.encoding.workers import in_arrow
from treaty.spark.engines.engine import barrier

JUDGED = "STRUCT<`text`: STRING, `said`: STRING>"
FAULTS_TOLD = 3
"""Faults that one row tells."""


def _packed(plan: EncodePlan, row: Column) -> Column:
    if plan.fit.way == "record":
        text = F.to_json(row, WRITTEN)
    else:
        # A value that is no object is written as the only item of a list, whose brackets are taken off again.
        inside = F.to_json(F.array(row), WRITTEN)
        text = F.when(row.isNotNull(), F.substring(inside, F.lit(2), F.length(inside) - 2))
    if not plan.validate:
        return F.struct(barrier(text).alias("text"), F.lit(None).cast("string").alias("said"))
    return in_arrow(judge_of(plan.text), JUDGED)(text)


def judge_of(schema: str) -> Callable[[pa.Array], pa.Array]:
    """A function from payloads to themselves and what is wrong with each: path and keyword, null where nothing is."""
    parsed: list[Document] = []

    def judge(texts: pa.Array) -> pa.Array:
        if not parsed:
            parsed.append(FORMAT.parse(Meaning("JSON", schema), False))
        told = []
        for text in texts.to_pylist():
            faults = () if text is None else check(parsed[0], text)
            told.append(
                "; ".join(f"{one.path or '/'} {one.rule}: {one.message}" for one in faults[:FAULTS_TOLD]) or None
            )
        return pa.StructArray.from_arrays(
            [texts.cast(pa.string()), pa.array(told, pa.string())], names=["text", "said"]
        )

    return judge


def _payload(plan: EncodePlan, packed: Column) -> Column:
    del plan
    return F.when(packed["said"].isNull(), packed["text"].cast("binary"))


def _said(plan: EncodePlan, packed: Column) -> Column:
    del plan
    return packed["said"]


DOCUMENTS = Encoder(_packed, _payload, _said)
