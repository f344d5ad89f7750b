"""What each kind of request needs: which permission, on what. One table, and a request that is not in it is refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from treaty.core import associating as t
from treaty.core import requests as q
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject
from treaty.core.refusals import Forbidden
from treaty.core.requests import Request
from treaty.core.rights import PERMISSIONS, Access, Permission
from treaty.core.schema import Draft
from treaty.core.tags import request_tag


@dataclass(frozen=True, slots=True)
class Need:
    """One of these permissions: on a subject, on all of a context (`whole`), or (no subject) somewhere at all.

    `homes`: an unqualified name may be looked for in other contexts too, so a right to it in any of them will do, and
    the law then shows only what may be read.
    """

    permissions: tuple[Permission, ...]
    subject: Subject | None = None
    whole: bool = False
    homes: bool = False
    path: str = ""

    def met(self, access: Access) -> bool:
        """Tell whether somebody has what is needed."""
        return any(self._met(access, permission) for permission in self.permissions)

    def _met(self, access: Access, permission: Permission) -> bool:
        if self.subject is None:
            return access.may_somewhere(permission)
        if self.whole:
            return access.may_whole(permission, self.subject.context)
        if self.homes and self.subject.context == DEFAULT_CONTEXT:
            return access.may_somewhere(permission, self.subject.name)
        return access.may(permission, self.subject)

    @property
    def place(self) -> str:
        """On what the permission is needed, in words."""
        if self.subject is None:
            return "any subject"
        if self.whole:
            return "all contexts" if self.subject.context == EVERYWHERE else f"all of context '{self.subject.context}'"
        return f"subject '{self.subject}'"


def needs(request: Request[Any]) -> tuple[Need, ...]:
    """Return what a request needs; all of it has to be met. Raises `Forbidden` for a request that is not known here."""
    told = NEEDS.get(type(request))
    if told is None:
        kind = request_tag(request)
        raise Forbidden.of("RIGHTS_UNKNOWN", f"no rights are known for {kind}, so nobody has them", new=kind)
    return told(request)


def refuse_unless_allowed(access: Access, principal: str, request: Request[Any]) -> None:
    """Raise `Forbidden` where somebody lacks what a request needs. The state plays no part, so nothing of it leaks."""
    for need in needs(request):
        if not need.met(access):
            wanted = " or ".join(need.permissions)
            raise Forbidden.of(
                "RIGHTS",
                f"{principal} is not allowed to do this: it needs the permission {wanted} on {need.place}",
                path=need.path,
                subject="" if need.subject is None else str(need.subject),
                new=request_tag(request),
                allowed=f"a rule that gives {wanted}",
            )


def _references(subject: Subject, draft: Draft, *, homes: bool = False) -> tuple[Need, ...]:
    return tuple(
        Need(("read",), subject.sibling(one.subject), homes=homes, path=f"/references/{place}")
        for place, one in enumerate(draft.references)
        if one.subject
    )


def _register(request: q.Register) -> tuple[Need, ...]:
    """A registration that skips the policy or chooses one does what needs the right to change the config; one that gives an id
    or a time does what is for who may set the mode of the whole context, whose ids all share.
    """
    chosen = request.create_with.policy is not None
    paths = ("force",) * (request.force is not None) + ("/treaty/createWith/policy",) * chosen
    config = tuple(Need(("config",), request.subject, path=path) for path in paths)
    given = ("/id",) * (request.schema_id >= 0) + ("/treaty/time",) * (request.time >= 0)
    importing = tuple(Need(("mode",), request.subject, whole=True, path=path) for path in given)
    return (Need(("register",), request.subject), *config, *importing, *_references(request.subject, request.draft))


def _drafted(request: q.Lookup | q.Check) -> tuple[Need, ...]:
    homes = isinstance(request, q.Lookup)
    references = _references(request.subject, request.draft, homes=homes)
    return (Need(("read",), request.subject, homes=homes), *references)


def _make_context(request: q.MakeContext) -> tuple[Need, ...]:
    """Ids that are given to nobody are taken from the whole context."""
    whole = Subject(request.context, "")
    importing = (Need(("mode",), whole, whole=True, path="/highestId"),) if request.highest_id > 0 else ()
    return (Need(("register",), whole, whole=True), *importing)


def _scope(*permissions: Permission) -> Callable[[Any], tuple[Need, ...]]:
    """A setting of a subject needs the permission on it, one of a context or of everything on all of that."""

    def told(request: Any) -> tuple[Need, ...]:
        scope: q.Scope = request.scope
        whole = scope.name is None or scope.context == EVERYWHERE
        return (Need(permissions, Subject(scope.context, scope.name or ""), whole=whole),)

    return told


def _set_mode(request: q.SetMode) -> tuple[Need, ...]:
    """Entering IMPORT purges what is softly deleted."""
    asked = _scope("mode")(request)
    purging = (request.mode or "").upper() == "IMPORT" and not request.force
    return (*asked, *_scope("delete")(request)) if purging else asked


def _shown(*permissions: Permission) -> Callable[[Any], tuple[Need, ...]]:
    """A setting above subjects is told to who may read something below it."""

    def told(request: Any) -> tuple[Need, ...]:
        scope: q.Scope = request.scope
        if scope.name is None or scope.context == EVERYWHERE:
            return (Need(permissions),)
        return (Need(permissions, Subject(scope.context, scope.name)),)

    return told


def _on(permission: Permission, *, homes: bool = False) -> Callable[[Any], tuple[Need, ...]]:
    return lambda request: (Need((permission,), request.subject, homes=homes),)


def _somewhere(*permissions: Permission) -> Callable[[Any], tuple[Need, ...]]:
    return lambda _request: (Need(permissions),)


def _associate(request: t.Associate) -> tuple[Need, ...]:
    """Where a topic's schemas stand is decided by who may register them there."""
    found: list[Need] = []
    for wish in request.wishes:
        subject = t.subject_for(request.resource, wish)
        found.append(Need(("register",), subject))
        if wish.given is not None:
            found.append(Need(("mode",), subject, whole=True, path="/treaty/guid"))
        if wish.schema is not None:
            found.extend(_register(replace(wish.schema, subject=subject)))
    return tuple(dict.fromkeys(found)) or (Need(("register",)),)


