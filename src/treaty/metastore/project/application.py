"""A plan is carried out: by a person step by step, by a server that starts in as few commits as may be."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from treaty.client.async_connection import run_exchange_async
from treaty.core.limits import PLAN_ATTEMPTS
from treaty.core.refusals import Conflicting, NotFound, Reason, Refusal, RegistryError
from treaty.core.registry import AsyncRegistry, Exchange, run_exchange
from treaty.metastore.execution.atomic import AtomicScriptError
from treaty.metastore.execution.context import ASK_PLANNERS, PlanningOptions, StatementContext
from treaty.metastore.execution.results import StatementResult
from treaty.metastore.execution.statements import EXPECTING
from treaty.metastore.metastore import Metastore
from treaty.metastore.project.commits import apply_commit, is_too_large, list_commits
from treaty.metastore.project.metastore_rows import ProjectChoices
from treaty.metastore.project.objects import SqlProject
from treaty.metastore.project.plan import PlannedStep, ProjectPlan, describe_refusals
from treaty.metastore.project.steps import plan_project
from treaty.metastore.script_run import run_statement
from treaty.metastore.sql.script import ParsedStatement

CONCURRENT = (Conflicting, NotFound)
"""Refusals of a step that was planned on rows which somebody has changed since."""
OUTRUN = frozenset({"SOURCE_EXISTS", "TYPE_EXISTS", "SOURCE_EXPECTED", "SOURCE_NOT_FOUND"})
"""Rules of refusals that a plan meets where the rows have changed since they were listed."""
PLAIN_CHOICES = ProjectChoices()
ReportStep = Callable[[PlannedStep], None]


def ignore_step(step: PlannedStep) -> None:
    """Report nothing of a step."""


class RefusedProjectError(Refusal):
    """A project can't be applied: a step of its plan is refused, and nothing was written. `plan` has all steps."""

    def __init__(self, plan: ProjectPlan) -> None:
        """Take what refuses the first step as the reason, and all of them as its details."""
        first = plan.refused[0]
        assert first.refusal is not None, "a refused step has a reason"
        place = f" ({first.place})" if first.place else ""
        more = f" (and {len(plan.refused) - 1} more)" if len(plan.refused) > 1 else ""
        reason: Reason = replace(
            first.refusal,
            message=f"{first.kind} {first.name}{place}: {first.refusal.message}{more}",
            details=tuple(describe_refusals(plan)),
        )
        super().__init__(reason)
        self.plan = plan


class InterruptedProjectError(RegistryError):
    """A step of a plan failed after others were carried out: `done` of them stay. The next run continues from there."""

    def __init__(self, step: PlannedStep, completed: int, cause: RegistryError) -> None:
        """Say which step failed, why, and what stays."""
        place = f" ({step.place})" if step.place else ""
        rest = f"{completed} steps before it stay as they are done" if completed else "nothing was carried out"
        super().__init__(f"{step.kind} {step.name}{place}: {cause}; {rest}: apply again to continue")
        self.step = step
        self.done = completed
        self.cause = cause


def refuse_plan(plan: ProjectPlan) -> None:
    """Raise `RefusedProjectError` where a step of a plan would be refused."""
    if plan.refused:
        raise RefusedProjectError(plan)


def list_ready_steps(plan: ProjectPlan) -> Iterator[PlannedStep]:
    """Yield the steps that change something and wait for no planner."""
    return (step for step in plan.changes if not step.is_waiting)


def apply_step(step: PlannedStep, planning: PlanningOptions = ASK_PLANNERS) -> Exchange[StatementResult]:
    """Carry out the statement of a step, with `planning` of its query. Raises what the registry refuses: it decides on the rows as they are now."""
    assert step.statement is not None, "a step that changes something has a statement"
    parsed = ParsedStatement(step.statement, 0, len(step.text), step.text)
    expected = step.expected if isinstance(step.statement, EXPECTING) else None
    return (yield from run_statement(parsed, StatementContext(step.text, expected=expected, planning=planning)))


def make_plan(metastore: Metastore, project: SqlProject, choices: ProjectChoices = PLAIN_CHOICES) -> ProjectPlan:
    """Return the plan of a project over a metastore; nothing is written. Queries are planned as those of the metastore are."""
    planned = replace(choices, planning=metastore.planning)
    return run_exchange(metastore.registry, plan_project(project, planned), metastore.call)


def apply_plan(
    metastore: Metastore, plan: ProjectPlan, report: ReportStep = ignore_step
) -> tuple[StatementResult, ...]:
    """Carry out the steps of a plan, and report each one; steps that wait for a planner are left out.

    Raises `RefusedProjectError` before anything is written, and `InterruptedProjectError` where a later step fails.
    """
    refuse_plan(plan)
    results: list[StatementResult] = []
    for step in list_ready_steps(plan):
        try:
            results.append(run_exchange(metastore.registry, apply_step(step, metastore.planning), metastore.call))
        except RegistryError as error:
            raise InterruptedProjectError(step, len(results), error) from error
        report(step)
    return tuple(results)


async def apply_project(registry: AsyncRegistry, project: SqlProject, choices: ProjectChoices) -> ProjectPlan:
    """Apply a project without a question, as a server does that starts; return the plan whose steps were carried out last.

    Statements that may be of one commit are one: all of them are carried out, or none. Where somebody else changes the metastore meanwhile, such as another server with the same project, it is planned again,
    until PLAN_ATTEMPTS plans in a row leave no less to do. Raises `RefusedProjectError` before anything is written.
    """
    fewest, idle = -1, 0
    while True:
        plan = await run_exchange_async(registry, plan_project(project, choices))
        left = len(plan.changes)
        idle, fewest = (0, left) if fewest < 0 or left < fewest else (idle + 1, fewest)
        if _is_outrun(plan) and idle < PLAN_ATTEMPTS:
            continue
        refuse_plan(plan)
        completed = 0
        try:
            for steps in list_commits(list_ready_steps(plan)):
                await _apply_commit(registry, steps, completed)
                completed += len(steps)
        except InterruptedProjectError as interrupted:
            if idle >= PLAN_ATTEMPTS or not isinstance(interrupted.cause, CONCURRENT):
                raise
        else:
            return plan


def _is_outrun(plan: ProjectPlan) -> bool:
    """Whether a plan is refused since somebody has created or changed meanwhile what it was made on."""
    return any(step.refusal is not None and step.refusal.rule in OUTRUN for step in plan.refused)


async def _apply_commit(registry: AsyncRegistry, steps: Sequence[PlannedStep], completed: int) -> None:
    """Carry out steps in one commit, or one by one where they are too large for one."""
    if len(steps) > 1:
        try:
            return await run_exchange_async(registry, apply_commit(steps))
        except AtomicScriptError as failed:
            if not is_too_large(failed.error):
                raise InterruptedProjectError(steps[max(failed.place, 0)], completed, failed.error) from failed
    for place, step in enumerate(steps, completed):
        try:
            await run_exchange_async(registry, apply_step(step))
        except RegistryError as error:
            raise InterruptedProjectError(step, place, error) from error
    return None
