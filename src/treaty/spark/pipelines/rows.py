"""Rows of a batch as the tables of a pipeline have them."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.plan.ddl import quoted, struct_ddl
from treaty.plan.rows import Names
from treaty.plan.value import DecodePlan
from treaty.spark.decode import decode
from treaty.spark.keyed.merging import Merge, merge
from treaty.spark.keyed.rows import changes_of, docs_of, judged, key_names, with_keys
from treaty.spark.lake import lakes
from treaty.spark.lake.table import Batch
from treaty.spark.pipelines.counting.counts import KEY, ROW_ID, key_of
from treaty.spark.pipelines.value import Pipeline

RECORD, ERROR = "_record", "_error"
BAD_ID, BATCH = "bad_id", "batch"
"""Columns of the table of bad rows: a name for each of them, and the batch that brought it."""
HEADERS = "headers"


def read_columns(pipeline: Pipeline) -> tuple[str, ...]:
    """The columns of the source that a pipeline needs."""
    return tuple(dict.fromkeys((pipeline.frames, *_kept(pipeline))))


def _kept(pipeline: Pipeline) -> tuple[str, ...]:
    """The columns beside the frames that a row is read with, so that bad ones can be read again."""
    keyed = pipeline.keyed.sources if pipeline.keyed else ()
    return tuple(dict.fromkeys((*pipeline.keep, *((HEADERS,) if pipeline.headers else ()), *keyed)))


def decoded_rows(pipeline: Pipeline, frame: DataFrame, plan: DecodePlan) -> DataFrame:
    """The rows with their record and their error, beside the columns that are kept and a key to count them by."""
    kept = frame.select(*map(quoted, read_columns(pipeline)))
    names = Names(RECORD, ERROR, schema_id=ROW_ID, version=pipeline.with_version)
    keyed = pipeline.keyed
    ready = kept if keyed is None else with_keys(kept, keyed, plan.key)
    decoded = decode(ready, plan, column=pipeline.frames, names=names, part=pipeline.part)
    if keyed is not None:
        decoded = judged(decoded, keyed, value=pipeline.frames, record=RECORD, error=ERROR)
    return decoded.withColumn(KEY, key_of(pipeline.frames, RECORD, ERROR))


def place(pipeline: Pipeline, decoded: DataFrame, plan: DecodePlan, batch: Batch, frames: str = "") -> None:
    """Bring the good rows into their table, once: appended, or merged by key. `frames`: their column, if it is another one."""
    table, keyed = pipeline.good_table, pipeline.keyed
    if keyed is None:
        lakes.append(good_rows(pipeline, decoded, plan), table, batch, pipeline.evolution)
        return
    extra = tuple(name for name in (*pipeline.keep, pipeline.with_id, pipeline.with_version) if name)
    told = decoded.withColumn(pipeline.with_id, F.col(ROW_ID)) if pipeline.with_id else decoded
    changes = changes_of(told, keyed, extra, value=frames or pipeline.frames, record=RECORD, error=ERROR)
    into = Merge(table, keyed, key_names(told, keyed, RECORD))
    merge(changes, into, batch, pipeline.evolution, docs_of(plan, keyed.envelope))


def good_rows(pipeline: Pipeline, decoded: DataFrame, plan: DecodePlan) -> DataFrame:
    """The good rows as their table has them."""
    extra = [F.col(quoted(one)) for one in pipeline.keep]
    extra += [F.col(ROW_ID).alias(pipeline.with_id)] if pipeline.with_id else []
    extra += [F.col(quoted(pipeline.with_version))] if pipeline.with_version else []
    fields = [F.col(RECORD)[name].alias(name) for name, _ in plan.columns] or [F.col(RECORD).alias("value")]
    return decoded.filter(F.col(RECORD).isNotNull()).select(*extra, *fields)


def columns_of(plan: DecodePlan) -> StructType:
    """The columns that a record has in the table of good rows."""
    found = StructType.fromDDL(struct_ddl(plan.columns or (("value", plan.type),)))
    assert isinstance(found, StructType), "names and types make a struct"
    return found


def bad_rows(pipeline: Pipeline, decoded: DataFrame, number: int) -> DataFrame:
    """The bad rows of a batch as their table has them; with headers where a row can't be read again without."""
    names = [F.uuid().alias(BAD_ID), F.lit(number).cast("bigint").alias(BATCH)]
    return decoded.filter(F.col(ERROR).isNotNull()).select(*map(quoted, _kept(pipeline)), f"{ERROR}.*", *names)
