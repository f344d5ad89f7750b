"""Who may do what: what each request needs, and what somebody sees who may not see everything."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No, tag_of
from tests.simulation.judging.model.resources import matches, may, may_bind, may_path, may_source, may_whole
from treaty.core.messages import api_keys as k
from treaty.core.messages import associations as t
from treaty.core.messages import differences as d
from treaty.core.messages import groups as g
from treaty.core.messages import schemaver as s
from treaty.core.messages import transfers as x
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import DeleteContext, MakeContext
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.plans import RequestPlan
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Derive, Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, Lookup
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Forbidden
from treaty.core.schema import Draft

EVERY = (
    "read",
    "bump",
    "create",
    "register",
    "delete",
    "config",
    "mode",
    "query",
    "insert",
    "pause",
    "plan",
    "import",
    "admin",
)


class Need(NamedTuple):
    """One of these permissions: on a subject of a context, on the whole of a context (`name` None), or (`context` None)
    on any subject at all; with `anywhere` on the subject of this name in any context. With `topic` on that kind of a topic in a
    namespace, and on no subject.
    """

    permissions: tuple[str, ...]
    context: str | None = None
    name: str | None = None
    anywhere: bool = False
    topic: tuple[str, str, str] | None = None
    """Name, namespace and kind."""
    publishing: bool = False
    """Whether a version is added to the subject: `bump` is needed where it exists, `create` where it does not."""
    vendor: str | None = None
    """All subjects of a vendor, by rules that name it."""
    source: str | None = None
    """A source or type, by its key; ``*``: any at all."""
    path: str | None = None
    """The folder of a source."""
    anything: bool = False
    """Any subject or any source."""


def may_vendor(access: Any, permission: str, vendor: str) -> bool:
    """Whether rules allow this on all that a vendor has, private or not, and on what the vendors below it have."""
    return all(
        any(
            permission in rule.may and matches(pattern, wanted)
            for rule in access.rules
            for pattern in rule.subjects
            if rule.private or pattern[:1] not in ("", "*", "?")
        )
        for wanted in (f"{vendor}/*", f"{vendor}.*/*")
    )


def _met(access: Any, need: Need) -> bool:
    if need.vendor is not None:
        return any(may_vendor(access, permission, need.vendor) for permission in need.permissions)
    if need.topic is not None:
        return any(may_bind(access, need.topic, permission) for permission in need.permissions)
    if need.path is not None:
        return any(may_path(access, permission, need.path) for permission in need.permissions)
    if need.anything:
        return any(_met(access, Need(need.permissions, source=source)) for source in (None, "*"))
    if need.source is not None:
        return any(may_source(access, permission, need.source) for permission in need.permissions)
    for permission in need.permissions:
        if need.context is None:
            met = any(permission in rule.may and rule.subjects for rule in access.rules)
        elif need.anywhere and need.context == ".":
            name = need.name or ""
            met = any(
                permission in rule.may and any(matches(pattern, name) for pattern in rule.subjects)
                for rule in access.rules
            )
        elif need.name is None:
            met = may_whole(access, permission, need.context)
        else:
            met = may(access, permission, need.context, need.name)
        if met:
            return True
    return False


def is_allowed(access: Any, needs: list[Need]) -> bool:
    """Whether all that a request needs is met."""
    return all(_met(access, need) for need in needs)


def refuse_unless_allowed(asking: Asking, request: Request[Any], needs: list[Need]) -> None:
    """All that a request needs has to be met."""
    if asking.access is not None and not is_allowed(asking.access, needs):
        raise No(Forbidden, "RIGHTS", new=tag_of(type(request)))


def refuse_unless_publisher(past: Past, asking: Asking, request: Request[Any], needs: list[Need]) -> None:
    """Who adds a version to a subject may bump it; who makes one with its first version may create it."""
    if asking.access is None:
        return
    for need in needs:
        if need.publishing:
            there = Subject(need.context or "", need.name or "") in past.subjects
            refuse_unless_allowed(asking, request, [need._replace(permissions=("bump" if there else "create",))])


# ---------------------------------------------------------------------------------------------------------- needs


def _references(subject: Subject, draft: Draft, *, anywhere: bool = False) -> list[Need]:
    """To refer to a subject takes the right to read it."""
    targets = [subject_of(one.subject, subject.context) for one in draft.references if one.subject]
    return [Need(("read",), one.context, one.name, anywhere) for one in targets]


def of_register(request: Register) -> list[Need]:
    """Who skips the policy, or chooses one, must be allowed to change it; who gives an id takes it from the whole context."""
    made = request.create_with
    changing = request.force is not None or made.policy not in (None, g.ORIGIN_POLICIES.get(made.origin))
    config = [Need(("config",), *request.subject)] if changing else []
    imported = request.schema_id >= 0 or request.time >= 0
    mode = [Need(("mode",), request.subject.context)] if imported else []
    publishing = Need(("bump", "create"), *request.subject, publishing=True)
    return [publishing, *config, *mode, *_references(request.subject, request.draft)]


def of_published(request: s.Publish) -> list[Need]:
    publishing = Need(("bump", "create"), *request.subject, publishing=True)
    return [publishing, *_references(request.subject, request.draft)]


def of_import(request: x.ImportSubject | x.ImportVersion | x.ImportEncoding) -> list[Need]:
    """Who gives numbers takes them from the whole context; a mark that a policy was passed over is for who may change it."""
    needed = [Need(("register",), *request.subject)]
    if isinstance(request, x.ImportVersion):
        needed += _references(request.subject, request.draft)
        needed += [Need(("config",), *request.subject)] if request.forced is not None else []
    return [*needed, Need(("mode",), request.subject.context)]


def of_create_subject(request: g.CreateSubject) -> list[Need]:
    """Who chooses a policy must be allowed to change it; one that follows from the origin is nobody's choice."""
    made = request.settings
    usual = made.policy in (None, g.ORIGIN_POLICIES.get(made.origin)) and request.label_policy == "warn"
    config = [] if usual else [Need(("config",), *request.subject)]
    return [Need(("register",), *request.subject), *config]


