"""The Spark room: decode plans, frames to rows and back, Delta tables that evolve, and the streaming job."""

from treaty.spark.decode import Names, decode, from_registry
from treaty.spark.packages import packages
from treaty.spark.plan.making import PlanError, extend, make_plan
from treaty.spark.plan.value import DecodePlan
from treaty.spark.session import session

__all__ = ["DecodePlan", "Names", "PlanError", "decode", "extend", "from_registry", "make_plan", "packages", "session"]
