"""Keys of an ASGI scope by which the layers of the server pass on what they know of a request."""

import asyncio
from typing import Any, Protocol, TypeVar

from starlette.types import Scope

from treaty.core.operations import is_command
from treaty.core.registry import AsyncRegistry, CallOptions, Reply
from treaty.core.requests import Request

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
