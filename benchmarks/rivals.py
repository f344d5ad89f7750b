"""Servers to compare with: the least that can answer, and a plain Starlette application; both answer constant bytes.

`python -m benchmarks.rivals bare|starlette ANSWERS.json --port N`. The bare one is an `asyncio.Protocol` that parses the
request with httptools, looks the URL up in a dictionary and writes the answer; it has no headers to read, no timers, no
metrics.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import httptools
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.load import Server, process


@contextmanager
def rival(kind: str, folder: Path, answers: dict[str, bytes]) -> Iterator[Server]:
    """Run a rival with these answers, whole as they are on the wire."""
    file = folder / f"{kind}.json"
    file.write_text(json.dumps({target: answer.decode("latin-1") for target, answer in answers.items()}))
    with process("-m", "benchmarks.rivals", kind, str(file)) as server:
        yield server


class Bare(asyncio.Protocol):
    """The least that can answer."""

    answers: dict[bytes, bytes]
    url: bytes

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = cast("asyncio.Transport", transport)
        self.parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        """Parse."""
        self.parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        """Keep the URL."""
        self.url = url

    def on_message_complete(self) -> None:
        """Answer."""
        self.transport.write(self.answers.get(self.url, b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"))


async def serve_bare(answers: dict[str, str], port: int) -> None:
    """Serve answers until the process is ended."""
    Bare.answers = {key.encode(): value.encode("latin-1") for key, value in answers.items()}
    server = await asyncio.get_running_loop().create_server(Bare, "127.0.0.1", port)
    await server.serve_forever()


def serve_starlette(answers: dict[str, str], port: int) -> None:
    """Serve the bodies of answers by id, as one would write it with Starlette, under uvicorn with httptools and uvloop."""
    bodies = {target.partition("?")[0]: answer.partition("\r\n\r\n")[2].encode() for target, answer in answers.items()}

    async def by_id(request: Request) -> Response:
        number = request.path_params["number"]
        return Response(bodies[f"/schemas/ids/{number}"], media_type="application/vnd.schemaregistry.v1+json")

    application = Starlette(routes=[Route("/schemas/ids/{number:int}", by_id)])
    uvicorn.run(application, port=port, http="httptools", loop="uvloop", access_log=False, log_level="error")


if __name__ == "__main__":
    known = json.loads(Path(sys.argv[2]).read_text())
    if sys.argv[1] == "bare":
        uvloop.run(serve_bare(known, int(sys.argv[4])))
    else:
        serve_starlette(known, int(sys.argv[4]))
