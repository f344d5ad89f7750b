"""Associations: resources (topics) and the subjects that their keys and values have, as requests and answers.

A STRONG association ties a subject to one resource: nobody may refer to the subject, and it may go with the resource. A
WEAK one only says where the schemas of a resource are; a subject may have many of them.
"""

from dataclasses import dataclass, field

from treaty.core import refusals
from treaty.core.answers import VersionFound
from treaty.core.finding import Fault, Finding
from treaty.core.names import Subject
from treaty.core.refusals import Incompatible, InvalidSchema, Reason, Refusal, RegistryError, Unavailable
from treaty.core.requests import Request

TOPIC = "topic"
KINDS = ("key", "value")
"""What of a topic a subject describes."""
LIFECYCLES = ("STRONG", "WEAK")
ANY = "-"
"""In place of a namespace or a name of a resource: whichever there is."""


@dataclass(frozen=True, slots=True)
class Resource:
    """What is associated: a topic, by its name in a namespace (a cluster), and by an id that it keeps for life."""

    name: str
    namespace: str
    id: str = ""
    type: str = TOPIC


# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class Association:
    """One association as it stands. `subject` is qualified; times are milliseconds since the epoch."""

    subject: str
    guid: str
    resource: Resource
    kind: str
    lifecycle: str = "WEAK"
    frozen: bool = False
    created: int = 0
    updated: int = 0


@dataclass(frozen=True, slots=True)
class Associations:
    """Associations by namespace and name of their resource, then by kind."""

    associations: tuple[Association, ...]


@dataclass(frozen=True, slots=True)
class Bound:
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
    bound: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Why one entry of a batch was refused: the name of the refusal's class, and what it carries."""

    kind: str
    reason: Reason
    faults: tuple[Fault, ...] = ()
    findings: tuple[Finding, ...] = ()

    @staticmethod
    def by(error: RegistryError) -> "Refused":
        """Keep a refusal, or what else a registry says about one entry."""
        if not isinstance(error, Refusal):
            return Refused("Unavailable", Reason("UNAVAILABLE", str(error)))
        faults = error.faults if isinstance(error, InvalidSchema) else ()
        return Refused(
            type(error).__name__, error.reason, faults, error.findings if isinstance(error, Incompatible) else ()
        )

    @property
    def error(self) -> RegistryError:
        """The refusal itself."""
        kind = getattr(refusals, self.kind, Refusal)
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
    refused: Refused | None = None


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
    """Associations of a subject or of resources. `kinds` and `lifecycle` keep only these; empty keeps all."""

    of: OfSubject | OfName | OfId
    type: str = TOPIC
    kinds: tuple[str, ...] = ()
    lifecycle: str = ""
    offset: int = 0
    limit: int = 1000


@dataclass(frozen=True, slots=True)
class GetAssociations(Request[AssociationResults]):
    """Several lists at once, each of one resource. `schemas` tells the latest schema of every subject too."""

    gets: tuple[ListAssociations, ...] = field(default=())
    schemas: bool = False
