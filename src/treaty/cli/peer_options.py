"""Options of a server with peer nodes: its URL, and how peers authenticate."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from treaty.api.tls import TlsFiles
from treaty.assemble.peers import PeerSettings, refuse_unsafe_peers
from treaty.assemble.reach import PeeringError, is_loopback

_FILE = click.Path(path_type=Path)
OPTIONS = (
    click.option(
        "--advertise",
        envvar="TREATY_ADVERTISE",
        default="",
        metavar="URL",
        help="URL at which peer nodes reach this server; with --bind 0.0.0.0 the start line shows it too (default: its listening address).",
    ),
    click.option(
        "--peer-secret-file",
        envvar="TREATY_PEER_SECRET_FILE",
        type=_FILE,
        metavar="FILE",
        help="File with the shared secret of all nodes of the registry.",
    ),
    click.option(
        "--peer-name",
        "peer_names",
        envvar="TREATY_PEER_NAME",
        multiple=True,
        metavar="NAME",
        help="Accept a client certificate with this name as a peer node. Repeatable.",
    ),
    click.option(
        "--peer-ca",
        envvar="TREATY_PEER_CA",
        type=_FILE,
        metavar="FILE",
        help="CA certificates, in PEM, that verify peer nodes (default: the system's CAs).",
    ),
    click.option(
        "--peer-port",
        envvar="TREATY_PEER_PORT",
        type=click.IntRange(0, 65535),
        default=0,
        metavar="PORT",
        help="With several workers: port of the first worker for peer nodes; further workers use the following ports (default: free ports).",
    ),
    click.option(
        "--peer-plaintext",
        envvar="TREATY_PEER_PLAINTEXT",
        is_flag=True,
        help="Allow the peer secret over plain HTTP. Only for trusted networks.",
    ),
)


def add_peer_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def peer_flags(peering: PeerSettings) -> Iterator[str]:
    """The same as arguments of a worker."""
    if peering.advertise:
        yield from ("--advertise", peering.advertise)
    for name, path in (("--peer-secret-file", peering.secret_file), ("--peer-ca", peering.ca)):
        if path is not None:
            yield from (name, str(path))
    for name in peering.names:
        yield from ("--peer-name", name)
    if peering.port:
        yield from ("--peer-port", str(peering.port))
    if peering.plaintext:
        yield "--peer-plaintext"


def refuse_unsafe_options(peering: PeerSettings, host: str, tls: TlsFiles | None) -> None:
    """Check the options; raises `click.UsageError` for a combination that cannot work."""
    try:
        refuse_unsafe_peers(peering, host, tls)
    except PeeringError as error:
        raise click.UsageError(str(error)) from None


def add_worker_secret(peering: PeerSettings, url: str, host: str, folder: Path) -> PeerSettings:
    """Return the secret of the peers; workers of one machine that need one and were given none get a random one."""
    if peering or not url.startswith("kafka:") or not is_loopback(host):
        return peering
    path = folder / "peer-secret"
    path.touch(mode=0o600)
    path.write_text(secrets.token_hex(32), encoding="utf-8")
    return replace(peering, secret_file=path)
