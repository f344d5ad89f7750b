"""Plans of a route: made from the registry with retries, renewed if the subject has other versions, limited to what its
table can hold.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from treaty.core.messages.listings import ListVersions
from treaty.core.names import subject_of
from treaty.core.refusals import NotFound, Unavailable
from treaty.core.registry import Registry
from treaty.plan.decode_plans import make_plan
from treaty.plan.errors import RESOLUTION, PlanError, drop_twins
from treaty.plan.strictness import ForeignOptionError
from treaty.plan.value import DecodePlan, RejectedSchema
from treaty.spark.lake import tables
from treaty.spark.lake.changes import EvolutionError
from treaty.spark.lake.table import LakeTable
from treaty.spark.pipelines.route import TopicRoute
from treaty.spark.pipelines.rows import list_columns, refuse_double
from treaty.spark.pipelines.value import Pipeline
from treaty.spark.session_engines import fit_to_session

T = TypeVar("T")
PAUSE = 30.0
"""The longest wait between two questions to a registry, in seconds."""


@dataclass(slots=True)
class RoutePlanner:
    """Makes the plans of one route, whose pipeline has one subject.

    `fit_engine` gives a plan the engine that the session has for its format, and `find_columns` returns the columns of
    a table, None where it is not there yet. `versions` are the version numbers that the last plan was made of.
    """

    route: TopicRoute
    registry: Registry
    fit_engine: Callable[[DecodePlan], DecodePlan]
    find_columns: Callable[[LakeTable], StructType | None]
    versions: tuple[int, ...] | None = None
    given_up: set[int] = field(default_factory=set)

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline of this one route."""
        return self.route.pipeline

    def plan(self) -> DecodePlan:
        """The plan that the registry gives now, whether its table can take the rows or not. Raises what `make_plan`
        raises.
        """
        return self._with_retries(lambda: self._make_plan(None, frozenset()))

    def make_first(self) -> DecodePlan:
        """The plan of a stream that has none. Raises what `make_plan` raises, and `EvolutionError` where no row would
        fit its table.
        """
        return self.make_fitting(None)

    def make_fitting(self, before: DecodePlan | None) -> DecodePlan:
        """A plan made now that fits the table, else the one before. Raises as `make_first` does."""
        return self._with_retries(lambda: self._fit_to_table(self._make_plan(before, frozenset()), before))

    def refresh(self, plan: DecodePlan) -> DecodePlan:
        """The plan with what the registry has now; the same where it has nothing new, or can't say now."""
        try:
            numbers = self._list_versions()
            if numbers == self.versions:
                return plan
            new_plan = self._fit_to_table(self._make_plan(plan, frozenset()), plan)
        except (Unavailable, NotFound, PlanError):
            return plan  # rows whose ids it knows are read as before; those of other ids ask again by themselves
        self.versions = numbers
        return new_plan

    def extend(self, plan: DecodePlan, ids: frozenset[int]) -> DecodePlan:
        """The plan with further ids (none: with further versions); the same where the registry knows none of them,
        after `patience` too. Raises `Unavailable`.
        """
        end = time.monotonic() + (0 if ids and ids <= self.given_up else self.pipeline.patience)
        pause = 0.05
        while True:
            new_plan = self._with_retries(lambda: self._make_plan(plan, ids))
            is_extended = ids <= new_plan.known if ids else new_plan.known != plan.known
            if is_extended or time.monotonic() >= end:
                break
            time.sleep(max(0.0, min(pause, end - time.monotonic())))
            pause = min(pause * 2, 5.0)
        self.given_up |= ids - new_plan.known
        # Where none of these ids was found, what else is new is the next batch's.
        useful = ids & new_plan.known if ids else new_plan.known - plan.known
        return self._fit_to_table(new_plan, plan) if useful else plan

    def _make_plan(self, before: DecodePlan | None, ids: frozenset[int]) -> DecodePlan:
        """The plan that follows the one before, with further ids, whether its table can take the rows or not."""
        pipeline = self.pipeline
        choices: dict[str, Any] = {
            "lossy": pipeline.lossy,
            "message": pipeline.message,
            "defaults": pipeline.defaults,
            "encoding": pipeline.encoding,
        }
        while True:
            try:
                new_plan = make_plan(
                    self.registry,
                    pipeline.subject,
                    reader=pipeline.reader,
                    ids=ids | before.known if before else ids,
                    depth=pipeline.depth,
                    framing=pipeline.framing,
                    case_sensitive=False,
                    before=before,
                    **choices,
                )
                break
            except ForeignOptionError as foreign:
                if not self.route.is_one_of_many:
                    raise
                del choices[foreign.option]  # the other topics may be of the format that it is for
        plan = self.fit_engine(new_plan)
        if pipeline.keyed is None or not pipeline.keyed.subject:
            return plan
        had = before.key if before else None
        keys = make_plan(self.registry, pipeline.keyed.subject, reader="union", case_sensitive=False, before=had)
        return replace(plan, key=self.fit_engine(keys))

    def _list_versions(self) -> tuple[int, ...]:
        pipeline = self.pipeline
        numbers: list[int] = []
        for subject in (
            pipeline.subject,
            *([pipeline.keyed.subject] if pipeline.keyed and pipeline.keyed.subject else []),
        ):
            numbers += (*self.registry.ask(ListVersions(subject_of(subject), visible="all")).answer.numbers, 0)
        return tuple(numbers)

    def _with_retries(self, ask: Callable[[], T]) -> T:
        """Ask again while the registry can't be reached; at the last try the batch fails, and no row is bad for it."""
        for turn in range(self.pipeline.tries - 1):
            try:
                return ask()
            except Unavailable as away:
                time.sleep(min(away.retry_after * 2**turn, PAUSE))
        return ask()

    def _fit_to_table(self, plan: DecodePlan, before: DecodePlan | None) -> DecodePlan:
        # A table with a key has other columns than the values: whether they fit is seen when rows are merged.
        have = None if self.pipeline.keyed else self.find_columns(self.pipeline.good_table)
        return fit_plan(plan, before, self.pipeline, have)


