"""Public keys for bearer tokens (a JWKS), from a file or URL, reloaded when they change."""

import asyncio
import http.client
import json
import logging
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treaty.api.auth.watched_file import AuthFileError, WatchedFile
from treaty.core.limits import KEYS, RIGHTS_BYTES
from treaty.core.refusals import Unavailable
from treaty.core.urls import hide_credentials, split_server_url

log = logging.getLogger("treaty.auth")

FETCH_SECONDS = 5.0
"""Time-out of a fetch, in seconds."""
AGAIN_SECONDS = 10.0
"""The shortest time between two fetches, in seconds."""
REFRESH_SECONDS = 600.0
"""Seconds between two regular fetches."""
STALE_SECONDS = 86_400.0
"""Seconds for which cached keys are valid if they cannot be fetched."""
RSA_BITS = 2048
"""The shortest accepted RSA key, in bits."""

FAMILIES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("RSA", ""): ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
    ("OKP", "Ed448"): ("EdDSA",),
}
"""Algorithms by kind of key. No symmetric ones, so a public key is never used as an HMAC secret."""
ALGORITHMS = tuple(dict.fromkeys(name for names in FAMILIES.values() for name in names))
_PUBLIC = frozenset({"kty", "crv", "n", "e", "x", "y"})


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A public key: its id (empty: none), its algorithms, and the key object."""

    kid: str
    algorithms: frozenset[str]
    value: Any


class BadKeysError(ValueError):
    """A text is not a usable JWKS."""


def read_keys(data: bytes) -> tuple[SigningKey, ...]:
    """Parse a JWKS; keys not for signatures, or of unknown kinds, are left out. Raises `BadKeysError` for an invalid
    one, or one without a usable key.
    """
    try:
        members = json.loads(data)["keys"]
        listed = [member for member in members if isinstance(member, dict)]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BadKeysError('it is not a JWKS: expected a JSON object with a list "keys"') from None
    if len(listed) > KEYS:
        raise BadKeysError(f"it has {len(listed)} keys; at most {KEYS} (KEYS)")
    keys = tuple(key for key in map(_key, listed) if key is not None)
    if not keys:
        raise BadKeysError("it has no usable key: expected RSA from 2048 bits, EC P-256 to P-521, or Ed25519")
    return keys


def _key(members: Mapping[str, Any]) -> SigningKey | None:
    import jwt  # noqa: PLC0415 (an extra that servers without tokens need not have)

    kind = (str(members.get("kty")), str(members.get("crv", "")))
    algorithms = frozenset(FAMILIES.get(kind, ()))
    if "alg" in members:
        algorithms &= {str(members["alg"])}
    if not algorithms or members.get("use", "sig") != "sig" or "verify" not in members.get("key_ops", ["verify"]):
        return None
    public = {name: value for name, value in members.items() if name in _PUBLIC}
    try:
        value = jwt.PyJWK(public, algorithm=min(algorithms)).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None
    if kind[0] == "RSA" and value.key_size < RSA_BITS:
        return None
    return SigningKey(str(members.get("kid", "")), algorithms, value)


@dataclass(slots=True)
class KeySet:
    """The trusted keys. `place` is a file, or a URL to fetch."""

    place: Path | str
    ca: Path | None = None
    clock: Callable[[], float] = time.monotonic
    keys: tuple[SigningKey, ...] = ()
    data: bytes = b""
    fetched: float = float("-inf")
    tried: float = float("-inf")
    watched: WatchedFile | None = None
    fetching: "asyncio.Task[bool] | None" = None
    trouble: str = field(default="they have not been fetched yet")

    @property
    def shown_place(self) -> str:
        """The place for messages, without user and password."""
        return str(self.place) if isinstance(self.place, Path) else hide_credentials(self.place)

    def open(self) -> None:
        """Read a file at the start; raises `AuthFileError`. A URL is fetched on demand."""
        if isinstance(self.place, Path):
            self.watched = WatchedFile(self.place)
            try:
                self._take(self.watched.read())
            except BadKeysError as error:
                raise AuthFileError(self.place, 0, str(error), "give a file with public keys as JWKS") from None

    async def find(self, kid: str, algorithm: str) -> SigningKey | None:
        """Return the key for a token; an unknown one triggers a fetch, at a limited rate. Raises `Unavailable` without
        keys, or if they are too old.
        """
        if self.watched is None and self.clock() - self.fetched > STALE_SECONDS:
            await self._fetch_in_turn()
            if self.clock() - self.fetched > STALE_SECONDS:
                raise Unavailable(f"bearer tokens cannot be verified now: {self.trouble}", AGAIN_SECONDS)
        key = self._find(kid, algorithm)
        if key is None and self.watched is None:
            await self._fetch_in_turn()
            key = self._find(kid, algorithm)
        return key

    def _find(self, kid: str, algorithm: str) -> SigningKey | None:
        """Find a key by id; a token without key id is verified with the only matching key, if there is exactly one."""
        fitting = [key for key in self.keys if algorithm in key.algorithms and (key.kid == kid or not kid)]
        return fitting[0] if len(fitting) == 1 else None

    async def refresh(self) -> bool:
        """Reload a changed file, or fetch if it is time; return whether the keys changed."""
        if self.watched is not None:
            if not self.watched.has_changed():
                return False
            try:
                return self._take(self.watched.read())
            except (AuthFileError, BadKeysError) as error:
                log.error("the keys of %s do not change: %s", self.shown_place, error)
                return False
        if self.clock() - self.fetched < REFRESH_SECONDS:
            return False
        return await self._fetch_in_turn()

    async def _fetch_in_turn(self) -> bool:
        """Fetch, unless that was tried recently; concurrent callers share one fetch."""
        if self.fetching is None:
            if self.clock() - self.tried < AGAIN_SECONDS:
                return False
            self.tried = self.clock()
            self.fetching = asyncio.create_task(self._fetch())
        return await asyncio.shield(self.fetching)

    async def _fetch(self) -> bool:
        try:
            fetched = asyncio.to_thread(fetch, str(self.place), self.ca)
            changed = self._take(await asyncio.wait_for(fetched, 2 * FETCH_SECONDS))
        except (OSError, http.client.HTTPException, BadKeysError) as reason:
            self.trouble = f"{self.shown_place} gave no keys ({type(reason).__name__}: {reason})"
            log.error("%s", self.trouble)
            return False
        else:
            self.fetched = self.clock()
            return changed
        finally:
            self.fetching = None

    def _take(self, data: bytes) -> bool:
        if data == self.data:
            return False
        self.keys = read_keys(data)
        self.data = data
        log.info("read %d keys for bearer tokens from %s", len(self.keys), self.shown_place)
        return True


def fetch(address: str, ca: Path | None = None, seconds: float = FETCH_SECONDS) -> bytes:
    """Fetch a short text by http or https, without redirects and proxies, limited in time and size. Raises `OSError` or
    `http.client.HTTPException`. Blocks: call it on a thread.
    """
    parts = split_server_url(address)
    deadline = time.monotonic() + seconds
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=ca)
        host = http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=seconds, context=context)
    else:
        host = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=seconds)  # type: ignore[assignment]  # the plain one
    try:
        target = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        host.request("GET", target, headers={"Accept": "application/json"})
        with host.getresponse() as answer:
            if answer.status != 200:
                raise http.client.HTTPException(f"status {answer.status}")
            data = b""
            while chunk := answer.read1(65_536):
                data += chunk
                if len(data) > RIGHTS_BYTES:
                    raise http.client.HTTPException(f"more than {RIGHTS_BYTES} bytes")
                if time.monotonic() > deadline:
                    raise TimeoutError("the answer took too long")
            return data
    finally:
        host.close()
