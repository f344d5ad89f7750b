"""Self-describing JSON on Spark: `validate_self_describing` splits events into good, bad and unresolved rows, `shred` makes typed columns."""

from treaty.arrow.iglu.events import ENVELOPES
from treaty.client.iglu.resolver import Resolver
from treaty.plan.iglu.resolution import ResolvedSchemas, SchemaResolution, TooManySchemasError, resolve_schemas
from treaty.plan.iglu.shred_plan import ShredColumn, ShredPlan, make_shred_plan
from treaty.spark.iglu.bad_rows import to_snowplow_bad_rows
from treaty.spark.iglu.pipeline import (
    BadEventReason,
    EventBatchReport,
    EventPipeline,
    UnresolvedSchemasError,
    run_events,
    start_events,
)
from treaty.spark.iglu.shred import ShreddedEvents, shred
from treaty.spark.iglu.validate import FAILURES, ValidatedEvents, validate_self_describing

__all__ = [
    "ENVELOPES",
    "FAILURES",
    "BadEventReason",
    "EventBatchReport",
    "EventPipeline",
    "ResolvedSchemas",
    "Resolver",
    "SchemaResolution",
    "ShredColumn",
    "ShredPlan",
    "ShreddedEvents",
    "TooManySchemasError",
    "UnresolvedSchemasError",
    "ValidatedEvents",
    "make_shred_plan",
    "resolve_schemas",
    "run_events",
    "shred",
    "start_events",
    "to_snowplow_bad_rows",
    "validate_self_describing",
]
