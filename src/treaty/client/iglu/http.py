"""Asking Iglu registries over HTTP: one GET, bounded in time and bytes, and what each answer means."""

import asyncio
import ssl
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import httpcore2

from treaty.client.iglu.errors import NOT_FOUND, Kind, RegistryFailure, client_failure, repo_failure
from treaty.client.iglu.registries import HttpSource, RegistryAnswer, RegistryQuestion, read_document
from treaty.client.settings import tls_of
from treaty.core.limits import IGLU_ANSWER_BYTES

T = TypeVar("T")

_LATER = frozenset({408, 429})
"""Statuses below 500 after which a later request may succeed."""
_TROUBLE = (httpcore2.NetworkError, httpcore2.RemoteProtocolError, httpcore2.TimeoutException, TimeoutError, OSError)


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Bounds of one request: seconds for connecting and for all of it, connections, bytes of the answer; and TLS."""

    connect_timeout: float = 1.0
    timeout: float = 4.0
    connections: int = 16
    answer_bytes: int = IGLU_ANSWER_BYTES
    tls: ssl.SSLContext | None = None


class IgluHttpClient:
    """Asks registries over HTTP, with persistent connections. Belongs to the event loop that first uses it."""

    def __init__(self, limits: HttpLimits) -> None:
        """Send nothing yet."""
        self._limits = limits
        self._gate = asyncio.Semaphore(limits.connections)  # waiting for a connection is no time of the registry
        self._pools: dict[bool, httpcore2.AsyncConnectionPool] = {}

    async def ask(self, source: HttpSource, question: RegistryQuestion) -> RegistryAnswer:
        """Return the document at the URL of a question, or the failure."""
        if question.vendor in {".", ".."}:
            return NOT_FOUND
        headers = [("Accept", "application/json"), ("User-Agent", "treaty")]
        if source.apikey is not None:
            headers.append(("apikey", source.apikey))
        try:
            async with self._gate, asyncio.timeout(self._limits.timeout):
                status, body = await self._get(source.url_of(question), headers)
        except TimeoutError:
            return repo_failure(f"no answer within {self._limits.timeout:g} s")
        except _TROUBLE as error:
            return repo_failure(f"{type(error).__name__}: {str(error) or 'the connection was lost'}")
        except (httpcore2.UnsupportedProtocol, httpcore2.LocalProtocolError, ValueError) as error:
            return client_failure(f"{type(error).__name__}: {error}")
        return _classify(status, body, self._limits.answer_bytes)

    async def close(self) -> None:
        """Close all connections."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()

    async def _find_pool(self, *, secure: bool) -> httpcore2.AsyncConnectionPool:
        """Return the connections with TLS, or without. CA certificates are read once, in a thread."""
        if secure not in self._pools:
            tls = self._limits.tls or (await asyncio.to_thread(tls_of) if secure else None)
            pool = httpcore2.AsyncConnectionPool(
                ssl_context=tls, max_connections=self._limits.connections, keepalive_expiry=30.0
            )
            self._pools.setdefault(secure, pool)
        return self._pools[secure]

    async def _get(self, url: str, headers: list[tuple[str, str]]) -> tuple[int, bytes]:
        """Return status and body; of a body that is too long one byte more than allowed."""
        limits, body = self._limits, bytearray()
        timeouts = {**dict.fromkeys(("read", "write", "pool"), limits.timeout), "connect": limits.connect_timeout}
        pool = await self._find_pool(secure=url.startswith("https:"))
        async with pool.stream("GET", url, headers=headers, extensions={"timeout": timeouts}) as response:
            if 200 <= response.status < 300:
                async for chunk in response.aiter_stream():
                    body += chunk
                    if len(body) > limits.answer_bytes:
                        break
            return response.status, bytes(body)


def _classify(status: int, body: bytes, limit: int) -> RegistryAnswer:
    """What an answer means: only 404 says that there is no schema; an error of the server differs from a refusal."""
    if status == 404:
        return NOT_FOUND
    if not 200 <= status < 300:
        kind: Kind = "RepoFailure" if status >= 500 or status in _LATER else "ClientFailure"
        redirect = "; redirects are not followed" if 300 <= status < 400 else ""
        return RegistryFailure(kind, f"Unexpected response code: {status}{redirect}", status)
    if len(body) > limit:
        return repo_failure(f"an answer of more than {limit} bytes")
    return read_document(body)


async def _finish(loop: asyncio.AbstractEventLoop) -> None:
    """Let connections that were closed be freed, and end the threads of name look-ups."""
    await asyncio.sleep(0)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


class BackgroundLoop:
    """An event loop in a thread of its own, for programs without one; a request can then be bounded as a whole."""

    def __init__(self) -> None:
        """Start nothing before the first coroutine."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop, and return its value."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._start_loop()).result()

    def close(self) -> None:
        """Stop the loop and its thread."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(_finish(loop), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def _start_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="treaty-iglu", daemon=True)
                self._thread.start()
            return self._loop
