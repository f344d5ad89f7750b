"""Request bodies, read up to their limit."""

from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest

from treaty.api.errors import HttpError
from treaty.core.limits import DISCARDED_BYTES, OPAQUE_BODY_BYTES, PEER_BYTES, REQUEST_BYTES


def announced_bytes(http: HttpRequest) -> int:
    """Bytes of body that the request announces; -1 where it does not say, 0 where there is none."""
    if "transfer-encoding" in http.headers:
        return -1
    length = http.headers.get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() else -1


async def read_body(http: HttpRequest, limit: int = REQUEST_BYTES) -> bytes:
    """Read the whole body; raises `HttpError` 413 where it is longer than `limit` bytes.

    The rest is read and discarded, up to another limit: a client that is disconnected while it sends does not read the
    answer.
    """
    data, size = [], 0
    if announced_bytes(http) > DISCARDED_BYTES:
        raise _too_large(limit)
    try:
        async for chunk in http.stream():
            size += len(chunk)
            if size <= limit:
                data.append(chunk)
            elif size > DISCARDED_BYTES:
                break
    except ClientDisconnect:
        raise HttpError(400, "the client went away before its body was complete") from None
    if size > limit:
        raise _too_large(limit)
    return b"".join(data)


BYTE_ORDER_MARK = b"\xef\xbb\xbf"


async def read_json_body(http: HttpRequest, limit: int = REQUEST_BYTES) -> bytes:
    """Read the whole body of a request whose body is JSON, without a byte order mark before it, which parsers may ignore
    (RFC 8259, 8.1) and Jackson does; raises `HttpError` as `read_body` does.
    """
    return (await read_body(http, limit)).removeprefix(BYTE_ORDER_MARK)


def _too_large(limit: int) -> HttpError:
    name = {PEER_BYTES: "PEER_BYTES", OPAQUE_BODY_BYTES: "OPAQUE_BODY_BYTES"}.get(limit, "REQUEST_BYTES")
    message = f"HTTP 413 Request Entity Too Large: more than {limit} bytes (limit {name})"
    return HttpError(413, message, connection="close")
