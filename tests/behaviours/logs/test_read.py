"""Reading any log, from any place, and waiting for news."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.behaviours.logs.backends import KEPT, Node, State, accepted, chain, nodes, played, put, row, told, whole
from treaty.core.limits import CHAIN_BYTES, CHAIN_COMMITS
from treaty.core.state.commit import START, Position
from treaty.core.state.rows import EncodedRow
from treaty.core.state.tables import DictTables
from treaty.log.log import Log, LogDelta

HEARD, OWN = 60.0, 0.1
"""Seconds that a wait may take where others write, and where the log itself did: that may be no news."""


@told
async def test_whoever_reads_on_from_any_place_comes_to_the_same_state(node: Node) -> None:
    chance = random.Random(11)
    async with nodes(node, 2) as (one, two):
        states: dict[Position, State] = {START: {}}
        tip = START
        for number in range(KEPT - 5):
            rows = [
                row(f"k{chance.randrange(6)}", chance.choice([None, f'{{"n":{number}}}']))
                for _ in range(chance.randrange(4))
            ]
            cut = chance.randrange(len(rows) + 1)
            before, tip = tip, await accepted(chance.choice([one, two]), chain(tip, rows[:cut], rows[cut:]))
            states[tip] = played(rows, states[before])
        for place, state in states.items():
            for log in (one, two):
                delta = await log.read(place)
                assert delta.tip == tip
                assert delta.reload == (place == START)
                assert played(delta.rows, {} if delta.reload else state) == states[tip]


@told
async def test_tables_fed_by_deltas_are_those_of_who_starts_now(node: Node) -> None:
    chance = random.Random(5)
    async with nodes(node, 2) as (one, two):
        slow, fast = DictTables(), DictTables()
        for number in range(30):
            rows = [row(f"k{chance.randrange(9)}", chance.choice([None, f'{{"generation":{number}}}'])) for _ in "abc"]
            await put(one, *rows, row(f"k{number}", '{"v":99}', "future"))
            for tables, log in ((fast, two), (slow, one)):
                if tables is fast or chance.random() < 0.2:
                    delta = await log.read(tables.position)
                    (tables.load if delta.reload else tables.apply)(delta.rows, delta.tip)
        slow.apply((await one.read(slow.position)).rows, await one.tip())
        started = DictTables()
        started.load((await two.read(START)).rows, await two.tip())
        assert slow.roots == fast.roots == started.roots
        assert slow.position == fast.position == started.position


FOREIGN: dict[str, Callable[[Position], Position]] = {
    "another identity": lambda place: replace(place, identity=b"o" * 16),
    "another digest": lambda place: replace(place, digest=b"o" * 32),
    "beyond the tip": lambda place: replace(place, sequence=place.sequence + 7),
    "between two appends": lambda place: replace(place, sequence=place.sequence - 1),
}


@pytest.mark.parametrize("foreign", FOREIGN.values(), ids=FOREIGN)
@told
async def test_a_place_of_another_history_is_answered_with_the_whole_state(
    node: Node, foreign: Callable[[Position], Position]
) -> None:
    async with nodes(node, 2) as (one, two):
        await put(one, row("a", "1"), row("b", "1"))
        place = await accepted(two, chain(await one.tip(), [row("a", None)], [row("c", "1")], [row("d", "1")]))
        tip = await put(one, row("d", "2"))
        for log in (one, two):
            for start in (foreign(place), foreign(tip)):
                delta = await log.read(start)
                assert (delta.tip, delta.reload) == (tip, True)
                assert sorted(delta.rows, key=lambda each: each.key) == [row("b", "1"), row("c", "1"), row("d", "2")]


@told
async def test_a_place_of_a_log_that_was_made_anew_is_answered_with_nothing(node: Node) -> None:
    async with nodes(node, 1) as (log,):
        assert await log.read(Position(b"o" * 16, 3, b"o" * 32)) == LogDelta(START, (), reload=True)


@told
async def test_what_lies_before_the_horizon_is_read_anew_and_what_lies_after_is_not(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        states: list[tuple[Position, State]] = [(START, {})]
        for number in range(4 * KEPT):
            rows = [row(f"k{number}", "1"), row(f"k{number - 3}", None), row("same", str(number))]
            states.append((await put(one, *rows), played(rows, states[-1][1])))
        tip, last = states[-1]
        reloads = []
        for place, state in states:
            delta = await two.read(place)
            assert delta.tip == tip
            reloads.append(delta.reload)
            assert played(delta.rows, {} if delta.reload else state) == last
            assert not delta.reload or all(each.value is not None for each in delta.rows)
        assert not any(reloads[-KEPT:])
        assert reloads == sorted(reloads, reverse=True)
        oldest = (await two.read_stats()).oldest
        assert all(reloads[1:KEPT]) == (oldest >= KEPT), "a log on Kafka remembers all until it is folded"


@told
async def test_tombstones_are_told_to_who_was_there_and_to_nobody_else(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        before = await put(one, row("a", "1"), row("b", "1"))
        gone = await put(two, row("a", None), row("never", None))
        assert set((await one.read(before)).rows) == {row("a", None), row("never", None)}
        assert set((await two.read(START)).rows) == {row("b", "1")}
        await put(one, row("a", "2"))
        assert (await two.read(gone)).rows == (row("a", "2"),)
        assert row("a", "2") in (await two.read(before)).rows


@told
async def test_rows_pass_untouched_whoever_they_are_from(node: Node) -> None:
    rows = [
        EncodedRow("somebody's", '["x",1,null]', '{"v":77,"what":[1,{"deep":null}]}'),
        EncodedRow("schema", '[".",1]', '{"v":9,"guid":"not ours"}'),
        EncodedRow("subject", '["ключ","🦆"]', '{"text":"Grüße 👩‍🚀 \\u0000 \u2028"}'),
        EncodedRow("subject", '["half \ud83d"]', '"\udc00 a half character"'),
        EncodedRow("subject", '["quote\\"d","\\\\"]', '""'),
        EncodedRow("", "[]", "null"),
        EncodedRow("Subject", '["case"]', "1"),
        EncodedRow("subject", '["CASE"]', "2"),
        EncodedRow("subject", '["case"]', "3"),
        EncodedRow("subject", '["case "]', "4"),
    ]
    async with nodes(node, 2) as (one, two):
        base = await put(one, row("a", "1"))
        await put(one, *rows)
        assert set((await two.read(base)).rows) == set(rows)
        assert set((await one.read(START)).rows) == {*rows, row("a", "1")}


@told
async def test_the_longest_chain_and_the_largest_values_are_held(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        each = "x" * (CHAIN_BYTES // CHAIN_COMMITS)
        commits = [[row(f"k{number}", each)] for number in range(CHAIN_COMMITS)]
        tip = await accepted(one, chain(START, *commits))
        assert tip.sequence == CHAIN_COMMITS
        large = row("large", "ж" * CHAIN_BYTES)
        end = await put(two, large)
        assert await one.read(tip) == LogDelta(end, (large,))
        assert len(await whole(two)) == CHAIN_COMMITS + 1


# --------------------------------------------------------------------------------------------------------- waiting


@told
async def test_who_waits_hears_of_an_append(node: Node) -> None:
    async with nodes(node, 2) as logs:
        tip = await put(logs[0], row("a", "1"))
        for waits in logs:
            for writes in logs:
                assert (await waits.read(tip)).tip == tip
                waiter = asyncio.create_task(_news(waits, tip, OWN if waits is writes else HEARD))
                await asyncio.sleep(0)
                tip = await put(writes, row("a", str(tip.sequence)))
                assert await waiter == tip


async def _news(log: Log, place: Position, seconds: float) -> Position:
    """Wait as a follower does, until there is something."""
    while True:
        await log.wait(place, seconds)
        if (await log.tip()) != place:
            return await log.tip()


@told
async def test_who_comes_late_does_not_wait(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        before = await put(one, row("a", "1"))
        await two.tip()
        await put(one, row("a", "2"))
        assert await _news(two, before, HEARD) == await one.tip()
        await two.wait(before, 3_600)
        await two.wait(START, 3_600)


@told
async def test_many_wait_and_all_hear(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        tip = await put(one, row("a", "1"))
        waiters = [
            asyncio.create_task(_news(log, tip, seconds))
            for log, seconds in ((one, HEARD), (two, OWN))
            for _ in range(5)
        ]
        await asyncio.sleep(0.01)
        new = await put(two, row("a", "2"))
        assert await asyncio.gather(*waiters) == [new] * 10


@told
async def test_waiting_ends_without_news(node: Node) -> None:
    async with nodes(node, 1) as (log,):
        await log.wait(await log.tip(), 0)
        tip = await put(log, row("a", "1"))
        for seconds in (0, 0.01, 0.12):
            await log.wait(tip, seconds)
        assert await log.tip() == tip


@told
async def test_who_waits_is_not_woken_again_and_again(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        for writes in (one, two):
            tip = await put(writes, row("a", "1"))
            for _ in range(20):
                waiter = asyncio.create_task(one.wait(tip, 3_600))
                await asyncio.wait([waiter], timeout=0.15)
                if not waiter.done():
                    break
                assert await one.tip() == tip
            assert not waiter.done()
            waiter.cancel()
            await asyncio.wait([waiter])


@told
async def test_waiting_can_be_given_up(node: Node) -> None:
    async with nodes(node, 1) as (log,):
        tip = await put(log, row("a", "1"))
        for pause in (0, 0.001, 0.07):
            waiter = asyncio.create_task(log.wait(tip, 3_600))
            await asyncio.sleep(pause)
            waiter.cancel()
            await asyncio.wait([waiter])
        await put(log, row("a", "2"))
