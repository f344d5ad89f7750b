"""The states of a small world, and what may happen next in each of them.

What a state leaves out, and why nothing is lost by that. `nodes.py` has states with all of it; a test holds that no
question is put to the rule there that is not put here.

- *Who sent an append.* No reader looks at it. So nodes have no names, and any of them may send the next one.
- *How long an append is.* That decides no step; so each state is asked with every choice of lengths.
- *What loses, and what comes again.* It changes no reader, so it changes nothing that happens after it: it is no step.
  That this is so is what `asking.py` asks of every reader at every place.
- *What is on its way.* A record may stay away for any time, so sending and landing are one step. A deletion is one too.
- *How far a node has read.* Where it began and what is valid decide all that it knows when it has read on; `asking.py`
  has readers who began at every place judge every append. Who is behind may send something that loses, or may fold
  what was there earlier: so a fold may stand for any number of the appends that there are.
- *Crashes.* Who was killed reads everything anew, as somebody does in every state, and never takes a step that is left
  to it. No step has to be taken, so there is a state where it was not.
- *Which fold is which.* The first one is the one whose first chunk landed first, and its chunks have no order.
- *Where a chunk lies exactly.* When no more folds begin, all that matters is which deletions will take it away.
"""

from collections.abc import Iterator
from typing import NamedTuple

from tests.simulation.kafka.small.law import Law, Size

AWAY = 255
"""The place of a chunk that has not landed."""
NAMES = "AB"


class Fold(NamedTuple):
    """A fold of so many appends, how many there were when its chunks landed (the earlier one first), and who names it."""

    folded: int
    one: int
    other: int = AWAY
    by: int = 0
    """Number of the append that names it, counted from 1; 0: none does."""

    def is_whole(self, cut: int) -> bool:
        """Whether both chunks are there when so many appends have been deleted."""
        return cut <= self.one and self.other != AWAY


class World(NamedTuple):
    """One state: how many appends are valid, the folds, and how many appends were deleted with all before them."""

    appends: int = 0
    folds: tuple[Fold, ...] = ()
    cut: int = 0

    def __str__(self) -> str:
        """The log as one line: appends by number, chunks by letter, `3=A` an append that names a fold."""
        words = []
        names = {fold.by: f"={name}" for fold, name in zip(self.folds, NAMES, strict=False) if fold.by}
        for count in range(self.appends + 1):
            words += [f"{count}{names.get(count, '')}"] if count else []
            words += [name.lower() for fold, name in self._named() for at in (fold.one, fold.other) if at == count]
        folds = ", ".join(f"{name} folds {fold.folded}" for fold, name in self._named())
        return f"{' '.join(words)} ({folds or 'no folds'}; {self.cut} deleted)"

    def _named(self) -> list[tuple[Fold, str]]:
        return [*zip(self.folds, NAMES, strict=False)]


def steps(world: World, size: Size, law: Law) -> Iterator[World]:
    """Every state that may come next."""
    count, folds, cut = world
    newest = max((fold.folded for fold in folds if fold.by), default=0)
    if count < size.most:
        yield World(count + 1, folds, cut)
        for number, fold in enumerate(folds):
            if not fold.by and fold.folded > newest and fold.other != AWAY:
                yield World(count + 1, _with(folds, number, fold._replace(by=count + 1)), cut)
    if len(folds) < size.folds:
        for folded in range(1, count + 1):
            yield World(count, (*folds, Fold(folded, count)), cut)
    for number, fold in enumerate(folds):
        if fold.other == AWAY:
            yield World(count, _with(folds, number, fold._replace(other=count)), cut)
        if fold.one < cut:  # that chunk was deleted, and comes again
            one, other = sorted((count, fold.other))
            yield World(count, _with(folds, number, fold._replace(one=one, other=other)), cut)
        if fold.by or not law.named:
            before = law.rest(fold.folded, count)
            if before > cut:
                yield World(count, folds, before)


def _with(folds: tuple[Fold, ...], number: int, fold: Fold) -> tuple[Fold, ...]:
    return (*folds[:number], fold, *folds[number + 1 :])


def canonical(world: World, size: Size) -> World:
    """One of the states that differ only in where a chunk lies between deletions that may come."""
    count, folds, cut = world
    if len(folds) < size.folds:
        return world
    stops = sorted({0, cut, *(fold.folded for fold in folds)}, reverse=True)
    told = []
    for fold in folds:
        one = next(stop for stop in stops if stop <= fold.one)
        other = AWAY if fold.other == AWAY else next(stop for stop in stops if stop <= fold.other)
        told.append(fold._replace(one=one, other=other))
    return World(count, tuple(told), cut)
