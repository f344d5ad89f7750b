"""A step is checked before anything is written: queries by a planner, and what refuses a step is found in its file."""

from dataclasses import replace
from difflib import get_close_matches

from treaty.core.column_types.tokens import print_name
from treaty.core.messages.metastore.plans import PlannedSource
from treaty.core.messages.metastore.sources import CreateSource
from treaty.core.refusals import NotFound, Reason, Refusal, Unavailable
from treaty.core.registry import Exchange
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.definitions import planned_request
from treaty.metastore.execution.planned import plan_create
from treaty.metastore.execution.planner import plan_statement
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.execution.source_printer import head_column
from treaty.metastore.project.metastore_rows import MetastoreRows
from treaty.metastore.project.objects import ProjectObject
from treaty.metastore.project.plan import WAITING, PlannedStep
from treaty.metastore.sql.diagnostics import WORD_LENGTH
from treaty.metastore.sql.statements import CreateSourceStatement

NAME_RULES = {"TYPE_NOT_FOUND": "type", "TYPE_UNKNOWN": "type", "SOURCE_NOT_FOUND": "source"}
"""Rules of refusals about a name that is not there, and which names are."""


def check_step(
    rows: MetastoreRows, described: ProjectObject, step: PlannedStep, request: CreateSource | None
) -> Exchange[PlannedStep]:
    """Return a step, one with a query with what a planner says of it; the others are checked together once all are there."""
    if request is None and not getattr(step.statement, "body", ""):
        return replace(step, is_checked=False)
    if request is None and rows.choices.queries == "now":
        return replace(step, is_checked=False)
    if request is None and rows.choices.queries == "later":
        return _mark_waiting(rows, described, step, f"the query of {described.name} is planned after the start")
    if rows.needs[described.key] & rows.waiting:
        return _waiting_for_others(rows, described, step)
    if request is not None:
        rows.planned.add_source(request)
        return replace(step, is_checked=False)
    try:
        if rows.needs[described.key] & rows.coming:
            return (yield from _check_over_planned(rows, step))
        return (yield from _check_query(rows, step))
    except (Refusal, Unavailable) as refused:
        return refuse_step(rows, described, step, refused)


def _check_query(rows: MetastoreRows, step: PlannedStep) -> Exchange[PlannedStep]:
    """Let a statement with a query be planned and carried out dry; what it would create is noted."""
    statement, planning = step.statement, rows.choices.planning
    assert isinstance(statement, CreateSourceStatement), "a step with a query creates a source"
    stored, planned, notes = yield from plan_create(
        statement, step.text, planning, dry_run=True, expected=step.expected
    )
    if planned is not None:
        yield from _add_planned(rows, statement, step.text, planned)
    return replace(step, notes=(*step.notes, *stored.notes, *notes))


def _add_planned(
    rows: MetastoreRows, statement: CreateSourceStatement, text: str, planned: PlannedSource
) -> Exchange[None]:
    """Note the source that a planned query would create."""
    assert planned.query is not None, "a query was planned"
    columns = tuple(map(head_column, planned.columns))
    request, _ = yield from rows.planned.answer(planned_request(statement, text, columns, planned.query))
    rows.planned.add_source(request)


def _check_over_planned(rows: MetastoreRows, step: PlannedStep) -> Exchange[PlannedStep]:
    """Let the planner of this process plan a query over what earlier steps create or change; others have to see it first."""
    planner, statement = rows.choices.planning.planner, step.statement
    if planner is None or not isinstance(statement, CreateSourceStatement):
        return replace(step, is_checked=False)
    request, notes = yield from rows.planned.answer(plan_statement(planner, statement, step.text))
    rows.planned.add_source(request)
    return replace(step, notes=(*step.notes, *notes), is_checked=False)


# -------------------------------------------------------------------------------------------------------- refusals


def refuse_step(
    rows: MetastoreRows, described: ProjectObject, step: PlannedStep, refused: Refusal | Unavailable
) -> PlannedStep:
    """Return a step that is refused, or that can be checked only when what it needs is there."""
    if isinstance(refused, Unavailable):
        if isinstance(described.statement, CreateSourceStatement) and described.statement.body:
            return _mark_waiting(rows, described, step, str(refused))
        raise refused
    rows.coming.add(described.key)
    if isinstance(refused, NotFound) and rows.needs[described.key] & rows.waiting:
        return _waiting_for_others(rows, described, step)
    if isinstance(refused, NotFound) and rows.needs[described.key] & rows.coming:
        return replace(step, is_checked=False)
    return _place_refusal(rows, described, step, refused)


def _place_refusal(rows: MetastoreRows, described: ProjectObject, step: PlannedStep, refused: Refusal) -> PlannedStep:
    """Return a step with its refusal where the file has what is refused: an error of a query, or a name that is not there."""
    reason = refused.reason
    if isinstance(refused, InvalidStatementError) and refused.diagnostics:
        first, more = refused.diagnostics[0], len(refused.diagnostics) - 1
        message = f"{first.message} (and {more} more)" if more else first.message
        reason = replace(reason, message=message, allowed=first.hint or reason.allowed)
        return replace(step, refusal=reason, refusal_place=described.place_in_file(first.line, first.column))
    if reason.rule not in NAME_RULES or not reason.new:
        return step.refuse(reason)
    return refuse_name(rows, described, step, reason)


def refuse_name(rows: MetastoreRows, described: ProjectObject, step: PlannedStep, reason: Reason) -> PlannedStep:
    """Return a step that is refused for a name, `new` of the reason, which is not there, with the one that may have been meant."""
    names = rows.list_names(NAME_RULES[reason.rule])
    near = get_close_matches(key_of_name(reason.new), names, 1) if len(reason.new) <= WORD_LENGTH else []
    hint = f"did you mean {print_name(names[near[0]])}? " if near else ""
    if hint and not reason.allowed.startswith("did you mean"):
        reason = replace(reason, allowed=f"{hint}{reason.allowed}")
    return replace(step.refuse(reason), refusal_place=described.find_name(reason.new))


def _waiting_for_others(rows: MetastoreRows, described: ProjectObject, step: PlannedStep) -> PlannedStep:
    name = min(name for _, name in rows.needs[described.key] & rows.waiting)
    return _mark_waiting(rows, described, step, f"{described.name} needs {name}, which waits for a planner")


def _mark_waiting(rows: MetastoreRows, described: ProjectObject, step: PlannedStep, message: str) -> PlannedStep:
    rows.waiting.add(described.key)
    reason = Reason(WAITING, message, path=described.file, new=described.name, allowed="a planner that runs")
    return replace(step, refusal=reason)
