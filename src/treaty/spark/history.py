"""Checks existing data with a candidate schema: counts by id and error, samples, and lost values."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StructType,
)

from treaty.core.limits import HISTORY_TROUBLES
from treaty.core.registry import Registry
from treaty.plan import registry_queries
from treaty.plan.addresses import open_registry
from treaty.plan.avro.flat import parse_avro
from treaty.plan.ddl import quote_name
from treaty.plan.decode_plans import make_plan
from treaty.plan.errors import RESOLUTION, PlanError
from treaty.plan.options import DecodeOptions
from treaty.plan.planners import find_planner
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.rows import Names
from treaty.plan.value import DecodePlan
from treaty.spark.decode import decode, ids_of
from treaty.spark.dropped_values import DroppedValue, count_dropped, find_dropped
from treaty.spark.frames import map_frame_id, require_frames
from treaty.spark.session_engines import fit_to_session

ERROR, ID, RECORD = "_error", "_id", "_record"
NUMBERS = (ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType, DecimalType)


@dataclass(frozen=True, slots=True)
class ReadFailure:
    """Rows of a schema id that the candidate cannot read for one reason; samples are payloads in hex."""

    schema_id: int | None
    code: str
    rows: int
    message: str
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NarrowedField:
    """A field whose type the candidate narrows, and the number of existing values that do not fit."""

    field: str
    old: str
    new: str
    rows: int


@dataclass(frozen=True, slots=True)
class HistoryReport:
    """The result for a candidate. `fine`: every row can be read."""

    subject: str
    rows: int
    good: int
    deletes: int
    troubles: tuple[ReadFailure, ...] = ()
    empty: tuple[str, ...] = ()
    """Fields that are null in every row."""
    narrowed: tuple[NarrowedField, ...] = field(default=())
    others: int = 0
    """Unreadable rows for other reasons than the `HISTORY_TROUBLES` most frequent ones."""
    dropped: tuple[DroppedValue, ...] = ()
    """Symbols of enums, nulls and types of unions that rows hold and the candidate has no place for, and the ids that
    write them (Avro).
    """

    @property
    def fine(self) -> bool:
        """Whether the candidate reads every row without loss."""
        return not self.troubles

    def to_json(self) -> str:
        """Return the report as JSON members."""
        return json.dumps({**asdict(self), "fine": self.fine}, ensure_ascii=False)


def check_history(
    candidate: str,
    data: DataFrame,
    registry: Registry | str,
    subject: str,
    *,
    column: str = "value",
    message: str = "",
    share: float = 1.0,
) -> HistoryReport:
    """Read data with a candidate as the reader's schema, and return a report.

    `data` has frames of the subject in a binary `column`, as they came from a topic; a `share` (0 to 1) of them is
    read, chosen at random but alike in every run. A version of which the candidate takes some values and not others is
    read, and its rows fail one by one. Raises what `make_plan` raises; a candidate that can read no version at all is
    reported, not raised. `registry` may be the address of a server.
    """
    require_frames(data, column)
    with open_registry(registry) as client:
        return _check_rows(candidate, data, client, subject, column=column, message=message, share=share)


def _check_rows(
    candidate: str, data: DataFrame, registry: Registry, subject: str, *, column: str, message: str, share: float
) -> HistoryReport:
    data = data.select(column) if share >= 1 else data.select(column).sample(share, seed=1)
    spark = data.sparkSession
    union = fit_to_session(
        make_plan(registry, subject, reader="union", ids=ids_of(data, column), message=message), spark
    )
    decoded, kind = _read_rows(candidate, data, registry, subject, union, column=column, message=message)
    leaves = list(_list_leaves(kind, F.col(RECORD), ""))
    counted = decoded.agg(
        F.count(F.lit(1)).alias("rows"),
        F.count_if(F.col(RECORD).isNotNull()).alias("good"),
        F.count_if(F.col(column).isNull()).alias("deletes"),
        *(F.count_if(leaf.isNotNull()).alias(f"leaf{place}") for place, (_, leaf, _) in enumerate(leaves)),
    ).first()
    assert counted is not None, "an aggregate has one row"
    troubles, other_failures = _list_failures(decoded)
    empty = tuple(name for place, (name, _, _) in enumerate(leaves) if not counted[f"leaf{place}"] and counted["good"])
    return HistoryReport(
        subject,
        counted["rows"],
        counted["good"],
        counted["deletes"],
        troubles,
        empty,
        tuple(_count_narrowed(data, union, {name: kind for name, _, kind in leaves}, column)),
        other_failures,
        _count_dropped(candidate, decoded, union, column) if troubles else (),
    )


def _read_rows(
    candidate: str, data: DataFrame, registry: Registry, subject: str, union: DecodePlan, *, column: str, message: str
) -> tuple[DataFrame, DataType]:
    """The rows as the candidate reads them, with `RECORD`, `ERROR` and `ID`; and the type of its records."""
    names = Names(RECORD, ERROR, schema_id=ID)
    try:
        plan = make_plan(registry, subject, reader=candidate, ids=union.known, message=message)
    except PlanError as nothing:
        if not nothing.rejected:
            raise
        model = registry_queries.parse_text(union.format, candidate)
        itself = RegisteredSchema(0, subject, 0, union.format, model)
        kind = DataType.fromDDL(
            find_planner(union.format).compose([itself], model, DecodeOptions(message=message)).type
        )
        decoded = decode(data, union, column=column, names=names)
        reasons = map_frame_id(F.col(column), {one.schema_id: one.message for one in nothing.rejected})
        message_of = F.coalesce(reasons, F.lit(str(nothing)))
        parts = {"code": F.lit(RESOLUTION), "message": message_of, "schema_id": F.col(ID), "payload": F.col(column)}
        refused = F.struct(*(one.alias(name) for name, one in parts.items()))
        well_formed = F.col(RECORD).isNotNull() | (F.col(ERROR)["code"] == RESOLUTION)
        errors = F.when(well_formed, refused).otherwise(F.col(ERROR))
        return decoded.select(column, ID, F.lit(None).cast(kind).alias(RECORD), errors.alias(ERROR)), kind
    decoded = decode(data, fit_to_session(plan, data.sparkSession), column=column, names=names)
    return decoded, decoded.schema[RECORD].dataType


def _count_dropped(candidate: str, decoded: DataFrame, union: DecodePlan, column: str) -> tuple[DroppedValue, ...]:
    """Who writes what the candidate has no place for, among the rows that it does not take; for Avro, which refuses by
    value.
    """
    if union.format != "AVRO":
        return ()
    places = find_dropped(parse_avro(union.reader), parse_avro(candidate), union.depth)
    lost = decoded.filter(F.col(ERROR)["code"] == RESOLUTION).select(column, ID)
    read = decode(lost, union, column=column, names=Names(RECORD, ""))
    versions = {one.schema_id: one.version for one in union.writers}
    return count_dropped(read, places, record=RECORD, ids=ID, frames=column, versions=versions)


def _list_failures(decoded: DataFrame) -> tuple[tuple[ReadFailure, ...], int]:
    """The most frequent kinds, by id and code, and the rows of all the others."""
    bad = decoded.filter(F.col(ERROR).isNotNull()).select(ID, f"{ERROR}.*")
    some = {"first": F.first("payload"), "least": F.min("payload"), "greatest": F.max("payload")}
    kinds = bad.groupBy(ID, "code").agg(
        F.count(F.lit(1)).alias("rows"),
        F.first("message").alias("message"),
        *(made.alias(name) for name, made in some.items()),
    )
    all_rows = F.sum("rows").over(Window.partitionBy())
    listed = kinds.withColumn("all", all_rows).orderBy(F.desc("rows"), ID, "code").limit(HISTORY_TROUBLES).collect()
    troubles = []
    for kind in sorted(listed, key=lambda row: (row[ID] is not None, row[ID], row["code"])):
        samples = dict.fromkeys(bytes(kind[name]).hex() for name in some)
        troubles.append(ReadFailure(kind[ID], kind["code"], kind["rows"], kind["message"], tuple(samples)))
    return tuple(troubles), listed[0]["all"] - sum(one.rows for one in troubles) if listed else 0


def _list_leaves(kind: DataType, column: Column, way: str) -> Iterator[tuple[str, Column, DataType]]:
    """Every field that is no record, by its path; what is inside lists and maps belongs to them."""
    if not isinstance(kind, StructType):
        yield way or "value", column, kind
        return
    for nested in kind.fields:
        yield from _list_leaves(nested.dataType, column[nested.name], f"{way}.{nested.name}" if way else nested.name)


def _count_narrowed(
    data: DataFrame, union: DecodePlan, columns: Mapping[str, DataType], column: str
) -> Iterator[NarrowedField]:
    """Count, in what all versions together say, the values that the candidate's types can't hold."""
    decoded = decode(data.select(column), union, column=column, names=Names(RECORD, ERROR))
    counted_leaves = []
    for name, leaf, kind in _list_leaves(decoded.schema[RECORD].dataType, F.col(RECORD), ""):
        new = columns.get(name)
        if new is not None and new != kind and isinstance(kind, NUMBERS) and isinstance(new, NUMBERS):
            back = leaf.try_cast(new).try_cast(kind)
            lost = leaf.isNotNull() & ~back.eqNullSafe(leaf)
            counted_leaves.append((name, kind, new, F.count_if(lost).alias(quote_name(name))))
    if not counted_leaves:
        return
    counted = decoded.agg(*(made.alias(f"n{place}") for place, (_, _, _, made) in enumerate(counted_leaves))).first()
    assert counted is not None, "an aggregate has one row"
    for place, (name, old, new, _) in enumerate(counted_leaves):
        yield NarrowedField(name, old.simpleString(), new.simpleString(), counted[f"n{place}"])
