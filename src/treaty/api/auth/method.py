"""`AuthenticationMethod`: what each method of authentication (basic, bearer, certificate, API key, session) provides, as a record of functions."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Certificate = dict[str, object]
"""A verified client certificate, as returned by `ssl.SSLSocket.getpeercert`."""


@dataclass(frozen=True, slots=True)
class RequestCredentials:
    """The credentials of a request: its Authorization header, the certificate of its connection, and the address that
    limits count by.
    """

    authorization: bytes = b""
    certificate: Certificate | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class AuthenticatedPrincipal:
    """An authenticated principal: ``user:alice``, ``token:…`` or ``cert:…``, its groups, and the end of validity
    (monotonic seconds).
    """

    principal: str
    groups: tuple[str, ...] = ()
    until: float = math.inf


@dataclass(frozen=True, slots=True)
class AuthenticationFailure:
    """Rejected credentials with the reason, which never contains the secret."""

    why: str


async def refresh_nothing() -> bool:
    """Nothing that could change."""
    return False


def close_nothing() -> None:
    """Nothing to give back."""


def stamp_nothing(_principal: str) -> str:
    """Nothing is stored about a principal."""
    return ""


@dataclass(frozen=True, slots=True)
class AuthenticationMethod:
    """A method of authentication.

    `scheme` is the scheme of the Authorization header in lower case, empty for client certificates. `refresh` checks
    its files once, and returns whether cached verifications must be dropped. `check` may raise `Unavailable`.
    `stamp` returns a word that changes when what is stored about a principal does, such as its password.
    """

    scheme: bytes
    challenge: str
    check: Callable[[RequestCredentials], Awaitable[AuthenticatedPrincipal | AuthenticationFailure]]
    refresh: Callable[[], Awaitable[bool]] = refresh_nothing
    close: Callable[[], None] = close_nothing
    stamp: Callable[[str], str] = stamp_nothing
