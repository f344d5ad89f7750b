"""Hosts that a server is asked under, and origins of the web pages that ask: a foreign page can neither read nor change
a registry.

A browser sends requests of any page to any address, this machine's among them. A page whose own name leads to this
machine (DNS rebinding) may even read the answers. So a server that only this machine reaches, without authentication,
answers only under its own names. Every server refuses changes that a browser marks as another site's.
"""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import Scope

from treaty.api.errors import HttpError

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing, and whose answers a browser keeps from other sites' pages."""
LOCAL = "localhost"
_REMEDY = "start the server with --allowed-host {host} if it may"


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """Names that this server may be asked under beside those of this machine.

    With `is_guarded` a request under another name is refused, and a change for a page of another name too.
    """

    names: frozenset[str] = frozenset()
    is_guarded: bool = False

    def has(self, host: str) -> bool:
        """Say whether a host is this machine's, or one of the names."""
        return host in self.names or host == LOCAL or is_loopback(host)

    def refuse_foreign(self, scope: Scope) -> None:
        """Raise `HttpError` for a request that is meant for another host, or that a foreign page sends."""
        hosts, origins, site = [], [], b""
        for name, value in scope["headers"]:
            if name == b"host":
                hosts.append(value)
            elif name == b"origin":
                origins.append(value)
            elif name == b"sec-fetch-site":
                site = value
        if self.is_guarded:
            self._refuse_host([host_of(host.decode("latin-1")) for host in hosts])
        if scope["method"] not in SAFE and (self.is_guarded or site == b"cross-site"):
            self._refuse_origin([origin.decode("latin-1") for origin in origins], site)

    def _refuse_host(self, hosts: list[str]) -> None:
        """A program may leave the header out; a browser never does."""
        foreign = next((host for host in hosts if not self.has(host)), None)
        if foreign is not None or len(hosts) > 1:
            short_host = (foreign or hosts[0])[:100]
            raise HttpError(
                421,
                f"HTTP 421 Misdirected Request: this server is not asked as {short_host!r}, without --auth only as localhost; "
                + _REMEDY.format(host=short_host),
            )

    def _refuse_origin(self, origins: list[str], site: bytes) -> None:
        foreign = next((origin for origin in origins if not self.has(host_of(netloc_of(origin)))), None)
        if foreign is None and (origins or site != b"cross-site"):
            return
        page = f"the page of {foreign[:100]!r}" if foreign else "the page of another site"
        host = host_of(netloc_of(foreign or ""))[:100]
        remedy = _REMEDY.format(host=host) if host else "only pages that tell their host may be allowed to"
        raise HttpError(403, f"HTTP 403 Forbidden: {page} may change nothing here; {remedy}")


ANY_HOST = AllowedHosts()
"""The bound of a server that others reach, or that knows who asks."""


def netloc_of(origin: str) -> str:
    """Return the host and port of an origin; ``null`` and what is none have none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def host_of(text: str) -> str:
    """Return the host in ``host:port``, in small letters, without brackets; the whole text where the port is no number."""
    bare = text.strip().lower()
    if bare.startswith("["):
        host, _, rest = bare[1:].partition("]")
        port = rest.removeprefix(":")
    else:
        host, _, port = bare.partition(":")
    return host.removesuffix(".") if not port or port.isdecimal() else bare


def is_loopback(host: str) -> bool:
    """Say whether a host is an address that only this machine reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
