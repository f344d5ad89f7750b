"""Each row of the table of what is remembered: the answer before what must end it, from memory too, and the answer after."""

import asyncio
from pathlib import Path

import pytest

from tests.behaviours.remembered.memory import Memory
from tests.behaviours.remembered.table import MEMORIES


@pytest.mark.parametrize("memory", MEMORIES, ids=lambda memory: memory.what)
def test_what_is_remembered_ends_with_what_it_is_about(memory: Memory, tmp_path: Path) -> None:
    async def run() -> None:
        async with memory.scene(tmp_path) as scene:
            assert [await scene.ask(), await scene.ask()] == [memory.before, memory.before]
            await scene.change()
            assert await scene.ask() == memory.after

    asyncio.run(run())


def test_rows_have_names_of_their_own() -> None:
    assert len({memory.what for memory in MEMORIES}) == len(MEMORIES)
