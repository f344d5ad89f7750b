"""The native API: any operation of the registry, at one path.

Authentication, limits, metrics and audit are done by the dispatcher and the registry, as for every dialect. Answers are
not cached.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from msgspec import Struct
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from treaty.api.bodies import announced_bytes, read_json_body
from treaty.api.dialects.description import ApiAnswer, ApiOperation, Table
from treaty.api.dialects.dialect import ErrorPage, HttpDialect, RequestHead
from treaty.api.dialects.request_registry import RequestRegistry
from treaty.api.dialects.router import build_routes
from treaty.api.errors import NOT_ACCEPTABLE, HttpError, print_failure
from treaty.api.request_scope import ROUTE
from treaty.core.operations import NAMED_OPERATIONS, operation_name
from treaty.core.requests import Request
from treaty.node.large_work import run_by_size
from treaty.wire.confluent import errors
from treaty.wire.confluent.errors import INCOMPATIBLE
from treaty.wire.confluent.headers import ALWAYS, POSITION, negotiate, readable
from treaty.wire.native import MEDIA, PATH, answer_bytes, request_from


@dataclass(slots=True)
class NativeExchange:
    """One request of the native API."""

    registry: RequestRegistry
    http: HttpRequest


async def ask(x: NativeExchange) -> object:
    """Any operation of the registry, by name, and its whole answer. The reference of operations lists the members of
    requests and answers. `request` may be left out if none of its members is required. An error also has the member `error`,
    which contains all its facts.
    """
    data = await read_json_body(x.http)
    request = await run_by_size(len(data), partial(request_from, data))
    x.http.scope[ROUTE] = f"{PATH}:{operation_name(request)}"
    answer: object = await x.registry.ask(request)
    return answer


class AskBody(Struct, forbid_unknown_fields=True):
    """An operation and its request."""

    operation: Literal[tuple(sorted(NAMED_OPERATIONS))]  # type: ignore[valid-type]  # the words of a table
    request: dict[str, Any] = {}


class AnswerBody(Struct):
    """What an operation answers."""

    answer: dict[str, Any]


TABLE: Table = {
    PATH: {
        "POST": ApiOperation(
            ask,
            "server",
            ApiAnswer("The answer", AnswerBody, example={"answer": {"mode": "READWRITE"}}, media=MEDIA),
            sent=AskBody,
            sent_example={"operation": "get-mode", "request": {"scope": {"name": "orders-value"}, "resolve": True}},
            errors=tuple(sorted({line.code for line in errors.TABLE})),
            writes=True,
        )
    }
}


def make_native_dialect(incompatible: int = INCOMPATIBLE) -> HttpDialect[NativeExchange]:
    """Make the dialect, with the statuses of Confluent's; `incompatible` is the error code of an incompatible schema."""

    def print_error(failure: Exception, _http: HttpRequest, request: Request[object] | None) -> ErrorPage:
        return ErrorPage(*print_failure(failure, request, incompatible=incompatible, exact=True), MEDIA)

    return HttpDialect(build_routes(TABLE), _read_request, _print_answer, print_error, prefixes=(PATH.encode(),))


def _read_request(head: RequestHead) -> NativeExchange:
    http = head.http
    if not readable(http.headers.get("content-type", "")) and announced_bytes(http):
        raise HttpError(415)
    if negotiate(", ".join(http.headers.getlist("accept"))) is None:
        raise HttpError(406, NOT_ACCEPTABLE)
    return NativeExchange(head.open_registry(), http)


def _print_answer(exchange: NativeExchange, answer: Any) -> Response:
    return Response(answer_bytes(answer), 200, {**ALWAYS, POSITION: str(exchange.registry.token)}, MEDIA)
