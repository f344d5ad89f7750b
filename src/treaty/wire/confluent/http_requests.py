"""A request of core as an HTTP request of Confluent's API: path, query and body; what that API has no place for is refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from treaty.core.limits import COUNTER
from treaty.core.messages import associations as t
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import DeleteContext, ListContexts, MakeContext
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Derive, Register
from treaty.core.messages.request import LATEST, Request, Visible
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, ReferencedBy, UsesOf
from treaty.core.messages.settings import (
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    ListSettings,
    Scope,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup
from treaty.core.operations import operation_name
from treaty.core.refusals import NotOffered
from treaty.core.schema import Draft
from treaty.wire.confluent.associations import GetsBody, associate_body, changes_body, get_body, list_members
from treaty.wire.confluent.drafts import derive_body, draft_body, register_body
from treaty.wire.confluent.listings import ContextBody
from treaty.wire.confluent.settings import ModeBody, scope_text, set_config_body


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request: method, path and query, body."""

    method: str
    target: str
    body: bytes | None = None


def encode_request(request: Request[Any]) -> HttpRequest:
    """Print a request as an HTTP request; raises `NotOffered` where Confluent's API has none for it."""
    send = _SEND.get(type(request))
    if send is None:
        raise NotOffered(f"Confluent's API has no request for {operation_name(request)}")
    _refuse_members_of_groups(request)
    return send(request)


def _refuse_members_of_groups(request: Request[Any]) -> None:
    """Raise `NotOffered` where a request says what only groups have: left out it would be another request."""
    draft = getattr(request, "draft", None)
    group_members = {
        "draft.type_name": isinstance(draft, Draft) and draft.type_name,
        "draft.data": isinstance(draft, Draft) and draft.data is not None,
        "draft.imports": isinstance(draft, Draft) and bool(draft.imports),
        "require_subject": getattr(request, "require_subject", False),
        "level": isinstance(request, Check) and request.level is not None,
    }
    for member, is_set in group_members.items():
        if is_set:
            raise NotOffered(f"Confluent's API has no {member} for {operation_name(request)}")


def _path(*parts: object) -> str:
    return "/" + "/".join(map(_segment, parts))


def _segment(part: object) -> str:
    text = quote(str(part), safe="")
    return text.replace(".", "%2E") if text in {".", ".."} else text  # else somebody on the way would resolve it


def _query(**members: object) -> str:
    """A query string; members that are None or False are left out."""
    parameters = {
        name: "true" if value is True else value for name, value in members.items() if value not in {None, False}
    }
    return f"?{urlencode(parameters, doseq=True, quote_via=quote)}" if parameters else ""


def _alias_member(*, exact: bool) -> str | None:
    """The query member that asks for a subject itself, where it is an alias."""
    return "false" if exact else None


def _number(version: int) -> str:
    return "latest" if version == LATEST else str(version)


def _post(target: str, body: object) -> HttpRequest:
    return HttpRequest("POST", target, msgspec.json.encode(body))


def _register(request: Register) -> HttpRequest:
    force = request.force is not None  # who and why stand in the body
    query = _query(normalize=request.normalize, force=force, alias=_alias_member(exact=request.exact))
    return _post(_path("subjects", request.subject, "versions") + query, register_body(request))


def _derive(request: Derive) -> HttpRequest:
    return _post(_path("subjects", request.subject, "versions", _number(request.version), "tags"), derive_body(request))


def _lookup(request: Lookup) -> HttpRequest:
    target = _path("subjects", request.subject) + _query(normalize=request.normalize, deleted=request.deleted)
    return _post(target, draft_body(request.draft))


def _check(request: Check) -> HttpRequest:
    parts = () if request.version is None else (_number(request.version),)
    target = _path("compatibility", "subjects", request.subject, "versions", *parts)
    return _post(target + _query(normalize=request.normalize, verbose=True), draft_body(request.draft))


