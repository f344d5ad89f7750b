"""The outermost layer of a server: authenticates, limits, routes and counts requests, and answers unhandled exceptions."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treaty.api import access_log
from treaty.api.errors import HttpError, error_response
from treaty.api.metrics import OTHER, ServerMetrics
from treaty.api.network.hosts import ANY_HOST, AllowedHosts
from treaty.api.request_scope import (
    REQUEST_ID,
    ROUTE,
    RequestCaller,
    RequestConnection,
    caller,
    connection_of,
    identify_request,
    set_caller,
)
from treaty.core.access.rights import ANONYMOUS
from treaty.core.limits import IN_FLIGHT, IN_FLIGHT_EACH, LOOP_BYTES
from treaty.core.refusals import Unavailable
from treaty.core.registry import AsyncRegistry
from treaty.wire.confluent.headers import V1, negotiate
from treaty.wire.schemarepo.texts import wants_text

log = logging.getLogger("treaty.api")

DISCONNECT_SECONDS = 5.0
"""Seconds for the server to notice a closed connection."""
Page = Callable[[str], Awaitable[Response]]
"""A page of the operator: it takes the ``Accept-Encoding`` of its request."""
Authenticate = Callable[[Scope], Awaitable[None]]
"""Authenticates a request; raises a refusal for wrong or missing credentials."""


class RunningNode(AsyncRegistry, Protocol):
    """What the server needs of a node besides the `AsyncRegistry`: notifications of changes, and its status."""

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call `callback`, in this event loop, whenever commits have been applied, before they are answered."""
        ...

    @property
    def halted(self) -> str:
        """Why the node does not write now; empty if it does."""
        ...

    def status(self) -> object:
        """Facts for ``/status``: a dataclass or mapping that JSON can hold, with the log's identity and sequence."""
        ...


class InternalEndpoint(Protocol):
    """A path for other nodes, not for clients: it authenticates by itself, and counts the requests that it is answering."""

    path: bytes
    busy: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        ...


class MountedDialect(Protocol):
    """A dialect with its own part of the paths, and its own shape of errors."""

    @property
    def prefixes(self) -> tuple[bytes, ...]:
        """Raw paths without a slash at the end: these paths, and all below them, are the dialect's."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        ...

    def error_response(self, failure: Exception, scope: Scope) -> Response:
        """Return the response for a failure outside of the dialect, such as missing credentials or a full server."""
        ...


def by_prefix(*dialects: MountedDialect) -> Mapping[bytes, MountedDialect]:
    """Return dialects by their prefixes; where two lie in each other the first dialect goes first."""
    return {prefix: dialect for dialect in dialects for prefix in dialect.prefixes}


@dataclass(frozen=True, slots=True)
class RequestDispatcher:
    """The server's ASGI application: pages of the operator by exact path, dialects by prefix, everything else to one
    dialect.
    """

    dialect: ASGIApp
    metrics: ServerMetrics
    pages: Mapping[bytes, Page] = field(default_factory=dict)
    in_flight: int = IN_FLIGHT
    in_flight_each: int = IN_FLIGHT_EACH
    in_flight_by_client: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Requests that are being answered, by whose they are."""
    authenticate: Authenticate | None = None
    """None where requests are not authenticated."""
    internal: InternalEndpoint | None = None
    hosts: AllowedHosts = ANY_HOST
    mounted: Mapping[bytes, MountedDialect] = field(default_factory=dict)
    """Dialects by prefix: of that path, and of all below it. Make it with `by_prefix`."""
    as_text: Mapping[bytes, MountedDialect] = field(default_factory=dict)
    """Dialects of one path, for reads whose ``Accept`` names text and no JSON."""
    pages_as_text: Mapping[bytes, Page] = field(default_factory=dict)
    """Pages for such reads; they need no credentials."""
    people: MountedDialect | None = None
    """The pages for people; a browser that asks for the root is led to them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["type"] != "http":
            return
        connection = connection_of(scope)
        if connection is not None and not await connection.wait_until_read():
            self.metrics.gone += 1
            return  # nothing was done, and no client is there to read it
        answer = _Answer(send, identify_request(scope), connection)
        began = time.perf_counter()
        self.metrics.in_flight += 1
        try:
            await self._answer(scope, receive, answer)
        except asyncio.CancelledError:  # the client is gone, or the server stops and this took longer than it waits
            if connection is not None and connection.is_gone():
                self.metrics.gone += 1
                return
            if answer.status:
                raise  # the answer has begun: all that is left is to cut the connection
            await self._error_response(_stop_error(scope["method"]), scope)(scope, receive, answer)
        except Exception as failure:
            if connection is not None and connection.is_gone():
                self.metrics.gone += 1
                log.debug("a client went away before its answer was there", exc_info=failure)
                await _wait_for_disconnect(receive)
                return
            if answer.status:
                raise  # the answer has begun: all that is left is to cut the connection
            await self._error_response(failure, scope)(scope, receive, answer)
        finally:
            self.metrics.in_flight -= 1
            route = scope.get(ROUTE, OTHER)
            method = scope["method"] if scope["method"] in METHODS else OTHER
            seconds = time.perf_counter() - began
            self.metrics.count_answer(method, route, answer.status, seconds)
            if access_log.is_enabled():
                access_log.log_request(scope, route, answer.status, seconds, answer.headers)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        internal = self.internal
        if internal is not None and scope["raw_path"] == internal.path:
            scope[ROUTE] = internal.path.decode()
            await internal(scope, receive, send)
            return
        self.hosts.refuse_foreign(scope)
        page, is_open = self._find_page(scope)
        clients = self.metrics.in_flight - (internal.busy if internal is not None else 0)
        if page is None and clients > self.in_flight:
            raise Unavailable(f"more than {self.in_flight} requests are in flight (limit IN_FLIGHT); retry later")
        if self.authenticate is not None and not is_open:
            await self.authenticate(scope)
        if page is not None:
            scope[ROUTE] = scope["raw_path"].decode()
            if scope["method"] not in {"GET", "HEAD"}:
                raise HttpError(405, allow="GET, HEAD")
            response = await page(Headers(scope=scope).get("accept-encoding", ""))
            await response(scope, receive, send)
            return
        request_caller = caller() or RequestCaller()
        who = _client_of(request_caller, scope)
        if self.in_flight_by_client[who] >= self.in_flight_each:
            message = f"more than {self.in_flight_each} requests of one client are in flight (limit IN_FLIGHT_EACH)"
            raise HttpError(429, f"HTTP 429 Too Many Requests: {message}; retry later", retry_after="1")
        self.in_flight_by_client[who] += 1
        set_caller(replace(request_caller, client=who))
        try:
            application = self._find_mounted(scope) or self.dialect
            await application(scope, receive, send)
        finally:
            self.in_flight_by_client[who] -= 1
            if not self.in_flight_by_client[who]:
                del self.in_flight_by_client[who]

    def _find_page(self, scope: Scope) -> tuple[Page | None, bool]:
        """Return the page at a path, and whether it needs no credentials."""
        path: bytes = scope["raw_path"]
        if path in self.pages_as_text and _reads_text(scope):
            return self.pages_as_text[path], True
        return self.pages.get(path), False

    def _find_mounted(self, scope: Scope) -> MountedDialect | None:
        raw_path: bytes = scope["raw_path"]
        if raw_path in self.as_text and _reads_text(scope):
            return self.as_text[raw_path]
        if raw_path == b"/" and self.people is not None and _is_browser(scope):
            return self.people
        if not raw_path.startswith(tuple(self.mounted)):  # most requests: they are of the dialect without a prefix
            return None
        for prefix, dialect in self.mounted.items():
            if raw_path.startswith(prefix) and raw_path[len(prefix) : len(prefix) + 1] in {b"", b"/"}:
                return dialect
        return None

    def _error_response(self, failure: Exception, scope: Scope) -> Response:
        page, _ = self._find_page(scope)
        dialect = self._find_mounted(scope) if page is None else None
        if dialect is not None:
            return dialect.error_response(failure, scope)
        where = f"{scope['method']} {scope['raw_path'].decode()}"
        media = negotiate(", ".join(Headers(scope=scope).getlist("accept"))) or V1
        return error_response(failure, media=media, where=where)


def _reads_text(scope: Scope) -> bool:
    return scope["method"] in {"GET", "HEAD"} and wants_text(", ".join(Headers(scope=scope).getlist("accept")))


def _is_browser(scope: Scope) -> bool:
    """Return whether a read comes from a browser: each of them names XHTML, which no HTTP library does, Java's included."""
    return scope["method"] in {"GET", "HEAD"} and any(
        name == b"accept" and b"application/xhtml+xml" in value for name, value in scope["headers"]
    )


