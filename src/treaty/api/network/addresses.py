"""Addresses of clients: what their limits count by, and which proxies may say whom they stand for."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

PREFIX = 64
"""Bits of an IPv6 address that limits count by: one customer has all addresses below them."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@lru_cache(10_000)
def network_of(address: str) -> str:
    """Return what the limits of an address count by: an IPv4 address itself, of IPv6 the network; else the text."""
    if ":" not in address:
        return address
    try:
        parsed = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    mapped = parsed.ipv4_mapped
    return str(mapped) if mapped else str(ipaddress.IPv6Network((int(parsed) >> PREFIX << PREFIX, PREFIX)))


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """Proxies that are trusted to say in ``X-Forwarded-For`` whom they ask for. Make it with `read_proxies`."""

    networks: tuple[Network, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.networks)

    def covers(self, address: str) -> bool:
        """Say whether what limits count by is, or has in it, the address of a trusted proxy."""
        return bool(self.networks) and _overlaps(address, self.networks)

    def texts(self) -> list[str]:
        """The networks as texts."""
        return [str(network) for network in self.networks]


NO_PROXIES = TrustedProxies()


def read_proxies(texts: Iterable[str]) -> TrustedProxies:
    """Read addresses and networks; raises `ValueError` with the one that is neither."""
    networks = []
    for text in texts:
        try:
            networks.append(ipaddress.ip_network(text, strict=False))
        except ValueError:
            message = f"{text!r} is no address of a proxy; write an address or a network, such as 10.0.0.0/8"
            raise ValueError(message) from None
    return TrustedProxies(tuple(networks))


@lru_cache(1_000)
def _overlaps(address: str, networks: tuple[Network, ...]) -> bool:
    try:
        parsed = ipaddress.ip_network(address)
    except ValueError:
        return False
    return any(parsed.overlaps(network) for network in networks)
