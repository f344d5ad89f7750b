"""`Authenticator`: one way to show who asks, as a record of functions."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Certificate = dict[str, object]
"""A client's certificate that TLS has verified, as `ssl.SSLSocket.getpeercert` tells it."""


@dataclass(frozen=True, slots=True)
class RequestCredentials:
    """What a request shows: its Authorization header as sent, the certificate of its connection, and what its limits count by."""

    authorization: bytes = b""
    certificate: Certificate | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class AuthenticatedPrincipal:
    """Who asks: ``user:alice``, ``token:…`` or ``cert:…``, in which groups, and until when (monotonic seconds)."""

    principal: str
    groups: tuple[str, ...] = ()
    until: float = math.inf


@dataclass(frozen=True, slots=True)
class AuthenticationFailure:
    """The credentials are not good, and why; never a word of the secret."""

    why: str


async def refresh_nothing() -> bool:
    """Nothing that could change."""
    return False


def close_nothing() -> None:
    """Nothing to give back."""


@dataclass(frozen=True, slots=True)
class AuthenticationMethod:
    """One way to show who asks.

    `scheme` is the first word of the Authorization header that it reads, in small letters, empty for what comes with
    the connection. `refresh` looks once at the files it depends on, and tells whether what was verified before has to
    be forgotten. `check` may raise `Unavailable` where it can't say now.
    """

    scheme: bytes
    challenge: str
    check: Callable[[RequestCredentials], Awaitable[AuthenticatedPrincipal | AuthenticationFailure]]
    refresh: Callable[[], Awaitable[bool]] = refresh_nothing
    close: Callable[[], None] = close_nothing
