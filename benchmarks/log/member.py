"""`python -m benchmarks.log.member KIND URL`: a process that works in turns, told by lines of JSON on standard input."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, replace

import uvloop

from benchmarks.load import Server, request, treaty
from benchmarks.log import bare
from benchmarks.log.places import VISIT, peering
from benchmarks.log.tape import Tape, registration
from benchmarks.log.turns import Clock, Done, Turn
from treaty.assemble import open_node
from treaty.core.state.commit import START, RowDigests, make_append, roots_after
from treaty.log.log import AppendResult
from treaty.log.urls import open_log

Work = Callable[[Turn], Awaitable[Done]]
Kind = Callable[[str], AbstractAsyncContextManager[Work]]


@asynccontextmanager
async def node(url: str) -> AsyncIterator[Work]:
    """Commands through a node, each of a writer who waits for its answer before the next one."""
    async with open_node(url, terms=VISIT, alone=True) as node_of:

        async def work(turn: Turn) -> Done:
            clock = Clock(turn.seconds)
            numbers = iter(range(turn.first, turn.first + 1_000_000))

            async def writer() -> None:
                while not clock.over:
                    with clock.wait():
                        await node_of.ask(registration(next(numbers)))

            await asyncio.gather(*(writer() for _ in range(turn.writers)))
            return clock.done(len(clock.waits))

        await node_of.ask(registration(int.from_bytes(os.urandom(4), "big") + 10**11))
        yield work


@asynccontextmanager
async def log(url: str) -> AsyncIterator[Work]:
    """Appends below the law: chains of as many commits as there are writers."""
    opened, tape = await open_log(url, VISIT), await Tape.record()
    digests = RowDigests((await opened.read(START)).rows)  # a log of one owner takes appends from who has read it

    async def work(turn: Turn) -> Done:
        here, number = await opened.tip(), turn.first
        clock = Clock(turn.seconds)
        while not clock.over:
            with clock.wait():
                fate = AppendResult.CONFLICT
                while fate is AppendResult.CONFLICT:  # the log's own fold was named in between
                    begin = here.sequence + 1
                    commits = (tape.commit(begin + place, number + place) for place in range(turn.writers))
                    chain = tuple(commits)
                    roots = roots_after(digests, (row for commit in chain for row in commit.rows))
                    fate = await opened.append(make_append(here, os.urandom(16), chain, roots))
                    delta = await opened.read(here)
                    here = delta.tip
                    digests.put(delta.rows)
                assert fate is AppendResult.ACCEPTED
            number += turn.writers
        return clock.done(number - turn.first)

    yield work
    await opened.close()


@asynccontextmanager
async def plain(url: str) -> AsyncIterator[Work]:
    """A bare loop that writes the same bytes, as durably."""
    async with bare.opened(url) as write:
        tape = await Tape.record()

        async def work(turn: Turn) -> Done:
            number = turn.first
            clock = Clock(turn.seconds)
            while not clock.over:
                with clock.wait():
                    rows = [row for place in range(turn.writers) for row in tape.data(number + place)]
                    await write(rows)
                number += turn.writers
            return clock.done(number - turn.first)

        yield work


@asynccontextmanager
async def server(url: str) -> AsyncIterator[Work]:
    """Commands to a server of its own over HTTP, which other servers of the log reach; the CPU is the server's."""
    with tempfile.TemporaryDirectory() as folder, treaty(url, *peering(folder, url)) as server:
        yield lambda turn: _asked(server, turn)


async def _asked(server: Server, turn: Turn) -> Done:
    clock, before = Clock(turn.seconds), server.cpu()
    numbers = iter(range(turn.first, turn.first + 1_000_000))

    async def writer() -> None:
        reader, sender = await asyncio.open_connection("127.0.0.1", server.port)
        while not clock.over:
            asked = registration(next(numbers))
            body = json.dumps({"schema": asked.draft.text}).encode()
            with clock.wait():
                sender.write(request("POST", f"/subjects/{asked.subject.name}/versions", body))
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
            assert head.startswith(b"HTTP/1.1 200"), head
        sender.close()

    await asyncio.gather(*(writer() for _ in range(turn.writers)))
    return replace(clock.done(len(clock.waits)), cpu=server.cpu() - before)


KINDS: Mapping[str, Kind] = {"node": node, "log": log, "bare": plain, "server": server}


async def serve(kind: str, url: str) -> None:
    """Work a turn for every line that comes in."""
    loop = asyncio.get_running_loop()
    async with KINDS[kind](url) as work:
        print("ready", flush=True)
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            print(json.dumps(asdict(await work(Turn(**json.loads(line))))), flush=True)


if __name__ == "__main__":
    uvloop.run(serve(sys.argv[1], sys.argv[2]))
