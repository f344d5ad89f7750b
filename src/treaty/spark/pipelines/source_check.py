"""Whether the source of a pipeline can be read: it opens, and has the columns that the pipeline needs."""

from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, StructType

from treaty.plan.errors import PlanError
from treaty.spark.frames import MOST_NAMES, has_exact_names, require_frames
from treaty.spark.pipelines.rows import list_source_columns
from treaty.spark.pipelines.source import SourceError, open_stream
from treaty.spark.pipelines.value import Pipeline


def find_source_error(pipeline: Pipeline, spark: SparkSession) -> str:
    """Return why the source of a pipeline can not be read now, as a sentence; empty if it can, or if there is none.

    Files must be there. The brokers of topics are not asked.
    """
    if pipeline.source is None:
        return ""
    try:
        require_source_columns(pipeline, open_stream(spark, pipeline.source))
    except (SourceError, PlanError) as error:
        return str(error)
    return ""


def require_source_columns(pipeline: Pipeline, frame: DataFrame) -> None:
    """Raise `PlanError` where a source lacks a column that the pipeline needs, or its frames are not binary."""
    refuse_missing_columns(pipeline, frame.schema, case_sensitive=has_exact_names(frame.sparkSession))
    require_frames(frame, pipeline.frames)


def refuse_missing_columns(pipeline: Pipeline, columns: StructType, *, case_sensitive: bool) -> None:
    """Raise `PlanError` where a column that the pipeline needs is not among those of its source."""
    missing = list_missing_columns(columns, list_source_columns(pipeline), case_sensitive=case_sensitive)
    if pipeline.frames in missing:
        raise PlanError(f"the source has no column {pipeline.frames}, which holds the frames; {_find_remedy(columns)}")
    if missing:
        names = ", ".join(columns.names[:MOST_NAMES])
        needed = ", ".join(missing)
        raise PlanError(f"the source has no column {needed}, which `keep` or `keyed` names; there are {names}")


def list_missing_columns(columns: StructType, names: Iterable[str], *, case_sensitive: bool) -> list[str]:
    """Return the names that are no column of a frame.

    Hidden columns of Spark, such as ``_metadata`` of files, are none: the batches of a stream do not have them.
    """
    if case_sensitive:
        return [name for name in names if name not in columns.names]
    known_names = {column.lower() for column in columns.names}
    return [name for name in names if name.lower() not in known_names]


def _find_remedy(columns: StructType) -> str:
    binary = [field.name for field in columns.fields if isinstance(field.dataType, BinaryType)]
    if binary:
        return " or ".join(f'column = "{name}"' for name in binary[:3]) + " names it"
    return f"none is BINARY: there are {', '.join(columns.names[:MOST_NAMES])}"
