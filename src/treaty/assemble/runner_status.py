"""Asking a runner what it says of itself, for the pages: one short request, whose answer is bounded."""

import asyncio
from urllib.parse import urlsplit

ANSWER_SECONDS = 1.0
"""Seconds in which a runner answers; a page waits no longer."""
STATUS_BYTES = 4_194_304
"""Bytes of an answer that are read; a longer one counts as none."""
PORTS = {"http": 80, "https": 443}


async def fetch_status(address: str) -> bytes | None:
    """Return the body that an address answers; None for a runner that does not answer in time. No redirect is followed."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            answer = await _exchange(address)
    except (OSError, ValueError, TimeoutError):
        return None
    head, _, body = answer.partition(b"\r\n\r\n")
    return body if head.split(b" ")[1:2] == [b"200"] and len(answer) <= STATUS_BYTES else None


async def _exchange(address: str) -> bytes:
    parts = urlsplit(address)
    secure, host = parts.scheme == "https", parts.hostname or ""
    reader, writer = await asyncio.open_connection(host, parts.port or PORTS[parts.scheme], ssl=secure or None)
    try:
        writer.write(f"GET {parts.path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode("ascii"))
        answer = bytearray()
        while len(answer) <= STATUS_BYTES and (part := await reader.read(65_536)):
            answer += part
        return bytes(answer)
    finally:
        writer.close()
