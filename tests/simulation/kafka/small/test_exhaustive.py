"""The rule of `writers=any` in every state of small worlds; and wrong rules, each of which is found."""

from collections.abc import Callable

import pytest

from tests.simulation.kafka.small.asking import Asking, choices
from tests.simulation.kafka.small.claims import ends
from tests.simulation.kafka.small.law import BrokenError, Law, Size
from tests.simulation.kafka.small.nodes import Nodes, Start
from tests.simulation.kafka.small.search import Search
from tests.simulation.kafka.small.wrong import WRONG


def _told(size: Size) -> str:
    chains = f", at most {size.chains} chains" if size.chains < size.most else ""
    return f"{size.nodes} nodes x {size.appends} appends, {size.folds} folds{chains}"


@pytest.mark.parametrize(
    "size", [Size(2, 3, folds=2), pytest.param(Size(3, 4, folds=2, chains=1), marks=pytest.mark.soak)], ids=_told
)
def test_every_state_is_right(size: Size, figure: Callable[[str], None]) -> None:
    search = Search(size)
    search.run()
    figure(f"{_told(size)}: {search.states:,} states, {search.asking.asked:,} beginnings chosen, none of them wrong")


@pytest.mark.parametrize(
    ("size", "late"),
    [
        (Size(2, 2, folds=2), 1),
        pytest.param(Size(2, 2, folds=2), 2, marks=pytest.mark.soak),
        pytest.param(Size(2, 3, folds=2), 1, marks=pytest.mark.soak),
    ],
    ids=lambda one: _told(one) if isinstance(one, Size) else f"{one} late",
)
def test_nothing_that_comes_late_changes_a_beginning(size: Size, late: int, figure: Callable[[str], None]) -> None:
    search = Search(size, thorough=late)
    search.run()
    figure(f"{_told(size)}, {late} late in each: {search.states:,} states, {search.asking.asked:,} beginnings chosen")


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(Size(2, 2, folds=1), marks=pytest.mark.slow),
        pytest.param(Size(2, 1, folds=2), marks=pytest.mark.soak),
    ],
    ids=_told,
)
def test_states_leave_out_nothing_that_is_asked_of_named_nodes(size: Size, figure: Callable[[str], None]) -> None:
    nodes, search = Nodes(size), Search(size)
    nodes.run()
    search.run()

    asked = _starts(search.asking)
    assert nodes.starts <= asked
    figure(
        f"{_told(size)}: {nodes.states:,} states of named nodes ask {len(nodes.starts)} things, "
        f"all of them among {len(asked)} that {search.states:,} states ask"
    )


def _starts(asking: Asking) -> set[Start]:
    """What was asked, told as `Nodes` tells it."""
    starts: set[Start] = set()
    for bereft, cut, count, whole in asking.questions:
        for lengths in choices(count, asking.chains):
            at = ends(lengths)
            by = {name: at[folded] for folded, name in whole if name}
            there = tuple((at[one] + 1, lengths[one], by.get(one + 1, 0)) for one in range(cut, count))
            starts.add((bereft or cut > 0, there, tuple(sorted(at[folded] for folded, _ in whole))))
    return starts


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_rule_is_found(wrong: tuple[Law, Size], figure: Callable[[str], None]) -> None:
    law, size = wrong
    search = Search(size, law)
    with pytest.raises(BrokenError) as found:
        search.run()
    figure(f"found after {search.states:,} states: {found.value}")
