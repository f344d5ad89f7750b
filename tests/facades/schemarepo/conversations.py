"""Conversations with the dialect as data: steps of requests with what they answer, over a log that may be opened again."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from treaty.api.application import build_application
from treaty.assemble import open_node

JAVA = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"
"""What Java's client accepts where nobody says."""
TEXT = {"content-type": "text/plain"}


@dataclass
class Repository:
    """A server over a log, in this process; or one at an address, which keeps running."""

    log: str
    root: str = "/schema-repo"
    address: str = ""
    http: httpx2.AsyncClient = field(init=False)
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def open(self) -> None:
        """Start a server on the log, or connect to the one that runs."""
        if self.address:
            remote = httpx2.AsyncClient(base_url=self.address, headers={"accept": JAVA})
            self.http = await self.stack.enter_async_context(remote)
            return
        node = await self.stack.enter_async_context(open_node(self.log))
        transport = httpx2.ASGITransport(app=build_application(node).dispatcher)
        client = httpx2.AsyncClient(transport=transport, base_url="http://test", headers={"accept": JAVA})
        self.http = await self.stack.enter_async_context(client)

    async def reopen(self) -> None:
        """Stop the server, and start another one on the same log."""
        await self.stack.aclose()
        await self.open()

    async def send(self, ask: str, step: Mapping[str, Any] | None = None, **headers: str) -> httpx2.Response:
        """Send the request of a step."""
        method, _, path = ask.partition(" ")
        sent = step or {}
        named = dict(headers)
        if "accept" in sent:
            named["accept"] = sent["accept"]
        if "text" in sent:
            return await self.http.request(
                method, self.root + path, content=sent["text"].encode(), headers={**TEXT, **named}
            )
        return await self.http.request(method, self.root + path, data=sent.get("form"), headers=named)

    async def play(self, steps: list[dict[str, Any]]) -> None:
        """Send every step and compare the answers."""
        for step in steps:
            if step.get("reopen"):
                await self.reopen()
                continue
            got = await self.send(step["ask"], step)
            assert got.status_code == step.get("status", 200), (step, got.text)
            if "is" in step:
                assert got.text == step["is"], step
            if "json" in step:
                assert got.json() == step["json"], step
            assert got.text.startswith(step.get("begins", "")), (step, got.text)
            assert step.get("has", "") in got.text, (step, got.text)
            assert step.get("media", got.headers.get("content-type")) == got.headers.get("content-type"), step
            if "model" in step:
                assert got.headers.get("treaty-compatibility-model", "") == step["model"], step
            assert "error_code" not in got.text, step


@asynccontextmanager
async def repository(log: str = "memory:", root: str = "/schema-repo", address: str = "") -> AsyncIterator[Repository]:
    """Open a server for the block, or talk with the one at an address."""
    made = Repository(log, root, address)
    await made.open()
    try:
        yield made
    finally:
        await made.stack.aclose()
