"""Statements that wait for the plans of their queries: they ask, a planner takes the job, and its answer ends it.

What a statement came to is the outcome of the command that asked, so that a repetition of the command is answered with it.
"""

import json
from itertools import islice

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision
from treaty.core.handlers.metastore.creation import describe_stored, refuse_many_sources, refuse_unexpected
from treaty.core.handlers.metastore.definitions import refuse_long_statement
from treaty.core.handlers.metastore.names import refuse_bad_name, refuse_taken_source, source_exists, source_key
from treaty.core.handlers.metastore.places.topics import expired_rows
from treaty.core.messages.metastore.plans import PLAN_OUTCOME, GetPlan, PlanOutcome, RequestPlan, WithdrawPlan
from treaty.core.messages.metastore.sources import ExpectedSource
from treaty.core.refusals import InvalidSource, NotFound, SourceExists, TooLarge
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import PlanningJob, SenderRule
from treaty.core.state.codec import decode
from treaty.core.state.metastore.indexes import PLANNING_BY_DEADLINE
from treaty.core.state.metastore.keys import PlanningKey, key_of_name
from treaty.core.state.metastore.tables import PLANNING, SOURCE
from treaty.core.state.rows import make_row, make_tombstone
from treaty.core.state.state_tables import OUTCOME, OutcomeKey
from treaty.core.state.view import View


def request_plan(view: View, command: Command[RequestPlan], engine: SchemaEngine) -> Decision[PlanOutcome]:
    """Let a statement wait for its plan; what can be decided without one is decided now."""
    request = command.request
    key = PlanningKey(key_of_name(request.name))
    _refuse_bad_request(request)
    existing, waiting = view.get(SOURCE, source_key(request.name)), view.get(PLANNING, key)
    if waiting is not None and (waiting.sender, waiting.command) == (command.principal, command.command_id):
        return Decision((), describe_waiting(waiting, request.name))
    if existing is not None and request.if_not_exists:
        note = f"There is a {existing.kind.lower()} {existing.name} already"
        stored = describe_stored(existing, notes=(note,))
        return Decision((), PlanOutcome("stored", existing.name, command.command_id, stored=stored))
    if existing is not None and not request.replace:
        raise source_exists(request.name, existing)
    refuse_unexpected(existing, request.expected)
    if existing is None:
        refuse_taken_source(view, request.name)
        refuse_many_sources(view)
    ended, settled = _ended_rows(view, command.time)
    if waiting is not None and waiting.deadline >= command.time:
        raise _planned_already(request.name)
    if view.count(PLANNING, ()) - len(ended) >= limits.PLANNING_WAITING:
        raise TooLarge.of(
            "PLANNING_WAITING",
            "Too many statements wait for their plans",
            allowed=f"at most {limits.PLANNING_WAITING}; send it again later",
        )
    job = _job(command, view.sequence + 1)
    if waiting is not None:  # its time is over
        ended, settled = ended | {key}, {**settled, **dict([_settle_expired(key, waiting)])}
    rows = (*(make_tombstone(PLANNING, ended_key) for ended_key in ended - {key}), make_row(PLANNING, key, job))
    answer = describe_waiting(job, request.name)
    return Decision((*rows, *expired_rows(view, command.time)), answer, settles=tuple(settled.items()))


def _refuse_bad_request(request: RequestPlan) -> None:
    refuse_bad_name(request.name, "SOURCE_NAME", "/name")
    refuse_long_statement(request.statement, "/statement")
    if len(request.properties) > limits.SOURCE_PROPERTIES:
        raise TooLarge.of(
            "SOURCE_PROPERTIES",
            "The statement has too many properties",
            path="/properties",
            new=str(len(request.properties)),
            allowed=f"at most {limits.SOURCE_PROPERTIES}",
        )
    if not 1 <= request.seconds <= limits.PLANNING_SECONDS:
        raise InvalidSource.of(
            "PLANNING_SECONDS",
            f"A statement can't wait {request.seconds} seconds for its plan",
            path="/seconds",
            new=str(request.seconds),
            allowed=f"1 to {limits.PLANNING_SECONDS}",
        )


