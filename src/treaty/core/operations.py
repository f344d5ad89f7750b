"""Operations: the table of one declaration for each kind of request.

`treaty.core.decide`, forwarding, `POST /treaty/v1/ask`, clients, stored outcomes, the audit log and the simulation all
use these declarations. The declarations are in `treaty.core.declarations`, by area, and an area is loaded for the first
request of it: a program that lists streams loads no handler of registrations.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from treaty.core.access import permissions
from treaty.core.access.rights import Access
from treaty.core.declarations.operation import Operation
from treaty.core.refusals import Forbidden
from treaty.core.requests import Request

AREAS = ("commands", "groups", "queries", "schemaver", "transfers", "metastore", "sources")
"""The modules of `treaty.core.declarations`, in the order in which their operations are listed."""
_MESSAGES = "treaty.core.messages"
HOMES: Mapping[str, tuple[str, ...]] = {
    "treaty.core.requests": ("queries", "commands"),
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
    f"{_MESSAGES}.metastore": ("sources", "metastore"),
    f"{_MESSAGES}.query_feed": ("sources",),
    f"{_MESSAGES}.deleted_topics": ("metastore",),
    f"{_MESSAGES}.kept_files": ("metastore",),
    f"{_MESSAGES}.plans": ("metastore",),
    f"{_MESSAGES}.runners": ("metastore",),
    f"{_MESSAGES}.scripts": ("metastore",),
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
            table = {one.name: one for one in OPERATIONS.values()}
        elif name == "STORED_ANSWERS":
            table = {one.answer_name: one.answer for one in OPERATIONS.values() if one.writes}
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
