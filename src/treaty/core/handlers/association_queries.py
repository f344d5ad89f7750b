"""Associations are read: of a subject, of a resource, in lists; and the refusals that all requests about them share."""

from collections.abc import Iterable, Iterator
from itertools import islice

from treaty.core.command import Command, Decision
from treaty.core.handlers.versions import describe_version, visible_versions
from treaty.core.limits import ASSOCIATION_BATCH, ASSOCIATIONS_LISTED, COUNTER
from treaty.core.messages.associations import (
    ANY,
    TOPIC,
    AssociatedSubject,
    AssociationResult,
    AssociationResults,
    Associations,
    EntryRefusal,
    GetAssociations,
    ListAssociations,
    OfId,
    OfName,
    OfSubject,
    Resource,
    ResourceAssociation,
    ResourceBound,
)
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import AssociationNotFound, Frozen, InvalidAssociation, NoLiveVersion, NotPermitted, Refusal
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.association_table import (
    ASSOCIATION,
    ASSOCIATION_BY_NAME,
    ASSOCIATION_BY_SUBJECT,
    ASSOCIATION_LISTED,
    ASSOCIATION_OF_RESOURCE,
    AssociationEntry,
    AssociationKey,
)
from treaty.core.state.values import Association as Value
from treaty.core.state.values import StoredReference
from treaty.core.state.view import ALL_KEYS, View, span

Tied = tuple[AssociationKey, Value]
"""An association with its key (resource id, kind, subject)."""


def of_subject(view: View, subject: Subject) -> tuple[AssociationKey, ...]:
    """Return the keys of a subject's associations."""
    return tuple(view.find(ASSOCIATION_BY_SUBJECT, subject))


def has_association(view: View, subject: Subject) -> bool:
    """Return whether a subject has an association."""
    return any(view.find(ASSOCIATION_BY_SUBJECT, subject))


def of_resource(view: View, resource_id: str) -> list[Tied]:
    """Return the associations of a resource, by kind."""
    return _rows(view, view.find(ASSOCIATION_OF_RESOURCE, (resource_id,)))


def of_name(view: View, name: str, namespace: str) -> list[Tied]:
    """Return the associations of resources by name and namespace, which may be `ANY`."""
    return _rows(view, view.find(ASSOCIATION_BY_NAME, (namespace, name)))


def _rows(view: View, keys: Iterable[AssociationKey]) -> list[Tied]:
    rows = ((key, view.get(ASSOCIATION, key)) for key in keys)
    return [(key, value) for key, value in rows if value is not None]


def is_strong(view: View, subject: Subject) -> bool:
    """Return whether a subject goes with a resource. A strong association is the only one of its subject."""
    return any(
        value.lifecycle == "STRONG" for _, value in _rows(view, islice(view.find(ASSOCIATION_BY_SUBJECT, subject), 1))
    )


def refuse_strong_targets(view: View, parent: Subject, references: Iterable[StoredReference]) -> None:
    """Raise `NotPermitted` where a schema would refer to a subject that may go with its resource."""
    for reference in references:
        target = parent.sibling(reference.subject)
        if is_strong(view, target):
            raise NotPermitted.of(
                "REFERENCE_STRONG",
                f"Subject '{target}' has a strong association and cannot be referenced",
                path=f"/references/{reference.name}",
                subject=str(parent),
                new=f"{target} version {reference.version}",
                allowed="a subject without one, or make that association WEAK first",
            )


def resource_of(association: Tied) -> Resource:
    """Return the resource of an association."""
    key, value = association
    return Resource(value.resource, value.namespace, key.resource, value.type)


def describe_associations(view: View, subject: Subject) -> tuple[ResourceAssociation, ...]:
    """Return the answer about a subject's associations."""
    return tuple(describe_association(tie) for tie in _rows(view, of_subject(view, subject)))


def describe_association(association: Tied) -> ResourceAssociation:
    """Return the answer about an association."""
    value = association[1]
    return ResourceAssociation(
        subject=value.subject,
        guid=value.guid,
        resource=resource_of(association),
        kind=value.kind,
        lifecycle=value.lifecycle,
        frozen=value.frozen,
        created=value.created,
        updated=value.updated,
    )


# ------------------------------------------------------------------------------------------------------- requests


def list_associations(view: View, command: Command[ListAssociations], engine: SchemaEngine) -> Decision[Associations]:
    """List associations; none is an empty list."""
    request = command.request
    return Decision((), Associations(tuple(describe_association(tie) for tie in _find_associations(view, request))))


def _find_associations(view: View, request: ListAssociations) -> list[Tied]:
    """The page of associations that is asked for."""
    offset = min(max(0, request.offset), COUNTER)
    page = (offset, offset + (request.limit if 1 <= request.limit <= ASSOCIATIONS_LISTED else ASSOCIATIONS_LISTED))
    match request.of:
        case OfName("-", namespace):
            places = islice(_places(view, request, namespace), *page)
            return [tie for place in places for tie in _rows(view, view.find(ASSOCIATION_LISTED, place))]
        case OfSubject(subject):
            ties = _rows(view, of_subject(view, subject))
        case OfName(name, namespace):
            ties = of_name(view, name, namespace)
        case OfId(resource_id):
            ties = of_resource(view, resource_id)
    ordered = sorted((tie for tie in ties if _is_wanted(request, tie[1])), key=_order)
    return ordered[slice(*page)]


