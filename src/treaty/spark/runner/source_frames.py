"""The frame of a source: its columns, decoded by the schemas that it is bound to, from files or a Delta table below a root."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.client.connection import run_exchange
from treaty.core.column_types.tokens import print_name, print_text
from treaty.core.names import Subject
from treaty.core.registry import Registry
from treaty.core.sources import Source, SourceColumn, SourcePart
from treaty.metastore.columns.pins import find_version_with_id
from treaty.plan.decode_plans import make_plan
from treaty.plan.options import DecodeChoices
from treaty.plan.rows import Names
from treaty.plan.value import DecodePlan
from treaty.spark.decode import decode
from treaty.spark.runner.row_order import ORDER, place_of_line, place_of_record

RECORDS = "key BINARY, value BINARY, headers ARRAY<STRUCT<key: STRING, value: BINARY>>, timestamp TIMESTAMP"
"""Columns of the files of a source."""
CORRUPT, BAD = "_treaty_corrupt", "_treaty_bad"
UNKNOWN = "TREATY_UNKNOWN_ID"
"""What the error of a batch begins with that has a schema id which the registry does not know."""
_KEYS: Mapping[str, str] = {
    "STRING": "decode(key, 'UTF-8')",
    "BINARY": "key",
    "BIGINT": "CAST(conv(hex(key), 16, -10) AS BIGINT)",
    "INT": "CAST(CAST(conv(hex(key), 16, 10) AS BIGINT) - IF(CAST(conv(hex(key), 16, 10) AS BIGINT) >= 2147483648, 4294967296, 0) AS INT)",
}
"""By type of a key in the format KAFKA, the expression that reads it."""


class SourceNotRunnableError(ValueError):
    """A source can't be read or written by this runner; the message has the remedy."""


@dataclass(frozen=True, slots=True)
class SourceOpener:
    """Opens sources of a registry whose data is below a root."""

    spark: SparkSession
    registry: Registry
    root: Path

    def open(self, source: Source, *, streaming: bool, columns: tuple[SourceColumn, ...]) -> DataFrame:
        """Return the rows of a source, those that can't be decoded left out and counted (`observe`).

        `columns` have their types written out. Raises `SourceNotRunnableError` for a connector or a key that is not read here.
        """
        if source.connector == "delta":
            return self._open_delta(source, streaming=streaming)
        if source.connector != "files":
            message = (
                f"{source.name} is on {source.connector}, and --once reads files and Delta tables: CONNECTOR = 'files'"
            )
            raise SourceNotRunnableError(message)
        if source.value is not None and source.value.framing == "none":
            frame = self._read_lines(source, columns, streaming=streaming)
        else:
            frame = self._decode(source, columns, streaming=streaming)
        name = f"bad_{source.generation}"
        counted = (
            frame.observe(name, F.count(F.lit(1)).alias("rows"), F.sum(F.col(BAD).cast("int")).alias("bad"))
            if streaming
            else frame
        )
        return counted.where(~F.col(BAD)).drop(BAD, ORDER)

    def folder(self, source: Source) -> str:
        """Return the folder of a source. Raises `SourceNotRunnableError` for one outside of the root."""
        place = (self.root / source.place.lstrip("/")).resolve()
        if not place.is_relative_to(self.root.resolve()):
            raise SourceNotRunnableError(
                f"the folder {source.place} of {source.name} is not below {self.root}: say another PATH"
            )
        return str(place)

    def _open_delta(self, source: Source, *, streaming: bool) -> DataFrame:
        reader = self.spark.readStream if streaming else self.spark.read
        return (
            reader.format("delta")
            .load(self.folder(source))
            .select(*(F.col(print_name(one.name)) for one in source.columns))
        )

    def _read_lines(self, source: Source, columns: tuple[SourceColumn, ...], *, streaming: bool) -> DataFrame:
        ddl = ", ".join(f"{print_name(one.name)} {one.type}" for one in columns)
        reader = self.spark.readStream if streaming else self.spark.read
        options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT, "pathGlobFilter": "[!_.]*"}
        frame = reader.schema(f"{ddl}, {CORRUPT} STRING").options(**options).json(self.folder(source))
        return frame.withColumns({BAD: F.col(CORRUPT).isNotNull(), ORDER: place_of_line()}).drop(CORRUPT)

    def _decode(self, source: Source, columns: tuple[SourceColumn, ...], *, streaming: bool) -> DataFrame:
        reader = self.spark.readStream if streaming else self.spark.read
        frame = reader.schema(RECORDS).parquet(self.folder(source)).withColumn(ORDER, place_of_record())
        frame = frame.where(F.col("value").isNotNull())
        types = {one.name: one.type for one in columns}
        bad: list[Column] = []
        for side, part in (("key", source.key), ("value", source.value)):
            if part is not None and part.pin is not None:
                frame = decode(frame, self._plan(part), column=side, names=_names(side), part=side)
                bad.append(_is_bad(_names(side).error))
        selected = [_select(frame, one, source).cast(types[one.name]).alias(one.name) for one in source.columns]
        broken = bad[0] if bad else F.lit(False)
        for one in bad[1:]:
            broken = broken | one
        return frame.select(*selected, broken.alias(BAD), ORDER)

    def _plan(self, part: SourcePart) -> DecodePlan:
        """The decode plan of one half of a record, whose reader is the version that the source is bound to."""
        pin = part.pin
        assert pin is not None, "only a half with a schema is planned"
        subject = Subject(pin.context, pin.subject)
        version = run_exchange(self.registry, find_version_with_id(subject, pin.schema_id))
        message: DecodeChoices = {"message": part.full_name} if part.format == "PROTOBUF" and part.full_name else {}
        return make_plan(self.registry, str(subject), reader=version.number, framing=part.framing, **message)


def _names(side: str) -> Names:
    return Names(f"_treaty_{side}", f"_treaty_{side}_error")


def _is_bad(error: str) -> Column:
    """Whether a row is bad. An id that the registry does not know is no bad row: it may be registered, and the batch is run again then."""
    code = F.col(f"{error}.code")
    text = F.concat(F.lit(f"{UNKNOWN} "), F.col(f"{error}.schema_id").cast("string"))
    return F.when(code == "UNKNOWN_ID", F.raise_error(text).cast("boolean")).otherwise(code.isNotNull())


def _select(frame: DataFrame, column: SourceColumn, source: Source) -> Column:
    if column.role == "header":
        if not column.header:
            return F.col("headers")
        name = print_text(column.header)
        return F.expr(f"element_at(filter(headers, one -> one.key = {name}), -1).value")
    part = source.key if column.role == "key" else source.value
    if part is not None and part.pin is None and part.format == "KAFKA":
        if column.type not in _KEYS:
            message = f"{source.name} has a key {column.type} in the format KAFKA, and --once reads {', '.join(_KEYS)}: say KEY_FORMAT = 'AVRO'"
            raise SourceNotRunnableError(message)
        return F.expr(_KEYS[column.type])
    record = _names(column.role).record
    fields = frame.schema[record].dataType.fieldNames()  # type: ignore[attr-defined]  # a record is a struct
    name = column.name if column.name in fields else fields[0]  # a schema that is no record has one field
    return F.col(f"{record}.{print_name(name)}")
