"""Nodes in a simulation: where they run, how they die, and how others take their place."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from tests.simulation.clients.front import Front
from tests.simulation.clock import OWNER, Jobs, VirtualLoop, end
from tests.simulation.history import NOVEL, History, contents, of_the_log
from tests.simulation.judging.broken import Broken
from tests.simulation.judging.roots import plain
from tests.simulation.model import Weather
from tests.simulation.net import Net, Way
from tests.simulation.runs.store import Door, Store
from tests.simulation.texts import FORMATS, SCHEMES, Truth, answer
from treaty.core.command import Command, Decision, OpenQuestions
from treaty.core.refusals import Refusal
from treaty.core.schema_engine import Answer, Question, SchemaEngine
from treaty.core.state.commit import START, Append, Position
from treaty.core.state.rows import Row, UnreadableValue
from treaty.core.state.table import Key
from treaty.core.state.tables import DictTables
from treaty.core.state.view import Tables, View
from treaty.log.log import Log
from treaty.node.batch import Decide
from treaty.node.environment import Environment
from treaty.node.node import Node
from treaty.node.schema_service import SchemaService
from treaty.node.segment.build import build
from treaty.node.segment.layered import LayeredTables, open_built
from treaty.node.segment.segment import Segment
from treaty.wire.peer.batch import KnownAccess, decode_batch
from treaty.wire.peer.message import ForwardedCommand, ForwardReply

EPOCH = 1_700_000_000_000
"""Milliseconds at which every run begins."""
MEMO_BYTES = 20_000
"""Small, so that nodes forget answers about schemas and ask again."""
WORKERS = 4
"""Questions about schemas that a node has answered at a time."""

NEWEST = 0.3
"""How many state files stand at the end of the log."""
HANDED = 40
"""Sequences within which another node may decide what it was handed: few, so that runs come to their end."""


@dataclass(slots=True)
class Member:
    """A place for a node: nodes die there and new ones start."""

    name: str
    node: Node | None = None
    front: Front | None = None
    """What clients meet before the node of this life."""
    life: int = 0
    highest: Position = START
    """The last place that the node of this life has shown."""
    newer: bool = False
    """Whether its next life is of a version that knows rows which others don't."""
    is_newer: bool = False
    """Whether this one is."""


@dataclass(slots=True)
class Knowing:
    """Tables of a node of a newer version: rows of the new table are no strangers to it."""

    inner: DictTables | LayeredTables

    @property
    def quarantine(self) -> Mapping[tuple[str, Key], str]:
        return {place: why for place, why in self.inner.quarantine.items() if place[0] != NOVEL}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class _Transport(Way):
    """A node's way to others: what it hands over may be open from then on."""

    def __init__(self, site: "Site") -> None:
        super().__init__(site.net)
        self._sent = site.sent

    async def send(
        self, address: str, body: bytes, heard: Callable[[bytes], None], *, timeout: float, request_id: str
    ) -> None:
        self._sent.update(
            one.command.command_id for one in decode_batch(body, KnownAccess()) if isinstance(one, ForwardedCommand)
        )
        await super().send(address, body, heard, timeout=timeout, request_id=request_id)


