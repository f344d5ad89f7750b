"""Three servers, killed and frozen at random under load: every history has an order that one registry would have made."""

import itertools
import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.real.linear.chaos import Chaos, calls, result_of
from tests.real.linear.checker import State, broken, linearizable, step
from tests.real.linear.history import Operation, operations
from tests.servers import postgres
from treaty.assemble import connect

FOREVER = float("inf")
_SCHEMAS = itertools.count(1)


def _sqlite(folder: Path) -> str:
    return f"sqlite://{folder}/log.db"


def _postgres(folder: Path) -> str:
    del folder
    return f"{postgres.shared().url}?schema=chaos%20{next(_SCHEMAS)}"


def endure(folder: Path, log: str, kills: int, figure: Callable[[str], None]) -> None:
    """Run the chaos, then judge what was seen and what is left."""
    chaos = Chaos(folder, log, seed=kills)
    try:
        chaos.run(kills)
        done = operations(chaos.recorder.events)
        chaos.recorder.write(folder / "history.jsonl")
        wrong = broken(done)
        for server in chaos.servers:
            server.get("/subjects?limit=1")  # looks at the tip
        states = {server.get("/status")["node"]["state_digest"] for server in chaos.servers}
    finally:
        chaos.stop()
    verified = subprocess.run(
        [sys.executable, "-m", "treaty.cli.main", "log", "verify", log, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
    told = json.loads(verified.stdout)
    unknown = sum(one.open for one in done)
    figure(
        f"{len(done)} operations, {chaos.kills} kills, {chaos.freezes} freezes, {unknown} outcomes unknown, 0 out of order"
    )
    assert wrong == {}, f"no order explains {wrong}; the events are in {folder}/history.jsonl"
    assert {told["logs"][0]["stateDigest"]} == states, verified.stdout
    assert len(done) > kills * 10


BACKENDS = {"sqlite": _sqlite, "postgres": _postgres}


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_servers_are_killed_and_no_answer_was_a_lie(
    backend: str, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    endure(tmp_path, BACKENDS[backend](tmp_path), 20, figure)


@pytest.mark.soak
@pytest.mark.parametrize("backend", BACKENDS)
def test_servers_are_killed_very_often(backend: str, tmp_path: Path, figure: Callable[[str], None]) -> None:
    endure(tmp_path, BACKENDS[backend](tmp_path), 200, figure)


# ------------------------------------------------------------------------------------------------ the checker itself


def op(name: str, argument: object, result: object, begun: float, ended: float, process: int = 0) -> Operation:
    return Operation(process, name, "s", argument, result, begun, ended)


GOOD = [
    op("register", "a", 1, 0, 3),
    op("register", "b", 2, 1, 2, 1),
    op("versions", None, [1, 2], 4, 5),
    op("delete", 1, 1, 6, 9),
    op("latest", None, [2, "b"], 7, 8, 1),
    op("register", "a", 3, 10, 11),
    op("versions", None, [2, 3], 12, 13),
]


def test_a_history_that_one_registry_could_have_made_is_one() -> None:
    assert linearizable(GOOD)
    assert linearizable([op("register", "a", 2, 0, 9), op("register", "b", 1, 1, 2, 1)])
    assert linearizable([op("register", "a", None, 0, FOREVER), op("versions", None, [1], 5, 6)])
    assert linearizable([op("register", "a", None, 0, FOREVER), op("versions", None, "SubjectNotFound", 5, 6)])


@pytest.mark.parametrize(
    "change",
    [
        lambda some: [one for one in some if one.name != "register" or one.argument != "b"],
        lambda some: [replace(one, result=[1]) if one.result == [1, 2] else one for one in some],
        lambda some: [replace(one, result=[1, 2, 3]) if one.result == [2, 3] else one for one in some],
        lambda some: [replace(one, result=2) if one.result == 3 else one for one in some],
        lambda some: [*some, op("latest", None, [2, "b"], 20, 21)],
    ],
    ids=["lost", "stale", "resurrected", "reused", "back"],
)
def test_a_planted_lie_is_seen(change: Callable[[list[Operation]], list[Operation]]) -> None:
    assert not linearizable(change(GOOD))
    assert set(broken(change(GOOD))) == {"s"}


def test_a_read_that_went_back_in_time_is_a_lie() -> None:
    write = op("register", "a", 1, 0, 1)
    assert not linearizable([write, op("versions", None, "SubjectNotFound", 2, 3)])
    assert linearizable([write, op("versions", None, "SubjectNotFound", 0.5, 3)])


def test_the_small_registry_has_the_rules_of_the_large_one() -> None:
    """The law itself, embedded, answers each operation as the model does."""
    chance = random.Random(5)
    with connect("memory:") as registry:
        registry.set_level("", "NONE")
        for subject in map(str, range(40)):
            state: State = ()
            for _ in range(40):
                name, argument, call = calls(registry, subject, chance)
                expected, state = step(state, name, argument)
                assert result_of(call) == expected, (name, argument, state)
