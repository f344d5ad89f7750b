"""The same small world with nothing left out: nodes with names, what each has read and sent, and all that is in the air.

Slow, so only for very small sizes: it shows that `world.py` leaves out nothing that the rule is ever asked.
"""

from collections.abc import Iterator
from typing import NamedTuple

from tests.simulation.kafka.small.law import Size

Start = tuple[bool, tuple[tuple[int, int, int], ...], tuple[int, ...]]
"""What somebody finds who starts: whether a prefix is gone; first sequence and length of each append, and the place of the
fold that it names; and the places of the folds that are whole. A fold that is not can't be found by its name."""


class Append(NamedTuple):
    """An append: its first sequence and length, and the node whose fold it names, or -1."""

    first: int
    length: int
    fold: int = -1


class Chunk(NamedTuple):
    """One of the two chunks of a node's fold."""

    fold: int
    part: int


Record = Append | Chunk


class Node(NamedTuple):
    """A node: the offset it reads next, how many valid appends it knows, where its memory begins, what it has sent."""

    next: int = 0
    known: int = 0
    base: int = 0
    sent: int = 0
    folding: int = 0
    """0 not yet; 1 chunks are on their way; 2 the fold was named; 3 the prefix is being deleted; 9 broken off."""
    folded: int = 0
    """How many valid appends its fold stands for."""


class Plain(NamedTuple):
    """One state. `air` is what may still land, `truth` what is valid (and where it landed), `cuts` deletions on their way."""

    log: tuple[Record, ...] = ()
    cut: int = 0
    air: tuple[Record, ...] = ()
    cuts: tuple[int, ...] = ()
    truth: tuple[tuple[Append, int], ...] = ()
    nodes: tuple[Node, ...] = ()


class Nodes:
    """Walks through every state of one size, and notes what somebody would find who started there."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.states = 0
        self.starts: set[Start] = set()

    def run(self) -> None:
        """Visit every state."""
        first = Plain(nodes=(Node(),) * self.size.nodes)
        seen, stack = {first}, [first]
        while stack:
            world = stack.pop()
            self.states += 1
            self.starts.update(found(world, deleted) for deleted in range(len(world.log) + 1))
            for after in self._steps(world):
                known = _settled(after)
                if known not in seen:
                    seen.add(known)
                    stack.append(known)

    def _steps(self, world: Plain) -> Iterator[Plain]:
        for place, record in enumerate(world.air):
            air, truth = world.air[:place] + world.air[place + 1 :], world.truth
            if isinstance(record, Append):
                truth = (*truth, (record, world.cut + len(world.log)))
                air = tuple(one for one in air if isinstance(one, Chunk))  # the others come second from now on
            yield world._replace(log=(*world.log, record), air=air, truth=truth)
        for place, before in enumerate(world.cuts):
            rest = world.cuts[:place] + world.cuts[place + 1 :]
            yield world._replace(log=world.log[max(0, before - world.cut) :], cut=max(world.cut, before), cuts=rest)
        for number, node in enumerate(world.nodes):
            if world.cut <= node.next < world.cut + len(world.log):
                yield self._read(world, number, node.base)
            if node.known == len(world.truth) and node.sent < self.size.appends:
                yield _send(world, number, -1)
            yield from self._fold(world, number)
            yield self._started(world, number)  # it crashed, or where it had read to was deleted

    def _read(self, world: Plain, number: int, base: int) -> Plain:
        """A node reads to the end; where it finds that its fold was named it has the prefix deleted."""
        node = world.nodes[number]._replace(next=world.cut + len(world.log), known=len(world.truth), base=base)
        cuts = world.cuts
        if node.folding == 2 and any(one.fold == number for one, _ in world.truth):
            node = node._replace(folding=3)
            cuts = tuple(sorted((*cuts, world.truth[node.folded - 1][1] + 1)))
        return _with(world, number, node)._replace(cuts=cuts)

    def _started(self, world: Plain, number: int) -> Plain:
        """A node that knows nothing reads everything; a fold that it was at is broken off, its chunks may still land."""
        node = world.nodes[number]
        broken = _with(world, number, node._replace(folding=9 if node.folding in {1, 2} else node.folding))
        whole = {one.fold for one, _ in world.truth if one.fold >= 0 and _whole(one.fold, world.log)}
        return self._read(broken, number, max((world.nodes[one].folded for one in whole), default=0))

    def _fold(self, world: Plain, number: int) -> Iterator[Plain]:
        """The next step of a node that folds: chunks, once they are all there a name, once that is there a deletion."""
        node = world.nodes[number]
        begun = sum(one.folding > 0 for one in world.nodes)
        if node.folding == 0 and node.known > node.base and begun < self.size.folds:
            air = tuple(sorted((*world.air, Chunk(number, 0), Chunk(number, 1)), key=repr))
            yield _with(world, number, node._replace(folding=1, folded=node.known))._replace(air=air)
        newer = any(one.fold >= 0 and world.nodes[one.fold].folded >= node.folded for one, _ in world.truth)
        read = world.log[: max(0, node.next - world.cut)]
        can = node.folding == 1 and node.known == len(world.truth) and node.sent < self.size.appends
        if can and not newer and _whole(number, read):
            sent = _send(world, number, number)
            yield _with(sent, number, sent.nodes[number]._replace(folding=2))


def found(world: Plain, deleted: int) -> Start:
    """What somebody finds who starts after so many more records were deleted."""
    log = world.log[deleted:]
    places = [one.first + one.length - 1 for one, _ in world.truth]
    appends = [one for one in log if isinstance(one, Append)]
    folded = [places[node.folded - 1] if node.folded else 0 for node in world.nodes]
    whole = {number: place for number, place in enumerate(folded) if place and _whole(number, log)}
    told = tuple((one.first, one.length, whole.get(one.fold, 0)) for one in appends)
    return world.cut + deleted > 0, told, tuple(sorted(whole.values()))


def _whole(fold: int, log: tuple[Record, ...]) -> bool:
    return Chunk(fold, 0) in log and Chunk(fold, 1) in log


def _send(world: Plain, number: int, fold: int) -> Plain:
    """A node sends an append on the last one; every second one is a chain of two."""
    node = world.nodes[number]
    last = world.truth[-1][0] if world.truth else Append(1, 0)
    append = Append(last.first + last.length, 1 + node.sent % 2, fold)
    air = tuple(sorted((*world.air, append), key=repr))
    return _with(world, number, node._replace(sent=node.sent + 1))._replace(air=air)


def _settled(world: Plain) -> Plain:
    """One of the states that differ only in which chunks were read by who does not care."""
    nodes = []
    for node in world.nodes:
        if node.folding == 1 or node.next < world.cut:
            nodes.append(node)
        else:
            after = world.truth[node.known - 1][1] + 1 if node.known else 0
            nodes.append(node._replace(next=max(after, world.cut)))
    return world._replace(nodes=tuple(nodes))


def _with(world: Plain, number: int, node: Node) -> Plain:
    return world._replace(nodes=(*world.nodes[:number], node, *world.nodes[number + 1 :]))
