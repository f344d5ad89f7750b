"""The dialect as an ASGI application: from a raw request to an endpoint, from its answer to a response."""

from dataclasses import dataclass

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from treaty.api import compression
from treaty.api.bodies import announced
from treaty.api.confluent.exchange import Exchange, Nothing, Partial, Text
from treaty.api.confluent.paths import in_context
from treaty.api.confluent.query import NoSuchPath, Query
from treaty.api.confluent.routes import ROUTES, Endpoint
from treaty.api.failures import HttpError, told
from treaty.api.routing import decode
from treaty.api.ticket import ROUTE, ticket_of
from treaty.core.registry import CALL, FRESH, AsyncRegistry
from treaty.wire.confluent.errors import INCOMPATIBLE
from treaty.wire.confluent.headers import ALWAYS, DETAILS, POSITION, V1, call_of, negotiate, readable

_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Dialect:
    """Confluent's REST dialect over a registry."""

    registry: AsyncRegistry
    incompatible: int = INCOMPATIBLE
    """The error code of a schema that breaks the policy; clients of older servers know another one."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        http = HttpRequest(scope, receive)
        wanted = negotiate(", ".join(http.headers.getlist("accept")))
        media = wanted or V1
        details = http.headers.get(DETAILS, "").lower() == "true"
        exchange: Exchange | None = None
        try:
            exchange, endpoint = await self._exchange(http, wanted, details=details)
            result = await endpoint(exchange)
            response = _response(exchange, result, media)
            accepted = http.headers.get("accept-encoding", "")
            await compression.fit(response, accepted)
        except NoSuchPath:
            response = told(HttpError(404), media=media)
        except Exception as failure:  # noqa: BLE001 (every failure has its answer)
            asked, where = exchange.asked if exchange else None, f"{http.method} {http.scope['raw_path'].decode()}"
            code = self.incompatible
            response = told(failure, asked, media=media, details=details, where=where, incompatible=code)
        else:
            ticket = ticket_of(scope)
            if exchange.hot and ticket is not None and exchange.call.consistency not in FRESH:
                variant = (media, details, compression.wanted(accepted))
                ticket.keep(variant, response.raw_headers, bytes(response.body))
        await response(scope, receive, send)

    async def _exchange(self, http: HttpRequest, wanted: str | None, *, details: bool) -> tuple[Exchange, Endpoint]:
        """Find the endpoint; raises `HttpError` where there is none, or where it doesn't take such a request.

        What is wrong with the path is told first, then the method, the body's type and the answer's, as servers of Java do.
        """
        try:
            segments = decode(http.scope["raw_path"])
        except UnicodeDecodeError:
            raise HttpError(400, "the path is not UTF-8") from None
        segments, query = in_context(segments, Query.of(http.scope["query_string"]))
        found = ROUTES.find(segments)
        if found is None:
            raise HttpError(404)
        method = "GET" if http.method == "HEAD" else http.method
        if method == "OPTIONS":
            return Exchange(self.registry, http, found.values, query, CALL, details), _telling(found.allow)
        if method not in found.methods:
            raise HttpError(405, allow=found.allow)
        path, endpoint = found.methods[method]
        http.scope[ROUTE] = path
        if method in {"POST", "PUT"} and not readable(http.headers.get("content-type", "")) and announced(http):
            raise HttpError(415)
        if wanted is None:
            raise HttpError(406)
        call = call_of(http.headers.get, query.get("consistency") or "")
        return Exchange(self.registry, http, found.values, query, call, details), endpoint


def _telling(allow: str) -> Endpoint:
    async def tell(_x: Exchange) -> object:
        return Nothing(allow)

    return tell


def _response(exchange: Exchange, result: object, media: str) -> Response:
    headers = dict(ALWAYS)
    if exchange.token is not None:
        headers[POSITION] = str(exchange.token)
    if isinstance(result, Nothing):
        return Response(None, 204, headers | ({"allow": result.allow} if result.allow else {}))
    if isinstance(result, Text):
        return Response(result.text.encode(), 200, headers, media)
    if isinstance(result, Partial):
        return Response(_ENCODER.encode(result.body), 207, headers, media)
    return Response(_ENCODER.encode(result), 200, headers, media)
