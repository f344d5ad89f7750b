"""CREATE … AS: the query is planned by the planner of this process, or by any that takes the job from the registry."""

from dataclasses import dataclass, replace

from treaty.core.handlers.metastore.planners import TOO_LATE
from treaty.core.limits import LONG_POLL_SECONDS, PLANNING_ATTEMPTS
from treaty.core.messages.metastore.plans import (
    GetPlan,
    PlannedSource,
    PlanOutcome,
    RequestPlan,
    StatementFault,
    WithdrawPlan,
)
from treaty.core.messages.metastore.sources import CreateSource, DescribeSource, ExpectedSource, SourceStored
from treaty.core.refusals import NotFound, OutcomeUnknown, Refusal, RegistryError, Unavailable
from treaty.core.registry import Exchange, request_answer
from treaty.distribution import install_command
from treaty.metastore.definitions import connector_of, find_existing
from treaty.metastore.execution.context import PlanningOptions, StatementContext
from treaty.metastore.execution.planner import Planner, plan_statement
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.sql.diagnostics import SqlDiagnostic
from treaty.metastore.sql.statements import CreateSourceStatement, OnceStatement

POLL_SECONDS = 5
"""Seconds of one wait for a plan; the deadline is looked at between two of them."""


@dataclass(frozen=True, slots=True)
class CreationOptions:
    """What a CREATE wants besides what its statement says: which source is there, whether nothing is written, and an assessment."""

    expected: ExpectedSource | None = None
    dry_run: bool = False
    assess: bool = False


def create_planned(
    statement: CreateSourceStatement,
    text: str,
    options: PlanningOptions,
    *,
    dry_run: bool = False,
    expected: ExpectedSource | None = None,
) -> Exchange[tuple[SourceStored, tuple[str, ...]]]:
    """Create a source by its query; returns the answer with notes.

    IF NOT EXISTS is decided before anything is planned. Raises `Unavailable` where no planner answers in time: nothing was written.
    """
    stored, _, notes = yield from plan_create(statement, text, options, dry_run=dry_run, expected=expected)
    return stored, notes


def plan_create(
    statement: CreateSourceStatement,
    text: str,
    options: PlanningOptions,
    *,
    dry_run: bool = False,
    assess: bool = False,
    expected: ExpectedSource | None = None,
) -> Exchange[tuple[SourceStored, PlannedSource | None, tuple[str, ...]]]:
    """Create a source by its query as `create_planned` does; returns what was planned too, where it is known: in a dry run.

    With `assess` the answer has the assessment of the change, and a dry run it is.
    """
    existing = yield from find_existing(statement)
    if existing is not None:
        return existing, None, ()
    request = RequestPlan(
        statement.name, text, statement.properties, _topic_of(statement), statement.or_replace, statement.if_not_exists,
        expected, dry_run, options.seconds,
    )  # fmt: skip
    return (yield from _plan(statement, request, options, CreationOptions(expected, dry_run=dry_run, assess=assess)))


IN_TRANSACTION = (
    "its records come into the topic in one transaction: who reads with isolation.level=read_committed finds each once; "
    "others may find records of an attempt that was ended too, with a lower treaty-attempt"
)
"""What is promised of a query that is run once into a topic."""


def plan_once(statement: OnceStatement, context: StatementContext) -> Exchange[tuple[SourceStored, tuple[str, ...]]]:
    """Let a query be run once into a source; returns the answer with notes. Raises as `create_planned` does, and `NotFound` without the source."""
    source = (yield from request_answer(DescribeSource(statement.name))).source
    topic = source.place if source.connector == "kafka" else ""
    request = RequestPlan(
        statement.name, context.text, (), topic, replace=True, expected=context.expected, dry_run=context.dry_run,
        seconds=context.planning.seconds,
    )  # fmt: skip
    creation = CreationOptions(context.expected, dry_run=context.dry_run)
    stored, _, notes = yield from _plan(statement, request, context.planning, creation)
    return stored, (*notes, IN_TRANSACTION) if topic else notes


