"""What laws of a pipeline's plans share: a registry that lags or is away, time that goes on by sleeping, and planners that are given what a session would say."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

from pyspark.sql.types import StructType

from tests.frames import record
from tests.spark_columns import read_columns
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetSchema
from treaty.core.names import subject_of
from treaty.core.refusals import NotFound, Reason, Unavailable
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Draft
from treaty.plan.value import DecodePlan
from treaty.spark import Pipeline
from treaty.spark.pipelines.planner import RoutePlanner
from treaty.spark.pipelines.route import TopicRoute

A = TypeVar("A")
V1 = record(("name", "string"), ("n", "int"))
V2 = record(("name", "string"), ("n", "long"), ("more", "int", 7))
V3 = record(("name", "string"), ("n", "string"))
V4 = record(("name", "string"), ("n", "boolean"))
PIPELINE = Pipeline("s", "lake/good", "lake/bad", "c", tries=1)
NARROW = read_columns("name STRING, n INT, offset BIGINT")


@dataclass
class Asked:
    """A registry that keeps what it was asked; behind `first` answers it can't be reached `away` times, and it does not know `missing` `times` times."""

    registry: Connection
    away: int = 0
    retry_after: float = 0.0
    missing: int = 0
    times: int = 0
    first: int = 0
    requests: list[Request[Any]] = field(default_factory=list)

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        self.requests.append(request)
        if self.away and self.first:
            self.first -= 1
        elif self.away:
            self.away -= 1
            raise Unavailable("it is away", self.retry_after)
        if self.times and isinstance(request, GetSchema) and request.schema_id == self.missing:
            self.times -= 1
            raise NotFound(Reason("NOT_FOUND", f"no schema {self.missing}"))
        return self.registry.ask(request, call)

    def close(self) -> None:
        self.registry.close()


class Clock:
    """Time that goes on where somebody sleeps, and nowhere else."""

    def __init__(self) -> None:
        self.now, self.slept = 0.0, list[float]()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def put(registry: Connection, text: str, subject: str = "s") -> int:
    return registry.ask(Register(subject_of(subject), Draft(text))).answer.version.schema_id


def planner_of(pipeline: Pipeline, registry: Any, columns: StructType | None = None) -> RoutePlanner:
    """The planner of a pipeline whose table has these columns, or is not there yet."""
    return planner_of_route(TopicRoute(pipeline), registry, columns)


def planner_of_route(route: TopicRoute, registry: Any, columns: StructType | None = None) -> RoutePlanner:
    return RoutePlanner(route, registry, read_avro_in_python, lambda _: columns)


def read_avro_in_python(plan: DecodePlan) -> DecodePlan:
    """The plan for a session that has no functions for Avro of its own."""
    return plan.with_engine("fastavro") if plan.format == "AVRO" else plan
