"""Settings of an HTTP client: where the registry is, how long to try, how to say who is asking."""

import base64
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

from treaty.core.schema import Pairs


@dataclass(frozen=True, slots=True)
class Settings:
    """How to talk to a registry. Times are in seconds."""

    urls: tuple[str, ...]
    """Base URLs of nodes of one registry; each may end in a path. When one fails the next is asked."""
    rounds: int = 4
    """How often every URL is tried before giving up."""
    pause: float = 0.1
    """Pause after the first round; it doubles after each one."""
    longest_pause: float = 5.0
    attempt_timeout: float = 10.0
    """The most that one attempt may take; `Call.timeout` bounds all of them together."""
    connections: int = 16
    """Connections kept open to one host."""
    answer_bytes: int = 256 * 2**20
    """The largest answer that is read."""
    headers: Pairs = ()
    """Sent with every request."""
    authorize: Callable[[], str] | None = None
    """Returns the value of the header ``Authorization``; asked before every request, so that tokens may change."""
    tls: ssl.SSLContext | None = None
    """None: the system's authorities."""


def settings_of(url: str) -> Settings:
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
        return Settings(bases)
    secret = f"{unquote(user.username or '')}:{unquote(user.password or '')}"
    word = "Basic " + base64.b64encode(secret.encode()).decode()
    return Settings(bases, authorize=lambda: word)
