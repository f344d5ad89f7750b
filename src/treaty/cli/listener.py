"""The socket on which a server listens, and the URL that clients reach it by."""

import errno
import socket

import click

from treaty.assemble.reach import is_everywhere, netloc

BACKLOG = 2048
"""Backlog of the listening socket, in connections."""


def open_listener(host: str, port: int) -> socket.socket:
    """Open the listening socket; raises an error with a remedy if that fails."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as reason:
        remedy = {
            errno.EADDRINUSE: f"the port is in use; try --port {port + 1 if port < 65535 else 0}",
            errno.EACCES: "this user may not use ports below 1024; try --port 8081",
            errno.EADDRNOTAVAIL: "this machine does not have that address; try --host 127.0.0.1",
            socket.EAI_NONAME: "the name has no address; try --host 127.0.0.1",
        }.get(reason.errno or 0, "")
        raise click.ClickException(f"cannot listen on {host} port {port}: {remedy or reason.strerror}") from None


def find_client_url(scheme: str, advertise: str, host: str, port: int) -> tuple[str, tuple[str, ...]]:
    """Return a URL for clients, and a remark if they need more: no client can use a wildcard address with TLS."""
    if not is_everywhere(host):
        return f"{scheme}://{netloc(host, port)}", ()
    if advertise:
        return advertise.rstrip("/"), ()
    if scheme == "http":
        return f"http://{netloc('::1' if ':' in host else '127.0.0.1', port)}", (
            f"           on all addresses of this machine ({host}); other machines use one of its names",
        )
    return f"https://NAME:{port}", (
        f"           on all addresses of this machine ({host}); for NAME write a name of its certificate",
        f"           that leads here, or start with --advertise https://name:{port}",
    )
