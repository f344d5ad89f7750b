"""The API of Iglu Server: how answers and errors are printed. Answers are not cached: a write is seen by all nodes at once."""

import json

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from treaty.api.dialects.dialect import ErrorPage, HttpDialect, RequestHead
from treaty.api.errors import HttpError
from treaty.api.iglu.exchange import JSON_MEDIA, IgluAnswer, IgluExchange, ValidateCall
from treaty.api.iglu.routes import ROUTES
from treaty.core.messages.request import Request
from treaty.core.refusals import RegistryError
from treaty.wire.confluent.headers import ALWAYS, POSITION
from treaty.wire.iglu.api_keys import PATH, read_api_key
from treaty.wire.iglu.documents import IgluBodyError, IgluSettings
from treaty.wire.iglu.errors import NO_ENDPOINT, error_body, status_of


def make_iglu_dialect(settings: IgluSettings, validate: ValidateCall) -> HttpDialect[IgluExchange]:
    """Make the dialect; `validate` validates a value where no other request waits for it."""

    def read_request(head: RequestHead) -> IgluExchange:
        read_api_key(head.http.scope["headers"])
        return IgluExchange(head.open_registry(), head.http, head.values, settings, validate, head.query)

    return HttpDialect(
        ROUTES,
        read_request,
        _print_answer,
        _print_error,
        prefixes=(PATH,),
        missing=NO_ENDPOINT,
        failures=(IgluBodyError,),
    )


def _print_answer(exchange: IgluExchange, answer: IgluAnswer) -> Response:
    headers = dict(ALWAYS)
    if exchange.registry.token is not None:
        headers[POSITION] = str(exchange.registry.token)
    return Response(answer.data, answer.status, headers, answer.media)


def _print_error(failure: Exception, _http: HttpRequest, _asked: Request[object] | None) -> ErrorPage:
    if isinstance(failure, RegistryError):
        status, body = status_of(failure), error_body(failure)
    elif isinstance(failure, IgluBodyError):
        status, body = failure.status, {"message": str(failure), **failure.members}
    else:
        assert isinstance(failure, HttpError), "a dialect has no other failures"
        status, body = failure.status, {"message": str(failure)}
    return ErrorPage(status, json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace"), JSON_MEDIA)
