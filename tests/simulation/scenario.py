"""One run: three nodes over one log, clients that collide, bad weather, crashes, then calm; all from one seed."""

import asyncio
import hashlib
import random
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any

from tests.simulation.asker import Asker
from tests.simulation.clients.beginning import begin
from tests.simulation.clients.callers import Callers
from tests.simulation.clients.errands import errand
from tests.simulation.clients.front import is_hot
from tests.simulation.clients.sources import special_clients
from tests.simulation.clock import OWNER, Jobs, VirtualLoop
from tests.simulation.events.table import Plot
from tests.simulation.history import History, of_the_log
from tests.simulation.judging.broken import Broken
from tests.simulation.judging.judge import Asked, Judge
from tests.simulation.members import EPOCH, Member, Site
from tests.simulation.runs.grounded import grounded
from tests.simulation.runs.result import Run
from tests.simulation.runs.store import Ground
from tests.simulation.runs.table import maker
from tests.simulation.runs.weather import old_leaders, weather
from tests.simulation.workload import request, usual_weights
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.names import Subject
from treaty.core.operations import is_command
from treaty.core.refusals import OutcomeUnknown, Refusal, Unavailable
from treaty.core.registry import CallOptions, Reply
from treaty.core.schema import Draft
from treaty.core.state.commit import Append, Commit, Position, PositionToken, make_append
from treaty.log.log import LogDamagedError
from treaty.node.node import Node

NODES = 3
HANDING = frozenset({"any", "owner"})
"""Disciplines of the log whose nodes hand commands over to each other."""
RECOVERY = 5.0
"""Seconds after which no node waits any more before it tries again, nor for a step that began before (`LONGEST`)."""
LOOKS = 5
"""Times that a node looks for the end of a log that nobody writes to any more, but whose folds may not be over."""
INSPECTED = 0.1
"""After how many of the appends all rows are held against the laws that they can show."""
STRICT = 2.0
"""How many requests ask for a strict answer, of 12."""
REREAD = 0.8
"""How many requests whose answer a server keeps are asked again and again."""
RESTAND = 50
"""How many steps of the log go by between two change-overs to a state file, where nodes have one."""
SAME, PLAIN = Subject(".calm", "same"), Draft('["a"]', "TOY")


