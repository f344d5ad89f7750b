"""Several workers on one socket are one server: what one has written all show to who carries its token, and rights and
limits hold in each of them.
"""

import base64
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.facades.doors import write_passwords
from tests.real.running import Running, serving
from treaty.core.limits import REQUEST_BYTES

WORKERS = 3
TOKEN = "Treaty-Position"


@dataclass
class Door:
    """A connection that stays with the worker that took it."""

    connection: http.client.HTTPConnection
    headers: dict[str, str] = field(default_factory=dict)
    worker: int = -1

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any, str]:
        """Status, JSON and token of an answer."""
        data = None if body is None else json.dumps(body).encode()
        sent = {**self.headers, **headers, **({} if data is None else {"Content-Type": "application/json"})}
        self.connection.request(method, path, data, {name.replace("_", "-"): value for name, value in sent.items()})
        answer = self.connection.getresponse()
        read = answer.read()
        return answer.status, json.loads(read) if read else None, answer.headers.get(TOKEN, "")


def text(doc: str) -> str:
    """A schema that can stand beside all others of its subject."""
    return json.dumps({"type": "record", "name": "R", "doc": doc, "fields": []}, separators=(",", ":"))


def basic(user: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:secret".encode()).decode()}


@contextmanager
def doors(server: Running, headers: dict[str, str], root: dict[str, str] | None = None) -> Iterator[list[Door]]:
    """One door to each worker. `root` are the headers of who may ask for the status."""
    found: dict[int, Door] = {}
    late = time.monotonic() + 60
    while len(found) < WORKERS and time.monotonic() < late:  # some of them may still be starting
        door = Door(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60), headers)
        door.worker = door.ask("GET", "/status", **(root or {}))[1]["worker"]["pid"]
        if door.worker in found:
            door.connection.close()
            time.sleep(0.01)
        else:
            found[door.worker] = door
    try:
        assert len(found) == WORKERS, "every worker takes connections"
        yield list(found.values())
    finally:
        for one in found.values():
            one.connection.close()


def eventually(true: Callable[[], bool]) -> None:
    for _ in range(200):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it never came to be")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server for all of them; each test has subjects of its own."""
    folder = tmp_path_factory.mktemp("workers")
    with serving(folder, "--log", f"sqlite://{folder}/r.db", "--workers", str(WORKERS)) as running:
        yield running


def test_what_one_worker_wrote_each_other_shows_to_who_carries_the_token(server: Running) -> None:
    with doors(server, {}) as found:
        for turn in range(1, 19):
            first, *others = found[turn % WORKERS :] + found[: turn % WORKERS]
            schema = text(f"{turn}")
            status, made, token = first.ask("POST", "/subjects/told/versions", {"schema": schema})
            assert status == 200
            for other in others:
                for path in (
                    f"/subjects/told/versions/{turn}",
                    "/subjects/told/versions/latest",
                    f"/schemas/ids/{made['id']}",
                ):
                    answer = other.ask("GET", path, **{TOKEN: token})
                    assert (answer[0], answer[1]["schema"]) == (200, schema), (turn, path)
            _, _, token = first.ask("DELETE", f"/subjects/told/versions/{turn}", **{TOKEN: token})


def test_a_hot_read_is_never_older_than_the_token_that_comes_with_it(server: Running) -> None:
    with doors(server, {}) as found:
        for turn in range(1, 19):
            first, *others = found[turn % WORKERS :] + found[: turn % WORKERS]
            schema = text(f"{turn}")
            _, made, token = first.ask("POST", "/subjects/hot/versions", {"schema": schema})
            number = made["version"]
            path = f"/subjects/hot/versions/{number}"
            for other in others:  # now they have it in memory
                assert [other.ask("GET", path, **{TOKEN: token})[0] for _ in range(3)] == [200] * 3
            status, _, token = first.ask("DELETE", path)
            assert status == 200
            for other in others:
                assert other.ask("GET", path, **{TOKEN: token})[0] == 404, turn
                assert other.ask("GET", path)[0] == 404, "once seen, it stays seen"


