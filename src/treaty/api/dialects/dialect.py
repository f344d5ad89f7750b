"""A dialect: one HTTP API over the registry, as a record of functions; and the application that runs each of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from treaty.api.bodies import announced_bytes, compress_response
from treaty.api.dialects.description import ApiOperation
from treaty.api.dialects.router import RouteTable, decode_path, first_members
from treaty.api.errors import HttpError, add_challenges, as_known, failure_headers
from treaty.api.request_scope import ROUTE, answer_size, ask_registry
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import PublishedDeleted
from treaty.core.messages.versions import DeletedVersions, VersionFound
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Reply
from treaty.core.state.commit import PositionToken
from treaty.node.large_work import run_by_size
from treaty.wire.confluent.headers import ALWAYS, WARNING, call_of, is_readable, print_warning

A = TypeVar("A")


@dataclass(slots=True)
class RequestRegistry:
    """The registry with the options of a request. `question` and `token` are of the last question, for errors and headers."""

    shared: AsyncRegistry
    """The registry of all requests."""
    scope: Scope
    call: CallOptions
    question: Request[object] | None = None
    token: PositionToken | None = None
    size: int = 0
    """Characters and bytes of the schemas in the last answer."""
    warnings: tuple[str, ...] = ()
    """Names of the sources that a soft deletion warns of."""

    async def ask(self, request: Request[A], call: CallOptions | None = None) -> A:
        """Ask the registry, with the options of the request or with others. Raises the registry's refusals."""
        self.question = request
        reply = await ask_registry(self.scope, self.shared, request, call or self.call)
        self.token, self.size = reply.token, answer_size(reply.answer)
        if isinstance(reply.answer, DeletedVersions | VersionFound | PublishedDeleted) and reply.answer.warnings:
            self.warnings = reply.answer.warnings
        return reply.answer


@dataclass(frozen=True, slots=True)
class SharedRegistry:
    """The registry of a request as statements of the metastore ask it."""

    registry: RequestRegistry

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Ask the registry. Raises its refusals."""
        answer = await self.registry.ask(request, call)
        token = self.registry.token
        assert token is not None, "an answer has a token"
        return Reply(answer, token)

    async def close(self) -> None:
        """Close nothing: the registry is everybody's."""


# ------------------------------------------------------------------------------------------------------------ a dialect


class DialectExchange(Protocol):
    """One request and its answer, as endpoints of a dialect see them."""

    registry: RequestRegistry


X = TypeVar("X", bound=DialectExchange)


@dataclass(frozen=True, slots=True)
class RequestHead:
    """A request whose route was found."""

    registry: AsyncRegistry
    http: HttpRequest
    segments: tuple[str, ...]
    """The path, decoded."""
    query: Any
    """The members of the query, in the form of the dialect."""
    values: tuple[str, ...]
    """Open segments of the path, decoded."""
    operation: ApiOperation
    method: str
    """``GET`` for ``HEAD`` too."""

    def open_registry(self) -> RequestRegistry:
        """Return the registry with the options in headers and query. Raises `Invalid` where one of these is not valid."""
        call = call_of(self.http.headers.get, self.query.get("consistency") or "")
        return RequestRegistry(self.registry, self.http.scope, call)


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """The answer for a failure: status, body and media type."""

    status: int
    body: bytes
    media: str


