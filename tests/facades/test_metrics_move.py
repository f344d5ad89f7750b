"""Every metric moves: a row for each says in which story, and a metric without a row fails."""

import asyncio
import functools
import re
import socket
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.behaviours.nodes.crowns import realm
from tests.behaviours.nodes.lives import FAIR, living, post, virtual, way
from tests.behaviours.nodes.test_wrong_root import flip
from tests.facades.doors import basic, write_passwords
from tests.facades.peers import PLAIN, Peer, running
from tests.facades.test_connections import LARGE, LIST, stuck
from tests.simulation.disk import Disk
from tests.simulation.model import Weather
from treaty.api import audit_log, http_server
from treaty.api.application import ServerApplication, build_application
from treaty.api.http_server import ListenerSettings, record_status, serve
from treaty.api.metrics import COUNTERS, ENTRIES, HELP, ServerMetrics, metric_name
from treaty.api.network.connections import ConnectionTable
from treaty.api.protection import ProtectionSettings, open_protection
from treaty.assemble import open_node
from treaty.cli.main import group
from treaty.core.limits import CONNECTIONS_EACH
from treaty.core.messages.listings import ListSubjects, Subjects
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.refusals import Incompatible, OutcomeUnknown, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft
from treaty.core.state.commit import Commit, make_append, roots_after
from treaty.core.state.rows import EncodedRow
from treaty.log.log import AppendResult
from treaty.node.node import Node

SAMPLE = re.compile(r"^(treaty_\w+?)(\{.*\})? (\S+)$", re.MULTILINE)


@dataclass
class Pages:
    """What pages of metrics had over time: the values of each metric, whatever its labels."""

    metrics: ServerMetrics = field(default_factory=ServerMetrics)
    seen: dict[str, set[float]] = field(default_factory=lambda: defaultdict(set))

    def look(self, page: bytes) -> None:
        for name, _, value in SAMPLE.findall(page.decode()):
            self.seen[name].add(float(value))

    def beat(self, *nodes: Node) -> None:
        """What a worker does each second."""
        for node in nodes:
            record_status(self.metrics, node.status(), is_closed=False)
            self.look(self.metrics.page())

    def moved(self) -> set[str]:
        return {name for name, values in self.seen.items() if len(values) > 1}


Story = Callable[[Pages], None]


def quiet(story: Callable[[Pages], Awaitable[None]]) -> Story:
    return virtual(story)


@quiet
async def usual(pages: Pages) -> None:
    """A node that registers, refuses, repeats and reads."""
    async with living(way(Disk(9)), inline_bytes=1) as node:
        pages.beat(node)
        once = CallOptions(command_id="c")
        for _ in range(2):
            await node.ask(post("s"), once)
        await node.ask(post(":.team:s"))
        await node.ask(ListSubjects())
        with pytest.raises(Incompatible):
            await node.ask(post("s", '["b"]'))
        pages.beat(node)


@quiet
async def unreachable(pages: Pages) -> None:
    disk, weather = Disk(9), Weather(FAIR)
    async with living(way(disk, weather)) as node:
        await node.ask(ListSubjects())
        pages.beat(node)
        weather.unavailable = 1.0
        asked = asyncio.create_task(node.ask(post("s"), CallOptions(timeout=30.0)))
        for _ in range(60):
            await asyncio.sleep(1.0)
            pages.beat(node)
        with pytest.raises(Unavailable):
            await asked
        pages.beat(node)


@quiet
async def full(pages: Pages) -> None:
    disk, weather = Disk(9), Weather(FAIR)
    async with living(way(disk, weather)) as node:
        await node.ask(post("s"))
        pages.beat(node)
        weather.full = True
        with pytest.raises(Unavailable):
            await node.ask(post("t"), CallOptions(timeout=5.0))
        pages.beat(node)


@quiet
async def unknown(pages: Pages) -> None:
    disk, weather = Disk(9), Weather(FAIR)
    async with living(way(disk, weather)) as node:
        await node.ask(ListSubjects())
        pages.beat(node)
        weather.unknown = 1.0
        with pytest.raises(OutcomeUnknown):
            await node.ask(post("s"), CallOptions(timeout=FAIR * 2))
        await asyncio.sleep(10)
        pages.beat(node)


@quiet
async def crowded(pages: Pages) -> None:
    """Three nodes that write at once: conflicts, then the lock."""
    disk = Disk(9)

    async def write(node: Node, who: str) -> None:
        for number in range(15):
            await node.ask(post("s", f'["{who}{number}?"]'), CallOptions(timeout=FAIR * 100))

    async with (
        living(way(disk, seed=1), 1) as one,
        living(way(disk, seed=2), 2) as two,
        living(way(disk, seed=3), 3) as three,
    ):
        pages.beat(one, two, three)
        await asyncio.gather(write(one, "a"), write(two, "b"), write(three, "c"))
        pages.beat(one, two, three)


