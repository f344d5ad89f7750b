"""A process that writes to a SQLite log or follows it, and says on standard output what it saw."""

import asyncio
import contextlib
import json
import os
import resource
import sys
from pathlib import Path

from treaty.core.state.commit import START, Append, Commit, Position, RowDigests, make_append, roots_after
from treaty.core.state.rows import EncodedRow
from treaty.log.log import AppendResult, LogDamagedError, LogUnavailableError
from treaty.log.sqlite.log import SqliteLog

NOBODY = 65_534


def say(**what: object) -> None:
    print(json.dumps(what), flush=True)


def commits(base: Position, name: str, number: int) -> tuple[Commit, ...]:
    """A chain of one to three commits that touches a row of its own and one that all fight about."""
    rows = (
        EncodedRow("own", f'["{name}-{number}"]', f'"{name * 50}"'),
        EncodedRow("all", '["last"]', f'"{name}-{number}"'),
    )
    return tuple(Commit(base.sequence + place, rows) for place in range(1, 2 + number % 3))


async def append_of(log: SqliteLog, base: Position, chain: tuple[Commit, ...]) -> Append:
    """An append that states the root after it: that of the rows that are there now, and of its own."""
    digests = RowDigests((await log.read(START)).rows)
    return make_append(base, os.urandom(16), chain, roots_after(digests, (row for one in chain for row in one.rows)))


async def write(path: str, name: str, count: int) -> None:
    """Append, and again after each conflict; say what was accepted, after it was."""
    log = await SqliteLog.open(path)
    say(ready=True)
    conflicts = 0
    for number in range(count):
        base = (await log.read(await log.tip())).tip
        while True:
            append = await append_of(log, base, commits(base, name, number))
            fate = await log.append(append)
            if fate is AppendResult.ACCEPTED:
                break
            conflicts += 1
            base = await log.tip()
        say(key=f"{name}-{number}", first=append.first, last=append.last, parent=base.digest.hex(),
            digest=append.digest.hex())  # fmt: skip
    say(conflicts=conflicts)
    await log.close()


async def follow(path: str, how: str, until: int) -> None:
    """Follow to a sequence, woken by hints alone or by polling alone; say each tip that was seen."""
    log = await SqliteLog.open(path, hints=how == "hints", poll=3_600 if how == "hints" else 0.02)
    tip = START
    say(ready=True)
    while tip.sequence < until:
        await log.wait(tip, 3_600)
        delta = await log.read(tip)
        if delta.tip != tip:
            tip = delta.tip
            say(tip=tip.sequence, digest=tip.digest.hex(), rows=len(delta.rows))
    await log.close()


def size(path: Path) -> int:
    return path.stat().st_size


async def limited(path: str, room: int) -> None:
    """Append more than the file may grow by, then go on with more room; say what each append came to."""
    log = await SqliteLog.open(path)
    tip = await log.tip()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size(Path(f"{path}-wal")) + room, hard))
    large = (Commit(tip.sequence + 1, (EncodedRow("own", '["large"]', '"' + "x" * 10 * room + '"'),)),)
    try:
        say(fate=(await log.append(await append_of(log, tip, large))).value)
    except LogUnavailableError as error:
        say(fate="unavailable", message=str(error))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    say(same=await log.tip() == tip)
    say(fate=(await log.append(await append_of(log, tip, large))).value)
    await log.close()


async def reach(path: str) -> None:
    """Open and append as somebody who has no special rights; say what it came to."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        log = await SqliteLog.open(path)
        with contextlib.suppress(LogUnavailableError):
            await log.tip()
        base = await log.tip()
        await log.append(await append_of(log, base, commits(base, "r", 0)))
        say(trouble=None)
    except (LogUnavailableError, LogDamagedError) as error:
        say(trouble=type(error).__name__, message=str(error))


def main() -> None:
    command, path, *rest = sys.argv[1:]
    if command == "write":
        asyncio.run(write(path, rest[0], int(rest[1])))
    elif command == "follow":
        asyncio.run(follow(path, rest[0], int(rest[1])))
    elif command == "limited":
        asyncio.run(limited(path, int(rest[0])))
    else:
        asyncio.run(reach(path))


if __name__ == "__main__":
    main()