def of_change_subject(request: g.ChangeSubject) -> list[Need]:
    """A policy needs the right to change it, properties the right to register; so does a change of nothing."""
    asked = (request.level, request.follows, request.validators, request.previous, request.label_policy)
    of_policy = any(one is not None for one in asked)
    needed = [Need(("config",), *request.subject)] if of_policy else []
    if request.properties is not None or not of_policy:
        needed.append(Need(("register",), *request.subject))
    return needed


def of_find_same_schema(request: g.FindSameSchema) -> list[Need]:
    return [Need(("read",)), *_references(Subject(request.context, ""), request.draft)]


def of_drafted(request: Lookup | Check | g.FindSameVersion | g.CheckReading) -> list[Need]:
    anywhere = isinstance(request, Lookup)
    references = _references(request.subject, request.draft, anywhere=anywhere)
    return [Need(("read",), request.subject.context, request.subject.name, anywhere), *references]


def of_compare(request: d.CompareVersions) -> list[Need]:
    needed = [Need(("read",))]
    if request.subject is not None:
        needed.append(Need(("read",), *request.subject))
    for side in (request.new, request.old):
        if side is not None and side.draft is not None:
            needed += _references(request.subject or side.subject or Subject(".", ""), side.draft)
        elif side is not None and side.subject is not None:
            needed.append(Need(("read",), side.subject.context, side.subject.name, True))
    return needed


def of_make_context(request: MakeContext) -> list[Need]:
    """Ids that are given to nobody are taken from the whole context."""
    reserving = [Need(("mode",), request.context)] if request.highest_id > 0 else []
    return [Need(("register",), request.context), *reserving]


def of_scope(permission: str) -> Callable[[Any], list[Need]]:
    """A setting above subjects needs the right to all that is below it."""

    def needed(request: Any) -> list[Need]:
        scope = request.scope
        return [Need((permission,), scope.context, None if scope.context == "*" else scope.name)]

    return needed


def of_set_config(request: SetConfig) -> list[Need]:
    """Who lets a name stand for a subject must be allowed to change the config of both."""
    needed = of_scope("config")(request)
    if request.change.alias:
        needed.append(Need(("config",), *subject_of(request.change.alias, request.scope.context)))
    return needed


def of_shown_scope(permission: str) -> Callable[[Any], list[Need]]:
    def needed(request: Any) -> list[Need]:
        scope = request.scope
        if scope.name is None or scope.context == "*":
            return [Need(("read", permission))]
        return [Need(("read", permission), scope.context, scope.name)]

    return needed


def of_set_mode(request: SetMode) -> list[Need]:
    purging = (request.mode or "").upper() == "IMPORT" and not request.force
    return [*of_scope("mode")(request), *(of_scope("delete")(request) if purging else [])]


