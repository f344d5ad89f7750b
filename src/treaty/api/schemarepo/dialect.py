"""The APIs of schema-repo and of AVRO-1124: how a request is read, which type of content its answer has, and how errors are printed.
Answers are not cached.
"""

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from treaty.api.dialects.dialect import ErrorPage, HttpDialect, RequestHead
from treaty.api.errors import HttpError
from treaty.api.schemarepo.exchange import SchemaRepoExchange, refuse_other_body
from treaty.api.schemarepo.routes import ROUTES
from treaty.core.messages.request import Request
from treaty.core.refusals import RegistryError
from treaty.wire.confluent.headers import ALWAYS, POSITION
from treaty.wire.schemarepo.errors import print_error, report_error, report_status, status_of_error
from treaty.wire.schemarepo.texts import JSON, MODEL, TEXT, TEXT_MEDIA, choose_media

CONFIG = b"/config"
"""The path of the server's configuration, which is this dialect's only for reads of text."""


def _read_request(head: RequestHead) -> SchemaRepoExchange:
    operation = head.operation
    for media in operation.sent_as:
        refuse_other_body(head.http, media)
    offered = (operation.answer.media, *operation.answer.also)
    chosen = choose_media(_accept(head.http), offered)
    if chosen is None:
        raise HttpError(406, f"HTTP 406 Not Acceptable: this answer is {' or '.join(offered)}")
    return SchemaRepoExchange(head.open_registry(), head.http, head.values, chosen)


def _accept(http: HttpRequest) -> str:
    return ", ".join(http.headers.getlist("accept"))


def _print_answer(exchange: SchemaRepoExchange, body: str | bytes) -> Response:
    headers = {**ALWAYS, "vary": "accept"}
    if exchange.registry.token is not None:
        headers[POSITION] = str(exchange.registry.token)
    if exchange.ignored:
        headers[MODEL] = exchange.ignored
    return Response(body, 200, headers, _content_type(exchange.media))


def _print_error(failure: Exception, http: HttpRequest, request: Request[object] | None) -> ErrorPage:
    if isinstance(failure, RegistryError):
        status, report = status_of_error(failure, request), report_error(failure)
    else:
        assert isinstance(failure, HttpError), "a dialect has no other failures"
        status, report = failure.status, report_status(failure.status, str(failure))
    media = choose_media(_accept(http), (TEXT, JSON)) or TEXT
    return ErrorPage(status, print_error(report, media), _content_type(media))


def _content_type(media: str) -> str:
    return JSON if media == JSON else TEXT_MEDIA


SCHEMA_REPO = HttpDialect(ROUTES, _read_request, _print_answer, _print_error, prefixes=(b"/schema-repo", b"/avro-1124"))
