"""The requests that add, remove and list API keys of Iglu's API: their members, defaults and answers; decided in `core/handlers/api_keys.py`. Who has
a key of a vendor may read, or read and publish, its schemas.

Only digests are sent and stored. A key counts on every node as soon as the commit that added it is decided on.
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from treaty.core.messages.request import Request

KeyAction = Literal["READ", "BUMP", "CREATE", "CREATE_VENDOR"]
"""What a key may do with the schemas of its vendor; each one includes those before it. The last one holds for the vendors
below it too.
"""
KEY_ACTIONS: tuple[KeyAction, ...] = get_args(KeyAction)
PRINCIPAL = "key:"
"""What principals that came with a key begin with; the beginning of the key's digest follows."""
SHORT_ID = 16
"""Digits of a digest that name a key."""
EVERY_VENDOR = "*"
"""In place of a vendor: the key is for the schemas of all vendors. Who administers everything, private schemas too, makes it."""
VENDOR = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
DIGEST = re.compile("[0-9a-f]{64}")


# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class ApiKeyFound:
    """A key: its digest, what it may do, who made it, and when (ms since the epoch)."""

    digest: str
    vendor: str
    action: KeyAction
    created: int = 0
    creator: str = ""

    @property
    def principal(self) -> str:
        """The principal of requests with this key."""
        return f"{PRINCIPAL}{self.digest[:SHORT_ID]}"


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """Keys, by digest."""

    keys: tuple[ApiKeyFound, ...]


@dataclass(frozen=True, slots=True)
class ApiKeyRemoved:
    """Whether there was such a key."""

    removed: bool


# ------------------------------------------------------------------------------------------------------- requests


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """The digest of a new key, SHA-256 in hex, and what the key may do."""

    digest: str
    action: KeyAction


@dataclass(frozen=True, slots=True)
class AddApiKeys(Request[ApiKeys]):
    """Add keys of a vendor. One that is there already, just so, is not changed."""

    vendor: str
    keys: tuple[NewApiKey, ...]


@dataclass(frozen=True, slots=True)
class RemoveApiKey(Request[ApiKeyRemoved]):
    """Remove the key with this digest. A request with it is anonymous from then on."""

    digest: str


@dataclass(frozen=True, slots=True)
class ListApiKeys(Request[ApiKeys]):
    """Keys of all vendors that the caller administers, by digest; with `digest` only that one.

    A page has at most `API_KEYS_PAGE` keys; `after` is the last digest of the page before.
    """

    digest: str = ""
    after: str = ""
