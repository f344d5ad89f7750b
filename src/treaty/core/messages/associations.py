"""The requests that associate resources (topics) with the subjects of their keys and values, change, end and list that: their members, defaults and
answers; decided in `association_changes.py` and `association_queries.py` of `core/handlers`.

A subject with a STRONG association belongs to one resource: no schema may refer to the subject, and it may be deleted
with the resource. A WEAK one only says which subject has the schemas of a resource; a subject may have many of them.
"""

from typing import Any, Literal

from treaty.core.finding import Diagnostic, Finding
from treaty.core.limits import ASSOCIATIONS_LISTED
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.versions import DeletedVersions, VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import (
    ERROR_CLASSES,
    ERROR_TAGS,
    Incompatible,
    InvalidSchema,
    Reason,
    Refusal,
    RegistryError,
    Unavailable,
    error_tag,
)
from treaty.light_dataclass import dataclass

TOPIC = "topic"
"""The resource type of topics in requests of clients."""
KINDS = ("key", "value")
"""The part of a topic's records that a subject describes."""
Op = Literal["CREATE", "UPSERT", "DELETE"]
LIFECYCLES = ("STRONG", "WEAK")
ANY = "-"
"""Any namespace, or any name of a resource."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of associations: a topic, by name in a namespace (a cluster), and by an id that never changes."""

    name: str
    namespace: str
    id: str = ""
    type: str = TOPIC


@dataclass(frozen=True, slots=True)
class ResourceAssociation:
    """An association. `subject` is qualified; times are in milliseconds since the epoch."""

    subject: str
    guid: str
    resource: Resource
    kind: str
    lifecycle: str = "WEAK"
    frozen: bool = False
    created: int = 0
    updated: int = 0


# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class Associations:
    """Associations by namespace and name of their resource, then by kind."""

    associations: tuple[ResourceAssociation, ...]


@dataclass(frozen=True, slots=True)
class AssociatedSubject:
    """The subject (qualified) of one kind of a resource, and the schema that was registered with it or requested."""

    subject: str
    kind: str
    lifecycle: str = "WEAK"
    frozen: bool = False
    schema: VersionFound | None = None


@dataclass(frozen=True, slots=True)
class ResourceBound:
    """A resource, and the associations that a command made or a query found."""

    resource: Resource
    bound: tuple[AssociatedSubject, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryRefusal:
    """The refusal of an entry of a batch: its tag (see `core.refusals`) and its facts."""

    kind: str
    reason: Reason
    faults: tuple[Diagnostic, ...] = ()
    findings: tuple[Finding, ...] = ()

    @staticmethod
    def by(error: RegistryError) -> "EntryRefusal":
        """Return the refusal, or another error of a registry about an entry, as a value."""
        if not isinstance(error, Refusal):
            return EntryRefusal(ERROR_TAGS[Unavailable], Reason("UNAVAILABLE", str(error)))
        faults = error.faults if isinstance(error, InvalidSchema) else ()
        return EntryRefusal(
            error_tag(error), error.reason, faults, error.findings if isinstance(error, Incompatible) else ()
        )

    @property
    def error(self) -> RegistryError:
        """The refusal itself."""
        kind: Any = ERROR_CLASSES.get(self.kind, Refusal)
        if kind is Unavailable:
            return Unavailable(self.reason.message)
        if kind is InvalidSchema:
            return InvalidSchema(self.reason, self.faults)
        if kind is Incompatible:
            return Incompatible(self.reason, self.findings)
        error: Refusal = kind(self.reason)
        return error


@dataclass(frozen=True, slots=True)
class AssociationResult:
    """The result of an entry of a batch: associations or a refusal."""

    done: ResourceBound | None = None
    refused: EntryRefusal | None = None


@dataclass(frozen=True, slots=True)
class AssociationResults:
    """The results of a batch, one per entry."""

    results: tuple[AssociationResult, ...]


# -------------------------------------------------------------------------------------------------------- queries


@dataclass(frozen=True, slots=True)
class OfSubject:
    """The associations of a subject."""

    subject: Subject


@dataclass(frozen=True, slots=True)
class OfName:
    """The associations of the resources with this name in this namespace; `ANY` stands for each of both."""

    name: str
    namespace: str = ANY


@dataclass(frozen=True, slots=True)
class OfId:
    """The associations of the resource with this id."""

    id: str


@dataclass(frozen=True, slots=True)
class ListAssociations(Request[Associations]):
    """Associations of a subject or of resources. `kinds` and `lifecycle` filter them; empty keeps all. A `limit` out of
    range means the default.
    """

    of: OfSubject | OfName | OfId
    type: str = TOPIC
    kinds: tuple[str, ...] = ()
    lifecycle: str = ""
    offset: int = 0
    limit: int = ASSOCIATIONS_LISTED


@dataclass(frozen=True, slots=True)
class GetAssociations(Request[AssociationResults]):
    """Several lists, each of one resource. `schemas` adds the latest schema of every subject."""

    gets: tuple[ListAssociations, ...]
    schemas: bool = False


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class ImportedAssociation:
    """Guid and times of an imported association; allowed in modes in which ids may be given."""

    guid: str
    created: int = 0
    updated: int = 0


@dataclass(frozen=True, slots=True)
class AssociationSpec:
    """The desired state of an association.

    The default `subject` is that of `subject_for`. An empty `lifecycle` and a `frozen` of None do not change; a new
    association is WEAK and not frozen. `schema` is registered with it; the subject of the schema is ignored.
    """

    kind: str = "value"
    subject: Subject | None = None
    lifecycle: str = ""
    frozen: bool | None = None
    schema: Register | None = None
    given: ImportedAssociation | None = None


def subject_for(resource: Resource, spec: AssociationSpec) -> Subject:
    """Return the subject of a spec: the given one, else ``:.namespace:name-kind``."""
    return spec.subject or Subject(f".{resource.namespace}", f"{resource.name}-{spec.kind}")


@dataclass(frozen=True, slots=True)
class Associate(Request[ResourceBound]):
    """Associate a resource with subjects by kind, all or none.

    `update` changes existing associations; without it they must equal the desired ones. With `dry_run` nothing is
    written, and the resource may lack its id.
    """

    resource: Resource
    wishes: tuple[AssociationSpec, ...]
    update: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Dissociate(Request[DeletedVersions]):
    """Delete associations of the resource with this id: those of these `kinds`, or all. `cascade` also deletes the
    subjects of strong ones with all versions, and allows deleting frozen ones.
    """

    resource_id: str
    type: str = TOPIC
    kinds: tuple[str, ...] = ()
    cascade: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class AssociationChange:
    """One step of a batch. A DELETE uses only the kind."""

    op: Op
    wish: AssociationSpec
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """One entry of a batch: steps for one resource, in order, all or none."""

    resource: Resource
    operations: tuple[AssociationChange, ...]


@dataclass(frozen=True, slots=True)
class ChangeAssociations(Request[AssociationResults]):
    """Create, change and delete associations, entry by entry. Refused entries do not affect others; all others become
    one commit.
    """

    changes: tuple[ResourceChange, ...]
    dry_run: bool = False