def _associations(request: t.ListAssociations) -> tuple[Need, ...]:
    return (Need(("read",), request.of.subject if isinstance(request.of, t.OfSubject) else None),)


def _outcome(request: q.GetOutcome) -> tuple[Need, ...]:
    """Everybody may ask what became of their own commands, and administrators of everything what became of all."""
    if request.principal is None:
        return (Need(PERMISSIONS),)
    return (Need(("admin",), Subject(EVERYWHERE, ""), whole=True, path="principal"),)


NEEDS: Mapping[type, Callable[[Any], tuple[Need, ...]]] = {
    q.Register: _register,
    q.Derive: lambda request: (Need(("register",), request.subject), Need(("read",), request.subject)),
    q.DeleteVersion: _on("delete"),
    q.DeleteSubject: _on("delete"),
    q.MakeContext: _make_context,
    q.DeleteContext: lambda request: (Need(("admin",), Subject(request.context, ""), whole=True),),
    q.SetConfig: _scope("config"),
    q.DeleteConfig: _scope("config"),
    q.SetMode: _set_mode,
    q.DeleteMode: _scope("mode"),
    q.GetConfig: _shown("read", "config"),
    q.GetMode: _shown("read", "mode"),
    q.Lookup: _drafted,
    q.Check: _drafted,
    q.GetSchema: _somewhere("read"),
    q.GetGuid: _somewhere("read"),
    q.GetGuidIds: _somewhere("read"),
    q.GetVersion: _on("read", homes=True),
    q.FindVersion: _on("read"),
    q.ListSubjects: _somewhere("read"),
    q.ListVersions: _on("read", homes=True),
    q.ListSchemas: _somewhere("read"),
    q.UsesOf: _somewhere("read"),
    q.ReferencedBy: _on("read"),
    q.ListSettings: _somewhere("read"),
    q.ListContexts: _somewhere("read"),
    t.ListAssociations: _associations,
    t.GetAssociations: _somewhere("read"),
    t.Associate: _associate,
    t.Dissociate: _somewhere("register"),
    t.ChangeAssociations: _somewhere("register"),
    q.GetOutcome: _outcome,
}
"""Every kind of request, and what it needs. Those that need a permission "somewhere" are shown only what may be read."""
