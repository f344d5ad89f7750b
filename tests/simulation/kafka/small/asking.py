"""What is asked in each state of a small world: who starts, who reads on, and what comes late to any of them.

A beginning is chosen by following appends, one after the other, from the place of a fold. Who follows them from a place
that was not deleted is a reader like any other, and what comes late is a loser to every reader (`_read_on`): so records
that come late are put into the log only where a fold is whole whose place was deleted. `thorough` puts them into the
log of every state, two of them where it says so. Otherwise nobody asks for what came late on an append before all folds:
that too is a loser to whoever begins at one of them.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, product

from tests.simulation.kafka.small.claims import ends, follow, named, place, second, spot, stranger, told, valid
from tests.simulation.kafka.small.law import BrokenError, Law
from tests.simulation.kafka.small.world import AWAY, World
from treaty.core.state.commit import Position
from treaty.log.kafka.multi_writer.validity import AppendHistory, NamedAppend, RecordValidity

Whole = tuple[tuple[int, int], ...]
"""Folds that are whole: how many appends each stands for, and the number of the append that names it; 0 where none
that is there does."""
Question = tuple[bool, int, int, Whole]
"""What somebody finds who starts: whether a prefix was deleted by who had no right to, how many appends were deleted and
how many there were in all, and the folds."""


class Asking:
    """Puts questions to a law, each once, with every choice of lengths that has at most so many chains of two."""

    def __init__(self, law: Law, chains: int, thorough: int = 0) -> None:
        self.law = law
        self.chains = chains
        self.thorough = thorough
        self.questions: set[Question] = set()
        self.asked = 0
        """Times that somebody chose a beginning."""
        self._read = -1

    def ask(self, world: World) -> None:
        """Who starts now finds the truth; who starts after somebody else has deleted a prefix finds it, or can't start;
        nobody, from wherever they began, takes what comes late for anything else than it is.
        """
        count, folds, cut = world
        if count > self._read:
            self._read = count
            for lengths in choices(count, self.chains):
                self._read_on(lengths)
        self._put((False, cut, count, _whole([(fold.folded, fold.by) for fold in folds if fold.is_whole(cut)], cut)))
        landed = [(fold.folded, fold.by) for fold in folds if fold.other != AWAY]
        for some in (one for most in range(len(landed) + 1) for one in combinations(landed, most)):
            for deleted in range(cut, count + 1):  # whichever chunks went with it
                self._put((True, deleted, count, _whole(some, deleted)))

    def _put(self, question: Question) -> None:
        if question in self.questions:
            return
        self.questions.add(question)
        bereft, cut, count, whole = question
        late = 0 if bereft else max(self.thorough, any(folded < cut for folded, _ in whole))
        known = 0 if self.thorough else min([cut, *(folded for folded, _ in whole)])
        for lengths in choices(count, self.chains, known):
            self._start(question, lengths, late)

    # ---------------------------------------------------------------------------------------------------- starting

    def _start(self, question: Question, lengths: bytes, late: int) -> None:
        """Somebody starts; and again with each record that may have come late, at each place where it may lie."""
        bereft, cut, _, whole = question
        at = ends(lengths)
        by = {name: fold for fold, (_, name) in enumerate(whole) if name}
        there = [named(valid(at[one] + 1, lengths[one]), by.get(one + 1, -1)) for one in range(cut, len(lengths))]
        places = {told(one): place(at, lengths, fold[0], inside=self.law.inside) for one, fold in enumerate(whole)}
        self.asked += 1
        begun = self.law.begin(cut + bereft, there, places)
        if begun is not None:
            self._finds(begun, there, cut, lengths, whole)
        elif not bereft:
            raise BrokenError("who starts now can't")
        oldest = 0 if self.thorough else min((folded for folded, _ in whole), default=0)
        ghosts = [ghost for ghost in _ghosts(lengths, whole) if ghost[1] > oldest] if late else []
        for log in _haunted(there, ghosts, cut, len(lengths), late):
            self.asked += 1
            other = self.law.begin(cut + bereft, log, places)
            if other is None:
                raise BrokenError("who starts now can't, because of what came late")
            if other != begun:
                self._finds(other, there, cut, lengths, whole)

    def _finds(
        self, begun: tuple[Position, bytes], there: Sequence[NamedAppend], cut: int, lengths: bytes, whole: Whole
    ) -> None:
        """Who begins somewhere takes every append after it for valid, each where it landed, and all others for losers."""
        where, fold = begun
        base = whole[fold[0] - 1][0] if fold else 0
        history = AppendHistory.at(where) if fold else AppendHistory()
        took = [follow(self.law, history, one.claim) for one in there]
        wanted = [
            RecordValidity.VALID if number > base else RecordValidity.STALE
            for number in range(cut + 1, len(lengths) + 1)
        ]
        if took != wanted or base < cut:
            raise BrokenError(
                f"who starts on a fold of {base} finds {', '.join(one.value for one in took) or 'nothing'}"
            )

    # ---------------------------------------------------------------------------------------------------- reading on

    def _read_on(self, lengths: bytes) -> None:
        """All who have read up to the last append, from wherever they began, judge it, and then what is none."""
        at, count = ends(lengths), len(lengths)
        for base in range(count + 1):
            history = AppendHistory.at(spot(at[base])) if base else AppendHistory()
            for number in range(base, count):
                verdict = follow(self.law, history, valid(at[number] + 1, lengths[number]))
                if verdict is not RecordValidity.VALID:
                    raise BrokenError(f"append {number + 1} is {verdict.value} to who began after {base}")
            for number in range(max(base, 1), count + 1):
                if not history.knows(spot(at[number])) or history.knows(spot(at[number], root=b"x" * 32)):
                    raise BrokenError(f"a place is not told by its root to who began after {base}")
            for number, length in enumerate(lengths):
                for ghost in (valid(at[number] + 1, length), second(at[number] + 1, 1), second(at[number] + 1, 2)):
                    verdict = self.law.judge(history, ghost)
                    if verdict is not RecordValidity.STALE:
                        what = f"what comes late on append {number}, with sequences {ghost.first} to {ghost.last},"
                        raise BrokenError(f"{what} is {verdict.value} to who began after {base} and knows {at[count]}")
            for first in range(at[base] + 1 if base else 2, at[count] + 3 if count else 0):
                wanted = RecordValidity.GAP if first > at[count] + 1 else RecordValidity.FORKED
                verdict = self.law.judge(history, stranger(first))
                if verdict is not wanted:
                    what = f"an append of another history at sequence {first}"
                    raise BrokenError(f"{what} is {verdict.value} to who began after {base} and knows {at[count]}")


@cache
def choices(count: int, chains: int, deleted: int = 0) -> tuple[bytes, ...]:
    """Lengths of so many appends, one or two commits each. Of those that were deleted only their sum is chosen."""
    fronts = [b"\2" * twos + b"\1" * (deleted - twos) for twos in range(deleted + 1)]
    rests = map(bytes, product((1, 2), repeat=count - deleted))
    return tuple(front + rest for rest in rests for front in fronts if (front + rest).count(2) <= chains)


def _whole(folds: Sequence[tuple[int, int]], cut: int) -> Whole:
    return tuple(sorted((folded, by if by > cut else 0) for folded, by in folds))


def _haunted(
    there: list[NamedAppend], ghosts: Sequence[tuple[NamedAppend, int]], cut: int, count: int, late: int
) -> Iterator[list[NamedAppend]]:
    """The log with up to so many records that came late, at every place where they may lie."""
    for some in (one for most in range(1, late + 1) for one in combinations(ghosts, most)):
        for where in product(*(range(max(born, cut), count + 1) for _, born in some)):
            log = there.copy()
            for at, (ghost, _) in sorted(zip(where, some, strict=True), key=lambda one: -one[0]):
                log.insert(at - cut, ghost)
            yield log


def _ghosts(lengths: bytes, whole: Whole) -> Iterator[tuple[NamedAppend, int]]:
    """What may come late, and how many appends there are at least when it does: an append that comes again, or another
    one on its parent that came second. Each may name a fold.
    """
    at = ends(lengths)
    for number, length in enumerate(lengths):
        first = at[number] + 1
        for fold in (-1, *range(len(whole))):
            if fold < 0 or number >= whole[fold][0]:
                yield named(valid(first, length), fold), number + 1
                yield named(second(first, 1), fold), number + 1
        yield named(second(first, 2), -1), number + 1
