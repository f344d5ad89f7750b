"""The Spark room: decode plans, frames to rows and back, Delta tables that evolve, and the streaming job."""

from treaty.spark.decode import Names, decode, from_registry, ids_of
from treaty.spark.encode import to_registry
from treaty.spark.explain import engine_of, explain
from treaty.spark.functions import from_avro, view
from treaty.spark.history import HistoryReport, check_history
from treaty.spark.lake.table import Table
from treaty.spark.packages import packages
from treaty.spark.pipelines.replay import Replayed, replay, still_bad
from treaty.spark.pipelines.running import start
from treaty.spark.pipelines.value import Pipeline, Step, TooManyBadRowsError
from treaty.spark.plan.making import extend, make_plan
from treaty.spark.plan.reasons import PlanError
from treaty.spark.plan.value import DecodePlan
from treaty.spark.session import session

__all__ = [
    "DecodePlan",
    "HistoryReport",
    "Names",
    "Pipeline",
    "PlanError",
    "Replayed",
    "Step",
    "Table",
    "TooManyBadRowsError",
    "check_history",
    "decode",
    "engine_of",
    "explain",
    "extend",
    "from_avro",
    "from_registry",
    "ids_of",
    "make_plan",
    "packages",
    "replay",
    "session",
    "start",
    "still_bad",
    "to_registry",
    "view",
]
