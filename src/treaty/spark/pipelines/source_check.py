"""Whether the source of a pipeline can be read: it opens, and has the columns that the pipeline needs."""

from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType

from treaty.plan.errors import PlanError
from treaty.spark.frames import MOST_NAMES, require_frames
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
    missing = list_missing_columns(frame, list_source_columns(pipeline))
    if pipeline.frames in missing:
        raise PlanError(f"the source has no column {pipeline.frames}, which holds the frames; {_find_remedy(frame)}")
    if missing:
        names = ", ".join(frame.columns[:MOST_NAMES])
        needed = ", ".join(missing)
        raise PlanError(f"the source has no column {needed}, which `keep` or `keyed` names; there are {names}")
    require_frames(frame, pipeline.frames)


def list_missing_columns(frame: DataFrame, names: Iterable[str]) -> list[str]:
    """Return the names that are no column of a frame, by the session's rule about letter case.

    Hidden columns of Spark, such as ``_metadata`` of files, are none: the batches of a stream do not have them.
    """
    if frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true":
        return [name for name in names if name not in frame.columns]
    known_names = {column.lower() for column in frame.columns}
    return [name for name in names if name.lower() not in known_names]


def _find_remedy(frame: DataFrame) -> str:
    binary = [field.name for field in frame.schema.fields if isinstance(field.dataType, BinaryType)]
    if binary:
        return " or ".join(f'column = "{name}"' for name in binary[:3]) + " names it"
    return f"none is BINARY: there are {', '.join(frame.columns[:MOST_NAMES])}"
