"""Headers of Kafka's records, as its sink takes them: a list of keys and values."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.plan.heads import HEADERS

HEADERS_TYPE = "ARRAY<STRUCT<`key`: STRING, `value`: BINARY>>"


def add_schema_header(headers: Column | None, part: str, stamp: bytes, is_stamped: Column) -> Column:
    """The headers of a row with the stamp of a half's schema in place of one that was there; as they were if not `is_stamped`."""
    name = HEADERS[part]
    own_header = F.array(F.struct(F.lit(name).alias("key"), F.lit(stamp).alias("value")))
    if headers is None:
        return F.when(is_stamped, own_header)
    other_headers = F.filter(headers, lambda one: ~one["key"].eqNullSafe(F.lit(name)))
    return F.when(is_stamped, F.concat(F.coalesce(other_headers, F.array().cast(HEADERS_TYPE)), own_header)).otherwise(
        headers
    )
