"""Other framings as columns: every frame becomes one with Confluent's prefix, which is what engines read."""

from dataclasses import replace

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from treaty.arrow.packed_payloads import make_plan_unpacker
from treaty.plan.avro.envelope import make_header
from treaty.plan.frame_format import FrameFormat
from treaty.plan.heads import HEAD, HEADERS, MARKS, STAMP
from treaty.plan.value import DecodePlan
from treaty.spark.frames import map_head

UNPACKED = "_treaty_unpacked"
"""The column with what codecs unpacked, or why they could not."""


def restore_prefix(framing: FrameFormat, value: Column, headers: Column | None, part: str) -> Column:
    """The frame with Confluent's prefix; null where its head means no schema that the plan knows.

    Packed payloads are taken from the column `UNPACKED`.
    """
    if framing.name == "header":
        stamp = _read_stamp(headers, part)
        # Protobuf's message indexes stand behind the guid, and before the payload in a frame.
        rest = F.concat(F.substring(stamp, STAMP + 1, 2**31 - 1), value)
        inside = F.concat(_map_head(framing, F.substring(stamp, 2, STAMP - 1)), rest)
        right = F.startswith(stamp, F.lit(b"\1"))
        return F.when(stamp.isNull(), value).when(right, inside)
    if framing.name == "none":
        return F.concat(F.lit(make_header(framing.heads[0][1])), value)
    if framing.codecs:
        return _join_unpacked(framing, value)
    lengths = sorted({len(head) // 2 for head, _ in framing.heads})
    ways = []
    for length in lengths:
        same_length = replace(framing, heads=tuple(pair for pair in framing.heads if len(pair[0]) == 2 * length))
        head = _map_head(same_length, F.substring(value, 1, length))
        ways.append(F.concat(head, F.substring(value, length + 1, 2**31 - 1)))
    return F.coalesce(*ways) if ways else F.lit(None).cast("binary")


def find_head_error(framing: FrameFormat, value: Column, headers: Column | None, part: str) -> Column:
    """The code of a row whose head means nothing."""
    if framing.name == "header":
        stamp = _read_stamp(headers, part)
        stamp_error = F.when(F.length(stamp) < STAMP, "TOO_SHORT").when(~F.startswith(stamp, F.lit(b"\1")), "BAD_MAGIC")
        return stamp_error.otherwise("UNKNOWN_ID")
    shortest = min((len(head) // 2 for head, _ in framing.heads), default=1)
    code = F.when(F.length(value) < shortest, "TOO_SHORT")
    if framing.name in MARKS:
        code = code.when(~F.startswith(value, F.lit(MARKS[framing.name])), "BAD_MAGIC")
    if framing.codecs:  # of a known head, what could not be unpacked
        code = code.when(_map_head(framing, F.substring(value, 1, HEAD)).isNotNull(), "MALFORMED")
    return code.otherwise("UNKNOWN_ID")


def unpack(plan: DecodePlan, value: Column) -> Column:
    """What is for the column `UNPACKED`: only packed frames go through Python."""
    heads = [bytes.fromhex(head) for head, _ in plan.framing.codecs]

    def unpack_all(frames: pa.Array) -> pa.Array:
        unpack_frame = make_plan_unpacker(plan)
        results = [unpack_frame(frame) for frame in frames.to_pylist()]
        payloads, whys = [payload for payload, _ in results], [why for _, why in results]
        return pa.StructArray.from_arrays(
            [pa.array(payloads, pa.binary()), pa.array(whys, pa.string())], ["payload", "said"]
        )

    udf = arrow_udf(unpack_all, "payload BINARY, said STRING")  # type: ignore[call-overload]  # its stubs ask for a kind of function that it finds out
    unpacked_column: Column = udf(F.when(F.substring(value, 1, HEAD).isin(heads), value))
    return unpacked_column


def _join_unpacked(framing: FrameFormat, value: Column) -> Column:
    """The frame with its payload as the codec unpacked it."""
    packed = F.substring(value, 1, HEAD).isin([bytes.fromhex(head) for head, _ in framing.codecs])
    payload = F.when(packed, F.col(UNPACKED)["payload"]).otherwise(F.substring(value, HEAD + 1, 2**31 - 1))
    return F.concat(_map_head(framing, F.substring(value, 1, HEAD)), payload)


def _map_head(framing: FrameFormat, head: Column) -> Column:
    """Confluent's prefix of the schema that a head means, with the message indexes of its type."""
    indexes = {head: bytes.fromhex(index) for head, index in framing.indexes}
    prefixes = {bytes.fromhex(head): make_header(number) + indexes.get(head, b"") for head, number in framing.heads}
    return map_head(head, prefixes).cast("binary")


def _read_stamp(headers: Column | None, part: str) -> Column:
    """The first header of the name that the half of the record has."""
    if headers is None:
        return F.lit(None).cast("binary")
    stamps = F.filter(headers, lambda one: one["key"] == HEADERS[part])
    return F.try_element_at(stamps, F.lit(1))["value"]
