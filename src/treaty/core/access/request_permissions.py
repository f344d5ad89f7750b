"""Permissions of requests whose need depends on what they say, such as a registration that skips its policy; a plain need is one of `permissions`.

They do not depend on the state.
"""

from dataclasses import replace
from typing import Any

from treaty.core.access.permissions import (
    ANYTHING_AT_ALL,
    PUBLISHED,
    SUBJECT,
    SUBJECT_IN_ANY_CONTEXT,
    Required,
    RequiredPermission,
    ResourceKind,
    of_scope,
    on_anything,
    on_context,
    on_subject,
    on_topic,
)
from treaty.core.access.rights import PERMISSIONS
from treaty.core.messages import associations as t
from treaty.core.messages import differences as d
from treaty.core.messages import groups as g
from treaty.core.messages import schemaver as s
from treaty.core.messages import transfers as x
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import MakeContext
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, Lookup
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject
from treaty.core.schema import Draft


def _references(subject: Subject, draft: Draft, kind: ResourceKind[Subject] = SUBJECT) -> Required:
    return tuple(
        RequiredPermission(("read",), kind, subject.sibling(reference.subject), f"/references/{place}")
        for place, reference in enumerate(draft.references)
        if reference.subject
    )


def _chooses_policy(origin: str, policy: Config | None) -> bool:
    """Return whether a policy of a new subject is another one than that which follows from its origin."""
    return policy is not None and policy != g.ORIGIN_POLICIES.get(origin)


def of_published(subject: Subject, path: str = "") -> RequiredPermission[Subject]:
    """Return the need to add a version to a subject, or to make the subject with it."""
    return RequiredPermission(("bump", "create"), PUBLISHED, subject, path)


def of_register(request: Register) -> Required:
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


def of_delete(request: DeleteVersion | DeleteSubject) -> Required:
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


def of_lookup(request: Lookup) -> Required:
    """Require reading the subject and the references of the draft, in any context."""
    kind = SUBJECT_IN_ANY_CONTEXT
    references = _references(request.subject, request.draft, kind)
    return (RequiredPermission(("read",), kind, request.subject), *references)


def of_check(request: Check | g.FindSameVersion | g.CheckReading) -> Required:
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


def of_make_context(request: MakeContext) -> Required:
    """Require the permission on the whole context, whose ids are reserved."""
    importing = (on_context("mode", request.context, "/highestId"),) if request.highest_id > 0 else ()
    return (on_context("register", request.context), *importing)


def of_set_config(request: SetConfig) -> Required:
    """Require changing the config at the target of an alias too, because an alias redirects requests of others."""
    alias = request.change.alias
    on_scope = of_scope("config")(request)
    if not alias:
        return on_scope
    target = Subject(request.scope.context, request.scope.name or "").sibling(alias)
    return (*on_scope, on_subject("config", target, "/alias"))


def of_set_mode(request: SetMode) -> Required:
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


def of_get_outcome(request: GetOutcome) -> Required:
    """Require nothing for the caller's own commands, and admin on everything for those of others."""
    if request.principal is None:
        return (RequiredPermission(PERMISSIONS, ANYTHING_AT_ALL, None),)
    return (on_context("admin", EVERYWHERE, "principal"),)


def of_publish(request: s.Publish) -> Required:
    """Require adding a version, and reading the references of the draft."""
    return (of_published(request.subject), *_references(request.subject, request.draft))
