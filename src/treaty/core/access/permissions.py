"""Permissions on resources of a kind and name, and the needs that several requests share. They do not depend on the state."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from treaty.core.access.rights import PATH_PREFIX, Access, Permission, TopicPart
from treaty.core.messages.associations import Resource
from treaty.core.messages.settings import Scope
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject
from treaty.core.refusals import Forbidden
from treaty.light_dataclass import dataclass

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
"""A subject that a version is added to: `bump` is enough where it exists, else `create`; see
`choose_bump_or_create`.
"""
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
    return lambda request: tuple(on_subject(permission, request.subject) for permission in permissions)


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

    def of_request(request: Any) -> Required:
        scope: Scope = request.scope
        if scope.name is None:
            return (on_context(permission, scope.context),)
        kind = EVERYTHING if scope.context == EVERYWHERE else SUBJECT
        return (RequiredPermission((permission,), kind, Subject(scope.context, scope.name)),)

    return of_request


def of_shown_scope(*permissions: Permission) -> Callable[[Any], Required]:
    """Require one of these permissions on a setting's subject; above subjects, on any subject in the scope."""

    def of_request(request: Any) -> Required:
        scope: Scope = request.scope
        if scope.name is None or scope.context == EVERYWHERE:
            return (on_anything(*permissions),)
        return (RequiredPermission(permissions, SUBJECT, Subject(scope.context, scope.name)),)

    return of_request
