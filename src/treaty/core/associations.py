"""Associations: resources (topics) and the subjects that their keys and values have, as requests and answers.

A STRONG association ties a subject to one resource: nobody may refer to the subject, and it may go with the resource. A
WEAK one only says where the schemas of a resource are; a subject may have many of them.
"""

from dataclasses import dataclass
from typing import Any, Literal

from treaty.core.answers import TOPIC, DeletedVersions, Resource, ResourceAssociation, VersionFound
from treaty.core.finding import Diagnostic, Finding
from treaty.core.limits import ASSOCIATIONS_LISTED
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
from treaty.core.requests import Register, Request

KINDS = ("key", "value")
"""What of a topic a subject describes."""
Op = Literal["CREATE", "UPSERT", "DELETE"]
LIFECYCLES = ("STRONG", "WEAK")
ANY = "-"
"""In place of a namespace or a name of a resource: whichever there is."""


# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class Associations:
    """Associations by namespace and name of their resource, then by kind."""

    associations: tuple[ResourceAssociation, ...]


@dataclass(frozen=True, slots=True)
class AssociatedSubject:
    """What one kind of a resource has: its subject (qualified), and the schema that came with it or was asked for."""

    subject: str
    kind: str
    lifecycle: str = "WEAK"
    frozen: bool = False
    schema: VersionFound | None = None


@dataclass(frozen=True, slots=True)
class ResourceBound:
    """A resource and what a command bound to it, or a question found."""

    resource: Resource
    bound: tuple[AssociatedSubject, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryRefusal:
    """Why one entry of a batch was refused: the tag of the refusal (see `core.refusals`), and what it carries."""

    kind: str
    reason: Reason
    faults: tuple[Diagnostic, ...] = ()
    findings: tuple[Finding, ...] = ()

    @staticmethod
    def by(error: RegistryError) -> "EntryRefusal":
        """Keep a refusal, or what else a registry says about one entry."""
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
    """What became of one entry of a batch: exactly one of both."""

    done: ResourceBound | None = None
    refused: EntryRefusal | None = None


@dataclass(frozen=True, slots=True)
class AssociationResults:
    """What became of a batch, entry by entry."""

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
    """Associations of a subject or of resources. `kinds` and `lifecycle` keep only these; empty keeps all.

    A `limit` out of its range is the usual one.
    """

    of: OfSubject | OfName | OfId
    type: str = TOPIC
    kinds: tuple[str, ...] = ()
    lifecycle: str = ""
    offset: int = 0
    limit: int = ASSOCIATIONS_LISTED


@dataclass(frozen=True, slots=True)
class GetAssociations(Request[AssociationResults]):
    """Several lists at once, each of one resource. `schemas` adds the latest schema of every subject."""

    gets: tuple[ListAssociations, ...]
    schemas: bool = False


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class ImportedAssociation:
    """What an association brings along from elsewhere; may be given where the mode lets ids be given."""

    guid: str
    created: int = 0
    updated: int = 0


@dataclass(frozen=True, slots=True)
class AssociationSpec:
    """An association as it is to be.

    Without a `subject` it is the usual one (`subject_for`). An empty `lifecycle` and a `frozen` of None stay as they
    are, and begin as WEAK and not frozen. `schema` is registered with it; its own subject does not count.
    """

    kind: str = "value"
    subject: Subject | None = None
    lifecycle: str = ""
    frozen: bool | None = None
    schema: Register | None = None
    given: ImportedAssociation | None = None


def subject_for(resource: Resource, spec: AssociationSpec) -> Subject:
    """Return the subject that a spec means: the one it names, else ``:.namespace:name-kind``."""
    return spec.subject or Subject(f".{resource.namespace}", f"{resource.name}-{spec.kind}")


@dataclass(frozen=True, slots=True)
class Associate(Request[ResourceBound]):
    """Bind kinds of a resource to subjects, all or none. `update` changes those that are bound already, else they must
    be as wished. With `dry_run` nothing is written, and the resource may lack its id.
    """

    resource: Resource
    wishes: tuple[AssociationSpec, ...]
    update: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Dissociate(Request[DeletedVersions]):
    """Forget associations of the resource with this id: those of these `kinds`, or all.

    With `cascade` the subjects of strong ones go too, with all their versions, and frozen ones may go.
    """

    resource_id: str
    type: str = TOPIC
    kinds: tuple[str, ...] = ()
    cascade: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class AssociationChange:
    """One step of a batch. For a DELETE only the kind counts."""

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
    """Create, change and delete associations, entry by entry. What is refused leaves the others as they are; the rest becomes one commit."""

    changes: tuple[ResourceChange, ...]
    dry_run: bool = False
