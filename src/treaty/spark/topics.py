"""`from_topic`: keys and values of a topic, decoded in one call, as `to_topic` encodes them."""

from pyspark.sql import DataFrame

from treaty.core.registry import Registry
from treaty.plan.addresses import open_registry
from treaty.plan.decode_plans import make_plan
from treaty.plan.rows import NAMES, Names
from treaty.plan.value import DecodePlan
from treaty.spark.decode import decode
from treaty.spark.frames import require_frames
from treaty.spark.session_engines import fit_to_session

KEY_NAMES = Names("key_record", "key_error")


def from_topic(
    frame: DataFrame,
    registry: Registry | str,
    topic: str,
    *,
    key: str = "key",
    value: str = "value",
    key_reader: str | int = "latest",
    reader: str | int = "latest",
    framing: str = "prefix",
    key_names: Names = KEY_NAMES,
    names: Names = NAMES,
) -> DataFrame:
    """Decode keys and values of a topic whose subjects are ``TOPIC-key`` and ``TOPIC-value``; `registry` may be the address of a server.

    `frame` has them in the binary columns `key` and `value`, as Spark's Kafka source gives them; an empty name leaves that half as it is.
    Added are ``key_record`` and ``key_error``, ``record`` and ``error``, or what `key_names` and `names` say; columns that are called so are
    refused. Each half is decoded once. Raises what `make_plan` and `decode` raise.
    """
    halves = [("key", key, key_reader, key_names), ("value", value, reader, names)]
    decoded_halves = [one for one in halves if one[1]]
    for _, column, _, _ in decoded_halves:
        require_frames(frame, column)
    plans: list[DecodePlan] = []
    with open_registry(registry) as client:
        for part, _, chosen, _ in decoded_halves:
            plan = make_plan(client, f"{topic}-{part}", reader=chosen, framing=framing)
            plans.append(fit_to_session(plan, frame.sparkSession))
    for (part, column, _, called), plan in zip(decoded_halves, plans, strict=True):
        frame = decode(frame, plan, column=column, names=called, part=part)
    return frame
