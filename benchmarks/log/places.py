"""Where the logs of this benchmark lie: files of a folder, and a server of its own for those that need one."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.kafka import Kafka
from tests.servers.postgres import Postgres
from treaty.log.urls import LogOptions


@dataclass(frozen=True, slots=True)
class Place:
    """One kind of log: `log(name)` is the URL of a log that nobody has used, `bare` where a bare loop writes."""

    title: str
    log: Callable[[str], str]
    bare: str
    ideal: str
    """What the bare loop does, in words."""
    shared: bool = True
    """Whether several processes can be its nodes."""
    nodes: str = "node"
    """What contends: nodes, or whole servers where nodes have to reach each other."""
    packed: str = ""
    """What a node starts from after `treaty log compact`, where that is another thing than before."""
    aided: str = ""
    """The same after `treaty log state`, where what that wrote lies in the log too."""
    durable: str = "fsync"
    """What a single writer waits for."""


VISIT = LogOptions(is_command=True)
"""There is one node alone: it need not be elected."""
Opened = Callable[[Path], Iterator[Place]]


def _memory(_: Path) -> Iterator[Place]:
    yield Place("memory", lambda name: f"memory:{name}", "", "", shared=False, durable="CPU of the law")


def _sqlite(folder: Path) -> Iterator[Place]:
    yield Place(
        "SQLite", lambda name: f"sqlite://{folder}/{name}.db", f"sqlite://{folder}/bare.db", "bare WAL transaction"
    )


def _quick(folder: Path) -> Iterator[Place]:
    end = "?synchronous=normal"
    yield Place(
        "SQLite without fsync",
        lambda name: f"sqlite://{folder}/quick-{name}.db{end}",
        f"sqlite://{folder}/quick.db{end}",
        "bare WAL transaction without fsync",
        durable="CPU of the law",
    )


def _postgres(_: Path) -> Iterator[Place]:
    server = Postgres()
    try:
        yield Place(
            "PostgreSQL",
            lambda name: f"{server.url}?schema={name}",
            server.url,
            "bare insert, one round trip",
            durable="the server's fsync, and four round trips to it",
        )
    finally:
        server.stop()


def _any(_: Path) -> Iterator[Place]:
    yield from _kafka("any", "produce", "bare produce with acks=all")


def _owner(_: Path) -> Iterator[Place]:
    yield from _kafka("owner", "transaction", "bare transaction of one record")


def _kafka(writers: str, scheme: str, ideal: str) -> Iterator[Place]:
    broker = Kafka()
    try:
        broker.topic("bare", settings={"max.message.bytes": "8000000"})
        yield Place(
            f"Kafka, {writers}",
            lambda name: f"kafka://{broker.bootstrap}/{name}?writers={writers}",
            f"{scheme}://{broker.bootstrap}/bare",
            ideal,
            nodes="server",
            packed="from the rows of a fold" if writers == "any" else "from the topic",
            aided="from the state file beside a fold" if writers == "any" else "",
            durable="the broker's acknowledgement, and reading the record back",
        )
    finally:
        broker.stop()


PLACES: Mapping[str, Opened] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "quick": _quick,
    "postgres": _postgres,
    "kafka-any": _any,
    "kafka-owner": _owner,
}
"""By the names that `--only` takes."""


@contextmanager
def opened(name: str, folder: Path) -> Iterator[Place]:
    """A place, while the block runs."""
    yield from PLACES[name](folder)


def peering(folder: str, url: str) -> tuple[str, ...]:
    """Options of a server with which all servers of a log know each other."""
    file = Path(folder, "secret")
    file.write_text(hashlib.sha256(url.encode()).hexdigest())
    file.chmod(0o600)
    return "--peer-secret-file", str(file)
