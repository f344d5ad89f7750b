"""Eight clients publish at once on three servers of one log: one of them wins, and no version is missing."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest

from treaty.api.application import build_application
from treaty.assemble import open_node
from treaty.wire.iglu.documents import IgluSettings

ROUNDS, SOAK = 3, 100
FAMILY = "/api/schemas/com.acme/click/jsonschema"
pytestmark = pytest.mark.slow


async def race(folder: Path, rounds: int) -> None:
    async with AsyncExitStack() as stack:
        clients = []
        for _ in range(3):
            node = await stack.enter_async_context(open_node(f"sqlite:///{folder}/log.db"))
            app = build_application(node, iglu=IgluSettings(patches_allowed=False))
            transport = httpx2.ASGITransport(app=app.dispatcher)
            clients.append(
                await stack.enter_async_context(httpx2.AsyncClient(transport=transport, base_url="http://test"))
            )

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


def test_one_of_eight_wins_and_no_version_is_missing(tmp_path: Path) -> None:
    asyncio.run(race(tmp_path, ROUNDS))


@pytest.mark.soak
def test_one_of_eight_wins_a_hundred_times(tmp_path: Path) -> None:
    asyncio.run(race(tmp_path, SOAK))
