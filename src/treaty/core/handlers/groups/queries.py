"""Answers about a subject as a group: its settings, its level in force and its format, alone and in a list."""

from collections.abc import Iterator

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.command import Command, Decision, PausingWork, finish_work
from treaty.core.handlers.groups.properties import named_format
from treaty.core.handlers.settings import config_in_force, config_of, own_value, policy_of
from treaty.core.handlers.versions import StoredVersion, has_other_formats, latest_version, newest_first, no_subject
from treaty.core.messages.groups import ANY_FORMAT, FORMAT, GetSubject, GroupFound, Groups, ListGroups
from treaty.core.messages.settings import Config, Scope
from treaty.core.names import Subject
from treaty.core.policy import Level
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.values import ConfigValue, SubjectValue
from treaty.core.state.view import View, after, span

PAUSE_ROWS = 64
"""Rows between two pauses."""


def get_subject(view: View, command: Command[GetSubject], engine: SchemaEngine) -> PausingWork[Decision[GroupFound]]:
    """Return a subject with its settings; one without versions is a subject too."""
    subject = command.request.subject
    return Decision((), (yield from _describe(view, subject, subject_row(view, subject))))


def list_groups(view: View, command: Command[ListGroups], engine: SchemaEngine) -> PausingWork[Decision[Groups]]:
    """List subjects of one context by name; a pause follows each one that was looked at."""
    request = command.request
    base, reads = without_filter(view)
    groups: list[GroupFound] = []
    last = request.after
    for subject in _subjects(base, request):
        if len(groups) >= min(request.limit, limits.GROUPS_PAGE):
            break
        value = base.get(SUBJECT, subject) if reads(subject) else None
        if value is not None:
            groups.append((yield from _describe(base, subject, value)))
            last = subject.name
        yield
    return Decision((), Groups(tuple(groups), last))


def _subjects(view: View, request: ListGroups) -> Iterator[Subject]:
    low, high = span((request.context,))
    return view.walk(SUBJECT, after((request.context, request.after)) if request.after else low, high)


def subject_row(view: View, subject: Subject) -> SubjectValue:
    """Return the row of a subject. Raises `SubjectNotFound` where it has none."""
    row = view.get(SUBJECT, subject)
    if row is None:
        raise no_subject(subject)
    return row


def describe_group(view: View, subject: Subject, value: SubjectValue, own: ConfigValue | None) -> GroupFound:
    """Return the answer about a subject that has, or is about to have, this row and this row of its config."""
    return finish_work(_describe(view, subject, value, own))


def _describe(
    view: View, subject: Subject, value: SubjectValue, config: ConfigValue | None = None
) -> PausingWork[GroupFound]:
    own = config or own_value(view, Scope(*subject))
    latest = latest_version(view, subject)
    return GroupFound(
        subject=str(subject),
        origin=value.origin,
        types=value.types,
        order=value.order,
        identity=value.identity,
        format=(yield from _format_of(view, subject, value, latest)),
        level=level_in_force(view, subject, own),
        config=Config() if own is None else config_of(own),
        properties=value.properties,
        latest=-1 if latest is None else latest[0].ordinal,
        schemes=value.schemes,
        private=value.private,
        label_policy=value.label_policy,
    )


def level_in_force(view: View, subject: Subject, own: ConfigValue | None) -> Level:
    """Return the level in force at a subject; `own` is the row of its config, if it has one."""
    policy = policy_of(config_in_force(view, Scope(*subject), own))
    return Level(policy.backward, policy.forward, policy.deny)


def _format_of(view: View, subject: Subject, value: SubjectValue, latest: StoredVersion | None) -> PausingWork[str]:
    """Return the format of a subject's property, ``any`` too, else of all its live versions.

    Versions are looked at only where some version ever had another format than the latest.
    """
    named = named_format(value.properties)
    if FORMAT in dict(value.properties) or latest is None:
        return named
    format_ = latest[1].format
    base, _ = without_filter(view)
    if not has_other_formats(base, subject, format_):
        return format_
    for count, (_, version) in enumerate(newest_first(view, subject)):
        if version.format != format_:
            return ANY_FORMAT
        if count % PAUSE_ROWS == 0:
            yield
    return format_
