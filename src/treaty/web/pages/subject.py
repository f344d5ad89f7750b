"""A subject: its versions, the policy in force and where it comes from, topics, sources, references both ways."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treaty.core.messages.associations import ListAssociations, OfSubject
from treaty.core.messages.groups import AdmittedVersion, GetHistory, GetSubject
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.metastore.sources import ListSources
from treaty.core.messages.schemas import ReferencedBy, UsesOf
from treaty.core.messages.settings import Config, GetConfig, GetMode, ListSettings, Scope
from treaty.core.messages.versions import GetVersion, VersionFound
from treaty.core.names import EVERYWHERE, Subject, subject_of
from treaty.core.policy import Level, in_words
from treaty.core.refusals import NotFound, Refusal
from treaty.core.sources import Source, SourcePart
from treaty.core.state.values import PolicyValue
from treaty.web.pages.page import ROWS, PageRequest, WebPage
from treaty.web.pages.subjects import tags_of

HISTORY = 200
"""Versions of a subject whose policies are read with it."""
SOURCES = 1_000
"""Sources among which those of a subject are looked for."""
USERS = 50
"""Subjects that a page lists as those who refer to one."""


@dataclass(frozen=True, slots=True)
class PolicyHome:
    """Where a setting comes from: a scope in words, and what stands there."""

    scope: str
    config: Config
    is_in_force: bool = False


async def show_subject(request: PageRequest) -> WebPage:
    """Show a subject."""
    subject = request.subject()
    listed = await request.ask(ListVersions(subject, visible="all"))
    before = request.number("before", 0)
    numbers = [one for one in reversed(listed.numbers) if not before or one < before]
    history = await _read_history(request, subject, len(listed.numbers))
    rows = await _list_rows(request, subject, numbers[:ROWS], history)
    policies = {one.version.number: _policy_words(one.policy) for one in history if one.policy}
    group = await request.ask_or_none(GetSubject(subject), Refusal)
    latest = next((one for one in rows if not one.deleted), rows[0] if rows else None)
    values = {
        "subject": subject,
        "name": str(subject),
        "real_name": rows[0].subject if rows else str(subject),
        "rows": [{"version": one, "policy": policies.get(one.number, "")} for one in rows],
        "version_count": len(listed.numbers),
        "deleted_count": len(listed.deleted),
        "older": numbers[ROWS - 1] if len(numbers) > ROWS else 0,
        "is_first_page": not before,
        "latest": latest,
        "tags": tags_of(latest) if latest else [],
        "group": group,
        "level": in_words(group.level) if group else "",
        "homes": await policy_homes(request, subject),
        "mode": (await request.ask_or_none(GetMode(Scope(*subject), resolve=True), Refusal)),
        "topics": await _topics(request, subject),
        "uses": latest.references if latest else (),
        "users": await list_users(request, latest) if latest else [],
        "sources": await list_pinned_sources(request, subject),
        "may": {
            "register": request.viewer.may("register", subject) or request.viewer.may("bump", subject),
            "config": request.viewer.may("config", subject),
            "delete": request.viewer.may("delete", subject),
        },
    }
    return WebPage("subject.html", str(subject), values, "subjects")


async def _read_history(request: PageRequest, subject: Subject, count: int) -> tuple[AdmittedVersion, ...]:
    """Return the live versions with the policies under which they were admitted; of short histories alone."""
    history = await request.ask_or_none(GetHistory(subject), Refusal) if count <= HISTORY else None
    return history.versions if history else ()


async def _list_rows(
    request: PageRequest, subject: Subject, numbers: Sequence[int], history: Sequence[AdmittedVersion]
) -> list[VersionFound]:
    """Return versions by their numbers; the first one that is not deleted, else the first one, has its tags.

    Those of the history are not asked for again. The subject may be an alias of another one, whose versions are shown.
    """
    known_versions = {one.version.number: one.version for one in history}
    newest = next((number for number in numbers if number in known_versions), numbers[0] if numbers else 0)
    rows: list[VersionFound] = []
    for number in numbers:
        tags = ("*",) if number == newest else ()
        version = None if tags else known_versions.get(number)
        if version is None:
            version = await request.ask(GetVersion(subject, number, deleted=True, find_tags=tags))
        if version.subject != str(subject):
            known_versions = {}
        rows.append(version)
    return rows


def _policy_words(policy: PolicyValue) -> str:
    words = in_words(Level(policy.backward, policy.forward, policy.deny))
    return words + (f", {policy.strictness.lower()}" if policy.strictness not in {"", "STRICT"} else "")


async def policy_homes(request: PageRequest, subject: Subject) -> list[PolicyHome]:
    """Return the configs that have a say, the nearest first; that of the level in force is marked."""
    scopes = (
        ("this subject", Scope(*subject)),
        (f"context {subject.context}", Scope(subject.context)),
        ("the whole registry", Scope(EVERYWHERE)),
    )
    homes: list[PolicyHome] = []
    is_settled = False
    for words, scope in scopes:
        if scope.context == EVERYWHERE:
            stored = await request.ask_or_none(GetConfig(scope), Refusal)
            config = stored.config if stored else Config()
        else:
            config = await own_config(request, scope)
        has_level = (config.level or config.exact_level or config.follows) is not None
        homes.append(PolicyHome(words, config, has_level and not is_settled))
        is_settled = is_settled or has_level
    return homes


async def own_config(request: PageRequest, scope: Scope) -> Config:
    """Return what is stored at a scope, without the defaults with which it is shown elsewhere."""
    listed = await request.ask_or_none(ListSettings(Subject(scope.context, scope.name or ""), limit=1), Refusal)
    own = (
        setting.config
        for setting in (listed.settings if listed else ())
        if (setting.context, setting.name) == (scope.context, scope.name)
    )
    return next(own, None) or Config()


async def _topics(request: PageRequest, subject: Subject) -> Any:
    answer = await request.ask_or_none(ListAssociations(OfSubject(subject), limit=ROWS), Refusal)
    return answer.associations if answer else ()


async def list_users(request: PageRequest, version: VersionFound) -> list[tuple[str, int]]:
    """Return the subjects whose schemas refer to a version, with the number of the version that does."""
    subject = subject_of(version.subject)
    answer = await request.ask_or_none(ReferencedBy(subject, version.number, deleted=version.deleted), Refusal)
    users: list[tuple[str, int]] = []
    for schema_id in (answer.ids if answer else ())[:USERS]:
        uses = await request.ask_or_none(UsesOf(schema_id, Subject(subject.context, "")), NotFound)
        users += uses.uses if uses else ()
    return sorted(set(users))[:USERS]


async def list_pinned_sources(request: PageRequest, subject: Subject) -> list[Source]:
    """Return the sources whose keys or values are read and written with a version of a subject."""
    answer = await request.ask_or_none(ListSources(limit=SOURCES), Refusal)
    return [
        source
        for source in (answer.sources if answer else ())
        if any(pin_place(part) == subject for part in (source.key, source.value))
    ]


def pin_place(part: SourcePart | None) -> Subject | None:
    """Return the subject to which the key or value of a source is pinned."""
    return None if part is None or part.pin is None else Subject(part.pin.context, part.pin.subject)
