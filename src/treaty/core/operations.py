"""Operations: the table of one declaration for each kind of request.

`treaty.core.decide`, forwarding, `POST /treaty/v1/ask`, clients, stored outcomes, the audit log and the simulation all
use these declarations. The declarations are in `treaty.core.declarations`, by area.
"""

from collections.abc import Mapping
from typing import Any

from treaty.core.access import permissions
from treaty.core.access.rights import Access
from treaty.core.declarations import commands, groups, metastore, queries, schemaver, transfers
from treaty.core.declarations.operation import Operation
from treaty.core.refusals import Forbidden
from treaty.core.requests import Request

DECLARED: tuple[Operation[Any, Any], ...] = (
    *commands.DECLARED,
    *groups.DECLARED,
    *queries.DECLARED,
    *schemaver.DECLARED,
    *transfers.DECLARED,
    *metastore.DECLARED,
)

OPERATIONS: Mapping[type, Operation[Any, Any]] = {one.request: one for one in DECLARED}
"""Operations by class of request."""
NAMED_OPERATIONS: Mapping[str, Operation[Any, Any]] = {one.name: one for one in DECLARED}
"""Every operation, by its name."""


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
