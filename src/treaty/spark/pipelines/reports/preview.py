"""What a pipeline would do if it ran now: its decode plan, what its table would become, what would be refused; nothing is written."""

from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from treaty.core.refusals import NotFound
from treaty.core.registry import Registry
from treaty.plan.addresses import open_registry
from treaty.plan.errors import PlanError
from treaty.plan.value import DecodePlan
from treaty.spark.lake import tables
from treaty.spark.lake.changes import ColumnChange, EvolutionError, list_changes
from treaty.spark.pipelines.planner import make_planner
from treaty.spark.pipelines.reports.suspect_queries import SuspectQuery, list_pipeline_queries
from treaty.spark.pipelines.route import TopicRoute, list_routes, make_route
from treaty.spark.pipelines.rows import list_columns, refuse_double, refuse_kept
from treaty.spark.pipelines.source_check import find_source_error
from treaty.spark.pipelines.value import Pipeline, PipelineError


@dataclass(frozen=True, slots=True)
class PipelinePreview:
    """One subject's rows: the plan, or why there is none; columns that are added and types that grow; what stands against it.

    `new` says that the table would be made. `refused` are sentences: why the stream would end. `suspect` are queries for
    rows that a development build may have written wrongly into the table that is there.
    """

    topic: str
    subject: str
    table: str
    plan: DecodePlan | None
    new: bool = False
    grows: tuple[ColumnChange, ...] = ()
    refused: tuple[str, ...] = ()
    suspect: tuple[SuspectQuery, ...] = ()

    @property
    def fine(self) -> bool:
        """Whether every row of a schema that is known now would go into the table."""
        return self.plan is not None and not self.refused and not self.plan.rejected


def preview(
    pipeline: Pipeline, registry: Registry | str, spark: SparkSession, topics: tuple[str, ...] = ()
) -> tuple[PipelinePreview, ...]:
    """Look at the source and at each subject of a pipeline; `topics` are those of a pattern. Raises `Unavailable` where the registry can't say now."""
    ways = list_routes(pipeline) or tuple(make_route(pipeline, one) for one in topics)
    source_error = find_source_error(pipeline, spark)
    if source_error and not ways:
        return (PipelinePreview("", pipeline.subject, pipeline.good_table.place, None, refused=(source_error,)),)
    with open_registry(registry) as client:
        previews = tuple(_preview_route(way, client, spark) for way in ways)
    return tuple(replace(one, refused=(*one.refused, source_error)) for one in previews) if source_error else previews


def _preview_route(way: TopicRoute, registry: Registry, spark: SparkSession) -> PipelinePreview:
    pipeline = way.pipeline
    place = pipeline.good_table.place
    have = tables.schema(spark, pipeline.good_table)
    try:
        refuse_kept(pipeline)
        plan = make_planner(way, registry, spark).plan()
    except (NotFound, PlanError, PipelineError) as no:
        return PipelinePreview(way.topic, pipeline.subject, place, None, have is None, refused=(str(no),))
    rows = list_columns(plan)
    try:
        refuse_double(pipeline, plan)
        if have is None:
            return PipelinePreview(way.topic, pipeline.subject, place, plan, new=True)
        tables.plan_evolution(pipeline.good_table, have, rows, pipeline.evolution)
    except (EvolutionError, PlanError) as no:
        return PipelinePreview(way.topic, pipeline.subject, place, plan, refused=(str(no),))
    suspect = list_pipeline_queries(plan, pipeline)
    kinds = {"add", "widen"} if pipeline.evolution == "widen" else frozenset[str]()
    grows = tuple(one for one in list_changes(have, rows) if one.kind in kinds)
    return PipelinePreview(way.topic, pipeline.subject, place, plan, grows=grows, suspect=suspect)
