"""Rights: rules that allow principals actions on subjects. What no rule allows is denied.

A principal is ``user:alice`` (password), ``token:alice`` (bearer token), ``cert:alice`` (client certificate),
``key:…`` (API key), ``group:team`` or ``anonymous``. The prefix keeps equal names of different kinds of credentials apart.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from treaty.core.limits import CREDENTIALS_KNOWN, RIGHTS_KNOWN
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject
from treaty.light_dataclass import dataclass

Permission = Literal[
    "read",
    "bump",
    "create",
    "register",
    "delete",
    "config",
    "mode",
    "query",
    "insert",
    "pause",
    "plan",
    "import",
    "admin",
]
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)
INCLUDED: Mapping[Permission, tuple[Permission, ...]] = {
    "bump": ("read",),
    "create": ("read", "bump"),
    "register": ("read", "bump", "create"),
    "query": ("read",),
    "insert": ("read",),
    "pause": ("read",),
    "admin": PERMISSIONS,
}
"""Implied permissions. `bump` adds versions to subjects, `create` also makes subjects; the answer to both contains the
stored schema, so they imply read. `query`, `insert` and `pause` are for sources of the metastore; `plan` is for planners and
runners, which are trusted, `import` for imports from other metastores.
"""
ANONYMOUS = "anonymous"
"""The principal of requests without credentials. Its permissions apply to every principal."""


PATH_PREFIX = "path:"
"""What patterns of topics begin with that cover folders of sources."""


class TopicPart(NamedTuple):
    """The keys or values (`kind`) of a topic in its namespace, as the resource of an association."""

    name: str
    namespace: str
    kind: str


@dataclass(frozen=True, slots=True)
class AccessRule:
    """A rule: principals, permissions, and patterns of subjects, contexts, topics and sources.

    In a pattern ``*`` matches any characters and ``?`` one. Without `topics` a rule covers topics by the usual subject
    name: the values of a topic whose subject ``TOPIC-value`` is covered. Without `sources` it covers a source of the
    metastore as it covers the subject of that name in the default context.
    """

    who: tuple[str, ...]
    may: frozenset[Permission]
    subjects: tuple[str, ...] = ("*",)
    contexts: tuple[str, ...] = (".",)
    topics: tuple[str, ...] | None = None
    private: bool = False
    """Whether patterns of subjects that begin with a wildcard, and so name no vendor, cover private subjects too."""
    sources: tuple[str, ...] | None = None
    """Patterns of keys of sources and named types of the metastore: names with A-Z as a-z."""

    def subjects_for(self, *, private: bool) -> tuple[str, ...]:
        """Return the patterns of subjects that count for private subjects, or (all of them) for the others."""
        if not private or self.private:
            return self.subjects
        return tuple(pattern for pattern in self.subjects if pattern and pattern[0] not in "*?")

    def covers_topic(self, topic: TopicPart) -> bool:
        """Return whether the rule is about the keys or values of a topic."""
        if self.topics is not None:
            return _matches_any(self.topics, topic.name)
        contexts = (DEFAULT_CONTEXT, f".{topic.namespace}")
        return _matches_any(self.subjects, f"{topic.name}-{topic.kind}") and any(
            _matches_any(self.contexts, context) for context in contexts
        )

    def covers_path(self, path: str) -> bool:
        """Return whether the rule is about the folder of a source: by a pattern ``path:…`` of topics, or as the topic of that name."""
        if self.topics is not None:
            return _matches_any(self.topics, f"{PATH_PREFIX}{path}")
        return _matches_any(self.subjects, f"{path}-value") and _matches_any(self.contexts, DEFAULT_CONTEXT)

    @property
    def covers_some_source(self) -> bool:
        """Whether there can be a source that the rule is about."""
        if self.sources is not None:
            return bool(self.sources)
        return bool(self.subjects) and _matches_any(self.contexts, DEFAULT_CONTEXT)

    @property
    def covers_every_source(self) -> bool:
        """Whether the rule is about all sources: it names them by ``*``, or covers all subjects of the default context."""
        if self.sources is not None:
            return "*" in self.sources
        return "*" in self.subjects and _matches_any(self.contexts, DEFAULT_CONTEXT)

    def covers_source(self, key: str) -> bool:
        """Return whether the rule is about the source with a key."""
        if self.sources is not None:
            return _matches_any(self.sources, key)
        return _matches_any(self.subjects, key) and _matches_any(self.contexts, DEFAULT_CONTEXT)


def _matches_any(patterns: tuple[str, ...], text: str) -> bool:
    return any(matches_pattern(pattern, text) for pattern in patterns)


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """All rules of a principal. Principals with the same rules share one object."""

    rules: tuple[AccessRule, ...]

    def may(self, permission: Permission, subject: Subject, *, private: bool = False) -> bool:
        """Return whether the permission is given on a subject, which is private or not."""
        return _may(self, permission, subject, private=private)

    @property
    def sees_all(self) -> bool:
        """Return whether everything is readable, so that no filter is needed."""
        return _sees_all(self)

    @property
    def sees_private(self) -> bool:
        """Return whether everything is readable, private subjects too."""
        return _sees_private(self)

    def may_vendor(self, permission: Permission, vendor: str) -> bool:
        """Return whether the permission is given on all schemas of a vendor and of the vendors below it, private ones too."""
        return all(
            any(area.has(text) for area in _areas(self, permission, private=True))
            for text in patterns_of_vendor(vendor)
        )

    def may_whole(self, permission: Permission, context: str) -> bool:
        """Return whether the permission is given on every subject of a context (``*``: of all contexts)."""
        return any(area.holds_in(context) and "*" in area.names for area in _areas(self, permission))

    def may_somewhere(self, permission: Permission, name: str | None = None) -> bool:
        """Return whether the permission is given on a subject of this name (None: any) in some context."""
        return any(name is None or area.has(name) for area in _areas(self, permission))

    def may_associate(self, permission: Permission, topic: TopicPart) -> bool:
        """Return whether the permission is given on the keys or values of a topic."""
        return any(permission in rule.may and rule.covers_topic(topic) for rule in self.rules)

    def may_path(self, permission: Permission, path: str) -> bool:
        """Return whether the permission is given on the folder of a source, by its canonical path."""
        return any(permission in rule.may and rule.covers_path(path) for rule in self.rules)

    def may_source(self, permission: Permission, key: str) -> bool:
        """Return whether the permission is given on the source with a key (its name with A-Z as a-z)."""
        return _may_source(self, permission, key)

    def may_some_source(self, permission: Permission) -> bool:
        """Return whether the permission may be given on some source."""
        return any(permission in rule.may and rule.covers_some_source for rule in self.rules)

    def may_every_source(self, permission: Permission) -> bool:
        """Return whether one rule gives the permission on every source."""
        return any(permission in rule.may and rule.covers_every_source for rule in self.rules)

    def enters(self, context: str) -> bool:
        """Return whether any subject name in a context is readable."""
        return any(area.holds_in(context) for area in _areas(self, "read"))


@dataclass(frozen=True, slots=True, eq=False)
class Rights:
    """The rules of a server. `groups` has the members of groups by name."""

    rules: tuple[AccessRule, ...] = ()
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    classes: dict[tuple[int, ...], Access] = field(default_factory=dict)
    accesses: dict[tuple[str, tuple[str, ...]], Access] = field(default_factory=dict)

    def access(self, principal: str, groups: tuple[str, ...] = ()) -> Access:
        """Return the access of a principal, with the groups that the authentication returned."""
        access = self.accesses.get((principal, groups))
        if access is None:
            if len(self.accesses) >= CREDENTIALS_KNOWN:
                self.accesses.clear()
                self.classes.clear()
            access = self.accesses[principal, groups] = self._access(principal, groups)
        return access

    def list_names(self, principal: str, groups: tuple[str, ...]) -> frozenset[str]:
        """Return the names by which rules match a principal: its own, its groups, and those of everybody."""
        own = {
            group
            for group, members in self.groups.items()
            if any(matches_pattern(pattern, principal) for pattern in members)
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


def patterns_of_vendor(vendor: str) -> tuple[str, str]:
    """Return the patterns of the subjects of a vendor, and of those of the vendors below it."""
    return f"{vendor}/*", f"{vendor}.*/*"


def with_included(may: Iterable[Permission]) -> frozenset[Permission]:
    """Return permissions with the implied ones."""
    named = tuple(may)
    return frozenset(named).union(*(INCLUDED.get(permission, ()) for permission in named))


def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern with ``*`` and ``?``."""
    return pattern in {"*", text} or _compile_pattern(pattern).fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class AccessArea:
    """All rules of an access with the same contexts: literal names, and patterns compiled to one."""

    contexts: tuple[str, ...]
    names: frozenset[str]
    patterns: re.Pattern[str]

    def holds_in(self, context: str) -> bool:
        """Return whether it covers a context; only the pattern ``*`` covers all contexts."""
        if context == EVERYWHERE:
            return EVERYWHERE in self.contexts
        return any(matches_pattern(pattern, context) for pattern in self.contexts)

    def has(self, name: str) -> bool:
        """Return whether it covers subjects with this name."""
        return "*" in self.names or name in self.names or self.patterns.fullmatch(name) is not None


