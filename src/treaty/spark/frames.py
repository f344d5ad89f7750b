"""What the five bytes before a payload say, as Spark columns."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.plan.avro.weaving import header


def frame_id(value: Column) -> Column:
    """The schema id of a frame, an INT; null where the bytes are no frame."""
    return F.when(starts(value), claimed_id(value))


def claimed_id(value: Column) -> Column:
    """The id that a frame claims, an INT, whatever its magic; null where there are too few bytes."""
    number = F.conv(F.hex(F.substring(value, 2, 4)), 16, 10).cast("bigint")
    return F.when(F.length(value) >= 5, F.when(number < 2**31, number).cast("int"))


def starts(value: Column) -> Column:
    """Whether a value begins with the magic."""
    return F.startswith(value, F.lit(b"\0"))


def looked_up(value: Column, by_id: Mapping[int, Column]) -> Column:
    """The column that belongs to the frame's magic and id, or null."""
    if not by_id:
        return F.lit(None)
    pairs = [part for schema_id, made in by_id.items() for part in (F.lit(header(schema_id)), made)]
    return F.try_element_at(F.create_map(*pairs), F.substring(value, 1, 5))
