"""`Planner`: what plans the query of a CREATE, in this process or another; and how a job of the registry is answered by one."""

from dataclasses import dataclass, replace
from typing import Protocol

from treaty.client.exchanges import Exchange
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.metastore import CreateSource
from treaty.core.messages.plans import FinishPlanningJob, PlanningJobTaken, StatementFault, WaitingStatement
from treaty.core.refusals import Invalid, OutcomeUnknown, RegistryError, Unavailable
from treaty.core.sources import QueryPlan
from treaty.metastore.definitions import planned_request
from treaty.metastore.execution.explained import explained_create
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.sql.diagnostics import SqlDiagnostic
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import CreateSourceStatement, ExplainStatement
from treaty.metastore.sql.values import HeadColumn


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query with its plan, and the columns of its output with their roles (value or key) and SQL types.

    `notes` are warnings for the sender of the statement.
    """

    plan: QueryPlan
    columns: tuple[HeadColumn, ...]
    notes: tuple[str, ...] = ()


class Planner(Protocol):
    """Plans queries."""

    def plan(self, statement: CreateSourceStatement) -> Exchange[PlannedQuery]:
        """Return the plan of the query of a statement. The requests that it yields are answered by the registry.

        Raises `InvalidStatementError` with all errors of a body, whose offsets are those of the body, and any refusal of the
        registry.
        """
        ...


def plan_statement(
    planner: Planner, statement: CreateSourceStatement, text: str
) -> Exchange[tuple[CreateSource, tuple[str, ...]]]:
    """Return the request that creates what a statement with a query says, and notes about it."""
    try:
        planned = yield from planner.plan(statement)
    except InvalidStatementError as wrong:
        raise InvalidStatementError.by(_in_statement(wrong.diagnostics, statement, text)) from None
    request, notes = yield from planned_request(statement, text, planned.columns, planned.plan)
    return request, (*planned.notes, *notes)


def _in_statement(
    diagnostics: tuple[SqlDiagnostic, ...], statement: CreateSourceStatement, text: str
) -> list[SqlDiagnostic]:
    """Return the errors of a body with the places that they have in the statement."""
    offset = max(0, text.rfind(statement.body))
    lines, before = text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1)
    return [
        replace(
            one,
            start=one.start + offset,
            end=one.end + offset,
            line=one.line + lines,
            column=one.column + (before if one.line == 1 else 0),
        )
        for one in diagnostics
    ]


def answer_job(planner: Planner, job: WaitingStatement, taken: PlanningJobTaken) -> Exchange[FinishPlanningJob]:
    """Return the answer of a job: the source with its plan, or the refusal of its statement.

    Raises `Unavailable` and `OutcomeUnknown` where the registry can't be asked: the job is left to others.
    """
    answer = FinishPlanningJob(taken.name, taken.planner, taken.epoch)
    try:
        parsed = parse_script(job.statement)
        if parsed.diagnostics:
            raise InvalidStatementError.by(parsed.diagnostics)
        statement = parsed.statements[0].value
        if isinstance(statement, ExplainStatement) and job.dry_run:
            statement = explained_create(statement)
        if not isinstance(statement, CreateSourceStatement) or not statement.body:
            raise Invalid.of("STATEMENT_UNPLANNED", "The statement has no query", path="/sql", allowed="CREATE … AS")
        statement = replace(statement, properties=job.properties)
        create, notes = yield from plan_statement(planner, statement, job.statement)
    except (Unavailable, OutcomeUnknown):
        raise
    except RegistryError as refused:
        faults = tuple(map(_fault, refused.diagnostics)) if isinstance(refused, InvalidStatementError) else ()
        return replace(answer, refusal=EntryRefusal.by(refused), faults=faults)
    return replace(answer, create=create, notes=notes)


def _fault(one: SqlDiagnostic) -> StatementFault:
    return StatementFault(one.code, one.message, one.start, one.end, one.line, one.column, one.expected, one.hint)
