"""Deletion from pages: who uses a subject or a version, whether a deletion would be refused, and the deletion itself."""

import shlex
from collections.abc import Collection
from dataclasses import dataclass

from treaty.core.messages.associations import ListAssociations, OfSubject
from treaty.core.messages.encodings import GetEncoding, ListEncodings
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.metastore.sources import ListSources
from treaty.core.messages.schemas import ReferencedBy, UsesOf
from treaty.core.messages.settings import GetMode, Scope
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound, Refusal
from treaty.core.sources import Source
from treaty.core.state.metastore.indexes import pins_of
from treaty.web.pages.page import ROWS, PageError, PageMoved, PageRequest, WebPage, is_number
from treaty.web.pages.subject import SOURCES
from treaty.web.pages.templates import link_to, plural
from treaty.web.pages.writes import confirm, with_address

ENCODINGS = 1_000
"""Encodings among which those of a version are looked for."""


@dataclass(frozen=True, slots=True)
class DeletionUsers:
    """Who uses what is to be deleted: versions that refer to it, schemas that the viewer may not see, sources that pin it,
    topics that would have no live version, and the ids of its encodings.
    """

    versions: tuple[tuple[str, int], ...] = ()
    hidden: int = 0
    sources: tuple[Source, ...] = ()
    topics: tuple[str, ...] = ()
    encodings: tuple[int, ...] = ()

    def refuses(self, *, is_permanent: bool) -> bool:
        """Return whether the registry refuses the deletion because of them."""
        return bool(self.versions or self.hidden or self.topics or (is_permanent and (self.sources or self.encodings)))


async def show_deletion(request: PageRequest) -> WebPage:
    """Show what a deletion of a subject, or of one of its versions, takes away, who uses it, and whether it would be refused."""
    subject, number = request.subject(), request.number("version", 0)
    name = str(subject)
    if number:
        version = await request.ask(GetVersion(subject, number, deleted=True))
        going, is_permanent, count = [version], version.deleted, 1
        what = f"version {number} of {name}"
        words = f"Version {number} of {name} is deleted"
        command = f"treaty schema delete {shlex.quote(name)} {number}"
    else:
        listed = await request.ask(ListVersions(subject, visible="all"))
        is_permanent = len(listed.deleted) == len(listed.numbers)
        numbers = listed.numbers if is_permanent else [one for one in listed.numbers if one not in listed.deleted]
        going = [await request.ask(GetVersion(subject, one, deleted=True)) for one in numbers[-ROWS:]]
        what, count = name, len(numbers)
        words = f"{name} is deleted, with {plural(len(numbers), 'version')},"
        command = f"treaty subject delete {shlex.quote(name)}"
    users = await find_users(request, subject, going, is_permanent=is_permanent, is_whole=not number)
    words += " for good." if is_permanent else " softly: what is deleted can still be read by its id."
    members = {"name": name, "version": str(number or ""), "permanent": "yes" if is_permanent else ""}
    command += " --permanent" if is_permanent else ""
    page = confirm(
        f"Delete {what}", words, with_address(request, command), members, action="delete",
        back=link_to("subject", name=name), is_dangerous=True,
    )  # fmt: skip
    values = {**page.values, "users": users, "is_permanent": is_permanent, "name": name}
    values["unseen"] = count - len(going)
    values["read_only"] = await explain_read_only(request, subject)
    values["is_refused"] = bool(values["read_only"]) or users.refuses(is_permanent=is_permanent)
    return WebPage("delete.html", page.title, values, "subjects")


async def explain_read_only(request: PageRequest, subject: Subject) -> str:
    """Return why nothing is deleted now, with what to do; empty where it is."""
    if request.server.read_only:
        return "This server takes no changes: it was started with --read-only. Another server of the registry may take them."
    answer = await request.ask_or_none(GetMode(Scope(*subject), resolve=True), Refusal)
    mode = (answer.mode if answer else None) or ""
    if mode.startswith("READONLY"):
        return f"The mode in force is {mode}: set it to READWRITE first."
    return ""