def _places(view: View, request: ListAssociations, namespace: str) -> Iterator[AssociationEntry]:
    """The places of all associations in a namespace (or `ANY`) in order, one by one; no row is looked at."""
    bounds = ALL_KEYS if namespace == ANY else span((namespace,))
    places = view.walk(ASSOCIATION_LISTED, *bounds)
    return (place for place in places if _matches_request(request, kind=place[2], lifecycle=place[5], type_=place[6]))


def _is_wanted(request: ListAssociations, value: Value) -> bool:
    return _matches_request(request, kind=value.kind, lifecycle=value.lifecycle, type_=value.type)


def _matches_request(request: ListAssociations, *, kind: str, lifecycle: str, type_: str) -> bool:
    return (
        type_ == (request.type or TOPIC)
        and (not request.kinds or kind in request.kinds)
        and request.lifecycle in {"", lifecycle}
    )


def _order(association: Tied) -> tuple[str, ...]:
    return (association[1].namespace, association[1].resource, association[1].kind, *subject_of(association[1].subject))


def get_associations(
    view: View, command: Command[GetAssociations], engine: SchemaEngine
) -> Decision[AssociationResults]:
    """Answer several questions, each about one resource. What one of them asks wrongly does not hurt the others."""
    request = command.request
    refuse_bad_batch(len(request.gets))
    return Decision(
        (), AssociationResults(tuple(_answer_get(view, get, schemas=request.schemas) for get in request.gets))
    )


def _answer_get(view: View, request: ListAssociations, *, schemas: bool) -> AssociationResult:
    try:
        return AssociationResult(_one_resource(view, request, schemas=schemas))
    except Refusal as no:
        return AssociationResult(refused=EntryRefusal.by(no))


def _one_resource(view: View, request: ListAssociations, *, schemas: bool) -> ResourceBound:
    name = request.of.id if isinstance(request.of, OfId) else getattr(request.of, "name", "")
    if isinstance(request.of, OfSubject) or not name:
        raise invalid_association("resourceId", "give the resource's id, or its name and namespace", "")
    ties = _find_associations(view, request)
    if not ties:
        raise not_found(name)
    resources = sorted({resource_of(tie) for tie in ties}, key=lambda resource: (resource.namespace, resource.name))
    if len(resources) > 1:
        raise invalid_association("resourceNamespace", f"{len(resources)} resources fit, name one of them", name)
    return ResourceBound(resources[0], tuple(_describe_bound(view, tie, schema=schemas) for tie in ties))


def _describe_bound(view: View, association: Tied, *, schema: bool) -> AssociatedSubject:
    value = association[1]
    live = visible_versions(view, subject_of(value.subject)) if schema else []
    latest = describe_version(view, live[-1]) if live else None
    return AssociatedSubject(value.subject, value.kind, value.lifecycle, value.frozen, latest)


# ------------------------------------------------------------------------------------------------------- refusals


def not_found(resource: str) -> AssociationNotFound:
    """Return the refusal for a resource without associations."""
    return AssociationNotFound.of("ASSOCIATION_NOT_FOUND", f"Association for '{resource}' not found.", new=resource)


def invalid_association(member: str, detail: str, new: str, *, allowed: str = "") -> InvalidAssociation:
    """Return the refusal of a request whose member can't be right."""
    return InvalidAssociation.of(
        "ASSOCIATION_INVALID",
        f"The association specified an invalid value for property: '{member}', detail: {detail}",
        path=f"/{member}",
        new=new,
        allowed=allowed or detail,
    )


def no_live_version(subject: Subject, *, allowed: str = "register a schema first, or send one along") -> NoLiveVersion:
    """Return the refusal of what would leave an associated subject without a live version."""
    return NoLiveVersion.of(
        "NO_LIVE_VERSION",
        f"No active (non-deleted) version exists for subject '{subject}'",
        subject=str(subject),
        allowed=allowed,
    )


def frozen_association(value: Value) -> Frozen:
    """Return the refusal of a change of a frozen association."""
    return Frozen.of(
        "ASSOCIATION_FROZEN",
        f"The association of type  '{value.kind}' is frozen for subject '{value.subject}'",
        subject=value.subject,
        allowed="frozen=false in the change; to delete it, cascadeLifecycle=true",
    )


def refuse_bad_batch(size: int) -> None:
    """Raise `InvalidAssociation` for a batch without an entry, or with too many."""
    if not size:
        raise invalid_association("requests", "cannot be null or empty", "", allowed="at least one entry")
    if size > ASSOCIATION_BATCH:
        raise invalid_association("requests", f"at most {ASSOCIATION_BATCH} in one batch", str(size))
