"""Security options of `treaty serve`: access rights, audit log, read-only mode, TLS."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from treaty.api.network.addresses import NO_PROXIES, TrustedProxies, read_proxies
from treaty.api.protection import STDERR, ProtectionSettings
from treaty.api.tls import TlsFiles
from treaty.assemble.reach import is_loopback

_FILE = click.Path(path_type=Path)
OPTIONS = (
    click.option(
        "--auth",
        envvar="TREATY_AUTH",
        type=_FILE,
        metavar="FILE",
        help="TOML file with users, groups and permissions (docs/howto/rights.md).",
    ),
    click.option(
        "--audit",
        envvar="TREATY_AUDIT",
        type=_FILE,
        metavar="FILE",
        help="File of the audit log, one line of JSON per change. - is stderr, the default with --auth.",
    ),
    click.option("--read-only", envvar="TREATY_READ_ONLY", is_flag=True, help="Refuse all changes."),
    click.option(
        "--tls-cert",
        envvar="TREATY_TLS_CERT",
        type=_FILE,
        metavar="FILE",
        help="Certificate of the server, in PEM. Enables TLS.",
    ),
    click.option(
        "--tls-key",
        envvar="TREATY_TLS_KEY",
        type=_FILE,
        metavar="FILE",
        help="Private key of the certificate, if in a separate file.",
    ),
    click.option(
        "--tls-client-ca",
        envvar="TREATY_TLS_CLIENT_CA",
        type=_FILE,
        metavar="FILE",
        help="CA certificates, in PEM, that verify client certificates (mTLS).",
    ),
    click.option(
        "--hsts",
        envvar="TREATY_HSTS",
        is_flag=True,
        help="Send Strict-Transport-Security: browsers then use TLS for every port of this host for a year. Always sent on port 443.",
    ),
    click.option(
        "--allowed-host",
        "allowed_hosts",
        envvar="TREATY_ALLOWED_HOST",
        multiple=True,
        metavar="NAME",
        help="Also accept this name in the Host header, for a server on a loopback address without --auth. Web pages of this host may send changes. Repeatable.",
    ),
    click.option(
        "--trusted-proxy",
        "trusted_proxies",
        envvar="TREATY_TRUSTED_PROXY",
        multiple=True,
        metavar="ADDRESS",
        help="Address or network of a proxy whose X-Forwarded-For header is trusted, for limits by client. Repeatable.",
    ),
)


@dataclass(frozen=True, slots=True)
class SecurityOptions:
    """The security options of a server, made by `read_security_options`."""

    protection: ProtectionSettings
    tls: TlsFiles | None = None
    hosts: tuple[str, ...] = ()
    proxies: TrustedProxies = NO_PROXIES
    hsts: bool = False

    @property
    def scheme(self) -> str:
        """The scheme of the server's address."""
        return "http" if self.tls is None else "https"

    def flags(self) -> Iterator[str]:
        """The same as arguments of a worker."""
        protection = self.protection
        pairs = [("--auth", protection.auth), ("--audit", protection.audit)]
        if self.tls is not None:
            pairs += [("--tls-cert", self.tls.certificate), ("--tls-key", self.tls.key)]
            pairs += [("--tls-client-ca", self.tls.client_ca)]
        for name, path in pairs:
            if path is not None:
                yield from (name, str(path))
        if protection.read_only:
            yield "--read-only"
        if self.hsts:
            yield "--hsts"
        for host in self.hosts:
            yield from ("--allowed-host", host)
        for proxy in self.proxies.texts():
            yield from ("--trusted-proxy", proxy)

    def warnings(self, host: str) -> Iterator[str]:
        """Return warnings about the options."""
        if is_loopback(host):
            return
        if self.protection.auth is None and (self.tls is None or self.tls.client_ca is None):
            able = "read the registry" if self.protection.read_only else "read, change and delete everything"
            yield f"WARNING: every client that reaches {host} may {able}: --auth is not set (see docs/howto/rights.md)"
        elif self.tls is None:
            yield f"WARNING: without --tls-cert, passwords and tokens are sent to {host} unencrypted"


def add_security_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def read_security_options(
    *,
    auth: Path | None,
    audit: Path | None,
    read_only: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    tls_client_ca: Path | None,
    allowed_hosts: tuple[str, ...] = (),
    trusted_proxies: tuple[str, ...] = (),
    hsts: bool = False,
    ddl: str = "on",
) -> SecurityOptions:
    """Read the options; raises `click.UsageError` for a contradiction."""
    for name, path in (("--tls-key", tls_key), ("--tls-client-ca", tls_client_ca)):
        if path is not None and tls_cert is None:
            raise click.UsageError(f"{name} needs --tls-cert, the certificate of this server")
    if hsts and tls_cert is None:
        raise click.UsageError("--hsts needs --tls-cert, the certificate of this server")
    for host in allowed_hosts:
        if not host or set("/@?# ").intersection(host):
            raise click.UsageError(f"--allowed-host {host!r} is not a host; give only its name or address")
    try:
        proxies = read_proxies(trusted_proxies)
    except ValueError as error:
        raise click.UsageError(f"--trusted-proxy {error}") from None
    tls = None if tls_cert is None else TlsFiles(tls_cert, tls_key, tls_client_ca, optional=auth is not None)
    protection = ProtectionSettings(
        auth, audit or (STDERR if auth is not None else None), read_only, ddl == "on", ddl == "import"
    )
    return SecurityOptions(protection, tls, tuple(allowed_hosts), proxies, hsts)
