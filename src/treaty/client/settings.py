"""Settings of an HTTP client: where the registry is, how long to try, how the client authenticates."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from treaty.client.cache_policy import CachePolicy
from treaty.client.credentials import Credentials, basic, bearer, bearer_file
from treaty.core.schema import Pairs
from treaty.names import refuse_renamed


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """How to talk to a registry. Times are in seconds. Never shows a secret."""

    urls: tuple[str, ...]
    """Base URLs of nodes of one registry; each may end in a path. When one fails the next is asked."""
    rounds: int = 4
    """How often every URL is tried before giving up."""
    pause: float = 0.1
    """Pause after the first round; it doubles after each one. A node that failed rests as long while others are there."""
    max_pause: float = 5.0
    max_backoff: float = 30.0
    """The longest that a node is left alone after failures, or because it asked for it with ``Retry-After``."""
    attempt_timeout: float = 10.0
    """The most that one attempt may take; `CallOptions.timeout` bounds all of them together."""
    connect_timeout: float = 3.0
    """The most that making a connection may take."""
    native_recheck: float = 300.0
    """How long a server without `/treaty/v1/ask` is asked by Confluent's API alone, before that path is tried again there."""
    connections: int = 16
    """Connections kept open to one host."""
    answer_bytes: int = 256 * 2**20
    """The largest answer that is read."""
    headers: Pairs = field(default=(), repr=False)
    """Sent with every request."""
    credentials: Credentials | None = None
    """How the client authenticates; the same to every URL, for they are nodes of one registry."""
    tls: ssl.SSLContext | None = None
    """None: the system's authorities, and no certificate of one's own. See `tls_of`."""
    read_your_writes: bool = True
    """A read carries the place of this client's last write, so that no node answers from before it."""
    cache: CachePolicy | None = None
    """What `treaty.connect` keeps in a cache; None: nothing."""


def settings_of_url(url: str) -> ClientSettings:
    """Read settings from a URL, or several with commas between them; user and password in it become Basic.

    Raises `ValueError` for anything that is not an http or https URL.
    """
    parts = [urlsplit(each.strip()) for each in url.split(",") if each.strip()]
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
) -> ssl.SSLContext:
    """Make TLS from files in PEM: the authorities to trust (None: the system's authorities), and the certificate to show.

    Raises `ValueError` for files that can't be used. Servers are always verified, and TLS 1.2 is the oldest spoken.
    """
    if key is not None and certificate is None:
        raise ValueError("a key without its certificate; give both, or one file that holds both as the certificate")
    try:
        context = ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"{ca}: {_why(error)}; give a file with certificates in PEM") from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if certificate is not None:
        try:
            context.load_cert_chain(certificate, key, password if password is not None else _no_password)
        except (OSError, ssl.SSLError, ValueError) as error:
            files = certificate if key is None else f"{certificate} and {key}"
            raise ValueError(f"{files}: {_why(error)}; give a certificate and its key in PEM") from None
    return context


def _no_password() -> str:
    raise ValueError("the key is protected by a password, and none was given")


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or getattr(error, "reason", None) or str(error) or "it can't be read"


VARIABLES = {
    "TREATY_REGISTRY": "URL of the registry; several nodes of one with commas",
    "TREATY_USER": "name for HTTP basic",
    "TREATY_PASSWORD": "password for HTTP basic",
    "TREATY_TOKEN": "a bearer token",
    "TREATY_TOKEN_FILE": "a file with a bearer token, read again when it changes",
    "TREATY_CA": "certificates of authorities to trust, in PEM",
    "TREATY_CERT": "the client's certificate, in PEM",
    "TREATY_KEY": "its key",
    "TREATY_KEY_PASSWORD": "the key's password",
}
"""Variables of the environment that a client may be set up with."""


def credentials_in(environment: Mapping[str, str]) -> Credentials | None:
    """Read credentials from variables; None where there are none. Raises `ValueError` for two kinds at once."""
    given = [name for name in ("TREATY_USER", "TREATY_TOKEN", "TREATY_TOKEN_FILE") if environment.get(name)]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} are set; give one of them")
    match given:
        case ["TREATY_USER"]:
            return basic(environment["TREATY_USER"], environment.get("TREATY_PASSWORD", ""))
        case ["TREATY_TOKEN"]:
            return bearer(environment["TREATY_TOKEN"])
        case ["TREATY_TOKEN_FILE"]:
            return bearer_file(environment["TREATY_TOKEN_FILE"])
    return None


def tls_in(environment: Mapping[str, str]) -> ssl.SSLContext | None:
    """Read TLS from variables; None where nothing is said. Raises `ValueError` for files that can't be used."""
    ca, certificate, key, password = (
        environment.get(name) or None for name in ("TREATY_CA", "TREATY_CERT", "TREATY_KEY", "TREATY_KEY_PASSWORD")
    )
    return tls_of(ca, certificate, key, password) if ca or certificate or key else None


if not TYPE_CHECKING:
    __getattr__ = refuse_renamed(__name__)