def _delete_version(request: DeleteVersion) -> HttpRequest:
    target = _path("subjects", request.subject, "versions", _number(request.version))
    return HttpRequest(
        "DELETE",
        target + _query(permanent=request.permanent, force=request.force, alias=_alias_member(exact=request.exact)),
    )


def _delete_subject(request: DeleteSubject) -> HttpRequest:
    return HttpRequest(
        "DELETE", _path("subjects", request.subject) + _query(permanent=request.permanent, force=request.force)
    )


def _get_schema(request: GetSchema) -> HttpRequest:
    named, tags = request.subject and str(request.subject), request.find_tags or None
    query = _query(subject=named, fetchMaxId=request.max_id, findTags=tags)
    return HttpRequest("GET", _path("schemas", "ids", request.schema_id) + query)


def _get_version(request: GetVersion) -> HttpRequest:
    target = _path("subjects", request.subject, "versions", _number(request.version))
    alias = _alias_member(exact=request.exact)
    return HttpRequest("GET", target + _query(deleted=request.deleted, findTags=request.find_tags or None, alias=alias))


def _find_version(request: FindVersion) -> HttpRequest:
    members = [("deleted", "true")] if request.deleted else []
    members += [pair for key, value in request.properties for pair in (("key", key), ("value", value))]
    return HttpRequest(
        "GET", _path("subjects", request.subject, "metadata") + f"?{urlencode(members, quote_via=quote)}"
    )


def _visibility(visible: Visible) -> dict[str, object]:
    return {"deleted": visible == "all", "deletedOnly": visible == "deleted"}


def _list_schemas(request: ListSchemas) -> HttpRequest:
    members: dict[str, object] = {
        "offset": request.offset or None,
        "limit": request.limit,
        "latestOnly": request.latest,
        "aliases": request.aliases,
        "ruleType": request.rule_type or None,
        "resourceType": request.resource_type or None,
        "associationType": request.kinds or None,
        "lifecycle": request.lifecycles or None,
    }
    if request.after is not None:
        members |= {"after": request.after[0], "afterVersion": request.after[1] or None}
    return HttpRequest(
        "GET", "/schemas" + _query(subjectPrefix=str(request.prefix), **members, **_visibility(request.visible))
    )


def _list_settings(request: ListSettings) -> HttpRequest:
    members: dict[str, object] = {"offset": request.offset or None, "limit": request.limit}
    if request.after is not None:
        members |= {"afterContext": request.after.context, "afterSubject": request.after.name}
    return HttpRequest("GET", "/treaty/settings" + _query(subjectPrefix=str(request.prefix), **members))


def _list_subjects(request: ListSubjects) -> HttpRequest:
    limit = None if request.limit == COUNTER else request.limit
    members = {"offset": request.offset or None, "limit": limit, "after": request.after}
    return HttpRequest(
        "GET", "/subjects" + _query(subjectPrefix=str(request.prefix), **members, **_visibility(request.visible))
    )


def _uses(request: UsesOf) -> HttpRequest:
    members = {"subject": request.subject and str(request.subject), **_visibility(request.visible)}
    return HttpRequest("GET", _path("schemas", "ids", request.schema_id, "versions") + _query(**members))


def _referenced_by(request: ReferencedBy) -> HttpRequest:
    target = _path("subjects", request.subject, "versions", _number(request.version), "referencedby")
    return HttpRequest("GET", target + _query(deleted=request.deleted))


def _setting(word: str, scope: Scope) -> str:
    name = scope_text(scope)
    return _path(word) if name is None else _path(word, name)


def _set_mode(request: SetMode) -> HttpRequest:
    body = msgspec.json.encode(ModeBody(request.mode))
    return HttpRequest("PUT", _setting("mode", request.scope) + _query(force=request.force), body)


def _set_config(request: SetConfig) -> HttpRequest:
    return HttpRequest("PUT", _setting("config", request.scope), msgspec.json.encode(set_config_body(request)))


