"""Durable appends: how many per second, what each costs, and how long writers wait; beside bare loops, in turns."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.log.places import Place
from benchmarks.log.turns import Done, in_turns, members
from benchmarks.row import Row, against

SECONDS = 1.5
ROUNDS = 4
WRITERS = (1, 64)
TAIL = (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999))
LAW = "CPU of the law: parsing, ids, compatibility"


def rows(place: Place, folder: Path) -> Iterator[Row]:
    """All figures of one log."""
    kinds = [("node", place.log("node"))]
    if place.bare:
        kinds += [("log", place.log("below")), ("bare", place.bare), ("bare", f"file://{folder}/file")]
    with members(kinds) as processes:
        for writers in WRITERS:
            sides = in_turns([[member] for member in processes], writers=writers, seconds=SECONDS, rounds=ROUNDS)
            if place.bare:
                yield from below(place, writers, sides[1:])
            yield from through(place, writers, sides)


def below(place: Place, writers: int, sides: list[Done]) -> Iterator[Row]:
    """Appends below the law, of as many commits as there are writers."""
    ours, bare, file = sides
    name = f"{place.title}: append of {writers} commit{'s' if writers > 1 else ''}"
    what = f"against a {place.ideal}"
    rows = "seven rows a commit and their indexes, digests, the parent checked"
    yield against(f"{name}, {what}", ours.work, bare.work, unit="us CPU a commit", limit=rows)
    disk = place.durable if writers == 1 else rows
    yield against(f"{name}, {what}", ours.rate, bare.rate, unit="commits/s", rising=True, limit=disk)
    if place.title == "SQLite":
        yield against(
            f"{name}, against write and fdatasync", ours.rate, file.rate, unit="commits/s", rising=True, limit=disk
        )


def through(place: Place, writers: int, sides: list[Done]) -> Iterator[Row]:
    """Commands through a node, which are durable when they are answered."""
    ours = sides[0]
    name = f"{place.title}: {writers} writer{'s' if writers > 1 else ''} through a node"
    limit = place.durable if writers == 1 else LAW
    if place.bare:
        bare = sides[2]
        yield against(
            f"{name}, against a {place.ideal}", ours.rate, bare.rate, unit="commits/s", rising=True, limit=limit
        )
    else:
        yield Row(name, ours.rate, "commits/s", limit=limit)
    yield Row(name, ours.work, "us CPU a commit", limit=LAW)
    for word, share in TAIL:
        waited = ours.waited(share)
        title = f"{name}: waited, {word}"
        if place.bare:
            yield against(f"{title}, against a {place.ideal}", waited, sides[2].waited(share), unit="ms", limit=limit)
        else:
            yield Row(title, waited, "ms", limit=limit)
