"""A living server whose PostgreSQL goes away, stands still, is another one, or is busy with somebody else."""

import asyncio
import http.client
import json
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.real.running import Running, serving
from tests.real.test_server import eventually
from tests.servers.passage import Passage
from tests.servers.postgres import Postgres

CUT = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'treaty'"
WAITING = "select count(*) from pg_stat_activity where application_name = 'treaty' and wait_event_type = 'Lock'"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    made = Postgres()
    yield made
    made.stop()


class Told:
    """An answer: `body` as JSON, `again` the seconds of ``Retry-After`` (0 without), `token` of its state."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status = answer.status
        self.body: Any = json.loads(answer.read())
        self.again = float(answer.headers.get("retry-after", 0))
        self.token = answer.headers.get("treaty-position", "")

    def __repr__(self) -> str:
        return f"{self.status} {self.body}"


def ask(server: Running, path: str, text: str = "", token: str = "") -> Told:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=90)
    with closing(connection):
        body = json.dumps({"schema": text}) if text else None
        headers = {"Content-Type": "application/json"} | ({"Treaty-Position": token} if token else {})
        connection.request("POST" if text else "GET", path, body, headers)
        return Told(connection.getresponse())


def write(server: Running, subject: str) -> Told:
    return ask(server, f"/subjects/{subject}/versions", '"string"')


def written(server: Running, subject: str) -> Told:
    told = write(server, subject)
    assert told.status == 200, told
    return told


def cut_off(server: Running, schema_id: int) -> None:
    """What a node without its log does: it says so, answers what never changes, and refuses the rest in time."""
    assert ask(server, f"/schemas/ids/{schema_id}").status == 200
    assert ask(server, "/subjects?consistency=eventual").status == 200
    began = time.monotonic()
    refused = write(server, "refused")
    assert (refused.status, refused.again >= 1, "postgresql://127.0.0.1" in refused.body["message"]) == (
        503,
        True,
        True,
    )
    assert time.monotonic() - began < 60
    ready = ask(server, "/readyz")
    assert (ready.status, "this node shows sequence" in ready.body["reason"]) == (503, True), ready
    assert "postgresql://127.0.0.1" in server.get("/status")["node"]["trouble"]


def well(server: Running) -> bool:
    node = server.get("/status")["node"]
    return write(server, "after").status == 200 and node["trouble"] == node["refusing"] == ""


@pytest.mark.parametrize("end", ["halt", "kill", "murder"])
def test_a_database_that_went_away_and_came_back(database: Postgres, tmp_path: Path, end: str) -> None:
    with serving(tmp_path, "--log", f"{database.url}?schema={end}") as server:
        kept = written(server, "kept")
        getattr(database, end)()
        try:
            refused = ask(server, "/subjects")
            assert (refused.status, refused.again >= 1) == (503, True), refused
            assert f"this node shows sequence {1}, as of" in refused.body["message"]
            cut_off(server, kept.body["id"])
        finally:
            database.start()
        eventually("it writes again", lambda: well(server))
        assert ask(server, "/subjects", token=kept.token).body == ["after", "kept"]


def test_a_database_that_stands_still_and_goes_on(database: Postgres, tmp_path: Path) -> None:
    with serving(tmp_path, "--log", f"{database.url}?schema=still") as server:
        kept = written(server, "kept")
        thaw = database.freeze()
        try:
            cut_off(server, kept.body["id"])
        finally:
            thaw()
        eventually("it writes again", lambda: well(server))
        assert {"after", "kept"} <= set(ask(server, "/subjects").body)


def test_connections_that_are_cut_are_made_anew_and_nobody_is_told(database: Postgres, tmp_path: Path) -> None:
    url = f"{database.url}?schema=cut"
    with serving(tmp_path, "--log", url) as one, serving(tmp_path, "--log", url) as other:
        for number in range(6):
            told = written((one, other)[number % 2], f"s{number}")
            assert f"s{number}" in ask((other, one)[number % 2], "/subjects", token=told.token).body
            asyncio.run(told_to(database.url, CUT))
        assert ask(one, "/subjects").body == [f"s{number}" for number in range(6)]


def test_a_read_whose_connection_is_cut_under_it_is_asked_again(database: Postgres, tmp_path: Path) -> None:
    async def cut_under(server: Running) -> Told:
        holder = await asyncpg.connect(database.url)
        try:
            await holder.execute("begin; lock table under.log_append in access exclusive mode")
            asked = asyncio.create_task(asyncio.to_thread(ask, server, "/subjects"))
            await asyncio.to_thread(eventually, "the read waits for the table", lambda: waits(database.url))
            await holder.execute(CUT)
            await holder.execute("rollback")
            return await asked
        finally:
            await holder.close()

    with serving(tmp_path, "--log", f"{database.url}?schema=under") as server:
        written(server, "kept")
        told = asyncio.run(cut_under(server))
        assert (told.status, told.body) == (200, ["kept"])


def waits(url: str) -> bool:
    """Whether a node waits for a lock."""
    return bool(asyncio.run(told_to(url, WAITING)))


async def told_to(url: str, statement: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


def test_a_failover_to_an_older_state_is_seen_and_told(tmp_path: Path) -> None:
    first = Postgres()
    passage = Passage(first.port)
    second: Postgres | None = None
    try:
        url = first.url.replace(f":{first.port}", f":{passage.port}")
        with serving(tmp_path, "--log", url) as server:
            old = written(server, "old")
            first.halt()
            second = Postgres(first)
            first.start()
            eventually("it writes again", lambda: write(server, "lost").status == 200)
            lost = ask(server, "/subjects")
            assert lost.body == ["lost", "old"]
            assert server.get("/status")["node"]["counts"]["reloads"] <= 1
            before = server.get("/status")["node"]["counts"]["reloads"]
            passage.target = second.port
            passage.strand()  # the old machine is gone without a word
            eventually("it writes again", lambda: write(server, "new").status == 200)
            assert ask(server, "/subjects").body == ["new", "old"]
            node = server.get("/status")["node"]
            assert node["counts"]["reloads"] == before + 1
            assert ask(server, "/subjects", token=old.token).body == ["new", "old"]
            for _ in range(2):
                refused = ask(server, "/subjects", token=lost.token)
                assert (refused.status, "of a history that this log does not have" in refused.body["message"]) == (
                    400,
                    True,
                ), refused
                written(server, "newer")  # the sequence of the token exists again, with another history
            assert node["identity"] == server.get("/status")["node"]["identity"]
    finally:
        passage.close()
        for one in (first, second):
            if one is not None:
                one.stop()


def test_a_table_that_somebody_else_holds_is_named_and_waited_for(database: Postgres, tmp_path: Path) -> None:
    async def hold(server: Running) -> Told:
        connection = await asyncpg.connect(database.url)
        try:
            await connection.execute("begin; lock table held.state_row in exclusive mode")
            return await asyncio.to_thread(write, server, "waiting")
        finally:
            await connection.close()

    with serving(tmp_path, "--log", f"{database.url}?schema=held") as server:
        written(server, "kept")
        refused = asyncio.run(hold(server))
        assert refused.status == 503
        assert "lock timeout" in refused.body["message"]
        eventually("it writes again", lambda: well(server))
        assert ask(server, "/subjects").body == ["after", "kept"]


def test_a_server_without_connections_to_spare_is_told(database: Postgres, tmp_path: Path) -> None:
    async def crowd(server: Running) -> Told:
        taken: list[asyncpg.Connection] = []

        async def all_there_are() -> None:
            with suppress(asyncpg.TooManyConnectionsError):
                while True:
                    taken.append(await asyncpg.connect(database.url))

        try:
            await all_there_are()
            for turn in range(20):  # the server may be quicker than the crowd, and get a connection again
                await taken[0].execute(CUT)
                await all_there_are()
                told = await asyncio.to_thread(write, server, f"crowded-{turn}")
                if told.status != 200:
                    break
            return told
        finally:
            for one in taken:
                await one.close()

    with serving(tmp_path, "--log", f"{database.url}?schema=crowded") as server:
        written(server, "kept")
        refused = asyncio.run(crowd(server))
        assert (refused.status, "connections" in refused.body["message"]) == (503, True), refused
        eventually("it writes again", lambda: well(server))
