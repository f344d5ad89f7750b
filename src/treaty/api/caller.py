"""Who asks, for everything that runs while their request is answered."""

from contextvars import ContextVar
from dataclasses import dataclass
from uuid import uuid4

from starlette.types import Scope

from treaty.core.access.rights import Access

MAX_REQUEST_ID = 200
"""Characters of a request id that are echoed; a longer one is not."""
REQUEST_ID = b"x-request-id"
OPEN = frozenset({b"/healthz", b"/readyz", b"/readyz/writes", b"/openapi.json", b"/docs"})
"""Pages for everybody: those who start and stop servers have no credentials, and nothing of what is kept is told there."""


@dataclass(frozen=True, slots=True)
class RequestCaller:
    """Somebody who was let in. Without rights there is no `access` to bound them (None).

    `client` is whose request counts against the limits of one client: the principal, or the address it comes from.
    """

    principal: str = ""
    access: Access | None = None
    request_id: str = ""
    client: str = ""


_CALLER: ContextVar[RequestCaller | None] = ContextVar("treaty.caller", default=None)
_REQUEST: ContextVar[str] = ContextVar("treaty.request", default="")
_GIVEN = "treaty.request"


def caller() -> RequestCaller | None:
    """Return who asks; None where nobody was let in."""
    return _CALLER.get()


def set_caller(who: RequestCaller | None) -> None:
    """Say who asks, for the rest of this request's task."""
    _CALLER.set(who)


def identify_request(scope: Scope) -> bytes:
    """Return the id of a request, made up where it came with none that may be echoed; log lines of its task carry it."""
    given: bytes = next((value for name, value in scope["headers"] if name == REQUEST_ID), b"")
    fit = 0 < len(given) <= MAX_REQUEST_ID and given.isascii() and given.decode().isprintable()
    scope[_GIVEN] = found = given if fit else str(uuid4()).encode()
    _REQUEST.set(found.decode())
    return found


def request_id_of(scope: Scope) -> bytes:
    """Return the id that `identified` found for a request; empty where nobody asked it."""
    found: bytes = scope.get(_GIVEN, b"")
    return found


def set_request_id(request_id: str) -> None:
    """Say to which request the rest of this task belongs: one that another node was asked, for its log lines."""
    _REQUEST.set(request_id)


def request_id() -> str:
    """Return the id of the request that this task answers; empty outside of one."""
    return _REQUEST.get()
