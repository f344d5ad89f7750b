"""Who asks: somebody without rights in force, or one of a few principals with limited rights."""

import random
from dataclasses import dataclass, replace

from treaty.core.access.rights import Access, AccessRule, Permission, Rights, with_included
from treaty.core.registry import CallOptions

OWN = 0.6
"""How many commands that are sent twice at a time are sent by one and the same."""
PLAIN = 0.8
"""How many requests come to a server that has no rights, where everybody may do everything."""


def _rule(
    who: str,
    may: tuple[Permission, ...],
    subjects: tuple[str, ...],
    contexts: tuple[str, ...] = (".",),
    topics: tuple[str, ...] | None = None,
) -> AccessRule:
    return AccessRule((who,), with_included(may), subjects, contexts, topics)


RULES = (
    _rule("user:root", ("admin",), ("*",), ("*",)),
    _rule("user:reader", ("read",), ("*",), ("*",)),
    _rule("user:s", ("register", "delete", "config"), ("s",)),
    _rule("user:s", ("read",), ("a",)),
    _rule("user:s", ("register",), (), topics=("t1",)),
    _rule("user:t", ("register", "delete"), ("t", "t?-value"), (".", ".x")),
    _rule("user:alias", ("register", "delete", "config"), ("a",)),
    _rule("user:alias", ("config",), ("s",)),
    _rule("user:x", ("admin",), ("*",), (".x", ".y")),
    _rule("user:somewhere", ("read",), ("s",), (".x",)),
    _rule("user:somewhere", ("bump",), ("t",)),
    _rule("user:x", ("admin",), ("com.acme/*", "com.acme.*/*")),
    _rule("user:alias", ("create",), ("t",)),
)
PRINCIPALS = ("user:root", "user:reader", "user:s", "user:t", "user:alias", "user:x", "user:somewhere", "user:nobody")


@dataclass(frozen=True, slots=True)
class Caller:
    """A principal and what they may do; None where there are no rights."""

    principal: str = ""
    access: Access | None = None


class Callers:
    """The callers of one run. Randomness of its own, so that the requests of a seed stay as they are."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        rights = Rights(RULES)
        self._bounded = [Caller(name, rights.access(name)) for name in PRINCIPALS]

    def again(self, call: CallOptions) -> CallOptions:
        """Return how a request is sent a second time: at times by somebody else, who has the same command id."""
        if self._chance.random() < OWN:
            return call
        other = self._chance.choice(self._bounded)
        return replace(call, principal=other.principal, access=other.access)

    def administrator(self, call: CallOptions) -> CallOptions:
        """Return how an administrator asks."""
        return replace(call, principal=PRINCIPALS[0], access=self._bounded[0].access)

    def pick(self) -> Caller:
        """Choose who asks next."""
        return Caller() if self._chance.random() < PLAIN else self._chance.choice(self._bounded)