@quiet
async def behind(pages: Pages) -> None:
    """A node whose reads take long: it knows the end of the log, and has not its rows yet."""
    disk, weather = Disk(9), Weather(FAIR)
    async with living(way(disk), 1) as writer, living(way(disk, weather), 2) as reader:
        await reader.ask(ListSubjects())
        pages.beat(reader)
        weather.latency = 2.0
        await writer.ask(post("s"))
        for _ in range(400):
            pages.beat(reader)
            await asyncio.sleep(0.05)


@quiet
async def changed_rows(pages: Pages) -> None:
    disk = Disk(9)
    async with living(way(disk), 1) as writer:
        await writer.ask(post("s"))
        pages.beat(writer)
        flip(disk)
        async with living(way(disk, seed=3), 3) as node:
            with pytest.raises(Unavailable):
                await node.ask(ListSubjects(), CallOptions(timeout=5.0))
            pages.beat(node)


@quiet
async def newer_rows(pages: Pages) -> None:
    disk = Disk(9)
    log = way(disk)
    async with living(log) as node:
        await node.ask(post("s"))
        pages.beat(node)
        rows = (EncodedRow("dreams", '["x"]', '{"v":1}'),)
        roots = roots_after(node.follower.tables, rows)
        assert disk.take(make_append(disk.tip, b"a" * 16, (Commit(2, rows),), roots)) is AppendResult.ACCEPTED
        await node.ask(ListSubjects())
        log.foreign_records = 2  # as a topic counts them
        pages.beat(node)


@quiet
async def forwarding(pages: Pages) -> None:
    async with realm("abc") as it:
        pages.beat(*it.nodes.values())
        for name, node in it.nodes.items():
            await node.ask(post(f"of-{name}"))
        pages.beat(*it.nodes.values())
        it.net.deaf = 1.0
        await it.nodes["b"].ask(post("t"))
        pages.beat(*it.nodes.values())


def server(pages: Pages) -> None:
    """A server behind rights, with an audit log whose disk is full in the end."""

    async def story(folder: Path) -> None:
        write_passwords(folder / "passwords", root="secret")
        (folder / "rights.toml").write_text(
            '[basic]\nfile = "passwords"\n[[rule]]\nwho = "user:root"\nmay = "admin"\ncontexts = "*"\n'
        )
        for audit in (folder / "audit", Path("/dev/full")):
            settings = ProtectionSettings(folder / "rights.toml", audit)
            async with open_protection(settings) as guards, open_node("memory:") as node:
                assert guards is not None
                assert guards.audit_file is not None
                guards.audit_file.capacity = 2
                app = build_application(node, protection=guards)
                await asked(app)

    async def asked(app: ServerApplication) -> None:
        listener, stopping = socket.create_server(("127.0.0.1", 0)), asyncio.Event()
        running_server = asyncio.create_task(serve(app, ListenerSettings(listener), stopping))
        await asyncio.sleep(0.1)
        peer = Peer(*await asyncio.open_connection("127.0.0.1", listener.getsockname()[1]))
        head = PLAIN + b"Authorization: " + basic("root")["Authorization"].encode() + b"\r\n"
        body = b'{"schema":"\\"string\\""}'
        await peer.ask(b"/subjects", PLAIN)
        pages.look(app.metrics.page())
        await peer.ask(b"/subjects", PLAIN)
        peer.writer.write(b"POST /subjects/s/versions HTTP/1.1\r\n" + head + b"Content-Length: %d\r\n\r\n" % len(body))
        await asyncio.sleep(0.2)  # it is being answered until its body comes
        pages.look(app.metrics.page())
        peer.writer.write(body)
        await peer.answer()
        for _ in range(2):
            await peer.ask(b"/schemas/ids/1", head)
        for _ in range(6):
            await peer.ask(b"/subjects/none", head, b"DELETE")
        await asyncio.sleep(0.3)
        pages.look(app.metrics.page())
        await peer.close()
        stopping.set()
        await running_server

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(story(Path(folder)))


