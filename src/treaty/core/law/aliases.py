"""Aliases: a subject that stands for another one, wherever a request names it."""

from dataclasses import replace
from typing import Any, cast

from treaty.core import requests as q
from treaty.core.associating import ListAssociations, OfSubject
from treaty.core.command import Command
from treaty.core.law.settings import own_alias
from treaty.core.names import EVERYWHERE, Subject
from treaty.core.needs import refuse_unless_allowed
from treaty.core.refusals import Forbidden
from treaty.core.requests import Request
from treaty.core.rights import PERMISSIONS
from treaty.core.view import View

FOLLOWING = frozenset(
    {q.Register, q.Derive, q.DeleteVersion, q.DeleteSubject, q.Lookup, q.Check, q.GetSchema, q.GetVersion, q.FindVersion,
     q.ListVersions, q.UsesOf, q.ReferencedBy}
)  # fmt: skip
"""Requests about a subject. Config and mode are not among them: what is set at an alias is set at the alias itself."""


def meant(view: View, command: Command[Any]) -> Request[Any]:
    """Return a request with the subject that an alias leads to in place of the one that it names: one hop.

    Raises `Forbidden` where whoever asks (`command.access`) may not do it there: an alias gives nobody a right, and who
    has none at all to what it leads to does not hear its name.
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
        request = renamed(request, target)
    if access is not None:
        refuse_unless_allowed(access, command.principal, request)
    return request


def alias_candidate(request: Request[Any]) -> Subject | None:
    """Return the subject of a request that may be an alias; None for a request without one."""
    if type(request) in FOLLOWING:
        if isinstance(request, q.GetVersion | q.Register | q.DeleteVersion) and request.exact:
            return None
        named: Subject | None = request.subject  # type: ignore[union-attr]  # all of them have one
        return named
    if isinstance(request, ListAssociations) and isinstance(request.of, OfSubject):
        return request.of.subject
    return None


def renamed(request: Request[Any], target: Subject) -> Request[Any]:
    """Return a request (one that `alias_candidate` finds a subject in) about another subject."""
    if isinstance(request, ListAssociations):
        return replace(request, of=OfSubject(target))
    renamed_: Request[Any] = replace(cast("q.Register", request), subject=target)  # whatever it is, it has a subject
    return renamed_


def _target(view: View, named: Subject) -> Subject | None:
    """What a subject's own config says that it stands for; an unqualified name is of the subject's context."""
    if not named.name or named.context == EVERYWHERE:
        return None
    alias = own_alias(view, q.Scope(*named))
    return named.sibling(alias) if alias else None