@lru_cache(RIGHTS_KNOWN)
def _may(access: Access, permission: Permission, subject: Subject, *, private: bool) -> bool:
    areas = _areas(access, permission, private=private)
    return any(area.holds_in(subject.context) and area.has(subject.name) for area in areas)


@lru_cache(RIGHTS_KNOWN)
def _may_source(access: Access, permission: Permission, key: str) -> bool:
    return any(permission in rule.may and rule.covers_source(key) for rule in access.rules)


@lru_cache(1024)
def _sees_all(access: Access) -> bool:
    return access.may_whole("read", EVERYWHERE)


@lru_cache(1024)
def _sees_private(access: Access) -> bool:
    return any(area.holds_in(EVERYWHERE) and "*" in area.names for area in _areas(access, "read", private=True))


@lru_cache(1024)
def _areas(access: Access, permission: Permission, *, private: bool = False) -> tuple[AccessArea, ...]:
    grouped: dict[tuple[str, ...], set[str]] = {}
    for rule in access.rules:
        subjects = rule.subjects_for(private=private)
        if permission in rule.may and subjects:
            grouped.setdefault(rule.contexts, set()).update(subjects)
    return tuple(_area(contexts, subjects) for contexts, subjects in grouped.items())


def _area(contexts: tuple[str, ...], subjects: set[str]) -> AccessArea:
    names = frozenset(pattern for pattern in subjects if pattern == "*" or not {"*", "?"} & set(pattern))
    patterns = "|".join(_expression(pattern) for pattern in sorted(subjects - names))
    return AccessArea(contexts, names, re.compile(patterns or "(?!)", re.DOTALL))


@lru_cache(1024)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(_expression(pattern), re.DOTALL)


def _expression(pattern: str) -> str:
    """Return the regular expression of a pattern. Stars are possessive, so that matching is linear in the length of a
    name.
    """
    first, *rest = (re.escape(part).replace(r"\?", ".") for part in pattern.split("*"))
    if not rest:
        return first
    middle = "".join(f"(?>.*?{part})" for part in rest[:-1])
    return f"{first}{middle}.*{rest[-1]}"
