"""Associations are written as bodies of Confluent's API, and their queries as query parameters, and read again."""

from collections.abc import Iterable

from msgspec import Struct

from treaty.core.messages.associations import (
    ANY,
    TOPIC,
    Associate,
    AssociatedSubject,
    AssociationChange,
    AssociationResult,
    AssociationResults,
    Associations,
    AssociationSpec,
    ChangeAssociations,
    EntryRefusal,
    ImportedAssociation,
    ListAssociations,
    OfId,
    OfName,
    Op,
    ResourceBound,
    ResourceChange,
)
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.wire.confluent.drafts import DraftBody, register_body, register_of
from treaty.wire.confluent.errors import ErrorBody, error_body, error_of
from treaty.wire.confluent.listings import AssociationBody, association_of, resource_of
from treaty.wire.confluent.versions import SchemaBody, version_body, version_of

NOWHERE = Subject(DEFAULT_CONTEXT, "")
"""The subject of a schema whose association says where it is to stand."""


class BoundBody(Struct, omit_defaults=True, rename="camel"):
    """What one kind of a resource has."""

    subject: str | None = None
    association_type: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None
    schema: SchemaBody | None = None


class ResourceBody(Struct, omit_defaults=True, rename="camel"):
    """A resource and its associations, in an answer."""

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    associations: list[BoundBody] | None = None


class ResultBody(Struct, omit_defaults=True):
    """What became of one entry of a batch."""

    result: ResourceBody | None = None
    error: ErrorBody | None = None


class ResultsBody(Struct):
    """What became of a batch."""

    results: list[ResultBody]


class GetBody(Struct, omit_defaults=True, rename="camel"):
    """One question of a batch."""

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    association_types: list[str] | None = None
    lifecycle: str | None = None


class GetsBody(Struct):
    """Questions of a batch."""

    requests: list[GetBody | None] | None = None


class GivenBody(Struct, omit_defaults=True, rename="camel"):
    """What an association brings along from elsewhere; Confluent's bodies have no word for it."""

    guid: str
    create_ts: int = 0
    update_ts: int = 0


class AssociationSpecBody(Struct, omit_defaults=True, rename="camel"):
    """An association as it is to be."""

    subject: str | None = None
    association_type: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None
    schema: DraftBody | None = None
    normalize: bool | None = None
    treaty: GivenBody | None = None


class AssociateBody(Struct, omit_defaults=True, rename="camel"):
    """A resource and the associations that it is to have."""

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    associations: list[AssociationSpecBody | None] | None = None


class OperationBody(Struct, omit_defaults=True, rename="camel"):
    """One step of a batch."""

    op_type: Op
    subject: str | None = None
    association_type: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None
    schema: DraftBody | None = None
    normalize: bool | None = None
    cascade_lifecycle: bool | None = None
    treaty: GivenBody | None = None


class ChangeBody(Struct, omit_defaults=True, rename="camel"):
    """One entry of a batch."""

    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    associations: list[OperationBody] | None = None


class ChangesBody(Struct):
    """Entries of a batch."""

    requests: list[ChangeBody | None] | None = None


# ---------------------------------------------------------------------------------------------------------- lists


def associations_of(bodies: Iterable[AssociationBody]) -> Associations:
    """Read a list of associations."""
    return Associations(tuple(association_of(each) for each in bodies))


def list_members(request: ListAssociations) -> list[tuple[str, object]]:
    """Print what a list is to hold as query members."""
    kinds = [("associationType", kind) for kind in request.kinds]
    lifecycle = [("lifecycle", request.lifecycle)] if request.lifecycle else []
    page = [("offset", request.offset), ("limit", request.limit)]
    return [("resourceType", request.type), *kinds, *lifecycle, *page]


# -------------------------------------------------------------------------------------------------------- batches


def get_of(body: GetBody | None) -> ListAssociations:
    """Read one question of a batch: by id where one is given, else by name."""
    body = body or GetBody()
    of = (
        OfId(body.resource_id) if body.resource_id else OfName(body.resource_name or "", body.resource_namespace or ANY)
    )
    kinds = tuple(body.association_types or ())
    return ListAssociations(of, body.resource_type or TOPIC, kinds, (body.lifecycle or "").upper())


def get_body(request: ListAssociations) -> GetBody:
    """Print one question of a batch; a question by subject can't be one, and comes out without a resource."""
    body = GetBody(None, None, None, request.type, list(request.kinds) or None, request.lifecycle or None)
    match request.of:
        case OfId(resource_id):
            body.resource_id = resource_id
        case OfName(name, namespace):
            body.resource_name, body.resource_namespace = name, namespace
    return body


# -------------------------------------------------------------------------------------------------------- changes


def associate_of(body: AssociateBody, context: str, *, update: bool, dry_run: bool) -> Associate:
    """Read what is to be bound; subjects without a context of their own belong to `context`."""
    resource = resource_of(body.resource_name, body.resource_namespace, body.resource_id, body.resource_type)
    wishes = tuple(_spec_of(each or AssociationSpecBody(), context) for each in body.associations or ())
    return Associate(resource, wishes, update, dry_run)


