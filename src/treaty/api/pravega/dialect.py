"""The dialect as an ASGI application: from a raw request to an endpoint, from its answer to a response."""

import logging
import math
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from treaty.api import compression
from treaty.api.bodies import announced_bytes
from treaty.api.errors import HttpError
from treaty.api.pravega.exchange import PravegaAnswer, PravegaExchange
from treaty.api.pravega.routes import ROUTES, Endpoint, in_namespace
from treaty.api.request_scope import ROUTE
from treaty.api.router import decode_path
from treaty.core.refusals import OutcomeUnknown, RegistryError, Unauthenticated, Unavailable
from treaty.core.registry import CALL, AsyncRegistry
from treaty.core.requests import Request
from treaty.node.large_work import run_by_size
from treaty.wire.confluent.headers import ALWAYS, COMMAND, DETAILS, POSITION, call_of, readable
from treaty.wire.pravega.bodies import PravegaErrorBody
from treaty.wire.pravega.errors import error_body, status_of

log = logging.getLogger("treaty.api")

MEDIA = "application/json"
PREFIXES = (b"/v1/groups", b"/v1/schemas", b"/v1/namespace")


@dataclass(frozen=True, slots=True)
class PravegaDialect:
    """The routes of Pravega's schema registry over a registry."""

    registry: AsyncRegistry
    prefixes: tuple[bytes, ...] = PREFIXES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        http = HttpRequest(scope, receive)
        exchange: PravegaExchange | None = None
        try:
            exchange, endpoint = self._exchange(http)
            answer = await endpoint(exchange)
            response = await run_by_size(exchange.size, partial(_response, exchange, answer))
            await compression.compress_response(response, http.headers.get("accept-encoding", ""))
        except Exception as failure:  # noqa: BLE001 (every failure has its answer)
            response = self.error_response(failure, scope, exchange.asked if exchange else None)
        await response(scope, receive, send)

    def _exchange(self, http: HttpRequest) -> tuple[PravegaExchange, Endpoint]:
        """Find the endpoint; raises `HttpError` where there is none, or where it doesn't take such a request.

        Answers are JSON whatever a request accepts, because clients in Java send their default, which names HTML first.
        """
        try:
            segments, query = in_namespace(decode_path(http.scope["raw_path"]), http.scope["query_string"])
        except UnicodeDecodeError:
            raise HttpError(400, "the path is not UTF-8") from None
        found = ROUTES.find(segments)
        if found is None:
            raise HttpError(404)
        namespace = query.get("namespace", "")
        method = "GET" if http.method == "HEAD" else http.method
        if method == "OPTIONS":
            allow = found.allow

            async def answer_methods(_x: PravegaExchange) -> PravegaAnswer:
                return PravegaAnswer(204, allow=allow)

            return PravegaExchange(self.registry, http, namespace, found.values, query, CALL), answer_methods
        if method not in found.methods:
            raise HttpError(405, allow=found.allow)
        path, endpoint = found.methods[method]
        http.scope[ROUTE] = path
        if method in {"POST", "PUT"} and not readable(http.headers.get("content-type", "")) and announced_bytes(http):
            raise HttpError(415)
        call = call_of(http.headers.get, query.get("consistency", ""))
        details = http.headers.get(DETAILS, "").lower() == "true"
        return PravegaExchange(self.registry, http, namespace, found.values, query, call, details), endpoint

    def error_response(self, failure: Exception, scope: Scope, asked: Request[object] | None = None) -> Response:
        """Return the response for a failure, in this dialect or before it."""
        headers = dict(ALWAYS)
        if isinstance(failure, HttpError):
            body, status = PravegaErrorBody(_code(failure.status), str(failure)), failure.status
            headers |= failure.headers
        elif isinstance(failure, RegistryError):
            body, status = error_body(failure), status_of(failure, asked)
            if isinstance(failure, Unavailable):
                headers["retry-after"] = str(max(1, math.ceil(failure.retry_after)))
            if isinstance(failure, OutcomeUnknown):
                headers[COMMAND] = failure.command_id
        else:
            where = f"{scope['method']} {scope['raw_path'].decode()}"
            log.error("unhandled exception in %s", where[:200], exc_info=failure)
            body, status = PravegaErrorBody(_code(500), "Internal Server Error"), 500
        response = Response(msgspec.json.encode(body), status, headers, MEDIA)
        if isinstance(failure, Unauthenticated):
            response.raw_headers.extend((b"www-authenticate", one.encode()) for one in failure.challenges)
        return response


def _code(status: int) -> str:
    """Return the code of an error of HTTP itself: its phrase in small letters."""
    return HTTPStatus(status).phrase.lower().replace(" ", "-")


def _response(exchange: PravegaExchange, answer: PravegaAnswer) -> Response:
    headers = dict(ALWAYS)
    if exchange.token is not None:
        headers[POSITION] = str(exchange.token)
    if answer.allow:
        headers["allow"] = answer.allow
    if answer.body is None:
        return Response(None, answer.status, headers)
    return Response(msgspec.json.encode(answer.body), answer.status, headers, MEDIA)
