"""Who uses a subject: subjects whose schemas refer to it, sources that pin it, and queries over those."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from treaty.core.access.authorized_view import without_filter
from treaty.core.access.rights import Access
from treaty.core.handlers.metastore.closure import walk_closure
from treaty.core.handlers.uses import GoingRows, referrers, users_of, versions_of
from treaty.core.handlers.versions import STATES, newest_first, subject_of_key
from treaty.core.limits import CLOSURE, TOUCHED
from treaty.core.messages.differences import QUERY_TOUCHED, SOURCE_TOUCHED, SUBJECT_TOUCHED, TouchedResource
from treaty.core.names import Subject
from treaty.core.refusals import TooLarge
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.state_tables import VERSION
from treaty.core.state.view import View


@dataclass(frozen=True, slots=True)
class TouchedFound:
    """The users that a caller may see, how many sources they may not see, and whether there are more."""

    resources: tuple[TouchedResource, ...]
    hidden: int = 0
    more: bool = False


def find_touched(view: View, access: Access | None, subject: Subject) -> TouchedFound:
    """Return who uses a subject, the nearest first, at most `TOUCHED` of them.

    The newest `TOUCHED` versions of each subject are looked at. A subject that may not be read is missing, as it is
    in every other answer.
    """
    subjects = list(islice(_find_subjects(view, subject), TOUCHED + 1))
    homes = [(subject, 0), *((user.subject, user.depth) for user in subjects)]
    sources, hidden = _find_sources(view, access, homes)
    touched = [TouchedResource(SUBJECT_TOUCHED, str(user.subject), user.needs, user.depth) for user in subjects]
    touched = sorted([*touched, *sources], key=lambda resource: (resource.depth, resource.kind, resource.name))
    return TouchedFound(tuple(touched[:TOUCHED]), hidden, len(touched) > TOUCHED)


@dataclass(frozen=True, slots=True)
class ReferringSubject:
    """A subject with a schema that refers to a version, `needs` in words, and how far it is from the first one."""

    subject: Subject
    needs: str
    depth: int


def _find_subjects(view: View, start: Subject) -> Iterator[ReferringSubject]:
    """Return the subjects that refer to a subject, directly or through others, each once."""
    visited, waiting = {start}, deque([(start, 0)])
    while waiting:
        subject, depth = waiting.popleft()
        for key, version in islice(newest_first(view, subject), TOUCHED):
            for schema in referrers(view, key, "live"):
                for user, _ in versions_of(view, schema, STATES["live"]):
                    home = subject_of_key(user)
                    if home not in visited:
                        visited.add(home)
                        waiting.append((home, depth + 1))
                        yield ReferringSubject(home, f"{subject} version {version.number}", depth + 1)


def _find_sources(
    view: View, access: Access | None, homes: list[tuple[Subject, int]]
) -> tuple[list[TouchedResource], int]:
    """Return the sources that pin versions of these subjects, and those that need such a source."""
    base = without_filter(view)[0]
    touched: dict[str, TouchedResource] = {}
    hidden: set[str] = set()
    for subject, depth in homes:
        for key, version in islice(newest_first(view, subject), TOUCHED):
            for _, user in users_of(base, VERSION, key, "warns", GoingRows()):
                pinned = f"{subject} version {version.number}"
                for name, needs, further in _with_users(base, user, pinned):
                    if len(touched) + len(hidden) > TOUCHED:
                        return [*touched.values()], len(hidden)
                    if access is not None and not access.may_source("read", name.name):
                        hidden.add(name.name)
                        continue
                    needed = needs if further == 1 or access is None or access.may_source("read", needs.lower()) else ""
                    source = base.get(SOURCE, name)
                    assert source is not None, f"source {name.name} is missing"
                    kind = SOURCE_TOUCHED if source.query is None else QUERY_TOUCHED
                    nearest = touched.get(name.name)
                    if nearest is None or nearest.depth > depth + further:
                        touched[name.name] = TouchedResource(kind, source.name, needed, depth + further)
    return [*touched.values()], len(hidden)


def _with_users(base: View, source: SourceKey, pinned: str) -> Iterator[tuple[SourceKey, str, int]]:
    """Return a source that pins a version, and the sources that need it: key, what it needs, and its distance."""
    yield source, pinned, 1
    try:
        for step in islice(walk_closure(base, SOURCE, source), CLOSURE):
            if step.use.user is SOURCE:
                needed = base.get(step.use.of, step.needed)
                yield step.user, "" if needed is None else needed.name, step.depth + 1
    except TooLarge:
        return
