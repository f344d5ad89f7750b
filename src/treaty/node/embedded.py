"""Registries over a node in this process: one with an event loop of its own, and one on the loop of an asyncio program."""

import asyncio
import atexit
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Self, TypeVar

from treaty.core.messages.request import Request
from treaty.core.refusals import Unavailable
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.node.node import Node

A = TypeVar("A")
T = TypeVar("T")


class EmbeddedRegistry:
    """A synchronous `Registry`. Thread-safe."""

    def __init__(self, make: Callable[[], Awaitable[Node]]) -> None:
        """Start an event loop on a new thread, and on it the node that `make` returns; raises what `make` raises."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="treaty-node", daemon=True)
        self._thread.start()
        try:
            self.node = self.run(_start_node(make))
        except BaseException:
            self._stop()
            raise
        atexit.register(self.close)  # a program that forgets to close still ends in order

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the node's loop and wait for it; raises `Unavailable` if the registry is closed."""
        if not self._thread.is_alive():
            work.close()
            raise Unavailable("this registry is closed")
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request."""
        return self.run(self.node.ask(request, call))

    def close(self) -> None:
        """Stop the node, its loop and its thread. A second call has no effect."""
        if self._thread.is_alive():
            atexit.unregister(self.close)
            self.run(self.node.close())
            self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncEmbeddedRegistry:
    """An `AsyncRegistry` over a node on the program's event loop, started at the first request."""

    def __init__(self, make: Callable[[], Awaitable[Node]]) -> None:
        """Keep the function that makes the node; the first request raises what `make` raises."""
        self._make = make
        self._node: Node | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request."""
        node = self._node or await self._start_once()
        return await node.ask(request, call)

    async def _start_once(self) -> Node:
        async with self._starting:
            if self._closed:
                raise Unavailable("this registry is closed")
            if self._node is None:
                self._node = await _start_node(self._make)
            return self._node

    async def close(self) -> None:
        """Stop the node. A second call has no effect."""
        async with self._starting:
            node, self._node, self._closed = self._node, None, True
            if node is not None:
                await node.close()


async def _start_node(make: Callable[[], Awaitable[Node]]) -> Node:
    node = await make()
    await node.start()
    return node
