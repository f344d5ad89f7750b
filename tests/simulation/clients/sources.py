"""Clients that ask about sources and types, in some lives: what is there they know from the history, now or a while ago."""

import asyncio
import random
from collections.abc import Coroutine, Sequence
from types import ModuleType
from typing import Any, Protocol

from tests.simulation import planning_workload, runner_workload
from tests.simulation.asker import Asker
from tests.simulation.clients.callers import Caller
from tests.simulation.clients.private import private_clients
from tests.simulation.metastore_workload import SourceAsker
from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.messages.request import Request
from treaty.core.registry import CallOptions

EVERY = 6
WORKLOADS = {2: planning_workload, 4: runner_workload}
"""Two lives of so many have such clients, one of them with runners too: what they ask, by the life."""
CLIENTS, TURNS = 3, 40
WRITING = 0.75
"""How many of the requests are commands."""
REPEATED = 0.05
"""How many are commands that were sent before."""
PLAIN = 0.7
"""How many requests come from where there are no rights."""


def _rule(
    may: tuple[Permission, ...], sources: tuple[str, ...] | None, topics: tuple[str, ...] | None = None
) -> AccessRule:
    subjects = ("s", "t") if sources is not None else ("*",)
    return AccessRule(("user:x",), with_included(may), subjects, (".",), topics, sources=sources)


def _callers() -> tuple[Caller, ...]:
    """Who asks, made anew for every run: what they may do is remembered with them."""
    every = AccessRule(("user:root",), with_included(("admin",)), ("*",), ("*",))
    return (
        Caller("user:root", Access((every,))),
        Caller("user:reader", Access((_rule(("read",), ("*",)),))),
        Caller("user:a", Access((_rule(("register", "delete", "query", "pause"), ("a*",), ("t1",)), _rule(("read", "query"), ("*",), ("*",))))),
        Caller("user:b", Access((_rule(("register", "delete", "query"), ("b*", "c", "point"), ("*",)),))),
        Caller("user:subjects", Access((_rule(("register", "delete", "query"), None),))),
        Caller("user:elsewhere", Access((AccessRule(("user:e",), with_included(("register",)), ("*",), (".x",)),))),
    )  # fmt: skip


def _runner() -> Caller:
    """Who may run queries of some sources."""
    return Caller("user:runner", Access((_rule(("plan", "read"), ("a*", "b*")),)))


class Life(Protocol):
    """A run, as its clients see it."""

    timeout: float
    history: Any
    asker: Asker

    @property
    def members(self) -> Sequence[Any]: ...

    def new_id(self) -> str: ...

    def ask(self, member: Any, wanted: Request[Any], call: CallOptions, /) -> Coroutine[Any, Any, Any]: ...


def has_source_clients(seed: int) -> bool:
    """Whether the life of a seed has clients of sources and types."""
    return seed % EVERY in WORKLOADS


def special_clients(life: Life, seed: int) -> list[Coroutine[Any, Any, None]]:
    """Clients that only some lives have: of private families, and of sources."""
    return [*private_clients(life, seed), *_source_clients(life, seed)]


def _source_clients(life: Life, seed: int) -> list[Coroutine[Any, Any, None]]:
    """Clients of sources; none in most lives. Randomness of their own, so that other seeds keep their lives."""
    workload = WORKLOADS.get(seed % EVERY)
    if workload is None:
        return []
    callers = (*_callers(), _runner()) if workload is runner_workload else _callers()
    return [_client(life, random.Random(f"sources/{seed}/{one}"), callers, workload) for one in range(CLIENTS)]


async def _client(life: Life, chance: random.Random, callers: Sequence[Caller], workload: ModuleType) -> None:
    sent: list[tuple[Request[Any], str, Caller]] = []
    for _ in range(TURNS):
        ask = SourceAsker(chance, life.history.pasts)
        caller = Caller() if chance.random() < PLAIN else chance.choice(callers)
        writes = chance.random() < WRITING
        kinds = workload.COMMANDS if writes else workload.QUERIES
        (make,) = chance.choices([made for *_, made in kinds], [often for often, *_ in kinds])
        wanted, command_id = make(ask), life.new_id()
        if sent and chance.random() < REPEATED:
            wanted, command_id, caller = chance.choice(sent)
        elif writes:
            sent.append((wanted, command_id, caller))
        call = CallOptions("", None, command_id, life.timeout, caller.principal, caller.access)
        await life.ask(chance.choice(life.members), wanted, call)
        await asyncio.sleep(0)