def associate_body(request: Associate) -> AssociateBody:
    """Print what is to be bound."""
    resource = request.resource
    wishes: list[AssociationSpecBody | None] = [_spec_body(each) for each in request.wishes]
    return AssociateBody(resource.name, resource.namespace, resource.id or None, resource.type, wishes)


def changes_of(body: ChangesBody, context: str, *, dry_run: bool) -> ChangeAssociations:
    """Read a batch."""
    changes = tuple(_change(each or ChangeBody(), context) for each in body.requests or ())
    return ChangeAssociations(changes, dry_run)


def changes_body(request: ChangeAssociations) -> ChangesBody:
    """Print a batch."""
    return ChangesBody([_change_body(each) for each in request.changes])


def _spec_of(body: AssociationSpecBody | OperationBody, context: str) -> AssociationSpec:
    subject = subject_of(body.subject, context) if body.subject else None
    schema = None
    if body.schema is not None:
        schema = register_of(subject or NOWHERE, body.schema, normalize=body.normalize or None, force=None)
    more = body.treaty
    imported = None if more is None else ImportedAssociation(more.guid, more.create_ts, more.update_ts)
    lifecycle = (body.lifecycle or "").upper()
    return AssociationSpec(body.association_type or "value", subject, lifecycle, body.frozen, schema, imported)


def _spec_body(spec: AssociationSpec) -> AssociationSpecBody:
    imported = spec.given
    return AssociationSpecBody(
        subject=None if spec.subject is None else str(spec.subject),
        association_type=spec.kind,
        lifecycle=spec.lifecycle or None,
        frozen=spec.frozen,
        schema=None if spec.schema is None else register_body(spec.schema),
        normalize=spec.schema.normalize if spec.schema else None,
        treaty=None if imported is None else GivenBody(imported.guid, imported.created, imported.updated),
    )


def _change(body: ChangeBody, context: str) -> ResourceChange:
    resource = resource_of(body.resource_name, body.resource_namespace, body.resource_id, body.resource_type)
    operations = (
        AssociationChange(operation.op_type, _spec_of(operation, context), bool(operation.cascade_lifecycle))
        for operation in body.associations or ()
    )
    return ResourceChange(resource, tuple(operations))


def _change_body(change: ResourceChange) -> ChangeBody:
    resource = change.resource
    return ChangeBody(
        resource.name,
        resource.namespace,
        resource.id or None,
        resource.type,
        [_operation_body(each) for each in change.operations],
    )


def _operation_body(change: AssociationChange) -> OperationBody:
    wish = _spec_body(change.wish)
    return OperationBody(
        op_type=change.op,
        subject=wish.subject,
        association_type=wish.association_type,
        lifecycle=wish.lifecycle,
        frozen=wish.frozen,
        schema=wish.schema,
        normalize=wish.normalize,
        cascade_lifecycle=change.cascade or None,
        treaty=wish.treaty,
    )


def resource_body(answer: ResourceBound, *, details: bool = False) -> ResourceBody:
    """Print a resource and what is bound to it."""
    resource = answer.resource
    bound = [_bound_body(each, details=details) for each in answer.bound]
    return ResourceBody(resource.name, resource.namespace, resource.id or None, resource.type, bound or None)


def _bound_body(association: AssociatedSubject, *, details: bool) -> BoundBody:
    schema = version_body(association.schema, details=details) if association.schema else None
    return BoundBody(association.subject, association.kind, association.lifecycle, association.frozen, schema)


def resource_bound_of(body: ResourceBody) -> ResourceBound:
    """Read a resource and what is bound to it."""
    resource = resource_of(body.resource_name, body.resource_namespace, body.resource_id, body.resource_type)
    return ResourceBound(resource, tuple(_associated_subject(each) for each in body.associations or ()))


def _associated_subject(body: BoundBody) -> AssociatedSubject:
    schema = version_of(body.schema, body.subject or "") if body.schema else None
    return AssociatedSubject(
        body.subject or "", body.association_type or "value", body.lifecycle or "WEAK", bool(body.frozen), schema
    )


def results_body(answer: AssociationResults, *, details: bool = False) -> ResultsBody:
    """Print what became of a batch."""
    return ResultsBody([_result_body(each, details=details) for each in answer.results])


def _result_body(result: AssociationResult, *, details: bool) -> ResultBody:
    if result.refused is not None:
        return ResultBody(error=error_body(result.refused.error, details=details))
    return ResultBody(resource_body(result.done, details=details) if result.done else None)


def results_of(body: ResultsBody) -> AssociationResults:
    """Read what became of a batch."""
    return AssociationResults(tuple(_result(each) for each in body.results))


def _result(body: ResultBody) -> AssociationResult:
    if body.error is not None:
        return AssociationResult(refused=EntryRefusal.by(error_of(body.error)))
    return AssociationResult(resource_bound_of(body.result or ResourceBody()))
