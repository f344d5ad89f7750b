"""`HttpRegistry`: a registry over HTTP for ordinary programs. Safe to share between threads."""

import random
import time
import uuid
from typing import TypeVar

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError

from treaty.client.flow import Event, Lost, Pause, Send, World, converse
from treaty.client.settings import Settings, settings_of
from treaty.core.registry import CALL, Call, Reply
from treaty.core.requests import Request
from treaty.wire.confluent.receiving import Received

A = TypeVar("A")


class HttpRegistry:
    """A `Registry` behind a URL, with connections kept open."""

    def __init__(self, settings: Settings | str) -> None:
        """Take settings, or a URL (several with commas) for the usual ones. Nothing is sent yet."""
        self._settings = settings_of(settings) if isinstance(settings, str) else settings
        self._world = World(time.monotonic, random.Random().random, lambda: uuid.uuid4().hex)  # noqa: S311 (jitter)
        self._pool = urllib3.PoolManager(
            num_pools=len(self._settings.urls) + 1,
            maxsize=self._settings.connections,
            retries=False,
            ssl_context=self._settings.tls,
        )

    def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
        """Answer a request; raises what a `Registry` raises."""
        talk = converse(request, call, self._settings, self._world)
        event: Event = None
        try:
            while True:
                event = self._do(talk.send(event))
        except StopIteration as done:
            reply: Reply[A] = done.value
            return reply

    def close(self) -> None:
        """Close all connections."""
        self._pool.clear()

    def _do(self, step: Send | Pause) -> Event:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        try:
            response = self._pool.request(
                step.method,
                step.url,
                body=step.body,
                headers=step.headers,
                timeout=urllib3.Timeout(total=step.timeout),
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
        except (HTTPError, OSError) as error:
            return Lost(_told(error))
        if len(body) > self._settings.answer_bytes:
            response.close()  # with the rest unread the connection is of no use any more
            return Lost(f"an answer of more than {self._settings.answer_bytes} bytes")
        response.release_conn()
        return Received(response.status, response.headers.get, body)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
