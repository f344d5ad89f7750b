"""Operations: the table of one declaration for each kind of request.

`treaty.core.decide`, forwarding, `POST /treaty/v1/ask`, clients, stored outcomes, the audit log and the simulation all
use these declarations. The declarations are in `treaty.core.declarations`, by area, and an area is loaded for the first
request of it: a program that lists streams loads no handler of registrations.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from treaty.core.access import permissions
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision, PausingWork
from treaty.core.messages.request import Request
from treaty.core.names import Subject
from treaty.core.refusals import Forbidden
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.view import View
from treaty.light_dataclass import dataclass

R = TypeVar("R", bound=Request[Any])
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class SubjectMember(Generic[R]):
    """The subject of a request that may be an alias, and a function that replaces it."""

    find: Callable[[R], Subject | None]
    replace: Callable[[R, Subject], R]


@dataclass(frozen=True, slots=True)
class Operation(Generic[R, A]):
    """The declaration of a kind of request: name, handler, permissions, and the storage of its outcome."""

    name: str
    """The name in logs, between nodes and in the audit log. A class may be renamed, a name never."""
    request: type[R]
    answer: type[A]
    handler: Callable[[View, Command[R], SchemaEngine], Decision[A] | PausingWork[Decision[A]]]
    permissions: Callable[[R], permissions.Required]
    limits: tuple[str, ...] = ()
    """Names of limits (`treaty.core.limits`) that it may exceed."""
    writes: bool = False
    answer_name: str = ""
    """The kind of the answer in the stored outcome of one that writes. It never changes."""
    immutable: bool = False
    """Whether its answer is immutable, so that it needs no read barrier: a schema by id or guid. A version number may
    mean another schema later, by an alias or after a permanent deletion. "Not found" always needs a read barrier.
    """
    alias: SubjectMember[R] | None = None
    """The subject that is resolved if it is an alias. None for settings, which apply to the alias itself."""
    is_idempotent: Callable[[R], bool] = lambda _request: False
    """Whether a repeated write has the same answer; others are refused the second time."""
    pauses: bool = False
    """Whether its handler is a generator that pauses, because it may read very many rows."""
    waits: Callable[[R, A], float] | None = None
    """For a query that may wait for a later state: the seconds for which the caller waits where this is its answer, 0 for none."""
    query_before: Callable[[R], Request[Any]] | None = None
    """The query for the value that it changes."""
    sign: Callable[[R, str], R] | None = None
    """Returns the request with this principal as the one who skips the policy."""


# ----------------------------------------------------------------------------------------------------------- aliases


def _subject_unless_exact(request: Any) -> Subject | None:
    subject: Subject | None = None if request.exact else request.subject
    return subject


def _with_subject(request: Any, subject: Subject) -> Any:
    return replace(request, subject=subject)


SUBJECT: SubjectMember[Any] = SubjectMember(lambda request: request.subject, _with_subject)
SUBJECT_UNLESS_EXACT: SubjectMember[Any] = SubjectMember(_subject_unless_exact, _with_subject)


# ------------------------------------------------------------------------------------------------ shared by several


def is_always(_request: object) -> bool:
    """Return True: a repetition of this write has the same answer."""
    return True


DRAFT_LIMITS = ("SCHEMA_BYTES", "OPAQUE_BYTES", "REFERENCES", "REFERENCE_DEPTH")
VERSION_LIMITS = (
    *DRAFT_LIMITS, "RULES", "RULE_NAME", "TAGGED", "NAME_LENGTH", "SCHEMAS_PER_CONTEXT", "VERSIONS_PER_SUBJECT",
    "VERSIONS_KEPT_PER_SUBJECT", "COUNTER", "NAMES_PER_VERSION", "SCHEME_LENGTH", "VERSIONS_PER_NAME",
)  # fmt: skip
REGISTER_LIMITS = (
    *VERSION_LIMITS, "CONTEXTS", "SUBJECTS_PER_CONTEXT", "ID_GAP", "TIME_AHEAD", "GROUP_PROPERTIES", "GROUP_PROPERTY_CHARACTERS",
    "ID_SCHEMES",
)  # fmt: skip
"""Limits of a request that carries a schema, of one that makes a version, and of one that may make a subject."""


# ------------------------------------------------------------------------------------------------------------ the table


AREAS = ("commands", "groups", "queries", "schemaver", "transfers", "metastore", "sources")
"""The modules of `treaty.core.declarations`, in the order in which their operations are listed."""
_MESSAGES = "treaty.core.messages"
HOMES: Mapping[str, tuple[str, ...]] = {
    f"{_MESSAGES}.versions": ("queries", "commands"),
    f"{_MESSAGES}.registration": ("commands",),
    f"{_MESSAGES}.schemas": ("queries",),
    f"{_MESSAGES}.listings": ("queries",),
    f"{_MESSAGES}.compatibility": ("queries",),
    f"{_MESSAGES}.settings": ("queries", "commands"),
    f"{_MESSAGES}.contexts": ("queries", "commands"),
    f"{_MESSAGES}.outcomes": ("queries",),
    f"{_MESSAGES}.associations": ("queries", "commands"),
    f"{_MESSAGES}.differences": ("queries",),
    f"{_MESSAGES}.names": ("queries", "groups"),
    f"{_MESSAGES}.search": ("queries",),
    f"{_MESSAGES}.encodings": ("groups",),
    f"{_MESSAGES}.groups": ("groups",),
    f"{_MESSAGES}.policies": ("groups",),
    f"{_MESSAGES}.api_keys": ("groups",),
    f"{_MESSAGES}.schemaver": ("schemaver",),
    f"{_MESSAGES}.transfers": ("transfers",),
    f"{_MESSAGES}.metastore.sources": ("sources", "metastore"),
    f"{_MESSAGES}.metastore.query_feed": ("sources",),
    f"{_MESSAGES}.metastore.deleted_topics": ("metastore",),
    f"{_MESSAGES}.metastore.kept_files": ("metastore",),
    f"{_MESSAGES}.metastore.plans": ("metastore",),
    f"{_MESSAGES}.metastore.runners": ("metastore",),
    f"{_MESSAGES}.metastore.scripts": ("metastore",),
}
"""The areas that may declare a request, by the module of its class; they are loaded in this order up to the one that does."""


class OperationTable(Mapping[type, Operation[Any, Any]]):
    """Operations by class of request. One that is asked for is loaded with its area, and a list of them with all."""

    def __init__(self) -> None:
        """Load nothing yet."""
        self._areas: dict[str, Mapping[type, Operation[Any, Any]]] = {}
        self._loaded: dict[type, Operation[Any, Any]] = {}

    def __getitem__(self, request: type) -> Operation[Any, Any]:
        """Return the operation of a class of requests. Raises `KeyError` for a class that no area declares."""
        operation = self._loaded.get(request)
        if operation is not None:
            return operation
        for area in HOMES.get(request.__module__, ()):
            if request in self._load(area):
                return self._loaded[request]
        raise KeyError(request)

    def __iter__(self) -> Iterator[type]:
        """All classes of requests, in the order of the areas."""
        for area in AREAS:
            yield from self._load(area)

    def __len__(self) -> int:
        return sum(len(self._load(area)) for area in AREAS)

    def _load(self, area: str) -> Mapping[type, Operation[Any, Any]]:
        if area not in self._areas:
            declared = import_module(f"treaty.core.declarations.{area}").DECLARED
            operations = {operation.request: operation for operation in declared}
            self._loaded |= operations
            self._areas[area] = operations  # last: another thread that finds the area finds its operations too
        return self._areas[area]


OPERATIONS: Mapping[type, Operation[Any, Any]] = OperationTable()
"""Operations by class of request."""

if TYPE_CHECKING:
    NAMED_OPERATIONS: Mapping[str, Operation[Any, Any]]
    """Every operation, by its name. All areas are loaded for it, when it is first used."""
    STORED_ANSWERS: Mapping[str, type[Any]]
    """The classes of the answers of all operations that write, by their kind in stored outcomes. It is made likewise."""
else:

    def __getattr__(name: str) -> object:
        if name == "NAMED_OPERATIONS":
            table = {operation.name: operation for operation in OPERATIONS.values()}
        elif name == "STORED_ANSWERS":
            table = {operation.answer_name: operation.answer for operation in OPERATIONS.values() if operation.writes}
        else:
            raise AttributeError(f"module 'treaty.core.operations' has no attribute {name!r}")
        globals()[name] = table
        return table


# -------------------------------------------------------------------------------------------- questions about requests


def operation_name(request: object) -> str:
    """Return the name of a request's operation; for an unknown one, which is refused, the name of its class."""
    operation = OPERATIONS.get(type(request))
    return type(request).__name__ if operation is None else operation.name


def is_command(request: Request[Any]) -> bool:
    """Return whether a request may write."""
    return OPERATIONS[type(request)].writes


def is_idempotent(request: Request[Any]) -> bool:
    """Return whether a repeated request has the same answer; all queries do."""
    operation = OPERATIONS[type(request)]
    return not operation.writes or operation.is_idempotent(request)


def is_pausing(request: Request[Any]) -> bool:
    """Return whether a query may read very many rows and pauses."""
    return OPERATIONS[type(request)].pauses


def needs_read_barrier(request: Request[Any]) -> bool:
    """Return whether a query needs a read barrier before it is answered. "Not found" always does."""
    return not OPERATIONS[type(request)].immutable


def refuse_unless_allowed(access: Access, principal: str, request: Request[Any]) -> None:
    """Raise `Forbidden` if a permission is missing. The state is not read, so nothing of it leaks."""
    operation = OPERATIONS.get(type(request))
    if operation is None:
        name = operation_name(request)
        raise Forbidden.of("RIGHTS_UNKNOWN", f"no rights are known for {name}, so no principal has them", new=name)
    permissions.refuse_unless_met(access, principal, operation.permissions(request), operation.name)