def on_subject(permission: str, *, anywhere: bool = False) -> Callable[[Any], list[Need]]:
    return lambda request: [Need((permission,), request.subject.context, request.subject.name, anywhere)]


def of_delete(request: DeleteVersion | DeleteSubject) -> list[Need]:
    """To take encodings along is to pass over a rule."""
    forced = [Need(("config",), *request.subject)] if request.force else []
    return [Need(("delete",), *request.subject), *forced]


def everywhere(permission: str) -> Callable[[Any], list[Need]]:
    return lambda _: [Need((permission,), "*")]


def of_vendor(request: k.AddApiKeys) -> list[Need]:
    return [Need(("admin",), vendor=request.vendor)]


def somewhere(*permissions: str) -> Callable[[Any], list[Need]]:
    return lambda _: [Need(permissions)]


def of_associate(request: t.Associate) -> list[Need]:
    needed = []
    for wish in request.wishes:
        subject = wish.subject or Subject(f".{request.resource.namespace}", f"{request.resource.name}-{wish.kind}")
        needed.append(Need(("register",), *subject))
        needed.append(Need(("register",), topic=(request.resource.name, request.resource.namespace, wish.kind)))
        if wish.given is not None:
            needed.append(Need(("mode",), subject.context))
        if wish.schema is not None:
            needed += of_register(replace(wish.schema, subject=subject))
    return needed or [Need(("register",))]


def of_list_associations(request: t.ListAssociations) -> list[Need]:
    return [Need(("read",), *request.of.subject) if isinstance(request.of, t.OfSubject) else Need(("read",))]


def of_derive(request: Derive) -> list[Need]:
    return [Need(("bump",), *request.subject), Need(("read",), *request.subject)]


def of_delete_context(request: DeleteContext) -> list[Need]:
    return [Need(("admin",), request.context)]


def of_get_outcome(request: GetOutcome) -> list[Need]:
    return [Need(EVERY, anything=True) if request.principal is None else Need(("admin",), "*")]


# --------------------------------------------------------------------------------------------------- the metastore


def _key(name: str) -> str:
    return "".join(chr(ord(char) + 32) if "A" <= char <= "Z" else char for char in name)


def on_source(permission: str) -> Callable[[Any], list[Need]]:
    return lambda request: [Need((permission,), source=_key(request.name))]


def some_source(permission: str) -> Callable[[Any], list[Need]]:
    return lambda _: [Need((permission,), source="*")]


def of_request_plan(request: RequestPlan) -> list[Need]:
    """Its name, and the values of its topic; the rest is asked when the source is made."""
    topic = [Need(("register",), topic=(request.place, "", "value"))] if request.place else []
    return [Need(("register",), source=_key(request.name)), *topic]


def _pinned(*pins: Any) -> list[Need]:
    """Who binds something to a version must be allowed to read it."""
    return [Need(("read",), pin.context, pin.subject) for pin in pins if pin is not None]


def of_create_source(request: m.CreateSource) -> list[Need]:
    """Its name, its topic, its schemas, what it is bound to, and what its query reads."""
    made, needed = request.definition, [Need(("register",), source=_key(request.definition.name))]
    if made.bad_rows:
        needed.append(Need(("register",), source=_key(made.name) + "_bad"))
    if made.connector == "kafka" and made.place:
        kinds = ["value"] if made.key is None else ["key", "value"]
        needed += [Need(("register",), topic=(made.place, "", kind)) for kind in kinds]
    elif made.place:
        needed.append(Need(("register",), path=made.place))
    for schema in (request.key_schema, request.value_schema):
        needed += [] if schema is None else of_register(schema)
    needed += _pinned(*(part.pin for part in (made.key, made.value) if part is not None))
    for read in () if made.query is None else made.query.reads:
        needed += [*_pinned(read.key, read.value), Need(("query",), source=_key(read.source))]
    return needed


def of_change_source(request: m.ChangeSource) -> list[Need]:
    named = [request.name, *filter(None, (request.rename, request.swap))]
    needed = [Need(("register",), source=_key(name)) for name in named]
    for schema in (request.key_schema, request.value_schema):
        needed += [] if schema is None else of_register(schema)
    return [*needed, *_pinned(*(part.pin for part in (request.key, request.value) if part is not None))]


def of_list_dependents(request: m.ListDependents) -> list[Need]:
    return (some_source("read") if request.kind == "TYPE" else on_source("read"))(request)