async def _wait_for_disconnect(receive: Receive) -> None:
    """Return when the server has noticed that a connection is closed, which takes it a turn of its loop."""
    async with asyncio.timeout(DISCONNECT_SECONDS):
        while (await receive())["type"] != "http.disconnect":
            pass


def _stop_error(method: str) -> HttpError:
    """Return the answer for a request that the stopping server interrupts; a change may have been written."""
    if method in {"GET", "HEAD", "OPTIONS"}:
        return HttpError(503, "HTTP 503 Service Unavailable: the server is stopping; use another node", retry_after="1")
    return HttpError(
        504,
        "HTTP 504 Gateway Timeout: the server is stopping; the change may have been written, retry it with the same command id",
    )


def _client_of(request_caller: RequestCaller, scope: Scope) -> str:
    """Return the client of a request for limits: its principal, else its address."""
    client = scope.get("client")
    principal = request_caller.principal
    return principal if principal not in {"", ANONYMOUS} else client[0] if client else ""


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})
"""Methods that are counted by name; others are counted together."""


@dataclass(slots=True)
class _Answer:
    """Wraps `send`: keeps status and headers, adds the request id, and refuses a large answer for which there is no room.

    So an answer begins with its first bytes.
    """

    send: Send
    request_id: bytes
    connection: RequestConnection | None = None
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
            return
        size = len(message.get("body", b""))
        is_large = size > LOOP_BYTES and self.connection is not None
        if is_large and self.connection is not None and not self.connection.make_room(size):
            raise Unavailable(
                "answers that clients have not read fill the memory for them (limit UNREAD_BYTES); retry later"
            )
        if self.start is not None:
            start, self.start = self.start, None
            self.status = start["status"]
            self.headers = start["headers"] = [*start["headers"], (REQUEST_ID, self.request_id)]
            await self.send(start)
        if size > LOOP_BYTES:
            message["body"] = memoryview(message["body"])  # asyncio copies the unsent rest of bytes once more
        await self.send(message)
        if is_large and self.connection is not None:
            self.connection.note_unread()
