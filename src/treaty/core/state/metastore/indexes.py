"""Indexes of the tables of the metastore: who reads, pins and uses what."""

from treaty.core import sources as m
from treaty.core.state.metastore.keys import (
    AssignmentKey,
    DroppedKey,
    PlanningKey,
    SourceKey,
    TopicKey,
    TypeKey,
    canonical_path,
)
from treaty.core.state.table import Index

PinEntry = tuple[str, str, int, int]


def pins_of(source: m.Source) -> tuple[m.SchemaPin, ...]:
    """Return the versions that a source pins: those of its key and value, and those that its query reads others by."""
    parts = [part.pin for part in (source.key, source.value) if part is not None]
    reads = () if source.query is None else source.query.plan.reads
    pins = (*parts, *(pin for read in reads for pin in (read.key, read.value)))
    return tuple(dict.fromkeys(pin for pin in pins if pin is not None))


def reads_of(source: m.Source) -> tuple[m.SourceRead, ...]:
    """Return what the query of a source reads."""
    return () if source.query is None else source.query.plan.reads


def parts_of(source: m.Source) -> tuple[str, ...]:
    """Return the parts of a source that run: its query, or what collects the bad rows of its origin."""
    return tuple(part for part, runs in ((m.QUERY, source.query is not None), (m.BAD, bool(source.origin))) if runs)


def _source_by_read(_key: SourceKey, value: m.Source) -> tuple[tuple[str], ...]:
    return tuple(dict.fromkeys((read.source,) for read in reads_of(value)))


def _source_by_former_read(_key: SourceKey, value: m.Source) -> tuple[tuple[str], ...]:
    plans = (*(incarnation.plan for incarnation in value.previous), *(query.plan for query in value.once))
    return tuple(dict.fromkeys((read.source,) for plan in plans for read in plan.reads))


def _source_by_pin(_key: SourceKey, value: m.Source) -> tuple[PinEntry, ...]:
    return tuple(dict.fromkeys((pin.context, pin.subject, pin.generation, pin.ordinal) for pin in pins_of(value)))


def _source_by_schema(_key: SourceKey, value: m.Source) -> tuple[tuple[str, int], ...]:
    return tuple(dict.fromkeys((pin.context, pin.schema_id) for pin in pins_of(value)))


def _source_by_subject(_key: SourceKey, value: m.Source) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys((pin.context, pin.subject) for pin in pins_of(value)))


def _source_by_type(_key: SourceKey, value: m.Source) -> tuple[tuple[str], ...]:
    return tuple((name,) for name in value.types)


def _source_by_origin(_key: SourceKey, value: m.Source) -> tuple[tuple[str], ...]:
    return ((value.origin,),) if value.origin else ()


def _source_by_lower(key: SourceKey, _value: m.Source) -> tuple[tuple[str], ...]:
    return () if key.name.isascii() else ((key.name.lower(),),)


def _source_running(key: SourceKey, value: m.Source) -> tuple[tuple[str, str], ...]:
    return () if value.query is None else ((value.desired, key.name),)


def _source_by_part(_key: SourceKey, value: m.Source) -> tuple[tuple[str, int], ...]:
    return tuple((part, value.generation) for part in parts_of(value))


def _source_by_path(key: SourceKey, value: m.Source) -> tuple[tuple[str, str], ...]:
    return ((canonical_path(value.place), key.name),) if value.connector != "kafka" and value.place else ()


def _type_by_type(_key: TypeKey, value: m.StoredType) -> tuple[tuple[str], ...]:
    return tuple((name,) for name in value.types)


def _type_by_lower(key: TypeKey, _value: m.StoredType) -> tuple[tuple[str], ...]:
    return () if key.name.isascii() else ((key.name.lower(),),)


def _dropped_by_time(key: DroppedKey, value: m.DroppedSource) -> tuple[tuple[str, int, str], ...]:
    """An order's entries begin with a text, so that all of them have the same bounds."""
    return (("", value.time, key.name),)


