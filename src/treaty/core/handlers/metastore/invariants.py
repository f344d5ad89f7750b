"""Invariants of the metastore's rows: whatever a source or type needs is there."""

from collections.abc import Iterator

from treaty.core.handlers.metastore.names import source_key
from treaty.core.handlers.metastore.pins import is_kept
from treaty.core.sources import PRESENT, Assignment, Source, StoredType, Topic
from treaty.core.state.indexes import InvariantViolation
from treaty.core.state.metastore.indexes import SOURCE_BY_PART, pins_of, reads_of
from treaty.core.state.metastore.keys import AssignmentKey, RunnerKey, SourceKey, TopicKey, TypeKey, key_of_name
from treaty.core.state.metastore.tables import ASSIGNMENT, RUNNER, SOURCE, TOPIC, TYPE
from treaty.core.state.view import View


def check_source(view: View, key: SourceKey, value: Source) -> Iterator[InvariantViolation]:
    """Yield a violation for each read, pin, type or origin of a source that is missing."""

    def wrong(rule: str, message: str) -> InvariantViolation:
        return InvariantViolation(rule, SOURCE.name, key, message)

    if key_of_name(value.name) != key.name:
        yield wrong("SOURCE_KEY", f"its name is {value.name}")
    for read in reads_of(value):
        there = view.get(SOURCE, source_key(read.source))
        if there is None:
            yield wrong("READ_MISSING", f"it reads {read.source}, which is not there")
        elif there.generation != read.generation:
            yield wrong(
                "READ_GENERATION", f"it reads generation {read.generation} of {there.name}, which is {there.generation}"
            )
    for pin in pins_of(value):
        if not is_kept(view, pin):
            yield wrong("PIN_MISSING", f"it pins schema {pin.schema_id} of subject {pin.subject}, which is not there")
    for name in value.types:
        if view.get(TYPE, TypeKey(name)) is None:
            yield wrong("TYPE_MISSING", f"its columns use the type {name}, which is not there")
    if value.origin and view.get(SOURCE, SourceKey(value.origin)) is None:
        yield wrong("ORIGIN_MISSING", f"it has the bad rows of {value.origin}, which is not there")


def check_type(view: View, key: TypeKey, value: StoredType) -> Iterator[InvariantViolation]:
    """Yield a violation for each type that a type uses and that is missing."""
    for name in value.types:
        if view.get(TYPE, TypeKey(name)) is None:
            yield InvariantViolation("TYPE_MISSING", TYPE.name, key, f"it uses the type {name}, which is not there")


def check_topic(view: View, key: TopicKey, value: Topic) -> Iterator[InvariantViolation]:
    """Yield a violation for each source over a topic that is missing, or stands elsewhere."""
    for name in value.sources:
        source = view.get(SOURCE, SourceKey(name))
        if source is None or (source.cluster, source.place) != (key.cluster, key.topic):
            yield InvariantViolation("SOURCE_MISSING", TOPIC.name, key, f"{name} does not stand over it")
    if value.sources and value.desired != PRESENT:
        yield InvariantViolation(
            "TOPIC_DELETED", TOPIC.name, key, f"it is to go, and {value.sources[0]} stands over it"
        )


def check_assignment(view: View, key: AssignmentKey, value: Assignment) -> Iterator[InvariantViolation]:
    """Yield a violation where the part or the runner of an assignment is missing, or its epoch is one that the runner never had."""

    def wrong(rule: str, message: str) -> InvariantViolation:
        return InvariantViolation(rule, ASSIGNMENT.name, key, message)

    if not any(view.find(SOURCE_BY_PART, (key.part, key.generation))):
        yield wrong("PART_MISSING", f"no source of generation {key.generation} has the part {key.part}")
    runner = view.get(RUNNER, RunnerKey(value.runner))
    if runner is None:
        yield wrong("RUNNER_MISSING", f"runner {value.runner} has no lease")
    elif runner.epoch < value.epoch:
        yield wrong("RUNNER_EPOCH", f"it is of epoch {value.epoch}, and runner {value.runner} of epoch {runner.epoch}")
