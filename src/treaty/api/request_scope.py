"""What the layers of the server know of a request and pass on: keys of its ASGI scope, its caller and its id."""

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from starlette.types import Scope

from treaty.core.access.rights import Access
from treaty.core.messages.request import Request
from treaty.core.operations import is_command
from treaty.core.registry import AsyncRegistry, CallOptions, Reply

A = TypeVar("A")

ROUTE = "treaty.route"
"""The path pattern of the route that took the request; metrics count by it."""
PEER = "treaty.peer"
"""The certificate that the client of this connection has shown, verified by TLS, as returned by `getpeercert`."""
_CACHE_PERMIT = "treaty.cache_permit"
_CONNECTION = "treaty.connection"


class CachePermit(Protocol):
    """The permission to keep an answer in the response cache, for the next request with the same bytes."""

    def keep(self, variant: tuple[str, bool, bool], headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        """Keep a complete answer with status 200. `variant` is what the bytes depend on besides the request line."""
        ...

    def for_rights(self, rights: object, until: float) -> "CachePermit":
        """Return a permit for callers with these rights alone, until a time (monotonic seconds)."""
        ...


def set_cache_permit(scope: Scope, permit: CachePermit) -> None:
    """Give the slow path a permit."""
    scope[_CACHE_PERMIT] = permit


def cache_permit_of(scope: Scope) -> CachePermit | None:
    """Return the permit of a request, if its answer may be kept at all."""
    permit: CachePermit | None = scope.get(_CACHE_PERMIT)
    return permit


class RequestConnection(Protocol):
    """The connection that a request came by."""

    query: "asyncio.Task[Any] | None"
    """The task that answers a query; it is cancelled when the client is gone."""

    async def wait_until_read(self) -> bool:
        """Wait until the client has taken the answers before this one; false where it is gone."""
        ...

    def is_gone(self) -> bool:
        """Say whether nothing can be sent any more."""
        ...

    def make_room(self, size: int) -> bool:
        """Say whether an answer of so many bytes has room beside all that clients have not read."""
        ...

    def note_unread(self) -> None:
        """Count what the client has not read yet."""
        ...


def set_connection(scope: Scope, connection: RequestConnection) -> None:
    """Leave the connection of a request."""
    scope[_CONNECTION] = connection


def connection_of(scope: Scope) -> RequestConnection | None:
    """Return the connection of a request, where it is known."""
    connection: RequestConnection | None = scope.get(_CONNECTION)
    return connection


def answer_size(answer: object) -> int:
    """Return how many characters and bytes the schemas in an answer have: those of a version, or of a list of versions."""
    versions = getattr(answer, "versions", None)
    if isinstance(versions, tuple):
        return sum(map(answer_size, versions))
    version = getattr(getattr(answer, "schema", answer), "version", answer)
    sized = answer if isinstance(version, int) else version
    return len(getattr(sized, "text", "")) + len(getattr(sized, "data", None) or b"")


async def ask_registry(scope: Scope, registry: AsyncRegistry, request: Request[A], call: CallOptions) -> Reply[A]:
    """Ask a registry for a request (see `AsyncRegistry` for what it raises).

    A query ends when the client closes its connection, because no client reads the answer. A command is decided all the
    same.
    """
    connection = connection_of(scope)
    if connection is None or is_command(request):
        return await registry.ask(request, call)
    connection.query = asyncio.current_task()
    try:
        return await registry.ask(request, call)
    finally:
        connection.query = None


# ----------------------------------------------------------------------------------------------------------- the caller


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
