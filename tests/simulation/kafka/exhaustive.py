"""Every way in which a few appends, folds, crashes and deletions can fall together: an explicit search over small logs.

The very code that judges records and chooses beginnings (`rule.py`, `beginning.py`) is run in each state. A loser changes
no reader, so losers need not be part of a state: instead each state asks, for every record that may come too late or
again (a *ghost*) and for every reader, what it would be there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import NamedTuple

from treaty.core.commit import ENVELOPE_FORMAT, NO_DIGEST, Position, Prefix
from treaty.log.kafka.any.beginning import Named, beginning
from treaty.log.kafka.any.rule import History, Verdict

NOBODY = (-1, -1)


class Append(NamedTuple):
    """An append: who sent it and its number there, its parent, first sequence and length, and the fold that it names."""

    name: tuple[int, int]
    parent: tuple[int, int]
    identity: tuple[int, int]
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
    """How many valid appends its fold stands for; less than 0: all but a part of the last one."""


class World(NamedTuple):
    """One state. `air` is what may still land, `truth` what is valid (and where it landed), `cuts` deletions on their way."""

    log: tuple[Record, ...] = ()
    cut: int = 0
    air: tuple[Record, ...] = ()
    cuts: tuple[int, ...] = ()
    truth: tuple[tuple[Append, int], ...] = ()
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Size:
    """How much may happen: what each node sends, and how many nodes fold. Crashes may come at any time."""

    nodes: int
    appends: int
    folds: int = 0


Begin = Callable[..., tuple[Position, bytes] | None]


@dataclass(frozen=True, slots=True)
class Law:
    """The code under check. Planted bugs stand in its place."""

    judge: Callable[[History, Prefix], Verdict] = History.judge
    begin: Begin = beginning
    inside: bool = False
    """Folds stand for all but the last commit of a chain."""
    rest: Callable[[World, int], int] = lambda world, folded: world.truth[folded - 1][1] + 1
    """Up to where the prefix is deleted, for a fold of so many appends."""
    named: bool = True
    """Whether a fold has to be named before the prefix is deleted."""


RIGHT = Law()


class BrokenError(Exception):
    """An invariant does not hold."""


def _bytes(name: tuple[int, int], size: int) -> bytes:
    return bytes([name[0] + 2, name[1] + 2]) * (size // 2)


@cache
def prefix_of(append: Append) -> Prefix:
    """What the record of an append claims; its digest is made of its name."""
    parent = NO_DIGEST if append.parent == NOBODY else _bytes(append.parent, 32)
    attempt, digest = _bytes(append.name, 16), _bytes(append.name, 32)
    return Prefix(ENVELOPE_FORMAT, _bytes(append.identity, 16), attempt, parent, append.first, append.length, digest)


@cache
def _named(append: Append) -> Named:
    return Named(prefix_of(append), b"" if append.fold < 0 else bytes([append.fold + 1]))


def child(name: tuple[int, int], truth: tuple[Append, ...], length: int, fold: int = -1) -> Append:
    """The append that somebody decides on the last one of a history."""
    if not truth:
        return Append(name, NOBODY, name, 1, length, fold)
    parent = truth[-1]
    return Append(name, parent.name, truth[0].identity, parent.first + parent.length, length, fold)


class Search:
    """A search over all states of one size under one law. `symmetric`: worlds with other names for nodes are one."""

    def __init__(self, size: Size, law: Law = RIGHT, *, symmetric: bool = False) -> None:
        self.size = size
        self.law = law
        self._orders = [*permutations(range(size.nodes))] if symmetric else []
        self.states = 0
        self._starts: dict[object, int | None] = {}
        self._haunted: set[tuple[int, tuple[Append, ...]]] = set()

    def run(self) -> int:
        """Visit every state; return how many there are. Raises `BrokenError` with the first bad one."""
        first = World(nodes=(Node(),) * self.size.nodes)
        seen = {first}
        stack = [first]
        while stack:
            world = stack.pop()
            self.states += 1
            self._check(world)
            for after in self._steps(world):
                known = self._canonical(after)
                if known not in seen:
                    seen.add(known)
                    stack.append(known)
        return self.states

    # ---------------------------------------------------------------------------------------------------- invariants

    def _check(self, world: World) -> None:
        """Who starts now finds the truth; who starts after somebody else has deleted a prefix finds it, or can't start;
        nobody, from wherever they began, takes a ghost for anything else than it is.
        """
        started = self._start(world, 0)
        if started is None:
            raise BrokenError(f"who starts now can't: {world}")
        for deleted in range(1, len(world.log) + 1):
            self._start(world, deleted)
        for node in world.nodes:
            self._haunt(world, node.base)
        self._haunt(world, started)

    def _start(self, world: World, deleted: int) -> int | None:
        """How many appends the fold of somebody stands for who starts when a prefix is deleted; None where they can't."""
        folded = tuple(node.folded if node.folding else 0 for node in world.nodes)
        key = (world.cut + deleted, world.log[deleted:], world.truth, folded)
        if key not in self._starts:
            self._starts[key] = self._started_at(world, deleted)
        return self._starts[key]

    def _started_at(self, world: World, deleted: int) -> int | None:
        log = world.log[deleted:]
        appends = [one for one in log if isinstance(one, Append)]
        chunks = {one for one in log if isinstance(one, Chunk)}
        folds = {
            bytes([number + 1]): self._place(world, node.folded)
            for number, node in enumerate(world.nodes)
            if node.folding and chunks >= {Chunk(number, 0), Chunk(number, 1)}
        }
        begun = self.law.begin(world.cut + deleted, [_named(one) for one in appends], folds)
        if begun is None:
            return None
        place, told = begun
        history = History.at(place) if told else History()
        base = abs(world.nodes[told[0] - 1].folded) if told else 0
        valid = []
        for one in appends:
            verdict = self._follow(history, one)
            if verdict is Verdict.VALID:
                valid.append(one)
            elif verdict is not Verdict.LOSER:
                return None
        if valid != [one for one, _ in world.truth[base:]]:
            raise BrokenError(f"who starts after {deleted} deletions finds {valid} after {base}: {world}")
        return base

    def _place(self, world: World, folded: int) -> Position:
        position = prefix_of(world.truth[abs(folded) - 1][0]).position
        return Position(position.identity, position.sequence - (folded < 0), position.digest)

    def _follow(self, history: History, append: Append) -> Verdict:
        prefix = prefix_of(append)
        verdict = self.law.judge(history, prefix)
        if verdict is Verdict.VALID:
            history.tip = prefix.position
            history.places[prefix.last] = prefix.digest
        return verdict

    def _haunt(self, world: World, base: int) -> None:
        """What comes too late, or again, is a loser to every reader; what was decided on another history is told apart."""
        truth = tuple(one for one, _ in world.truth)
        if (base, truth) in self._haunted:
            return
        self._haunted.add((base, truth))
        history = self._history(truth, base, len(truth))
        for ghost in (*truth, *_late(truth)):
            if self.law.judge(history, prefix_of(ghost)) is not Verdict.LOSER:
                raise BrokenError(f"{ghost} haunts who began at {base}: {world}")
        if not truth:
            return
        other, end = (99, 99), truth[-1].first + truth[-1].length
        begin = truth[base - 1].first + truth[base - 1].length if base else 2
        for first in range(begin, end + 2):
            stranger = Append((98, 98), other, truth[0].identity, first, 1)
            wanted = Verdict.MISSING if first > end else Verdict.FORKED
            if self.law.judge(history, prefix_of(stranger)) is not wanted:
                raise BrokenError(f"{stranger} of another history is not {wanted} to who began at {base}: {world}")

    def _history(self, truth: tuple[Append, ...], base: int, known: int) -> History:
        history = History.at(prefix_of(truth[base - 1]).position) if base else History()
        for one in truth[base:known]:
            self._follow(history, one)
        return history

    # ---------------------------------------------------------------------------------------------------- steps

    def _steps(self, world: World) -> Iterator[World]:
        for place, record in enumerate(world.air):
            if isinstance(record, Chunk) and record.part and Chunk(record.fold, 0) in world.air:
                continue  # which of the two comes first makes no difference to anybody
            air = world.air[:place] + world.air[place + 1 :]
            truth = world.truth
            if isinstance(record, Append):
                truth = (*truth, (record, world.cut + len(world.log)))
                air = tuple(one for one in air if isinstance(one, Chunk))  # the others are ghosts from now on
            yield world._replace(log=(*world.log, record), air=air, truth=truth)
        for place, before in enumerate(world.cuts):
            rest = world.cuts[:place] + world.cuts[place + 1 :]
            yield world._replace(log=world.log[max(0, before - world.cut) :], cut=max(world.cut, before), cuts=rest)
        for number, node in enumerate(world.nodes):
            if node.next < world.cut + len(world.log):
                yield self._read(world, number)
            if node.known == len(world.truth) and node.sent < self.size.appends:
                yield self._send(world, number, -1)
            yield from self._fold(world, number)
            yield self._started(world, number)  # a crash

    def _read(self, world: World, number: int) -> World:
        """A node reads to the end. Where its next record was deleted it starts anew."""
        node = world.nodes[number]
        if node.next < world.cut:
            return self._started(world, number)
        truth = tuple(one for one, _ in world.truth)
        history = self._history(truth, node.base, node.known)
        known = node.known
        for record in world.log[node.next - world.cut :]:
            if isinstance(record, Append):
                verdict = self._follow(history, record)
                if verdict is not Verdict.VALID:
                    raise BrokenError(f"{record} is {verdict} to node {number}: {world}")
                known += 1
        if known != len(truth):
            raise BrokenError(f"node {number} knows {known} of {len(truth)} appends: {world}")
        return self._told(world, number, node._replace(next=world.cut + len(world.log), known=known))

    def _told(self, world: World, number: int, node: Node) -> World:
        """A node has read on; where it finds that its fold was named it has the prefix deleted."""
        cuts = world.cuts
        if node.folding == 2 and any(one.fold == number for one, _ in world.truth):
            node = node._replace(folding=3)
            cuts = tuple(sorted((*cuts, self.law.rest(world, abs(node.folded)))))
        return _with(world, number, node)._replace(cuts=cuts)

    def _send(self, world: World, number: int, fold: int) -> World:
        """A node sends an append on the last one; every second one is a chain of two."""
        node = world.nodes[number]
        truth = tuple(one for one, _ in world.truth)
        append = child((number, node.sent), truth, 1 + node.sent % 2, fold)
        air = tuple(sorted((*world.air, append), key=repr))
        return _with(world, number, node._replace(sent=node.sent + 1))._replace(air=air)

    def _fold(self, world: World, number: int) -> Iterator[World]:
        """The next step of a node that folds: chunks, once they are all there a name, once that is there a deletion."""
        node = world.nodes[number]
        begun = sum(one.folding > 0 for one in world.nodes)
        if node.folding == 0 and node.known > node.base and begun < self.size.folds:
            last = world.truth[node.known - 1][0]
            folded = -node.known if self.law.inside and last.length > 1 else node.known
            chunks = (Chunk(number, 0), Chunk(number, 1))
            cuts = world.cuts if self.law.named else tuple(sorted((*world.cuts, self.law.rest(world, node.known))))
            air = tuple(sorted((*world.air, *chunks), key=repr))
            yield _with(world, number, node._replace(folding=1, folded=folded))._replace(air=air, cuts=cuts)
        if node.folding == 1 and node.known == len(world.truth) and self._arrived(world, number):
            named = self._send(world, number, number)
            yield _with(named, number, named.nodes[number]._replace(folding=2))

    def _arrived(self, world: World, number: int) -> bool:
        """Whether a node has read both chunks of its fold, and no newer fold counts already."""
        folded = abs(world.nodes[number].folded)
        newer = any(one.fold >= 0 and abs(world.nodes[one.fold].folded) >= folded for one, _ in world.truth)
        read = world.log[: max(0, world.nodes[number].next - world.cut)]
        return not newer and {Chunk(number, 0), Chunk(number, 1)} <= set(read)

    def _started(self, world: World, number: int) -> World:
        """A node that knows nothing reads everything; a fold that it was at is broken off, its chunks may still land."""
        base = self._start(world, 0)
        if base is None:
            raise BrokenError(f"node {number} can't start: {world}")
        node = world.nodes[number]
        folding = 9 if node.folding in {1, 2} else node.folding
        fresh = node._replace(next=world.cut + len(world.log), known=len(world.truth), base=base, folding=folding)
        return self._told(world, number, fresh)

    # ---------------------------------------------------------------------------------------------------- symmetry

    def _canonical(self, world: World) -> World:
        """One of the worlds that differ only in how nodes are called, or in chunks that were read by who does not care."""
        nodes = []
        for node in world.nodes:
            if node.folding != 1 and node.next >= world.cut:
                after = world.truth[node.known - 1][1] + 1 if node.known else 0
                node = node._replace(next=max(after, world.cut))  # noqa: PLW2901 - the same node, told otherwise
            nodes.append(node)
        world = world._replace(nodes=tuple(nodes))
        return min((_renamed(world, order) for order in self._orders), key=repr) if self._orders else world


