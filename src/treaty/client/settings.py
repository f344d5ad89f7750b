"""Settings of an HTTP client are read from URLs, mappings and the environment: URLs, time-outs, retries, credentials and TLS; a bad URL is refused
(`settings_of_url`).
"""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlunsplit

from treaty.client.credentials import Credentials, basic, bearer, bearer_file
from treaty.core.schema import Pairs
from treaty.core.urls import split_server_url
from treaty.light_dataclass import dataclass

if TYPE_CHECKING:
    import ssl


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """Limits and times to live of a cache. Times are in seconds."""

    schema_bytes: int = 64 * 2**20
    """Characters of schemas by id and guid. They never change, so an entry is only removed as the least recently used."""
    versions: int = 10_000
    """The most entries of all other kinds."""
    latest_ttl: float = 60.0
    """Time to live of `latest`, of versions by number or metadata, and of look-ups."""
    missing_ttl: float = 2.0
    """Time to live of "not found"."""


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Settings of a client. Times are in seconds. Its `repr` contains no secret."""

    urls: tuple[str, ...]
    """Base URLs of the nodes of one registry, each optionally with a path. If one fails, the next is used."""
    rounds: int = 4
    """Attempts at every URL."""
    pause: float = 0.1
    """Backoff after the first round, doubled after each; also the backoff of a failed node."""
    max_pause: float = 5.0
    max_backoff: float = 30.0
    """The longest backoff of a node, also for ``Retry-After``."""
    attempt_timeout: float = 10.0
    """Time-out of an attempt; `CallOptions.timeout` is that of all attempts together."""
    connect_timeout: float = 3.0
    """Time-out of connecting."""
    native_recheck: float = 300.0
    """Seconds until `/treaty/v1/ask` is tried again at a server without it; meanwhile Confluent's API is used."""
    connections: int = 16
    """Persistent connections per host."""
    answer_bytes: int = 256 * 2**20
    """The largest answer, in bytes."""
    headers: Pairs = field(default=(), repr=False)
    """Additional headers of every request."""
    credentials: Credentials | None = None
    """Credentials, the same for every URL."""
    tls: "ssl.SSLContext | None" = None
    """None: the system's CAs, and no client certificate. See `tls_of`."""
    read_your_writes: bool = True
    """Send the position of this client's last write with every read, so that no node answers with an older state."""
    cache: CachePolicy | None = None
    """Policy of the cache of `treaty.connect`; None: no cache."""


def settings_of_url(url: str) -> ClientSettings:
    """Return settings for a URL, or several separated by commas; user and password become HTTP basic. Raises
    `ValueError` for anything that is not an http or https URL.
    """
    parts = [split_server_url(each.strip()) for each in url.split(",") if each.strip()]
    for part in parts:
        if part.scheme not in {"http", "https"} or not part.hostname or part.query or part.fragment:
            raise ValueError(
                f"'{part.scheme}://{part.hostname or ''}' is not the URL of a registry; http(s)://host[:port]"
            )
    if not parts:
        raise ValueError("no URL of a registry; allowed is http(s)://host[:port][/path], several with commas")
    bases = tuple(urlunsplit((p.scheme, p.netloc.rpartition("@")[2], p.path.rstrip("/"), "", "")) for p in parts)
    user = next((part for part in parts if part.username is not None), None)
    if user is None:
        return ClientSettings(bases)
    return ClientSettings(bases, credentials=basic(unquote(user.username or ""), unquote(user.password or "")))


def tls_of(
    ca: Path | str | None = None,
    certificate: Path | str | None = None,
    key: Path | str | None = None,
    password: str | None = None,
) -> "ssl.SSLContext":
    """Return a TLS context from PEM files: trusted CAs (None: the system's CAs), and the client certificate.

    Raises `ValueError` for unusable files. Servers are always verified; the minimum version is TLS 1.2.
    """
    if key is not None and certificate is None:
        raise ValueError("a key without its certificate; give both, or one file that holds both as the certificate")
    import ssl  # noqa: PLC0415 (large, and most registries of a command are without TLS)

    try:
        context = ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"{ca}: {_describe_error(error)}; give a file with certificates in PEM") from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if certificate is not None:
        try:
            context.load_cert_chain(certificate, key, password if password is not None else _no_password)
        except (OSError, ssl.SSLError, ValueError) as error:
            files = certificate if key is None else f"{certificate} and {key}"
            raise ValueError(f"{files}: {_describe_error(error)}; give a certificate and its key in PEM") from None
    return context


def _no_password() -> str:
    raise ValueError("the key is protected by a password, and none was given")


def _describe_error(error: Exception) -> str:
    return getattr(error, "strerror", None) or getattr(error, "reason", None) or str(error) or "it can't be read"


VARIABLES = {
    "TREATY_REGISTRY": "URL of the registry; several nodes of one with commas",
    "TREATY_USER": "name for HTTP basic",
    "TREATY_PASSWORD": "password for HTTP basic",
    "TREATY_TOKEN": "a bearer token",
    "TREATY_TOKEN_FILE": "a file with a bearer token, read again when it changes",
    "TREATY_CA": "trusted CA certificates, in PEM",
    "TREATY_CERT": "the client's certificate, in PEM",
    "TREATY_KEY": "its key",
    "TREATY_KEY_PASSWORD": "the key's password",
}
"""Environment variables with settings of a client."""


def credentials_in(environment: Mapping[str, str]) -> Credentials | None:
    """Read credentials from environment variables; None if there are none. Raises `ValueError` for more than one kind."""
    variables = [name for name in ("TREATY_USER", "TREATY_TOKEN", "TREATY_TOKEN_FILE") if environment.get(name)]
    if len(variables) > 1:
        raise ValueError(f"{' and '.join(variables)} are set; give one of them")
    match variables:
        case ["TREATY_USER"]:
            return basic(environment["TREATY_USER"], environment.get("TREATY_PASSWORD", ""))
        case ["TREATY_TOKEN"]:
            return bearer(environment["TREATY_TOKEN"])
        case ["TREATY_TOKEN_FILE"]:
            return bearer_file(environment["TREATY_TOKEN_FILE"])
    return None


def tls_in(environment: Mapping[str, str]) -> "ssl.SSLContext | None":
    """Read TLS settings from environment variables; None if there are none. Raises `ValueError` for unusable files."""
    ca, certificate, key, password = (
        environment.get(name) or None for name in ("TREATY_CA", "TREATY_CERT", "TREATY_KEY", "TREATY_KEY_PASSWORD")
    )
    return tls_of(ca, certificate, key, password) if ca or certificate or key else None
