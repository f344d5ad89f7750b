"""Says whether an address is a loopback or a wildcard, and prints it as part of a URL."""

import ipaddress


class PeeringError(Exception):
    """The options for peer nodes are wrong or incomplete; the message has a remedy."""


def is_loopback(host: str) -> bool:
    """Return whether an address is a loopback address; an unknown name counts as reachable by others."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def is_everywhere(host: str) -> bool:
    """Return whether an address is a wildcard, to which no client can connect."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return not host


def netloc(host: str, port: int | None) -> str:
    """Write a host and port as in a URL."""
    bare = host.strip("[]")
    shown_host = f"[{bare}]" if ":" in bare else bare
    return shown_host if port is None else f"{shown_host}:{port}"
