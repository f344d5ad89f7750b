"""What changed last: the newest schemas of each context by their ids, and sources by the time of their change.

Ids are given in the order of registration and never again, so the highest ones of a context are its newest schemas: a few
reads from memory, however many there are.
"""

import asyncio
from dataclasses import dataclass

from treaty.core.messages.metastore import ListSources
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject
from treaty.core.refusals import Denied, NotFound, NotOffered
from treaty.core.requests import GetSchema, ListSettings
from treaty.web.pages.page import PageRequest
from treaty.web.pages.templates import link_to

CONTEXTS = 50
"""Contexts whose newest schemas are looked for."""
SKIPPED = 50
"""Ids that are looked at beyond the wanted number, because they are free, or not for this viewer."""
SOURCES = 1_000
"""Sources among which the last changed ones are looked for."""


@dataclass(frozen=True, slots=True)
class LatestChange:
    """Something that was registered or changed: when (ms since the epoch), what, and the address of its page."""

    time: int
    kind: str
    name: str
    detail: str
    link: str


async def list_latest(request: PageRequest, most: int) -> list[LatestChange]:
    """Return the latest changes that the viewer may see, newest first."""
    ids = await _highest_ids(request)
    found = [change for context, highest in ids for change in await _newest(request, context, highest, most)]
    found += await _changed_sources(request)
    return sorted(found, key=lambda one: (-one.time, one.name))[:most]


async def _highest_ids(request: PageRequest) -> list[tuple[str, int]]:
    """Return contexts with the highest id that was given in each."""
    settings = (await request.ask(ListSettings(Subject(EVERYWHERE, ""), limit=CONTEXTS))).settings
    highest = {one.context: one.highest_id for one in settings if one.name is None and one.context != EVERYWHERE}
    highest.setdefault(DEFAULT_CONTEXT, 0)
    return [(context, number) for context, number in highest.items() if number > 0]


async def _newest(request: PageRequest, context: str, highest: int, most: int) -> list[LatestChange]:
    changes: list[LatestChange] = []
    for schema_id in range(highest, max(0, highest - most - SKIPPED), -1):
        found = await request.ask_or_none(GetSchema(schema_id, Subject(context, "")), NotFound, Denied)
        if found is not None and found.subject:
            link = link_to("schema", subject=found.subject, version=found.number)
            detail = f"version {found.number}, {found.format}"
            changes.append(LatestChange(found.time, "version", found.subject, detail, link))
            if len(changes) == most:
                break
        if schema_id % 20 == 0:
            await asyncio.sleep(0)
    return changes


async def _changed_sources(request: PageRequest) -> list[LatestChange]:
    listed = await request.ask_or_none(ListSources(limit=SOURCES), Denied, NotFound, NotOffered)
    return [
        LatestChange(
            one.changed or one.time,
            "query" if one.query else one.kind.lower(),
            one.name,
            f"revision {one.revision}"
            + (f", by {one.changed_by or one.author}" if one.changed_by or one.author else ""),
            link_to("source", name=one.name),
        )
        for one in (listed.sources if listed else ())
    ]
