"""Planners of queries: they list the statements that wait, take the job of one, and answer it with a source or a refusal."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.access.permissions import refuse_unless_met
from treaty.core.access.private_subjects import PublicView, may_read, refuse_private_changes, writable_view
from treaty.core.access.published_subjects import choose_bump_or_create
from treaty.core.access.rights import Access, AccessRule, Permission
from treaty.core.access.source_permissions import on_source
from treaty.core.access.statement_permissions import of_create_source
from treaty.core.command import Command, Decision
from treaty.core.handlers.metastore.creation import create_source
from treaty.core.handlers.metastore.names import source_key
from treaty.core.handlers.metastore.planning_jobs import describe_waiting
from treaty.core.handlers.metastore.reads import refuse_without_topic
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.metastore.plans import (
    FinishPlanningJob,
    ListPlanningJobs,
    PlannedSource,
    PlanningJobs,
    PlanningJobTaken,
    PlanOutcome,
    StatementFault,
    TakePlanningJob,
    WaitingStatement,
)
from treaty.core.messages.metastore.sources import CreateSource, ExpectedSource, SourceStored
from treaty.core.names import subject_of
from treaty.core.refusals import Forbidden, InvalidSource, NotFound, NotLatest, Refusal
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import PlanningJob
from treaty.core.state.metastore.indexes import PLANNING_BY_DEADLINE
from treaty.core.state.metastore.keys import PlanningKey, key_of_name
from treaty.core.state.metastore.tables import PLANNING, SOURCE
from treaty.core.state.rows import Row, make_row, make_tombstone
from treaty.core.state.state_tables import OutcomeKey
from treaty.core.state.view import View

CREATE = "create-source"
READS_PATH = "/definition/query/reads"
TOO_LATE = frozenset(
    {"READ_GENERATION", "READ_REVISION", "READ_PIN", "PIN_NOT_LIVE", "READ_NOT_FOUND", "TYPE_GENERATION"}
)
"""Rules by which a plan is refused where what it reads has changed since: the statement is planned again."""


def list_planning_jobs(view: View, command: Command[ListPlanningJobs], engine: SchemaEngine) -> Decision[PlanningJobs]:
    """Return statements that wait for a planner."""
    request, base = command.request, without_filter(view)[0]
    limit = max(1, min(request.limit, limits.PLANNING_PAGE))
    return Decision((), PlanningJobs(tuple(_cut_page(_list_waiting(base, command), limit, with_taken=request.taken))))


def _list_waiting(view: View, command: Command[ListPlanningJobs]) -> Iterator[WaitingStatement]:
    """Yield the statements that the caller may plan, those with the nearest deadline first."""
    access, time = command.access, command.time
    for entry in view.walk(PLANNING_BY_DEADLINE, ("", time), ("\0",)):
        job = view.get(PLANNING, PlanningKey(entry[2]))
        if job is not None and (access is None or access.may_source("plan", entry[2])):
            yield WaitingStatement(
                entry[2], job.statement, job.properties, job.deadline, _is_free(job, time), job.planner, job.attempts,
                job.replace, job.dry_run,
            )  # fmt: skip


def _cut_page(waiting: Iterator[WaitingStatement], limit: int, *, with_taken: bool) -> Iterator[WaitingStatement]:
    characters = 0
    for waiting_statement in islice((job for job in waiting if with_taken or job.is_free), limit):
        characters += len(waiting_statement.statement)
        yield waiting_statement
        if characters > limits.PLANNING_CHARACTERS:
            return


def _is_free(job: PlanningJob, time: int) -> bool:
    return not job.planner or job.heard + limits.PLANNER_SILENT_SECONDS * 1000 < time


def take_planning_job(
    view: View, command: Command[TakePlanningJob], engine: SchemaEngine
) -> Decision[PlanningJobTaken]:
    """Give a job to a planner, or note that it works on."""
    request, time = command.request, command.time
    _refuse_bad_planner(request.planner)
    key = PlanningKey(key_of_name(request.name))
    job = _find_job(view, key, time, request.name)
    if request.epoch:
        _refuse_other_epoch(job, request.planner, request.epoch)
        epoch = job.epoch
    elif not _is_free(job, time):
        raise NotLatest.of(
            "PLANNING_JOB_TAKEN",
            f"Planner {job.planner} has the job",
            path="/name",
            old=job.planner,
            new=request.planner,
            allowed=f"another job, or this one once its planner is silent for {limits.PLANNER_SILENT_SECONDS} seconds",
        )
    else:
        epoch = view.sequence + 1
    job = replace(job, planner=request.planner, heard=time, epoch=epoch)
    return Decision((make_row(PLANNING, key, job),), PlanningJobTaken(key.name, job.planner, epoch, job.deadline))


def _refuse_bad_planner(planner: str) -> None:
    if not planner or len(planner) > limits.PLANNER_NAME or not planner.isprintable():
        raise InvalidSource.of(
            "PLANNER_NAME",
            f"'{planner[:100]}' can't be the name of a planner",
            path="/planner",
            new=planner[: limits.PLANNER_NAME],
            allowed=f"1 to {limits.PLANNER_NAME} printable characters, other ones for each process",
        )


def _find_job(view: View, key: PlanningKey, time: int, name: str) -> PlanningJob:
    job = view.get(PLANNING, key)
    if job is None or job.deadline < time:
        raise NotFound.of(
            "PLANNING_JOB_NOT_FOUND",
            f"No statement that creates {name} waits for its plan",
            path="/name",
            new=name,
            allowed="a statement that is listed; its time may be over",
        )
    return job


def _refuse_other_epoch(job: PlanningJob, planner: str, epoch: int) -> None:
    if (job.planner, job.epoch) != (planner, epoch):
        raise NotLatest.of(
            "PLANNING_JOB_LOST",
            "Another planner has the job now" if job.planner else "The job is to be taken again",
            path="/epoch",
            old=f"{job.planner} at {job.epoch}",
            new=f"{planner} at {epoch}",
            allowed="take the job again",
        )


def finish_planning_job(view: View, command: Command[FinishPlanningJob], engine: SchemaEngine) -> Decision[PlanOutcome]:
    """Write the source of a job, or note the refusal; the job ends in the same commit."""
    request = command.request
    key = PlanningKey(key_of_name(request.name))
    job = _find_job(view, key, command.time, request.name)
    _refuse_other_epoch(job, request.planner, request.epoch)
    if (request.create is None) is (request.refusal is None):
        raise InvalidSource.of(
            "PLANNING_ANSWER",
            "An answer is a source or a refusal",
            path="/create",
            allowed="just one of create and refusal",
        )
    if request.create is None:
        refusal, faults = _readable_refusal(view, request, job)
        ended = replace(describe_waiting(job, request.name), state="refused", refusal=refusal, faults=faults)
        return _end(view, key, job, ended)
    _refuse_other_source(key, request.create)
    try:
        created = _create(view, command, job, request.create, engine)
    except Refusal as refused:
        if refused.reason.rule in TOO_LATE and job.attempts + 1 < limits.PLANNING_ATTEMPTS:
            again = replace(job, planner="", heard=0, epoch=0, attempts=job.attempts + 1)
            return Decision((make_row(PLANNING, key, again),), describe_waiting(again, request.name))
        ended = replace(describe_waiting(job, request.name), state="refused", refusal=EntryRefusal.by(refused))
        return _end(view, key, job, ended)
    notes = (*created.answer.notes, *request.notes[: limits.WARNINGS])
    answer = replace(
        describe_waiting(job, request.name), state="stored", stored=replace(created.answer, notes=notes),
        planned=_describe_planned(request.create) if job.dry_run else None,
    )  # fmt: skip
    return _end(view, key, job, answer, created.rows)


def _describe_planned(create: CreateSource) -> PlannedSource:
    defined = create.definition
    return PlannedSource(defined.kind, defined.columns, defined.query)


def _readable_refusal(
    view: View, request: FinishPlanningJob, job: PlanningJob
) -> tuple[EntryRefusal, tuple[StatementFault, ...]]:
    """Return why a statement is refused, as its sender may know it.

    A planner reads with its own rights, and its sentences name columns and types. So a sender who may not read what it asked about
    gets the refusal that a good plan would have met: the answer does not depend on what is there.
    """
    assert request.refusal is not None
    access = _access(job)
    if access is not None:
        try:
            _refuse_unless_readable(view, access, job.sender, request)
        except Forbidden as hidden:
            return EntryRefusal.by(hidden), ()
    return request.refusal, request.faults[: limits.FAULTS]


def _refuse_unless_readable(view: View, access: Access, sender: str, request: FinishPlanningJob) -> None:
    """Raise `Forbidden` where the sender of a statement may not read a source or a schema that its planner asked about."""
    sources = request.sources[: limits.PLANNER_ASKED]
    refuse_unless_met(access, sender, [on_source("query", name, READS_PATH) for name in sources], CREATE)
    for name in sources:
        stored = view.get(SOURCE, source_key(name))
        if stored is not None:
            refuse_without_topic(access, sender, stored, READS_PATH, CREATE)
    subjects = map(subject_of, request.subjects[: limits.PLANNER_ASKED])
    many = max(len(request.sources), len(request.subjects)) > limits.PLANNER_ASKED
    if (many and not access.sees_private) or not all(may_read(view, access, subject) for subject in subjects):
        raise Forbidden.of(
            "REFUSAL_HIDDEN",
            f"The query of {request.name} is refused, and the reason names schemas that {sender} may not read",
            path="/definition",
            new=CREATE,
            allowed="a rule that gives read on the subjects of its keys and values; or ask somebody who may read them",
        )


def _refuse_other_source(key: PlanningKey, create: CreateSource) -> None:
    if key_of_name(create.definition.name) != key.name:
        raise InvalidSource.of(
            "PLANNING_ANSWER",
            f"The job is to plan {key.name}, and the answer is {create.definition.name}",
            path="/create/definition/name",
            old=key.name,
            new=create.definition.name,
            allowed="the source of the job",
        )


def _access(job: PlanningJob) -> Access | None:
    """The rights that the sender of a statement had when it came."""
    if job.rules is None:
        return None
    return Access(
        tuple(
            AccessRule(
                (job.sender,),
                frozenset(cast("tuple[Permission, ...]", rule.may)),
                rule.subjects,
                rule.contexts,
                rule.topics,
                rule.private,
                rule.sources,
            )
            for rule in job.rules
        )
    )


def _create(
    view: View, command: Command[Any], job: PlanningJob, create: CreateSource, engine: SchemaEngine
) -> Decision[SourceStored]:
    """Decide the CREATE of a job as its sender, by the rights that they had, with what was private to them hidden."""
    expected = ExpectedSource(job.expected_generation, job.expected_revision) if job.expected_generation else None
    create = replace(
        create,
        definition=replace(create.definition, statement=job.statement),
        if_not_exists=job.if_not_exists,
        replace=job.replace,
        expected=expected,
        dry_run=job.dry_run,
        assess=create.assess and job.dry_run,
    )
    access = _access(job)
    base = writable_view(view.base if isinstance(view, PublicView) else view, access)
    if access is not None:
        _refuse_unless_permitted(base, access, job.sender, create)
    created = create_source(base, replace(command, request=create, principal=job.sender, access=access), engine)
    refuse_private_changes(base, created.rows, access, job.sender, CREATE)
    return replace(created, rows=()) if created.rehearsal else created


def _refuse_unless_permitted(view: View, access: Access, sender: str, create: CreateSource) -> None:
    """Raise `Forbidden` where the sender may not create this: a version needs `bump` where its subject exists, else `create`."""
    refuse_unless_met(access, sender, choose_bump_or_create(view, of_create_source(create)), CREATE)


def _end(
    view: View, key: PlanningKey, job: PlanningJob, outcome: PlanOutcome, rows: Sequence[Row] = ()
) -> Decision[PlanOutcome]:
    return Decision(
        (*rows, make_tombstone(PLANNING, key)), outcome, settles=((OutcomeKey(job.sender, job.command), outcome),)
    )