def _planned_already(name: str) -> SourceExists:
    return SourceExists.of(
        "PLANNING_TAKEN",
        f"Another statement that creates {name} waits for its plan",
        path="/name",
        new=name,
        allowed=f"another name; or send it again, after {limits.PLANNING_SECONDS} seconds at most. `treaty planner` plans the statements that wait",
    )


def _job(command: Command[RequestPlan], sequence: int) -> PlanningJob:
    request = command.request
    expected = request.expected or ExpectedSource(0, 0)
    return PlanningJob(
        request.statement, request.properties, command.principal, command.command_id, _rules(command.access),
        sequence, command.time + request.seconds * 1000, replace=request.replace, if_not_exists=request.if_not_exists,
        dry_run=request.dry_run, expected_generation=expected.generation, expected_revision=expected.revision,
    )  # fmt: skip


def _rules(access: Access | None) -> tuple[SenderRule, ...] | None:
    if access is None:
        return None
    return tuple(
        SenderRule(tuple(sorted(rule.may)), rule.subjects, rule.contexts, rule.topics, rule.sources, rule.private)
        for rule in access.rules
    )


# ------------------------------------------------------------------------------------------------------- the deadline


def _ended_rows(view: View, time: int) -> tuple[set[PlanningKey], dict[OutcomeKey, PlanOutcome]]:
    """Return a few jobs whose time is over, and what their statements came to."""
    entries = islice(view.walk(PLANNING_BY_DEADLINE, (), ("", time)), limits.DROPPED_EXPIRED)
    keys = {PlanningKey(entry[2]) for entry in entries}
    jobs = ((key, view.get(PLANNING, key)) for key in sorted(keys))
    return keys, dict(_settle_expired(key, job) for key, job in jobs if job is not None)


def _settle_expired(key: PlanningKey, job: PlanningJob) -> tuple[OutcomeKey, PlanOutcome]:
    return OutcomeKey(job.sender, job.command), _outcome_of_expired(key.name, job)


def _outcome_of_expired(name: str, job: PlanningJob) -> PlanOutcome:
    return PlanOutcome("expired", name, job.command, job.deadline, job.planner, job.attempts)


def describe_waiting(job: PlanningJob, name: str) -> PlanOutcome:
    """Return the answer about a statement that waits."""
    return PlanOutcome("waiting", name, job.command, job.deadline, job.planner, job.attempts)


def withdraw_plan(view: View, command: Command[WithdrawPlan], engine: SchemaEngine) -> Decision[PlanOutcome]:
    """End the wait of a statement."""
    request = command.request
    key = PlanningKey(key_of_name(request.name))
    job = view.get(PLANNING, key)
    if job is None or (job.sender, job.command) != (command.principal, request.command):
        return Decision((), _recall(view, command.principal, request.command))
    ended = _outcome_of_expired(request.name, job)
    return Decision((make_tombstone(PLANNING, key),), ended, settles=((OutcomeKey(job.sender, job.command), ended),))


def get_plan(view: View, command: Command[GetPlan], engine: SchemaEngine) -> Decision[PlanOutcome]:
    """Return what became of a statement."""
    request, base = command.request, without_filter(view)[0]
    job = base.get(PLANNING, PlanningKey(key_of_name(request.name)))
    if job is not None and (job.sender, job.command) == (command.principal, request.command):
        over = job.deadline < command.time
        return Decision((), _outcome_of_expired(request.name, job) if over else describe_waiting(job, request.name))
    return Decision((), _recall(base, command.principal, request.command))


def _recall(view: View, principal: str, command_id: str) -> PlanOutcome:
    """Return what a statement came to, from the outcome of its command. Raises `NotFound` where that is not kept any more."""
    outcome = view.get(OUTCOME, OutcomeKey(principal, command_id))
    stored_answer = None if outcome is None else dict(outcome.members).get("answer")
    if outcome is None or outcome.kind != PLAN_OUTCOME or stored_answer is None:
        raise NotFound.of(
            "OUTCOME_UNKNOWN",
            f"No statement that was sent by command {command_id} is remembered",
            path="/command",
            version=command_id,
            allowed=f"the principal who sent it, within {limits.OUTCOMES} commits after the end of the statement",
        )
    answer, _ = decode(PlanOutcome, json.loads(stored_answer), ignore=True)
    return answer
