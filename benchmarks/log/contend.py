"""Three nodes that write to one log at a time, each a process of its own, against one node on a log of its own."""

from collections.abc import Iterator

from benchmarks.log.places import Place
from benchmarks.log.turns import in_turns, members
from benchmarks.row import Row, against

NODES = 3
SECONDS = 2.0
ROUNDS = 5
WRITERS = (1, 64)
GOAL = 0.8
"""The least that the three may do in all, of what one does."""


def rows(place: Place) -> Iterator[Row]:
    """The figures of one log."""
    with members([(place.nodes, place.log("one")), *[(place.nodes, place.log("all"))] * NODES]) as nodes:
        for writers in WRITERS:
            alone, together = in_turns([nodes[:1], nodes[1:]], writers=writers, seconds=SECONDS, rounds=ROUNDS)
            name = f"{place.title}: {NODES} nodes with {writers} writer{'s' if writers > 1 else ''} each, against one"
            limit = "every node decides its own commands and applies everybody's"
            yield against(name, together.rate, alone.rate, unit="commits/s", goal=GOAL, rising=True, limit=limit)
            yield against(name, together.work, alone.work, unit="us CPU a commit", limit=limit)
            yield against(f"{name}: waited, p99", together.waited(0.99), alone.waited(0.99), unit="ms", limit=limit)
