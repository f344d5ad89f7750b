"""The dialect of schema-repo and AVRO-1124 as an ASGI application."""

from dataclasses import dataclass
from functools import partial

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from treaty.api import compression
from treaty.api.errors import HttpError, error_response
from treaty.api.request_scope import ROUTE
from treaty.api.router import decode_path
from treaty.api.schemarepo.request_context import SchemaRepoContext, refuse_other_body
from treaty.api.schemarepo.routes import ROUTES, TextRoute
from treaty.core.refusals import RegistryError
from treaty.core.registry import CALL, AsyncRegistry
from treaty.core.requests import Request
from treaty.node.large_work import run_by_size
from treaty.wire.confluent.headers import ALWAYS, POSITION, call_of
from treaty.wire.schemarepo.errors import print_error, report_error, report_status, status_of_error
from treaty.wire.schemarepo.texts import JSON, MODEL, TEXT, TEXT_MEDIA, choose_media

CONFIG = b"/config"
"""The path of the server's configuration, which is this dialect's only for reads of text."""


@dataclass(frozen=True, slots=True)
class SchemaRepoDialect:
    """The dialect over a registry. Answers are not cached."""

    registry: AsyncRegistry
    prefixes: tuple[bytes, ...] = (b"/schema-repo", b"/avro-1124")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        http = HttpRequest(scope, receive)
        exchange: SchemaRepoContext | None = None
        try:
            exchange, route = self._exchange(http)
            if route is None:
                response = Response(None, 204, {**ALWAYS, "allow": http.scope["treaty.allow"]})
            else:
                body = await route.endpoint(exchange)
                response = await run_by_size(exchange.size, partial(_response, exchange, body))
                await compression.compress_response(response, http.headers.get("accept-encoding", ""))
        except Exception as failure:  # noqa: BLE001 (every failure has its answer)
            response = _error_response(failure, http, exchange.asked if exchange is not None else None)
        await response(scope, receive, send)

    def error_response(self, failure: Exception, scope: Scope) -> Response:
        """Return the response for a failure outside of the dialect."""
        return _error_response(failure, HttpRequest(scope), None)

    def _exchange(self, http: HttpRequest) -> tuple[SchemaRepoContext, TextRoute | None]:
        """Find the endpoint, which is None for OPTIONS; raises `HttpError` where there is none, or where it does not take
        such a request.
        """
        try:
            segments = decode_path(http.scope["raw_path"])
        except UnicodeDecodeError:
            raise HttpError(400, "the path is not UTF-8") from None
        found = ROUTES.find(segments)
        if found is None:
            raise HttpError(404)
        method = "GET" if http.method == "HEAD" else http.method
        if method == "OPTIONS":
            http.scope["treaty.allow"] = found.allow
            return SchemaRepoContext(self.registry, http, found.values, CALL), None
        if method not in found.methods:
            raise HttpError(405, allow=found.allow)
        path, route = found.methods[method]
        http.scope[ROUTE] = path
        if route.sent:
            refuse_other_body(http, route.sent)
        media = choose_media(_accept(http), route.offered)
        if media is None:
            raise HttpError(406, f"HTTP 406 Not Acceptable: this answer is {' or '.join(route.offered)}")
        call = call_of(http.headers.get, http.query_params.get("consistency", ""))
        return SchemaRepoContext(self.registry, http, found.values, call, media), route


def _accept(http: HttpRequest) -> str:
    return ", ".join(http.headers.getlist("accept"))


def _response(exchange: SchemaRepoContext, body: str | bytes) -> Response:
    headers = {**ALWAYS, "vary": "accept"}
    if exchange.token is not None:
        headers[POSITION] = str(exchange.token)
    if exchange.ignored:
        headers[MODEL] = exchange.ignored
    media = JSON if exchange.media == JSON else TEXT_MEDIA
    return Response(body, 200, headers, media)


def _error_response(failure: Exception, http: HttpRequest, asked: Request[object] | None) -> Response:
    """Return the response for a failure, with the headers that it has in every dialect."""
    usual = error_response(failure, asked, where=f"{http.method} {http.scope['raw_path'].decode('latin-1')}")
    if isinstance(failure, RegistryError):
        status, report = status_of_error(failure, asked), report_error(failure)
    else:
        status = failure.status if isinstance(failure, HttpError) else 500
        message = str(failure) if isinstance(failure, HttpError) else "Internal Server Error"
        report = report_status(status, message)
    media = choose_media(_accept(http), (TEXT, JSON)) or TEXT
    response = Response(print_error(report, media), status, None, JSON if media == JSON else TEXT_MEDIA)
    own = {name for name, _ in response.raw_headers}
    response.raw_headers.extend((name, value) for name, value in usual.raw_headers if name not in own)
    return response
