"""The Spark room: decode plans, frames to rows and back, Delta tables that evolve, and the streaming job."""

from treaty.spark.decode import Names, decode, from_registry, ids_of
from treaty.spark.encode import to_registry
from treaty.spark.explain import engine_of, explain
from treaty.spark.packages import packages
from treaty.spark.pipeline import Pipeline, Step, start
from treaty.spark.plan.making import extend, make_plan
from treaty.spark.plan.reasons import PlanError
from treaty.spark.plan.value import DecodePlan
from treaty.spark.session import session

__all__ = [
    "DecodePlan",
    "Names",
    "Pipeline",
    "PlanError",
    "Step",
    "decode",
    "engine_of",
    "explain",
    "extend",
    "from_registry",
    "ids_of",
    "make_plan",
    "packages",
    "session",
    "start",
    "to_registry",
]
