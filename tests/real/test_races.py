"""Races within one server, between its workers and between servers over one SQLite file; a kill in the middle of writes."""

import http.client
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

import pytest

from tests.real.running import Running, serving, start

CLIENTS = 8
ROUNDS = 200
TYPES: list[Any] = [
    "int",
    "string",
    "boolean",
    "double",
    {"type": "array", "items": "int"},
    {"type": "map", "values": "int"},
    {"type": "enum", "name": "E", "symbols": ["A"]},
    {"type": "fixed", "name": "F", "size": 4},
]
"""Pairwise incompatible in at least one direction."""


def record(name: str, kind: Any) -> str:
    return json.dumps({"type": "record", "name": name, "fields": [{"name": "f", "type": kind}]})


class Client:
    """One keep-alive connection."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, data, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def register(self, subject: str, text: str) -> tuple[int, Any]:
        return self.ask("POST", f"/subjects/{subject}/versions", {"schema": text})


LAYOUTS = {"default": (1, 1), "workers": (1, 3), "processes": (3, 1)}
"""Servers that share one log, and workers of each."""


@pytest.fixture(scope="module", params=LAYOUTS)
def servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Running]]:
    folder = tmp_path_factory.mktemp("races")
    count, workers = LAYOUTS[request.param]
    options = ("--log", f"sqlite://{folder}/registry.db", "--workers", str(workers))
    with ExitStack() as stack:
        yield [stack.enter_context(serving(folder, *options)) for _ in range(count)]


def together(servers: list[Running], work: Callable[[int, Client, threading.Barrier], None]) -> None:
    """Run `work` in one thread for each client, on the servers in turn; the first failure is raised."""
    barrier = threading.Barrier(CLIENTS)
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            with Client(servers[number % len(servers)].port) as client:
                work(number, client, barrier)
        except BaseException as failure:  # noqa: BLE001 (handed to the test)
            failures.append(failure)
            barrier.abort()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.slow
def test_the_same_new_schema_posted_by_all_gets_one_id_and_one_version(servers: list[Running]) -> None:
    answers: list[list[tuple[int, int, int]]] = [[] for _ in range(ROUNDS)]

    def work(number: int, client: Client, barrier: threading.Barrier) -> None:
        del number
        for turn in range(ROUNDS):
            barrier.wait()
            status, told = client.register(f"same-{turn}", record(f"Same{turn}", "int"))
            answers[turn].append((status, told["id"], told["version"]))

    together(servers, work)
    ids = []
    for told in answers:
        assert len(told) == CLIENTS
        assert len(set(told)) == 1
        assert (told[0][0], told[0][2]) == (200, 1)
        ids.append(told[0][1])
    assert len(set(ids)) == ROUNDS
    for server in servers:
        assert server.get("/subjects/same-0/versions") == [1]
        assert server.get(f"/schemas/ids/{ids[-1]}/versions") == [{"subject": f"same-{ROUNDS - 1}", "version": 1}]


@pytest.mark.slow
def test_of_mutually_incompatible_schemas_one_wins_and_the_others_are_told_why(servers: list[Running]) -> None:
    rounds = 10
    with Client(servers[0].port) as first:
        for turn in range(rounds):
            assert first.ask("PUT", f"/config/fight-{turn}", {"compatibility": "FULL"})[0] == 200
    answers: list[list[tuple[int, Any]]] = [[] for _ in range(rounds)]

    def work(number: int, client: Client, barrier: threading.Barrier) -> None:
        for turn in range(rounds):
            barrier.wait()
            answers[turn].append(client.register(f"fight-{turn}", record("Fight", TYPES[number])))

    together(servers, work)
    for turn, told in enumerate(answers):
        won = [body for status, body in told if status == 200]
        lost = [body for status, body in told if status == 409]
        assert (len(won), len(lost)) == (1, CLIENTS - 1)
        for refusal in lost:
            assert refusal["error_code"] == 40901
            assert f'incompatible with an earlier schema for subject "fight-{turn}"' in refusal["message"]
            assert "TYPE_MISMATCH" in refusal["message"]
            assert "{oldSchemaVersion: 1}" in refusal["message"] or "compatibility: 'FULL'" in refusal["message"]
        for server in servers:
            assert server.get(f"/subjects/fight-{turn}/versions") == [1]
            assert server.get(f"/subjects/fight-{turn}/versions/1")["id"] == won[0]["id"]
    digests = {server.get("/readyz")["sequence"]: server.get("/status")["node"]["state_root"] for server in servers}
    assert len(digests) == 1


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    writes, writers = 500, 4
    url = f"sqlite://{tmp_path}/registry.db"
    server = start(tmp_path, "--log", url)
    acknowledged: dict[str, tuple[int, int]] = {}
    half = threading.Event()

    def write(number: int) -> None:
        with Client(server.port) as client, suppress(OSError, http.client.HTTPException):  # when the server is gone
            for turn in range(number, writes, writers):
                status, told = client.register(f"kill-{turn}", record(f"Kill{turn}", "int"))
                assert status == 200
                acknowledged[f"kill-{turn}"] = (told["id"], told["version"])
                if len(acknowledged) >= writes // 2:
                    half.set()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    assert half.wait(120)
    server.kill()
    for thread in threads:
        thread.join()
    assert writes // 2 <= len(acknowledged) < writes
    with serving(tmp_path, "--log", url) as again, Client(again.port) as client:
        for subject, (schema_id, version) in acknowledged.items():
            status, told = client.ask("GET", f"/subjects/{subject}/versions/latest")
            assert (status, told["id"], told["version"]) == (200, schema_id, version)
        ids = [told["id"] for told in client.ask("GET", "/schemas")[1]]
        assert len(set(ids)) == len(ids)
        status, told = client.register("after", record("After", "int"))
        assert (status, told["version"]) == (200, 1)
        assert told["id"] > max(ids)


class Stubborn:
    """A client that asks until it is answered: the same command again, under the same id, over a new connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.retries = self.answered = 0

    def ask(self, method: str, path: str, body: object, command: str) -> tuple[int, Any]:
        for _ in range(200):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                headers = {"Content-Type": "application/json", "Treaty-Command": command}
                connection.request(method, path, None if body is None else json.dumps(body), headers)
                answer = connection.getresponse()
                told = json.loads(answer.read())
                if answer.status not in {503, 504}:
                    self.answered += 1
                    return answer.status, told
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()
            self.retries += 1
            time.sleep(0.05)
        raise AssertionError(f"{command} was never answered")


