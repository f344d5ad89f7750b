"""Servers on one topic of a real broker that hand commands to each other: the owner of the log, or who won last."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.real.running import Running, serving
from tests.servers.kafka import Kafka

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


def post(server: Running, subject: str, schema: str = '"int"') -> tuple[int, Any]:
    """Register over HTTP; status and answer."""
    request = urllib.request.Request(
        f"{server.base}/subjects/{subject}/versions",
        json.dumps({"schema": schema}).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def counts(server: Running) -> dict[str, int]:
    found: dict[str, int] = server.get("/status")["node"]["counts"]
    return found


@contextmanager
def three(folder: Path, kafka: Kafka, writers: str) -> Iterator[list[Running]]:
    """Three servers that know the same secret, on a topic of their own."""
    secret = folder / "secret"
    secret.write_text(uuid4().hex)
    url = f"kafka://{kafka.bootstrap}/neighbours-{uuid4().hex[:8]}?writers={writers}"
    with ExitStack() as stack:
        yield [stack.enter_context(serving(folder, "--log", url, "--peer-secret-file", str(secret))) for _ in range(3)]


def test_every_server_takes_writes_and_the_owner_decides_them(tmp_path: Path, kafka: Kafka) -> None:
    with three(tmp_path, kafka, "owner") as servers:
        for place, server in enumerate(servers):
            status, told = post(server, f"s{place}")
            assert (status, told["id"]) == (200, 1), told
            assert f"s{place}" in server.get("/subjects")  # one's own write, on that node
        told_apart = [post(server, "s0", '"string"') for server in servers]
        assert [status for status, _ in told_apart] == [409, 409, 409]
        assert told_apart[0] == told_apart[1] == told_apart[2]
        with ThreadPoolExecutor(9) as threads:
            posts = [threads.submit(post, servers[place % 3], f"t{place}") for place in range(90)]
            assert {one.result()[0] for one in posts} == {200}
        numbers = [counts(server) for server in servers]
        owners = [server for server, one in zip(servers, numbers, strict=True) if one["taken"]]
        assert len(owners) == 1
        assert sum(bool(one["handed"]) for one in numbers) == 2
        owners[0].kill()  # and nothing that was said is lost
        left = [server for server in servers if server is not owners[0]]
        for place, server in enumerate(left):
            status, told = post(server, f"u{place}")
            assert status == 200, told
        for server in left:
            assert len(server.get("/subjects")) == 3 + 90 + 2
        digests = {server.get("/status")["node"]["state_digest"] for server in left}
        assert len(digests) == 1


def test_workers_of_one_server_reach_the_one_of_them_that_owns_the_log(tmp_path: Path, kafka: Kafka) -> None:
    url = f"kafka://{kafka.bootstrap}/siblings-{uuid4().hex[:8]}?writers=owner"
    with serving(tmp_path, "--log", url, "--workers", "3") as server, ThreadPoolExecutor(12) as threads:
        posts = [threads.submit(post, server, f"s{place}") for place in range(60)]
        assert {one.result()[0] for one in posts} == {200}
        taken: dict[int, int] = {}
        for _ in range(200):
            status = server.get("/status")
            taken[status["worker"]["index"]] = status["node"]["counts"]["taken"]
            if len(taken) == 3:
                break
        assert len(taken) == 3
        assert sum(bool(one) for one in taken.values()) == 1
        assert "peer-secret" not in server.said.read_text()


def test_servers_that_contend_let_the_last_winner_decide(tmp_path: Path, kafka: Kafka) -> None:
    with three(tmp_path, kafka, "any") as servers, ThreadPoolExecutor(24) as threads:
        posts = [threads.submit(post, servers[place % 3], f"s{place}") for place in range(600)]
        told = [one.result() for one in posts]
        assert {status for status, _ in told} == {200}
        assert len(servers[0].get("/subjects")) == 600
        numbers = [counts(server) for server in servers]
        assert sum(one["conflicts"] for one in numbers) > 0
        assert sum(one["handed"] for one in numbers) > 0
        assert len({server.get("/status")["node"]["state_digest"] for server in servers}) == 1


def test_a_log_with_one_owner_is_not_served_to_others_by_nodes_that_do_not_believe_each_other(
    tmp_path: Path, kafka: Kafka
) -> None:
    url = f"kafka://{kafka.bootstrap}/alone-{uuid4().hex[:8]}?writers=owner"
    with serving(tmp_path, "--log", url) as server:  # on loopback, alone
        assert post(server, "s")[0] == 200
    with (
        pytest.raises(AssertionError, match="start every node with the same --peer-secret-file FILE"),
        serving(tmp_path, "--log", url, "--host", "0.0.0.0"),
    ):
        pass
