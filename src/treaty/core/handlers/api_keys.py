"""API keys: added, removed and listed as rows of digests."""

from itertools import islice

from treaty.core import limits
from treaty.core.access.authorized_view import AuthorizedView, without_filter
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision
from treaty.core.messages.api_keys import (
    DIGEST,
    EVERY_VENDOR,
    KEY_ACTIONS,
    VENDOR,
    AddApiKeys,
    ApiKeyFound,
    ApiKeyRemoved,
    ApiKeys,
    KeyAction,
    ListApiKeys,
    NewApiKey,
    RemoveApiKey,
)
from treaty.core.refusals import Forbidden, Invalid, NameTaken, TooLarge
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.rows import Row, make_row, make_tombstone
from treaty.core.state.state_tables import API_KEY, ApiKeyDigest
from treaty.core.state.values import ApiKey
from treaty.core.state.view import View


def add_api_keys(view: View, command: Command[AddApiKeys], engine: SchemaEngine) -> Decision[ApiKeys]:
    """Add keys of a vendor."""
    request = command.request
    _refuse_bad_vendor(request.vendor)
    if not 0 < len(request.keys) <= limits.API_KEYS_AT_ONCE:
        raise TooLarge.of(
            "API_KEYS_AT_ONCE",
            f"A request has {len(request.keys)} new keys",
            path="/keys",
            new=str(len(request.keys)),
            allowed=f"1 to {limits.API_KEYS_AT_ONCE}",
        )
    rows: list[Row] = []
    described: list[ApiKeyFound] = []
    for new in sorted(request.keys, key=lambda api_key: api_key.digest):
        _refuse_bad_key(new)
        key = ApiKeyDigest(new.digest)
        stored = view.get(API_KEY, key)
        value = stored or ApiKey(request.vendor, new.action, command.time, command.principal)
        if (value.vendor, value.action) != (request.vendor, new.action) or new.digest in {
            entry.digest for entry in described
        }:
            raise NameTaken.of(
                "API_KEY_TAKEN",
                f"Key {new.digest[:16]} is there already, and may do something else",
                path="/keys",
                new=new.action,
                allowed="a new key",
            )
        if stored is None:
            rows.append(make_row(API_KEY, key, value))
        described.append(_describe(key, value))
    if rows and sum(1 for _ in islice(view.keys(API_KEY), limits.API_KEYS)) + len(rows) > limits.API_KEYS:
        raise TooLarge.of("API_KEYS", "The registry has very many keys", allowed=f"at most {limits.API_KEYS}")
    return Decision(tuple(rows), ApiKeys(tuple(described)))


def remove_api_key(view: View, command: Command[RemoveApiKey], engine: SchemaEngine) -> Decision[ApiKeyRemoved]:
    """Remove a key; who does not administer its vendor is refused."""
    key = ApiKeyDigest(command.request.digest)
    stored = view.get(API_KEY, key)
    if stored is None:
        return Decision((), ApiKeyRemoved(removed=False))
    if not _administers(command.access, stored):
        raise Forbidden.of(
            "RIGHTS",
            f"{command.principal} is not allowed to do this: it needs the permission admin on the vendor of the key",
            new="remove-api-key",
            allowed="a rule that gives admin on all schemas of the vendor",
        )
    return Decision((make_tombstone(API_KEY, key),), ApiKeyRemoved(removed=True))


def list_api_keys(view: View, command: Command[ListApiKeys], engine: SchemaEngine) -> Decision[ApiKeys]:
    """List keys by digest; those of vendors that the caller does not administer are left out."""
    request = command.request
    base = without_filter(view)[0] if isinstance(view, AuthorizedView) else view
    low = (request.digest,) if request.digest else (f"{request.after}\0",) if request.after else ()
    high = (f"{request.digest}\0",) if request.digest else ("g",)
    page: list[ApiKeyFound] = []
    for key in base.walk(API_KEY, low, high):
        value = base.get(API_KEY, key)
        if value is not None and _administers(command.access, value):
            page.append(_describe(key, value))
        if len(page) >= limits.API_KEYS_PAGE:
            break
    return Decision((), ApiKeys(tuple(page)))


def _describe(key: ApiKeyDigest, value: ApiKey) -> ApiKeyFound:
    action: KeyAction = value.action if value.action in KEY_ACTIONS else "READ"
    return ApiKeyFound(key.sha256, value.vendor, action, value.created, value.creator)


def _administers(access: Access | None, value: ApiKey) -> bool:
    return access is None or access.may_vendor("admin", value.vendor)


def _refuse_bad_vendor(vendor: str) -> None:
    if vendor != EVERY_VENDOR and (len(vendor) > limits.NAME_LENGTH or VENDOR.fullmatch(vendor) is None):
        raise Invalid.of(
            "VENDOR",
            f"'{vendor[:100]}' is not the name of a vendor",
            path="/vendor",
            new=vendor[:100],
            allowed="letters, digits, hyphens and underscores, in parts with dots between them: com.acme; or * for every vendor",
        )


def _refuse_bad_key(new: NewApiKey) -> None:
    if DIGEST.fullmatch(new.digest) is None:
        raise Invalid.of(
            "API_KEY_DIGEST", "The digest of a key is not one", path="/keys/digest", allowed="64 hex digits, lower case"
        )
    if new.action not in KEY_ACTIONS:
        raise Invalid.of(
            "API_KEY_ACTION",
            f"A key can't have the action '{str(new.action)[:100]}'",
            path="/keys/action",
            new=str(new.action)[:100],
            allowed=", ".join(KEY_ACTIONS),
        )
