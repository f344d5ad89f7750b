"""Bodies: of requests, read up to their limit; of large answers, compressed for clients that accept gzip, very large ones on a thread."""

import asyncio
import zlib
from functools import lru_cache, partial
from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from treaty.api.errors import HttpError
from treaty.core.limits import DISCARDED_BYTES, GZIP_BYTES, LOOP_BYTES, OPAQUE_BODY_BYTES, PEER_BYTES, REQUEST_BYTES
from treaty.core.refusals import Invalid
from treaty.node.large_work import run_by_size

B = TypeVar("B")


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


async def parse_json_body(http: HttpRequest, kind: type[B], example: str) -> B:
    """Read the whole body as JSON of a kind; raises `Invalid` with an example where it is not, and `HttpError` as `read_body` does."""
    data = await read_json_body(http, REQUEST_BYTES)
    try:
        return await run_by_size(len(data), partial(msgspec.json.decode, data, type=kind))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as invalid:
        why = str(invalid)[:200] or "nested too deeply"
    raise Invalid.of("BODY", f"The body can't be read: {why}", new=why, allowed=f"{example}, as JSON in UTF-8")


def _too_large(limit: int) -> HttpError:
    name = {PEER_BYTES: "PEER_BYTES", OPAQUE_BODY_BYTES: "OPAQUE_BODY_BYTES"}.get(limit, "REQUEST_BYTES")
    message = f"HTTP 413 Request Entity Too Large: more than {limit} bytes (limit {name})"
    return HttpError(413, message, connection="close")


# ---------------------------------------------------------------------------------------------------- bodies of answers


LEVEL = 1
"""zlib's fastest level: it compresses JSON to a fifth; further levels cost several times as much for little."""
_GZIP = 31
"""zlib's word for the largest window in a frame of gzip."""


@lru_cache(64)
def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether an ``Accept-Encoding`` header takes gzip; what is named wins over ``*``."""
    accepted: dict[str, bool] = {}
    for entry in accept_encoding.split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        accepted[name] = not any(part.replace(" ", "").rstrip("0") in {"q=", "q=0."} for part in parameters)
    return accepted.get("gzip", accepted.get("*", False))


def compress_gzip(body: bytes) -> bytes:
    """Compress, the same bytes each time."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP)
    return packer.compress(body) + packer.flush()


async def compress_response(response: Response, accept_encoding: str) -> None:
    """Compress the body of a response if it is large and the client accepts gzip; adds ``Vary``."""
    body = bytes(response.body)
    if len(body) < GZIP_BYTES:
        return
    response.headers["vary"] = "accept, accept-encoding"
    if accepts_gzip(accept_encoding):
        response.body = compress_gzip(body) if len(body) <= LOOP_BYTES else await asyncio.to_thread(compress_gzip, body)
        response.headers["content-encoding"] = "gzip"
        response.headers["content-length"] = str(len(response.body))
