"""Clients that ask about private families: those who may read them by a rule or a key that names the vendor, and those who
may not, though they may read everything else.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.simulation.asker import Asker
from tests.simulation.clients.callers import Caller
from tests.simulation.label_workload import LABELS
from tests.simulation.texts import AVRO, OUTER, TOY
from treaty.core.access.api_key_rules import rule_of_key, super_rule
from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.messages import groups as g
from treaty.core.messages import schemaver as s
from treaty.core.messages import transfers as x
from treaty.core.messages.api_keys import ApiKeyFound, KeyAction
from treaty.core.messages.compatibility import Check
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.names import GetNamedVersion
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, ReferencedBy, UsesOf
from treaty.core.messages.settings import (
    Config,
    DeleteConfig,
    GetConfig,
    GetMode,
    ListSettings,
    Scope,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import DeleteVersion, GetVersion, Lookup
from treaty.core.names import Subject
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft, Reference

EVERY, ONE = 12, 5
"""One life of so many has such clients: this one of them."""
CLIENTS, TURNS = 3, 40
SECRET, OPEN = Subject(".", "p/n/toy"), Subject(".", "p/m/toy")
"""A private family, and a public one with the same texts."""
USER, USED = Subject(".", "p/r/avro"), Subject(".", "p/s/avro")
"""A private family, whose schemas refer to those of a public one."""
HUSH = Subject(".", "p/h/avro")
"""A private family, to which no public one may refer."""
FAMILIES = {SECRET: True, OPEN: False, USER: True, USED: False, HUSH: True}
NICK = Subject(".", "p/m/nick")
"""At times the alias of a family."""


def _user(
    name: str,
    may: tuple[Permission, ...],
    subjects: tuple[str, ...],
    contexts: tuple[str, ...] = (".",),
    *,
    private: bool = False,
) -> Caller:
    rule = AccessRule((name,), with_included(may), subjects, contexts, private=private)
    return Caller(name, Access((rule,)))


def _key(digit: str, vendor: str, action: KeyAction) -> Caller:
    found = ApiKeyFound(digit * 64, vendor, action)
    return Caller(found.principal, Access((rule_of_key(found),)))


def _super_key(digit: str) -> Caller:
    rule = super_rule(digit * 64)
    return Caller(rule.who[0], Access((rule,)))


def _callers() -> tuple[Caller, ...]:
    """Who asks, made anew for every run: what they may do is remembered with them."""
    return (
        Caller(),
        _user("user:root", ("admin",), ("*",), ("*",)),
        _user("user:reader", ("read",), ("*",), ("*",)),
        _user("user:wild", ("register", "delete", "config"), ("?/*", "*")),
        _user("user:vendor", ("register", "delete", "config"), ("p/*",)),
        _user("user:every", ("read",), ("*",), ("*",), private=True),
        _user("user:open", ("read",), ("p/m/*", "p/s/*")),
        _key("a", "p", "READ"),
        _key("b", "p", "CREATE_VENDOR"),
        _key("c", "other", "CREATE_VENDOR"),
        _super_key("d"),
    )


class Life(Protocol):
    """A run, as its clients see it."""

    timeout: float
    asker: Asker

    @property
    def members(self) -> Sequence[Any]: ...

    def new_id(self) -> str: ...

    def ask(self, member: Any, wanted: Request[Any], call: CallOptions, /) -> Coroutine[Any, Any, Any]: ...


@dataclass(slots=True)
class Curious:
    """Chances, and the commands that were sent."""

    chance: random.Random
    guids: list[str]
    """Those that were heard of."""
    sent: list[tuple[Request[Any], str, Caller]] = field(default_factory=list)
    """Commands, their ids and their senders."""

    def family(self) -> Subject:
        return self.chance.choices(tuple(FAMILIES), (6, 3, 2, 2, 1))[0]

    def named(self) -> Subject:
        """A family, or the alias."""
        return NICK if self.often(0.2) else self.family()

    def label(self) -> str:
        return self.chance.choice(LABELS[:5])

    def draft(self, family: Subject) -> Draft:
        if family == USER:
            text, kind, name = OUTER
            return Draft(text, kind, (Reference(name, USED.name, self.chance.choice([1, 1, -1])),))
        if family == USED and self.often(0.15):
            text, kind, name = OUTER
            return Draft(text, kind, (Reference(name, HUSH.name, 1),))
        if family in {USED, HUSH}:
            return Draft(self.chance.choice(AVRO[:3]), "AVRO")
        return Draft(self.chance.choice(TOY[:6]), "TOY")

    def id(self) -> int:
        return self.chance.randint(1, 9)

    def guid(self) -> str:
        return self.chance.choice(self.guids or ["0" * 32])

    def often(self, probability: float) -> bool:
        return self.chance.random() < probability


def _publish(one: Curious) -> Request[Any]:
    family = one.named()
    return s.Publish(family, one.label(), one.draft(family), FAMILIES.get(family), patch=one.often(0.2))


def _alias(one: Curious) -> Request[Any]:
    """Set or clear the alias, or another member of its config."""
    target = one.chance.choice([SECRET, SECRET, OPEN, None, USER])
    change = Config(level="FULL") if one.often(0.2) else Config(alias="" if target is None else target.name)
    return DeleteConfig(Scope(*NICK)) if one.often(0.15) else SetConfig(Scope(*NICK), change)


def _register(one: Curious) -> Request[Any]:
    family = one.named()
    return Register(family, one.draft(family), names=(("schemaver", one.label()),) if one.often(0.5) else ())


def _look_up(one: Curious) -> Request[Any]:
    family = one.named()
    asked: list[Request[Any]] = [
        Lookup(family, one.draft(family), None, one.often(0.3)),
        g.FindSameSchema(".", one.draft(family)),
        g.FindSameVersion(family, one.draft(family)),
        Check(family, one.draft(family)),
    ]
    return one.chance.choice(asked)


def _outcome(one: Curious) -> Request[Any]:
    if not one.sent:
        return GetOutcome("none", "")
    _, command_id, sender = one.chance.choice(one.sent)
    return GetOutcome(command_id, sender.principal)


Made = Callable[[Curious], Request[Any]]
COMMANDS: Sequence[tuple[float, Made]] = (
    (8, _publish),
    (2, _register),
    (1, lambda one: s.DeletePublished(one.family(), one.label())),
    (1, lambda _: s.DeletePublished(USED, "1-0-0")),
    (2, lambda one: s.PutDraft(one.family(), 1, "{}", one.often(0.7))),
    (1, lambda one: DeleteVersion(one.named(), one.chance.choice([1, 2, -1]), permanent=one.often(0.4))),
    (0.5, lambda one: g.RemoveSubject(one.named())),
    (0.5, lambda one: SetConfig(Scope(*one.family()), Config(level="FULL"))),
    (2, _alias),
    (0.3, lambda one: SetMode(Scope(*one.family()), one.chance.choice([None, None, "READONLY"]))),
    (0.5, lambda one: g.ChangeSubject(one.family(), label_policy=one.chance.choice(["warn", "refuse"]))),
)
QUERIES: Sequence[tuple[float, Made]] = (
    (3, lambda one: s.ListPublished("p" if one.often(0.5) else "")),
    (2, lambda one: s.GetPublished(one.named(), one.label())),
    (1, lambda one: s.GetDraft(one.family(), 1)),
    (3, lambda one: ListSubjects(visible="all" if one.often(0.3) else "live")),
    (2, lambda one: ListSchemas(latest=one.often(0.3), aliases=one.often(0.5))),
    (1, lambda one: ListVersions(one.named(), "all")),
    (1, lambda one: GetVersion(one.named(), one.chance.choice([1, 2, -1]))),
    (3, lambda one: GetSchema(one.id(), one.named() if one.often(0.3) else None, max_id=one.often(0.5))),
    (2, lambda one: GetGuid(one.guid())),
    (1, lambda one: GetGuidIds(one.guid())),
    (2, lambda one: UsesOf(one.id(), visible="all")),
    (1, lambda one: ReferencedBy(one.named(), 1)),
    (4, _look_up),
    (1, lambda one: GetNamedVersion(one.family(), one.label())),
    (1, lambda one: g.GetSubject(one.named())),
    (1, lambda one: g.GetHistory(one.named())),
    (1, lambda one: x.ExportSubjects(Subject("*", ""))),
    (1, lambda one: x.ExportVersions(Subject("*", ""))),
    (1, lambda one: ListSettings()),
    (1, lambda one: GetConfig(Scope(*one.named()), resolve=one.often(0.5))),
    (1, lambda one: GetMode(Scope(*one.family()), resolve=one.often(0.5))),
    (1, _outcome),
)
WRITING = 0.35
"""How many of the requests are commands."""
REPEATED = 0.08
"""How many are commands that were sent before."""


def private_clients(life: Life, seed: int) -> list[Coroutine[Any, Any, None]]:
    """Clients of private families; none in most lives. Randomness of their own, so that other seeds keep their lives."""
    if seed % EVERY != ONE:
        return []
    callers = _callers()
    return [_client(life, random.Random(f"private/{seed}/{one}"), callers) for one in range(CLIENTS)]


async def _client(life: Life, chance: random.Random, callers: Sequence[Caller]) -> None:
    one = Curious(chance, life.asker.guids)
    for family in (HUSH, USED, USER, SECRET, OPEN):
        first = s.Publish(family, "1-0-0", one.draft(family), FAMILIES[family])
        await life.ask(life.members[0], first, CallOptions("", None, life.new_id(), life.timeout))
    for _ in range(TURNS):
        caller, writes = chance.choice(callers), one.often(WRITING)
        kinds = COMMANDS if writes else QUERIES
        (made,) = chance.choices([each for _, each in kinds], [often for often, _ in kinds])
        wanted, command_id = made(one), life.new_id()
        if one.sent and one.often(REPEATED):
            wanted, command_id, sender = chance.choice(one.sent)
            caller = Caller(sender.principal, caller.access)  # the same principal, whose rights have changed
        elif writes:
            one.sent.append((wanted, command_id, caller))
        call = CallOptions("", None, command_id, life.timeout, caller.principal, caller.access)
        await life.ask(chance.choice(life.members), wanted, call)
        await asyncio.sleep(0)
