"""Races on three servers of one log: one of eight publications wins, and whoever reads a version while it is patched sees one text."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from tests.real.linear.stores import STORES
from treaty.api.application import build_application
from treaty.assemble import open_node
from treaty.wire.iglu.documents import IgluSettings

ROUNDS, SOAK = 3, 100
FAMILY = "/api/schemas/com.acme/click/jsonschema"
SUBJECT = "/subjects/com.acme%2Fclick%2Fjsonschema/versions"
BACKENDS = ["sqlite", "postgres"]
pytestmark = pytest.mark.slow


@asynccontextmanager
async def servers(folder: Path, backend: str, *, patches: bool) -> AsyncIterator[list[httpx2.AsyncClient]]:
    """Clients of three servers on one log."""
    store = STORES[backend](folder)
    try:
        async with AsyncExitStack() as stack:
            clients = []
            for _ in range(3):
                node = await stack.enter_async_context(open_node(store.url))
                app = build_application(node, iglu=IgluSettings(patches_allowed=patches))
                transport = httpx2.ASGITransport(app=app.dispatcher)
                one = httpx2.AsyncClient(transport=transport, base_url="http://test")
                clients.append(await stack.enter_async_context(one))
            yield clients
    finally:
        store.stop()


async def race(folder: Path, rounds: int, backend: str = "sqlite") -> None:
    async with servers(folder, backend, patches=False) as clients:

        async def publish(number: int, version: str, text: str) -> int:
            answer = await clients[number % 3].put(f"{FAMILY}/{version}", json={"type": "object", "description": text})
            return answer.status_code

        for turn in range(rounds):
            version = f"1-0-{turn}"
            statuses = await asyncio.gather(*(publish(one, version, f"{turn} {one}") for one in range(8)))
            assert sorted(statuses) == [201] + [409] * 7, version
            winner = statuses.index(201)
            texts = [(await one.get(f"{FAMILY}/{version}")).json()["description"] for one in clients]
            assert texts == [f"{turn} {winner}"] * 3
        for turn in range(rounds):
            wanted = [f"1-0-{rounds + turn + ahead}" for ahead in range(2)]
            found = await asyncio.gather(*(publish(one, wanted[one % 2], f"next {one}") for one in range(8)))
            first = [status for one, status in enumerate(found) if one % 2 == 0]
            assert sorted(first) == [201, 409, 409, 409]
            ahead = [status for one, status in enumerate(found) if one % 2 == 1]
            assert ahead.count(201) <= 1
            if 201 in ahead:
                break
        lists = [(await one.get(f"{FAMILY}/1")).json() for one in clients]
        assert lists[0] == lists[1] == lists[2]
        assert lists[0] == [f"iglu:com.acme/click/jsonschema/1-0-{one}" for one in range(len(lists[0]))]


async def patch_and_read(folder: Path, rounds: int, backend: str = "sqlite") -> int:
    """Patch a version again and again, and read it meanwhile through both APIs; return how many reads there were."""
    texts: dict[int, int] = {}
    """By schema id: the number of the patch that its text says."""
    reads = 0
    async with servers(folder, backend, patches=True) as clients:
        done = asyncio.Event()

        async def patch() -> None:
            for number in range(rounds):
                sent = {"type": "object", "description": str(number)}
                answer = await clients[number % 3].put(f"{FAMILY}/1-0-0?isPublic=true", json=sent)
                assert answer.status_code == (200 if number else 201)
                ready.set()
            done.set()

        async def read(client: httpx2.AsyncClient) -> None:
            nonlocal reads
            newest = -1
            while not done.is_set():
                version = (await client.get(f"{SUBJECT}/1")).json()
                number = int(json.loads(version["schema"])["description"])
                assert version["version"] == 1
                assert number >= newest, "an older text after a newer one"
                assert texts.setdefault(version["id"], number) == number, "two texts of one id"
                by_id = (await client.get(f"/schemas/ids/{version['id']}")).json()
                assert by_id["schema"] == version["schema"]
                shown = json.loads((await client.get(f"{FAMILY}/1-0-0")).text)
                newest = int(shown["description"])
                assert newest >= number, "another API shows an older text"
                assert shown["self"]["version"] == "1-0-0"
                listed = (await client.get(SUBJECT)).json()
                assert listed == [1]
                reads += 4

        ready = asyncio.Event()
        patching = asyncio.create_task(patch())
        await ready.wait()
        for client in clients:  # from here on all three see the version
            assert (await client.get(f"{SUBJECT}/1")).status_code == 200
        await asyncio.gather(patching, *(read(client) for client in clients * 2))
        for client in clients:
            for schema_id, number in texts.items():
                kept = (await client.get(f"/schemas/ids/{schema_id}")).json()["schema"]
                assert json.loads(kept)["description"] == str(number)
            last = json.loads((await client.get(f"{SUBJECT}/latest")).json()["schema"])
            assert last["description"] == str(rounds - 1)
    assert len(texts) == len({*texts.values()})
    return reads


def test_one_of_eight_wins_and_no_version_is_missing(tmp_path: Path) -> None:
    asyncio.run(race(tmp_path, ROUNDS))


def test_who_reads_while_a_version_is_patched_sees_one_text(tmp_path: Path) -> None:
    assert asyncio.run(patch_and_read(tmp_path, 10 * ROUNDS)) > 0


@pytest.mark.soak
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_of_eight_wins_a_hundred_times(backend: str, tmp_path: Path) -> None:
    asyncio.run(race(tmp_path, SOAK, backend))


@pytest.mark.soak
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_version_is_patched_a_thousand_times(backend: str, tmp_path: Path) -> None:
    reads = asyncio.run(patch_and_read(tmp_path, 10 * SOAK, backend))
    print(f"{reads} reads")
    assert reads > SOAK
