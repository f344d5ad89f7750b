"""Peer nodes: addresses of a server, its authentication with other nodes, and which settings of these are refused as unsafe."""

import string
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.api.peer import PeerAuthenticator
from treaty.api.request_scope import request_id
from treaty.api.tls import ShownCertificate, TlsError, TlsFiles
from treaty.assemble.reach import PeeringError, is_everywhere, is_loopback, netloc
from treaty.assemble.secret_files import refuse_open
from treaty.client.settings import tls_of
from treaty.core.urls import UrlError, hide_credentials, split_server_url

if TYPE_CHECKING:
    from treaty.client.peer_transport import HttpPeerTransport

SECRET_LENGTH = 16
"""The fewest characters of a secret."""
SECRETS = 10
"""The most secrets in a file: the current one, and others during a rotation."""
_PRINTABLE = frozenset(string.digits + string.ascii_letters + string.punctuation)


@dataclass(frozen=True, slots=True)
class PeerSettings:
    """Options for peer nodes. Without a secret and names a node neither forwards commands nor accepts them.

    `advertise` is the URL under which other nodes reach this server (empty: made from where it listens). `names` are
    those that certificates of nodes have. `ca` verifies other nodes. `port` is the first of the ports of several
    workers, which each have one of their own (0: any that is free). `plaintext` lets the secret travel as everybody on
    the way can read it.
    """

    advertise: str = ""
    secret_file: Path | None = None
    names: tuple[str, ...] = ()
    ca: Path | None = None
    port: int = 0
    plaintext: bool = False

    def __bool__(self) -> bool:
        return self.secret_file is not None or bool(self.names)


NO_PEERS = PeerSettings()


def refuse_unsafe_peers(peering: PeerSettings, host: str, tls: TlsFiles | None) -> None:
    """Raise `PeeringError` where a server that listens at `host` can't be, or is not safe, as it was asked for."""
    try:
        parts = split_server_url(peering.advertise)
    except UrlError as error:
        raise PeeringError(f"--advertise: {error}") from None
    if peering.advertise and (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or parts.query
        or parts.fragment
        or "@" in peering.advertise
    ):
        raise PeeringError(
            f"--advertise {hide_credentials(peering.advertise)!r} is no URL of a server: write https://host:port, without a user"
        )
    if peering.names and (tls is None or tls.client_ca is None):
        raise PeeringError("--peer-name needs --tls-cert and --tls-client-ca, which verify the certificates of nodes")
    if peering.ca is not None and not peering:
        raise PeeringError(
            "--peer-ca says which certificates of nodes to trust; this node needs --peer-secret-file or --peer-name too"
        )
    if peering.secret_file is None:
        return
    read_secrets(peering.secret_file)
    outside = not is_loopback(host) or (peering.advertise and not is_loopback(parts.hostname or ""))
    if outside and tls is None and not peering.plaintext:
        raise PeeringError(
            f"the peer secret would be sent to {host} unencrypted: use TLS (--tls-cert), or --peer-plaintext in a trusted network"
        )


def read_secrets(path: Path) -> tuple[str, ...]:
    """Read the secrets of a file, one per line; the first is sent, all are accepted. Raises `PeeringError`."""
    refuse_open(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as reason:
        why = getattr(reason, "strerror", None) or "it is no text"
        raise PeeringError(f"{path}: {why}; give a file with the secret of all nodes") from None
    secrets = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    if not 0 < len(secrets) <= SECRETS:
        raise PeeringError(f"{path}: {len(secrets)} secrets; give one a line, at most {SECRETS}")
    for place, secret in enumerate(secrets, 1):
        if len(secret) < SECRET_LENGTH or not _PRINTABLE.issuperset(secret):
            raise PeeringError(
                f"{path}: secret {place} is too short, or not of plain characters; "
                f"give at least {SECRET_LENGTH} letters, digits and signs, for instance from: openssl rand -hex 32"
            )
    return secrets


def authenticator_of(peering: PeerSettings) -> PeerAuthenticator | None:
    """Return the authenticator of peer nodes; None without peers."""
    if not peering:
        return None
    secrets = () if peering.secret_file is None else read_secrets(peering.secret_file)
    return PeerAuthenticator(tuple(one.encode() for one in secrets), frozenset(peering.names))


def transport_of(peering: PeerSettings, tls: TlsFiles | None) -> "HttpPeerTransport | None":
    """Return the transport to peer nodes; None without credentials. Raises `PeeringError`, `TlsError`."""
    if not peering:
        return None
    secret = "" if peering.secret_file is None else read_secrets(peering.secret_file)[0]
    shown_files = tls if peering.names else None
    context = None
    if peering.ca is not None or shown_files is not None:
        try:
            context = tls_of(
                peering.ca, *((shown_files.certificate, shown_files.key) if shown_files is not None else ())
            )
        except ValueError as error:
            raise TlsError(str(error)) from None
    from treaty.client.peer_transport import HttpPeerTransport, PeerCredentials, do_nothing  # noqa: PLC0415 (most servers have no peers)

    renew = do_nothing if context is None or shown_files is None else ShownCertificate(shown_files, context).refresh
    return HttpPeerTransport(PeerCredentials(secret, context, peering.plaintext, renew, request_id))


def address_of(peering: PeerSettings, place: tuple[str, int], tls: TlsFiles | None, own: int = 0) -> str:
    """Return the URL at which other nodes reach a worker that listens at a host and port; empty if unknown. `own` is
    the port of this worker alone, if there are several.
    """
    if not peering:
        return ""
    host, port = place
    advertised = split_server_url(peering.advertise)
    if advertised.hostname and not own:
        return peering.advertise.rstrip("/")
    if advertised.hostname:
        host = advertised.hostname
    if is_everywhere(host):
        return ""
    return f"{'http' if tls is None else 'https'}://{netloc(host, own or port)}"