def _list_associations(request: t.ListAssociations) -> HttpRequest:
    match request.of:
        case t.OfSubject(subject):
            path = _path("associations", "subjects", subject)
        case t.OfName(name, namespace):
            path = _path("associations", "resources", namespace, name)
        case t.OfId(resource_id):
            path = _path("associations", "resources", resource_id)
    return HttpRequest("GET", f"{path}?{urlencode(list_members(request), quote_via=quote)}")


def _get_associations(request: t.GetAssociations) -> HttpRequest:
    body = GetsBody([get_body(one) for one in request.gets])
    return _post("/associations:batchGet" + _query(includeSchemas=request.schemas), body)


def _associate(request: t.Associate) -> HttpRequest:
    path = _path("associations", "resources", request.resource.id) if request.update else "/associations"
    body = msgspec.json.encode(associate_body(request))
    return HttpRequest("PUT" if request.update else "POST", path + _query(dryRun=request.dry_run), body)


def _dissociate(request: t.Dissociate) -> HttpRequest:
    members = [("resourceType", request.type), *(("associationType", kind) for kind in request.kinds)]
    flags = [("cascadeLifecycle", request.cascade), ("dryRun", request.dry_run)]
    members += [(name, "true") for name, value in flags if value]
    path = _path("associations", "resources", request.resource_id)
    return HttpRequest("DELETE", f"{path}?{urlencode(members, quote_via=quote)}")


_SEND: Mapping[type[Any], Callable[[Any], HttpRequest]] = {
    Register: _register,
    Derive: _derive,
    Lookup: _lookup,
    Check: _check,
    DeleteVersion: _delete_version,
    DeleteSubject: _delete_subject,
    SetConfig: _set_config,
    DeleteConfig: lambda r: HttpRequest("DELETE", _setting("config", r.scope)),
    SetMode: _set_mode,
    DeleteMode: lambda r: HttpRequest("DELETE", _setting("mode", r.scope) + _query(recursive=r.recursive)),
    MakeContext: lambda r: HttpRequest(
        "PUT", _path("treaty", "contexts", r.context), msgspec.json.encode(ContextBody(highest_id=r.highest_id))
    ),
    DeleteContext: lambda r: HttpRequest("DELETE", _path("contexts", r.context)),
    GetSchema: _get_schema,
    GetGuid: lambda r: HttpRequest("GET", _path("schemas", "guids", r.guid)),
    GetGuidIds: lambda r: HttpRequest("GET", _path("schemas", "guids", r.guid, "ids")),
    GetVersion: _get_version,
    FindVersion: _find_version,
    ListSubjects: _list_subjects,
    ListVersions: lambda r: HttpRequest(
        "GET",
        _path("subjects", r.subject, "versions")
        + _query(deletedAsNegative=r.visible != "live", **_visibility(r.visible)),
    ),
    ListSchemas: _list_schemas,
    ListSettings: _list_settings,
    UsesOf: _uses,
    ReferencedBy: _referenced_by,
    GetConfig: lambda r: HttpRequest("GET", _setting("config", r.scope) + _query(defaultToGlobal=r.resolve)),
    GetMode: lambda r: HttpRequest("GET", _setting("mode", r.scope) + _query(defaultToGlobal=r.resolve)),
    t.ListAssociations: _list_associations,
    t.GetAssociations: _get_associations,
    t.Associate: _associate,
    t.Dissociate: _dissociate,
    t.ChangeAssociations: lambda r: _post("/associations:batchMutate" + _query(dryRun=r.dry_run), changes_body(r)),
    ListContexts: lambda r: HttpRequest("GET", "/contexts" + _query(contextPrefix=r.prefix or None)),
    GetOutcome: lambda r: HttpRequest("GET", _path("treaty", "outcome", r.command_id) + _query(principal=r.principal)),
}
