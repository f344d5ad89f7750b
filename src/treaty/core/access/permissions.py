"""The permissions that a request needs: each on a resource of a kind and name. They do not depend on the state."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from treaty.core import requests as q
from treaty.core.access.rights import PATH_PREFIX, PERMISSIONS, Access, Permission, TopicPart
from treaty.core.answers import Config, Resource
from treaty.core.messages import associations as t
from treaty.core.messages import differences as d
from treaty.core.messages import groups as g
from treaty.core.messages import schemaver as s
from treaty.core.messages import transfers as x
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject
from treaty.core.refusals import Forbidden
from treaty.core.schema import Draft

N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class ResourceKind(Generic[N]):
    """A kind of resource of permissions."""

    is_allowed: Callable[[Access, Permission, N], bool]
    describe: Callable[[N], str]
    """The resource in a sentence."""
    subject_of: Callable[[N], str]
    """The subject of a refusal."""
    describe_rule: Callable[[N], str] = lambda _name: ""
    """What a rule has to contain beside the permission, if it is not obvious from the resource."""


def _is_allowed_in_any_context(access: Access, permission: Permission, subject: Subject) -> bool:
    if subject.context == DEFAULT_CONTEXT:
        return access.may_somewhere(permission, subject.name)
    return access.may(permission, subject)


ANYTHING: ResourceKind[None] = ResourceKind(
    lambda access, permission, _name: access.may_somewhere(permission), lambda _name: "any subject", lambda _name: ""
)
"""Any subject: the permission on some subject is enough, and the answer is filtered."""
ANYTHING_AT_ALL: ResourceKind[None] = ResourceKind(
    lambda access, permission, _name: access.may_somewhere(permission) or access.may_some_source(permission),
    lambda _name: "any subject or source",
    lambda _name: "",
)
"""Any subject or source."""
SUBJECT: ResourceKind[Subject] = ResourceKind(Access.may, lambda subject: f"subject '{subject}'", str)
SUBJECT_IN_ANY_CONTEXT: ResourceKind[Subject] = ResourceKind(_is_allowed_in_any_context, SUBJECT.describe, str)
"""A subject whose unqualified name is also looked up in other contexts: the permission in one of them is enough."""
PUBLISHED: ResourceKind[Subject] = ResourceKind(Access.may, SUBJECT.describe, str)
"""A subject that a version is added to: `bump` is enough where it exists, else `create`. `decide` knows which."""
VENDOR: ResourceKind[str] = ResourceKind(
    Access.may_vendor, lambda vendor: f"all schemas of vendor '{vendor}'", lambda _vendor: ""
)
"""All schemas of a vendor, and of the vendors below it."""
CONTEXT: ResourceKind[str] = ResourceKind(
    Access.may_whole,
    lambda context: "all contexts" if context == EVERYWHERE else f"all of context '{context}'",
    lambda context: str(Subject(context, "")),
)
"""All subjects of a context; of all contexts where it is ``*``."""
EVERYTHING: ResourceKind[Subject] = ResourceKind(
    lambda access, permission, _subject: access.may_whole(permission, EVERYWHERE),
    lambda _: CONTEXT.describe(EVERYWHERE),
    str,
)
"""All subjects of all contexts, for requests without a subject."""


TOPIC: ResourceKind[TopicPart] = ResourceKind(
    Access.may_associate,
    lambda topic: f"the {topic.kind} of topic '{topic.name}'",
    lambda _topic: "",
    lambda topic: f" and topics = ['{topic.name}'], or that covers the subject '{topic.name}-{topic.kind}'",
)
"""The keys or values of a topic, which an association binds to a subject."""


PATH: ResourceKind[str] = ResourceKind(
    Access.may_path,
    lambda path: f"the folder '{path}'",
    lambda _path: "",
    lambda path: f" and topics = ['{PATH_PREFIX}{path}'], or that covers the subject '{path}-value'",
)
"""The folder of a source over files or a lake table, by its canonical path."""
SOURCE: ResourceKind[str] = ResourceKind(
    Access.may_source,
    lambda source: f"source '{source}'",
    lambda _source: "",
    lambda source: f" and sources = ['{source}'], or that covers the subject '{source}'",
)
"""A source or named type of the metastore, by its key."""
ANY_SOURCE: ResourceKind[None] = ResourceKind(
    lambda access, permission, _name: access.may_some_source(permission), lambda _name: "any source", lambda _name: ""
)
"""Any source: the permission on some source is enough, and the answer is filtered."""

EVERY_SOURCE: ResourceKind[None] = ResourceKind(
    lambda access, permission, _name: access.may_every_source(permission),
    lambda _name: "all sources",
    lambda _name: "",
    lambda _name: " and sources = ['*']",
)
"""All sources and named types of the metastore, by one rule."""


@dataclass(frozen=True, slots=True)
class RequiredPermission(Generic[N]):
    """One of these permissions on a resource; `path` is the member of the request that needs it."""

    permissions: tuple[Permission, ...]
    kind: ResourceKind[N]
    name: N
    path: str = ""

    def is_met(self, access: Access) -> bool:
        """Return whether the access includes one of the permissions."""
        return any(self.kind.is_allowed(access, permission, self.name) for permission in self.permissions)


Required = tuple[RequiredPermission[Any], ...]
"""Returns what a request needs; all of it is required."""


def refuse_unless_met(access: Access, principal: str, required: Sequence[RequiredPermission[Any]], name: str) -> None:
    """Raise `Forbidden` for the first missing permission of the operation."""
    for requirement in required:
        if not requirement.is_met(access):
            alternatives = " or ".join(requirement.permissions)
            raise Forbidden.of(
                "RIGHTS",
                f"{principal} is not allowed to do this: it needs the permission {alternatives} on "
                f"{requirement.kind.describe(requirement.name)}",
                path=requirement.path,
                subject=requirement.kind.subject_of(requirement.name),
                new=name,
                allowed=f"a rule that gives {alternatives}{requirement.kind.describe_rule(requirement.name)}",
            )


def on_anything(*permissions: Permission) -> RequiredPermission[None]:
    """Return the need of one of these permissions on any subject."""
    return RequiredPermission(permissions, ANYTHING, None)


def on_subject(permission: Permission, subject: Subject, path: str = "") -> RequiredPermission[Subject]:
    """This permission on a subject."""
    return RequiredPermission((permission,), SUBJECT, subject, path)


def on_context(permission: Permission, context: str, path: str = "") -> RequiredPermission[str]:
    """This permission on all of a context."""
    return RequiredPermission((permission,), CONTEXT, context, path)


def on_topic(permission: Permission, resource: Resource, kind: str, path: str = "") -> RequiredPermission[TopicPart]:
    """This permission on the keys or values of a topic."""
    return RequiredPermission((permission,), TOPIC, TopicPart(resource.name, resource.namespace, kind), path)


# ------------------------------------------------------------------------------------- what several requests need


def anywhere(*permissions: Permission) -> Callable[[Any], Required]:
    """Require one of these permissions somewhere."""
    required = (on_anything(*permissions),)
    return lambda _request: required


def anything_at_all(permission: Permission) -> Callable[[Any], Required]:
    """Require a permission on some subject or some source."""
    required = (RequiredPermission((permission,), ANYTHING_AT_ALL, None),)
    return lambda _request: required


def everywhere(permission: Permission) -> Callable[[Any], Required]:
    """Require a permission on all contexts."""
    required = (on_context(permission, EVERYWHERE),)
    return lambda _request: required


def of_subject(*permissions: Permission) -> Callable[[Any], Required]:
    """Require all of these permissions on the request's subject."""
    return lambda request: tuple(on_subject(one, request.subject) for one in permissions)


