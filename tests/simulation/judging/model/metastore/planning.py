"""Statements that wait for their plans: who asks, who takes the job, and how it ends."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.simulation.judging.model import resources, rights
from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import Event, OutcomeSettled, PlanningChanged
from tests.simulation.judging.model.metastore.creating import create_source, refuse_many
from tests.simulation.judging.model.metastore.defining import refuse_topic_of_read
from tests.simulation.judging.model.metastore.dropping import expired, refuse_unexpected
from tests.simulation.judging.model.metastore.names import refuse_bad_name, refuse_taken
from tests.simulation.judging.model.metastore.state import key_of, planning, sources, unwanted
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No, tag_of
from tests.simulation.judging.model.seeing import PublicPast, decided_on, refuse_hidden
from treaty.core import limits
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.metastore import plans as p
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.deleted_topics import LeaseTopics
from treaty.core.refusals import Forbidden, InvalidSource, NotFound, NotLatest, Reason, SourceExists, TooLarge
from treaty.core.sources import PlanningJob, SenderRule

ANEW = {"READ_GENERATION", "READ_REVISION", "READ_PIN", "PIN_NOT_LIVE", "READ_NOT_FOUND", "TYPE_GENERATION"}
OF_THEIR_TIME = (p.RequestPlan, p.TakePlanningJob, p.FinishPlanningJob, p.GetPlan, p.ListPlanningJobs)
SILENT = limits.PLANNER_SILENT_SECONDS * 1000


@dataclass(frozen=True, slots=True)
class SenderAccess:
    """What the sender of a statement was allowed to do when it came."""

    rules: tuple[SenderRule, ...]


def times_of(past: Past, asking: Asking) -> tuple[int, ...]:
    """Moments of which the decision may be, by clocks that differ: each side of every deadline and every silence."""
    if isinstance(asking.request, LeaseTopics):
        due = {row.due + late for row in unwanted(past).values() for late in (-1, 0)}
        return (asking.time, *sorted(due))
    if not isinstance(asking.request, OF_THEIR_TIME):
        return (asking.time,)
    jobs = planning(past).values()
    edges = {edge + late for job in jobs for edge in (job.deadline, job.heard + SILENT) for late in (0, 1)}
    return (asking.time, *sorted(edges))


def _state(job: PlanningJob, name: str, state: p.PlanState = "waiting") -> p.PlanOutcome:
    return p.PlanOutcome(state, name, job.command, job.deadline, job.planner, job.attempts)


def _is_mine(job: PlanningJob | None, principal: str, command: str) -> bool:
    return job is not None and (job.sender, job.command) == (principal, command)


def _settled(job: PlanningJob, outcome: p.PlanOutcome) -> OutcomeSettled:
    return OutcomeSettled((job.sender, job.command), outcome)


# ---------------------------------------------------------------------------------------------------------- asking


def request_plan(past: Past, asking: Asking, request: p.RequestPlan) -> Yes:
    """What can be decided without a plan, then a row that waits."""
    _refuse_bad_request(request)
    key = key_of(request.name)
    old, waiting = sources(past).get(key), planning(past).get(key)
    if waiting is not None and _is_mine(waiting, asking.principal, asking.command_id):
        return Yes((), _state(waiting, request.name))
    if old is not None and request.if_not_exists:
        stored = m.SourceStored(old.name, old.kind, old.generation, old.revision)
        return Yes((), p.PlanOutcome("stored", old.name, asking.command_id, stored=stored))
    if old is not None and not request.replace:
        raise No(SourceExists, "SOURCE_EXISTS")
    _refuse_unexpected(old, request.expected)
    if old is None:
        refuse_taken(sources(past), request.name, "SOURCE_TAKEN")
        refuse_many(past)
    ended = _ended(past, asking.time)
    if waiting is not None and waiting.deadline >= asking.time:
        raise No(SourceExists, "PLANNING_TAKEN")
    if len(planning(past)) - len(ended) >= limits.PLANNING_WAITING:
        raise No(TooLarge, "PLANNING_WAITING")
    events: list[Event] = []
    for gone in sorted({*ended, *([key] if waiting is not None else [])}):
        job = planning(past)[gone]
        events += [PlanningChanged(gone, None), _settled(job, _state(job, gone, "expired"))]
    job = _job(past, asking, request)
    events.append(PlanningChanged(key, job))
    return Yes((*events, *expired(past, asking)), _state(job, request.name))


def _refuse_bad_request(request: p.RequestPlan) -> None:
    refuse_bad_name(request.name)
    if len(request.statement.encode("utf-8", "surrogatepass")) > limits.STATEMENT_BYTES:
        raise No(TooLarge, "STATEMENT_BYTES")
    if len(request.properties) > limits.SOURCE_PROPERTIES:
        raise No(TooLarge, "SOURCE_PROPERTIES")
    if request.seconds not in range(1, limits.PLANNING_SECONDS + 1):
        raise No(InvalidSource, "PLANNING_SECONDS")


def _refuse_unexpected(old: Any, expected: m.ExpectedSource | None) -> None:
    if old is not None:
        refuse_unexpected(old, expected)
    elif expected is not None:
        raise No(NotLatest, "SOURCE_EXPECTED")


def _ended(past: Past, time: int) -> list[str]:
    """Keys of those whose time is over, a few, the oldest first."""
    over = sorted((job.deadline, key) for key, job in planning(past).items() if job.deadline < time)
    return [key for _, key in over[: limits.DROPPED_EXPIRED]]


def _job(past: Past, asking: Asking, request: p.RequestPlan) -> PlanningJob:
    given = None if asking.access is None else tuple(map(_rule, asking.access.rules))
    generation, revision = (
        (0, 0) if request.expected is None else (request.expected.generation, request.expected.revision)
    )
    return PlanningJob(
        request.statement, request.properties, asking.principal, asking.command_id, given, past.sequence + 1,
        asking.time + 1000 * request.seconds, replace=request.replace, if_not_exists=request.if_not_exists,
        dry_run=request.dry_run, expected_generation=generation, expected_revision=revision,
    )  # fmt: skip


def _rule(one: Any) -> SenderRule:
    return SenderRule(tuple(sorted(one.may)), one.subjects, one.contexts, one.topics, one.sources, one.private)


def get_plan(past: Past, asking: Asking, request: p.GetPlan) -> Yes:
    job = planning(past).get(key_of(request.name))
    if job is not None and _is_mine(job, asking.principal, request.command):
        return Yes((), _state(job, request.name, "expired" if job.deadline < asking.time else "waiting"))
    return Yes((), _recalled(past, asking, request.command))


def _recalled(past: Past, asking: Asking, command: str) -> p.PlanOutcome:
    kept = past.outcomes.get((asking.principal, command))
    if kept is None or not isinstance(kept.answer, p.PlanOutcome):
        raise No(NotFound, "OUTCOME_UNKNOWN", version=command)
    return kept.answer


def withdraw_plan(past: Past, asking: Asking, request: p.WithdrawPlan) -> Yes:
    key = key_of(request.name)
    job = planning(past).get(key)
    if job is None or not _is_mine(job, asking.principal, request.command):
        return Yes((), _recalled(past, asking, request.command))
    outcome = _state(job, request.name, "expired")
    return Yes((PlanningChanged(key, None), _settled(job, outcome)), outcome)


# --------------------------------------------------------------------------------------------------------- planners


def list_planning_jobs(past: Past, asking: Asking, request: p.ListPlanningJobs) -> Yes:
    shown = [one for one in _shown(past, asking) if request.taken or one.is_free]
    page, characters = list[p.WaitingStatement](), 0
    for one in shown[: max(1, min(request.limit, limits.PLANNING_PAGE))]:
        page.append(one)
        characters += len(one.statement)
        if characters > limits.PLANNING_CHARACTERS:
            break
    return Yes((), p.PlanningJobs(tuple(page)))


def _shown(past: Past, asking: Asking) -> Iterator[p.WaitingStatement]:
    for key, job in sorted(planning(past).items(), key=lambda pair: (pair[1].deadline, pair[0])):
        hidden = asking.access is not None and not resources.may_source(asking.access, "plan", key)
        if job.deadline >= asking.time and not hidden:
            yield p.WaitingStatement(
                key, job.statement, job.properties, job.deadline, _is_free(job, asking.time), job.planner, job.attempts,
                job.replace, job.dry_run,
            )  # fmt: skip


def _is_free(job: PlanningJob, time: int) -> bool:
    return job.planner == "" or time - job.heard > SILENT


def _alive(past: Past, asking: Asking, name: str) -> tuple[str, PlanningJob]:
    key = key_of(name)
    job = planning(past).get(key)
    if job is None or asking.time > job.deadline:
        raise No(NotFound, "PLANNING_JOB_NOT_FOUND")
    return key, job


def take_planning_job(past: Past, asking: Asking, request: p.TakePlanningJob) -> Yes:
    name = request.planner
    if not 0 < len(name) <= limits.PLANNER_NAME or not name.isprintable():
        raise No(InvalidSource, "PLANNER_NAME")
    key, job = _alive(past, asking, request.name)
    if request.epoch:
        _refuse_lost(job, name, request.epoch)
    elif not _is_free(job, asking.time):
        raise No(NotLatest, "PLANNING_JOB_TAKEN")
    epoch = request.epoch or past.sequence + 1
    taken = replace(job, planner=name, heard=asking.time, epoch=epoch)
    return Yes((PlanningChanged(key, taken),), p.PlanningJobTaken(key, name, epoch, job.deadline))


def _refuse_lost(job: PlanningJob, planner: str, epoch: int) -> None:
    if job.planner != planner or job.epoch != epoch:
        raise No(NotLatest, "PLANNING_JOB_LOST")


def finish_planning_job(past: Past, asking: Asking, request: p.FinishPlanningJob) -> Yes:
    """The source is created as by the sender, or the statement is refused; a plan that is too late is made anew."""
    key, job = _alive(past, asking, request.name)
    _refuse_lost(job, request.planner, request.epoch)
    if (request.create is None) == (request.refusal is None):
        raise No(InvalidSource, "PLANNING_ANSWER")
    outcome = _state(job, request.name)
    if request.create is None:
        told, faults = request.refusal, request.faults[: limits.FAULTS]
        hidden = _hides(past, asking, job, request)
        if hidden:
            told, faults = EntryRefusal(tag_of(Forbidden), Reason(hidden, "")), ()
        return _over(key, job, replace(outcome, state="refused", refusal=told, faults=faults))
    if key_of(request.create.definition.name) != key:
        raise No(InvalidSource, "PLANNING_ANSWER")
    try:
        created = _created(past, asking, job, request.create)
    except No as no:
        if no.rule in ANEW and job.attempts < limits.PLANNING_ATTEMPTS - 1:
            again = replace(job, planner="", heard=0, epoch=0, attempts=job.attempts + 1)
            return Yes((PlanningChanged(key, again),), _state(again, request.name))
        refusal = EntryRefusal(tag_of(no.kind), Reason(no.rule, ""))
        return _over(key, job, replace(outcome, state="refused", refusal=refusal))
    planned = p.PlannedSource(
        request.create.definition.kind, request.create.definition.columns, request.create.definition.query
    )
    outcome = replace(outcome, state="stored", stored=created.answer, planned=planned if job.dry_run else None)
    return _over(key, job, outcome, created.events)


def _hides(past: Past, asking: Asking, job: PlanningJob, request: p.FinishPlanningJob) -> str:
    """The rule by which the sender is not told why; empty where they may query all sources that the planner asked about."""
    if job.rules is None:
        return ""
    sender = replace(asking, principal=job.sender, access=SenderAccess(job.rules))
    there = [sources(past)[key_of(name)] for name in request.sources if key_of(name) in sources(past)]
    try:
        needs = [rights.Need(("query",), source=key_of(name)) for name in request.sources]
        rights.refuse_unless_allowed(sender, request, needs)
        for source in there:
            refuse_topic_of_read(sender, source)
    except No as no:
        return no.rule
    return ""


def _created(past: Past, asking: Asking, job: PlanningJob, create: m.CreateSource) -> Yes:
    expected = m.ExpectedSource(job.expected_generation, job.expected_revision)
    request = replace(
        create, definition=replace(create.definition, statement=job.statement), if_not_exists=job.if_not_exists,
        replace=job.replace, expected=expected if job.expected_generation else None, dry_run=job.dry_run,
        assess=create.assess and job.dry_run,
    )  # fmt: skip
    sender = replace(
        asking, request=request, principal=job.sender, access=None if job.rules is None else SenderAccess(job.rules)
    )
    needs = rights.of_create_source(request)
    rights.refuse_unless_allowed(sender, request, needs)
    whole = past.whole if isinstance(past, PublicPast) else past
    began = decided_on(whole, sender.access)
    rights.refuse_unless_publisher(began, sender, request, needs)
    done = create_source(began, sender, request)
    refuse_hidden(whole, sender, (*done.events, *done.rehearsed))
    return done


def _over(key: str, job: PlanningJob, outcome: p.PlanOutcome, events: tuple[Event, ...] = ()) -> Yes:
    return Yes((*events, PlanningChanged(key, None), _settled(job, outcome)), outcome)
