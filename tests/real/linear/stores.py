"""Where the log of a run lies, and what happens to it while servers write."""

import asyncio
import contextlib
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from resource import RLIM_INFINITY

import asyncpg

from tests.real.disks import limit_files
from tests.real.running import Running
from tests.servers.kafka import Kafka
from tests.servers.postgres import Postgres

Harm = Callable[[random.Random, list[Running]], None]
"""Something that happens to the store or to all servers at one time, and is over when the function returns."""


@dataclass(frozen=True, slots=True)
class Store:
    """A log that servers share. `stop` takes away what was started for it."""

    url: str
    harms: Mapping[str, Harm]
    stop: Callable[[], None] = lambda: None
    options: tuple[str, ...] = ()
    """What servers are started with beside the log."""


def sqlite(folder: Path) -> Store:
    """A file. Somebody holds its lock now and then, and servers may not make their files larger for a while."""
    path = folder / "log.db"
    return Store(f"sqlite://{path}", {"held": _held(path), "full": _full(path)})


def _held(path: Path) -> Harm:
    def held(chance: random.Random, _: list[Running]) -> None:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as file:
            file.execute("begin immediate")
            time.sleep(chance.uniform(0.05, 1.0))
            file.execute("rollback")

    return held


def _full(path: Path) -> Harm:
    """A limit for the size of files stands for a full disk, which not every machine lets a test make."""

    def full(chance: random.Random, servers: list[Running]) -> None:
        size = (
            Path(f"{path}-wal").stat().st_size
        )  # what takes the commits first; it is written from its start again and again
        for server in servers:
            limit_files(server, chance.randrange(size))
        time.sleep(chance.uniform(0.2, 2.0))
        for server in servers:
            limit_files(server, RLIM_INFINITY)

    return full


def postgres(_: Path) -> Store:
    """A server of its own, which is stopped, killed, frozen, and cuts connections."""
    server = Postgres()

    def again(end: Callable[[], None]) -> Harm:
        def away(chance: random.Random, _: list[Running]) -> None:
            end()
            time.sleep(chance.uniform(0.0, 1.5))
            server.start()

        return away

    def frozen(chance: random.Random, _: list[Running]) -> None:
        thaw = server.freeze()
        time.sleep(chance.uniform(0.2, 2.0))
        thaw()

    def cut(_: random.Random, __: list[Running]) -> None:
        asyncio.run(_cut(server.url))

    harms = {
        "halted": again(server.halt),
        "killed": again(server.kill),
        "murdered": again(server.murder),
        "frozen": frozen,
        "cut": cut,
    }
    return Store(f"{server.url}?schema=chaos", harms, server.stop)


async def _cut(url: str) -> None:
    """Break all connections but this one."""
    connection = await asyncpg.connect(url)
    with contextlib.suppress(asyncpg.PostgresError):
        await connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'treaty'"
        )
    await connection.close()


def _kafka(writers: str) -> Callable[[Path], Store]:
    """A broker of its own, which is killed and frozen. Servers trust each other by a secret."""

    def made(folder: Path) -> Store:
        broker = Kafka()
        secret = folder / "secret"
        secret.write_text("0123456789abcdef0123456789abcdef\n", "utf-8")
        secret.chmod(0o600)

        def killed(chance: random.Random, _: list[Running]) -> None:
            broker.kill()
            time.sleep(chance.uniform(0.0, 2.0))
            broker.start()

        def frozen(chance: random.Random, _: list[Running]) -> None:
            broker.process.send_signal(signal.SIGSTOP)
            time.sleep(chance.uniform(0.2, 3.0))
            broker.process.send_signal(signal.SIGCONT)

        url = f"kafka://{broker.bootstrap}/chaos?writers={writers}"
        harms = {"broker killed": killed, "broker frozen": frozen}
        return Store(url, harms, broker.stop, ("--peer-secret-file", str(secret)))

    return made


STORES: Mapping[str, Callable[[Path], Store]] = {
    "sqlite": sqlite,
    "postgres": postgres,
    "kafka-any": _kafka("any"),
    "kafka-owner": _kafka("owner"),
}
"""Backends that can be run, by name."""
