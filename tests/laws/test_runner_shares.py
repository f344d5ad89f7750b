"""Parts among runners: whatever the order in which runners look, come and go, each part has one, and shares are equal."""

import random
from collections import Counter
from pathlib import Path

import pytest

from treaty.spark.runner.service.heartbeat import (
    STALE_SECONDS,
    HeartbeatWatch,
    RunnerHeartbeat,
    file_of,
    has_process_ended,
)
from treaty.spark.runner.service.wanted import PartKey, plan_moves

SHUFFLES = 1_000


def settle(owners: dict[PartKey, str], runners: list[str], dice: random.Random) -> int:
    """Let runners look and act in any order, on what was so when they looked, until nobody moves; return the number of rounds."""
    for turn in range(50):
        seen = {name: dict(owners) for name in runners}
        moved = False
        for name in dice.sample(runners, len(runners)):
            view = seen[name] if dice.random() < 0.5 else dict(owners)
            moves = plan_moves(view, runners, name)
            moved = moved or bool(moves.take or moves.release)
            for key in moves.release:
                assert view[key] == name
                owners[key] = ""
            if all(owners[key] in {"", name} for key in moves.take):  # else the registry refuses all of them
                owners |= dict.fromkeys(moves.take, name)
        if not moved:
            return turn
    raise AssertionError(owners)


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_looks_ends_in_equal_shares_and_then_nothing_moves(seed: int) -> None:
    """R31, R35: a thousand orders of start end alike, and a runner that goes or comes moves no more than it must."""
    for shuffle in range(SHUFFLES // 4):
        dice = random.Random(f"{seed} {shuffle}")
        runners = [f"r{at}" for at in range(dice.randint(1, 4))]
        parts = [PartKey(at, "query") for at in range(dice.randint(0, 20))]
        owners = dict.fromkeys(dice.sample(parts, len(parts)), "")
        settle(owners, runners, dice)
        check_shares(owners, runners)
        gone = dice.choice(runners)
        if len(runners) > 1:
            runners.remove(gone)
            kept = {key: owner for key, owner in owners.items() if owner != gone}
            owners |= dict.fromkeys((key for key, owner in owners.items() if owner == gone), "")
            settle(owners, runners, dice)
            check_shares(owners, runners)
            assert all(owners[key] == owner for key, owner in kept.items())
        runners.append("new")
        settle(owners, runners, dice)
        check_shares(owners, runners)


def check_shares(owners: dict[PartKey, str], runners: list[str]) -> None:
    counts = Counter(owners.values())
    assert set(counts) <= set(runners)
    assert max(counts[name] for name in runners) - min(counts[name] for name in runners) <= 1


def test_a_part_of_a_runner_that_is_gone_is_not_free_before_its_lease_has_ended() -> None:
    owners = {PartKey(1, "query"): "gone", PartKey(2, "query"): ""}
    assert plan_moves(owners, ["a"], "a").take == (PartKey(2, "query"),)


def test_a_runner_is_stale_by_the_clock_of_who_looks(tmp_path: Path) -> None:
    now = [1_000.0]
    watch = HeartbeatWatch(tmp_path, lambda: now[0])
    beat = RunnerHeartbeat(tmp_path, "a b/c", {"holder": "h1"})
    beat.close()  # from here on its file is written by hand
    file = file_of(tmp_path, "a b/c")
    assert not file.exists()
    assert not watch.is_stale("a b/c", "h1")
    for count in range(3):
        now[0] += STALE_SECONDS - 1
        file.write_text(f'{{"holder": "h1", "count": {count}}}')
        assert not watch.is_stale("a b/c", "h1")
    now[0] += STALE_SECONDS - 1
    assert not watch.is_stale("a b/c", "h1")
    now[0] += 2
    assert watch.is_stale("a b/c", "h1")
    assert not watch.is_stale("a b/c", "h2"), "another holder has its time from now on"


def test_a_process_of_this_machine_that_has_ended_is_known_at_once(tmp_path: Path) -> None:
    beat = RunnerHeartbeat(tmp_path, "a", {"holder": "h1"})
    try:
        assert not has_process_ended({"place": "elsewhere", "process": 1})
        assert not has_process_ended(None)
        assert not beat.is_lost
    finally:
        beat.close()
