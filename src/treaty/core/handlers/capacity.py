"""Capacity: how many contexts, subjects, schemas and versions there may be, and which hidden versions make room."""

from itertools import islice

from treaty.core import limits
from treaty.core.handlers.uses import is_needed
from treaty.core.handlers.versions import StoredVersion, oldest_hidden
from treaty.core.names import Subject
from treaty.core.refusals import TooLarge
from treaty.core.state.state_tables import CONTEXT, SCHEMA, SUBJECT, VERSION, VERSION_STATES
from treaty.core.state.view import View


def refuse_new_context(view: View) -> None:
    """Raise `TooLarge` where there are as many contexts as there may be."""
    count = view.count(CONTEXT, ())
    if count >= limits.CONTEXTS:
        raise TooLarge.of(
            "CONTEXTS",
            f"There are {count} contexts",
            old=str(count),
            allowed=f"at most {limits.CONTEXTS} contexts; delete one that has no subject",
        )


def refuse_new_subject(view: View, subject: Subject) -> None:
    """Raise `TooLarge` where its context has as many subjects as it may have."""
    count = view.count(SUBJECT, (subject.context,))
    if count >= limits.SUBJECTS_PER_CONTEXT:
        raise TooLarge.of(
            "SUBJECTS_PER_CONTEXT",
            f"Context {subject.context} has {count} subjects",
            subject=str(subject),
            old=str(count),
            allowed=f"at most {limits.SUBJECTS_PER_CONTEXT} subjects; delete one permanently, or use another context",
        )


def refuse_new_schema(view: View, subject: Subject) -> None:
    """Raise `TooLarge` where the subject's context has as many schemas as it may have."""
    count = view.count(SCHEMA, (subject.context,))
    if count >= limits.SCHEMAS_PER_CONTEXT:
        raise TooLarge.of(
            "SCHEMAS_PER_CONTEXT",
            f"Context {subject.context} has {count} schemas",
            subject=str(subject),
            old=str(count),
            allowed=f"at most {limits.SCHEMAS_PER_CONTEXT} schemas; delete versions permanently, or use another context",
        )


def make_room(
    view: View, subject: Subject, going: list[StoredVersion], ordinal: int, *, live: bool = True
) -> list[StoredVersion]:
    """Return the hidden versions that go where one version more would be more than a subject may have.

    `going` are versions that go in any case. The oldest hidden versions go, but none that an encoding or a schema refers
    to; VERSIONS_DROPPED of them are looked at. Raises `TooLarge` where none can go, or where too many are live.

    `ordinal` is that of the version that comes, and `live` whether it is live. Each version takes an ordinal, so there are at
    most so many: while they are few nothing is counted.
    """
    if ordinal < min(limits.VERSIONS_PER_SUBJECT, limits.VERSIONS_KEPT_PER_SUBJECT):
        return []
    counts = {state: view.count(VERSION, (state, *subject)) for state in VERSION_STATES}
    gone = {key for key, _ in going}
    live_count = counts["live"] - sum(version.state == "live" for _, version in going)
    if live and live_count >= limits.VERSIONS_PER_SUBJECT:
        raise TooLarge.of(
            "VERSIONS_PER_SUBJECT",
            f"Subject '{subject}' has {live_count} live versions",
            subject=str(subject),
            old=str(live_count),
            allowed=f"at most {limits.VERSIONS_PER_SUBJECT} versions; delete old ones",
        )
    total = sum(counts.values())
    excess = total - len(gone) + 1 - limits.VERSIONS_KEPT_PER_SUBJECT
    if excess <= 0:
        return []
    oldest = islice(
        (stored for stored in oldest_hidden(view, subject) if stored[0] not in gone), limits.VERSIONS_DROPPED
    )
    droppable = [*islice((stored for stored in oldest if not is_needed(view, stored[0])), excess)]
    if droppable or gone:  # the subject does not grow
        return droppable
    raise TooLarge.of(
        "VERSIONS_KEPT_PER_SUBJECT",
        f"Subject '{subject}' has {total} versions: {counts['live']} live, {counts['soft']} softly deleted, "
        f"{counts['hidden']} hidden",
        subject=str(subject),
        old=str(total),
        allowed=f"at most {limits.VERSIONS_KEPT_PER_SUBJECT} versions; delete softly deleted ones permanently "
        "(permanent=true)",
    )
