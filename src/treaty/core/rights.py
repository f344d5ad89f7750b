"""Rights: who may do what to which subjects. Rules are rows; nothing is allowed that no rule allows.

A name is ``user:alice`` (a password), ``token:alice`` (a bearer token), ``cert:alice`` (a client's certificate),
``group:team`` or ``anonymous``; so nobody becomes somebody else by coming through another door.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

from treaty.core.limits import CREDENTIALS_KNOWN, RIGHTS_KNOWN
from treaty.core.names import EVERYWHERE, Subject

Permission = Literal["read", "register", "delete", "config", "mode", "admin"]
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)
INCLUDED: Mapping[Permission, tuple[Permission, ...]] = {"register": ("read",), "admin": PERMISSIONS}
"""What a permission brings along: a registration tells what stands there, so it is no secret to who may register."""
ANONYMOUS = "anonymous"
"""Who shows nothing. What is allowed to this name is allowed to everybody."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Who fits one of these names may do this to subjects that fit a pattern, in contexts that fit one.

    In a pattern ``*`` stands for any characters and ``?`` for one.
    """

    who: tuple[str, ...]
    may: frozenset[Permission]
    subjects: tuple[str, ...] = ("*",)
    contexts: tuple[str, ...] = (".",)

    def in_context(self, context: str) -> bool:
        """Tell whether the rule holds in a context; only the pattern ``*`` holds everywhere at once."""
        if context == EVERYWHERE:
            return EVERYWHERE in self.contexts
        return any(fits(pattern, context) for pattern in self.contexts)

    def of_subject(self, name: str) -> bool:
        """Tell whether the rule speaks of subjects with this name."""
        return any(fits(pattern, name) for pattern in self.subjects)


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """All rules that hold for somebody: their class of rights. Two who have the same rules share one."""

    rules: tuple[Rule, ...]

    def may(self, permission: Permission, subject: Subject) -> bool:
        """Tell whether a subject in its context may be treated so."""
        return _may(self, permission, subject)

    def may_whole(self, permission: Permission, context: str) -> bool:
        """Tell whether every subject of a context (``*``: of all contexts) may be treated so."""
        return any(rule.in_context(context) and "*" in rule.subjects for rule in self._that(permission))

    def may_somewhere(self, permission: Permission, name: str | None = None) -> bool:
        """Tell whether a subject of this name (None: any) may be treated so in some context."""
        return any(name is None or rule.of_subject(name) for rule in self._that(permission))

    def enters(self, context: str) -> bool:
        """Tell whether something in a context may be read, if it is there."""
        return any(rule.in_context(context) for rule in self._that("read"))

    def _that(self, permission: Permission) -> Iterable[Rule]:
        return (rule for rule in self.rules if permission in rule.may)


@dataclass(frozen=True, slots=True, eq=False)
class Rights:
    """The rules of a server. `groups` has the members of groups by name."""

    rules: tuple[Rule, ...] = ()
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

    def _access(self, principal: str, groups: tuple[str, ...]) -> Access:
        own = {group for group, members in self.groups.items() if any(fits(one, principal) for one in members)}
        names = {principal, ANONYMOUS, *(f"group:{group}" for group in own.union(groups))}
        held = tuple(
            place
            for place, rule in enumerate(self.rules)
            if any(fits(pattern, name) for pattern in rule.who for name in names)
        )
        return self.classes.setdefault(held, Access(tuple(self.rules[place] for place in held)))


def complete(may: Iterable[Permission]) -> frozenset[Permission]:
    """Return permissions with those that they bring along."""
    named = tuple(may)
    return frozenset(named).union(*(INCLUDED.get(one, ()) for one in named))


def fits(pattern: str, text: str) -> bool:
    """Tell whether a text fits a pattern, letter by letter but for ``*`` and ``?``."""
    return pattern in {"*", text} or _compiled(pattern).fullmatch(text) is not None


@lru_cache(RIGHTS_KNOWN)
def _may(access: Access, permission: Permission, subject: Subject) -> bool:
    return any(
        permission in rule.may and rule.in_context(subject.context) and rule.of_subject(subject.name)
        for rule in access.rules
    )


@lru_cache(1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    """A star takes as little as it can and never gives it back, so that hostile names cost no more than their length."""
    first, *rest = (re.escape(part).replace(r"\?", ".") for part in pattern.split("*"))
    if not rest:
        return re.compile(first, re.DOTALL)
    middle = "".join(f"(?>.*?{part})" for part in rest[:-1])
    return re.compile(f"{first}{middle}.*{rest[-1]}", re.DOTALL)
