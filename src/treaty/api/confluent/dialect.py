"""The dialect as an ASGI application: from a raw request to an endpoint, from its answer to a response."""

import asyncio
from dataclasses import dataclass, field
from functools import partial

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from treaty.api import compression
from treaty.api.bodies import announced_bytes
from treaty.api.confluent.paths import in_context
from treaty.api.confluent.query import PathNotFoundError, Query
from treaty.api.confluent.request_context import MultiStatus, NoContent, PlainText, RequestContext, SeeOther
from treaty.api.confluent.routes import ROUTES, Endpoint
from treaty.api.confluent.server import show_docs
from treaty.api.errors import NOT_ACCEPTABLE, HttpError, error_response
from treaty.api.request_scope import ROUTE, cache_permit_of
from treaty.api.router import decode_path
from treaty.core.registry import CALL, FRESH, AsyncRegistry
from treaty.node.large_work import run_by_size
from treaty.wire.confluent.errors import INCOMPATIBLE
from treaty.wire.confluent.headers import ALWAYS, DETAILS, POSITION, V1, call_of, negotiate, readable, wants_page

_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class ConfluentDialect:
    """Confluent's REST dialect over a registry."""

    registry: AsyncRegistry
    incompatible: int = INCOMPATIBLE
    """The error code of a schema that breaks the policy; clients of older servers know another one."""
    printing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a part of a list is printed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        http = HttpRequest(scope, receive)
        wanted = negotiate(", ".join(http.headers.getlist("accept")))
        media = wanted or V1
        details = http.headers.get(DETAILS, "").lower() == "true"
        exchange: RequestContext | None = None
        try:
            exchange, endpoint = await self._exchange(http, wanted, details=details)
            result = await endpoint(exchange)
            response = await run_by_size(exchange.size, partial(_response, exchange, result, media))
            accepted = http.headers.get("accept-encoding", "")
            await compression.compress_response(response, accepted)
        except PathNotFoundError as missing:
            response = error_response(HttpError(404, f"HTTP 404 Not Found: {missing}"), media=media)
        except Exception as failure:  # noqa: BLE001 (every failure has its answer)
            asked, where = exchange.asked if exchange else None, f"{http.method} {http.scope['raw_path'].decode()}"
            code = self.incompatible
            response = error_response(failure, asked, media=media, details=details, where=where, incompatible=code)
        else:
            ticket = cache_permit_of(scope)
            if exchange.hot and ticket is not None and exchange.call.consistency not in FRESH:
                variant = (media, details, compression.accepts_gzip(accepted))
                ticket.keep(variant, response.raw_headers, bytes(response.body))
        await response(scope, receive, send)

    async def _exchange(
        self, http: HttpRequest, wanted: str | None, *, details: bool
    ) -> tuple[RequestContext, Endpoint]:
        """Find the endpoint; raises `HttpError` where there is none, or where it doesn't take such a request.

        An error of the path is reported first, then those of the method, the body's type and the accepted types, as in
        Java servers.
        """
        try:
            segments = decode_path(http.scope["raw_path"])
        except UnicodeDecodeError:
            raise HttpError(400, "the path is not UTF-8") from None
        segments, query = in_context(segments, Query.of(http.scope["query_string"]))
        found = ROUTES.find(segments)
        if found is None:
            raise HttpError(404)
        method = "GET" if http.method == "HEAD" else http.method
        if method == "OPTIONS":
            return RequestContext(self.registry, http, found.values, query, CALL, details), _answer_methods(found.allow)
        if method not in found.methods:
            raise HttpError(405, allow=found.allow)
        path, endpoint = found.methods[method]
        http.scope[ROUTE] = path
        if method in {"POST", "PUT"} and not readable(http.headers.get("content-type", "")) and announced_bytes(http):
            raise HttpError(415)
        if path == "/" and method == "GET" and wants_page(http.headers.get("accept", "")):
            return RequestContext(self.registry, http, found.values, query, CALL, details), show_docs
        if wanted is None:
            raise HttpError(406, NOT_ACCEPTABLE)
        call = call_of(http.headers.get, query.get("consistency") or "")
        return RequestContext(self.registry, http, found.values, query, call, details, self.printing), endpoint


def _answer_methods(allow: str) -> Endpoint:
    async def answer(_x: RequestContext) -> object:
        return NoContent(allow)

    return answer


def _response(exchange: RequestContext, result: object, media: str) -> Response:
    headers = dict(ALWAYS)
    if exchange.token is not None:
        headers[POSITION] = str(exchange.token)
    if isinstance(result, NoContent):
        return Response(None, 204, headers | ({"allow": result.allow} if result.allow else {}))
    if isinstance(result, SeeOther):
        return Response(None, 303, headers | {"location": result.location, "vary": "accept"})
    if isinstance(result, PlainText):
        return Response(result.text.encode(), 200, headers, media)
    if isinstance(result, MultiStatus):
        return Response(_ENCODER.encode(result.body), 207, headers, media)
    return Response(_ENCODER.encode(result), 200, headers, media)
