"""Three servers over one log, clients that collide, and somebody who kills and freezes servers at random."""

import contextlib
import json
import random
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.real.linear.history import Recorder
from tests.real.running import Running, start
from treaty.client.connection import Connection
from treaty.client.settings import Settings
from treaty.client.sync import HttpRegistry
from treaty.core.refusals import Refusal

TURNS = 60
"""Operations before another subject comes into use, so that no history grows too long to check."""


@dataclass(slots=True)
class Chaos:
    """One run. `servers` are started again on the ports that they had."""

    folder: Path
    log: str
    seed: int
    recorder: Recorder = field(default_factory=Recorder)
    servers: list[Running] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)
    failures: list[BaseException] = field(default_factory=list)
    used: int = 0
    kills: int = 0
    freezes: int = 0

    def run(self, kills: int, clients: int = 6) -> None:
        """Run until so many servers were killed; at the end all are up again."""
        self.servers = [start(self.folder, "--log", self.log) for _ in range(3)]
        with contextlib.closing(self._registry(0)) as registry:
            registry.set_level("", "NONE")
        threads = [threading.Thread(target=self._client, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        try:
            self._harm(random.Random(f"harm/{self.seed}"), kills)
        finally:
            self.done.set()
            for thread in threads:
                thread.join(120)
        assert not self.failures, self.failures

    def stop(self) -> None:
        """Stop all servers."""
        for server in self.servers:
            server.process.send_signal(signal.SIGCONT)
            server.stop()

    def _harm(self, chance: random.Random, kills: int) -> None:
        for _ in range(kills):
            time.sleep(chance.uniform(0.1, 0.7))
            place = chance.randrange(3)
            server = self.servers[place]
            if chance.random() < 0.4:
                self.freezes += 1
                frozen = self.servers[(place + 1) % 3]
                frozen.process.send_signal(signal.SIGSTOP)
                time.sleep(chance.uniform(0.05, 0.6))
                frozen.process.send_signal(signal.SIGCONT)
            server.kill()
            self.kills += 1
            self.servers[place] = start(self.folder, "--log", self.log, port=server.port)

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
        turned = tuple(bases[number % 3 :] + bases[: number % 3])
        return Connection(HttpRegistry(Settings(turned, attempt_timeout=3.0)))

    def _ask(self, number: int, registry: Connection, chance: random.Random) -> None:
        while not self.done.is_set():
            subject = f"s{self.used // TURNS + chance.randrange(3)}"
            self.used += 1
            name, argument, call = calls(registry, subject, chance)
            self.recorder.ask(number, name, subject, argument, call)


def calls(registry: Connection, subject: str, chance: random.Random) -> tuple[str, Any, Callable[[], Any]]:
    """Choose an operation on a subject: its name, its argument, and what carries it out."""
    name = chance.choices(("register", "versions", "latest", "delete", "purge"), (5, 2, 3, 2, 1))[0]
    version, text = chance.randint(1, 6), _text(chance.randint(1, 5))
    match name:
        case "register":
            return name, text, lambda: registry.register(subject, text).version.number
        case "versions":
            return name, None, lambda: list(registry.versions(subject))
        case "latest":
            return name, None, lambda: _pair(registry, subject)
    permanent = name == "purge"
    return name, version, lambda: registry.delete_version(subject, version, permanent=permanent)[0]


def result_of(call: Callable[[], Any]) -> Any:
    """What a call came to: its answer, or the name of the refusal. What is no answer is raised."""
    try:
        return call()
    except Refusal as no:
        return type(no).__name__


def _text(size: int) -> str:
    return json.dumps({"type": "fixed", "name": "F", "size": size}, separators=(",", ":"))


def _pair(registry: Connection, subject: str) -> list[object]:
    found = registry.version(subject)
    return [found.number, _text(json.loads(found.text)["size"])]
