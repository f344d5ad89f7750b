"""Who reaches an address: this machine alone, all, and how it is written in a URL."""

import ipaddress


class PeeringError(Exception):
    """What was said about other nodes can't be right, or is not enough; the sentence says what to do."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address; a name that is none is taken for one that others reach."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def is_everywhere(host: str) -> bool:
    """Return whether an address stands for all that a machine has, so that nobody can connect to it by this name."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return not host


def netloc(host: str, port: int | None) -> str:
    """Write a host and port as in a URL."""
    bare = host.strip("[]")
    shown = f"[{bare}]" if ":" in bare else bare
    return shown if port is None else f"{shown}:{port}"
