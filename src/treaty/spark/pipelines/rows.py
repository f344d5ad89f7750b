"""Rows of a batch as the tables of a pipeline have them: columns of good and of bad rows, what is kept of the source, and names that
are refused.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.core.state.columns import Column, Columns, Struct
from treaty.plan.ddl import parse_type, quote_name
from treaty.plan.errors import PlanError
from treaty.plan.rows import Names
from treaty.plan.strictness import find_twins
from treaty.plan.value import DecodePlan
from treaty.spark.decode import decode
from treaty.spark.keyed.rows import add_change_errors, decode_keys, list_key_columns, select_changes, select_docs
from treaty.spark.keyed.upsert import KeyedMerge, merge_changes
from treaty.spark.lake import tables
from treaty.spark.lake.table import WriteId
from treaty.spark.pipelines.counts import KEY, ROW_ID, make_count_key
from treaty.spark.pipelines.value import Pipeline, PipelineError
from treaty.spark.types import spark_schema

RECORD, ERROR = "_record", "_error"
BAD_ID, BATCH = "bad_id", "batch"
"""Columns of the table of bad rows: a name for each of them, and the batch that brought it."""
BAD_COLUMNS = ("code", "message", "schema_id", "payload", BAD_ID, BATCH)
"""What a table of bad rows has beside the columns that are kept."""
HEADERS = "headers"


def list_source_columns(pipeline: Pipeline) -> tuple[str, ...]:
    """The columns of the source that a pipeline needs."""
    return tuple(dict.fromkeys((pipeline.frames, *_list_kept(pipeline))))


def _list_kept(pipeline: Pipeline) -> tuple[str, ...]:
    """The columns beside the frames that a row is read with, so that bad ones can be read again."""
    keyed = pipeline.keyed.sources if pipeline.keyed else ()
    return tuple(dict.fromkeys((*pipeline.keep, *((HEADERS,) if pipeline.headers else ()), *keyed)))


def decode_rows(pipeline: Pipeline, frame: DataFrame, plan: DecodePlan) -> DataFrame:
    """The rows with their record and their error, beside the columns that are kept and a key to count them by."""
    selected = frame.select(*map(quote_name, list_source_columns(pipeline)))
    names = Names(RECORD, ERROR, schema_id=ROW_ID, version=pipeline.with_version)
    keyed = pipeline.keyed
    ready = selected if keyed is None else decode_keys(selected, keyed, plan.key)
    decoded = decode(ready, plan, column=pipeline.frames, names=names, part=pipeline.part)
    if keyed is not None:
        decoded = add_change_errors(decoded, keyed, value=pipeline.frames, record=RECORD, error=ERROR)
    return decoded.withColumn(KEY, make_count_key(pipeline.frames, RECORD, ERROR))


def write_good_rows(pipeline: Pipeline, decoded: DataFrame, plan: DecodePlan, batch: WriteId, frames: str = "") -> None:
    """Bring the good rows into their table, once: appended, or merged by key. `frames`: their column, if it is another one."""
    table, keyed = pipeline.good_table, pipeline.keyed
    if keyed is None:
        tables.append(select_good_rows(pipeline, decoded, plan), table, batch, pipeline.evolution)
        return
    extra = tuple(name for name in (*pipeline.keep, pipeline.with_id, pipeline.with_version) if name)
    named = decoded.withColumn(pipeline.with_id, F.col(ROW_ID)) if pipeline.with_id else decoded
    changes = select_changes(named, keyed, extra, value=frames or pipeline.frames, record=RECORD, error=ERROR)
    into = KeyedMerge(table, keyed, list_key_columns(named, keyed, RECORD))
    merge_changes(changes, into, batch, pipeline.evolution, select_docs(plan, keyed.envelope))


def select_good_rows(pipeline: Pipeline, decoded: DataFrame, plan: DecodePlan) -> DataFrame:
    """The good rows as their table has them."""
    extra = [F.col(quote_name(one)) for one in pipeline.keep]
    extra += [F.col(ROW_ID).alias(pipeline.with_id)] if pipeline.with_id else []
    extra += [F.col(quote_name(pipeline.with_version))] if pipeline.with_version else []
    fields = [F.col(RECORD)[name].alias(name) for name, _ in plan.columns] or [F.col(RECORD).alias("value")]
    return decoded.filter(F.col(RECORD).isNotNull()).select(*extra, *fields)


def list_columns(plan: DecodePlan) -> StructType:
    """The columns that a record has in the table of good rows."""
    columns = plan.columns or (("value", plan.type),)
    return spark_schema(Columns(tuple(Column(name, parse_type(kind)) for name, kind in columns)))


def refuse_kept(pipeline: Pipeline) -> None:
    """Raise `PipelineError` where a column that is kept would have the name of one that a table has of its own."""
    for own in ((pipeline.with_id, pipeline.with_version), BAD_COLUMNS):
        double = find_twins(dict.fromkeys(pipeline.keep), own)
        if double:
            raise PipelineError(
                f"two columns of a table would be called {double[0]}: keep may have none of {', '.join(filter(None, own))}; "
                "rename it in the source"
            )


def refuse_double(pipeline: Pipeline, plan: DecodePlan) -> None:
    """Raise `PlanError` where a field of the record would be a column that the table of good rows has beside the record."""
    keyed = pipeline.keyed
    beside = [*pipeline.keep, pipeline.with_id, pipeline.with_version]
    fields = [name for name, _ in plan.columns] or ["value"]
    if keyed is not None:
        beside = [one for one in (*beside, *keyed.order) if one not in keyed.key]
        envelope = keyed.envelope
        inside = [kind for name, kind in plan.columns if envelope is not None and name == envelope.after]
        kind = parse_type(inside[0]) if inside else None
        fields = [column.name for column in kind.columns] if isinstance(kind, Struct) else fields
    twins = find_twins(fields)
    if twins:
        raise PlanError(
            f"two fields of the record differ in nothing but upper and lower case from {twins[0]}, and {pipeline.good_table.place} has one column "
            "for both: give the field one spelling, with the other as an alias"
        )
    double = find_twins(dict.fromkeys(beside), fields)
    if double:
        raise PlanError(
            f"two columns of {pipeline.good_table.place} would be called {double[0]}, one of the source and one of the record: leave it "
            "out of keep, the order of a keyed table and the columns of id and version, or rename it in the source"
        )


def select_bad_rows(pipeline: Pipeline, decoded: DataFrame, number: int) -> DataFrame:
    """The bad rows of a batch as their table has them; with headers where a row can't be read again without."""
    names = [F.uuid().alias(BAD_ID), F.lit(number).cast("bigint").alias(BATCH)]
    return decoded.filter(F.col(ERROR).isNotNull()).select(*map(quote_name, _list_kept(pipeline)), f"{ERROR}.*", *names)
