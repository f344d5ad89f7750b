"""Three servers over one log, clients that collide, and somebody who harms servers and log at random."""

import contextlib
import random
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.real.linear.calls import asked, chosen
from tests.real.linear.history import Recorder
from tests.real.linear.stores import Store
from tests.real.running import START_SECONDS, Running, start
from treaty.client.connection import Connection
from treaty.client.http_registry import HttpRegistry
from treaty.client.settings import ClientSettings
from treaty.core.refusals import RegistryError

SERVERS = 3
CLIENTS = 6
TURNS = 60
"""Operations before another subject comes into use, so that no history grows too long to check."""
PARTS = 400
"""Sources whose parts have leases; they come into use again after the last. Leases stay, and a registry has 1,000 of them at most."""
FROZEN, HARMED, RESTED = 0.4, 0.4, 0.7
"""How often a server is frozen before another one is killed, how often something happens to the log, and how often there is rest."""
PROGRESS, LONGEST_REST = 30, 20.0
"""Operations that are done before the next harm where there is rest, and the seconds that it lasts at most."""
FINAL: Mapping[str, Sequence[tuple[str, Any]]] = {
    "s": (("versions", None), ("latest", None), ("level", None), ("codecs", None), ("encoding", 0), ("encoding", 1)),
    "m": (("describe", None), ("has_type", None)),
    "r": (("leases", None), ("owner", None)),
}
"""What every subject, source and part is asked at the end, on every server."""
STARTING = 0.05
"""Seconds that a client waits between two operations, at most, while a server starts, which takes long where all cores are busy.

Servers are killed, and all other harm is done, while clients ask as fast as they can.
"""


@dataclass(slots=True)
class Chaos:
    """One run. `servers` are started again on the ports that they had."""

    folder: Path
    store: Store
    seed: int
    told: Callable[[str], None] = lambda _: None
    begun: Callable[[], None] = lambda: None
    """Called once the servers have started, so that the log is there."""
    recorder: Recorder = field(default_factory=Recorder)
    servers: list[Running] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)
    failures: list[BaseException] = field(default_factory=list)
    used: int = 0
    pause: float = 0.0
    """Seconds that a client waits between two operations now, at most."""
    harms: Counter[str] = field(default_factory=Counter)
    ids: dict[int, set[str]] = field(default_factory=dict)
    """Every schema id that was ever told, and the texts that it was told for."""

    def run(self, kills: int, seconds: float = float("inf")) -> None:
        """Run until so many servers were killed or the time is over; at the end all are up, and all subjects are read."""
        self.servers = [self._start() for _ in range(SERVERS)]
        self.begun()
        with contextlib.closing(self._registry(0)) as registry:
            registry.set_level("", "NONE")
        threads = [threading.Thread(target=self._client, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            self._harm(random.Random(f"harm/{self.seed}"), kills, time.monotonic() + seconds)
        finally:
            self.done.set()
            for thread in threads:
                thread.join(120)
        assert not self.failures, self.failures
        self._read_all()

    def stop(self) -> None:
        """Stop all servers."""
        for server in self.servers:
            with contextlib.suppress(ProcessLookupError):
                server.process.send_signal(signal.SIGCONT)
            server.stop()

    def _start(self, port: int = 0) -> Running:
        return start(self.folder, "--log", self.store.url, *self.store.options, port=port, patience=START_SECONDS)

    def _harm(self, chance: random.Random, kills: int, end: float) -> None:
        names: list[str] = []
        while self.harms["kill"] < kills and time.monotonic() < end:
            time.sleep(chance.uniform(0.1, 0.7))
            place = chance.randrange(SERVERS)
            if chance.random() < FROZEN:
                self._count("freeze")
                frozen = self.servers[(place + 1) % SERVERS]
                frozen.process.send_signal(signal.SIGSTOP)
                time.sleep(chance.uniform(0.05, 0.6))
                frozen.process.send_signal(signal.SIGCONT)
            if chance.random() < HARMED:
                names = names or chance.sample([*self.store.harms], len(self.store.harms))
                name = names.pop()
                self._count(name)
                self.store.harms[name](chance, self.servers)
                time.sleep(chance.uniform(0.0, 1.0))
            self._count("kill")
            self.servers[place].kill()
            self.pause = STARTING
            self.servers[place] = self._start(self.servers[place].port)
            self.pause = 0.0
            if chance.random() < RESTED:
                self._rest()

    def _rest(self) -> None:
        """Wait until there was some progress, so that nodes are harmed at work and not only while they come back."""
        since, end = len(self.recorder.events), time.monotonic() + LONGEST_REST
        while time.monotonic() < end and sum(one["type"] == "ok" for one in self.recorder.events[since:]) < PROGRESS:
            time.sleep(0.05)

    def _count(self, harm: str) -> None:
        self.harms[harm] += 1
        self.told(harm)

    # ---------------------------------------------------------------------------------------------------- clients

    def _client(self, number: int) -> None:
        try:
            with contextlib.closing(self._registry(number)) as registry:
                self._ask(number, registry, random.Random(f"client/{self.seed}/{number}"))
        except BaseException as failure:
            self.failures.append(failure)
            raise

    def _registry(self, number: int) -> Connection:
        bases = [server.base for server in self.servers]
        turned = tuple(bases[number % SERVERS :] + bases[: number % SERVERS])
        return Connection(HttpRegistry(ClientSettings(turned, attempt_timeout=3.0)))

    def _ask(self, number: int, registry: Connection, chance: random.Random) -> None:
        process = number
        while not self.done.is_set():
            kind, place = chance.choices("smr", (6, 2, 2))[0], self.used // TURNS + chance.randrange(3)
            subject = f"{kind}{place % PARTS if kind == 'r' else place}"
            self.used += 1
            one = chosen(registry, subject, chance, self.ids)
            process = self.recorder.ask(process, one.name, subject, one.argument, one.call)
            time.sleep(chance.uniform(0.0, self.pause))

    def _read_all(self) -> None:
        """Read every subject from every server, as part of the history: what was lost until now is missed here."""
        for number, server in enumerate(self.servers):
            registry = Connection(HttpRegistry(ClientSettings((server.base,))))
            with contextlib.closing(registry):
                last = self.used // TURNS + 3
                lasts = {**dict.fromkeys(FINAL, last), "r": min(last, PARTS)}
                for kind, place in ((kind, place) for kind, end in lasts.items() for place in range(end)):
                    subject = f"{kind}{place}"
                    for name, argument in FINAL[kind]:
                        one = asked(registry, subject, name, argument, self.ids)
                        self.recorder.ask(-1 - number, name, subject, argument, one.call)

    def meanings(self) -> dict[int, list[str]]:
        """What each server says that each id means which was ever told; the name of a refusal where it is gone."""
        found: dict[int, list[str]] = defaultdict(list)
        for server in self.servers:
            with contextlib.closing(Connection(HttpRegistry(ClientSettings((server.base,))))) as registry:
                for number in self.ids:
                    try:
                        found[number].append(registry.schema(number).text)
                    except RegistryError as error:
                        found[number].append(type(error).__name__)
        return found
