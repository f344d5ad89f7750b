"""API keys in a transfer: only when they are asked for, and only as the digests by which a registry stores them."""

from collections.abc import Iterable

from treaty.client.transfer.registry_image import RegistryImage, TransferProblem
from treaty.core.limits import API_KEYS_PAGE
from treaty.core.messages.api_keys import AddApiKeys, ApiKeyFound, ListApiKeys, NewApiKey
from treaty.core.refusals import Forbidden, NotFound, NotOffered
from treaty.core.registry import Registry

LEFT_OUT = "API keys: `treaty export --keys` writes their digests"
UNKNOWN_KEYS = "you administer no API keys here, so whether there are any is not known"
NO_KEYS = "API keys: this registry has none"


def read_keys(registry: Registry) -> tuple[ApiKeyFound, ...] | TransferProblem | None:
    """Return the keys of all vendors that the caller administers, by digest; None from a server without keys."""
    keys: list[ApiKeyFound] = []
    try:
        while True:
            page = registry.ask(ListApiKeys(after=keys[-1].digest if keys else "")).answer.keys
            keys += page
            if len(page) < API_KEYS_PAGE:
                return tuple(keys)
    except (NotFound, NotOffered):
        return None
    except Forbidden as no:
        return TransferProblem("API keys", "not read", str(no))


def has_keys(registry: Registry) -> bool | None:
    """Return whether the caller administers any key; None where the caller may not list keys."""
    try:
        return bool(registry.ask(ListApiKeys()).answer.keys)
    except (NotFound, NotOffered):
        return False
    except Forbidden:
        return None


def plan_keys(source: RegistryImage, target: RegistryImage) -> tuple[ApiKeyFound, ...]:
    """Return the keys that the target lacks; one that may do something else there is among them, and is refused."""
    existing = {_facts(one) for one in target.api_keys}
    return tuple(one for one in source.api_keys if _facts(one) not in existing) if target.native else ()


def _facts(key: ApiKeyFound) -> tuple[str, str, str]:
    return key.digest, key.vendor, key.action


def add_keys(keys: Iterable[ApiKeyFound]) -> Iterable[tuple[str, AddApiKeys]]:
    """Return the requests that add keys, each with its name."""
    return ((f"API key {one.principal}", AddApiKeys(one.vendor, (NewApiKey(one.digest, one.action),))) for one in keys)
