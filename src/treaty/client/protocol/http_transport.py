"""`HttpTransport`: executes the effects of a client with blocking connections, and says of an error whether the request was sent. Thread-safe."""

import inspect
import threading
import time
from typing import TypeVar

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError

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
from treaty.client.settings import ClientSettings
from treaty.core.refusals import RegistryError
from treaty.wire.http_response import HttpResponse

A = TypeVar("A")


class HttpTransport:
    """Persistent connections to the nodes of a registry, and what runs a conversation over them."""

    def __init__(self, settings: ClientSettings) -> None:
        """Send nothing yet."""
        self._settings = settings
        self._exclusive = threading.Lock()
        self._pool = urllib3.PoolManager(
            num_pools=len(settings.urls) + 1, maxsize=settings.connections, retries=False, ssl_context=settings.tls
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.clear()

    def run(self, conversation: Conversation[A]) -> A:
        """Run a generator of effects; it receives what each effect returns or raises."""
        event: EffectResult = None
        error: RegistryError | None = None
        try:
            while True:
                effect = conversation.send(event) if error is None else conversation.throw(error)
                event, error = None, None
                try:
                    event = self._execute(effect)
                except RegistryError as raised:
                    error = raised
        except StopIteration as end:
            value: A = end.value
            return value

    def _execute(self, effect: Effect) -> EffectResult:
        match effect:
            case SendRequest():
                return self._send(effect)
            case WaitSeconds():
                time.sleep(effect.seconds)
                return None
            case RunExclusively():
                with self._exclusive:
                    return self.run(effect.conversation())
            case CallProvider():
                value = effect.function()
                if inspect.isawaitable(value):
                    if inspect.iscoroutine(value):
                        value.close()
                    raise TypeError("a coroutine function as source of tokens needs an asyncio program")
                return value

    def _send(self, effect: SendRequest) -> HttpResponse | NoResponse:
        try:
            response = self._pool.request(
                effect.method,
                effect.url,
                body=effect.body,
                headers=effect.headers,
                timeout=urllib3.Timeout(total=effect.timeout, connect=effect.connect),
                redirect=False,
                preload_content=False,
            )
            try:
                body = response.read(self._settings.answer_bytes + 1, decode_content=True)
            except BaseException:
                response.close()
                raise
        except (NewConnectionError, ConnectTimeoutError) as error:
            return NoResponse(_describe_error(error), was_sent=False)
        except (ReadTimeoutError, TimeoutError) as error:
            return NoResponse(_describe_error(error), timed_out=True)
        except (HTTPError, OSError) as error:
            return NoResponse(_describe_error(error))
        if len(body) > self._settings.answer_bytes:
            response.close()  # with the rest unread the connection is of no use any more
            return NoResponse(f"an answer of more than {self._settings.answer_bytes} bytes")
        response.release_conn()
        return HttpResponse(response.status, response.headers.get, body)


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
