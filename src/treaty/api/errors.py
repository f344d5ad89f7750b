"""Errors of HTTP itself, and the response for any error: status, body, and headers such as `Retry-After`."""

import logging
import math
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

from treaty.core.messages.request import Request
from treaty.core.refusals import OutcomeUnknown, RegistryError, Unauthenticated, Unavailable
from treaty.wire.confluent.errors import INCOMPATIBLE, ErrorBody, error_body, status_of
from treaty.wire.confluent.headers import ALWAYS, V1
from treaty.wire.http_response import COMMAND
from treaty.wire.native import UnknownOperationError, error_members

log = logging.getLogger("treaty.api")


NOT_ACCEPTABLE = (
    "HTTP 406 Not Acceptable: answers of this server are JSON; send the header 'Accept: application/json', "
    "or open the page /docs in a browser"
)


class HttpError(Exception):
    """An HTTP error of a request: its status and message."""

    def __init__(self, status: int, message: str = "", **headers: str) -> None:
        """Keep the status; without a message it is the standard phrase."""
        phrase = HTTPStatus(status).phrase
        super().__init__(message or f"HTTP {status} {phrase}")
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def as_known(failure: Exception, where: str, *own_answers: type[Exception]) -> Exception:
    """Return a failure that has an answer of its own as it is; any other is logged with its place, and becomes 500."""
    if isinstance(failure, (HttpError, RegistryError, *own_answers)):
        return failure
    log.error("unhandled exception in %s", where[:200] or "a request", exc_info=failure)
    return HttpError(500, "Internal Server Error")


def failure_headers(failure: Exception) -> dict[str, str]:
    """Return the headers of a failure, which are the same in every dialect."""
    headers = dict(ALWAYS)
    if isinstance(failure, HttpError):
        headers |= failure.headers
    if isinstance(failure, Unavailable):
        headers["retry-after"] = str(max(1, math.ceil(failure.retry_after)))
    if isinstance(failure, OutcomeUnknown):
        headers[COMMAND] = failure.command_id
    return headers


def add_challenges(response: Response, failure: Exception) -> Response:
    """Say in a response which kinds of credentials are accepted, where the caller has none."""
    if isinstance(failure, Unauthenticated):
        response.raw_headers.extend((b"www-authenticate", challenge.encode()) for challenge in failure.challenges)
    return response


def print_failure(
    failure: Exception,
    request: Request[Any] | None = None,
    *,
    details: bool = False,
    incompatible: int = INCOMPATIBLE,
    exact: bool = False,
) -> tuple[int, bytes]:
    """Return status and body of a known failure in the form of Confluent's dialect.

    `incompatible` is the code of a schema that breaks the policy. `exact` adds the error itself to Confluent's body.
    """
    beside: dict[str, Any] = {}
    if isinstance(failure, RegistryError):
        body = error_body(failure, request, details=details)
        if body.error_code == INCOMPATIBLE:
            body.error_code = incompatible
        elif isinstance(failure, UnknownOperationError):
            body.error_code = 404
        beside = error_members(failure) if exact else {}
    else:
        assert isinstance(failure, HttpError), "`as_known` leaves nothing else"
        body = ErrorBody(failure.status, str(failure))
    printed = msgspec.json.encode({**msgspec.to_builtins(body), **beside} if beside else body)
    return status_of(body.error_code), printed


def error_response(failure: Exception, *, media: str = V1, where: str = "") -> Response:
    """Return the response for a failure before any dialect, in the form of Confluent's."""
    answerable = as_known(failure, where)
    status, body = print_failure(answerable)
    return add_challenges(Response(body, status, failure_headers(answerable), media), answerable)


def refuse_connection(status: int, phrase: str, why: str = "") -> bytes:
    """Return an error answer for bytes that no dialect sees, after which the connection is closed."""
    message = f"HTTP {status} {phrase}{why and ': '}{why}"
    body = b'{"error_code":%d,"message":"%s"}' % (status, message.encode())
    return (
        b"HTTP/1.1 %d %s\r\ncontent-type: application/vnd.schemaregistry.v1+json\r\ncontent-length: %d\r\n"
        b"connection: close\r\n\r\n%s" % (status, phrase.encode(), len(body), body)
    )
