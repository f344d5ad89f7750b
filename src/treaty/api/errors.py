"""Errors of HTTP itself, and the response for any error."""

import logging
import math
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

from treaty.core.refusals import OutcomeUnknown, RegistryError, Unauthenticated, Unavailable
from treaty.core.requests import Request
from treaty.wire.confluent.errors import INCOMPATIBLE, ErrorBody, error_body, status_of
from treaty.wire.confluent.headers import ALWAYS, COMMAND, V1
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


def error_response(
    failure: Exception,
    asked: Request[Any] | None = None,
    *,
    media: str = V1,
    details: bool = False,
    where: str = "",
    incompatible: int = INCOMPATIBLE,
    exact: bool = False,
) -> Response:
    """Return the response for a failure. Any other exception is logged with the place (`where`), and answered with 500.

    `incompatible` is the code of a schema that breaks the policy. `exact` adds the error itself to Confluent's body.
    """
    headers, beside = dict(ALWAYS), {}
    if isinstance(failure, HttpError):
        body, headers = ErrorBody(failure.status, str(failure)), headers | failure.headers
    elif isinstance(failure, RegistryError):
        body = error_body(failure, asked, details=details)
        if body.error_code == INCOMPATIBLE:
            body.error_code = incompatible
        elif isinstance(failure, UnknownOperationError):
            body.error_code = 404
        beside = error_members(failure) if exact else {}
        if isinstance(failure, Unavailable):
            headers["retry-after"] = str(max(1, math.ceil(failure.retry_after)))
        if isinstance(failure, OutcomeUnknown):
            headers[COMMAND] = failure.command_id
    else:
        log.error("unhandled exception in %s", where[:200] or "a request", exc_info=failure)
        body = ErrorBody(500, "Internal Server Error")
    printed = msgspec.json.encode({**msgspec.to_builtins(body), **beside} if beside else body)
    response = Response(printed, status_of(body.error_code), headers, media)
    if isinstance(failure, Unauthenticated):
        response.raw_headers.extend((b"www-authenticate", one.encode()) for one in failure.challenges)
    return response


def refuse_connection(status: int, phrase: str, why: str = "") -> bytes:
    """Return an error answer for bytes that no dialect sees, after which the connection is closed."""
    message = f"HTTP {status} {phrase}{why and ': '}{why}"
    body = b'{"error_code":%d,"message":"%s"}' % (status, message.encode())
    return (
        b"HTTP/1.1 %d %s\r\ncontent-type: application/vnd.schemaregistry.v1+json\r\ncontent-length: %d\r\n"
        b"connection: close\r\n\r\n%s" % (status, phrase.encode(), len(body), body)
    )
