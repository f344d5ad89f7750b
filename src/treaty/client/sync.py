"""`HttpRegistry`: a registry over HTTP for ordinary programs. Safe to share between threads."""

import inspect
import random
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError

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


class HttpRegistry:
    """A `Registry` behind a URL, with connections kept open."""

    def __init__(self, settings: Settings | str | Mapping[str, Any]) -> None:
        """Take settings, or what `settings_of` makes them of. Nothing is sent yet."""
        self._settings = settings if isinstance(settings, Settings) else settings_of(settings)
        chance = random.Random().random  # noqa: S311 (jitter)
        self._world = world_of(self._settings, time.monotonic, chance, lambda: uuid.uuid4().hex)
        self._alone = threading.Lock()
        self._pool = urllib3.PoolManager(
            num_pools=len(self._settings.urls) + 1,
            maxsize=self._settings.connections,
            retries=False,
            ssl_context=self._settings.tls,
        )

    def __repr__(self) -> str:
        return f"HttpRegistry({self._settings!r})"

    def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
        """Answer a request; raises what a `Registry` raises."""
        return self._held(converse(request, call, self._settings, self._world))

    def close(self) -> None:
        """Close all connections."""
        self._pool.clear()

    def _held(self, talk: Talk[A]) -> A:
        """Hold a conversation; what a step raises is told to it."""
        event: Event = None
        error: RegistryError | None = None
        try:
            while True:
                step = talk.send(event) if error is None else talk.throw(error)
                event, error = None, None
                try:
                    event = self._do(step)
                except RegistryError as told:
                    error = told
        except StopIteration as done:
            found: A = done.value
            return found

    def _do(self, step: Step) -> Event:
        match step:
            case Send():
                return self._sent(step)
            case Pause():
                time.sleep(step.seconds)
                return None
            case Alone():
                with self._alone:
                    return self._held(step.talk())
            case Consult():
                told = step.function()
                if inspect.isawaitable(told):
                    if inspect.iscoroutine(told):
                        told.close()
                    raise TypeError("a coroutine function gives tokens to asyncio programs only")
                return told

    def _sent(self, step: Send) -> Received | Lost:
        try:
            response = self._pool.request(
                step.method,
                step.url,
                body=step.body,
                headers=step.headers,
                timeout=urllib3.Timeout(total=step.timeout, connect=step.connect),
                redirect=False,
                preload_content=False,
            )
            try:
                body = response.read(self._settings.answer_bytes + 1, decode_content=True)
            except BaseException:
                response.close()
                raise
        except (NewConnectionError, ConnectTimeoutError) as error:
            return Lost(_told(error), left=False)
        except (ReadTimeoutError, TimeoutError) as error:
            return Lost(_told(error), waits=True)
        except (HTTPError, OSError) as error:
            return Lost(_told(error))
        if len(body) > self._settings.answer_bytes:
            response.close()  # with the rest unread the connection is of no use any more
            return Lost(f"an answer of more than {self._settings.answer_bytes} bytes")
        response.release_conn()
        return Received(response.status, response.headers.get, body)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