def test_what_is_asked_for_latest_needs_no_token(server: Running) -> None:
    with doors(server, {}) as found:
        for turn in range(1, 13):
            first, *others = found[turn % WORKERS :] + found[: turn % WORKERS]
            schema = text(f"{turn}")
            first.ask("POST", f"/subjects/s{turn}/versions", {"schema": schema})
            for other in others:
                assert other.ask("GET", f"/subjects/s{turn}/versions/latest")[0] == 200
                assert f"s{turn}" in other.ask("GET", "/subjects")[1]
                assert other.ask("PUT", f"/config/s{turn}", {"compatibility": "FULL"})[0] == 200
                assert first.ask("GET", f"/config/s{turn}")[1] == {"compatibilityLevel": "FULL"}


def test_a_token_that_no_worker_can_have_is_refused_by_each_in_bounded_time(server: Running) -> None:
    with doors(server, {}) as found:
        _, _, token = found[0].ask("POST", "/subjects/token/versions", {"schema": '"int"'})
        identity, sequence, digest = token.split(".")
        for door in found:
            other, later = f"{'0' * 32}.{sequence}.{digest}", f"{identity}.{int(sequence) + 50}.{digest}"
            for wrong, refused in ((other, 400), (later, 503)):
                began = time.monotonic()
                status, body, _ = door.ask("GET", "/subjects/token/versions/1", **{TOKEN: wrong})
                assert status == refused, body
                assert time.monotonic() - began < 45


def test_a_body_past_the_limit_is_refused_by_each_worker_and_harms_nobody(server: Running) -> None:
    with doors(server, {}) as found:
        before = found[0].ask("GET", "/subjects")[1]
        for door in found:
            status, body, _ = door.ask("POST", "/subjects/large/versions", {"schema": "x" * (REQUEST_BYTES + 1)})
            assert (status, body["error_code"]) == (413, 413)
            assert door.ask("GET", "/subjects", Treaty_Consistency="latest")[:2] == (200, before)


def test_many_writers_over_all_workers_and_readers_that_follow_their_tokens(server: Running) -> None:
    """Each writer reads its own write back at every worker; nobody ever sees less than what their token says."""
    wrong: list[object] = []

    def work(name: str) -> None:
        with doors(server, {}) as found:
            for turn in range(12):
                writer = found[turn % WORKERS]
                schema = text(f"{name} {turn}")
                status, made, token = writer.ask("POST", f"/subjects/{name}/versions", {"schema": schema})
                if status != 200:
                    wrong.append((status, made))
                    return
                for door in found:
                    told = door.ask("GET", f"/subjects/{name}/versions", **{TOKEN: token})
                    if told[1] != list(range(1, turn + 2)):
                        wrong.append((name, turn, told))

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert wrong == []


RIGHTS = """
[basic]
file = "passwords"

[[rule]]
who = "user:root"
may = "admin"
contexts = "*"

[[rule]]
who = "user:reader"
may = "read"
subjects = "{subjects}"
"""


def test_a_change_of_the_rights_reaches_every_worker_and_what_it_has_in_memory(tmp_path: Path) -> None:
    rights = tmp_path / "rights.toml"
    write_passwords(tmp_path / "passwords", root="secret", reader="secret")
    rights.write_text(RIGHTS.format(subjects="orders-*"))
    log = f"sqlite://{tmp_path}/r.db"
    with (
        serving(tmp_path, "--log", log, "--workers", str(WORKERS), "--auth", str(rights)) as server,
        doors(server, basic("reader"), basic("root")) as found,
    ):
        for name in ("orders-value", "bills-value"):
            _, _, token = found[0].ask("POST", f"/subjects/{name}/versions", {"schema": text(name)}, **basic("root"))

        def seen(door: Door, name: str) -> int:
            return door.ask("GET", f"/subjects/{name}/versions/1", **{TOKEN: token})[0]

        for door in found:
            assert [seen(door, "orders-value") for _ in range(5)] == [200] * 5
            assert [seen(door, "bills-value") for _ in range(2)] == [403] * 2
        rights.write_text(RIGHTS.format(subjects="bills-*"))
        eventually(lambda: all(seen(door, "orders-value") == 403 for door in found))
        for door in found:
            assert seen(door, "bills-value") == 200
            assert door.ask("GET", "/subjects")[1] == ["bills-value"]
            assert door.ask("PUT", "/config/bills-value", {"compatibility": "NONE"})[0] == 403
        rights.write_text("this is no TOML = = =")
        time.sleep(1.5)
        for door in found:
            assert (seen(door, "bills-value"), seen(door, "orders-value")) == (200, 403), "the last good rights hold"
