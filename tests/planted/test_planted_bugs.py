"""Planted bugs: each is found, by a simulation, a law or a suite. A check that finds nothing proves nothing."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.planted import finding
from tests.planted.bug import ANY, Bug, ByLives, ByTests, Edit, Swap
from tests.planted.finding import Forge, found_by_lives, found_by_tests
from tests.planted.planting import TargetMovedError, planted
from tests.planted.table import BUGS, BadRowError, read_row
from treaty.core.handlers.settings import mode_in_force
from treaty.core.messages.settings import Scope
from treaty.core.state.tables import DictTables

MODE = "treaty.core.handlers.settings:mode_in_force"
GOOD = Edit(MODE, "DEFAULT_MODE", '"SIDEWAYS"')


@pytest.fixture(scope="module")
def forge() -> Iterator[Forge]:
    with Forge() as made:
        yield made


OPEN: set[str] = set()
"""Bugs that wait for their finder. Take a name out with the test that finds it; none may come in."""


@pytest.mark.parametrize("bug", [bug for bug in BUGS if isinstance(bug.finder, ByLives)], ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug: Bug, figure: Callable[[str], None]) -> None:
    assert isinstance(bug.finder, ByLives)
    seconds, seed = found_by_lives(bug, bug.finder)
    figure(f"found by {bug.finder.kind}, seed {seed}, in {seconds:.1f} s")


NORMAL = next(one for one in BUGS if one.name == "config: chain in the wrong order")


NO_FINDINGS = [
    (replace(NORMAL, changes=(replace(NORMAL.changes[0], new="(scope_key(Scope(scope.context)), everywhere)[:]"),)), "do not find it"),
    (replace(NORMAL, changes=(Edit("tests.planted.bug:ByLives.kind", "self.log", "self.seeds"),)), "did not run"),
    (replace(NORMAL, changes=(replace(NORMAL.changes[0], new="nonsense"),)), "no assertion of its own: NameError"),
    (replace(NORMAL, finder=ByTests(("tests/laws/test_settings.py::test_nothing",))), "no test ran"),
]  # fmt: skip
"""What is no finding of a bug, and why."""


BY_TESTS = [bug for bug in BUGS if isinstance(bug.finder, ByTests)]
SHARE = 40
"""One in so many of those that tests find is looked for in each run."""


@pytest.mark.timeout(1200)
def test_planted_bugs_of_a_share_are_found_by_tests_and_what_is_no_finding_is_none(
    forge: Forge, pytestconfig: pytest.Config, figure: Callable[[str], None]
) -> None:
    """One test for all of them, drawn by the seed of the run: a forge costs as much as twenty bugs, and each process has its own."""
    for change, message in NO_FINDINGS:
        with pytest.raises(AssertionError, match=message):
            found_by_tests(change, forge)
    dice = random.Random(f"planted {pytestconfig.getoption('randomly_seed', 'default')}")
    drawn = dice.sample(BY_TESTS, -(-len(BY_TESTS) // SHARE))
    seconds = sum(found_by_tests(bug, forge) for bug in drawn)
    figure(f"{len(drawn)} bugs found by tests in {seconds:.1f} s: {', '.join(bug.name for bug in drawn)}")


@pytest.mark.soak
@pytest.mark.rest
@pytest.mark.parametrize("bug", BY_TESTS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found_by_its_tests(bug: Bug, forge: Forge, figure: Callable[[str], None]) -> None:
    assert bug.finder is not None
    figure(f"found by {bug.finder.kind} in {found_by_tests(bug, forge):.1f} s")


def test_every_bug_can_be_planted() -> None:
    """In each run: who moves what a bug changes is told at once, though only some of the bugs are looked for."""
    for bug in BUGS:
        with planted(bug) as ran:
            assert not ran, bug.name


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.also], ids=lambda bug: bug.name)
def test_the_simulation_finds_it_too(bug: Bug, figure: Callable[[str], None]) -> None:
    assert bug.also is not None
    seconds, seed = found_by_lives(bug, bug.also)
    figure(f"found by {bug.also.kind}, seed {seed}, in {seconds:.1f} s")


def test_names_are_used_once() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS)


def test_only_known_bugs_are_without_a_finder() -> None:
    assert {bug.name for bug in BUGS if not bug.finder} == OPEN


def test_there_are_bugs_for_every_law_of_the_simulation() -> None:
    lives = [bug.finder for bug in BUGS if isinstance(bug.finder, ByLives)]
    narrow = [finder.laws for finder in lives if len(finder.laws) <= 4]
    assert {law for laws in narrow for law in laws} == set(ANY.split())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"in": "core/outcomes.py _too_old", "old": "a"}, "a change has `in` with `old` and `new`"),
        ({"edits": [{"in": "core/outcomes.py _too_old", "new": "a"}]}, "a change has `in` with `old` and `new`"),
        ({"in": "core/outcomes.py f", "old": "a", "new": "b", "test": "laws/t.py"}, "no member test; it may have"),
        ({"in": "core/outcomes.py f", "old": "a", "new": "b", "lives": {"seeds": 3}}, "no member seeds; it may have"),
    ],
)
def test_a_row_with_other_members_is_refused_by_its_name(row: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRowError, match=f"^its name: .*{message}"):
        read_row("its name", {"does": "Something.", **row})


# -------------------------------------------------------------------------------------------------------- planting


def bug(*changes: Edit | Swap) -> Bug:
    return Bug("the bug's name", "Something is wrong.", changes, ByTests(("tests/laws/test_settings.py",)))


@pytest.mark.parametrize("module", ["treaty.core.settings_of_old", "treaty.core.handlers.deletion"])
def test_a_function_that_was_moved_is_found_by_its_name_and_text(module: str) -> None:
    with planted(bug(replace(GOOD, target=f"{module}:mode_in_force"))) as ran:
        assert mode_in_force(DictTables(), Scope()) == "SIDEWAYS"
        assert ran == {0}


def test_of_moved_functions_with_the_same_name_the_one_with_the_text_is_meant() -> None:
    """Several modules have a `_page`, so the name alone says nothing; where more than one has the text, none is taken."""
    target = "treaty.core.nowhere:_page"
    with (
        pytest.raises(TargetMovedError, match="No module named"),
        planted(bug(Edit(target, "def _page(", "def page("))),
    ):
        raise AssertionError("it was planted")


def test_changed_code_runs_while_it_is_planted_and_is_noticed() -> None:
    with planted(bug(GOOD)) as ran:
        assert not ran
        assert mode_in_force(DictTables(), Scope()) == "SIDEWAYS"
        assert ran == {0}
    assert mode_in_force(DictTables(), Scope()) == "READWRITE"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Edit("treaty.core.handlers.nowhere:f", "a", "b"), "No module named"),
        (Edit("treaty.core.handlers.nowhere:mode_in_force", "or DEFAULT_FASHION", "b"), "No module named"),
        (Edit("treaty.core.handlers.settings:mode_in_farce", "a", "b"), "it is not there any more"),
        (Edit("treaty.core.handlers.settings:replace", "a", "b"), "no function of that module"),
        (replace(GOOD, old="or DEFAULT_FASHION"), "is there 0 times"),
        (replace(GOOD, old="is not None"), "is there 2 times"),
        (Swap(MODE, lambda view: "READONLY"), "it takes .*; what is planted takes"),
        (Swap(MODE, property(lambda view: "READONLY")), "it is a property, or none any more"),
        (Swap("treaty.node.follower:Follower.catch_up", lambda self: None), "asynchronous"),
        (Swap("treaty.node.follower:Follower.glance", lambda self: None), "it is not there any more"),
    ],
)
def test_a_target_that_has_moved_is_told_with_the_name_of_the_bug(change: Edit | Swap, message: str) -> None:
    with pytest.raises(TargetMovedError, match=f"^planted bug \"?'?the bug's name.*{message}"), planted(bug(change)):
        raise AssertionError("it was planted")
    assert mode_in_force(DictTables(), Scope()) == "READWRITE"


# -------------------------------------------------------------------------------------------------------- finding


def test_a_life_that_is_broken_by_itself_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another bug is there all the time, as one of the code under test would be: it breaks lives of the planted bug too."""
    other = next(one for one in BUGS if one.name == "rule: the latest version may be a deleted one")
    harmless = bug(Edit(MODE, "DEFAULT_MODE", "DEFAULT_MODE or DEFAULT_MODE"))
    assert isinstance(other.finder, ByLives)
    monkeypatch.setattr(
        finding, "broken_without_bugs", finding.broken_without_bugs.__wrapped__
    )  # nobody else hears of it
    with planted(other), pytest.raises(AssertionError, match="is broken without the bug too"):
        found_by_lives(harmless, other.finder)
