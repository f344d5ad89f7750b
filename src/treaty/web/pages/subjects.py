"""The page that lists subjects with filters; for one that the list of names does not answer it looks through LOOKED_AT subjects at a time."""

from collections.abc import Mapping
from dataclasses import dataclass

from treaty.core.messages.contexts import ListContexts
from treaty.core.messages.groups import GetSubject
from treaty.core.messages.listings import ListSchemas
from treaty.core.messages.request import Visible
from treaty.core.messages.search import Search
from treaty.core.messages.versions import VersionFound
from treaty.core.names import EVERYWHERE, Subject, subject_of
from treaty.core.refusals import Denied, NotOffered, Refusal, Unavailable
from treaty.formats.registry import find_formats
from treaty.web.pages.page import ROWS, PageError, PageMoved, PageRequest, WebPage
from treaty.web.pages.templates import link_to

LOOKED_AT = 100
"""Subjects that one page looks through for a filter that the list of names does not answer."""
ORIGINS: Mapping[str, str] = {
    "confluent": "Confluent",
    "pravega": "Pravega",
    "schema-repo": "schema-repo",
    "avro-1124": "AVRO-1124",
    "iglu": "Iglu",
}
"""APIs by which subjects are made, with the words for them."""
STATES = ("live", "all", "deleted")


@dataclass(frozen=True, slots=True)
class SubjectFilter:
    """What the viewer wants to see: subjects whose names begin so, of a context, a format, with a tag, in a state."""

    prefix: Subject
    format: str = ""
    tag: str = ""
    origin: str = ""
    """The API that made the subject."""
    visible: Visible = "live"

    @property
    def is_narrow(self) -> bool:
        """Whether rows have to be looked at."""
        return bool(self.format or self.tag or self.origin)

    async def fits(self, request: PageRequest, version: VersionFound) -> bool:
        """Return whether a subject with this latest version is wanted."""
        if self.format and version.format != self.format:
            return False
        if self.tag and self.tag not in tags_of(version):
            return False
        if not self.origin:
            return True
        group = await request.ask_or_none(GetSubject(subject_of(version.subject)), Refusal)
        return group is not None and group.origin == self.origin

    @property
    def as_search(self) -> str:
        """The same as a text for the search index, which answers a narrow filter at once."""
        state = "deleted" if self.visible == "deleted" else ""
        context = "" if self.prefix.context == EVERYWHERE else self.prefix.context
        terms = (
            ("subject", self.prefix.name), ("context", context), ("format", self.format),
            ("tag", self.tag), ("origin", self.origin), ("state", state),
        )  # fmt: skip
        return " ".join(f"{name}:{print_value(value)}" for name, value in terms if value)


async def has_search(request: PageRequest) -> bool:
    """Return whether the server answers searches now."""
    return await request.ask_or_none(Search("kind:subject", limit=1), NotOffered, Unavailable, Denied) is not None


def print_value(text: str) -> str:
    """Return a value as a search has it: between quotes where it has blanks; it has no quotes itself."""
    text = text.replace('"', "*")
    return f'"{text}"' if " " in text else text


def tags_of(version: VersionFound) -> list[str]:
    """Return all tags of a version: those of its metadata, and those inside its text where they were asked for."""
    inside = {tag for place in version.tags for tag in place.tags}
    beside = {tag for _, tags in (version.metadata.tags if version.metadata else ()) for tag in tags}
    return sorted(inside | beside)


async def show_subjects(request: PageRequest) -> WebPage | PageMoved:
    """Show a page of subjects with their latest versions. Tags inside of texts are in the search index, which answers for them."""
    subject_filter = read_filter(request)
    if subject_filter.tag and subject_filter.visible != "all" and await has_search(request):
        return PageMoved(link_to("search", q=f"kind:subject {subject_filter.as_search}"))
    after = (request.raw("after"), 0) if request.raw("after") else None
    rows: list[VersionFound] = []
    looked, last = 0, after
    while len(rows) < ROWS and looked < LOOKED_AT:
        listing = ListSchemas(subject_filter.prefix, subject_filter.visible, latest=True, limit=ROWS + 1, after=last)
        versions = (await request.ask(listing)).versions
        page = versions[:ROWS]
        for place, version in enumerate(page):
            looked += 1
            last = (version.subject, version.number)
            if await subject_filter.fits(request, version):
                rows.append(version)
                if len(rows) == ROWS:
                    versions = versions[place + 1 :]
                    break
        else:
            versions = versions[ROWS:]
        if not versions:
            last = None
            break
    members = {name: request.raw(name) for name in ("context", "q", "format", "tag", "origin", "state")}
    values = {
        "rows": [
            {"version": row, "context": subject_of(row.subject).context, "tags": tags_of(row)[:5]} for row in rows
        ],
        "next_page": link_to("subjects", **members, after=last[0]) if last else "",
        "first_page": link_to("subjects", **members) if after else "",
        "looked": looked if subject_filter.is_narrow else 0,
        "search": link_to("search", q=subject_filter.as_search),
        "origins": ORIGINS,
        "filter": members,
        "contexts": (await request.ask(ListContexts())).names[:200],
        "formats": find_formats().names,
    }
    return WebPage("subjects.html", "Subjects", values, "subjects")


def read_filter(request: PageRequest) -> SubjectFilter:
    """Return the filter of a request; a qualified name in the field of the name says its context."""
    state = request.text("state") or "live"
    if state not in STATES:
        raise PageError(400, f"state = {state[:50]!r} is none of {', '.join(STATES)}")
    typed = request.raw("q")
    prefix = subject_of(typed, request.context() or EVERYWHERE)
    visible: Visible = "all" if state == "all" else "deleted" if state == "deleted" else "live"
    origin = request.text("origin")
    if origin and origin not in ORIGINS:
        raise PageError(400, f"origin = {origin[:50]!r} is none of {', '.join(ORIGINS)}")
    return SubjectFilter(prefix, request.text("format").upper(), request.text("tag"), origin, visible)
