"""Three servers, killed and frozen at random under load: every history has an order that one registry would have made."""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.real.linear import statements
from tests.real.linear.calls import OFTEN, chosen, result_of
from tests.real.linear.checker import broken, linearizable
from tests.real.linear.history import Operation, Recorder, operations, read
from tests.real.linear.judge import endure
from tests.real.linear.model import State, step
from tests.real.linear.stores import STORES
from treaty.assemble import connect
from treaty.core.refusals import OutcomeUnknown, Refusal, SubjectNotFound, Unavailable

FOREVER = float("inf")
KILLS = 3
"""Kills in `make test`; the soak has more."""
BACKENDS = [pytest.param(name, marks=[pytest.mark.jvm] if name.startswith("kafka") else []) for name in STORES]


def endured(backend: str, folder: Path, kills: int, figure: Callable[[str], None]) -> None:
    store = STORES[backend](folder)
    history = folder / "history.jsonl"
    try:
        outcome = endure(folder, store, kills, kills=kills, seconds=FOREVER, history=history)
    finally:
        store.stop()
    figure(str(outcome))
    assert not outcome.wrong, f"{outcome.wrong}; the events are in {history}"
    assert outcome.operations > kills * 10
    assert outcome.states > kills, "the log was read once only"
    assert {*store.harms} & {*outcome.harms}, "nothing happened to the log"


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_servers_are_killed_and_no_answer_was_a_lie(
    backend: str, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    endured(backend, tmp_path, KILLS, figure)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("backend", BACKENDS)
def test_servers_are_killed_very_often(backend: str, tmp_path: Path, figure: Callable[[str], None]) -> None:
    endured(backend, tmp_path, 200, figure)


# -------------------------------------------------------------------------------------------------------- histories


def raising(error: Exception) -> Callable[[], object]:
    def call() -> object:
        raise error

    return call


def test_a_history_is_lines_of_json_that_anybody_can_judge(tmp_path: Path) -> None:
    recorder, path = Recorder(), tmp_path / "history.jsonl"
    assert recorder.ask(7, "register", "s", "a", lambda: 1) == 7
    assert recorder.ask(7, "versions", "s", None, lambda: [1]) == 7
    assert recorder.ask(7, "latest", "t", None, raising(SubjectNotFound.of("RULE", "none"))) == 7
    assert recorder.ask(7, "register", "s", "b", raising(Unavailable("no log"))) == 7
    after = recorder.ask(7, "register", "s", "c", raising(OutcomeUnknown("id")))
    assert after != 7, "who does not know what came of a call is dead, or other checkers could not read it"
    recorder.write(path)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert all({*line} == {"process", "type", "operation", "arguments", "result", "time"} for line in lines)
    assert [line["type"] for line in lines if line["type"] != "invoke"] == ["ok", "ok", "ok", "fail", "unknown"]
    assert lines[1]["arguments"] == {"subject": "s", "value": "a"}
    assert [line["result"] for line in lines if line["type"] == "ok"] == [1, [1], "SubjectNotFound"]
    assert lines == sorted(lines, key=lambda line: float(line["time"]))
    found = operations(read(path))
    assert [(one.name, one.argument, one.open) for one in found if one.subject == "s"] == [
        ("register", "a", False),
        ("versions", None, False),
        ("register", "c", True),
    ]
    assert judged(path) == 0
    path.write_text(path.read_text("utf-8").replace('"result": [1]', '"result": [2]'), "utf-8")
    assert judged(path) == 1


def judged(path: Path) -> int:
    command = [sys.executable, "-m", "tests.real.linear", "--check", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert "without an order" in done.stdout, done.stderr
    return done.returncode


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


GROUP = [
    op("create", None, True, 0, 1),
    op("add", "a", 0, 2, 3),
    op("add_codec", "gzip", True, 4, 6),
    op("encode", [0, ""], 0, 4, 7, 1),
    op("encode", [0, "gzip"], 1, 8, 9),
    op("encoding", 1, [0, "a", "gzip"], 10, 11),
    op("delete_ordinal", 0, True, 12, 13),
    op("encoding", 0, [0, "a", ""], 14, 15),
    op("add", "a", 1, 16, 17),
    op("purge", 2, "NotDeletedFirst", 18, 19),
    op("remove", None, True, 20, 21),
    op("register", "b", 1, 22, 23),
    op("encode", [0, ""], 2, 24, 25),
]
"""A group with encodings that outlive a deletion; its ids are used up when another one gets its name."""


def test_a_history_that_one_registry_could_have_made_is_one() -> None:
    assert linearizable(GOOD)
    assert linearizable(GROUP)
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


@pytest.mark.parametrize(
    ("at", "lie"),
    [(4, 0), (5, [0, "b", "gzip"]), (7, "EncodingNotFound"), (8, 0), (9, 2), (12, 0)],
    ids=[
        "one id twice",
        "another schema",
        "deleted, unreadable",
        "one ordinal twice",
        "a purge",
        "used up and assigned again",
    ],
)
def test_a_planted_lie_about_encodings_is_seen(at: int, lie: object) -> None:
    assert not linearizable([replace(one, result=lie) if place == at else one for place, one in enumerate(GROUP)])


def test_a_read_that_went_back_in_time_is_a_lie() -> None:
    write = op("register", "a", 1, 0, 1)
    assert not linearizable([write, op("versions", None, "SubjectNotFound", 2, 3)])
    assert linearizable([write, op("versions", None, "SubjectNotFound", 0.5, 3)])


def test_the_small_registry_has_the_rules_of_the_large_one() -> None:
    """The law itself, embedded, answers each operation as the model does."""
    chance = random.Random(5)
    seen: set[str] = set()
    with connect("memory:") as registry:
        registry.set_level("", "NONE")
        for subject in map(str, range(60)):
            state = State()
            for _ in range(50):
                one = chosen(registry, subject, chance, {})
                expected, state = step(state, one.name, one.argument)
                assert result_of(one.call) == expected, (one.name, one.argument, state)
                seen |= {one.name, expected if isinstance(expected, str) else ""}
    refusals = {kind.__name__ for kind in _kinds(Refusal)}
    assert seen >= {*OFTEN}
    assert seen & refusals == {
        "AlreadyDeleted",
        "CodecNotFound",
        "Encoded",
        "EncodingNotFound",
        "Incompatible",
        "NotDeletedFirst",
        "PreviousLevelDiffers",
        "SchemaNotFound",
        "SettingNotFound",
        "SubjectNotFound",
        "VersionNotFound",
    }


def test_the_small_metastore_has_the_rules_of_the_large_one() -> None:
    chance, seen = random.Random(6), set[str]()
    with connect("memory:") as registry:
        for subject in (f"{kind}{place}" for place in range(25) for kind in "mr"):
            state: Any = statements.initial(subject)
            for _ in range(40):
                one = chosen(registry, subject, chance, {})
                expected, state = statements.step(state, one.name, one.argument)
                assert result_of(one.call) == expected, (one.name, one.argument, state)
                seen |= {one.name, expected if isinstance(expected, str) else ""}
    refusals = {kind.__name__ for kind in _kinds(Refusal)}
    assert seen >= {*statements.OF_SOURCES, *statements.OF_RUNNERS}
    assert seen & refusals == {
        "InvalidSource", "NotLatest", "SourceExists", "SourceNotFound", "SourceUsed", "TypeNotFound",
    }  # fmt: skip


LEASED = [
    replace(op(name, argument, result, begun, ended, process), subject="r1")
    for name, argument, result, begun, ended, process in (
        ("begin", None, True, 0, 1, 0),
        ("acquire", ["r1-a", "", "h1"], True, 2, 5, 0),
        ("acquire", ["r1-a", "", "h2"], "NotLatest", 3, 6, 1),
        ("assign", ["r1-a", "h1"], True, 7, 8, 0),
        ("steal", ["r1-a", "h1", "h3"], True, 9, 10, 1),
        ("assign", ["r1-a", "h1"], "NotLatest", 11, 12, 0),
        ("owner", None, "r1-a", 13, 14, 1),
    )
]
"""A part of a runner whose lease is taken."""


def test_a_planted_lie_about_leases_is_seen() -> None:
    assert linearizable(LEASED)
    for place, lie in ((2, True), (4, "NotLatest"), (5, True), (6, "")):
        assert not linearizable([replace(one, result=lie) if at == place else one for at, one in enumerate(LEASED)])


def _kinds(kind: type[Refusal]) -> list[type[Refusal]]:
    found = [kind]
    for below in kind.__subclasses__():
        found += _kinds(below)
    return found