def _dropped_by_origin(_key: DroppedKey, value: m.DroppedSource) -> tuple[tuple[str], ...]:
    return ((value.source.origin,),) if value.source.origin else ()


def _planning_by_deadline(key: PlanningKey, value: m.PlanningJob) -> tuple[tuple[str, int, str], ...]:
    return (("", value.deadline, key.name),)


def _topic_by_due(key: TopicKey, value: m.Topic) -> tuple[tuple[str, int, str, str], ...]:
    return () if value.desired == m.PRESENT else (("", value.due, key.cluster, key.topic),)


def _assignment_by_runner(_key: AssignmentKey, value: m.Assignment) -> tuple[tuple[str], ...]:
    return ((value.runner,),)


SOURCE_BY_READ = Index("source.read", SourceKey, _source_by_read, (None,))
"""By (key of a source that it reads)."""
SOURCE_BY_FORMER_READ = Index("source.former_read", SourceKey, _source_by_former_read, (None,))
"""By (key of a source that a former query of it reads, or one that is run once)."""
SOURCE_BY_PIN = Index("source.pin", SourceKey, _source_by_pin, (None, None, None, None))
"""By (context, subject, generation, ordinal) of a version that it pins."""
SOURCE_BY_SCHEMA = Index("source.schema", SourceKey, _source_by_schema, (None, None))
"""By (context, schema id) of a version that it pins."""
SOURCE_BY_SUBJECT = Index("source.subject", SourceKey, _source_by_subject, (None, None))
"""By (context, subject) of a version that it pins."""
SOURCE_BY_TYPE = Index("source.type", SourceKey, _source_by_type, (None,))
"""By (key of a type that its columns use)."""
SOURCE_BY_ORIGIN = Index("source.origin", SourceKey, _source_by_origin, (None,))
"""By (key of the source whose bad rows it has)."""
SOURCE_BY_LOWER = Index("source.lower", SourceKey, _source_by_lower, (None,))
"""By (name in lower case of full Unicode), names with other letters than ASCII's."""
SOURCE_QUERIES = Index("source.queries", SourceKey, _source_running, (None, 0), ordered=True, by_value=True)
"""Entries (desired state, key) of sources with a query."""
SOURCE_BY_PART = Index("source.part", SourceKey, _source_by_part, (None, None))
"""By (part that runs, generation)."""
SOURCE_BY_PATH = Index("source.path", SourceKey, _source_by_path, (None, 0), ordered=True, by_value=True)
"""Entries (path with single slashes, key) of sources over folders."""
TYPE_BY_TYPE = Index("type.type", TypeKey, _type_by_type, (None,))
"""By (key of a type that its definition uses)."""
TYPE_BY_LOWER = Index("type.lower", TypeKey, _type_by_lower, (None,))
"""By (name in lower case of full Unicode), names with other letters than ASCII's."""
DROPPED_BY_TIME = Index("dropped.time", DroppedKey, _dropped_by_time, (None, None, 0), ordered=True)
"""Entries (an empty text, time of the drop in ms, key)."""
DROPPED_BY_ORIGIN = Index("dropped.origin", DroppedKey, _dropped_by_origin, (None,))
"""By (key of the source whose bad rows it had)."""
ASSIGNMENT_BY_RUNNER = Index("assignment.runner", AssignmentKey, _assignment_by_runner, (None,))
"""By (name of the runner)."""
PLANNING_BY_DEADLINE = Index("planning.deadline", PlanningKey, _planning_by_deadline, (None, None, 0), ordered=True)
"""Entries (an empty text, deadline in ms, key)."""
TOPIC_BY_DUE = Index("topic.due", TopicKey, _topic_by_due, (None, None, 0, 1), ordered=True)
"""Entries (an empty text, time in ms, cluster, topic) of topics that are to go."""
