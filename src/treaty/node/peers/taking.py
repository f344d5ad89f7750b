"""Taking: what a node says of a batch that another one has handed over, each word as soon as there is one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from treaty.wire.peer.message import Declined, Handed, Told

Take = Callable[[Handed], Awaitable[Told]]
"""Decides one command that was handed over."""


async def answer(
    batch: Sequence[Handed | Declined], take: Take, say: Callable[[Sequence[tuple[int, Told]]], Awaitable[None]]
) -> None:
    """Decide the commands of a batch beside each other; `say` is called with those that end together.

    A command whose decision is broken off gets no answer.
    """
    said: list[tuple[int, Told]] = [(place, one) for place, one in enumerate(batch) if isinstance(one, Declined)]
    news = asyncio.Event()

    async def decide(place: int, handed: Handed) -> None:
        try:
            said.append((place, await take(handed)))
        finally:
            news.set()

    tasks = [asyncio.create_task(decide(place, each)) for place, each in enumerate(batch) if isinstance(each, Handed)]
    try:
        while said or not all(task.done() for task in tasks):
            if said:
                told = [*said]
                said.clear()
                await say(told)
            else:
                news.clear()
                await news.wait()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
