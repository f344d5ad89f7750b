"""What changed last: the newest schemas of each context by their ids, and sources by the time of their change.

Ids are given in the order of registration and never again, so the highest ones of a context are its newest schemas: a few
reads from memory, however many there are.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import NamedTuple

from treaty.core.messages.metastore.sources import ListSources
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.settings import ListSettings
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject, subject_of
from treaty.core.refusals import Denied, NotFound, NotOffered
from treaty.core.sources import Source
from treaty.web.pages.page import PageRequest
from treaty.web.pages.templates import link_to

CONTEXTS = 50
"""Contexts whose newest schemas are looked for."""
SKIPPED = 200
"""Ids of all contexts that are looked at beyond the wanted number: they are free, not for this viewer, or too new."""
SOURCES = 1_000
"""Sources among which the last changed ones are looked for."""


class ChangePlace(NamedTuple):
    """Where a change stands among all: the latest first; of one millisecond sources by name, then schemas by context, the highest
    id first. `name` is that of the source, whose `schema_id` is 0, or of the context.
    """

    time: int
    schema_id: int
    name: str

    def __str__(self) -> str:
        """The place as the address of a page has it."""
        return f"{self.time},{self.schema_id},{self.name}"

    @property
    def order(self) -> tuple[int, bool, str, int]:
        """What places are compared by."""
        return -self.time, self.schema_id > 0, self.name, -self.schema_id


@dataclass(frozen=True, slots=True)
class LatestChange:
    """Something that was registered or changed: when (ms since the epoch), what, and the address of its page.

    `earlier` is the address of the comparison with the version before it, if there may be one.
    """

    time: int
    kind: str
    name: str
    detail: str
    link: str
    earlier: str = ""
    schema_id: int = 0
    """Of a schema."""

    @property
    def place(self) -> ChangePlace:
        """Where it stands among all."""
        name = subject_of(self.name).context if self.schema_id else self.name
        return ChangePlace(self.time, self.schema_id, name)

    def is_after(self, place: ChangePlace | None) -> bool:
        """Return whether it comes after a place in the list; everything does where there is none."""
        return place is None or self.place.order > place.order


@dataclass(frozen=True, slots=True)
class LatestChanges:
    """A part of the list, newest first; `last` is the place from which the next part continues, None at the end."""

    changes: list[LatestChange]
    last: ChangePlace | None = None


@dataclass(slots=True)
class IdSearch:
    """The newest schemas of contexts by their ids; `left` is how many ids may still be looked at."""

    request: PageRequest
    left: int

    async def read(self, context: str, schema_id: int) -> LatestChange | None:
        """Return the registration of a schema; None where the id is free, or not for this viewer."""
        self.left -= 1
        if self.left % 20 == 0:
            await asyncio.sleep(0)
        registered = await self.request.ask_or_none(GetSchema(schema_id, Subject(context, "")), NotFound, Denied)
        if registered is None or not registered.subject:
            return None
        link = link_to("schema", subject=registered.subject, version=registered.number)
        compare = link_to("compare", right=f"{registered.subject}@{registered.number}") if registered.number > 1 else ""
        return LatestChange(
            registered.time,
            "version",
            registered.subject,
            f"version {registered.number}, {registered.format}",
            link,
            compare,
            schema_id,
        )

    async def walk(self, context: str, highest: int, before: ChangePlace | None) -> AsyncIterator[LatestChange]:
        """Yield what a context has after a place, newest first."""
        start = highest if before is None else await self._find_start(context, highest, before.time)
        for schema_id in range(start, 0, -1):
            if self.left <= 0:
                return
            change = await self.read(context, schema_id)
            if change is not None and change.is_after(before):
                yield change

    async def _find_start(self, context: str, highest: int, time: int) -> int:
        """Return the highest id that is as old as a time, as far as ids that can't be read let it be known."""
        low, high = 0, highest
        while low < high and self.left > 0:
            middle = (low + high + 1) // 2
            change = await self.read(context, middle)
            low, high = (middle, high) if change is None or change.time <= time else (low, middle - 1)
        return low


async def list_latest(
    request: PageRequest, limit: int, *, before: ChangePlace | None = None, since: int = 0
) -> LatestChanges:
    """Return the latest changes that the viewer may see, newest first: those after a place, and not older than `since`."""
    search = IdSearch(request, limit + SKIPPED)
    walks = [search.walk(context, highest, before) for context, highest in await _highest_ids(request)]
    waiting = [(change, walk) for walk in walks if (change := await anext(walk, None)) is not None]
    sources = [change for change in await _changed_sources(request) if change.is_after(before)]
    sources.sort(key=lambda change: change.place.order, reverse=True)
    changes: list[LatestChange] = []
    while len(changes) <= limit and (waiting or sources):
        place = min(range(len(waiting)), key=lambda at: waiting[at][0].place.order, default=-1)
        if place < 0 or (sources and not sources[-1].is_after(waiting[place][0].place)):
            change = sources.pop()
        else:
            change, walk = waiting[place]
            following = await anext(walk, None)
            waiting[place : place + 1] = [(following, walk)] if following is not None else []
        if change.time < since:
            break
        changes.append(change)
    is_cut = len(changes) > limit or (search.left <= 0 and bool(changes))
    return LatestChanges(changes[:limit], changes[:limit][-1].place if is_cut else None)


async def _highest_ids(request: PageRequest) -> list[tuple[str, int]]:
    """Return contexts with the highest id that was given in each."""
    settings = (await request.ask(ListSettings(Subject(EVERYWHERE, ""), limit=CONTEXTS))).settings
    highest = {one.context: one.highest_id for one in settings if one.name is None and one.context != EVERYWHERE}
    highest.setdefault(DEFAULT_CONTEXT, 0)
    return [(context, number) for context, number in highest.items() if number > 0]


async def _changed_sources(request: PageRequest) -> list[LatestChange]:
    listed = await request.ask_or_none(ListSources(limit=SOURCES), Denied, NotFound, NotOffered)
    return [_source_change(one) for one in (listed.sources if listed else ())]


def _source_change(source: Source) -> LatestChange:
    who = source.changed_by or source.author
    detail = f"revision {source.revision}" + (f", by {who}" if who else "")
    kind = "query" if source.query else source.kind.lower()
    return LatestChange(source.changed or source.time, kind, source.name, detail, link_to("source", name=source.name))
