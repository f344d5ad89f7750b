"""`to_topic`: encodes keys and values for Spark's Kafka sink, and separates good rows from bad ones."""

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.core.registry import Registry
from treaty.plan.ddl import quote_name
from treaty.plan.encoding.encode_plans import make_encode_plan
from treaty.plan.encoding.options import ENCODE_DEFAULTS, EncodeOptions, Part
from treaty.plan.encoding.value import EncodePlan
from treaty.spark.encoding.encode import EncodeColumns, encode
from treaty.spark.encoding.headers import HEADERS_TYPE
from treaty.spark.encoding.sources import columns_of

HEADERS = "_treaty_headers"
KEY = EncodeColumns("_treaty_key", "_treaty_key_error", HEADERS)
VALUE = EncodeColumns("_treaty_value", "_treaty_value_error", HEADERS)


@dataclass(frozen=True, slots=True)
class TopicFrames:
    """The good and the bad rows of an encoded frame.

    `rows` has the good rows with the columns of the Kafka sink (topic, key, value, and headers if there are any); `bad`
    has the frame's columns and ``error``. Both depend on the same encoding: in `foreachBatch` persist the frame if both
    are written.
    """

    rows: DataFrame
    bad: DataFrame
    plans: tuple[EncodePlan, ...]


def to_topic(
    frame: DataFrame,
    registry: Registry | str,
    topic: str,
    *,
    key: str = "",
    value: str = "value",
    headers: str = "",
    key_options: EncodeOptions = ENCODE_DEFAULTS,
    value_options: EncodeOptions = ENCODE_DEFAULTS,
) -> TopicFrames:
    """Encode a frame for a topic whose subjects are ``TOPIC-key`` and ``TOPIC-value``.

    `key` and `value` are names of columns: structs for records, other types for other schemas; without `key` keys are
    null. A null value is a tombstone. `headers` is the name of a column with further headers. Raises the errors of
    `to_registry`.
    """
    encoded, plans = frame, list[EncodePlan]()
    had = headers
    halves: list[tuple[Part, str, EncodeOptions, EncodeColumns]] = [("value", value, value_options, VALUE)]
    if key:
        halves.append(("key", key, key_options, KEY))
    for part, column, options, target in halves:
        single = StructType([frame.schema[column]])
        inside = single.fields[0].dataType
        source_columns = columns_of(inside if isinstance(inside, StructType) else single)
        plan = make_encode_plan(registry, f"{topic}-{part}", source_columns, replace(options, part=part))
        plans.append(plan)
        if plan.framing == "header":
            encoded = encoded.withColumn(HEADERS, F.col(quote_name(had)) if had else F.lit(None).cast(HEADERS_TYPE))
            had = HEADERS
        encoded = encode(encoded, plan, columns=column, names=target)
    error = F.coalesce(*(F.col(target.error) for *_, target in halves))
    sent = {
        "topic": F.lit(topic),
        "key": F.col(KEY.value) if key else F.lit(None).cast("binary"),
        "value": F.col(VALUE.value),
    }
    if had:
        sent["headers"] = F.col(quote_name(had))
    rows = encoded.filter(error.isNull()).select(*(one.alias(name) for name, one in sent.items()))
    bad = encoded.filter(error.isNotNull()).select(
        *(F.col(quote_name(name)) for name in frame.columns), error.alias("error")
    )
    return TopicFrames(rows, bad, tuple(plans))
