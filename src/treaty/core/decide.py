"""`decide`: the pure function that decides every request.

Its inputs are a request and a view of the state. Its result is the rows of a commit with the answer, a refusal, or
questions that a format must answer first. Dialects only translate, nodes append, tables store.

    view, command, engine  ->  Decision(rows, answer) | Refusal | Needs(questions)
"""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from treaty.core.access.authorized_view import AuthorizedView
from treaty.core.access.rights import PERMISSIONS
from treaty.core.command import Command, Decision, OpenQuestions, PausingWork, finish_work
from treaty.core.handlers.drafts.schemas import UnansweredError
from treaty.core.handlers.settings import own_alias
from treaty.core.names import EVERYWHERE, Subject
from treaty.core.operations import OPERATIONS, refuse_unless_allowed
from treaty.core.outcomes import recall_answer, record_outcome
from treaty.core.refusals import Forbidden, Refusal
from treaty.core.requests import Request, Scope
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


# ----------------------------------------------------------------------------------------------------------- aliases


def resolve_alias(view: View, command: Command[Any]) -> Request[Any]:
    """Return a request with the target of an alias in place of the alias; targets are not followed further.

    Raises `Forbidden` if the caller (`command.access`) lacks the permission on the target: an alias gives no
    permission, and the target's name is not shown to a caller without any permission on it.
    """
    request, access = command.request, command.access
    named = alias_candidate(request)
    target = None if named is None else _target(view, named)
    if target is not None:
        if access is not None and not any(access.may(one, target) for one in PERMISSIONS):
            raise Forbidden.of(
                "RIGHTS",
                f"{command.principal} is not allowed to do this: subject '{named}' stands for one that they have no "
                "right to",
                subject=str(named),
                allowed="a rule for the subject that it stands for",
            )
        request = with_subject(request, target)
    if access is not None:
        refuse_unless_allowed(access, command.principal, request)
    resolved: Request[Any] = request
    return resolved


def alias_candidate(request: Request[Any]) -> Subject | None:
    """Return the subject of a request, which may be an alias; None for a request without one."""
    member = OPERATIONS[type(request)].alias
    return None if member is None else member.find(request)


def with_subject(request: Request[Any], target: Subject) -> Request[Any]:
    """Return a request, in which `alias_candidate` found a subject, with another subject."""
    member = OPERATIONS[type(request)].alias
    assert member is not None
    changed: Request[Any] = member.replace(request, target)
    return changed


def _target(view: View, named: Subject) -> Subject | None:
    """Return the alias target in a subject's own config; an unqualified name is in the subject's context."""
    if not named.name or named.context == EVERYWHERE:
        return None
    alias = own_alias(view, Scope(*named))
    return named.sibling(alias) if alias else None