def locate_plainly(segments: tuple[str, ...], query_string: bytes) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the path as it is, and the members of the query."""
    return segments, first_members(query_string)


def _keep_nothing(_exchange: Any, _response: Response) -> None:
    """The answers of most dialects are not cached."""


@dataclass(frozen=True, slots=True)
class HttpDialect(Generic[X]):
    """What one HTTP API has of its own; everything else is `DialectApplication`'s.

    `read_request` makes the exchange of a request, or raises `HttpError` where its route does not take it.
    `print_answer` prints what an endpoint returned, `print_error` a failure, with what the registry was asked. Their failures are `HttpError`, refusals of the registry, and `failures`.
    """

    routes: RouteTable[ApiOperation]
    read_request: Callable[[RequestHead], X]
    print_answer: Callable[[X, Any], Response]
    print_error: Callable[[Exception, HttpRequest, Request[object] | None], ErrorPage]
    prefixes: tuple[bytes, ...] = ()
    """Raw paths without a slash at the end: these paths, and all below them, are the dialect's."""
    locate: Callable[[tuple[str, ...], bytes], tuple[tuple[str, ...], Any]] = locate_plainly
    """Take a path and a raw query to the path in the table, and the members of the query."""
    missing: str = ""
    """The message for a path that is not in the table."""
    failures: tuple[type[Exception], ...] = ()
    keep_answer: Callable[[X, Response], None] = _keep_nothing
    """Keep an answer for requests with the same bytes."""


@dataclass(frozen=True, slots=True)
class DialectApplication(Generic[X]):
    """A dialect over a registry, as an ASGI application: from a raw request to its endpoint, and back."""

    dialect: HttpDialect[X]
    registry: AsyncRegistry

    @property
    def prefixes(self) -> tuple[bytes, ...]:
        """The dialect's part of the paths."""
        return self.dialect.prefixes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        http, exchange = HttpRequest(scope, receive), None
        try:
            head = self._find(http)
            if isinstance(head, Response):
                response = head
            else:
                exchange = self.dialect.read_request(head)
                endpoint = head.operation.endpoint
                assert endpoint is not None, "routes of dialects have endpoints"
                answer = await endpoint(exchange)
                response = await run_by_size(
                    exchange.registry.size, partial(self.dialect.print_answer, exchange, answer)
                )
                if exchange.registry.warnings:
                    response.headers[WARNING] = print_warning(exchange.registry.warnings)
                await compress_response(response, http.headers.get("accept-encoding", ""))
                self.dialect.keep_answer(exchange, response)
        except Exception as failure:  # noqa: BLE001 (every failure has its answer)
            response = self._error_response(failure, http, exchange)
        await response(scope, receive, send)

    def error_response(self, failure: Exception, scope: Scope) -> Response:
        """Return the response for a failure outside of the dialect, such as missing credentials or a full server."""
        return self._error_response(failure, HttpRequest(scope), None)

    def _find(self, http: HttpRequest) -> RequestHead | Response:
        """Find the route; for OPTIONS the answer is here. Raises `HttpError` where there is none.

        An error of the path is reported first, then those of the method, then what `read_request` finds.
        """
        try:
            segments = decode_path(http.scope["raw_path"])
        except UnicodeDecodeError:
            raise HttpError(400, "the path is not UTF-8") from None
        segments, query = self.dialect.locate(segments, http.scope["query_string"])
        match = self.dialect.routes.find(segments)
        if match is None:
            raise HttpError(404, self.dialect.missing)
        method = "GET" if http.method == "HEAD" else http.method
        if method == "OPTIONS":
            return Response(None, 204, {**ALWAYS, "allow": match.allow})
        if method not in match.methods:
            raise HttpError(405, allow=match.allow)
        path, operation = match.methods[method]
        http.scope[ROUTE] = path
        return RequestHead(self.registry, http, segments, query, match.values, operation, method)

    def _error_response(self, failure: Exception, http: HttpRequest, exchange: X | None) -> Response:
        answerable = as_known(
            failure, f"{http.method} {http.scope['raw_path'].decode('latin-1')}", *self.dialect.failures
        )
        page = self.dialect.print_error(answerable, http, None if exchange is None else exchange.registry.question)
        return add_challenges(Response(page.body, page.status, failure_headers(answerable), page.media), answerable)


def refuse_other_than_json(head: RequestHead) -> None:
    """Raise `HttpError` 415 for a body of another type than JSON."""
    http = head.http
    if (
        head.method in {"POST", "PUT"}
        and not is_readable(http.headers.get("content-type", ""))
        and announced_bytes(http)
    ):
        raise HttpError(415)
