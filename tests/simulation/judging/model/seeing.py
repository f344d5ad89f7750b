"""What somebody sees of the past: private subjects are for those alone whom a rule that names the vendor lets read them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.events import Associated, ConfigChanged, Event, ModeChanged, SubjectMade
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No, tag_of
from tests.simulation.judging.model.resources import matches, may, may_whole
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Forbidden
from treaty.core.state import values

Hidden = frozenset[Subject]


def may_private(access: Any, permission: str, subject: Subject) -> bool:
    """Whether a rule allows this on a private subject: by a pattern that begins with a name, unless the rule says private."""
    return any(
        permission in rule.may
        and any(matches(pattern, subject.context) for pattern in rule.contexts)
        and any(matches(one, subject.name) for one in rule.subjects if rule.private or one[:1] not in ("", "*", "?"))
        for rule in access.rules
    )


def hidden_from(past: Past, access: Any) -> Hidden:
    """The private subjects that somebody may not read."""
    if access is None:
        return frozenset()
    private = (one for one, value in past.subjects.items() if value.private)
    return frozenset(one for one in private if not may_private(access, "read", one))


def sees_private(access: Any) -> bool:
    """Whether a rule lets somebody read every subject, and says that private ones are meant."""
    return any(
        rule.private and "read" in rule.may and "*" in rule.contexts and "*" in rule.subjects for rule in access.rules
    )


def hears_of_private(access: Any, subject: Subject | None) -> bool:
    """Whether somebody may hear what a command on a private subject was answered, whatever has become of the subject."""
    if access is None:
        return True
    return sees_private(access) if subject is None else may_private(access, "read", subject)


def _about(scope: Scope) -> Subject:
    return Subject(scope.context, scope.name or "")


NAMING = ("alias", "alias_for_deks")
"""What a config says of other subjects."""


def _named(scope: Scope, config: values.ConfigValue | None) -> dict[str, Subject]:
    """The subjects that a config names, by member."""
    names = {member: getattr(config, member, None) for member in NAMING}
    return {member: subject_of(name, scope.context) for member, name in names.items() if name}


def _shown_configs(configs: dict[Scope, values.ConfigValue], hidden: Hidden) -> dict[Scope, values.ConfigValue]:
    """Configs without those of hidden subjects and without their names; a config that says nothing else is not there."""
    shown = {}
    for scope, config in configs.items():
        secret = [member for member, subject in _named(scope, config).items() if subject in hidden]
        nothing: dict[str, Any] = dict.fromkeys(secret)
        told = replace(config, **nothing) if secret else config
        if _about(scope) not in hidden and not (secret and told == values.ConfigValue()):
            shown[scope] = told
    return shown


# --------------------------------------------------------------------------------------------------------- queries


class SeenPast(Past):
    """The past as somebody sees it: versions, contexts and associations that may not be read are not there.

    A schema that a readable one refers to is followed to in any case.
    """

    def __init__(self, whole: Past, access: Any, hidden: Hidden) -> None:
        super().__init__(whole.events, whole.sequence)
        self._whole = whole
        self._access = access
        self._hidden = hidden
        self.guarded = not sees_private(access) and any(one.private for one in whole.subjects.values())

    def _reads(self, subject: Subject) -> bool:
        return may(self._access, "read", *subject) and subject not in self._hidden

    def _enters(self, context: str) -> bool:
        return any(
            "read" in rule.may and any(matches(pattern, context) for pattern in rule.contexts)
            for rule in self._access.rules
        )

    def tells_of(self, subject: Subject | None) -> bool:
        return subject not in self._hidden if subject is not None else not self.guarded

    def shows(self, scope: Scope) -> bool:
        if scope.name is None or scope.context == "*":
            return scope.context in {"*", "."} or self._enters(scope.context)
        return self._reads(Subject(scope.context, scope.name))

    def _versions(self) -> list[VersionNow]:
        return [one for one in self._whole.versions if self._reads(one.subject)]

    def _subjects(self) -> dict[Subject, values.SubjectValue]:
        return {one: value for one, value in self._whole.subjects.items() if one not in self._hidden}

    def _contexts(self) -> list[str]:
        return [one for one in self._whole.contexts if self._enters(one)]

    def _associations(self) -> dict[tuple[str, str, str], values.Association]:
        every = self._whole.associations.items()
        return {key: one for key, one in every if self._reads(subject_of(one.subject))}

    @property
    def configs(self) -> dict[Scope, values.ConfigValue]:
        return _shown_configs(self._whole.configs, self._hidden)

    @property
    def modes(self) -> dict[Scope, str]:
        return {scope: one for scope, one in self._whole.modes.items() if _about(scope) not in self._hidden}

    def schema(self, context: str, schema_id: int) -> values.Schema | None:
        return self._whole.schema(context, schema_id)

    def highest_id(self, context: str) -> int | None:
        if not self.guarded and may_whole(self._access, "read", context):
            return self._whole.highest_id(context)
        return max((one.schema_id for one in self.versions if one.context == context), default=0)


def seen(past: Past, access: Any) -> Past:
    """What somebody sees of the past."""
    if access is None:
        return past
    one = SeenPast(past, access, hidden_from(past, access))
    return past if not one.guarded and may_whole(access, "read", "*") else one


# -------------------------------------------------------------------------------------------------------- commands


def seen_after(past: Past, asking: Asking, events: Iterable[Event]) -> Past:
    """What somebody sees after the events of their command on a past, which are in it already and may not touch what is hidden."""
    later = past.whole if isinstance(past, PublicPast) else past
    news = tuple(events)
    refuse_hidden(Past(later.events[: len(later.events) - len(news)], later.sequence), asking, news)
    return seen(later, asking.access)


class PublicPast(Past):
    """The past on which somebody's command is decided: private subjects that they may not read are not there.

    Their schemas are, and who refers to whom: ids depend on them, and what may be deleted.
    """

    def __init__(self, whole: Past, hidden: Hidden) -> None:
        super().__init__(whole.events, whole.sequence)
        self._whole = whole
        self._hidden = hidden

    def then(self, events: Iterable[Event], sequence: int | None = None) -> Past:
        news = tuple(events)
        made = {
            one.subject for one in news if isinstance(one, SubjectMade)
        }  # in the place of a hidden one: refused later
        return PublicPast(self._whole.then(news, sequence), self._hidden - made)

    @property
    def whole(self) -> Past:
        """The past with what is hidden."""
        return self._whole

    def of(self, subject: Subject) -> list[VersionNow]:
        return [] if subject in self._hidden else super().of(subject)

    def shown(self, subject: Subject, states: tuple[str, ...] = ("live",)) -> list[VersionNow]:
        return [] if subject in self._hidden else super().shown(subject, states)

    def count_subjects(self, context: str) -> int:
        return self._whole.count_subjects(context)

    def _subjects(self) -> dict[Subject, values.SubjectValue]:
        return {one: value for one, value in super()._subjects().items() if one not in self._hidden}

    @property
    def configs(self) -> dict[Scope, values.ConfigValue]:
        return _shown_configs(super().configs, self._hidden)

    @property
    def modes(self) -> dict[Scope, str]:
        return {scope: one for scope, one in super().modes.items() if _about(scope) not in self._hidden}


def decided_on(past: Past, access: Any) -> Past:
    """What somebody's command is decided on."""
    hidden = hidden_from(past, access)
    return PublicPast(past, hidden) if hidden else past


