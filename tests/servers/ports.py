"""Free ports of loopback for servers that are told their port before they begin to listen."""

import secrets
import socket

LOWEST, HIGHEST = 20_000, 32_000
"""Ports below those that systems give to outgoing connections (from 32768 on Linux, from 49152 elsewhere): none of these connections takes a port
before its server listens, or while a server is down that comes back to it."""


def free_port() -> int:
    """Return a port on which nobody listens."""
    while True:
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue


def free_ports(count: int) -> tuple[int, ...]:
    """Return several such ports, each another."""
    ports: set[int] = set()
    while len(ports) < count:
        ports.add(free_port())
    return tuple(ports)
