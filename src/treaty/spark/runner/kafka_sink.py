"""Topics that queries write: records encoded with the schemas that a source is bound to, with headers that name each attempt."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import cast

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.core.column_types.tokens import print_name
from treaty.core.names import Subject
from treaty.core.registry import Registry, run_exchange
from treaty.core.sources import Source, SourcePart
from treaty.metastore.bad_rows import first_generation
from treaty.metastore.columns.pins import find_version_with_id
from treaty.plan.encoding.encode_plans import make_encode_plan
from treaty.plan.encoding.options import EncodeOptions, Framed, Part
from treaty.plan.encoding.value import EncodePlan
from treaty.spark.encoding.encode import EncodeColumns, encode
from treaty.spark.encoding.headers import HEADERS_TYPE
from treaty.spark.encoding.sources import columns_of
from treaty.spark.runner.kafka_source import SourceNotRunnableError
from treaty.spark.runner.row_order import keep_last

NOT_ENCODED = "TREATY_NOT_ENCODED"
"""What the error of a batch begins with that has a row which does not fit the schema of its topic."""
NULL_KEY = "NULL_KEY"
"""The code of a row of a table whose key is null, or has a null that its schema does not take."""
OnBad = Callable[[str, int], None]
HEADERS, GONE = "_treaty_headers", "_treaty_gone"
QUERY, INCARNATION, BATCH, ATTEMPT = "treaty-query", "treaty-incarnation", "treaty-batch", "treaty-attempt"
"""Headers of a record that a query writes, as decimal numbers. Of one query, incarnation and batch the highest attempt counts."""
_KEYS: Mapping[str, str] = {
    "STRING": "encode({}, 'UTF-8')",
    "BINARY": "{}",
    "BIGINT": "unhex(lpad(hex({}), 16, '0'))",
    "INT": "unhex(right(lpad(hex(CAST({} AS BIGINT)), 16, '0'), 8))",
}
"""By type of a key in the format KAFKA, the expression that writes it."""


def ignore_bad(_code: str, _rows: int) -> None:
    """Count nothing."""


@dataclass(frozen=True, slots=True)
class KafkaSink:
    """A topic that a query fills, encoded with the schemas that its source is bound to; `query` and `incarnation` go into headers.

    A batch that runs again is written again, with another attempt: `attempt` returns a number that grows.
    """

    source: Source
    registry: Registry
    settings: Mapping[str, str]
    columns: StructType
    incarnation: int
    attempt: Callable[[], int]
    key: tuple[str, ...] = ()
    on_bad: OnBad = ignore_bad
    """Called with a code and a number of rows that a batch could not write."""

    def write(self, batch: DataFrame, number: int) -> None:
        """Write the rows of a batch; of several rows with one key the last one. A row that does not fit fails the batch; one of a table
        without a key, which a compacted topic does not take, is left out and reported (`NULL_KEY`).
        """
        self._send(self._choose(batch), number)

    def make_records(self, batch: DataFrame, number: int) -> DataFrame:
        """Return the records that `write` sends: topic, key, value and headers; the key of one that is left out is null."""
        return self._encode_records(self._choose(batch), number)

    def _choose(self, batch: DataFrame) -> DataFrame:
        rows = keep_last(batch, self.key) if self.key else batch
        return rows.select(*(print_name(column.name) for column in self.columns))

    def write_changes(self, result: DataFrame, keys: DataFrame, number: int) -> None:
        """Write the rows of a batch of changes, and a tombstone for each other one of `keys`."""
        names = [print_name(one.name) for one in self.columns]
        rows = result.select(*names, F.lit(False).alias(GONE))
        same = [keys[print_name(name)].eqNullSafe(result[print_name(name)]) for name in self.key]
        gone = keys.join(result, [*same], "left_anti").withColumn(GONE, F.lit(True))
        self._send(rows.unionByName(gone, allowMissingColumns=True), number)

    def check(self, rows: DataFrame) -> None:
        """Encode rows as `write` does, and write nothing. Raises errors of Spark where one does not fit."""
        chosen = rows.select(*(print_name(column.name) for column in self.columns))
        self._encode_records(chosen, 0).write.format("noop").mode("overwrite").save()

    def _send(self, rows: DataFrame, number: int) -> None:
        records = self._encode_records(rows, number)
        if not self.key:
            records.write.format("kafka").options(**self.settings).save()
            return
        cached = records.persist()  # rows are made once, and counted after they are written
        try:
            cached.where(F.col("key").isNotNull()).write.format("kafka").options(**self.settings).save()
            missing = cached.where(F.col("key").isNull()).count()
        finally:
            cached.unpersist()
        if missing:
            self.on_bad(NULL_KEY, missing)

    def _encode_records(self, rows: DataFrame, number: int) -> DataFrame:
        """The records of the rows of a batch."""
        headers = {
            QUERY: first_generation(self.source),
            INCARNATION: self.incarnation,
            BATCH: number,
            ATTEMPT: self.attempt(),
        }
        listed = (
            F.struct(F.lit(name).alias("key"), F.encode(F.lit(str(value)), "UTF-8").alias("value"))
            for name, value in headers.items()
        )
        rows = rows.withColumn(HEADERS, F.array(*listed).cast(HEADERS_TYPE))
        records = {"topic": F.lit(self.source.place)}
        sides: Sequence[tuple[Part, SourcePart | None]] = (("value", self.source.value), ("key", self.source.key))
        for side, part in sides:
            rows, records[side] = self._encode(rows, side, part)
        return rows.select(*(value.alias(name) for name, value in records.items()), F.col(HEADERS).alias("headers"))

    def _encode(self, rows: DataFrame, side: Part, part: SourcePart | None) -> tuple[DataFrame, Column]:
        """The rows with what the bytes of a side are made from, and the column of these bytes."""
        names = [one.name for one in self.source.columns if one.role == side]
        if part is None:
            return rows, F.lit(None).cast("binary")
        if part.pin is None:
            return rows, self._encode_primitive(rows, names[0])
        plan = self._plan(rows, side, part, names)
        target = EncodeColumns(f"_treaty_{side}", f"_treaty_{side}_error", HEADERS)
        encoded = encode(rows, plan, columns=names, names=target)
        if side == "value" and GONE in rows.columns:
            encoded = encoded.withColumn(target.value, F.when(~F.col(GONE), F.col(target.value)))
            encoded = encoded.withColumn(target.error, F.when(~F.col(GONE), F.col(target.error)))
        error = F.col(f"{target.error}.message")
        refused = F.raise_error(F.concat(F.lit(f"{NOT_ENCODED} {side}: "), error)).cast("binary")
        if side == "key" and self.key:
            is_null = reduce(or_, (F.col(print_name(name)).isNull() for name in names))
            refused = F.when(is_null, F.lit(None).cast("binary")).otherwise(refused)
        return encoded, F.when(error.isNull(), F.col(target.value)).otherwise(refused)

    def _plan(self, rows: DataFrame, side: Part, part: SourcePart, names: list[str]) -> EncodePlan:
        pin = part.pin
        assert pin is not None, "only a half with a schema is planned"
        subject = Subject(pin.context, pin.subject)
        version = run_exchange(self.registry, find_version_with_id(subject, pin.schema_id))
        options = EncodeOptions(version=version.number, framing=cast("Framed", part.framing), part=side)
        if part.format == "PROTOBUF" and part.full_name:
            options = replace(options, message=part.full_name)
        return make_encode_plan(
            self.registry, str(subject), columns_of(rows.select(*map(print_name, names)).schema), options
        )

    def _encode_primitive(self, rows: DataFrame, name: str) -> Column:
        kind = rows.schema[name].dataType.simpleString().upper()
        if kind not in _KEYS:
            message = f"{self.source.name} has a key {kind} in the format KAFKA, and a runner writes {', '.join(_KEYS)}: say KEY_FORMAT = 'AVRO'"
            raise SourceNotRunnableError(message)
        return F.expr(_KEYS[kind].format(print_name(name)))