class Site:
    """What the nodes of a run have in common. `inline` is how much text a node reads without waiting."""

    def __init__(
        self, store: Store, jobs: Jobs, weather: Weather, history: History, chance: random.Random, *, inline: int
    ) -> None:
        self.store = store
        self.jobs = jobs
        self.weather = weather
        self.history = history
        self.chance = chance
        self.inline = inline
        self.standing = 0.0
        """How often a node starts on a state file."""
        self.flips = 0
        """Times that rows were changed past the log."""
        self.changed_files = 0.0
        """How many state files have a changed row."""
        self.say: Callable[[str, str], None] = lambda who, what: None
        self.fail: Callable[[Broken], None] = lambda broken: None
        self.check: Callable[[Callable[[], None]], None] = lambda check: check()
        self.count: Counter[str] = Counter()
        self.net = Net(chance, weather.latency, spawn=jobs.spawn, within=self._within, wrong=self._judge_lines)
        self.sent: set[str] = set()
        """Commands that were ever in an append on its way."""
        self.senders: dict[bytes, bool] = {}
        """Appends of nodes, by attempt, and whether the node was of the newer version."""
        self.novelty = 0.0
        """How often a decision of a newer node has a row that others don't know."""
        self.members: list[Member] = []
        self._segments: dict[Position, Segment] = {}
        self.landed: Callable[[Append], None] = lambda _: None
        self.make: Callable[[], Store] = lambda: self.store
        """Makes one more log."""

    async def start(self, member: Member) -> None:
        """Start a node that knows nothing."""
        member.life += 1
        member.highest = START
        newer = member.is_newer = member.newer
        loop = asyncio.get_running_loop()
        chance = random.Random(f"node/{member.name}/{member.life}")
        door = Door(
            member.name,
            member.life,
            chance,
            step=lambda what: self._step(member, what),
            sends=lambda append: self._sends(append, newer=newer),
        )
        log = self.store.open(door)
        world = Environment(loop.time, self._clock(chance), chance.randbytes, asyncio.sleep)

        async def run(question: Question) -> Answer:
            await asyncio.sleep(self.weather.latency * 2 * chance.expovariate(1.0))
            return answer(question)

        held = self._tables(member, chance)
        tables: Tables = Knowing(held) if newer else held
        desk = SchemaService(
            lambda: FORMATS,
            answer,
            run,
            inline_bytes=self.inline,
            memo_bytes=MEMO_BYTES,
            id_schemes=lambda: SCHEMES,
            workers=WORKERS,
            validators=lambda: Truth.validators,
        )
        transport = None if log.lockable else _Transport(self)
        node = Node(log, desk, world, tables, transport=transport)
        if transport is not None:
            transport.departed = lambda: node.counts.handed
        self.net.nodes[member.name] = node
        if newer:
            node._writer._decide = self._novel(node._writer._decide, chance)
        node.on_change(lambda: self.check(lambda: self._changed(member, node, tables)))
        OWNER.set(member.name)
        member.node, member.front = node, Front(node)
        await node.start()
        OWNER.set("")
        self.say(member.name, f"starts, life {member.life}")

    def _judge_lines(self, what: str) -> None:
        """A reply that is given reaches who waits for it, and a command is with another node once."""
        self.fail(Broken("6", what))

    async def _within(self, node: Node, handed: ForwardedCommand) -> ForwardReply:
        """Have a node decide for another one, and die with it."""
        name = next((name for name, one in self.net.nodes.items() if one is node), "")
        OWNER.set(name)
        task = asyncio.get_running_loop().create_task(node.take(handed))
        OWNER.set("")
        await asyncio.wait([task])
        return task.result()

    def _clock(self, chance: random.Random) -> Callable[[], int]:
        """A clock that is wrong, and set right or wrong at some time."""
        loop = asyncio.get_running_loop()
        skew, later, when = chance.randint(-5_000, 5_000), 0, 0.0
        if chance.random() < 0.1:
            later, when = chance.randint(-3_600_000, 3_600_000), loop.time() + chance.random()
        return lambda: EPOCH + (skew if loop.time() < when or not later else later) + int(loop.time() * 1000)

    def _sends(self, append: Append, *, newer: bool) -> None:
        self.sent.update(one.command_id for one in append.commits)
        self.senders[append.attempt] = newer

    def _novel(self, decide: Decide, chance: random.Random) -> Decide:
        """The law of a newer version: its decisions have a row more, at times."""

        def decided(view: View, command: Command[Any], engine: SchemaEngine) -> Decision[Any] | Refusal | OpenQuestions:
            verdict = decide(view, command, engine)
            if isinstance(verdict, Decision) and verdict.rows and chance.random() < self.novelty:
                self.count["novel rows"] += 1
                novel = Row(NOVEL, (command.command_id,), UnreadableValue('{"v":1}', "unknown table 'novel'"))
                verdict = replace(verdict, rows=(*verdict.rows, novel))
            return verdict

        return decided

    def check_sender(self, append: Append) -> None:
        """A node that can't read a row writes nothing: it could not know what it decides on."""
        newer = self.senders.get(append.attempt)
        unread = [place for place in self.history.states[-1].quarantine if not newer or place[0] != NOVEL]
        if newer is not None and unread and any(commit.rows and not of_the_log(commit) for commit in append.commits):
            raise Broken("log", f"{append.first} was decided by a node that can't read {unread[0]}")

    def _tables(self, member: Member, chance: random.Random) -> DictTables | LayeredTables:
        """Tables as a node starts with: empty, or on a state file of this log's past, or of another log."""
        if chance.random() >= self.standing:
            return DictTables()
        tables = LayeredTables(small=chance.choice([0, 10**9]))
        found = self._state_file(chance, foreign=0.15)
        self.say(member.name, f"stands on {found[1].sequence}")
        tables.stand_on(*found)
        return tables

    def _state_file(self, chance: random.Random, foreign: float = 0.0) -> tuple[Segment, Position]:
        place = self.history.tip if chance.random() < NEWEST else chance.choice(list(self.history.places))
        self.count["state files"] += 1
        self.count["state files of what was lost"] += place not in self.history.path
        if self.changed_files and place != START and chance.random() < self.changed_files:
            self.count["changed state files"] += 1
            return self._changed_file(place, chance), place
        segment = self._segments.get(place)
        if segment is None:
            segment = open_built(build(self.history.states[self.history.places[place]].rows()))
            self._segments[place] = segment
        if chance.random() < foreign and place != START:
            self.count["foreign state files"] += 1
            place = replace(place, identity=bytes(reversed(place.identity)))
        return segment, place

    def _changed_file(self, place: Position, chance: random.Random) -> Segment:
        """A file in which a row is another one: it says so by its sums, and not by its place."""
        rows = [*self.history.states[self.history.places[place]].rows()]
        if rows:
            at = chance.randrange(len(rows))
            rows[at] = replace(rows[at], value=f"{rows[at].value} ")
        return open_built(build(rows))

    async def stand_anew(self, member: Member) -> None:
        """Have a node take up a state file of any time while it works."""
        node = member.node
        tables = None if node is None else _held(node)
        if node is None or not isinstance(tables, LayeredTables):
            return
        stood = tables
        segment, place = self._state_file(self.chance)
        OWNER.set(member.name)
        task = asyncio.get_running_loop().create_task(
            node.follower.change_over(partial(stood.ready_on, segment, place), place)
        )
        OWNER.set("")
        await asyncio.wait([task])
        if not task.cancelled() and task.exception() is None:
            self.count["change-overs"] += task.result()

    def _changed(self, member: Member, node: Node, tables: Tables) -> None:
        """Every time a node has changed its tables, they are a state that was, and a later one."""
        here = tables.position
        self.say(member.name, f"shows {here.sequence} {sum(tables.roots.values()) % 2**32:08x}")
        if member.node is not node:
            return
        if here.sequence < member.highest.sequence and member.highest in self.history.path:
            raise Broken("log", f"{member.name} went back from {member.highest.sequence} to {here.sequence}")
        member.highest = here
        self.history.check_tables(member.name, tables)

    def _step(self, member: Member, what: str) -> None:
        """A step of the conversation with the log; any of them may be the last one."""
        self.say(member.name, what)
        if self.chance.random() < self.weather.crash:
            self.jobs.spawn(self.crash(member))

    async def kill(self, member: Member) -> None:
        """Kill a node where it stands."""
        if member.node is None:
            return
        self.count["crashes"] += 1
        self.collect(member)
        member.node = member.front = None
        del self.net.nodes[member.name]
        self.say(member.name, "dies")
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        await end(loop.tasks.setdefault(member.name, {}))
        self.store.died(member.name)

    async def crash(self, member: Member) -> None:
        """Kill a node, and start another one in its place a little later."""
        if member.node is None:
            return
        await self.kill(member)
        await asyncio.sleep(self.weather.latency * 10 * self.chance.expovariate(1.0))
        await self.start(member)

    @contextmanager
    def tool(self, name: str, store: Store | None = None) -> Iterator[Log]:
        """A way to a log for somebody who is no node; it ends as if its process was killed, with all that the log began."""
        self.count["tools"] += 1
        life, chosen = self.count["tools"], store or self.store
        loop, before, owner = asyncio.get_running_loop(), OWNER.get(), f"tool {life}"
        assert isinstance(loop, VirtualLoop)
        OWNER.set(owner)
        chance = random.Random(f"tool/{self.members[0].name}/{life}")
        step: Callable[[str], None] = lambda what: self.say(name, what)  # noqa: E731 - a lambda says it all
        try:
            yield chosen.open(Door(name, life, chance, step, lambda _: None, visits=True))
        finally:
            OWNER.set(before)
            for task in loop.tasks.pop(owner, {}):
                task.cancel()
            chosen.died(name)

    def turn_to(self, store: Store) -> None:
        """Nodes that live go on at the old log, until they are killed; from now on nodes start at another one."""
        self.store.landed = lambda _: None
        self.store = store
        store.landed = self.landed

    async def move_all(self) -> None:
        """Kill all nodes that live, and start them again: now they are at the log of the day."""
        await asyncio.gather(*(self.crash(member) for member in self.members))

    def check_last(self, member: Member) -> None:
        """At the end every node holds all that is durable, to the last index entry."""
        assert member.node is not None
        tables: Tables = _held(member.node)
        if isinstance(tables, LayeredTables):
            told, texts, place = plain(tables.roots), list(tables.rows()), tables.position
            tables = DictTables()
            tables.load(texts, place)
            if plain(tables.roots) != told:
                raise Broken("root", f"{member.name} holds other rows than its roots say")
        assert isinstance(tables, DictTables)
        if tables.position != self.store.tip:
            raise Broken("log", f"{member.name} ends at {tables.sequence}, the log at {self.store.tip.sequence}")
        if contents(tables) != contents(self.history.states[-1]):
            raise Broken("log", f"{member.name} ends with other rows or index entries than the log")

    def collect(self, member: Member) -> None:
        """Add up what a node has counted."""
        assert member.node is not None
        if member.node.counts.wrong_roots and not self.flips:
            self.fail(Broken("root", f"{member.name} met a wrong root where nobody had changed a row"))
        for one in fields(member.node.counts):
            self.count[one.name] += getattr(member.node.counts, one.name)


def _held(node: Node) -> DictTables | LayeredTables:
    """The tables of a node, whatever its version."""
    tables = node._tables.inner if isinstance(node._tables, Knowing) else node._tables
    assert isinstance(tables, (DictTables, LayeredTables))
    return tables
