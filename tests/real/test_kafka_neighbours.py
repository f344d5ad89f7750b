"""Servers on one topic of a real broker that hand commands to each other: the owner of the log, or who won last."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.facades.doors import basic, write_passwords
from tests.real.running import Running, serving
from tests.servers.kafka import Kafka

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


RIGHTS = """
[basic]
file = "passwords"
[[rule]]
who = "user:ada"
may = "register"
subjects = "s*"
[[rule]]
who = "user:root"
may = "admin"
contexts = "*"
"""


def post(
    server: Running, subject: str, schema: str = '"int"', headers: Mapping[str, str] | None = None
) -> tuple[int, Any]:
    """Register over HTTP; status and answer."""
    request = urllib.request.Request(
        f"{server.base}/subjects/{subject}/versions",
        json.dumps({"schema": schema}).encode(),
        {"Content-Type": "application/json", **(headers or {})},
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
def several(
    folder: Path, kafka: Kafka, writers: str, options: Sequence[Sequence[str]] = ((), (), ())
) -> Iterator[list[Running]]:
    """Servers that know the same secret, on a topic of their own; each with its options."""
    secret = folder / "secret"
    secret.touch(0o600)
    secret.write_text(uuid4().hex)
    url = f"kafka://{kafka.bootstrap}/neighbours-{uuid4().hex[:8]}?writers={writers}"
    with ExitStack() as stack:
        yield [
            stack.enter_context(serving(folder, "--log", url, "--peer-secret-file", str(secret), *each))
            for each in options
        ]


def test_every_server_takes_writes_and_the_owner_decides_them(tmp_path: Path, kafka: Kafka) -> None:
    with several(tmp_path, kafka, "owner") as servers:
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
        digests = {server.get("/status")["node"]["state_root"] for server in left}
        assert len(digests) == 1


def test_who_may_do_what_and_who_did_it_is_known_where_it_was_asked(tmp_path: Path, kafka: Kafka) -> None:
    write_passwords(tmp_path / "passwords", ada="secret", root="secret")
    (tmp_path / "rights.toml").write_text(RIGHTS)
    audits = [tmp_path / f"audit-{place}" for place in range(2)]
    options = [("--auth", str(tmp_path / "rights.toml"), "--audit", str(audit)) for audit in audits]
    with several(tmp_path, kafka, "owner", options) as servers:
        for place, server in enumerate(servers):
            assert post(server, f"s{place}", headers=basic("ada"))[0] == 200
            status, told = post(server, f"t{place}", headers=basic("ada"))
            assert (status, told["error_code"]) == (403, 40301)
            assert post(server, f"t{place}", headers=basic("root"))[0] == 200
    for place, audit in enumerate(audits):
        lines = [json.loads(line) for line in audit.read_text().splitlines()]
        assert [(line["principal"], line["subject"], line["outcome"]) for line in lines] == [
            ("user:ada", f"s{place}", "done"),
            ("user:ada", f"t{place}", "refused"),
            ("user:root", f"t{place}", "done"),
        ]


def test_workers_of_one_server_reach_the_one_of_them_that_owns_the_log(tmp_path: Path, kafka: Kafka) -> None:
    url = f"kafka://{kafka.bootstrap}/siblings-{uuid4().hex[:8]}?writers=owner"
    with serving(tmp_path, "--log", url, "--workers", "3") as server, ThreadPoolExecutor(12) as threads:
        posts = [threads.submit(post, server, f"s{place}") for place in range(60)]
        assert {one.result()[0] for one in posts} == {200}
        taken: dict[int, int] = {}
        for turn in range(300):  # the workers share one socket: a busy machine may give all connections to the owner
            assert post(server, f"t{turn}")[0] == 200
            status = server.get("/status")
            taken[status["worker"]["index"]] = status["node"]["counts"]["taken"]
            if len(taken) == 3 and any(taken.values()):
                break
        assert len(taken) == 3
        assert sum(bool(one) for one in taken.values()) == 1
        assert "peer-secret" not in server.said.read_text()


def test_servers_that_contend_let_the_last_winner_decide(tmp_path: Path, kafka: Kafka) -> None:
    with several(tmp_path, kafka, "any") as servers, ThreadPoolExecutor(24) as threads:
        posts = [threads.submit(post, servers[place % 3], f"s{place}") for place in range(600)]
        told = [one.result() for one in posts]
        assert {status for status, _ in told} == {200}
        assert len(servers[0].get("/subjects")) == 600
        numbers = [counts(server) for server in servers]
        assert sum(one["conflicts"] for one in numbers) > 0
        assert sum(one["handed"] for one in numbers) > 0
        assert len({server.get("/status")["node"]["state_root"] for server in servers}) == 1


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
