"""Compression of large answers, for clients that accept gzip; very large ones on a thread."""

import asyncio
import zlib
from functools import lru_cache

from starlette.responses import Response

from treaty.core.limits import GZIP_BYTES, LOOP_BYTES

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
