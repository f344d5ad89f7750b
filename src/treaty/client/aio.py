"""`AsyncHttpRegistry`: a registry over HTTP for asyncio programs."""

import asyncio
import random
import time
import uuid
from typing import TypeVar

import httpcore2

from treaty.client.flow import Event, Lost, Pause, Send, World, converse
from treaty.client.settings import Settings, settings_of
from treaty.core.registry import CALL, Call, Reply
from treaty.core.requests import Request
from treaty.wire.confluent.receiving import Received

A = TypeVar("A")

_NEVER_LEFT = (httpcore2.ConnectError, httpcore2.ConnectTimeout, httpcore2.PoolTimeout)
_LOST = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, TimeoutError, OSError)


class AsyncHttpRegistry:
    """An `AsyncRegistry` behind a URL, with connections kept open. Belongs to the loop that first uses it."""

    def __init__(self, settings: Settings | str) -> None:
        """Take settings, or a URL (several with commas) for the usual ones. Nothing is sent yet."""
        self._settings = settings_of(settings) if isinstance(settings, str) else settings
        self._world = World(time.monotonic, random.Random().random, lambda: uuid.uuid4().hex)  # noqa: S311 (jitter)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=self._settings.tls, max_connections=self._settings.connections, keepalive_expiry=30.0
        )

    async def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
        """Answer a request; raises what a `Registry` raises."""
        talk = converse(request, call, self._settings, self._world)
        event: Event = None
        while True:
            try:
                step = talk.send(event)
            except StopIteration as done:
                reply: Reply[A] = done.value
                return reply
            event = await self._do(step)

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.aclose()

    async def _do(self, step: Send | Pause) -> Event:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), step.timeout)
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
            return Lost(f"{type(error).__name__}: {error}")
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        return Received(response.status, lambda name: headers.get(name.lower()), bytes(body))
