"""The API of Pravega's schema registry: how a request is read, and how answers and errors are printed."""

from http import HTTPStatus

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from treaty.api.dialects.dialect import ErrorPage, HttpDialect, RequestHead, refuse_other_than_json
from treaty.api.errors import HttpError
from treaty.api.pravega.exchange import PravegaAnswer, PravegaExchange
from treaty.api.pravega.routes import ROUTES, in_namespace
from treaty.core.messages.request import Request
from treaty.core.refusals import RegistryError
from treaty.wire.confluent.headers import ALWAYS, DETAILS, POSITION
from treaty.wire.pravega.bodies import PravegaErrorBody
from treaty.wire.pravega.errors import error_body, status_of

MEDIA = "application/json"


def _read_request(head: RequestHead) -> PravegaExchange:
    """Answers are JSON whatever a request accepts, because clients in Java send their default, which names HTML first."""
    refuse_other_than_json(head)
    namespace, details = head.query.get("namespace", ""), head.http.headers.get(DETAILS, "").lower() == "true"
    return PravegaExchange(head.open_registry(), head.http, head.values, namespace, head.query, details)


def _print_answer(exchange: PravegaExchange, answer: PravegaAnswer) -> Response:
    headers = dict(ALWAYS)
    if exchange.registry.token is not None:
        headers[POSITION] = str(exchange.registry.token)
    if answer.body is None:
        return Response(None, answer.status, headers)
    return Response(msgspec.json.encode(answer.body), answer.status, headers, MEDIA)


def _print_error(failure: Exception, _http: HttpRequest, request: Request[object] | None) -> ErrorPage:
    if isinstance(failure, RegistryError):
        status, body = status_of(failure, request), error_body(failure)
    else:
        assert isinstance(failure, HttpError), "a dialect has no other failures"
        status, body = failure.status, PravegaErrorBody(_code(failure.status), str(failure))
    return ErrorPage(status, msgspec.json.encode(body), MEDIA)


def _code(status: int) -> str:
    """Return the code of an error of HTTP itself: its phrase in small letters."""
    return HTTPStatus(status).phrase.lower().replace(" ", "-")


PRAVEGA = HttpDialect(
    ROUTES,
    _read_request,
    _print_answer,
    _print_error,
    prefixes=(b"/v1/groups", b"/v1/schemas", b"/v1/namespace"),
    locate=in_namespace,
)
