"""Small bodies of answers: where a schema is used, contexts, associations, outcomes of commands."""

from msgspec import Struct

from treaty.core.messages.associations import TOPIC, Resource, ResourceAssociation


class UseBody(Struct):
    """One use of a schema, in an answer."""

    subject: str
    version: int


class PlaceBody(Struct):
    """One id of a guid, in an answer."""

    context: str
    id: int


class ContextBody(Struct, omit_defaults=True, rename="camel"):
    """A context to be made, or that was made: the highest id that counts as given, and in an answer its name."""

    context: str = ""
    highest_id: int = 0


class OutcomeBody(Struct, omit_defaults=True, rename="camel"):
    """What became of a command."""

    command: str
    sequence: int
    result: str = ""
    members: dict[str, str] = {}


class AssociationBody(Struct, omit_defaults=True, rename="camel"):
    """One association in a list."""

    subject: str | None = None
    guid: str | None = None
    resource_name: str | None = None
    resource_namespace: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    association_type: str | None = None
    lifecycle: str | None = None
    frozen: bool | None = None
    create_ts: int | None = None
    update_ts: int | None = None


def association_body(association: ResourceAssociation) -> AssociationBody:
    """Print an association."""
    return AssociationBody(
        subject=association.subject,
        guid=association.guid or None,
        resource_name=association.resource.name,
        resource_namespace=association.resource.namespace,
        resource_id=association.resource.id,
        resource_type=association.resource.type,
        association_type=association.kind,
        lifecycle=association.lifecycle,
        frozen=association.frozen,
        create_ts=association.created or None,
        update_ts=association.updated or None,
    )


def association_of(body: AssociationBody) -> ResourceAssociation:
    """Read an association."""
    resource = resource_of(body.resource_name, body.resource_namespace, body.resource_id, body.resource_type)
    return ResourceAssociation(
        subject=body.subject or "",
        guid=body.guid or "",
        resource=resource,
        kind=body.association_type or "value",
        lifecycle=body.lifecycle or "WEAK",
        frozen=bool(body.frozen),
        created=body.create_ts or 0,
        updated=body.update_ts or 0,
    )


def resource_of(name: str | None, namespace: str | None, resource_id: str | None, type_: str | None) -> Resource:
    """Read a resource; what is missing is empty, a missing type is a topic's."""
    return Resource(name or "", namespace or "", resource_id or "", type_ or TOPIC)
