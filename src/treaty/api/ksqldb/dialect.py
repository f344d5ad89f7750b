"""ksqlDB's REST interface: which media types are taken, and how answers and errors are printed."""

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from treaty.api.bodies import announced_bytes
from treaty.api.dialects.dialect import ErrorPage, HttpDialect, RequestHead
from treaty.api.errors import HttpError
from treaty.api.ksqldb.bodies import DELIMITED_MEDIA, JSON_MEDIA, KSQL_MEDIA
from treaty.api.ksqldb.endpoints import KsqlExchange
from treaty.api.ksqldb.errors import KsqlStatementError, describe_failure
from treaty.api.ksqldb.routes import ROUTES, TABLE
from treaty.core.messages.request import Request
from treaty.metastore.records.outcomes import ReportRecords
from treaty.metastore.records.steps import RecordDestination
from treaty.wire.confluent.headers import ALWAYS, POSITION, is_readable

_READ = frozenset({KSQL_MEDIA, DELIMITED_MEDIA})
"""Media types of bodies that are read beside those of every dialect."""


def make_ksqldb_dialect(
    destination: RecordDestination, on_records: ReportRecords | None = None
) -> HttpDialect[KsqlExchange]:
    """Return the dialect, whose INSERT writes to a destination; `on_records` gets what that came to."""

    def read_request(head: RequestHead) -> KsqlExchange:
        _refuse_other_media(head)
        media = _choose_media(head.http)
        return KsqlExchange(head.open_registry(), head.http, media, destination, on_records, head.values)

    return HttpDialect(
        ROUTES,
        read_request,
        _print_answer,
        _print_error,
        prefixes=tuple(path.partition("/{}")[0].encode() for path in TABLE),
        failures=(KsqlStatementError,),
    )


def _refuse_other_media(head: RequestHead) -> None:
    """Raise `HttpError` 415 for a body of another type than JSON."""
    media = head.http.headers.get("content-type", "")
    is_json = is_readable(media) or media.partition(";")[0].strip().lower() in _READ
    if head.method == "POST" and not is_json and announced_bytes(head.http):
        raise HttpError(415)


def _choose_media(http: HttpRequest) -> str:
    """Return ksqlDB's own media type where a request names it, and JSON where it does not."""
    return KSQL_MEDIA if KSQL_MEDIA in ", ".join(http.headers.getlist("accept")).lower() else JSON_MEDIA


def _print_answer(exchange: KsqlExchange, answer: object) -> Response:
    headers = {**ALWAYS, "vary": "accept"}
    if exchange.registry.token is not None:
        headers[POSITION] = str(exchange.registry.token)
    return Response(msgspec.json.encode(answer), 200, headers, exchange.media)


def _print_error(failure: Exception, http: HttpRequest, _asked: Request[object] | None) -> ErrorPage:
    status, body = describe_failure(failure)
    return ErrorPage(status, msgspec.json.encode(body), _choose_media(http))
