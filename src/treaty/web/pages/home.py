"""Home: what is here, what changed last, how the node is; and the page of the latest changes."""

from collections.abc import Mapping
from typing import Any

from treaty.core.messages.contexts import ListContexts
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.metastore.sources import ListSources, ListTypes
from treaty.core.names import EVERYWHERE, Subject
from treaty.core.refusals import Denied, NotFound, NotOffered
from treaty.web.pages.latest import ChangePlace, list_latest
from treaty.web.pages.operator import list_members, node_facts
from treaty.web.pages.page import PageError, PageRequest, WebPage, is_number
from treaty.web.pages.templates import link_to

COUNTED = 1_000
"""Things that are counted one by one; more are "more than" these."""
LATEST = 8
CHANGES = 100
"""Changes on one page."""
DAY = 86_400_000
"""Milliseconds of a day."""
DAYS = ((1, "one day"), (7, "7 days"), (30, "30 days"), (0, "all"))
"""Days whose changes are offered."""
DAYS_MOST = 36_500
TIME_DIGITS = 15
"""Digits of a time in the address of a page."""


async def show_home(request: PageRequest) -> WebPage:
    """Show what the viewer may see of the whole."""
    contexts = (await request.ask(ListContexts())).names
    sources = await request.ask_or_none(ListSources(limit=COUNTED), Denied, NotFound, NotOffered)
    types = await request.ask_or_none(ListTypes(limit=COUNTED), Denied, NotFound, NotOffered)
    listed = sources.sources if sources else ()
    values = {
        "contexts": contexts[:50],
        "context_count": len(contexts),
        "counts": await _count(request),
        "source_count": _print_capped(len(listed), more=bool(sources and sources.last)),
        "queries": [one for one in listed if one.query],
        "type_count": _print_capped(len(types.types), more=bool(types.last)) if types else "0",
        "latest": (await list_latest(request, LATEST)).changes,
        "node": node_facts(request),
        "members": await list_members(request) if request.viewer.may_read_status else (),
    }
    return WebPage("home.html", "Home", values, "home")


async def _count(request: PageRequest) -> Mapping[str, str]:
    """Count subjects, versions and schemas: the node has counted them, for those who may see all of them."""
    access = request.viewer.access
    stored: Any = getattr(request.server.status(), "kept", None)
    if stored is not None and (access is None or access.sees_private):
        return {name: f"{getattr(stored, name):,}" for name in ("subjects", "versions", "schemas")}
    names = (await request.ask(ListSubjects(Subject(EVERYWHERE, ""), limit=COUNTED + 1))).names
    return {"subjects": _print_capped(len(names), more=len(names) > COUNTED)}


def _print_capped(number: int, *, more: bool) -> str:
    return f"more than {min(number, COUNTED):,}" if more else f"{number:,}"


async def show_changes(request: PageRequest) -> WebPage:
    """Show the latest changes of some days, a page at a time: new schemas, and sources and queries as they were changed last."""
    days = request.number("days", 0, highest=DAYS_MOST)
    since = round(request.server.clock() * 1000) - days * DAY if days else 0
    latest = await list_latest(request, CHANGES, before=read_place(request), since=since)
    values = {
        "changes": latest.changes,
        "days": days,
        "choices": [(words, number, link_to("changes", days=number or None)) for number, words in DAYS],
        "next_page": link_to("changes", days=days or None, before=latest.last) if latest.last else "",
        "first_page": link_to("changes", days=days or None) if request.raw("before") else "",
    }
    return WebPage("changes.html", "Latest changes", values, "changes")


def read_place(request: PageRequest) -> ChangePlace | None:
    """Return the place from which the page continues; None without one. Raises `PageError`."""
    text = request.raw("before")
    if not text:
        return None
    time, _, rest = text.partition(",")
    schema_id, comma, name = rest.partition(",")
    if not comma or not is_number(schema_id) or not (time.isascii() and time.isdecimal() and len(time) <= TIME_DIGITS):
        raise PageError(400, f"before = {text[:50]!r} is no place in the list", "begin with Latest changes")
    return ChangePlace(int(time), int(schema_id), name)
