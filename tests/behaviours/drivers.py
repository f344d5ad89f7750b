"""A client through either driver, asked without a loop, for several requests one after the other."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from treaty.client.async_http_registry import AsyncHttpRegistry
from treaty.client.http_registry import HttpRegistry
from treaty.client.settings import ClientSettings
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetSchema
from treaty.core.registry import CALL, CallOptions, Reply

SEVEN = GetSchema(7)


class Plain:
    """The client of ordinary programs."""

    def __init__(self, settings: ClientSettings) -> None:
        self.registry = HttpRegistry(settings)

    def reply(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        return self.registry.ask(request, call)

    def ask(self, request: Request[Any] = SEVEN, call: CallOptions = CALL) -> Any:
        return self.reply(request, call).answer

    def together(self, count: int) -> None:
        threads = [threading.Thread(target=self.ask) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def close(self) -> None:
        self.registry.close()


class Waiting(Plain):
    """The client of asyncio programs, on a loop of its own."""

    def __init__(self, settings: ClientSettings) -> None:
        self.loop = asyncio.new_event_loop()
        self.waiting = AsyncHttpRegistry(settings)

    def reply(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        return self.loop.run_until_complete(self.waiting.ask(request, call))

    def together(self, count: int) -> None:
        async def all_() -> None:
            await asyncio.gather(*(self.waiting.ask(SEVEN) for _ in range(count)))

        self.loop.run_until_complete(all_())

    def close(self) -> None:
        self.loop.run_until_complete(self.waiting.close())
        self.loop.close()


Door = Callable[[ClientSettings], Plain]
"""Opens a client, which ends with the test."""
