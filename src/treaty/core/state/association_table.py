"""The table of associations: resources, such as topics, bound to subjects."""

from typing import NamedTuple

from treaty.core.names import subject_of
from treaty.core.state import values
from treaty.core.state.table import Index, Table


class AssociationKey(NamedTuple):
    """Key of an association: id of the resource, kind (key or value), qualified subject."""

    resource: str
    kind: str
    subject: str


AssociationEntry = tuple[str, str, str, str, str, str, str]
"""Namespace, name, kind, context, subject, lifecycle, type: its place in a list of all, and what lists are narrowed by."""


def _association_by_subject(key: AssociationKey, value: values.Association) -> tuple[tuple[str, str], ...]:
    context, subject = subject_of(value.subject)
    return ((context, subject),)


def _association_by_name(_key: AssociationKey, value: values.Association) -> tuple[tuple[str, str], ...]:
    """A resource is found by its namespace and name, and by its name in any namespace."""
    return tuple(dict.fromkeys(((value.namespace, value.resource), ("-", value.resource))))


def _association_listed(_key: AssociationKey, value: values.Association) -> tuple[AssociationEntry, ...]:
    context, subject = subject_of(value.subject)
    return ((value.namespace, value.resource, value.kind, context, subject, value.lifecycle, value.type),)


def _association_by_guid(_key: AssociationKey, value: values.Association) -> tuple[tuple[str], ...]:
    return ((value.guid,),) if value.guid else ()


def _association_of_resource(key: AssociationKey, _value: values.Association) -> tuple[tuple[str], ...]:
    return ((key.resource,),)


ASSOCIATION_BY_SUBJECT = Index("association.subject", AssociationKey, _association_by_subject, (None, None))
"""By (context, subject)."""
ASSOCIATION_BY_NAME = Index("association.name", AssociationKey, _association_by_name, (None, None))
"""By (namespace or ``-`` for any, name of the resource)."""
ASSOCIATION_LISTED = Index("association.listed", AssociationKey, _association_listed, (None,) * 7, ordered=True)
ASSOCIATION_OF_RESOURCE = Index("association.resource", AssociationKey, _association_of_resource, (0,))
"""By (id of the resource)."""
ASSOCIATION_BY_GUID = Index("association.guid", AssociationKey, _association_by_guid, (None,))
"""By (guid)."""
ASSOCIATION = Table(
    "association", AssociationKey, values.Association,
    (ASSOCIATION_BY_SUBJECT, ASSOCIATION_BY_NAME, ASSOCIATION_LISTED, ASSOCIATION_OF_RESOURCE, ASSOCIATION_BY_GUID),
)  # fmt: skip