def _plan(
    statement: CreateSourceStatement | OnceStatement,
    request: RequestPlan,
    options: PlanningOptions,
    creation: CreationOptions,
) -> Exchange[tuple[SourceStored, PlannedSource | None, tuple[str, ...]]]:
    """Plan a statement by a planner of the registry, or here."""
    if options.planner is None:
        return (*(yield from _end_wait(request, (yield from request_answer(request)))), ())
    if options.ask_seconds:
        outcome = yield from _offer(request, options.ask_seconds)
        if outcome is not None:
            return (*(yield from _end_wait(request, outcome)), ())
    return (yield from _plan_here(options.planner, statement, request.statement, creation))


def _topic_of(statement: CreateSourceStatement) -> str:
    return statement.property("KAFKA_TOPIC", statement.name) if connector_of(statement) == "kafka" else ""


def _plan_here(
    planner: Planner, statement: CreateSourceStatement | OnceStatement, text: str, creation: CreationOptions
) -> Exchange[tuple[SourceStored, PlannedSource | None, tuple[str, ...]]]:
    """Plan and create; a plan that comes too late for what it reads is made again, a few times."""
    attempts = 0
    while True:
        attempts += 1
        request: CreateSource
        request, notes = yield from plan_statement(planner, statement, text)
        try:
            stored = yield from request_answer(
                replace(request, expected=creation.expected, dry_run=creation.dry_run, assess=creation.assess)
            )
        except Refusal as refused:
            if refused.reason.rule not in TOO_LATE or attempts >= PLANNING_ATTEMPTS:
                raise
        else:
            defined = request.definition
            return stored, PlannedSource(defined.kind, defined.columns, defined.query), notes


def _offer(request: RequestPlan, seconds: int) -> Exchange[PlanOutcome | None]:
    """Let a statement wait for a planner that takes it; None where none did in these seconds, and it waits no more."""
    outcome: PlanOutcome = yield from request_answer(request)
    command = outcome.command
    try:
        if outcome.state == "waiting":
            outcome = yield from request_answer(GetPlan(request.name, command, min(seconds, LONG_POLL_SECONDS)))
        if outcome.state != "waiting" or outcome.planner:
            return outcome
        outcome = yield from request_answer(WithdrawPlan(request.name, command))
    except NotFound:
        return replace(outcome, state="waiting", command=command)  # its end is asked for, and said, as of any other
    return None if outcome.state == "expired" else outcome


def _end_wait(request: RequestPlan, outcome: PlanOutcome) -> Exchange[tuple[SourceStored, PlannedSource | None]]:
    """Wait for the plan of a statement, and return what it came to, in a dry run with the plan. Raises its refusal."""
    command = outcome.command
    wait = min(request.seconds, POLL_SECONDS, LONG_POLL_SECONDS)
    try:
        while outcome.state == "waiting":
            outcome = yield from request_answer(GetPlan(request.name, command, wait))
        if outcome.state == "expired":
            outcome = yield from request_answer(WithdrawPlan(request.name, command))
    except NotFound:
        return (yield from _find_written(request, command)), None
    if outcome.refusal is not None:
        raise _refusal(outcome)
    if outcome.stored is not None:
        return outcome.stored, outcome.planned
    reason = (
        "no planner took the statement" if not outcome.planner else f"planner {outcome.planner} did not end in time"
    )
    message = f"planner unavailable: {reason} within {request.seconds} s, and {request.name} is not created; `treaty planner` plans for all who ask this registry, and `treaty sql` and `treaty apply` plan themselves where Spark is installed: {install_command('spark')}"
    raise Unavailable(message)


def _find_written(request: RequestPlan, command: str) -> Exchange[SourceStored]:
    """Return the source of a statement whose outcome is not kept any more. Raises `OutcomeUnknown` where there is another one."""
    try:
        source = (yield from request_answer(DescribeSource(request.name))).source
    except NotFound:
        raise OutcomeUnknown(command) from None
    if source.statement != request.statement:
        raise OutcomeUnknown(command)
    return SourceStored(source.name, source.kind, source.generation, source.revision, created=True)


def _refusal(outcome: PlanOutcome) -> RegistryError:
    assert outcome.refusal is not None
    if not outcome.faults:
        return outcome.refusal.error
    return InvalidStatementError(outcome.refusal.reason, [*map(_diagnostic, outcome.faults)])


def _diagnostic(fault: StatementFault) -> SqlDiagnostic:
    return SqlDiagnostic(
        fault.code, fault.message, fault.start, fault.end, fault.line, fault.column, fault.expected, fault.hint
    )
