"""Scenes of a node: lists, files of its state, other nodes that are away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.behaviours.nodes.lives import desk, world
from tests.behaviours.nodes.test_state_file import filled
from tests.behaviours.remembered.memory import Scene
from treaty.assemble.runtime import open_node
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.log.memory import MemoryLog
from treaty.node.node import Node
from treaty.node.segment import manager
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.state_writer import write


@asynccontextmanager
async def list_of_subjects(_: Path) -> AsyncIterator[Scene]:
    """A subject is registered while a list of all is kept."""
    async with open_node("memory:") as node:
        await node.ask(Register(subject_of("s"), Draft('"int"')))

        async def ask() -> object:
            return list((await node.ask(ListSubjects())).answer.names)

        async def change() -> None:
            await node.ask(Register(subject_of("t"), Draft('"int"')))

        yield Scene(ask, change)


@asynccontextmanager
async def state_file(folder: Path) -> AsyncIterator[Scene]:
    """A newer state file takes the place of the one that a node has looked at; the answer is when it was written."""
    log, path, tables = MemoryLog(str(folder)), folder / "state", LayeredTables(small=0)
    await filled(log, 10)
    await write(log, path, 5)
    state_files = manager.StateFileManager(path, tables)
    state_files.open()
    node = Node(log, desk(), world(), tables, state_files)

    async def ask() -> object:
        await node.follower.catch_up()
        return state_files.written

    async def change() -> None:
        await filled(log, 12, seed=8)
        await write(log, path, 9)
        for _ in range(200):
            await asyncio.sleep(0 if state_files.written == 9 else 0.01)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manager, "LOOK_SECONDS", 0.01)
        await node.start()
        try:
            yield Scene(ask, change)
        finally:
            await node.close()
