"""`AsyncHttpRegistry`: a registry over HTTP for asyncio programs."""

import asyncio
import inspect
import random
import time
import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

import httpcore2

from treaty.client.properties import settings_of
from treaty.client.settings import Settings
from treaty.client.steps import Alone, Consult, Event, Lost, Pause, Send, Step, Talk
from treaty.client.talk.substitutes import converse
from treaty.client.talk.world import world_of
from treaty.core.refusals import RegistryError
from treaty.core.registry import CALL, Call, Reply
from treaty.core.requests import Request
from treaty.wire.confluent.receiving import Received

A = TypeVar("A")

_NEVER_LEFT = (httpcore2.ConnectError, httpcore2.ConnectTimeout, httpcore2.PoolTimeout)
_LATE = (httpcore2.TimeoutException, TimeoutError)
_LOST = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, TimeoutError, OSError)


class AsyncHttpRegistry:
    """An `AsyncRegistry` behind a URL, with connections kept open. Belongs to the loop that first uses it."""

    def __init__(self, settings: Settings | str | Mapping[str, Any]) -> None:
        """Take settings, or what `settings_of` makes them of. Nothing is sent yet."""
        self._settings = settings if isinstance(settings, Settings) else settings_of(settings)
        chance = random.Random().random  # noqa: S311 (jitter)
        self._world = world_of(self._settings, time.monotonic, chance, lambda: uuid.uuid4().hex)
        self._alone = asyncio.Lock()
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=self._settings.tls, max_connections=self._settings.connections, keepalive_expiry=30.0
        )

    def __repr__(self) -> str:
        return f"AsyncHttpRegistry({self._settings!r})"

    async def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
        """Answer a request; raises what a `Registry` raises."""
        return await self._held(converse(request, call, self._settings, self._world))

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.aclose()

    async def _held(self, talk: Talk[A]) -> A:
        """Hold a conversation; what a step raises is told to it."""
        event: Event = None
        error: RegistryError | None = None
        while True:
            try:
                step = talk.send(event) if error is None else talk.throw(error)
            except StopIteration as done:
                found: A = done.value
                return found
            event, error = None, None
            try:
                event = await self._do(step)
            except RegistryError as told:
                error = told

    async def _do(self, step: Step) -> Event:
        match step:
            case Send():
                return await self._sent(step)
            case Pause():
                await asyncio.sleep(step.seconds)
                return None
            case Alone():
                async with self._alone:
                    return await self._held(step.talk())
            case Consult():
                told = step.function()
                return await told if inspect.isawaitable(told) else told

    async def _sent(self, step: Send) -> Received | Lost:
        timeouts = {**dict.fromkeys(("read", "write", "pool"), step.timeout), "connect": step.connect}
        try:
            async with (
                asyncio.timeout(step.timeout),
                self._pool.stream(
                    step.method,
                    step.url,
                    headers=list(step.headers.items()),
                    content=step.body,
                    extensions={"timeout": timeouts},
                ) as response,
            ):
                body = bytearray()
                async for chunk in response.aiter_stream():
                    body += chunk
                    if len(body) > self._settings.answer_bytes:
                        return Lost(f"an answer of more than {self._settings.answer_bytes} bytes")
        except _NEVER_LEFT as error:
            return Lost(f"{type(error).__name__}: {error}", left=False)
        except _LOST as error:
            return Lost(f"{type(error).__name__}: {error}", waits=isinstance(error, _LATE))
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        return Received(response.status, lambda name: headers.get(name.lower()), bytes(body))
