"""The rule of `writers=any` in every state of small logs; and wrong rules, each of which is found."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from tests.simulation.kafka.exhaustive import RIGHT, BrokenError, Law, Search, Size
from treaty.core.commit import START, Position, Prefix
from treaty.log.kafka.any.beginning import Named
from treaty.log.kafka.any.rule import History, Verdict


@pytest.mark.parametrize(
    "size",
    [
        Size(2, 3),
        pytest.param(Size(2, 2, folds=1), marks=pytest.mark.slow),
        pytest.param(Size(2, 2, folds=2), marks=pytest.mark.soak),
        pytest.param(Size(2, 3, folds=1), marks=pytest.mark.soak),
        pytest.param(Size(3, 4), marks=pytest.mark.soak),
    ],
    ids=lambda size: f"{size.nodes} nodes, {size.appends} appends each, {size.folds} folds",
)
def test_every_state_is_right(size: Size, figure: Callable[[str], None]) -> None:
    symmetric = size.nodes > 2
    states = Search(size, symmetric=symmetric).run()
    figure(f"{states:,} states{', but for the names of nodes' if symmetric else ''}")


def _without_the_place(history: History, claim: Prefix) -> Verdict:
    verdict = RIGHT.judge(history, claim)
    return Verdict.LOSER if verdict is Verdict.FORKED else verdict


def _missing_loses(history: History, claim: Prefix) -> Verdict:
    verdict = RIGHT.judge(history, claim)
    return Verdict.LOSER if verdict is Verdict.MISSING else verdict


def _by_sequence(history: History, claim: Prefix) -> Verdict:
    fits = claim.identity == history.tip.identity and claim.first == history.tip.sequence + 1
    return Verdict.VALID if fits else RIGHT.judge(history, claim)


def _tails(history: History, claim: Prefix) -> Verdict:
    late = claim.identity == history.tip.identity and claim.first <= history.tip.sequence < claim.last
    return Verdict.VALID if late else RIGHT.judge(history, claim)


def _oldest(first: int, _: Sequence[Named], folds: Mapping[bytes, Position]) -> tuple[Position, bytes] | None:
    by_age = sorted((place.sequence, told) for told, place in folds.items())
    return (folds[by_age[0][1]], by_age[0][1]) if by_age else (START, b"") if first == 0 else None


def _born_anywhere(first: int, appends: Sequence[Named], folds: Mapping[bytes, Position]) -> tuple[Position, bytes]:
    return RIGHT.begin(first, appends, folds) or (START, b"")


ONE, TWO = Size(2, 2, folds=1), Size(2, 2, folds=2)
WRONG: Mapping[str, tuple[Law, Size]] = {
    "a loser whose parent's place is not looked at": (Law(judge=_without_the_place), Size(2, 2)),
    "missing data is a loser": (Law(judge=_missing_loses), Size(2, 2)),
    "the parent is not looked at": (Law(judge=_by_sequence), Size(2, 3)),
    "the tail of a chain outlives its head": (Law(judge=_tails), Size(2, 3)),
    "a fold inside a chain": (Law(inside=True), ONE),
    "the prefix is deleted beyond the fold's place": (Law(rest=lambda world, _: world.cut + len(world.log)), ONE),
    "a fold counts before it is named": (Law(named=False), ONE),
    "an older fold is taken as the newest": (Law(begin=_oldest), TWO),
    "what is left of a front is taken for all": (Law(begin=_born_anywhere), Size(2, 2)),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_rule_is_found(wrong: tuple[Law, Size], figure: Callable[[str], None]) -> None:
    law, size = wrong
    search = Search(size, law)
    with pytest.raises(BrokenError) as found:
        search.run()
    figure(f"found in state {search.states:,}: {str(found.value)[:90]}")
