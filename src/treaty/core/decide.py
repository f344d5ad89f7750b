"""`decide`: the pure function that decides every request: it follows the alias, checks rights and calls the handler of its operation.

Its inputs are a request and a view of the state. Its result is the rows of a commit with the answer, a refusal, or
questions that a format must answer first. Dialects only translate, nodes append, tables store.

    view, command, engine  ->  Decision(rows, answer) | Refusal | Needs(questions)
"""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from treaty.core.access.authorized_view import readable_view
from treaty.core.access.permissions import PUBLISHED, refuse_unless_met
from treaty.core.access.private_subjects import (
    PublicView,
    keep_hidden_aliases,
    may_read,
    refuse_private_changes,
    touches_private,
    writable_view,
)
from treaty.core.access.published_subjects import choose_bump_or_create
from treaty.core.access.rights import PERMISSIONS, Access
from treaty.core.command import Command, Decision, OpenQuestions, PausingWork, UnansweredError, finish_work
from treaty.core.handlers.settings import own_alias
from treaty.core.handlers.uses import schema_pinned
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Scope
from treaty.core.names import EVERYWHERE, Subject, subject_of
from treaty.core.operations import OPERATIONS, refuse_unless_allowed
from treaty.core.outcomes import recall_answer, record_outcome
from treaty.core.refusals import Forbidden, Referenced, Refusal, SchemaPinned
from treaty.core.schema import refuse_large_draft
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.metastore.keys import key_of_name
from treaty.core.state.state_tables import OUTCOME
from treaty.core.state.view import View


def decide(view: View, command: Command[Any], engine: SchemaEngine) -> Decision[Any] | Refusal | OpenQuestions:
    """Decide a request on a view. Pure: the same arguments have the same result. Raises `LargeTextError` in the event
    loop.

    A command that was decided before is answered from its outcome and writes nothing. The rows of a decision are valid
    only for that view; the log rejects an append to any other state.
    """
    operation, access = OPERATIONS[type(command.request)], command.access
    refuse_large_draft(command.request)
    try:
        visible = writable_view(view, access) if operation.writes else readable_view(view, access)
        outcome = view.get(OUTCOME, command.outcome_key) if operation.writes else None
        if outcome is not None:
            return Decision((), recall_answer(visible, command, outcome), repeated=True)
        request, subject = _resolve_alias(visible, command)
        _refuse_unless_permitted(visible, command, request)
        result = operation.handler(
            visible, command if request is command.request else replace(command, request=request), engine
        )
        decision = result if isinstance(result, Decision) else finish_work(result)
        if access is not None and operation.writes:
            decision = _check_rows(visible, command, decision, operation.name)
    except UnansweredError as open_:
        return OpenQuestions(open_.questions)
    except Refusal as refusal:
        return _without_hidden_users(refusal, view, access)
    if not operation.writes:
        return decision
    private = touches_private(view, subject, decision.rows)
    if decision.rehearsal:
        decision = replace(decision, rows=())
    return record_outcome(view, command, decision, private=private)


def decide_with_pauses(
    view: View, command: Command[Any], engine: SchemaEngine
) -> PausingWork[Decision[Any] | Refusal | OpenQuestions]:
    """Decide a query of an operation that `pauses` (see `Operation`) like `decide`, with a pause every few rows."""
    try:
        visible = readable_view(view, command.access)
        request, _ = _resolve_alias(visible, command)
        _refuse_unless_permitted(visible, command, request)
        work = OPERATIONS[type(request)].handler(visible, replace(command, request=request), engine)
        assert isinstance(work, Generator)
        decision: Decision[Any] = yield from work
    except UnansweredError as open_:
        return OpenQuestions(open_.questions)
    except Refusal as refusal:
        return refusal
    return decision


# ------------------------------------------------------------------------------------------- rights that follow from rows


def _check_rows(view: View, command: Command[Any], decision: Decision[Any], name: str) -> Decision[Any]:
    """Return a decision with what its rows keep of hidden aliases; raise `Forbidden` for rows that the caller may not write."""
    refuse_private_changes(view, decision.rows, command.access, command.principal, name)
    if not isinstance(view, PublicView):
        return decision
    return replace(decision, rows=tuple(keep_hidden_aliases(view, decision.rows)))


def _refuse_unless_permitted(view: View, command: Command[Any], request: Request[Any]) -> None:
    """Raise `Forbidden` where the caller of a command lacks a permission that `request` needs, which has no alias any more.

    A caller who may add versions to a subject in one of two ways is asked for the one that its existence requires: `bump` or
    `create`. That comes second, so that who has no right to a subject does not hear whether it exists.
    """
    access, operation = command.access, OPERATIONS[type(request)]
    if access is None:
        return
    refuse_unless_allowed(access, command.principal, request)
    published = [each for each in operation.permissions(request) if each.kind is PUBLISHED]
    refuse_unless_met(access, command.principal, choose_bump_or_create(view, published), operation.name)


def _without_hidden_users(refusal: Refusal, view: View, access: Access | None) -> Refusal:
    """Return a refusal that does not name a schema that the caller may not read (``subject version …``)."""
    if access is None or not isinstance(refusal, Referenced):
        return refusal
    if isinstance(refusal, SchemaPinned):
        reason = refusal.reason
        names = [name for name in reason.details if access.may_source("read", key_of_name(name))]
        return schema_pinned(subject_of(reason.subject), int(reason.version), names, len(reason.details) - len(names))
    user = subject_of(refusal.reason.old.rpartition(" version ")[0])
    return refusal if may_read(view, access, user) else Referenced(replace(refusal.reason, old=""))


# ----------------------------------------------------------------------------------------------------------- aliases


def _resolve_alias(view: View, command: Command[Any]) -> tuple[Request[Any], Subject | None]:
    """Return a request with the target of an alias in place of the alias, and its subject, if it has one that may be an alias;
    targets are not followed further. `view` is the one of the caller, in which the alias of a hidden subject is none.

    Raises `Forbidden` if the caller (`command.access`) has no permission at all on the target, whose name is not shown then.
    An alias gives no permission: `_refuse_unless_permitted` asks for those of the request on the target.
    """
    request, access = command.request, command.access
    named = alias_candidate(request)
    target = None if named is None else _target(view, named)
    if target is not None:
        if access is not None and not any(access.may(permission, target) for permission in PERMISSIONS):
            raise Forbidden.of(
                "RIGHTS",
                f"{command.principal} is not allowed to do this: subject '{named}' stands for one that they have no "
                "right to",
                subject=str(named),
                allowed="a rule for the subject that it stands for",
            )
        request = with_subject(request, target)
    return request, target or named


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
