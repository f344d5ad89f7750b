"""Races on three servers of one log: one of eight publications wins, and whoever reads a version while it is patched sees one text."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Protocol

import httpx2
import pytest

from tests.real.linear.stores import STORES, Store
from tests.real.running import start
from treaty.api.application import build_application
from treaty.assemble import open_node
from treaty.wire.iglu.documents import IgluSettings

ROUNDS, SOAK = 3, 100
FAMILY = "/api/schemas/com.acme/click/jsonschema"
SUBJECT = "/subjects/com.acme%2Fclick%2Fjsonschema/versions"
BACKENDS = ["sqlite", "postgres", "kafka-any"]
pytestmark = pytest.mark.slow


class Serving(Protocol):
    """How three servers on one log are made."""

    async def __call__(
        self, stack: AsyncExitStack, store: Store, folder: Path, *, patches: bool
    ) -> list[httpx2.AsyncClient]: ...


async def in_this_process(
    stack: AsyncExitStack, store: Store, folder: Path, *, patches: bool
) -> list[httpx2.AsyncClient]:
    """Clients of three nodes in this process."""
    clients = []
    for _ in range(3):
        node = await stack.enter_async_context(open_node(store.url))
        app = build_application(node, iglu=IgluSettings(patches_allowed=patches))
        transport = httpx2.ASGITransport(app=app.dispatcher)
        one = httpx2.AsyncClient(transport=transport, base_url="http://test")
        clients.append(await stack.enter_async_context(one))
    return clients


async def in_processes(stack: AsyncExitStack, store: Store, folder: Path, *, patches: bool) -> list[httpx2.AsyncClient]:
    """Clients of three processes of `treaty serve`."""
    options = ("--log", store.url, *store.options, *(("--iglu-patches",) if patches else ()))
    clients = []
    for _ in range(3):
        server = await asyncio.to_thread(start, folder, *options)
        stack.callback(server.stop)
        clients.append(await stack.enter_async_context(httpx2.AsyncClient(base_url=server.base, timeout=30)))
    return clients


@asynccontextmanager
async def servers(
    folder: Path, backend: str, serving: Serving, *, patches: bool
) -> AsyncIterator[list[httpx2.AsyncClient]]:
    """Clients of three servers on one log."""
    store = STORES[backend](folder)
    try:
        async with AsyncExitStack() as stack:
            yield await serving(stack, store, folder, patches=patches)
    finally:
        store.stop()


async def publish(client: httpx2.AsyncClient, version: str, text: str) -> int:
    answer = await client.put(f"{FAMILY}/{version}", json={"type": "object", "description": text})
    return answer.status_code


async def race(folder: Path, rounds: int, backend: str = "sqlite", serving: Serving = in_this_process) -> int:
    """Publish one version by eight, and the next one by eight, again and again; return how many versions there are."""
    async with servers(folder, backend, serving, patches=False) as clients:
        for turn in range(rounds):
            version = f"1-0-{turn}"
            sent = (publish(clients[one % 3], version, f"{turn} {one}") for one in range(8))
            statuses = await asyncio.gather(*sent)
            assert sorted(statuses) == [201] + [409] * 7, version
            winner = statuses.index(201)
            texts = [(await one.get(f"{FAMILY}/{version}")).json()["description"] for one in clients]
            assert texts == [f"{turn} {winner}"] * 3

        async def publish_next(number: int, turn: int) -> tuple[str, int]:
            """Publish the ADDITION after the last one that a server lists."""
            client = clients[number % 3]
            version = f"1-0-{len((await client.get(f'{FAMILY}/1')).json())}"
            return version, await publish(client, version, f"next {turn} {number}")

        won = [f"1-0-{turn}" for turn in range(rounds)]
        for turn in range(rounds):
            found = await asyncio.gather(*(publish_next(one, turn) for one in range(8)))
            assert {status for _, status in found} <= {201, 409}
            fresh = [version for version, status in found if status == 201]
            assert fresh, "nobody won"
            won += sorted(fresh, key=lambda version: int(version.rpartition("-")[2]))
        lists = [(await one.get(f"{FAMILY}/1")).json() for one in clients]
    assert won == [f"1-0-{one}" for one in range(len(won))], "a gap, or two winners of one version"
    assert lists == [[f"iglu:com.acme/click/jsonschema/{one}" for one in won]] * 3
    return len(won)


async def patch_and_read(folder: Path, rounds: int, backend: str = "sqlite", serving: Serving = in_this_process) -> int:
    """Patch a version again and again, and read it meanwhile through both APIs; return how many reads there were."""
    texts: dict[int, int] = {}
    """By schema id: the number of the patch that its text says."""
    reads = 0
    async with servers(folder, backend, serving, patches=True) as clients:
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
    assert asyncio.run(race(tmp_path, ROUNDS)) >= 2 * ROUNDS


def test_who_reads_while_a_version_is_patched_sees_one_text(tmp_path: Path) -> None:
    assert asyncio.run(patch_and_read(tmp_path, 10 * ROUNDS)) > 0


@pytest.mark.soak
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_of_eight_processes_wins_a_hundred_times(backend: str, tmp_path: Path) -> None:
    versions = asyncio.run(race(tmp_path, SOAK, backend, in_processes))
    print(f"{versions} versions")
    assert versions >= 2 * SOAK


@pytest.mark.soak
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_version_is_patched_a_thousand_times_in_processes(backend: str, tmp_path: Path) -> None:
    reads = asyncio.run(patch_and_read(tmp_path, 10 * SOAK, backend, in_processes))
    print(f"{reads} reads")
    assert reads > SOAK