def of_subject_in_any_context(permission: Permission) -> Callable[[Any], Required]:
    """Require a permission on the request's subject, or on one of its name in another context."""
    return lambda request: (RequiredPermission((permission,), SUBJECT_IN_ANY_CONTEXT, request.subject),)


def of_context(permission: Permission) -> Callable[[Any], Required]:
    """Require a permission on all of the request's context."""
    return lambda request: (on_context(permission, request.context),)


def of_vendor(permission: Permission) -> Callable[[Any], Required]:
    """Require a permission on all schemas of the request's vendor."""
    return lambda request: (RequiredPermission((permission,), VENDOR, request.vendor, "/vendor"),)


def of_scope(permission: Permission) -> Callable[[Any], Required]:
    """Require a permission on the scope of a setting: a subject, all of a context, or everything."""

    def required(request: Any) -> Required:
        scope: q.Scope = request.scope
        if scope.name is None:
            return (on_context(permission, scope.context),)
        kind = EVERYTHING if scope.context == EVERYWHERE else SUBJECT
        return (RequiredPermission((permission,), kind, Subject(scope.context, scope.name)),)

    return required


def of_shown_scope(*permissions: Permission) -> Callable[[Any], Required]:
    """Require one of these permissions on a setting's subject; above subjects, on any subject in the scope."""

    def required(request: Any) -> Required:
        scope: q.Scope = request.scope
        if scope.name is None or scope.context == EVERYWHERE:
            return (on_anything(*permissions),)
        return (RequiredPermission(permissions, SUBJECT, Subject(scope.context, scope.name)),)

    return required


