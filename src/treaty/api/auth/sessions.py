"""Sessions of people: a signed cookie says who logged in and until when, and a signed word goes with every form.

Nothing is stored on the server. A cookie is valid while its signature fits, its end has not come, and its stamp is that of
the principal now: the stamp covers the stored password and the rules, so a change of either ends the session.
"""

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from treaty.core.access.rights import Access
from treaty.core.limits import CREDENTIALS_BYTES

COOKIE = "treaty_session"
VISIT_COOKIE = "treaty_visit"
"""Random, for a browser that is shown the form for logging in: another site can't set it, so it can't send the form."""
SESSION_SECONDS = 43_200
"""Seconds after which a session ends: half a day."""
KEY_BYTES = 32
"""The fewest bytes of a key."""
PAGES_PREFIX = b"/ui"
"""The path below which sessions count: no program's request is made with a cookie."""
OPEN_PAGES = (b"/ui/login", b"/ui/static/")
"""What needs no credentials: the page for logging in, and styles and scripts."""


@dataclass(frozen=True, slots=True)
class SessionClaims:
    """The claims of a session, all of them in its cookie: the principal, its groups, the stamp, and the end in seconds since the
    epoch.
    """

    principal: str
    groups: tuple[str, ...]
    stamp: str
    end: float


@dataclass(frozen=True, slots=True)
class SessionCookies:
    """Signs and reads cookies and form tokens with one key, which all workers of a server have."""

    key: bytes = field(repr=False)
    clock: Callable[[], float] = time.time

    def issue(self, session: SessionClaims) -> str:
        """Return the value of the cookie."""
        members = [session.principal, session.groups, session.stamp, round(session.end)]
        body = _encode(json.dumps(members, separators=(",", ":")).encode())
        return f"{body}.{self._sign('session', body)}"

    def read(self, headers: Iterable[tuple[bytes, bytes]]) -> SessionClaims | None:
        """Return the session in the ``Cookie`` headers of a request; None where there is none, or one that is over."""
        for value in _cookies(headers):
            body, _, signature = value.partition(".")
            if not hmac.compare_digest(signature.encode(), self._sign("session", body).encode()):
                continue
            principal, groups, stamp, end = json.loads(_decode(body))
            if end > self.clock():
                return SessionClaims(principal, tuple(groups), stamp, end)
        return None

    def form_token(self, principal: str) -> str:
        """Return the word that goes with every form of a visitor; another site can neither read nor make it."""
        return self._sign("form", principal)

    def is_form_token(self, token: str, principal: str) -> bool:
        """Return whether a word is that of a visitor's forms."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.form_token(principal).encode())

    def login_token(self, visit: str) -> str:
        """Return the word that goes with the form for logging in, for the browser that has the cookie of this visit."""
        return self._sign("login", visit)

    def is_login_token(self, token: str, visit: str) -> bool:
        """Return whether a word is that of the form which this browser was shown; without a cookie it is none."""
        return bool(visit) and hmac.compare_digest(
            token.encode("utf-8", "replace"), self.login_token(visit).encode("utf-8", "replace")
        )

    def _sign(self, purpose: str, text: str) -> str:
        message = f"{purpose}\n{text}".encode("utf-8", "surrogatepass")
        return _encode(hmac.new(self.key, message, hashlib.sha256).digest())


def stamp_of(access: Access, secret: str) -> str:
    """Return the stamp of a principal: a digest of its rules and of what its credentials are checked against."""
    state = hashlib.sha256(secret.encode())
    for rule in access.rules:
        parts = (rule.who, sorted(rule.may), rule.subjects, rule.contexts, rule.topics, rule.private, rule.sources)
        state.update(repr(parts).encode())
    return _encode(state.digest()[:16])


def _cookies(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[str]:
    for name, value in headers:
        if name == b"cookie" and len(value) <= CREDENTIALS_BYTES:
            for part in value.decode("latin-1").split(";"):
                key, _, text = part.strip().partition("=")
                if key == COOKIE and text.isascii():
                    yield text


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b"null"