def connections(pages: Pages) -> None:
    """Clients that take what there is of connections, and do not read."""

    async def story() -> None:
        async with running() as served:
            served.member.answers[ListSubjects] = Subjects(LARGE)
            pages.look(served.app.metrics.page())
            slow = await stuck(served)
            for _ in range(40):
                pages.look(served.app.metrics.page())
                await asyncio.sleep(0.05)
            gone = await served.connect()
            gone.writer.write(LIST * 3)
            await asyncio.sleep(0.1)
            gone.writer.transport.abort()
            begun = b"POST /subjects/s HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{"
            peers = [await served.connect() for _ in range(4)]  # there is room for two: idle ones go, busy ones stay
            for peer in peers[2:]:
                peer.writer.write(begun)
            await asyncio.sleep(0.2)
            peers.append(await served.connect())
            await peers[-1].reader.read()
            await asyncio.sleep(0.2)
            pages.look(served.app.metrics.page())
            slow.close()
            for peer in peers:
                await peer.close()

    asyncio.run(story())


def state_file(pages: Pages) -> None:
    """A node that starts from a state file, and gets older."""

    async def write(url: str) -> None:
        async with open_node(url) as node:
            await node.ask(Register(subject_of("s"), Draft('"int"')))

    async def read(url: str, path: Path) -> None:
        async with open_node(url, state=path) as node:
            await node.ask(ListSubjects())
            for _ in range(3):
                pages.beat(node)
                await asyncio.sleep(0.3)

    with tempfile.TemporaryDirectory() as folder:
        url, path = f"sqlite://{folder}/log.db", Path(folder) / "state"
        asyncio.run(write(url))
        assert CliRunner().invoke(group, ["log", "state", url, "--file", str(path)]).exit_code == 0
        asyncio.run(read(url, path))


def restarts(pages: Pages) -> None:
    """A worker that starts a second time, over the numbers of the first, which were as many as there may be."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            metrics = ServerMetrics(Path(folder))
            pages.look(metrics.page())
            for number in range(ENTRIES):
                metrics.count_answer(f"M{number}", "/", 404, 0.01)


ROWS: dict[str, Story] = {
    "treaty_http_requests_total": server,
    "treaty_http_request_duration_seconds_count": server,
    "hot_hits": server,
    "credentials_refused": server,
    "clients_gone": connections,
    "connections": connections,
    "connections_refused": connections,
    "connections_closed": connections,
    "connections_cut_off": connections,
    "unread_bytes": connections,
    "audit_lines": server,
    "audit_lost": server,
    "starts": restarts,
    "updates_dropped": restarts,
    "start_time_seconds": restarts,
    "sequence": usual,
    "behind": behind,
    "looked": unreachable,
    "queue": unreachable,
    "read_only": full,
    "refusing": full,
    "trouble": unreachable,
    "wrong_root": changed_rows,
    "quarantined": newer_rows,
    "foreign_records": newer_rows,
    "state_file_age": state_file,
    "subjects": usual,
    "versions": usual,
    "schemas": usual,
    "contexts": usual,
    "in_flight": server,
    "node_looks": usual,
    "node_reads": usual,
    "node_reloads": changed_rows,
    "node_wrong_roots": changed_rows,
    "node_queries": usual,
    "node_commands": usual,
    "node_appends": usual,
    "node_commits": usual,
    "node_conflicts": crowded,
    "node_unknown": unknown,
    "node_held": crowded,
    "node_refused": usual,
    "node_repeated": usual,
    "node_unavailable": unreachable,
    "node_outcome_unknown": unknown,
    "node_handed": forwarding,
    "node_lost": forwarding,
    "node_taken": forwarding,
    "node_parked": usual,
}
"""The story in which each metric moves."""


@functools.cache
def moved_in(story: Story) -> frozenset[str]:
    pages = Pages()
    story(pages)
    return frozenset(pages.moved())


def shown(name: str) -> str:
    return name if name.startswith("treaty_") else metric_name(name) + "_total" * (name in COUNTERS)


WITH_A_BROKER = {"topics_open": "test_topics_kafka.py"}
"""Metrics that move where a broker is, and the test of `tests/real` in which they do."""


def test_every_metric_has_a_row() -> None:
    assert set(HELP) - set(ROWS) == set(WITH_A_BROKER)
    for name, file in WITH_A_BROKER.items():
        assert f"treaty_{name}" in (Path(__file__).parents[1] / "real" / file).read_text()
    assert {name for name in ROWS if not name.startswith("treaty_")} - set(HELP) == set()


@pytest.mark.parametrize("name", ROWS)
def test_a_metric_moves(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(audit_log, "CLOSE_SECONDS", 0.1)
    each = 2 if ROWS[name] is connections else CONNECTIONS_EACH
    monkeypatch.setattr(http_server, "ConnectionTable", partial(ConnectionTable, seconds=1.0, most_each=each))
    assert shown(name) in moved_in(ROWS[name])
