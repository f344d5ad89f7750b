"""Sources are dropped, alone or with all that reads them; what refuses that (protection, readers, hidden ones), and what goes along."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

from treaty.core.access.permissions import TOPIC as TOPIC_KIND
from treaty.core.access.permissions import RequiredPermission, refuse_unless_met
from treaty.core.access.rights import TopicPart
from treaty.core.access.source_permissions import on_source
from treaty.core.column_types.tokens import print_name
from treaty.core.command import Command, Decision, StagedView
from treaty.core.handlers.metastore.closure import (
    ClosureStep,
    describe_seen,
    describe_step,
    may_see,
    source_used,
    walk_closure,
)
from treaty.core.handlers.metastore.creation import refuse_unexpected
from treaty.core.handlers.metastore.names import find_source, refuse_other_kind, source_key
from treaty.core.handlers.metastore.places.deleted_topics import due_of, refuse_many_deleted
from treaty.core.handlers.metastore.places.topics import expired_rows, refuse_reserved_topic, topic_of, topic_with
from treaty.core.handlers.metastore.reads import digest_reads
from treaty.core.handlers.metastore.types import digest_types
from treaty.core.messages.metastore.sources import DropSource, SourcesDropped
from treaty.core.refusals import Forbidden, InvalidSource, NotLatest, NotPermitted
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import DroppedSource, Source
from treaty.core.state.codec import dumps
from treaty.core.state.metastore.indexes import parts_of
from treaty.core.state.metastore.keys import AssignmentKey, DroppedKey, SourceKey
from treaty.core.state.metastore.tables import ASSIGNMENT, DROPPED, SOURCE, TOPIC
from treaty.core.state.rows import make_row, make_tombstone
from treaty.core.state.view import View

OPERATION = "drop-source"


@dataclass(frozen=True, slots=True)
class DropPlan:
    """What a DROP takes: the source, the steps of its closure, and all sources that go, users before what they need."""

    key: SourceKey
    source: Source
    steps: tuple[ClosureStep, ...]
    going: tuple[tuple[SourceKey, Source], ...]

    @property
    def digest(self) -> str:
        """What confirms a CASCADE: the first 16 hex digits of the SHA-256 of all that goes, as it is now."""
        entries = sorted([key.name, source.generation, source.revision] for key, source in self.going)
        return hashlib.sha256(dumps(entries).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def drop_source(view: View, command: Command[DropSource], engine: SchemaEngine) -> Decision[SourcesDropped]:
    """Drop a source, and with CASCADE all that reads it."""
    request = command.request
    key = source_key(request.name)
    stored = view.get(SOURCE, key)
    if stored is None and request.if_exists:
        return Decision((), SourcesDropped(notes=(f"There is no stream or table {request.name}",)))
    key, stored = find_source(view, request.name)
    refuse_other_kind(stored, request.kind, "DROP")
    refuse_unexpected(stored, request.expected)
    _refuse_protected(stored)
    drop = _plan(view, key, stored)
    readers = [step for step in drop.steps if step.use.effect == "refuses"]
    if readers and not request.cascade:
        raise _read_by(view, command, stored, readers)
    _refuse_hidden(command, drop)
    if request.delete_topic:
        _refuse_topic(view, command, drop)
    answer = _answer(view, command, drop)
    if request.dry_run or (request.cascade and not request.digest and len(drop.going) > 1):
        return Decision((), answer)
    if request.cascade and request.digest not in {"", drop.digest}:
        raise NotLatest.of(
            "CASCADE_DIGEST",
            f"What goes along with {stored.name} is not what was shown",
            path="/digest",
            old=drop.digest,
            new=request.digest,
            allowed="look at what goes, and confirm it with its digest",
        )
    stage = StagedView(view, command, engine, OPERATION)
    for going, source in drop.going:
        _put_drop(stage, going, source, delete_topic=request.delete_topic and going == key)
    stage.put(row for row in expired_rows(view, command.time) if (row.table, row.key) not in stage.rows_by_key)
    topic_due = due_of(drop.source, command.time) if request.delete_topic else 0
    return Decision(stage.rows, replace(answer, dropped=True, topic_due=topic_due))


def _plan(view: View, key: SourceKey, source: Source) -> DropPlan:
    steps = tuple(walk_closure(view, SOURCE, key))
    going: list[tuple[SourceKey, Source]] = [(key, source)]
    for step in steps:
        value = view.get(SOURCE, step.user)
        assert value is not None, f"source {step.user} is missing"
        going.append((step.user, value))
    return DropPlan(key, source, steps, tuple(reversed(going)))


def _answer(view: View, command: Command[DropSource], drop: DropPlan) -> SourcesDropped:
    dependents, _ = describe_seen(view, command.access, drop.steps)
    names = tuple(source.name for _, source in drop.going)
    return SourcesDropped(names, drop.digest, closure=dependents)


def _put_drop(stage: StagedView, key: SourceKey, source: Source, *, delete_topic: bool) -> None:
    command = stage.command
    origin = stage.base.get(SOURCE, SourceKey(source.origin)) if source.origin else None
    gone = DroppedSource(
        source, command.principal, command.time, digest_reads(stage.base, source), digest_types(stage.base, source),
        stage.base.sequence + 1, 0 if origin is None else origin.generation,
    )  # fmt: skip
    stage.put((make_tombstone(SOURCE, key), make_row(DROPPED, DroppedKey(key.name), gone)))
    due = due_of(source, command.time) if delete_topic else None
    stage.put(topic_with(stage.view, source, key, present=False, due=due))
    assigned = [AssignmentKey(part, source.generation) for part in parts_of(source)]
    stage.put(
        make_tombstone(ASSIGNMENT, assignment)
        for assignment in assigned
        if stage.view.get(ASSIGNMENT, assignment) is not None
    )


def _refuse_protected(stored: Source) -> None:
    if stored.protected:
        raise NotPermitted.of(
            "SOURCE_PROTECTED",
            f"{stored.name} is protected",
            path="/name",
            old="PROTECTED = true",
            allowed=f"ALTER {stored.kind} {print_name(stored.name)} SET PROTECTED = false first",
        )


def _read_by(view: View, command: Command[Any], stored: Source, readers: list[ClosureStep]) -> Any:
    near = [step for step in readers if step.depth == min(reader.depth for reader in readers)]
    readable = sorted({describe_step(view, step).name for step in near if may_see(command.access, step)})
    hidden = sum(not may_see(command.access, step) for step in near)
    return source_used(
        "SOURCE_READ",
        f"{stored.name} is read by",
        readable,
        hidden,
        old=stored.name,
        allowed="drop what reads it first, or CASCADE",
    )


def _refuse_hidden(command: Command[DropSource], drop: DropPlan) -> None:
    """Raise the refusal of a cascade over what the caller may not see, may not drop, or what is protected."""
    access = command.access
    if access is not None:
        hidden = sum(not may_see(access, step) for step in drop.steps)
        if hidden and command.request.cascade:
            raise Forbidden.of(
                "SOURCE_HIDDEN",
                f"{hidden} of the sources that would go along are not yours to see",
                path="/cascade",
                old=drop.source.name,
                new=OPERATION,
                allowed="ask somebody who may drop them all",
            )
        needs = [on_source("delete", key.name, "/cascade") for key, _ in drop.going]
        refuse_unless_met(access, command.principal, needs, OPERATION)
    for _, source in drop.going:
        _refuse_protected(source)


def _refuse_topic(view: View, command: Command[DropSource], drop: DropPlan) -> None:
    topic = topic_of(drop.source)
    if topic is None:
        raise InvalidSource.of(
            "TOPIC_NONE",
            f"{drop.source.name} stands over no topic",
            path="/delete_topic",
            old=drop.source.connector,
            allowed="DROP without DELETE TOPIC",
        )
    refuse_reserved_topic(command, topic.topic, "/delete_topic")
    if command.access is not None:
        need = RequiredPermission(("delete",), TOPIC_KIND, TopicPart(topic.topic, "", "value"), "/delete_topic")
        refuse_unless_met(command.access, command.principal, (need,), OPERATION)
    refuse_many_deleted(view)
    row = view.get(TOPIC, topic)
    going = {key.name for key, _ in drop.going}
    other_sources = [name for name in (row.sources if row else ()) if name not in going]
    if other_sources:
        readable = [name for name in other_sources if command.access is None or command.access.may_source("read", name)]
        raise source_used(
            "TOPIC_USED",
            f"The topic {topic.topic} is used by",
            readable,
            len(other_sources) - len(readable),
            path="/delete_topic",
            old=topic.topic,
            allowed="DROP without DELETE TOPIC, or drop the other sources first",
        )
