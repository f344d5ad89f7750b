"""No work of a node keeps the event loop for long: large appends, many rows and long lists give others their turn."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.behaviours.nodes.lives import change_over, desk, file_of, lagging, living, post, virtual, way, world
from tests.simulation.disk import Disk
from treaty.core.finding import Finding
from treaty.core.limits import FINDINGS, FINDINGS_CHARACTERS
from treaty.core.refusals import OutcomeUnknown
from treaty.core.registry import CallOptions
from treaty.core.requests import GetOutcome
from treaty.core.state.commit import make_append
from treaty.core.state.root import roots_with
from treaty.formats.engine import shorten_findings
from treaty.node import follower, writer
from treaty.node.environment import Environment
from treaty.node.node import Node

LARGE = "[" + ",".join(f'"{"name" * 20}{number}"' for number in range(2_000)) + "]"


def noting(pauses: list[str]) -> Environment:
    """An environment that notes when a node gives others their turn."""

    async def sleep(seconds: float) -> None:
        if not seconds:
            pauses.append("pause")
        await asyncio.sleep(seconds)

    return replace(world(), sleep=sleep)


@virtual
async def test_a_large_append_is_printed_in_a_turn_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    def note(step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*given: Any) -> Any:
            steps.append(step)
            return function(*given)

        return noted

    monkeypatch.setattr(writer, "roots_with", note("decided", roots_with))
    monkeypatch.setattr(writer, "make_append", note("printed", make_append))
    node = Node(way(Disk(9)), desk(1_000_000), noting(steps))
    await node.start()
    try:
        for text, expected in (('["a"]', ["decided", "printed"]), (LARGE, ["decided", "pause", "printed"])):
            await node.ask(post("s" + text[:3], text))
            at = len(steps) - steps[::-1].index("decided") - 1
            assert steps[at : at + len(expected)] == expected
    finally:
        await node.close()


@virtual
async def test_a_command_whose_time_ends_while_its_append_is_printed_may_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer, "LARGE_BYTES", 0)
    disk, is_printing, roots = Disk(9), [False], roots_with

    def begin(*given: Any) -> Any:
        is_printing[0] = True
        return roots(*given)

    async def sleep(seconds: float) -> None:
        long, is_printing[0] = is_printing[0], False
        await asyncio.sleep(5.0 if long else seconds)

    monkeypatch.setattr(writer, "roots_with", begin)
    node = Node(way(disk), desk(), replace(world(), sleep=sleep))
    await node.start()
    try:
        with pytest.raises(OutcomeUnknown) as unknown:
            await node.ask(post("s"), CallOptions(timeout=2.0))
        await asyncio.sleep(10)
        outcome = (await node.ask(GetOutcome(unknown.value.command_id))).answer
        assert outcome.sequence == 1
    finally:
        await node.close()


@virtual
async def test_many_rows_are_decoded_before_the_tables_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "SLICE_SECONDS", -1.0)  # each row ends a slice
    disk = Disk(9)
    async with living(way(disk)) as node, lagging(disk) as (late, tables):
        await node.ask(post("first"))
        file = file_of(disk)
        await asyncio.gather(*(node.ask(post(f"s{number}")) for number in range(100)))
        pauses: list[str] = []
        late.follower._environment = noting(pauses)
        assert await change_over(late, tables, file)
        assert len(pauses) > follower.AHEAD_ROWS
        assert late.follower.position == node.follower.position == disk.tip


def test_findings_with_long_paths_are_bounded_together_and_the_first_is_listed() -> None:
    few = tuple(Finding("RULE", "#/a", "it changed") for _ in range(FINDINGS))
    assert shorten_findings(few) == few
    many = tuple(Finding("RULE", "#" + "/allOf/0" * 1_600, "it changed") for _ in range(FINDINGS))
    shown = shorten_findings(many)
    assert shown == many[: len(shown)]
    assert FINDINGS_CHARACTERS - 14_000 < sum(len(one.path) for one in shown) < FINDINGS_CHARACTERS
    huge = (Finding("RULE", "#" + "/x" * FINDINGS_CHARACTERS, "it changed"),)
    assert shorten_findings(huge * 2) == huge
