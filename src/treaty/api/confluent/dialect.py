"""Confluent's REST dialect: where a request leads, which media type its answer has and whether it has Treaty's details, which answers
the response cache may keep, and how answers are printed.
"""

import asyncio
from typing import Any

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from treaty.api.bodies import accepts_gzip
from treaty.api.confluent.context_paths import in_context
from treaty.api.confluent.exchange import ConfluentExchange, MultiStatus, NoContent, PlainText, SeeOther
from treaty.api.confluent.query import Query
from treaty.api.confluent.routes import ROUTES
from treaty.api.dialects.dialect import ErrorPage, HttpDialect, RequestHead, refuse_other_than_json
from treaty.api.errors import NOT_ACCEPTABLE, HttpError, print_failure
from treaty.api.request_scope import cache_permit_of
from treaty.core.messages.request import Request
from treaty.core.registry import FRESH
from treaty.wire.confluent.errors import INCOMPATIBLE
from treaty.wire.confluent.headers import ALWAYS, DETAILS, POSITION, V1, negotiate, wants_page

_ENCODER = msgspec.json.Encoder()


def make_confluent_dialect(incompatible: int = INCOMPATIBLE) -> HttpDialect[ConfluentExchange]:
    """Make the dialect. `incompatible` is the error code of a schema that breaks the policy; clients of older servers know
    another one.
    """
    printing = asyncio.Lock()

    def read_request(head: RequestHead) -> ConfluentExchange:
        refuse_other_than_json(head)
        http, media = head.http, _negotiate(head.http)
        if media is None and not (head.segments == () and wants_page(http.headers.get("accept", ""))):
            raise HttpError(406, NOT_ACCEPTABLE)
        return ConfluentExchange(
            head.open_registry(), http, head.values, head.query, media or V1, _wants_details(http), printing
        )

    def print_error(failure: Exception, http: HttpRequest, request: Request[object] | None) -> ErrorPage:
        status, body = print_failure(failure, request, details=_wants_details(http), incompatible=incompatible)
        return ErrorPage(status, body, _negotiate(http) or V1)

    return HttpDialect(ROUTES, read_request, _print_answer, print_error, locate=_locate, keep_answer=_keep_answer)


def _locate(segments: tuple[str, ...], query_string: bytes) -> tuple[tuple[str, ...], Query]:
    return in_context(segments, Query.of(query_string))


def _negotiate(http: HttpRequest) -> str | None:
    return negotiate(", ".join(http.headers.getlist("accept")))


def _wants_details(http: HttpRequest) -> bool:
    return http.headers.get(DETAILS, "").lower() == "true"


def _keep_answer(exchange: ConfluentExchange, response: Response) -> None:
    permit = cache_permit_of(exchange.http.scope)
    if exchange.hot and permit is not None and exchange.registry.call.consistency not in FRESH:
        is_packed = accepts_gzip(exchange.http.headers.get("accept-encoding", ""))
        permit.keep((exchange.media, exchange.details, is_packed), response.raw_headers, bytes(response.body))


def _print_answer(exchange: ConfluentExchange, answer: Any) -> Response:
    headers = dict(ALWAYS)
    if exchange.registry.token is not None:
        headers[POSITION] = str(exchange.registry.token)
    if isinstance(answer, NoContent):
        return Response(None, 204, headers)
    if isinstance(answer, SeeOther):
        return Response(None, 303, headers | {"location": answer.location, "vary": "accept"})
    if isinstance(answer, PlainText):
        return Response(answer.text.encode(), 200, headers, exchange.media)
    if isinstance(answer, MultiStatus):
        return Response(_ENCODER.encode(answer.body), 207, headers, exchange.media)
    return Response(_ENCODER.encode(answer), 200, headers, exchange.media)
