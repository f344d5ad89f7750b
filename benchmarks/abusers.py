"""Clients that hold a server up: costly comparisons, answers left unread, idle connections, wrong passwords and whole lists."""

import asyncio
import base64
import contextlib
import json
import random
import resource
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

AUTHORIZATION = "Authorization: Basic "
RIGHT = base64.b64encode(b"user:secret").decode()
IDLE = 5_000
BRANCHES = 190
"""Branches of the combination in the comparison: the size that once blocked a server for seconds."""


@dataclass(frozen=True, slots=True)
class Abuser:
    """A kind of hostile clients: how many of them there are, and what one does, again and again."""

    about: str
    count: int
    act: Callable[[int, int], Awaitable[None]]
    settle: float = 5.0
    """Seconds after which all are at work."""


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(port: int, number: int) -> Streams:
    """Connect from one of five addresses that no other client has."""
    return await asyncio.open_connection("127.0.0.1", port, local_addr=(f"127.0.0.{100 + number % 5}", 0))


def request(method: str, target: str, credentials: str = RIGHT, body: bytes = b"") -> bytes:
    """A request with a password."""
    length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n{AUTHORIZATION}{credentials}\r\n{length}\r\n"
    return head.encode() + body


async def read(reader: asyncio.StreamReader) -> bytes:
    """Read one answer; return its head."""
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split()[0]))
    return head


def combination(least: int) -> str:
    """A combination of many objects, each with a bound."""
    branches = [
        {"type": "object", "properties": {f"p{n}": {"type": "string", "minLength": least}}, "required": [f"p{n}"]}
        for n in range(BRANCHES)
    ]
    return json.dumps({"anyOf": branches})


async def compare(port: int, number: int) -> None:
    """Check a schema against one that is costly to compare it with."""
    reader, writer = await connect(port, number)
    subject, least = f"costly-{number}", 0
    body = json.dumps({"schema": combination(0), "schemaType": "JSON"}).encode()
    writer.write(request("POST", f"/subjects/{subject}/versions", body=body))
    await read(reader)
    while True:
        least += 1
        body = json.dumps({"schema": combination(least), "schemaType": "JSON"}).encode()
        writer.write(request("POST", f"/compatibility/subjects/{subject}/versions/latest", body=body))
        await read(reader)


async def leave_unread(port: int, number: int) -> None:
    """Ask for a long list, twice, and read nothing."""
    reader, writer = await connect(port, number)
    writer.transport.pause_reading()  # type: ignore[attr-defined]  # it can be read from
    writer.write(request("GET", "/schemas") * 2)
    for _ in range(1_200):
        await asyncio.sleep(0.1)
        if writer.transport.is_closing():
            break
    del reader


async def idle(port: int, number: int) -> None:
    """Hold a connection and ask nothing, until it is closed."""
    await asyncio.sleep(number / IDLE)
    reader, _writer = await connect(port, number)
    await reader.read()


async def guess(port: int, number: int) -> None:
    """Try one password after the other."""
    reader, writer = await connect(port, number)
    while True:
        word = base64.b64encode(f"user{random.randrange(2_000)}:{random.random()}".encode()).decode()
        writer.write(request("GET", "/subjects", word))
        await read(reader)


async def list_all(port: int, number: int) -> None:
    """Ask for all names and all schemas, again and again."""
    reader, writer = await connect(port, number)
    for target in ("/subjects", "/schemas?limit=1000", "/subjects?deleted=true", "/contexts"):
        writer.write(request("GET", target))
        await read(reader)


ABUSERS = {
    "comparisons": Abuser("4 that compare costly schemas", 4, compare),
    "unread answers": Abuser("60 that leave answers unread", 60, leave_unread),
    "idle connections": Abuser("5,000 idle connections", IDLE, idle, 30.0),
    "wrong passwords": Abuser("100 that try passwords", 100, guess),
    "lists": Abuser("64 that list everything", 64, list_all),
}


async def work(port: int, abuser: Abuser) -> None:
    """Do it with as many clients as there are, until the process is ended."""

    async def repeat(number: int) -> None:
        while True:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await abuser.act(port, number)
            await asyncio.sleep(0.01)

    await asyncio.gather(*(repeat(number) for number in range(abuser.count)))


if __name__ == "__main__":
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(work(int(sys.argv[2]), ABUSERS[sys.argv[1]]))
