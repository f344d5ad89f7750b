"""The caller and the id of the current request, as context variables."""

from contextvars import ContextVar
from dataclasses import dataclass
from uuid import uuid4

from starlette.types import Scope

from treaty.core.access.rights import Access

MAX_REQUEST_ID = 200
"""The longest request id that is accepted."""
REQUEST_ID = b"x-request-id"
OPEN = frozenset({
    b"/healthz", b"/readyz", b"/readyz/writes", b"/openapi.json", b"/docs", b"/ping", b"/api/meta/health",
})  # fmt: skip
"""Pages without authentication, for orchestrators; they reveal nothing about the content."""


@dataclass(frozen=True, slots=True)
class RequestCaller:
    """The caller of a request. Without rights `access` is None.

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
    """Return the caller; None without an authenticated request."""
    return _CALLER.get()


def set_caller(who: RequestCaller | None) -> None:
    """Set the caller for this request's task."""
    _CALLER.set(who)


def identify_request(scope: Scope) -> bytes:
    """Return the id of a request, or a generated one; log lines of its task contain it."""
    sent_id: bytes = next((value for name, value in scope["headers"] if name == REQUEST_ID), b"")
    fit = 0 < len(sent_id) <= MAX_REQUEST_ID and sent_id.isascii() and sent_id.decode().isprintable()
    scope[_GIVEN] = request_id = sent_id if fit else str(uuid4()).encode()
    _REQUEST.set(request_id.decode())
    return request_id


def request_id_of(scope: Scope) -> bytes:
    """Return the id of a request; empty if it was not determined yet."""
    request_id: bytes = scope.get(_GIVEN, b"")
    return request_id


def set_request_id(request_id: str) -> None:
    """Set the request id of this task, for a command of another node."""
    _REQUEST.set(request_id)


def request_id() -> str:
    """Return the request id of this task; empty outside of a request."""
    return _REQUEST.get()