def _with(world: World, number: int, node: Node) -> World:
    return world._replace(nodes=(*world.nodes[:number], node, *world.nodes[number + 1 :]))


def _late(truth: tuple[Append, ...]) -> Iterator[Append]:
    """What a node may have decided on any place but the last, and another birth of the log."""
    for known in range(len(truth)):
        for length in (1, 2):
            yield child((97, known), truth[:known], length)


def _renamed(world: World, order: tuple[int, ...]) -> World:
    """The same world with other names for its nodes."""

    def name(one: tuple[int, int]) -> tuple[int, int]:
        return one if one[0] < 0 else (order[one[0]], one[1])

    def append(one: Append) -> Append:
        fold = -1 if one.fold < 0 else order[one.fold]
        return Append(name(one.name), name(one.parent), name(one.identity), one.first, one.length, fold)

    def record(one: Record) -> Record:
        return Chunk(order[one.fold], one.part) if isinstance(one, Chunk) else append(one)

    nodes = [Node()] * len(order)
    for number, node in enumerate(world.nodes):
        nodes[order[number]] = node
    return world._replace(
        log=tuple(map(record, world.log)),
        air=tuple(sorted(map(record, world.air), key=repr)),
        truth=tuple((append(one), offset) for one, offset in world.truth),
        nodes=tuple(nodes),
    )
