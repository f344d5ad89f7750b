"""Sources are dropped, alone or with all that reads them, and brought back within their period of grace."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

from treaty.core import limits
from treaty.core.access.permissions import TOPIC as TOPIC_KIND
from treaty.core.access.permissions import RequiredPermission, refuse_unless_met
from treaty.core.access.rights import TopicPart
from treaty.core.access.source_permissions import of_create_source, on_source
from treaty.core.command import Command, Decision, StagedView
from treaty.core.handlers.metastore.closure import (
    ClosureStep,
    describe_seen,
    describe_step,
    may_see,
    source_used,
    walk_closure,
)
from treaty.core.handlers.metastore.creation import (
    describe_stored,
    refuse_many_sources,
    refuse_unexpected,
    refuse_unfit_reads,
)
from treaty.core.handlers.metastore.names import find_source, refuse_taken_source, source_key
from treaty.core.handlers.metastore.pins import refuse_dead_pin
from treaty.core.handlers.metastore.places import expired_rows, topic_of, topic_with
from treaty.core.handlers.metastore.types import refuse_unfit_columns
from treaty.core.messages.metastore import (
    CreateSource,
    DropSource,
    SourceDefinition,
    SourcesDropped,
    SourceStored,
    UndropSource,
)
from treaty.core.refusals import Forbidden, InvalidSource, NotLatest, NotPermitted, SourceExists, SourceNotFound
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import PARTS, DroppedSource, Source
from treaty.core.state.codec import dumps
from treaty.core.state.metastore.indexes import DROPPED_BY_ORIGIN, SOURCE_BY_ORIGIN, reads_of
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
    there = view.get(SOURCE, key)
    if there is None and request.if_exists:
        return Decision((), SourcesDropped(notes=(f"There is no stream or table {request.name}",)))
    key, there = find_source(view, request.name)
    _refuse_other_kind(there, request.kind)
    refuse_unexpected(there, request.expected)
    _refuse_protected(there)
    drop = _plan(view, key, there)
    readers = [step for step in drop.steps if step.use.effect == "refuses"]
    if readers and not request.cascade:
        raise _read_by(view, command, there, readers)
    _refuse_hidden(command, drop)
    if request.delete_topic:
        _refuse_topic(view, command, drop)
    answer = _answer(view, command, drop)
    if request.dry_run or (request.cascade and not request.digest and len(drop.going) > 1):
        return Decision((), answer)
    if request.cascade and request.digest not in {"", drop.digest}:
        raise NotLatest.of(
            "CASCADE_DIGEST",
            f"What goes along with {there.name} is not what was shown",
            path="/digest",
            old=drop.digest,
            new=request.digest,
            allowed="look at what goes, and confirm it with its digest",
        )
    stage = StagedView(view, command, engine, OPERATION)
    for going, source in drop.going:
        _put_drop(stage, going, source, delete_topic=request.delete_topic and going == key)
    stage.put(row for row in expired_rows(view, command.time) if (row.table, row.key) not in stage.made)
    return Decision(stage.rows, replace(answer, dropped=True))


def _plan(view: View, key: SourceKey, source: Source) -> DropPlan:
    steps = tuple(walk_closure(view, SOURCE, key))
    going: list[tuple[SourceKey, Source]] = [(key, source)]
    for step in steps:
        value = view.get(SOURCE, step.user)
        assert value is not None, f"source {step.user} is missing"
        going.append((step.user, value))
    return DropPlan(key, source, steps, tuple(reversed(going)))


def _answer(view: View, command: Command[DropSource], drop: DropPlan) -> SourcesDropped:
    shown, _ = describe_seen(view, command.access, drop.steps)
    names = tuple(source.name for _, source in drop.going)
    return SourcesDropped(names, drop.digest, closure=shown)


def _put_drop(stage: StagedView, key: SourceKey, source: Source, *, delete_topic: bool) -> None:
    command = stage.command
    gone = DroppedSource(source, command.principal, command.time)
    stage.put((make_tombstone(SOURCE, key), make_row(DROPPED, DroppedKey(key.name), gone)))
    stage.put(topic_with(stage.view, source, key, present=False, absent=delete_topic))
    if source.origin:  # its part is assigned by the generation of the source whose bad rows it has
        return
    assigned = [AssignmentKey(part, source.generation) for part in PARTS]
    stage.put(make_tombstone(ASSIGNMENT, one) for one in assigned if stage.view.get(ASSIGNMENT, one) is not None)


def _refuse_other_kind(there: Source, kind: str) -> None:
    if kind and kind != there.kind:
        raise SourceExists.of(
            "SOURCE_KIND_DIFFERS",
            f"{there.name} is a {there.kind.lower()}, and the statement drops a {kind.lower()}",
            path="/kind",
            old=there.kind,
            new=kind,
            allowed=f"DROP {there.kind} {there.name}",
        )


def _refuse_protected(there: Source) -> None:
    if there.protected:
        raise NotPermitted.of(
            "SOURCE_PROTECTED",
            f"{there.name} is protected",
            path="/name",
            old="PROTECTED = true",
            allowed=f"ALTER {there.kind} {there.name} SET PROTECTED = false first",
        )


def _read_by(view: View, command: Command[Any], there: Source, readers: list[ClosureStep]) -> Any:
    near = [step for step in readers if step.depth == min(one.depth for one in readers)]
    seen = sorted({describe_step(view, step).name for step in near if may_see(command.access, step)})
    hidden = sum(not may_see(command.access, step) for step in near)
    return source_used(
        "SOURCE_READ",
        f"{there.name} is read by",
        seen,
        hidden,
        old=there.name,
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
    if command.access is not None:
        need = RequiredPermission(("delete",), TOPIC_KIND, TopicPart(topic.topic, "", "value"), "/delete_topic")
        refuse_unless_met(command.access, command.principal, (need,), OPERATION)
    row = view.get(TOPIC, topic)
    going = {key.name for key, _ in drop.going}
    others = [name for name in (row.sources if row else ()) if name not in going]
    if others:
        seen = [name for name in others if command.access is None or command.access.may_source("read", name)]
        raise source_used(
            "TOPIC_USED",
            f"The topic {topic.topic} is used by",
            seen,
            len(others) - len(seen),
            path="/delete_topic",
            old=topic.topic,
            allowed="DROP without DELETE TOPIC, or drop the other sources first",
        )


# ---------------------------------------------------------------------------------------------------------- undrop


def undrop_source(view: View, command: Command[UndropSource], engine: SchemaEngine) -> Decision[SourceStored]:
    """Bring a dropped source back, with its bad rows, if everything that it needs is still there."""
    name = command.request.name
    key = source_key(name)
    gone = _find_dropped(view, command, key)
    if gone is None:
        raise SourceNotFound.of(
            "DROPPED_NOT_FOUND",
            f"No stream or table {name} was dropped within the period of grace",
            path="/name",
            new=name,
            allowed="a source of SHOW DROPPED",
        )
    source = gone.source
    _refuse_unless_creator(command, source)
    refuse_taken_source(view, source.name)
    refuse_many_sources(view)
    refuse_unfit_columns(view, source.columns)
    if source.origin:
        find_source(view, source.origin)
    refuse_unfit_reads(view, command, reads_of(source), key, "undrop-source")
    for part in (source.key, source.value):
        refuse_dead_pin(view, part)
    stage = StagedView(view, command, engine, "undrop-source")
    back = _put_back(stage, key, source)
    also = _put_bad_rows_back(stage, key)
    stage.put(row for row in expired_rows(view, command.time) if (row.table, row.key) not in stage.made)
    return Decision(stage.rows, describe_stored(back, created=True, also=also))


def _refuse_unless_creator(command: Command[UndropSource], source: Source) -> None:
    """Raise `Forbidden` for who may not create the source as it was."""
    if command.access is None:
        return
    defined = SourceDefinition(
        source.name, source.kind, source.statement, source.columns, source.key, source.value, source.connector, source.cluster,
        source.place, query=None if source.query is None else source.query.plan,
    )  # fmt: skip
    required = of_create_source(CreateSource(defined))
    refuse_unless_met(command.access, command.principal, required, "undrop-source")


def _find_dropped(view: View, command: Command[Any], key: SourceKey) -> DroppedSource | None:
    gone = view.get(DROPPED, DroppedKey(key.name))
    return None if gone is None or gone.time + limits.DROP_GRACE < command.time else gone


def _put_back(stage: StagedView, key: SourceKey, source: Source) -> Source:
    command = stage.command
    back = replace(source, generation=stage.base.sequence + 1, changed_by=command.principal, changed=command.time)
    stage.put((make_row(SOURCE, key, back), make_tombstone(DROPPED, DroppedKey(key.name))))
    stage.put(topic_with(stage.view, back, key, present=True))
    return back


def _put_bad_rows_back(stage: StagedView, key: SourceKey) -> tuple[str, ...]:
    """Put the stream of bad rows back that went along with the source, if it is still there."""
    for dropped in list(stage.view.find(DROPPED_BY_ORIGIN, (key.name,))):
        bad_key = SourceKey(dropped.name)
        gone = _find_dropped(stage.view, stage.command, bad_key)
        if gone is not None and not any(stage.view.find(SOURCE_BY_ORIGIN, (key.name,))):
            if stage.command.access is not None:
                need = on_source("register", bad_key.name, "/name")
                refuse_unless_met(stage.command.access, stage.command.principal, (need,), "undrop-source")
            refuse_taken_source(stage.view, gone.source.name)
            refuse_many_sources(stage.view)
            return (_put_back(stage, bad_key, gone.source).name,)
    return ()
