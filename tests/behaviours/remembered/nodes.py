"""Scenes of a node: lists, files of its state, other nodes that are away."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.behaviours.remembered.memory import Scene
from treaty.assemble.runtime import open_node
from treaty.core.names import subject_of
from treaty.core.requests import ListSubjects, Register
from treaty.core.schema import Draft


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
