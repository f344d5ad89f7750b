"""The outermost layer: who gets a request, how many are let in, what is counted, and what nobody foresaw."""

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

from treaty.api import access
from treaty.api.caller import REQUEST_ID, Caller, caller, enter, identified
from treaty.api.failures import HttpError, told
from treaty.api.metrics import OTHER, Metrics
from treaty.api.network.hosts import ANY_HOST, AllowedHosts
from treaty.api.ticket import ROUTE, connection_of
from treaty.core.access.rights import ANONYMOUS
from treaty.core.limits import IN_FLIGHT, IN_FLIGHT_EACH
from treaty.core.refusals import Unavailable
from treaty.core.registry import AsyncRegistry
from treaty.wire.confluent.headers import V1, negotiate

log = logging.getLogger("treaty.api")

DISCONNECT_SECONDS = 5.0
"""How long the server may take to notice that a connection is closed."""
Page = Callable[[str], Awaitable[Response]]
"""A page of the operator: it takes the ``Accept-Encoding`` of its request."""
Admit = Callable[[Scope], Awaitable[None]]
"""Finds out who asks; raises a refusal where they may not come in."""


class RunningNode(AsyncRegistry, Protocol):
    """What the HTTP side needs of a node besides the `AsyncRegistry`: to be told of changes, and facts to show."""

    def on_change(self, callback: Callable[[], None]) -> None:
        """Have `callback` called, in this event loop, whenever commits have been applied (before they are answered)."""
        ...

    @property
    def halted(self) -> str:
        """Why no change is written now; empty where changes are."""
        ...

    def status(self) -> object:
        """Facts for ``/status``: a dataclass or mapping that JSON can hold, with the log's identity and sequence."""
        ...


class Inner(Protocol):
    """A path that is not for clients: it finds out itself who comes, and counts those whom it answers."""

    path: bytes
    busy: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        ...


@dataclass(frozen=True, slots=True)
class Gate:
    """The server's ASGI application: pages of the operator and some dialects by exact path, everything else to a dialect."""

    dialect: ASGIApp
    metrics: Metrics
    exact: Mapping[bytes, ASGIApp] = field(default_factory=dict)
    """Dialects of one path, by it."""
    pages: Mapping[bytes, Page] = field(default_factory=dict)
    in_flight: int = IN_FLIGHT
    each: int = IN_FLIGHT_EACH
    crowd: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Requests that are being answered, by whose they are."""
    admit: Admit | None = None
    """None: everybody may come in, and nobody asks who they are."""
    inner: Inner | None = None
    hosts: AllowedHosts = ANY_HOST

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["type"] != "http":
            return
        connection = connection_of(scope)
        if connection is not None and not await connection.wait_until_read():
            self.metrics.gone += 1
            return  # nothing was done, and no client is there to read it
        answer = _Answer(send, identified(scope))
        began = time.perf_counter()
        self.metrics.in_flight += 1
        try:
            await self._answer(scope, receive, answer)
        except asyncio.CancelledError:  # the server stops, and this took longer than it waits
            if answer.status:
                raise  # the answer has begun: all that is left is to cut the connection
            await _told(_late(scope["method"]), scope)(scope, receive, answer)
        except Exception as failure:
            if connection is not None and connection.is_gone():
                self.metrics.gone += 1
                log.debug("a client went away before its answer was there", exc_info=failure)
                await _wait_for_disconnect(receive)
                return
            if answer.status:
                raise  # the answer has begun: all that is left is to cut the connection
            await _told(failure, scope)(scope, receive, answer)
        finally:
            self.metrics.in_flight -= 1
            route = scope.get(ROUTE, OTHER)
            method = scope["method"] if scope["method"] in METHODS else OTHER
            seconds = time.perf_counter() - began
            self.metrics.answered(method, route, answer.status, seconds)
            if access.wanted():
                access.line(scope, route, answer.status, seconds, answer.headers)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        inner = self.inner
        if inner is not None and scope["raw_path"] == inner.path:
            scope[ROUTE] = inner.path.decode()
            await inner(scope, receive, send)
            return
        self.hosts.refuse_foreign(scope)
        page = self.pages.get(scope["raw_path"])
        clients = self.metrics.in_flight - (inner.busy if inner is not None else 0)
        if page is None and clients > self.in_flight:
            raise Unavailable(f"more than {self.in_flight} requests are being answered (limit IN_FLIGHT); come again")
        if self.admit is not None:
            await self.admit(scope)
        if page is not None:
            scope[ROUTE] = scope["raw_path"].decode()
            if scope["method"] not in {"GET", "HEAD"}:
                raise HttpError(405, allow="GET, HEAD")
            response = await page(Headers(scope=scope).get("accept-encoding", ""))
            await response(scope, receive, send)
            return
        who = _whose(scope)
        if self.crowd[who] >= self.each:
            message = f"more than {self.each} requests of one client are being answered (limit IN_FLIGHT_EACH)"
            raise HttpError(429, f"HTTP 429 Too Many Requests: {message}; come again", retry_after="1")
        self.crowd[who] += 1
        enter(replace(caller() or Caller(), client=who))
        try:
            await self.exact.get(scope["raw_path"], self.dialect)(scope, receive, send)
        finally:
            self.crowd[who] -= 1
            if not self.crowd[who]:
                del self.crowd[who]


async def _wait_for_disconnect(receive: Receive) -> None:
    """Return when the server has noticed that a connection is closed, which takes it a turn of its loop."""
    async with asyncio.timeout(DISCONNECT_SECONDS):
        while (await receive())["type"] != "http.disconnect":
            pass


def _told(failure: Exception, scope: Scope) -> Response:
    where = f"{scope['method']} {scope['raw_path'].decode()}"
    return told(failure, media=negotiate(", ".join(Headers(scope=scope).getlist("accept"))) or V1, where=where)


def _late(method: str) -> HttpError:
    """What is told where the server stops before the answer is there: a change may have been written."""
    if method in {"GET", "HEAD", "OPTIONS"}:
        return HttpError(503, "HTTP 503 Service Unavailable: the server stops; ask another one", retry_after="1")
    return HttpError(
        504, "HTTP 504 Gateway Timeout: the server stops; a change may have been written, send it again as it was"
    )


def _whose(scope: Scope) -> str:
    """Whose request it is: the principal's where one is known, else the address's that it came from."""
    who, client = caller(), scope.get("client")
    return who.principal if who is not None and who.principal not in {"", ANONYMOUS} else client[0] if client else ""


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})
"""Methods that are counted by name; a client can't fill the metrics with words of its own."""


@dataclass(slots=True)
class _Answer:
    """`send`, remembering status and headers, and telling the request's id."""

    send: Send
    request_id: bytes
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = message["headers"] = [*message["headers"], (REQUEST_ID, self.request_id)]
        await self.send(message)
