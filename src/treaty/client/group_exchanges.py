"""Methods of a connection for subjects as groups: their life, and their versions by ordinal; exchanges as in `exchanges`."""

from treaty.client.exchanges import Exchange, request_answer
from treaty.core.answers import VersionFound
from treaty.core.groups import (
    ChangeSubject,
    CreateSubject,
    DeleteOrdinal,
    GetSubject,
    GroupCreated,
    GroupFound,
    GroupSettings,
    ListGroups,
    RemoveSubject,
)
from treaty.core.limits import GROUPS_PAGE
from treaty.core.names import DEFAULT_CONTEXT, context_of, subject_of
from treaty.core.policy import Level
from treaty.core.schema import Pairs


def create_subject(subject: str, settings: GroupSettings) -> Exchange[GroupCreated]:
    """Create a subject without versions; one that exists keeps its settings, which the answer says."""
    return (yield from request_answer(CreateSubject(subject_of(subject), settings)))


def change_subject(
    subject: str,
    *,
    level: Level | None = None,
    previous: Level | None = None,
    validators: tuple[str, ...] | None = None,
    properties: Pairs | None = None,
) -> Exchange[GroupFound]:
    """Change policy or properties of a subject. Raises `PreviousLevelDiffers` where its level is not `previous`."""
    request = ChangeSubject(subject_of(subject), level, previous, validators, properties)
    return (yield from request_answer(request)).group


def remove_subject(subject: str) -> Exchange[bool]:
    """Remove a subject with all its versions, encodings and settings; returns False where there was none."""
    return (yield from request_answer(RemoveSubject(subject_of(subject)))).removed


def delete_ordinal(subject: str, ordinal: int) -> Exchange[VersionFound]:
    """Soft-delete the live version with this ordinal; returns it."""
    return (yield from request_answer(DeleteOrdinal(subject_of(subject), ordinal)))


def group(subject: str) -> Exchange[GroupFound]:
    """Return a subject with its settings, with versions or without."""
    return (yield from request_answer(GetSubject(subject_of(subject))))


def groups(context: str = DEFAULT_CONTEXT) -> Exchange[tuple[GroupFound, ...]]:
    """Return all subjects of a context, those without versions among them, by name."""
    found: list[GroupFound] = []
    last = ""
    while True:
        page = yield from request_answer(ListGroups(context_of(context), last, GROUPS_PAGE))
        found += page.groups
        last = page.last
        if len(page.groups) < GROUPS_PAGE:
            return tuple(found)
