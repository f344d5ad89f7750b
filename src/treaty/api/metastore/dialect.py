"""The metastore's API: how a request is read, and how answers and errors are printed."""

from collections.abc import Callable
from http import HTTPStatus

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from treaty.api.dialects.dialect import ErrorPage, HttpDialect, RequestHead, refuse_other_than_json
from treaty.api.errors import HttpError
from treaty.api.metastore.endpoints import MetastoreExchange, ScriptError
from treaty.api.metastore.routes import PREFIX, ROUTES
from treaty.core.messages.request import Request
from treaty.core.refusals import RegistryError
from treaty.metastore.execution.results import diagnostic_bodies, place_body, result_body
from treaty.metastore.records.outcomes import ReportRecords
from treaty.metastore.records.steps import RecordDestination
from treaty.wire.confluent.headers import ALWAYS, POSITION
from treaty.wire.metastore import error_body, status_of
from treaty.wire.statements import MEDIA, MetastoreErrorBody


def _reader(
    destination: RecordDestination, on_records: ReportRecords | None
) -> Callable[[RequestHead], MetastoreExchange]:
    def read(head: RequestHead) -> MetastoreExchange:
        refuse_other_than_json(head)
        return MetastoreExchange(
            head.open_registry(), head.http, head.values, head.query, destination=destination, on_records=on_records
        )

    return read


def _print_answer(exchange: MetastoreExchange, answer: object) -> Response:
    headers = {**ALWAYS, **exchange.headers}
    if exchange.registry.token is not None:
        headers[POSITION] = str(exchange.registry.token)
    return Response(msgspec.json.encode(answer), 200, headers, MEDIA)


def _print_error(failure: Exception, _http: HttpRequest, _asked: Request[object] | None) -> ErrorPage:
    error = failure.error if isinstance(failure, ScriptError) else failure
    if isinstance(error, RegistryError):
        status, body = status_of(error), error_body(error, diagnostic_bodies(error))
    else:
        assert isinstance(error, HttpError), "a dialect has no other failures"
        phrase = HTTPStatus(error.status).phrase.lower().replace(" ", "-")
        status, body = error.status, MetastoreErrorBody(phrase, str(error))
    if isinstance(failure, ScriptError):
        body.results, body.failed = [*map(result_body, failure.outcome.results)], failure.outcome.failed
        body.place = place_body(failure.outcome)
    return ErrorPage(status, msgspec.json.encode(body), MEDIA)


def make_metastore_dialect(
    destination: RecordDestination, on_records: ReportRecords | None = None
) -> HttpDialect[MetastoreExchange]:
    """Return the metastore's API, whose INSERT, UPDATE and DELETE write to a destination; `on_records` gets what they came to."""
    return HttpDialect(
        ROUTES,
        _reader(destination, on_records),
        _print_answer,
        _print_error,
        prefixes=(PREFIX.encode(),),
        failures=(ScriptError,),
    )
