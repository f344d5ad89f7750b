"""Queries that count rows which a development build may have written wrongly into the tables of a pipeline."""

from collections.abc import Iterable
from dataclasses import dataclass

from treaty.plan.suspect_rows import find_suspect_rows
from treaty.plan.value import DecodePlan
from treaty.spark.lake.table import LakeTable
from treaty.spark.lake.tables import TABLE_FORMATS
from treaty.spark.pipelines.route import TopicRoute, make_route
from treaty.spark.pipelines.value import Pipeline

REMEDY = {
    False: "if there are any, fill new tables with a new checkpoint from the earliest offsets",
    True: "if there are any, treaty pipeline replay makes them good",
}
"""What is to be done, by whether the rows are in the table of bad ones."""


@dataclass(frozen=True, slots=True)
class SuspectQuery:
    """Why rows of a table may be wrong, the SQL that counts them, and what helps."""

    sentence: str
    query: str
    remedy: str


def list_suspect_queries(plan: DecodePlan, table: LakeTable, with_id: str = "") -> tuple[SuspectQuery, ...]:
    """One query for each kind of wrong rows in a table of good rows; `with_id` is its column with the schema id.

    Empty where the versions of the subject leave no doubt.
    """
    suspects = (one for one in find_suspect_rows(plan) if not one.bad)
    return tuple(SuspectQuery(one.sentence, one.print_query(_name(table), with_id), REMEDY[False]) for one in suspects)


def list_pipeline_queries(plan: DecodePlan, pipeline: Pipeline) -> tuple[SuspectQuery, ...]:
    """One query for each kind of wrong rows in the two tables of a pipeline."""
    bad = pipeline.bad_table
    suspects = (one for one in find_suspect_rows(plan) if one.bad)
    more = (SuspectQuery(one.sentence, one.print_query(_name(bad), "schema_id"), REMEDY[True]) for one in suspects)
    return (*list_suspect_queries(plan, pipeline.good_table, pipeline.with_id), *more)


def list_plan_queries(pipeline: Pipeline, plans: Iterable[tuple[str, int, DecodePlan]]) -> tuple[SuspectQuery, ...]:
    """The queries for the plans of all topics of a pipeline, each with its topic and the batch since which it holds."""
    suspects = (
        list_pipeline_queries(plan, (make_route(pipeline, topic) if topic else TopicRoute(pipeline)).pipeline)
        for topic, _, plan in plans
    )
    return tuple(one for some in suspects for one in some)


def _name(table: LakeTable) -> str:
    return TABLE_FORMATS[table.format].name(None, table)
