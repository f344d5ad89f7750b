"""The frame of a source: its columns, decoded by the schemas that it is bound to, from a topic, or from files or a Delta table below a root."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.core.column_types import drop_not_null, expand_type, lower_name, parse_column_type, print_column_type
from treaty.core.column_types.tokens import print_name, print_text
from treaty.core.kafka import KafkaCluster
from treaty.core.names import Subject
from treaty.core.registry import Registry, run_exchange
from treaty.core.sources import Source, SourceColumn, SourcePart, SourceRead
from treaty.metastore.bad_rows import first_generation, name_bad_folder
from treaty.metastore.columns.pins import find_version_with_id
from treaty.metastore.columns.source_refresh import read_user_types
from treaty.metastore.sql.values import EARLIEST, LATEST, ComparedRange
from treaty.plan.decode_plans import make_plan
from treaty.plan.options import DecodeChoices
from treaty.plan.rows import CODES, Names
from treaty.plan.value import DecodePlan
from treaty.spark.decode import ERROR_TYPE, check_frames, decode, list_fields
from treaty.spark.lake import iceberg
from treaty.spark.lake.table import LakeTable, is_missing
from treaty.spark.planner.leaf_columns import list_needed
from treaty.spark.planner.pseudo_columns import list_pseudo_columns
from treaty.spark.planner.views import STREAM
from treaty.spark.runner.data_roots import DataRoot, find_folder
from treaty.spark.runner.kafka_source import (
    NULL_KEY,
    PARTITIONS_OF,
    RecordedOffsets,
    SourceMissingError,
    SourceNotRunnableError,
    count_partitions,
    key_reader,
    open_topic,
    refuse,
    refuse_other_key,
    refuse_start,
)
from treaty.spark.runner.row_order import (
    DELETED,
    FILE,
    ID,
    ORDER,
    PARTITION,
    PLACE,
    PLACES,
    RECORD_PARTS,
    RECORDS,
    WHY,
    RecordFrame,
    fill_columns,
    keep_last,
    list_pseudo_parts,
    list_used_parts,
    place_of_line,
    place_of_record,
)
from treaty.spark.runner.sinks import require_format

CORRUPT, LINE, BAD = "_treaty_corrupt", "_treaty_line", "_treaty_bad"
NO_LINE = "the line is no JSON object with the columns of the source"
BAD_OF = "bad_"
"""Bad rows are counted under this and their code."""
UNKNOWN = "TREATY_UNKNOWN_ID"
"""What the error of a batch begins with that has a schema id which the registry does not know."""


@dataclass(frozen=True, slots=True)
class SourceOpener:
    """Opens sources of a registry whose data is below a root."""

    spark: SparkSession
    registry: Registry
    root: DataRoot
    counts_unknown: bool = False
    """Whether rows with an id that the registry does not know are bad; else they end the batch."""
    clusters: Mapping[str, KafkaCluster] = field(default_factory=dict)
    start: str = ""
    """Where a new query begins to read: earliest, latest or a time; empty: earliest."""
    recorded: ComparedRange | None = None
    """Of which time the files are that are read; None: all."""
    offsets: Sequence[RecordedOffsets] = ()
    """Which records of a topic are read; empty: all."""
    keeps_order: bool = True
    """Whether rows of a stream have `ORDER`; those of a table do."""
    reads: Sequence[SourceRead] = ()
    """What a body that names its columns reads: rows hold no other columns of topics and files. Empty: they hold all."""
    plans: dict[str, DecodePlan] = field(default_factory=dict)
    """The plans by which records are decoded, by `name_plan`. What is not there when it is needed is made, and kept here."""

    def open(
        self, source: Source, *, streaming: bool, columns: tuple[SourceColumn, ...], words: Collection[str] = ()
    ) -> DataFrame:
        """Return the rows of a source, those that can't be decoded left out; of a stream they are counted (`observe`).

        `columns` have their types written out. The pseudo-columns that are among `words` come after them. Of a table these are the rows as
        they are now; with `streaming` they are its changes, with the columns `ORDER` and `DELETED`. Raises `SourceNotRunnableError` for a
        connector or a key that is not read here.
        """
        if streaming and source.connector != "kafka":
            refuse_start(source, self.start)
        if source.connector == "delta":
            return (
                self._follow_delta(source)
                if streaming and source.kind != STREAM
                else self._open_delta(source, streaming=streaming)
            )
        if source.connector == "iceberg":
            return self._open_iceberg(source, streaming=streaming)
        opener = self if streaming else replace(self, keeps_order=source.kind != STREAM)
        frame = opener.mark(source, columns=columns, words=words, streaming=streaming)
        counted = frame.observe(name_counts(source.generation), *count_rows()) if streaming else frame
        good = fill_columns(counted.where(F.col(BAD).isNull()).drop(BAD), columns)
        if streaming:
            return good.drop(DELETED) if source.kind == STREAM else good
        return settle(source, good).drop(ORDER)

    def mark(
        self, source: Source, *, columns: tuple[SourceColumn, ...], words: Collection[str] = (), streaming: bool = False
    ) -> DataFrame:
        """Return all records of a topic or of files, with the columns `BAD` (the code of one that can't be decoded), `DELETED` and, if kept, `ORDER`."""
        keeps_order = self.keeps_order or source.kind != STREAM
        pseudo = list_pseudo_columns(source.columns, words)
        used = list_used_parts(source, [one.name for one in pseudo], keeps_order=keeps_order)
        needed = list_needed(source, self.reads, words) if self.reads else [one.name for one in columns]
        records = self._read(source, columns, used, streaming=streaming)
        return records.frame.select(
            *(cell for column, cell in zip(columns, records.columns, strict=True) if column.name in needed),
            *(records.pseudo[one.name].alias(one.name) for one in pseudo),
            records.code.alias(BAD),
            records.deleted.alias(DELETED),
            *([ORDER] if keeps_order else []),
        )

    def open_bad(self, source: Source, columns: tuple[SourceColumn, ...], bad: Source) -> DataFrame:
        """Return the rows of a source that can't be decoded, as a stream with the columns of `bad`, the stream of its bad rows."""
        records = self._read(source, columns, streaming=True)
        present = records.frame.columns
        record = {f"_{name}": F.col(name) if name in present else F.lit(None) for name in ("key", "value")}
        own = {**records.pseudo, **record}
        frame = records.frame.select(
            records.why.alias(WHY), *(one.alias(name) for name, one in own.items()), records.code.alias(BAD)
        )
        cells = {"bad_id": F.uuid(), "found_at": F.current_timestamp()} | {name: F.col(name) for name in own}
        return frame.where(F.col(BAD).isNotNull()).select(
            *(cells.get(one.name, F.col(f"{WHY}.{one.name}")).cast(one.type).alias(one.name) for one in bad.columns)
        )

    def _read(
        self, source: Source, columns: tuple[SourceColumn, ...], used: frozenset[str] = RECORD_PARTS, *, streaming: bool
    ) -> RecordFrame:
        """The records of a source; of a stream those that are no tombstones. `used` are the parts of a record that something is made of."""
        if source.connector == "kafka":
            return self._decode(source, columns, self._open_topic(source, streaming=streaming), used)
        if source.connector != "files":
            message = f"{source.name} is on {source.connector}, and a runner reads topics, files, Delta and Iceberg tables: CONNECTOR = 'files'"
            raise SourceNotRunnableError(message)
        if is_missing(self.spark, self.folder(source)):
            raise SourceMissingError(
                f"the folder of {source.name} is not there yet: {source.place}; the first file makes it"
            )
        if source.value is not None and source.value.framing == "none":
            return self._read_lines(source, columns, streaming=streaming)
        return self._decode(source, columns, self._open_files(source, streaming=streaming), used)

    def folder(self, source: Source) -> str:
        """Return the folder of a source; bad rows have one by the generation. Raises `SourceNotRunnableError` for one outside of the root."""
        return find_folder(self.root, source)

    def _open_delta(self, source: Source, *, streaming: bool) -> DataFrame:
        folder = self._delta_folder(source)
        reader = self.spark.readStream if streaming else self.spark.read
        rows = reader.format("delta").load(folder)
        return rows.select(*(F.col(print_name(one.name)) for one in source.columns))

    def _open_iceberg(self, source: Source, *, streaming: bool) -> DataFrame:
        """The rows of an Iceberg table now, or those that are appended to it; a batch is what has come since the one before."""
        require_format(self.spark, source)
        if streaming and source.kind != STREAM:
            message = f"{source.name} is an Iceberg table, whose changes can't be followed"
            raise SourceNotRunnableError(
                f"{message}: CONNECTOR = 'delta' for it, or a STREAM where rows are only appended"
            )
        table = LakeTable(self.folder(source), "iceberg")
        if is_missing(self.spark, f"{table.folder}/metadata"):
            raise SourceMissingError(
                f"the table of {source.name} is not there yet: {source.place}; the first row of its query makes it"
            )
        name = iceberg.name(self.spark, table)
        rows = self.spark.readStream.table(name) if streaming else iceberg.read(self.spark, table)
        return rows.select(*(F.col(print_name(one.name)) for one in source.columns))

    def _delta_folder(self, source: Source) -> str:
        folder = self.folder(source)
        if is_missing(self.spark, f"{folder}/_delta_log"):
            raise SourceMissingError(
                f"the table of {source.name} is not there yet: {source.place or name_bad_folder(source)}; the first {'bad row' if source.origin else 'row of its query'} makes it"
            )
        return folder

    def _follow_delta(self, source: Source) -> DataFrame:
        """The changes of a table: its rows at first, then each row that was changed or deleted."""
        folder = self._delta_folder(source)
        frame = self.spark.readStream.format("delta").option("readChangeFeed", "true").load(folder)
        deleted = F.col("_change_type") == "delete"
        order = F.struct(F.col("_commit_version").alias("p0"), (~deleted).alias("p1"))
        return frame.where("_change_type != 'update_preimage'").select(
            *(F.col(print_name(one.name)) for one in source.columns), deleted.alias(DELETED), order.alias(ORDER)
        )

    def _read_lines(self, source: Source, columns: tuple[SourceColumn, ...], *, streaming: bool) -> RecordFrame:
        reader = self.spark.readStream if streaming else self.spark.read
        lines = self._limit(reader.option("pathGlobFilter", "[!_.]*").text(self.folder(source)))
        places = (F.col("_metadata.file_path").alias(FILE), place_of_line().alias(ORDER))
        return self._parse_lines(source, columns, lines.select("value", *places))

    def decode_bad(self, source: Source, columns: tuple[SourceColumn, ...], rows: DataFrame) -> RecordFrame:
        """Return the records of rows that were bad, decoded again; `rows` are of the stream of bad rows of the source. Their `bad_id` is kept.

        `columns` have their types written out, and are those that the records are decoded into: a plan of former times knows no other ones.
        """
        places = {
            "key": "_key",
            "value": "_value",
            "headers": "_headers",
            "timestamp": "_timestamp",
            FILE: "_topic",
            PLACE: "_offset",
        }
        if source.connector == "kafka":
            places[PARTITION] = "_partition"
        order = F.struct(F.col("_offset").alias("p0")).alias(ORDER)
        records = rows.select("bad_id", *(F.col(name).alias(word) for word, name in places.items()), order)
        if source.value is not None and source.value.framing == "none":
            return self._parse_lines(source, columns, records.withColumn("value", F.col("value").cast("string")))
        return self._decode(source, columns, records)

    def _parse_lines(self, source: Source, columns: tuple[SourceColumn, ...], lines: DataFrame) -> RecordFrame:
        """The records of lines in the column `value`."""
        ddl = ", ".join(f"{print_name(one.name)} {one.type}" for one in columns)
        options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
        parsed = F.from_json("value", f"{ddl}, {CORRUPT} STRING", options)
        frame = lines.where("trim(value) != ''").withColumn(LINE, parsed)
        code = F.when(F.col(LINE).isNull() | F.col(f"{LINE}.{CORRUPT}").isNotNull(), "MALFORMED")
        why = F.struct(
            F.lit("MALFORMED").alias("code"),
            F.lit(NO_LINE).alias("message"),
            F.lit(None).cast("int").alias("schema_id"),
            F.col("value").cast("binary").alias("payload"),
        )
        own = [F.col(f"{LINE}.{print_name(one.name)}").alias(one.name) for one in columns]
        if source.kind != STREAM:
            keys = [F.col(f"{LINE}.{print_name(one.name)}").isNull() for one in columns if one.role == "key"]
            is_bad = F.when(code.isNull(), reduce(or_, keys, F.lit(False)))
            code, why = refuse(is_bad, NULL_KEY, code, why, payload=F.col("value").cast("binary"))
        return RecordFrame(frame, own, list_pseudo_parts({"_topic": FILE}), code, why, F.lit(False))

    def _open_files(self, source: Source, *, streaming: bool) -> DataFrame:
        """The records of files, with their places."""
        reader = self.spark.readStream if streaming else self.spark.read
        frame = self._limit(reader.schema(RECORDS).parquet(self.folder(source)))
        places = (F.col("_metadata.file_path").alias(FILE), F.col("_metadata.row_index").alias(PLACE))
        return frame.select("*", *places, place_of_record().alias(ORDER))

    def _limit(self, files: DataFrame) -> DataFrame:
        """The lines or records of the files that are of the recorded time."""
        written = F.col("_metadata.file_modification_time")
        if self.recorded is not None and self.recorded.start != EARLIEST:
            files = files.where(written >= F.lit(datetime.fromisoformat(self.recorded.start)))
        if self.recorded is not None and self.recorded.end != LATEST:
            files = files.where(written < F.lit(datetime.fromisoformat(self.recorded.end)))
        return files

    def _open_topic(self, source: Source, *, streaming: bool) -> DataFrame:
        """The records of a topic, with their places."""
        frame = open_topic(self.spark, source, self.clusters, self.start, streaming=streaming, recorded=self.offsets)
        if self.offsets:
            frame = frame.observe(f"{PARTITIONS_OF}{source.generation}", *count_partitions(self.offsets))
        places = (F.col("topic").alias(FILE), F.col("offset").alias(PLACE), F.col("partition").alias(PARTITION))
        order = F.struct(F.col("partition").alias("p0"), F.col("offset").alias("p1"))
        return frame.select("key", "value", "headers", "timestamp", *places, order.alias(ORDER))

    def _decode(
        self, source: Source, columns: tuple[SourceColumn, ...], records: DataFrame, used: frozenset[str] = RECORD_PARTS
    ) -> RecordFrame:
        records = records.drop(*(RECORD_PARTS - used))
        frame = records.where(F.col("value").isNotNull()) if source.kind == STREAM else records
        fields: dict[str, Mapping[str, Column]] = {}
        code, why = F.lit(None).cast("string"), F.lit(None).cast(ERROR_TYPE)
        for side, part in (("key", source.key), ("value", source.value)):
            if part is None or part.pin is None:
                continue
            plan, id_name = self._plan(source, side, part), ID if side == "value" and ID in used else ""
            checked = None
            if side == "value" and WHY not in used:  # then a code and the fields are enough
                checked = check_frames(frame, plan, column=side, part=side, schema_id=id_name)
            if checked is None:
                names = Names(f"_treaty_{side}", f"_treaty_{side}_error", id_name)
                frame = decode(frame, plan, column=side, names=names, part=side)
                fields[side] = list_fields(frame, names.record)
                own, number = F.col(f"{names.error}.code"), F.col(f"{names.error}.schema_id")
                why = F.coalesce(why, F.col(names.error))
            else:
                frame, fields[side], own, number = checked.frame, checked.fields, checked.code, checked.claimed_id
            code = F.coalesce(code, _find_code(own, number, counts_unknown=self.counts_unknown))
        selected = [_select(fields.get(one.role, {}), one, source).cast(one.type).alias(one.name) for one in columns]
        pseudo = {name: place for name, place in PLACES.items() if place in frame.columns}
        if source.key is not None and source.key.pin is None and source.key.format == "KAFKA":
            code, why = refuse_other_key(source, code, why)
        if source.kind != STREAM and source.key is not None:
            code, why = refuse(F.col("key").isNull(), NULL_KEY, code, why, payload=F.col("value"))
        return RecordFrame(frame, selected, list_pseudo_parts(pseudo), code, why, F.col("value").isNull())

    def _plan(self, source: Source, side: str, part: SourcePart) -> DecodePlan:
        """The decode plan of one half of a record, whose reader is the version that the source is bound to."""
        name, pin = name_plan(source, side), part.pin
        if name in self.plans:
            return self.plans[name]
        assert pin is not None, "only a half with a schema is planned"
        subject = Subject(pin.context, pin.subject)
        version = run_exchange(self.registry, find_version_with_id(subject, pin.schema_id))
        message: DecodeChoices = {"message": part.full_name} if part.format == "PROTOBUF" and part.full_name else {}
        plan = make_plan(self.registry, str(subject), reader=version.number, framing=part.framing, **message)
        return self.plans.setdefault(name, plan)


def name_counts(generation: int) -> str:
    """Return the name under which the rows of a source are counted (`observe`)."""
    return f"bad_{generation}"


def name_plan(source: Source, side: str) -> str:
    """Return the name of the plan by which one half of the records of a source is decoded: `side` is key or value."""
    return f"{first_generation(source)}/{side}"


def settle(source: Source, records: DataFrame) -> DataFrame:
    """Return the rows of good records that were marked, with `ORDER`: of a table the last one of each key, unless that deletes it."""
    if source.kind == STREAM:
        return records.drop(DELETED)
    key = tuple(one.name for one in source.columns if one.role == "key")
    return keep_last(records, key, keep_order=True).where(~F.col(DELETED)).drop(DELETED)


def expand_columns(registry: Registry, source: Source) -> tuple[SourceColumn, ...]:
    """Return the columns of a source with the types of users written out, and without NOT NULL inside: rows are cast to them."""
    kinds = [parse_column_type(column.type) for column in source.columns]
    types = run_exchange(registry, read_user_types(kinds)).expanded
    return tuple(
        replace(column, type=print_column_type(drop_not_null(expand_type(kind, types.get))))
        for column, kind in zip(source.columns, kinds, strict=True)
    )


def _find_code(code: Column, claimed_id: Column, *, counts_unknown: bool) -> Column:
    """The code of a bad row, null for a good one. An id that the plan does not know ends the batch at first: it may be registered, and
    the batch is run again then.
    """
    if counts_unknown:
        return code
    schema_id = claimed_id.cast("string")  # null where a frame names its schema otherwise
    text = F.concat(F.lit(f"{UNKNOWN} "), F.coalesce(schema_id, F.lit("of another form")))
    return F.when(code == "UNKNOWN_ID", F.raise_error(text).cast("string")).otherwise(code)


def count_rows() -> tuple[Column, ...]:
    """Return what is counted of the rows of a source: all, the bad ones, and these by code."""
    by_code = (F.count(F.when(F.col(BAD) == code, 1)).alias(f"{BAD_OF}{code}") for code in CODES)
    return F.count(F.lit(1)).alias("rows"), F.count(F.col(BAD)).alias("bad"), *by_code


def _select(fields: Mapping[str, Column], column: SourceColumn, source: Source) -> Column:
    if column.role == "header":
        if not column.header:
            return F.col("headers")
        name = print_text(column.header)
        return F.expr(f"try_element_at(filter(headers, one -> one.key = {name}), -1).value")
    part = source.key if column.role == "key" else source.value
    if part is not None and part.pin is None and part.format == "KAFKA":
        return F.expr(key_reader(source, column.type))
    by_key = {lower_name(one): one for one in fields}
    named = column.name if column.name in fields else by_key.get(lower_name(column.name), "")
    if not named and len(fields) > 1:
        message = (
            f"{source.name} has a column {column.name}, and the schema that it is bound to has {', '.join(fields)}"
        )
        raise SourceNotRunnableError(f"{message}: CREATE OR REPLACE takes the columns of the schema")
    return fields[named or next(iter(fields))]  # a schema that is no record has one field
