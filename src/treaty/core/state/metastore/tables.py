"""The tables of the metastore, each with its key, value and indexes: sources, types, dropped ones, topics, runners and planning jobs."""

from treaty.core import sources as m
from treaty.core.state.metastore.indexes import (
    ASSIGNMENT_BY_RUNNER,
    DROPPED_BY_ORIGIN,
    DROPPED_BY_TIME,
    PLANNING_BY_DEADLINE,
    SOURCE_BY_FORMER_READ,
    SOURCE_BY_LOWER,
    SOURCE_BY_ORIGIN,
    SOURCE_BY_PART,
    SOURCE_BY_PATH,
    SOURCE_BY_PIN,
    SOURCE_BY_READ,
    SOURCE_BY_SCHEMA,
    SOURCE_BY_SUBJECT,
    SOURCE_BY_TYPE,
    SOURCE_QUERIES,
    TOPIC_BY_DUE,
    TYPE_BY_LOWER,
    TYPE_BY_TYPE,
)
from treaty.core.state.metastore.keys import (
    AssignmentKey,
    DroppedKey,
    PlanningKey,
    RunnerKey,
    SourceKey,
    TopicKey,
    TopicLeaseKey,
    TypeKey,
)
from treaty.core.state.table import Table

SOURCE = Table(
    "source", SourceKey, m.Source,
    (
        SOURCE_BY_READ, SOURCE_BY_FORMER_READ, SOURCE_BY_PIN, SOURCE_BY_SCHEMA, SOURCE_BY_SUBJECT, SOURCE_BY_TYPE, SOURCE_BY_ORIGIN, SOURCE_BY_LOWER,
        SOURCE_BY_PART, SOURCE_QUERIES, SOURCE_BY_PATH,
    ),
    ordered=True, counted=lambda _key, _: (),
)  # fmt: skip
"""Counted together."""
TYPE = Table("type", TypeKey, m.StoredType, (TYPE_BY_TYPE, TYPE_BY_LOWER), ordered=True, counted=lambda _key, _: ())
"""Counted together."""
DROPPED = Table("dropped", DroppedKey, m.DroppedSource, (DROPPED_BY_TIME, DROPPED_BY_ORIGIN), ordered=True)
TOPIC = Table("topic", TopicKey, m.Topic, (TOPIC_BY_DUE,), ordered=True)
TOPIC_LEASE = Table("topic_lease", TopicLeaseKey, m.TopicLease, ordered=True)
RUNNER = Table("runner", RunnerKey, m.Runner, ordered=True, counted=lambda _key, _: ())
"""Counted together."""
ASSIGNMENT = Table("assignment", AssignmentKey, m.Assignment, (ASSIGNMENT_BY_RUNNER,))
PLANNING = Table(
    "planning", PlanningKey, m.PlanningJob, (PLANNING_BY_DEADLINE,), ordered=True, counted=lambda _key, _: ()
)
"""Counted together."""