@pytest.mark.slow
def test_a_command_repeated_after_a_kill_is_done_once(tmp_path: Path) -> None:
    """A second soft delete of a version would be refused: only a command that is known again answers as the first."""
    subjects, most, clients = 40, 4_000, 4
    written: list[int] = []
    failures: list[BaseException] = []
    with serving(tmp_path, "--log", f"sqlite://{tmp_path}/r.db", "--workers", "3") as server:
        stubborn = [Stubborn(server.port) for _ in range(clients)]
        done = threading.Event()

        def write(number: int) -> None:
            client = stubborn[number]
            try:
                for turn in range(number, most, clients):
                    if turn >= subjects and sum(each.retries for each in stubborn) >= 3:
                        return  # enough was hit
                    written.append(turn)
                    path = f"/subjects/once-{turn}/versions"
                    for version, kind in enumerate(("int", "long", "double"), start=1):
                        body = {"schema": record("Once", kind)}
                        status, told = client.ask("POST", path, body, f"post-{turn}-{version}")
                        assert (status, told["version"]) == (200, version)
                    for version in (1, 2):
                        answer = client.ask("DELETE", f"{path}/{version}", None, f"delete-{turn}-{version}")
                        assert answer == (200, version)
            except BaseException as failure:  # noqa: BLE001 (handed to the test)
                failures.append(failure)

        def kill() -> None:
            before = 0
            while not done.wait(0.4):
                answered = sum(each.answered for each in stubborn)
                if answered < before + clients:
                    continue  # on a busy machine workers start more slowly than they would be killed
                before = answered
                with suppress(OSError, ValueError, http.client.HTTPException):
                    os.kill(server.get("/status")["worker"]["pid"], signal.SIGKILL)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(clients)]
        killer = threading.Thread(target=kill)
        for thread in (*threads, killer):
            thread.start()
        for thread in threads:
            thread.join()
        done.set()
        killer.join()
        assert failures == []
        assert sum(client.retries for client in stubborn) >= 3
        last = Stubborn(server.port)
        for turn in written:
            assert last.ask("GET", f"/subjects/once-{turn}/versions", None, "")[1] == [3]
            assert last.ask("GET", f"/subjects/once-{turn}/versions?deleted=true", None, "")[1] == [1, 2, 3]
