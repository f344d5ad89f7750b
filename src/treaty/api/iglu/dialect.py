"""The dialect as an ASGI application: from a raw request to an endpoint, from its answer to a response."""

import json
import logging
import math
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from treaty.api import compression
from treaty.api.errors import HttpError
from treaty.api.iglu.exchange import JSON_MEDIA, IgluAnswer, IgluExchange, ValidateCall
from treaty.api.iglu.routes import IgluEndpoint, find_route
from treaty.api.request_scope import ROUTE
from treaty.core.refusals import OutcomeUnknown, RegistryError, Unauthenticated, Unavailable
from treaty.core.registry import CALL, AsyncRegistry
from treaty.wire.confluent.headers import ALWAYS, COMMAND, POSITION, call_of
from treaty.wire.iglu.api_keys import PATH, read_api_key
from treaty.wire.iglu.documents import IgluBodyError, IgluSettings
from treaty.wire.iglu.errors import error_body, status_of

log = logging.getLogger("treaty.api")


@dataclass(frozen=True, slots=True)
class IgluDialect:
    """The routes of Iglu Server over a registry. Answers are not cached: a write is seen by all nodes at once."""

    registry: AsyncRegistry
    settings: IgluSettings
    validate: ValidateCall
    prefixes: tuple[bytes, ...] = (PATH,)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        http = HttpRequest(scope, receive)
        exchange: IgluExchange | None = None
        try:
            read_api_key(scope["headers"])
            exchange, endpoint = self._exchange(http)
            response = _response(exchange, await endpoint(exchange))
            await compression.compress_response(response, http.headers.get("accept-encoding", ""))
        except Exception as failure:  # noqa: BLE001 (every failure has its answer)
            response = self.error_response(failure, scope)
        await response(scope, receive, send)

    def _exchange(self, http: HttpRequest) -> tuple[IgluExchange, IgluEndpoint]:
        """Find the endpoint; raises `HttpError` where there is none, or where it doesn't take such a request."""
        found = find_route(http.scope["raw_path"])
        members = parse_qsl(http.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        query = dict(reversed(members))
        method = "GET" if http.method == "HEAD" else http.method
        if method == "OPTIONS":
            allow = found.allow

            async def answer_methods(_x: IgluExchange) -> IgluAnswer:
                return IgluAnswer(b"", 204, allow=allow)

            return IgluExchange(
                self.registry, self.settings, self.validate, http, found.values, query, CALL
            ), answer_methods
        if method not in found.methods:
            raise HttpError(405, allow=found.allow)
        path, endpoint = found.methods[method]
        http.scope[ROUTE] = path
        call = call_of(http.headers.get, query.get("consistency", ""))
        return IgluExchange(self.registry, self.settings, self.validate, http, found.values, query, call), endpoint

    def error_response(self, failure: Exception, scope: Scope) -> Response:
        """Return the response for a failure, in this dialect or before it."""
        headers = dict(ALWAYS)
        if isinstance(failure, HttpError):
            body, status = {"message": str(failure)}, failure.status
            headers |= failure.headers
        elif isinstance(failure, IgluBodyError):
            body, status = {"message": str(failure), **failure.members}, failure.status
        elif isinstance(failure, RegistryError):
            body, status = error_body(failure), status_of(failure)
            if isinstance(failure, Unavailable):
                headers["retry-after"] = str(max(1, math.ceil(failure.retry_after)))
            if isinstance(failure, OutcomeUnknown):
                headers[COMMAND] = failure.command_id
        else:
            where = f"{scope['method']} {scope['raw_path'].decode()}"
            log.error("unhandled exception in %s", where[:200], exc_info=failure)
            body, status = {"message": "Internal Server Error"}, 500
        response = Response(
            json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace"), status, headers, JSON_MEDIA
        )
        if isinstance(failure, Unauthenticated):
            response.raw_headers.extend((b"www-authenticate", one.encode()) for one in failure.challenges)
        return response


def _response(exchange: IgluExchange, answer: IgluAnswer) -> Response:
    headers = dict(ALWAYS)
    if exchange.token is not None:
        headers[POSITION] = str(exchange.token)
    if answer.allow:
        return Response(None, answer.status, {**headers, "allow": answer.allow})
    return Response(answer.data, answer.status, headers, answer.media)
