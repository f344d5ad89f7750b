"""Protobuf in workers of Python, in whole columns (see `treaty.arrow.encoding`)."""

from pyspark.sql import Column

from treaty.arrow.encoding.messages import make_batch_writer
from treaty.plan.encoding.value import EncodePlan
from treaty.spark.encoding.encoder import WRITTEN, Encoder
from treaty.spark.encoding.workers import in_arrow


def _payload(plan: EncodePlan, row: Column) -> Column:
    return in_arrow(make_batch_writer(plan), WRITTEN)(row)


def _apart(plan: EncodePlan) -> bool:
    del plan
    return True


MESSAGES = Encoder(_payload, _apart)
