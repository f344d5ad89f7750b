"""The native API as an ASGI application: any operation of the registry, at one path.

Authentication, limits, metrics and audit are done by the dispatcher and the registry, as for every dialect. Answers are
not cached.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from treaty.api import compression
from treaty.api.bodies import announced_bytes, read_json_body
from treaty.api.errors import NOT_ACCEPTABLE, HttpError, error_response
from treaty.api.request_scope import ROUTE, answer_size, ask_registry
from treaty.core.operations import operation_name
from treaty.core.registry import AsyncRegistry
from treaty.core.requests import Request
from treaty.node.large_work import run_by_size
from treaty.wire.confluent.errors import INCOMPATIBLE
from treaty.wire.confluent.headers import ALWAYS, POSITION, call_of, negotiate, readable
from treaty.wire.native import MEDIA, PATH, answer_bytes, request_from

_METHODS = "OPTIONS, POST"


@dataclass(frozen=True, slots=True)
class NativeDialect:
    """The native API over a registry, with the statuses of Confluent's dialect."""

    registry: AsyncRegistry
    incompatible: int = INCOMPATIBLE
    """The error code of an incompatible schema."""
    path: bytes = PATH.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        http = HttpRequest(scope, receive)
        scope[ROUTE] = PATH
        request: Request[Any] | None = None
        try:
            _refuse_unfit(http)
            if http.method == "OPTIONS":
                response = Response(None, 204, {**ALWAYS, "allow": _METHODS})
            else:
                call = call_of(http.headers.get)
                data = await read_json_body(http)
                request = await run_by_size(len(data), partial(request_from, data))
                scope[ROUTE] = f"{PATH}:{operation_name(request)}"
                reply = await ask_registry(scope, self.registry, request, call)
                headers = {**ALWAYS, POSITION: str(reply.token)}
                body = await run_by_size(answer_size(reply.answer), partial(answer_bytes, reply.answer))
                response = Response(body, 200, headers, MEDIA)
                await compression.compress_response(response, http.headers.get("accept-encoding", ""))
        except Exception as failure:  # noqa: BLE001 (every failure has its answer)
            where = f"{http.method} {scope[ROUTE]}"
            response = error_response(
                failure, request, media=MEDIA, where=where, incompatible=self.incompatible, exact=True
            )
        await response(scope, receive, send)


def _refuse_unfit(http: HttpRequest) -> None:
    """Raise `HttpError` for a method, a body's type or an answer's type that is not of this path."""
    if http.method not in {"POST", "OPTIONS"}:
        raise HttpError(405, allow=_METHODS)
    if not readable(http.headers.get("content-type", "")) and announced_bytes(http):
        raise HttpError(415)
    if negotiate(", ".join(http.headers.getlist("accept"))) is None:
        raise HttpError(406, NOT_ACCEPTABLE)
