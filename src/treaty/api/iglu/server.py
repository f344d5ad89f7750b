"""Endpoints of the server itself: whether it is well, what it is, and the API keys of vendors."""

from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

from treaty.api.iglu.exchange import IgluAnswer, IgluExchange, message, refuse_malformed
from treaty.api.operator_pages import RELEASE
from treaty.api.request_scope import caller
from treaty.core.limits import IGLU_PAGE
from treaty.core.messages.api_keys import AddApiKeys, NewApiKey, RemoveApiKey
from treaty.core.messages.schemaver import ListPublished
from treaty.core.refusals import Forbidden
from treaty.wire.iglu.api_keys import digest_of
from treaty.wire.iglu.documents import IgluBodyError

_TEXT = "text/plain; charset=utf-8"


async def get_health(_x: IgluExchange) -> IgluAnswer:
    """Say that the server answers."""
    return IgluAnswer("OK", media=_TEXT)


async def get_log_health(x: IgluExchange) -> IgluAnswer:
    """Say that the log is reachable; where it is not, the answer is 503."""
    with suppress(Forbidden):
        await x.registry.ask(ListPublished(limit=1))
    return IgluAnswer("OK", media=_TEXT)


async def get_server(x: IgluExchange) -> IgluAnswer:
    """Return version, rights of the caller, and the number of schemas that they may read."""
    who = caller()
    access = who.access if who is not None else None
    if access is None or x.is_super:
        info: dict[str, Any] = {"vendor": "", "schema": "CREATE_VENDOR", "key": ["CREATE", "DELETE"]}
    else:
        rule = next((rule for rule in access.rules if who is not None and rule.who == (who.principal,)), None)
        vendor = rule.subjects[0].partition("/")[0] if rule is not None and rule.subjects else ""
        action = "CREATE_VENDOR" if rule is not None and "create" in rule.may else "READ" if rule is not None else None
        info = {"vendor": vendor, "schema": action, "key": []}
    return IgluAnswer(
        {
            "version": RELEASE,
            "authInfo": info,
            "database": "treaty",
            "schemaCount": await _count(x),
            "debug": False,
            "patchesAllowed": x.settings.patches_allowed,
        }
    )


async def _count(x: IgluExchange) -> int:
    total, after = 0, None
    while True:
        try:
            page = (await x.registry.ask(ListPublished(after=after, limit=IGLU_PAGE))).schemas
        except Forbidden:
            return 0
        total += len(page)
        if len(page) < IGLU_PAGE:
            return total
        after = page[-1].version.subject, page[-1].label


# ---------------------------------------------------------------------------------------------------------- API keys


async def generate_keys(x: IgluExchange) -> IgluAnswer:
    """Make two keys of a vendor: one reads, the other one publishes too. They are shown this once."""
    value = (await x.document()).value
    vendor = value.get("vendorPrefix") if isinstance(value, dict) else None
    if not isinstance(vendor, str):
        raise refuse_malformed()
    read, write = uuid4(), uuid4()
    keys = (NewApiKey(digest_of(read), "READ"), NewApiKey(digest_of(write), "CREATE_VENDOR"))
    await x.registry.ask(AddApiKeys(vendor.strip(), keys))
    return IgluAnswer({"read": str(read), "write": str(write)})


async def delete_key(x: IgluExchange) -> IgluAnswer:
    """Remove the key that the query names; one that is not there is removed already."""
    try:
        digest = digest_of(UUID(x.query.get("key", "")))
    except ValueError:
        raise IgluBodyError(400, "The query member key is no UUID; allowed: the key to remove") from None
    await x.registry.ask(RemoveApiKey(digest))
    return message("Keys have been deleted")
