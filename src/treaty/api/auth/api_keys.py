"""API keys in the header ``apikey``, valid below ``/api`` alone."""

import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import UUID

from starlette.types import Scope

from treaty.api.errors import HttpError
from treaty.core.access.rights import ANONYMOUS, Access, AccessRule, Rights, with_included
from treaty.core.limits import CREDENTIALS_KNOWN
from treaty.core.messages.api_keys import PRINCIPAL, SHORT_ID, ApiKeyFound, ListApiKeys
from treaty.core.registry import AsyncRegistry

PATH = b"/api"
"""The path of Iglu's API."""
_FORM = re.compile(rb"[0-9A-Fa-f]{1,8}(?:-[0-9A-Fa-f]{1,4}){3}-[0-9A-Fa-f]{1,12}")
"""What is a UUID for Java, which fills parts up with zeros."""
FindApiKey = Callable[[str], Awaitable[ApiKeyFound | None]]
"""Finds a key by its digest. Raises what `AsyncRegistry.ask` raises."""


@dataclass(frozen=True, slots=True)
class KeyedPrincipal:
    """A principal that came with a key, and what the key allows."""

    principal: str
    access: Access


@dataclass(slots=True)
class ApiKeyRights:
    """The access of keys: that of the key, and that of everybody. Objects are kept, so that equal rights share caches."""

    rights: Rights
    known: dict[AccessRule, Access] = field(default_factory=dict)

    def of(self, rule: AccessRule) -> KeyedPrincipal:
        """Return the principal of a key's rule."""
        found = self.known.get(rule)
        if found is None:
            if len(self.known) >= CREDENTIALS_KNOWN:
                self.known.clear()
            found = self.known[rule] = Access((rule, *self.rights.access(ANONYMOUS).rules))
        return KeyedPrincipal(rule.who[0], found)


def is_below_api(raw_path: bytes) -> bool:
    """Return whether a path belongs to Iglu's API."""
    return raw_path == PATH or raw_path.startswith(PATH + b"/")


def read_api_key(scope: Scope) -> str:
    """Return the digest of the key of a request; empty without one.

    Raises `HttpError` 400 for a key that is no UUID, and where there are other credentials or several keys.
    """
    keys = [value.strip() for name, value in scope["headers"] if name == b"apikey"]
    if not keys:
        return ""
    if len(keys) > 1 or any(name == b"authorization" for name, _ in scope["headers"]):
        raise HttpError(400, "The request has more than one of the headers apikey and Authorization; allowed: one")
    if _FORM.fullmatch(keys[0]) is None:
        raise HttpError(400, "Invalid UUID for ApiKey")
    parts = [part.decode().rjust(width, "0") for part, width in zip(keys[0].split(b"-"), (8, 4, 4, 4, 12), strict=True)]
    return digest_of(UUID("-".join(parts)))


def digest_of(key: UUID) -> str:
    """Return the digest by which a key is stored."""
    return hashlib.sha256(str(key).encode()).hexdigest()


def super_rule(digest: str) -> AccessRule:
    """Return what a super key allows: everything."""
    principal = f"{PRINCIPAL}{digest[:SHORT_ID]}"
    return AccessRule((principal,), with_included(("admin",)), ("*",), ("*",), private=True)


def finder_of(registry: AsyncRegistry) -> FindApiKey:
    """Return what finds keys in a registry, after all that was committed before the request came."""

    async def find(digest: str) -> ApiKeyFound | None:
        found = (await registry.ask(ListApiKeys(digest))).answer.keys
        return found[0] if found else None

    return find
