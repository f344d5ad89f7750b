"""Methods of a connection for API keys; exchanges as in `exchanges`."""

from collections.abc import Mapping

from treaty.client.exchanges import Exchange, request_answer
from treaty.core.limits import API_KEYS_PAGE
from treaty.core.messages.api_keys import AddApiKeys, ApiKeyFound, KeyAction, ListApiKeys, NewApiKey, RemoveApiKey


def add_api_keys(vendor: str, keys: Mapping[str, KeyAction]) -> Exchange[tuple[ApiKeyFound, ...]]:
    """Add keys of a vendor, by their digests (SHA-256 in hex), with what each one may do."""
    added = tuple(NewApiKey(digest, action) for digest, action in keys.items())
    return (yield from request_answer(AddApiKeys(vendor, added))).keys


def remove_api_key(digest: str) -> Exchange[bool]:
    """Remove the key with a digest; returns False where there was none."""
    return (yield from request_answer(RemoveApiKey(digest))).removed


def api_keys() -> Exchange[tuple[ApiKeyFound, ...]]:
    """Return all keys of vendors that the caller administers, by digest."""
    found: list[ApiKeyFound] = []
    while True:
        page = (yield from request_answer(ListApiKeys(after=found[-1].digest if found else ""))).keys
        found += page
        if len(page) < API_KEYS_PAGE:
            return tuple(found)
