"""What pages show beside a registry: the last lines of the audit log, and the status of a runner, asked at its address (how long it is waited
for, and which answer counts as none).
"""

import asyncio
from collections.abc import Callable
from os import SEEK_END
from pathlib import Path

from treaty.core.urls import split_server_url

AUDIT_BYTES = 262_144
"""Bytes at the end of the audit log in which its last lines are looked for."""
RUNNER_SECONDS = 1.0
"""Seconds in which a runner answers; a page waits no longer."""
STATUS_BYTES = 4_194_304
"""Bytes of an answer that are read; a longer one counts as none."""
WEB_PORTS = {"http": 80, "https": 443}


def tail_of(path: Path) -> Callable[[int], list[str]]:
    """Return a function to the last whole lines of a file, newest first: of its last AUDIT_BYTES, whatever its size."""

    def read(line_count: int) -> list[str]:
        try:
            with path.open("rb") as file:
                start = max(0, file.seek(0, SEEK_END) - AUDIT_BYTES)
                file.seek(start)
                content = file.read(AUDIT_BYTES)
        except OSError:
            return []
        lines = content.decode("utf-8", "replace").split("\n")
        whole_lines = [line for line in lines[1 if start else 0 :] if line.strip()]
        return whole_lines[-line_count:][::-1]

    return read


async def fetch_status(address: str) -> bytes | None:
    """Return the body that a runner answers at an address; None for a runner that does not answer in time. No redirect is followed."""
    try:
        async with asyncio.timeout(RUNNER_SECONDS):
            answer = await _ask_runner(address)
    except (OSError, ValueError, TimeoutError):
        return None
    head, _, body = answer.partition(b"\r\n\r\n")
    return body if head.split(b" ")[1:2] == [b"200"] and len(answer) <= STATUS_BYTES else None


async def _ask_runner(address: str) -> bytes:
    parts = split_server_url(address)
    secure, host = parts.scheme == "https", parts.hostname or ""
    reader, writer = await asyncio.open_connection(host, parts.port or WEB_PORTS[parts.scheme], ssl=secure or None)
    try:
        writer.write(f"GET {parts.path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode("ascii"))
        answer = bytearray()
        while len(answer) <= STATUS_BYTES and (part := await reader.read(65_536)):
            answer += part
        return bytes(answer)
    finally:
        writer.close()