# --------------------------------------------------------------------------------------------- what one request needs


def _references(subject: Subject, draft: Draft, kind: ResourceKind[Subject] = SUBJECT) -> Required:
    return tuple(
        RequiredPermission(("read",), kind, subject.sibling(one.subject), f"/references/{place}")
        for place, one in enumerate(draft.references)
        if one.subject
    )


def _chooses_policy(origin: str, policy: Config | None) -> bool:
    """Return whether a policy of a new subject is another one than that which follows from its origin."""
    return policy is not None and policy != g.ORIGIN_POLICIES.get(origin)


def of_published(subject: Subject, path: str = "") -> RequiredPermission[Subject]:
    """Return the need to add a version to a subject, or to make the subject with it."""
    return RequiredPermission(("bump", "create"), PUBLISHED, subject, path)


def of_register(request: q.Register) -> Required:
    """Require the permission to change the config for a registration that skips the policy or chooses one, and the
    permission to set the mode of the context for one with an id or a time.
    """
    chosen = _chooses_policy(request.create_with.origin, request.create_with.policy)
    paths = ("force",) * (request.force is not None) + ("/treaty/createWith/policy",) * chosen
    config = tuple(on_subject("config", request.subject, path) for path in paths)
    import_paths = ("/id",) * (request.schema_id >= 0) + ("/treaty/time",) * (request.time >= 0)
    importing = tuple(on_context("mode", request.subject.context, path) for path in import_paths)
    return (of_published(request.subject), *config, *importing, *_references(request.subject, request.draft))


def of_import(request: x.ImportSubject | x.ImportVersion | x.ImportEncoding) -> Required:
    """Require the permission to set the mode of the context, whose numbers the caller gives; for a version that skipped its
    policy also the one to change the config.
    """
    forced = isinstance(request, x.ImportVersion) and request.forced is not None
    config = (on_subject("config", request.subject, "/forced"),) if forced else ()
    references = _references(request.subject, request.draft) if isinstance(request, x.ImportVersion) else ()
    importing = on_context("mode", request.subject.context, "/mode")
    return (on_subject("register", request.subject), *config, importing, *references)


def of_delete(request: q.DeleteVersion | q.DeleteSubject) -> Required:
    """What skips a rule needs the right to change the config."""
    forcing = (on_subject("config", request.subject, "force"),) if request.force else ()
    return (on_subject("delete", request.subject), *forcing)


def of_create_subject(request: g.CreateSubject) -> Required:
    """Require the permission to change the config for a subject whose policy, or policy of labels, is chosen."""
    chosen = _chooses_policy(request.settings.origin, request.settings.policy)
    paths = ("/settings/policy",) * chosen + ("/label_policy",) * (request.label_policy != "warn")
    config = tuple(on_subject("config", request.subject, path) for path in paths)
    return (on_subject("register", request.subject), *config)