async def find_users(
    request: PageRequest, subject: Subject, going: list[VersionFound], *, is_permanent: bool, is_whole: bool
) -> DeletionUsers:
    """Return who uses versions of a subject, those outside of it if it goes as a whole."""
    versions: set[tuple[str, int]] = set()
    hidden: set[int] = set()
    for version in going:
        references_request = ReferencedBy(subject, version.number, deleted=is_permanent)
        referenced = await request.ask_or_none(references_request, Refusal)
        for schema_id in (referenced.ids if referenced else ())[:ROWS]:
            place = UsesOf(schema_id, Subject(subject.context, ""), visible="all" if is_permanent else "live")
            uses = await request.ask_or_none(place, NotFound)
            places = uses.uses if uses else ()
            versions.update(one for one in places if not (is_whole and subject_of(one[0]) == subject))
            hidden.update(() if places else (schema_id,))
    sources = await _list_pinning(request, subject, None if is_whole else {version.schema_id for version in going})
    topics = await _list_topics(request, subject, None if is_whole else going[0].number)
    encodings = await _list_encodings(request, subject, None if is_whole else going[0].number) if is_permanent else ()
    return DeletionUsers(tuple(sorted(versions)[:ROWS]), len(hidden), tuple(sources[:ROWS]), topics, encodings)


async def _list_pinning(request: PageRequest, subject: Subject, ids: Collection[int] | None) -> list[Source]:
    """Return the sources that pin versions of a subject with these schema ids, or any: by their keys and values, and by
    those of what their queries read.
    """
    answer = await request.ask_or_none(ListSources(limit=SOURCES), Refusal)
    return [
        source
        for source in (answer.sources if answer else ())
        if any(
            Subject(pin.context, pin.subject) == subject and (ids is None or pin.schema_id in ids)
            for pin in pins_of(source)
        )
    ]


async def _list_topics(request: PageRequest, subject: Subject, number: int | None) -> tuple[str, ...]:
    """Return the topics that are associated with a subject, which needs a live version for them beside the one that goes."""
    if number is not None:
        live = await request.ask_or_none(ListVersions(subject), NotFound)
        if live is not None and any(other != number for other in live.numbers):
            return ()
    listed = await request.ask_or_none(ListAssociations(OfSubject(subject), limit=ROWS), Refusal)
    return tuple(association.resource.name for association in listed.associations) if listed else ()


async def _list_encodings(request: PageRequest, subject: Subject, number: int | None) -> tuple[int, ...]:
    """Return the first ids of encodings of a version of a subject, or of all versions."""
    listed = await request.ask_or_none(ListEncodings(subject), Refusal)
    ids = listed.ids if listed else ()
    if number is None:
        return ids[:ROWS]
    encodings = [await request.ask_or_none(GetEncoding(subject, id_), Refusal) for id_ in ids[:ENCODINGS]]
    return tuple(one.encoding_id for one in encodings if one is not None and one.version.number == number)[:ROWS]


async def delete(request: PageRequest) -> PageMoved:
    """Delete a subject or a version; the form comes from the page that has shown it."""
    form = request.form or {}
    name, number = form.get("name", ""), form.get("version", "")
    if not name or form.get("confirmed") != "yes" or not (not number or is_number(number)):
        raise PageError(400, "the form can't be read", "open the subject, and begin with Delete there")
    subject, is_permanent = subject_of(name), form.get("permanent") == "yes"
    if number:
        await request.ask(DeleteVersion(subject, int(number), permanent=is_permanent))
        remaining = await request.ask_or_none(ListVersions(subject, visible="all"), NotFound)
        return PageMoved(link_to("subject", name=name) if remaining else "subjects")
    await request.ask(DeleteSubject(subject, permanent=is_permanent))
    return PageMoved("subjects" if is_permanent else link_to("subjects", state="deleted", q=name))
