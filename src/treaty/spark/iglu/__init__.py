"""Self-describing JSON on Spark: `validate_self_describing` splits events into good, bad and unresolved rows."""

from treaty.arrow.iglu.events import ENVELOPES
from treaty.client.iglu.resolver import Resolver
from treaty.plan.iglu.resolution import ResolvedSchemas, SchemaResolution, TooManySchemasError, resolve_schemas
from treaty.spark.iglu.bad_rows import to_snowplow_bad_rows
from treaty.spark.iglu.validate import FAILURES, ValidatedEvents, validate_self_describing

__all__ = [
    "ENVELOPES",
    "FAILURES",
    "ResolvedSchemas",
    "Resolver",
    "SchemaResolution",
    "TooManySchemasError",
    "ValidatedEvents",
    "resolve_schemas",
    "to_snowplow_bad_rows",
    "validate_self_describing",
]