def refuse_hidden(past: Past, asking: Asking, events: Iterable[Event]) -> None:
    """Nobody changes what is hidden from them, nor makes a private subject that they may not make."""
    hidden = hidden_from(past, asking.access)
    for event in events if asking.access is not None else ():
        if set(_touched(event)) & hidden:
            raise No(Forbidden, "RIGHTS", new=tag_of(type(asking.request)))
        made = isinstance(event, SubjectMade) and event.value.private
        if made and not may_private(asking.access, "create", event.subject):  # type: ignore[union-attr]
            raise No(Forbidden, "RIGHTS", new=tag_of(type(asking.request)))


def with_kept_aliases(past: Past, asking: Asking, events: Iterable[Event]) -> tuple[Event, ...]:
    """What happens; a config keeps what it says of hidden subjects, unless it says something else in its place."""
    hidden = hidden_from(past, asking.access)
    return tuple(_kept(past, hidden, one) if isinstance(one, ConfigChanged) and hidden else one for one in events)


def _kept(past: Past, hidden: Hidden, event: ConfigChanged) -> ConfigChanged:
    old, new = past.configs.get(event.scope), event.config or values.ConfigValue()
    secret = [member for member, subject in _named(event.scope, old).items() if subject in hidden]
    same = {member: getattr(old, member) for member in secret if getattr(new, member) is None}
    return replace(event, config=replace(new, **same)) if same else event


def is_about_private(past: Past, named: Subject | None, events: Iterable[Event]) -> bool:
    """Whether a command names, changes or makes a private subject."""
    touched = {named}
    for event in events:
        subjects = (_about(event.scope),) if isinstance(event, ConfigChanged) else _touched(event)
        touched.update(subjects)
        if isinstance(event, SubjectMade) and event.value.private:
            return True
    there = (past.subjects.get(one) for one in touched if one is not None)
    return any(one is not None and one.private for one in there)


def _touched(event: Event) -> tuple[Subject, ...]:
    if isinstance(event, ConfigChanged):
        return (_about(event.scope), *_named(event.scope, event.config).values())
    if isinstance(event, ModeChanged):
        return (_about(event.scope),)
    if isinstance(event, Associated):
        return (subject_of(event.key[2]),)
    subject = getattr(event, "subject", None)
    return () if subject is None else (subject,)