def of_change_subject(request: g.ChangeSubject) -> Required:
    """Require the permission to change the config for the policy, and to register for the properties."""
    members = ("level", "follows", "validators", "previous", "label_policy")
    path = next((f"/{name}" for name in members if getattr(request, name) is not None), None)
    config = () if path is None else (on_subject("config", request.subject, path),)
    registers = request.properties is not None or path is None
    return (*config, *((on_subject("register", request.subject, "/properties"),) if registers else ()))


def of_lookup(request: q.Lookup) -> Required:
    """Require reading the subject and the references of the draft, in any context."""
    kind = SUBJECT_IN_ANY_CONTEXT
    references = _references(request.subject, request.draft, kind)
    return (RequiredPermission(("read",), kind, request.subject), *references)


def of_check(request: q.Check | g.FindSameVersion | g.CheckReading) -> Required:
    """Require reading the subject and the references of the draft."""
    return (on_subject("read", request.subject), *_references(request.subject, request.draft))


def of_compare(request: d.CompareVersions) -> Required:
    """Require reading what both sides name: subjects, references of drafts, or something for a guid; and the subject that
    the change is tried on.
    """
    needed: list[RequiredPermission[Any]] = []
    if request.subject is not None:
        needed.append(on_subject("read", request.subject, "/subject"))
    for path, side in (("/new", request.new), ("/old", request.old)):
        if side is None:
            continue
        if side.draft is not None:
            home = request.subject or side.subject or Subject(DEFAULT_CONTEXT, "")
            needed += _references(home, side.draft)
        elif side.subject is not None:
            needed.append(RequiredPermission(("read",), SUBJECT_IN_ANY_CONTEXT, side.subject, f"{path}/subject"))
    return (on_anything("read"), *needed)


def of_find_same_schema(request: g.FindSameSchema) -> Required:
    """Require reading something, and the references of the draft."""
    return (on_anything("read"), *_references(Subject(request.context, ""), request.draft))


def of_make_context(request: q.MakeContext) -> Required:
    """Require the permission on the whole context, whose ids are reserved."""
    importing = (on_context("mode", request.context, "/highestId"),) if request.highest_id > 0 else ()
    return (on_context("register", request.context), *importing)


def of_set_config(request: q.SetConfig) -> Required:
    """Require changing the config at the target of an alias too, because an alias redirects requests of others."""
    alias = request.change.alias
    on_scope = of_scope("config")(request)
    if not alias:
        return on_scope
    target = Subject(request.scope.context, request.scope.name or "").sibling(alias)
    return (*on_scope, on_subject("config", target, "/alias"))


def of_set_mode(request: q.SetMode) -> Required:
    """Entering IMPORT purges what is softly deleted."""
    purging = request.mode == "IMPORT" and not request.force
    return of_scope("mode")(request) + (of_scope("delete")(request) if purging else ())


def of_associate(request: t.Associate) -> Required:
    """Require a permission on the topic too, because its clients use the schemas of the subject."""
    required: list[RequiredPermission[Any]] = []
    for wish in request.wishes:
        subject = t.subject_for(request.resource, wish)
        required.append(on_subject("register", subject))
        required.append(on_topic("register", request.resource, wish.kind, "/resourceName"))
        if wish.given is not None:
            required.append(on_context("mode", subject.context, "/treaty/guid"))
        if wish.schema is not None:
            required.extend(of_register(replace(wish.schema, subject=subject)))
    return tuple(dict.fromkeys(required)) or (on_anything("register"),)


def of_list_associations(request: t.ListAssociations) -> Required:
    """Require reading the subject; associations of a resource are filtered instead."""
    return (on_subject("read", request.of.subject),) if isinstance(request.of, t.OfSubject) else (on_anything("read"),)


def of_get_outcome(request: q.GetOutcome) -> Required:
    """Require nothing for the caller's own commands, and admin on everything for those of others."""
    if request.principal is None:
        return (RequiredPermission(PERMISSIONS, ANYTHING_AT_ALL, None),)
    return (on_context("admin", EVERYWHERE, "principal"),)


def of_publish(request: s.Publish) -> Required:
    """Require adding a version, and reading the references of the draft."""
    return (of_published(request.subject), *_references(request.subject, request.draft))
