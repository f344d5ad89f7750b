"""Aliases: a subject whose requests go to another subject."""

from typing import Any

from treaty.core.access.rights import PERMISSIONS
from treaty.core.command import Command
from treaty.core.handlers.settings import own_alias
from treaty.core.names import EVERYWHERE, Subject
from treaty.core.operations import OPERATIONS, refuse_unless_allowed
from treaty.core.refusals import Forbidden
from treaty.core.requests import Request, Scope
from treaty.core.state.view import View


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
