"""`AsyncHttpRegistry`: a registry over HTTP for asyncio programs, with persistent connections, on the event loop that first uses it."""

import asyncio
import inspect
import random
import time
import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

import httpcore2

from treaty.client.effects import (
    CallProvider,
    Conversation,
    Effect,
    EffectResult,
    NoResponse,
    RunExclusively,
    SendRequest,
    WaitSeconds,
)
from treaty.client.properties import settings_of
from treaty.client.protocol.client_state import make_client_state
from treaty.client.protocol.fallbacks import ask_registry
from treaty.client.settings import ClientSettings
from treaty.core.messages.request import Request
from treaty.core.refusals import RegistryError
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.wire.http_response import HttpResponse

A = TypeVar("A")

_NOT_SENT = (httpcore2.ConnectError, httpcore2.ConnectTimeout, httpcore2.PoolTimeout)
_TIMED_OUT = (httpcore2.TimeoutException, TimeoutError)
_LOST = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, TimeoutError, OSError)


class AsyncHttpRegistry:
    """An `AsyncRegistry` at a URL, with persistent connections. Belongs to the event loop that first uses it."""

    def __init__(self, settings: ClientSettings | str | Mapping[str, Any]) -> None:
        """Take settings, or the argument of `settings_of`. Sends nothing."""
        self._settings = settings if isinstance(settings, ClientSettings) else settings_of(settings)
        chance = random.Random().random  # noqa: S311 (jitter)
        self._state = make_client_state(self._settings, time.monotonic, chance, lambda: uuid.uuid4().hex)
        self._exclusive = asyncio.Lock()
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=self._settings.tls, max_connections=self._settings.connections, keepalive_expiry=30.0
        )

    def __repr__(self) -> str:
        return f"AsyncHttpRegistry({self._settings!r})"

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Send a request and return its reply; raises the errors of `Registry`."""
        return await self._run(ask_registry(request, call, self._settings, self._state))

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.aclose()

    async def _run(self, conversation: Conversation[A]) -> A:
        """Run a generator of effects; it receives what each effect returns or raises."""
        event: EffectResult = None
        error: RegistryError | None = None
        while True:
            try:
                effect = conversation.send(event) if error is None else conversation.throw(error)
            except StopIteration as end:
                value: A = end.value
                return value
            event, error = None, None
            try:
                event = await self._execute(effect)
            except RegistryError as raised:
                error = raised

    async def _execute(self, effect: Effect) -> EffectResult:
        match effect:
            case SendRequest():
                return await self._send(effect)
            case WaitSeconds():
                await asyncio.sleep(effect.seconds)
                return None
            case RunExclusively():
                async with self._exclusive:
                    return await self._run(effect.conversation())
            case CallProvider():
                value = effect.function()
                return await value if inspect.isawaitable(value) else value

    async def _send(self, effect: SendRequest) -> HttpResponse | NoResponse:
        timeouts = {**dict.fromkeys(("read", "write", "pool"), effect.timeout), "connect": effect.connect}
        try:
            async with (
                asyncio.timeout(effect.timeout),
                self._pool.stream(
                    effect.method,
                    effect.url,
                    headers=list(effect.headers.items()),
                    content=effect.body,
                    extensions={"timeout": timeouts},
                ) as response,
            ):
                body = bytearray()
                async for chunk in response.aiter_stream():
                    body += chunk
                    if len(body) > self._settings.answer_bytes:
                        return NoResponse(f"an answer of more than {self._settings.answer_bytes} bytes")
        except _NOT_SENT as error:
            return NoResponse(f"{type(error).__name__}: {error}", was_sent=False)
        except _LOST as error:
            return NoResponse(f"{type(error).__name__}: {error}", timed_out=isinstance(error, _TIMED_OUT))
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        return HttpResponse(response.status, lambda name: headers.get(name.lower()), bytes(body))
