"""API keys found in the registry by their digest, and the access of who sends one: the rule of the key, and what everybody may.

What the rule of a key allows is in `core.access.api_key_rules`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from treaty.core.access.rights import ANONYMOUS, Access, AccessRule, Rights
from treaty.core.limits import CREDENTIALS_KNOWN
from treaty.core.messages.api_keys import ApiKeyFound, ListApiKeys
from treaty.core.registry import AsyncRegistry

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
    accesses: dict[AccessRule, Access] = field(default_factory=dict)

    def of(self, rule: AccessRule) -> KeyedPrincipal:
        """Return the principal of a key's rule."""
        access = self.accesses.get(rule)
        if access is None:
            if len(self.accesses) >= CREDENTIALS_KNOWN:
                self.accesses.clear()
            access = self.accesses[rule] = Access((rule, *self.rights.access(ANONYMOUS).rules))
        return KeyedPrincipal(rule.who[0], access)


def finder_of(registry: AsyncRegistry) -> FindApiKey:
    """Return what finds keys in a registry, after all that was committed before the request came."""

    async def find(digest: str) -> ApiKeyFound | None:
        keys = (await registry.ask(ListApiKeys(digest))).answer.keys
        return keys[0] if keys else None

    return find
