"""Living servers whose broker goes away and comes back: they say so, stay alive, and go on."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.real.running import Running, serving
from tests.real.test_disk import ask
from tests.real.test_server import eventually
from tests.servers.kafka import Kafka

pytestmark = [pytest.mark.slow, pytest.mark.jvm]
AWAY_SECONDS = 7.0
"""Longer than any question to the broker waits for its answer."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Kafka]:
    made = Kafka()
    yield made
    made.stop()


@pytest.mark.parametrize("writers", ["any", "owner"])
def test_a_broker_that_went_away_and_came_back(broker: Kafka, tmp_path: Path, writers: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef0123456789abcdef\n", "ascii")
    secret.chmod(0o600)
    url = f"kafka://{broker.bootstrap}/away-{writers}?writers={writers}"
    options = ("--log", url, "--peer-secret-file", str(secret))
    with serving(tmp_path, *options) as one, serving(tmp_path, *options) as other:
        servers = (one, other)
        for server in servers:
            eventually("it writes", partial(writes, server, f"kept-{server.port}"))
        broker.kill()
        statuses: set[int] = set()
        done = threading.Event()
        asking = [threading.Thread(target=_keep_asking, args=(server, done, statuses)) for server in servers]
        for thread in asking:
            thread.start()
        try:
            done.wait(AWAY_SECONDS)
            for server in servers:
                assert ask(server, "/schemas/ids/1")[0] == 200
                assert ask(server, "/subjects?consistency=eventual")[0] == 200
                assert ask(server, "/readyz")[0] == 503
        finally:
            broker.start()
            done.set()
            for thread in asking:
                thread.join()
        assert statuses <= {200, 503, 504}
        for server in servers:
            eventually("it writes again", partial(writes, server, f"after-{server.port}"))
        wanted = {f"{when}-{server.port}" for server in servers for when in ("kept", "after")}
        assert all(wanted <= set(ask(server, "/subjects")[1]) for server in servers)
        assert [server.process.poll() for server in servers] == [None, None]
        assert one.get("/status")["node"]["state_root"] == other.get("/status")["node"]["state_root"]


def writes(server: Running, subject: str) -> bool:
    return ask(server, f"/subjects/{subject}/versions", '"string"')[0] == 200


def _keep_asking(server: Running, done: threading.Event, statuses: set[int]) -> None:
    number = 0
    while not done.is_set():
        number += 1
        with suppress(OSError):  # a server that is gone is found below
            statuses.add(ask(server, f"/subjects/away-{server.port}-{number}/versions", '"string"')[0])
