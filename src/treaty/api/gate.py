"""The outermost layer: who gets a request, how many are let in, what is counted, and what nobody foresaw."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treaty.api.caller import REQUEST_ID, request_id_of
from treaty.api.failures import HttpError, told
from treaty.api.metrics import OTHER, Metrics
from treaty.api.ticket import ROUTE
from treaty.core.limits import IN_FLIGHT
from treaty.core.refusals import Unavailable
from treaty.wire.confluent.headers import V1, negotiate

Page = Callable[[], Awaitable[Response]]
Admit = Callable[[Scope], Awaitable[None]]
"""Finds out who asks; raises a refusal where they may not come in."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The server's ASGI application: pages of the operator by exact path, everything else to a dialect."""

    dialect: ASGIApp
    metrics: Metrics
    pages: Mapping[bytes, Page] = field(default_factory=dict)
    in_flight: int = IN_FLIGHT
    admit: Admit | None = None
    """None: everybody may come in, and nobody asks who they are."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["type"] != "http":
            return
        answer = _Answer(send, request_id_of(scope))
        began = time.perf_counter()
        self.metrics.in_flight += 1
        try:
            await self._answer(scope, receive, answer)
        except Exception as failure:
            if answer.status:
                raise  # the answer has begun: all that is left is to cut the connection
            where = f"{scope['method']} {scope['raw_path'].decode()}"
            media = negotiate(Headers(scope=scope).get("accept", "")) or V1
            await told(failure, media=media, where=where)(scope, receive, answer)
        finally:
            self.metrics.in_flight -= 1
            route = scope.get(ROUTE, OTHER)
            method = scope["method"] if scope["method"] in METHODS else OTHER
            self.metrics.answered(method, route, answer.status, time.perf_counter() - began)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        page = self.pages.get(scope["raw_path"])
        if page is None and self.metrics.in_flight > self.in_flight:
            busy = Unavailable(f"more than {self.in_flight} requests are being answered; come again")
            await told(busy)(scope, receive, send)
            return
        if self.admit is not None:
            await self.admit(scope)
        if page is not None:
            scope[ROUTE] = scope["raw_path"].decode()
            response = await page() if scope["method"] in {"GET", "HEAD"} else told(HttpError(405, allow="GET, HEAD"))
            await response(scope, receive, send)
        else:
            await self.dialect(scope, receive, send)


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})
"""Methods that are counted by name; a client can't fill the metrics with words of its own."""


@dataclass(slots=True)
class _Answer:
    """`send`, remembering the status and echoing the request's id."""

    send: Send
    request_id: bytes
    status: int = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if self.request_id:
                message["headers"] = [*message["headers"], (REQUEST_ID, self.request_id)]
        await self.send(message)
