"""`decide`: the pure function that decides every request.

Its inputs are a request and a view of the state. Its result is the rows of a commit with the answer, a refusal, or
questions that a format must answer first. Dialects only translate, nodes append, tables store.

    view, command, engine  ->  Decision(rows, answer) | Refusal | Needs(questions)
"""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from treaty.core.access.aliases import resolve_alias
from treaty.core.access.authorized_view import AuthorizedView
from treaty.core.command import Command, Decision, OpenQuestions, PausingWork, finish_work
from treaty.core.handlers.drafts.schemas import UnansweredError
from treaty.core.operations import OPERATIONS
from treaty.core.outcomes import recall_answer, record_outcome
from treaty.core.refusals import Refusal
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.state_tables import OUTCOME
from treaty.core.state.view import View


def decide(view: View, command: Command[Any], engine: SchemaEngine) -> Decision[Any] | Refusal | OpenQuestions:
    """Decide a request on a view. Pure: the same arguments have the same result.

    A command that was decided before is answered from its outcome and writes nothing. The rows of a decision are valid
    only for that view; the log rejects an append to any other state.
    """
    operation = OPERATIONS[type(command.request)]
    try:
        outcome = view.get(OUTCOME, command.outcome_key) if operation.writes else None
        if outcome is not None:
            return Decision((), recall_answer(view, command, outcome), repeated=True)
        request = resolve_alias(view, command)
        access = command.access
        shown = view if operation.writes or access is None or access.sees_all else AuthorizedView(view, access)
        found = operation.handler(
            shown, command if request is command.request else replace(command, request=request), engine
        )
        decision = finish_work(found) if isinstance(found, Generator) else found
    except UnansweredError as open_:
        return OpenQuestions(open_.questions)
    except Refusal as refusal:
        return refusal
    return record_outcome(view, command, decision) if operation.writes else decision


def decide_with_pauses(
    view: View, command: Command[Any], engine: SchemaEngine
) -> PausingWork[Decision[Any] | Refusal | OpenQuestions]:
    """Decide a query of an operation that `pauses` (see `Operation`) like `decide`, with a pause every few rows."""
    try:
        request, access = resolve_alias(view, command), command.access
        shown = view if access is None or access.sees_all else AuthorizedView(view, access)
        work = OPERATIONS[type(request)].handler(shown, replace(command, request=request), engine)
        assert isinstance(work, Generator)
        decision: Decision[Any] = yield from work
    except UnansweredError as open_:
        return OpenQuestions(open_.questions)
    except Refusal as refusal:
        return refusal
    return decision
