"""API keys: a digest, what it may do with the schemas of a vendor, and who made it."""

import re
from typing import Any

from tests.simulation.judging.model import rights
from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import Event, KeyMade, KeyRemoved
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from treaty.core import limits
from treaty.core.messages import api_keys as k
from treaty.core.refusals import Forbidden, Invalid, NameTaken, TooLarge
from treaty.core.state import values

ACTIONS = ("READ", "BUMP", "CREATE", "CREATE_VENDOR")


def _described(digest: str, value: values.ApiKey) -> k.ApiKeyFound:
    return k.ApiKeyFound(digest, value.vendor, value.action, value.created, value.creator)  # type: ignore[arg-type]


def _administers(access: Any, vendor: str) -> bool:
    return access is None or rights.may_vendor(access, "admin", vendor)


def add_api_keys(past: Past, asking: Asking, request: k.AddApiKeys) -> Yes:
    """A digest is taken once; the same key again changes nothing."""
    parts = request.vendor.split(".")
    named = len(request.vendor) <= limits.NAME_LENGTH and all(re.fullmatch("[A-Za-z0-9_-]+", one) for one in parts)
    if request.vendor != "*" and not named:
        raise No(Invalid, "VENDOR")
    if not request.keys or len(request.keys) > limits.API_KEYS_AT_ONCE:
        raise No(TooLarge, "API_KEYS_AT_ONCE")
    told: dict[str, k.ApiKeyFound] = {}
    events: list[Event] = []
    for new in sorted(request.keys, key=lambda one: one.digest):
        if len(new.digest) != 64 or set(new.digest) - set("0123456789abcdef"):
            raise No(Invalid, "API_KEY_DIGEST")
        if new.action not in ACTIONS:
            raise No(Invalid, "API_KEY_ACTION")
        there = past.api_keys.get(new.digest)
        if new.digest in told or (there is not None and (there.vendor, there.action) != (request.vendor, new.action)):
            raise No(NameTaken, "API_KEY_TAKEN")
        value = there or values.ApiKey(request.vendor, new.action, asking.time, asking.principal)
        told[new.digest] = _described(new.digest, value)
        if there is None:
            events.append(KeyMade(new.digest, value))
    if events and len(past.api_keys) + len(events) > limits.API_KEYS:
        raise No(TooLarge, "API_KEYS")
    return Yes(tuple(events), k.ApiKeys(tuple(told.values())))


def remove_api_key(past: Past, asking: Asking, request: k.RemoveApiKey) -> Yes:
    """Who removes a key administers its vendor."""
    there = past.api_keys.get(request.digest)
    if there is None:
        return Yes((), k.ApiKeyRemoved(removed=False))
    if not _administers(asking.access, there.vendor):
        raise No(Forbidden, "RIGHTS", new="remove-api-key")
    return Yes((KeyRemoved(request.digest),), k.ApiKeyRemoved(removed=True))


def list_api_keys(past: Past, asking: Asking, request: k.ListApiKeys) -> Yes:
    """Those of vendors that the caller administers."""
    wanted = [one for one in sorted(past.api_keys) if one > request.after]
    if request.digest:
        wanted = [one for one in past.api_keys if one == request.digest]
    found = [
        _described(one, past.api_keys[one]) for one in wanted if _administers(asking.access, past.api_keys[one].vendor)
    ]
    return Yes((), k.ApiKeys(tuple(found[: limits.API_KEYS_PAGE])))
