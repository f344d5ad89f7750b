"""Rights: who may do what to which subjects. Rules are rows; nothing is allowed that no rule allows.

A name is ``user:alice`` (a password), ``token:alice`` (a bearer token), ``cert:alice`` (a client's certificate),
``group:team`` or ``anonymous``; so nobody becomes somebody else by coming through another door.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from treaty.core.limits import CREDENTIALS_KNOWN, RIGHTS_KNOWN
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject

Permission = Literal["read", "register", "delete", "config", "mode", "admin"]
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)
INCLUDED: Mapping[Permission, tuple[Permission, ...]] = {"register": ("read",), "admin": PERMISSIONS}
"""What a permission brings along: a registration tells what stands there, so it is no secret to who may register."""
ANONYMOUS = "anonymous"
"""Who shows nothing. What is allowed to this name is allowed to everybody."""


class TopicPart(NamedTuple):
    """The keys or the values (`kind`) of a topic in its namespace: what is associated with a subject."""

    name: str
    namespace: str
    kind: str


@dataclass(frozen=True, slots=True)
class AccessRule:
    """Who fits one of these names may do this to subjects that fit a pattern, in contexts that fit one, and to topics.

    In a pattern ``*`` stands for any characters and ``?`` for one. Without `topics` a rule covers what the rule for subjects
    covers by the usual name: the values of a topic where the subject ``TOPIC-value`` is covered.
    """

    who: tuple[str, ...]
    may: frozenset[Permission]
    subjects: tuple[str, ...] = ("*",)
    contexts: tuple[str, ...] = (".",)
    topics: tuple[str, ...] | None = None

    def covers_topic(self, topic: TopicPart) -> bool:
        """Return whether the rule is about the keys or values of a topic."""
        if self.topics is not None:
            return _matches_any(self.topics, topic.name)
        contexts = (DEFAULT_CONTEXT, f".{topic.namespace}")
        return _matches_any(self.subjects, f"{topic.name}-{topic.kind}") and any(
            _matches_any(self.contexts, one) for one in contexts
        )


def _matches_any(patterns: tuple[str, ...], text: str) -> bool:
    return any(matches_pattern(one, text) for one in patterns)


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """All rules that hold for somebody: their class of rights. Two who have the same rules share one."""

    rules: tuple[AccessRule, ...]

    def may(self, permission: Permission, subject: Subject) -> bool:
        """Return whether a subject in its context may be treated so."""
        return _may(self, permission, subject)

    @property
    def sees_all(self) -> bool:
        """Return whether everything may be read, so that nothing has to be filtered."""
        return _sees_all(self)

    def may_whole(self, permission: Permission, context: str) -> bool:
        """Return whether every subject of a context (``*``: of all contexts) may be treated so."""
        return any(one.holds_in(context) and "*" in one.names for one in _areas(self, permission))

    def may_somewhere(self, permission: Permission, name: str | None = None) -> bool:
        """Return whether a subject of this name (None: any) may be treated so in some context."""
        return any(name is None or one.has(name) for one in _areas(self, permission))

    def may_associate(self, permission: Permission, topic: TopicPart) -> bool:
        """Return whether the associations of a topic's keys or values may be treated so."""
        return any(permission in one.may and one.covers_topic(topic) for one in self.rules)

    def enters(self, context: str) -> bool:
        """Return whether something in a context may be read, if it is there."""
        return any(one.holds_in(context) for one in _areas(self, "read"))


@dataclass(frozen=True, slots=True, eq=False)
class Rights:
    """The rules of a server. `groups` has the members of groups by name."""

    rules: tuple[AccessRule, ...] = ()
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    classes: dict[tuple[int, ...], Access] = field(default_factory=dict)
    known: dict[tuple[str, tuple[str, ...]], Access] = field(default_factory=dict)

    def access(self, principal: str, groups: tuple[str, ...] = ()) -> Access:
        """Return the access of a principal who is, by word of who vouches for them, in these groups too."""
        found = self.known.get((principal, groups))
        if found is None:
            if len(self.known) >= CREDENTIALS_KNOWN:
                self.known.clear()
            found = self.known[principal, groups] = self._access(principal, groups)
        return found

    def list_names(self, principal: str, groups: tuple[str, ...]) -> frozenset[str]:
        """Return all names that rules may have for a principal: its own, its groups', and the one of everybody."""
        own = {
            group for group, members in self.groups.items() if any(matches_pattern(one, principal) for one in members)
        }
        return frozenset({principal, ANONYMOUS, *(f"group:{group}" for group in own.union(groups))})

    def _access(self, principal: str, groups: tuple[str, ...]) -> Access:
        names = self.list_names(principal, groups)
        held = tuple(
            place
            for place, rule in enumerate(self.rules)
            if any(matches_pattern(pattern, name) for pattern in rule.who for name in names)
        )
        return self.classes.setdefault(held, Access(tuple(self.rules[place] for place in held)))


def with_included(may: Iterable[Permission]) -> frozenset[Permission]:
    """Return permissions with those that they bring along."""
    named = tuple(may)
    return frozenset(named).union(*(INCLUDED.get(one, ()) for one in named))


def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether a text fits a pattern, letter by letter but for ``*`` and ``?``."""
    return pattern in {"*", text} or _compile_pattern(pattern).fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class AccessArea:
    """All that the rules of one class of rights say about the same contexts: names as they are, and patterns as one."""

    contexts: tuple[str, ...]
    names: frozenset[str]
    patterns: re.Pattern[str]

    def holds_in(self, context: str) -> bool:
        """Return whether it is about a context; only the pattern ``*`` is about all contexts at once."""
        if context == EVERYWHERE:
            return EVERYWHERE in self.contexts
        return any(matches_pattern(pattern, context) for pattern in self.contexts)

    def has(self, name: str) -> bool:
        """Return whether it is about subjects with this name."""
        return "*" in self.names or name in self.names or self.patterns.fullmatch(name) is not None


@lru_cache(RIGHTS_KNOWN)
def _may(access: Access, permission: Permission, subject: Subject) -> bool:
    return any(one.holds_in(subject.context) and one.has(subject.name) for one in _areas(access, permission))


@lru_cache(1024)
def _sees_all(access: Access) -> bool:
    return access.may_whole("read", EVERYWHERE)


@lru_cache(1024)
def _areas(access: Access, permission: Permission) -> tuple[AccessArea, ...]:
    grouped: dict[tuple[str, ...], set[str]] = {}
    for rule in access.rules:
        if permission in rule.may and rule.subjects:
            grouped.setdefault(rule.contexts, set()).update(rule.subjects)
    return tuple(_area(contexts, subjects) for contexts, subjects in grouped.items())


def _area(contexts: tuple[str, ...], subjects: set[str]) -> AccessArea:
    names = frozenset(one for one in subjects if one == "*" or not {"*", "?"} & set(one))
    patterns = "|".join(_expression(one) for one in sorted(subjects - names))
    return AccessArea(contexts, names, re.compile(patterns or "(?!)", re.DOTALL))


@lru_cache(1024)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(_expression(pattern), re.DOTALL)


def _expression(pattern: str) -> str:
    """A star takes as little as it can and never gives it back, so that hostile names cost no more than their length."""
    first, *rest = (re.escape(part).replace(r"\?", ".") for part in pattern.split("*"))
    if not rest:
        return first
    middle = "".join(f"(?>.*?{part})" for part in rest[:-1])
    return f"{first}{middle}.*{rest[-1]}"