def make_planner(route: TopicRoute, registry: Registry, spark: SparkSession) -> RoutePlanner:
    """The planner of a route in a session."""
    return RoutePlanner(
        route,
        registry,
        fit_engine=lambda plan: fit_to_session(plan, spark),
        find_columns=lambda table: tables.schema(spark, table),
    )


def fit_plan(plan: DecodePlan, before: DecodePlan | None, pipeline: Pipeline, have: StructType | None) -> DecodePlan:
    """A plan whose rows its table can take: this one, else the one before, to which the new ids are bad.

    Raises `EvolutionError`, or `PlanError` for two columns of one name, where there is no plan before, and where the
    pipeline's evolution is ``fail``.
    """
    try:
        refuse_double(pipeline, plan)
        if have is not None:
            tables.plan_evolution(pipeline.good_table, have, list_columns(plan), pipeline.evolution)
    except (EvolutionError, PlanError) as error:
        if before is None or pipeline.evolution == "fail":
            raise
        why = "; ".join(map(str, error.changes)) if isinstance(error, EvolutionError) else str(error)
        reason = f"its rows can't go into {pipeline.good_table.place}: {why}"
        news = [
            RejectedSchema(
                writer.schema_id,
                RESOLUTION,
                f"id {writer.schema_id} ({writer.subject} version {writer.version}): {reason}",
            )
            for writer in plan.writers
            if writer.schema_id not in before.known_schemas
        ]
        remaining = [writer for writer in plan.rejected if writer.schema_id not in before.known_schemas]
        return replace(before, rejected=drop_twins((*before.rejected, *news, *remaining)), framing=plan.framing)
    return plan
