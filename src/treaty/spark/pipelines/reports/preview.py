"""What a pipeline would do if it ran now: its decode plan, what its table would become, what would be refused; nothing is written."""

from dataclasses import dataclass

from pyspark.sql import SparkSession

from treaty.core.refusals import NotFound
from treaty.core.registry import Registry
from treaty.plan.addresses import open_registry
from treaty.plan.errors import PlanError
from treaty.plan.value import DecodePlan
from treaty.spark.lake import lakes
from treaty.spark.lake.changes import Change, EvolutionError, changes
from treaty.spark.pipelines.planning import Planning
from treaty.spark.pipelines.route import Route, route_of, routes
from treaty.spark.pipelines.rows import columns_of, refuse_double, refuse_kept
from treaty.spark.pipelines.value import Pipeline, PipelineError


@dataclass(frozen=True, slots=True)
class Preview:
    """One subject's rows: the plan, or why there is none; columns that are added and types that grow; what stands against it.

    `new` says that the table would be made. `refused` are sentences: why the stream would end.
    """

    topic: str
    subject: str
    table: str
    plan: DecodePlan | None
    new: bool = False
    grows: tuple[Change, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def fine(self) -> bool:
        """Whether every row of a schema that is known now would go into the table."""
        return self.plan is not None and not self.refused and not self.plan.rejected


def preview(
    pipeline: Pipeline, registry: Registry | str, spark: SparkSession, topics: tuple[str, ...] = ()
) -> tuple[Preview, ...]:
    """Look at each subject of a pipeline; `topics` are those of a pattern. Raises `Unavailable` where the registry can't say now."""
    ways = routes(pipeline) or tuple(route_of(pipeline, one) for one in topics)
    with open_registry(registry) as known:
        return tuple(_one(way, known, spark) for way in ways)


def _one(way: Route, registry: Registry, spark: SparkSession) -> Preview:
    mine = way.pipeline
    place = mine.good_table.place
    have = lakes.schema(spark, mine.good_table)
    try:
        refuse_kept(mine)
        plan = Planning(mine, registry).plan(spark)
    except (NotFound, PlanError, PipelineError) as no:
        return Preview(way.topic, mine.subject, place, None, have is None, refused=(str(no),))
    rows = columns_of(plan)
    try:
        refuse_double(mine, plan)
        if have is None:
            return Preview(way.topic, mine.subject, place, plan, new=True)
        lakes.grown(mine.good_table, have, rows, mine.evolution)
    except (EvolutionError, PlanError) as no:
        return Preview(way.topic, mine.subject, place, plan, refused=(str(no),))
    kinds = {"add", "widen"} if mine.evolution == "widen" else frozenset[str]()
    grows = tuple(one for one in changes(have, rows) if one.kind in kinds)
    return Preview(way.topic, mine.subject, place, plan, grows=grows)
