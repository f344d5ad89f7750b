"""Request bodies, read up to their limit."""

from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest

from treaty.api.failures import HttpError
from treaty.core.limits import REQUEST_BYTES


def announced(http: HttpRequest) -> int:
    """Bytes of body that the request announces; -1 where it does not say, 0 where there is none."""
    if "transfer-encoding" in http.headers:
        return -1
    length = http.headers.get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() else -1


async def read_body(http: HttpRequest, limit: int = REQUEST_BYTES) -> bytes:
    """Read the whole body; raises `HttpError` 413 as soon as it is known to be longer than `limit` bytes."""
    refusal = HttpError(413, f"HTTP 413 Request Entity Too Large: more than {limit} bytes", connection="close")
    if announced(http) > limit:
        raise refusal
    data = bytearray()
    try:
        async for chunk in http.stream():
            data += chunk
            if len(data) > limit:
                raise refusal
    except ClientDisconnect:
        raise HttpError(400, "the client went away before its body was complete") from None
    return bytes(data)
