"""The bytes before a payload as Spark columns: the id of a frame, its magic byte, and the schema id that a head means."""

from collections.abc import Mapping
from zlib import crc32

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType

from treaty.plan.avro.envelope import make_header
from treaty.plan.errors import PlanError
from treaty.plan.frame_format import PREFIX
from treaty.plan.heads import MAGICS

Literal = bool | int | str | bytes
MOST_NAMES = 50
"""The most columns that a message lists."""
SPREAD_FROM = 20
"""Heads that one map may have: to spread 50 takes 0.06 µs less per row (0.11 instead of 0.17), to spread 12 takes as
long.
"""


def read_frame_id(value: Column, framing: str = PREFIX.name) -> Column:
    """Return the schema id of a frame, with Pravega's framing the encoding id, an INT; null for bytes that are not a
    frame, and for a negative id.
    """
    return F.when(F.startswith(value, F.lit(MAGICS[framing])), read_claimed_id(value))


def read_claimed_id(value: Column) -> Column:
    """Return the id in a frame with any magic byte, an INT; null for too few bytes, and for a negative id, which
    `read_signed_id` reads.
    """
    number = F.conv(F.hex(F.substring(value, 2, 4)), 16, 10).cast("bigint")
    return F.when(F.length(value) >= 5, F.when(number < 2**31, number).cast("int"))


def read_signed_id(value: Column) -> Column:
    """The four bytes of a frame's id as the signed number that they are, a BIGINT."""
    number = F.conv(F.hex(F.substring(value, 2, 4)), 16, 10).cast("bigint")
    return F.when(number < 2**31, number).otherwise(number - 2**32)


def require_frames(frame: DataFrame, column: str) -> None:
    """Raise `PlanError` for a column that is missing or not binary."""
    try:
        field = frame.schema[column] if column in frame.columns else frame.select(column).schema[0]
    except AnalysisException as missing:
        names = ", ".join(frame.columns[:MOST_NAMES])
        raise PlanError(
            f"there is no column {column}: name the column that holds the frames; there are {names}"
        ) from missing
    if not isinstance(field.dataType, BinaryType):
        kind = field.dataType.simpleString().upper()
        raise PlanError(
            f"the column {column} is {kind}, and frames are BINARY: name the column that holds the bytes, as they came from the topic"
        )


def has_exact_names(spark: SparkSession) -> bool:
    """Whether names that differ in case alone are two columns to a session."""
    return spark.conf.get("spark.sql.caseSensitive", "false") == "true"


def has_magic(value: Column) -> Column:
    """Whether a value begins with the magic."""
    return F.startswith(value, F.lit(b"\0"))


def map_frame_id(value: Column, by_id: Mapping[int, Literal]) -> Column:
    """What belongs to the frame's magic and id, or null."""
    return map_head(F.substring(value, 1, 5), {make_header(schema_id): made for schema_id, made in by_id.items()})


def map_head(head: Column, by_head: Mapping[bytes, Literal]) -> Column:
    """What belongs to some first bytes, or null.

    Spark looks through a map from its beginning, so many heads are spread over small maps. The tables are one text of
    SQL: hundreds of literals as columns of their own take seconds to make.
    """
    if not by_head:
        return F.lit(None)
    if len(by_head) <= SPREAD_FROM:
        return F.try_element_at(F.expr(_print_map(by_head)), head)
    buckets: list[dict[bytes, Literal]] = [{} for _ in by_head]
    for known_head, literal in by_head.items():
        buckets[crc32(known_head) % len(buckets)][known_head] = literal
    spread = F.expr(f"array({','.join(map(_print_map, buckets))})")
    place = F.pmod(F.crc32(head), F.lit(len(buckets))).cast("int") + 1
    return F.try_element_at(F.try_element_at(spread, place), head)


def _print_map(by_head: Mapping[bytes, Literal]) -> str:
    pairs = (f"{print_literal(known)},{print_literal(made)}" for known, made in by_head.items())
    return f"map({','.join(pairs)})" if by_head else "NULL"


def print_literal(value: Literal) -> str:
    """A value as a literal of SQL that means the same whatever the session's settings are."""
    match value:
        case bool():
            return str(value)
        case int():
            return f"{value}"
        case bytes():
            return f"X'{value.hex()}'"
        case str():
            return f"CAST(X'{value.encode().hex()}' AS STRING)"