class Scenario:
    """Everything of one run. What a seed chooses once for a whole run makes runs different from each other."""

    def __init__(self, seed: int, log: str = "", *, keep: bool = False) -> None:
        self.seed = seed
        self.chance = chance = random.Random(f"treaty/{seed}")
        self.loop = VirtualLoop()
        self.counts: Counter[str] = Counter()
        self.trace: list[str] = []
        self._keep = keep
        self._trace = hashlib.sha256()
        self._broken: Broken | None = None
        sql = "rows" if chance.random() < 0.8 else "appends"
        self.log = log or sql
        self.weather = weather(chance, loses=self.log != "appends")
        self.jobs = Jobs()
        old, remembered = old_leaders(seed, self.log), chance.choice([2, 6, 30])
        ground = Ground(self.weather, random.Random(f"store/{seed}"), self.jobs, remembered, old)
        store = maker(self.log)(ground)
        store.landed = self._landed
        self.history = History()
        inline = chance.choice([0, 60, 10_000])
        self.site = Site(store, self.jobs, self.weather, self.history, chance, inline=inline)
        self.site.say, self.site.check, self.site.fail = self.say, self._checked, self.fail
        self.judge = Judge(self.history, self.site.sent)
        self.judge.stale_looks = old > 0
        self.members = [Member(f"{seed}/n{place}") for place in range(NODES)]
        self.site.count, self.site.members, self.site.landed = self.counts, self.members, self._landed
        self.site.make = lambda: maker(self.log)(ground)
        toy, referring = chance.choice([0.0, 0.5, 1.0]), chance.choice([0, 0.1, 0.5])
        self.asker = Asker(random.Random(f"asker/{seed}"), toy=toy, referring=referring)
        self.callers = Callers(random.Random(f"callers/{seed}"))
        dull = chance.sample(list(usual_weights()), 6)
        self.weights = {kind: often * (0.2 if kind in dull else 1) for kind, often in usual_weights().items()}
        self.timeout = self.weather.latency * chance.choice([25, 100, 400])
        self.turns = max(3, chance.choice([5, 10, 20]) // store.brevity)
        self.clients = chance.choice([4, 8, 12])
        self.purging = chance.choice([0, 0.05, 0.2])
        self.lifetime = chance.choice([100, 400, 2_000])  # steps of the log between two kills, on average
        self.tokens: list[PositionToken] = []
        self.reread: Request[Any] | None = None  # what was asked again and again the last time
        self._ids = 0
        others = random.Random(f"state/{seed}")  # of its own, so that older seeds keep their lives
        self.site.standing = others.choice([0.0, 0.0, 0.5, 1.0])
        self.site.net.bad(others, random.Random(f"lines/{seed}"))
        pause = self.weather.latency * others.choice([10, 40, 150])
        self.plot = Plot(self.site, random.Random(f"plot/{seed}"), pause)
        self.inspecting = random.Random(f"inspecting/{seed}")

    # ---------------------------------------------------------------------------------------------------- record

    def say(self, who: str, what: str) -> None:
        """A line of the trace."""
        line = f"{self.loop.time():.9f} {who} {what}"
        self._trace.update(line.encode() + b"\n")
        if self._keep:
            self.trace.append(line)

    def fail(self, broken: Broken) -> None:
        """Keep the first broken law; the run ends."""
        if self._broken is None:
            self._broken = broken
            self.say("judge", str(broken))

    def _checked(self, check: Callable[[], None]) -> None:
        try:
            check()
        except Broken as broken:
            self.fail(broken)
        except Exception as fault:  # noqa: BLE001 - a law that can't cope with rows is broken itself
            self.fail(Broken("log", f"the law itself fails: {fault!r}"))

    def _landed(self, append: Append) -> None:
        self.say("disk", f"{append.first}..{append.last} {append.attempt.hex()[:8]}")
        self.counts["folds"] += any(of_the_log(commit) for commit in append.commits)
        self._checked(lambda: self.site.check_sender(append))
        self._checked(lambda: self.judge.lands(append))
        if self.inspecting.random() < INSPECTED:
            self._checked(self.history.check_sound)

    # ---------------------------------------------------------------------------------------------------- clients

    def new_id(self) -> str:
        self._ids += 1
        return f"c{self._ids}"

    async def ask(self, member: Member, wanted: Request[Any], call: CallOptions) -> Asked:
        """Ask a node, as a process of its own would: the answer dies with the node."""
        now = EPOCH + int(self.loop.time() * 1000)
        one = self.judge.arrives(wanted, call, now)
        node, front = member.node, member.front
        if node is None or front is None:
            one.state = "unavailable"
            return one
        self.say(member.name, f"asked {call.command_id} {call.consistency} {call.principal} {wanted}")
        kept = front.kept(wanted, call)
        if kept is not None:
            self.say(member.name, f"kept {kept}")
            here = node.follower.position if node.follower.proven else member.highest  # a wrong file was dropped
            self._checked(lambda: self.judge.told_kept(one, kept, here))
            return one
        OWNER.set(member.name)
        task = self.loop.create_task(front.ask(wanted, call))
        OWNER.set("")
        await asyncio.wait([task])
        self._checked(lambda: self._judge(member, one, task))
        return one

    def _judge(self, member: Member, one: Asked, task: "asyncio.Task[Reply[Any]]") -> None:
        name = f"{member.name} {one.call.command_id}"
        if task.cancelled():
            self.say(name, "lost")
            self.judge.lost(one)
            return
        error = task.exception()
        if error is None:
            reply = task.result()
            self.say(name, f"told {reply}")
            self.hear(reply)
            self.judge.told(one, reply)
            return
        self.say(name, f"raised {type(error).__name__} {error}")
        if isinstance(error, Refusal):
            self.judge.refused(one, error)
        elif isinstance(error, Unavailable):
            self.judge.unavailable(one, error)
        elif isinstance(error, OutcomeUnknown):
            self.judge.unknown(one, error)
        else:
            raise Broken("log", f"{one.request} raised {error!r}")

    def hear(self, reply: Reply[Any]) -> None:
        """Remember things to ask about later."""
        self.tokens.append(reply.token)
        guid = getattr(getattr(reply.answer, "version", reply.answer), "guid", "")
        if guid and len(self.asker.guids) < 20:
            self.asker.guids.append(guid)

    def call(self, command_id: str) -> CallOptions:
        """How a request is made: mostly plainly, at times with a token, or with a word about freshness."""
        after = None
        if self.tokens and self.chance.random() < 0.15:
            after = self.chance.choice(self.tokens)
            if self.chance.random() < 0.15:
                after = replace(after, identity="0" * 32)
            elif self.chance.random() < 0.1:
                after = replace(after, sequence=after.sequence + 1_000)
        consistency = self.chance.choices(["", "latest", "eventual", "strict"], (8, 1, 1, STRICT))[0]
        timeout, caller = self.timeout * self.chance.choice([0.3, 1, 1, 3]), self.callers.pick()
        return CallOptions(consistency, after, command_id, timeout, caller.principal, caller.access)

    async def client(self) -> None:
        """Ask again and again; repeat what was not answered, under its id, at any node; at times ask twice at once."""
        for _ in range(self.turns):
            if self._broken:
                return
            wanted, command_id = request(self.asker, self.weights), self.new_id()
            if self.asker.command_ids and self.chance.random() < 0.02:
                command_id = self.chance.choice(self.asker.command_ids)  # somebody who does not know what an id is
            self.asker.command_ids.append(command_id)
            call = self.call(command_id)
            if self.chance.random() < self.purging:
                await self.errand()
                continue
            if is_hot(wanted, call) and self.chance.random() < REREAD:
                await self.read_again(wanted, call)
                continue
            if is_command(wanted) and self.chance.random() < 0.12:
                calls = [call, self.callers.again(call)]
                self.counts["doubled" if calls[0] == calls[1] else "one id of two"] += 1
                await self.together([self.ask(self.chance.choice(self.members), wanted, one) for one in calls])
                named = replace(self.callers.administrator(call), command_id=self.new_id())
                await self.ask(self.chance.choice(self.members), GetOutcome(command_id, calls[1].principal), named)
                continue
            for _ in range(4):
                one = await self.ask(self.chance.choice(self.members), wanted, call)
                if one.state in {"told", "refused"} or self.chance.random() < 0.2:
                    break
                call = replace(call, after=None)
                await asyncio.sleep(self.weather.latency * 5)
            await asyncio.sleep(self.weather.latency * self.chance.choice([0, 1, 10]))

    async def errand(self) -> None:
        """Ask for several things that belong together: at one node, one after the other or all at once."""
        name, requests = errand(self.asker)
        member, caller = self.chance.choice(self.members), self.callers.pick()
        how = CallOptions(timeout=self.timeout, principal=caller.principal, access=caller.access)
        asks = [self.ask(member, wanted, replace(how, command_id=self.new_id())) for wanted in requests]
        self.counts[name] += 1
        if self.chance.random() < 0.5:
            self.counts["at once"] += 1
            await self.together(asks)
        else:
            for one in asks:
                await one

    async def read_again(self, wanted: Request[Any], call: CallOptions) -> None:
        """Ask one node for the same thing again and again, as consumers do: it keeps the answer."""
        member, self.reread = self.chance.choice(self.members), wanted
        for _ in range(self.chance.randint(3, 10)):
            await self.ask(member, wanted, replace(call, command_id=self.new_id()))
            await asyncio.sleep(self.weather.latency * self.chance.choice([0, 1, 5]))

    async def kill(self) -> None:
        """Kill nodes at any moment, whatever they wait for."""
        while True:
            await asyncio.sleep(self.weather.latency * self.lifetime * self.chance.expovariate(1.0))
            self.jobs.spawn(self.site.crash(self.chance.choice(self.members)))

    async def restand(self) -> None:
        """Have nodes take up other state files, much more often than real ones do."""
        while True:
            await asyncio.sleep(self.weather.latency * RESTAND * self.chance.expovariate(1.0))
            self.jobs.spawn(self._stand_anew())

    async def _stand_anew(self) -> None:
        """Have a node, rather one that is behind, take up a state file between two reads that it answers from memory."""
        tip = self.site.store.tip
        behind = [one for one in self.members if one.node is not None and one.node.follower.position != tip]
        member = self.chance.choice(behind or self.members)
        await self._read_from_memory(member)
        await self.site.stand_anew(member)
        await self._read_from_memory(member)

    async def _read_from_memory(self, member: Member) -> None:
        if self.reread is not None:
            await self.ask(member, self.reread, CallOptions("eventual", None, self.new_id(), self.timeout))

    async def together(self, works: list[Coroutine[Any, Any, Any]]) -> None:
        """Do things at once."""
        await asyncio.gather(*works)

    # ---------------------------------------------------------------------------------------------------- the run

    async def _main(self) -> None:
        for member in self.members:
            await self.site.start(member)
        await begin(self)
        plot = self.plot.play(sql=self.log in {"rows", "appends"})
        chaos = [asyncio.create_task(self.kill()), asyncio.create_task(plot)]
        if self.site.standing:
            chaos.append(asyncio.create_task(self.restand()))
        await self.together([*(self.client() for _ in range(self.clients)), *special_clients(self, self.seed)])
        for one in chaos:
            one.cancel()
        self.weather.calm()
        self.site.net.calm()
        self.site.store.calm()
        await self.jobs.rest()
        self.site.store.calm()  # it may be another one by now
        self._checked(self.history.check_sound)
        if self._broken is None:
            await self._calm()
        for member in self.members:
            assert member.node is not None
            self.site.collect(member)
            OWNER.set(member.name)
            try:
                await self._look_last(member.node)
            except LogDamagedError as error:
                self.fail(Broken("log", str(error)))
            if self._broken is None:
                self._checked(partial(self.site.check_last, member))
            await member.node.close()
            OWNER.set("")

    async def _look_last(self, node: Node) -> None:
        """Have a node see the end; a fold that is still under way may move it while the node looks."""
        for _ in range(LOOKS):
            await node.follower.catch_up()
            if node.follower.position == self.site.store.tip:
                return

    async def _calm(self) -> None:
        """When all is well everything is answered in time, also at a node that writes nothing while others do."""
        await asyncio.sleep(RECOVERY)
        self.judge.calm = True
        quiet, *busy = self.members
        patience, done = self.weather.latency * 60 * self.site.store.patience, asyncio.Event()

        async def listen() -> None:
            for times in (10, 1, 1):  # the first one writes, and may lose some races
                call = CallOptions(command_id=self.new_id(), timeout=patience * times)
                await self.ask(quiet, Register(SAME, PLAIN), call)
            strict = (CallOptions("strict", None, self.new_id(), patience * 10) for _ in range(5))
            await self.together([self.ask(quiet, ListSubjects(), call) for call in strict])
            done.set()

        async def write(member: Member) -> None:
            while not done.is_set() and self._broken is None:
                fresh = Register(Subject(".calm", self.new_id()), PLAIN)
                await self.ask(member, fresh, CallOptions(command_id=self.new_id(), timeout=patience * 10))
                await asyncio.sleep(self.weather.latency / 10)  # a refusal may come at once

        async def flood() -> None:
            """Somebody who writes all the time, faster than anybody can look."""
            while not done.is_set() and self._broken is None:
                self.counts["flood"] += 1
                if not await self.site.store.intrude(self._empty):
                    return
                await asyncio.sleep(self.weather.latency / 2)

        await self.together([listen(), *(write(member) for member in busy * 2)])
        done.clear()
        await self.together([listen(), flood()])

    def _empty(self, base: Position) -> Append:
        commit, roots = Commit(base.sequence + 1, ()), self.history.roots_with(())
        return make_append(base, self.chance.randbytes(16), (commit,), roots)

    def run(self) -> Run:
        """Run to the end, or to the first broken law."""
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._main())
            self._checked(self.history.check_loads)
            for told in (*self.loop.errors, *self.jobs.strays(self.loop)):
                self.fail(Broken("log", told))
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()
        return Run(self.seed, self._trace.hexdigest(), self.counts + self.judge.counts, self.trace, self._broken)

    def forget(self) -> None:
        """Let go of everything at once: it holds itself in circles, and looking for those takes long."""
        for one in (self.history, self.judge, self.site, self.plot, self):
            vars(one).clear()


def run(seed: int, *, log: str = "", keep: bool = False) -> Run:
    """Run one seed on a discipline of the log; the same two give the same run, to the last line of its trace.

    Without a name the seed chooses between SQL's and memory's.
    """
    with grounded(seed, hands_over=log in HANDING):
        life = Scenario(seed, log, keep=keep)
        try:
            return life.run()
        finally:
            life.forget()
