"""Words that the layers of the server leave for each other in an ASGI scope."""

from typing import Protocol

from starlette.types import Scope

ROUTE = "treaty.route"
"""The path pattern of the route that took the request; metrics count by it."""
PEER = "treaty.peer"
"""The certificate that the client of this connection has shown, verified by TLS, as `getpeercert` tells it."""
_TICKET = "treaty.ticket"
_CONNECTION = "treaty.connection"


class Ticket(Protocol):
    """Leave to keep an answer for the next time the same request comes."""

    def keep(self, variant: tuple[str, bool, bool], headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        """Keep a complete answer with status 200. `variant` is what the bytes depend on besides the request line."""
        ...

    def bound(self, rights: object, until: float) -> "Ticket":
        """Return a ticket for those alone who have the same rights, and until a time (monotonic seconds)."""
        ...


def leave_ticket(scope: Scope, ticket: Ticket) -> None:
    """Leave a ticket for the slow path."""
    scope[_TICKET] = ticket


def ticket_of(scope: Scope) -> Ticket | None:
    """Return the ticket of a request, if it may be kept at all."""
    ticket: Ticket | None = scope.get(_TICKET)
    return ticket


class RequestConnection(Protocol):
    """The connection that a request came by."""

    async def wait_until_read(self) -> bool:
        """Wait until the client has taken the answers before this one; false where it is gone."""
        ...

    def is_gone(self) -> bool:
        """Say whether nothing can be sent any more."""
        ...


def set_connection(scope: Scope, connection: RequestConnection) -> None:
    """Leave the connection of a request."""
    scope[_CONNECTION] = connection


def connection_of(scope: Scope) -> RequestConnection | None:
    """Return the connection of a request, where it is known."""
    connection: RequestConnection | None = scope.get(_CONNECTION)
    return connection
