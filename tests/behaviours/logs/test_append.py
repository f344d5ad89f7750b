"""Appending to any log: who wins, what is seen of it, and what is left of what was given up."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.behaviours.logs.backends import Node, accepted, attempt, chain, nodes, played, put, rooted, row, told, whole
from tests.open_files import count_steady, wait_until_given_back
from treaty.core.state.commit import START, Append, Commit, Position
from treaty.log.log import AppendResult, Log, LogDelta


@told
async def test_a_new_log_is_empty(node: Node) -> None:
    async with nodes(node, 2) as logs:
        for log in logs:
            assert await log.tip() == START
            delta = await log.read(START)
            assert (delta.tip, delta.rows) == (START, ())


@told
async def test_the_first_append_gives_the_log_its_identity(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        append = chain(START, [row("a", "1")])
        assert await accepted(one, append) == await one.tip() == await two.tip()
        assert append.identity == append.attempt == (await two.tip()).identity
        further = chain(await two.tip(), [row("b", "2")])
        await accepted(two, further)
        assert further.identity == append.attempt
        assert await one.tip() == Position(append.attempt, 2, further.digest)


def _late(_tip: Position, _first: Append) -> Append:
    return chain(START, [row("b", "2")])


def _other_digest(tip: Position, _: Append) -> Append:
    return chain(replace(tip, digest=b"x" * 32), [row("b", "2")])


def _gap(tip: Position, _: Append) -> Append:
    return chain(replace(tip, sequence=tip.sequence + 1), [row("b", "2")])


def _behind(tip: Position, _: Append) -> Append:
    return rooted(replace(tip, sequence=1), attempt(), (Commit(2, (row("b", "2"),)),))


def _foreign(tip: Position, _: Append) -> Append:
    return chain(replace(tip, identity=b"y" * 16), [row("b", "2")])


def _again(_: Position, first: Append) -> Append:
    return first


WRONG: dict[str, Callable[[Position, Append], Append]] = {
    "on the start": _late,
    "another digest": _other_digest,
    "a gap": _gap,
    "behind": _behind,
    "another log": _foreign,
    "the same once more": _again,
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@told
async def test_an_append_on_anything_but_the_tip_is_a_conflict_and_leaves_nothing(
    node: Node, wrong: Callable[[Position, Append], Append]
) -> None:
    async with nodes(node, 2) as logs:
        first = chain(START, [row("a", "1")], [row("a", "2")])
        tip = await accepted(logs[0], first)
        for log in logs:
            assert await log.append(wrong(tip, first)) is AppendResult.CONFLICT
        for log in logs:
            assert await log.tip() == tip
            assert (await log.read(tip)) == LogDelta(tip, ())
            assert await whole(log) == {("subject", '["a"]'): "2"}
        await accepted(logs[1], chain(tip, [row("b", "3")]))


@told
async def test_a_chain_is_seen_as_a_whole_and_in_its_last_state(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        base = await put(one, row("gone", "0"), row("kept", "0"))
        commits = [row("a", "1"), row("gone", "1")], [row("a", "2"), row("b", "1")], [row("gone", None), row("b", None)]
        tip = await accepted(one, chain(base, *commits))
        assert tip.sequence == base.sequence + 3
        for log in (one, two):
            delta = await log.read(base)
            assert (delta.tip, delta.reload) == (tip, False)
            assert len({(each.table, each.key) for each in delta.rows}) == len(delta.rows)
            assert set(delta.rows) == {row("a", "2"), row("gone", None), row("b", None)}
            assert await whole(log) == {("subject", '["a"]'): "2", ("subject", '["kept"]'): "0"}


@told
async def test_a_place_inside_a_chain_is_no_place(node: Node) -> None:
    async with nodes(node, 1) as (log,):
        tip = await accepted(log, chain(START, [row("a", "1")], [row("b", "1")], [row("a", "2")]))
        for digest in (tip.digest, b"z" * 32):
            delta = await log.read(Position(tip.identity, 2, digest))
            assert delta.reload
            assert played(delta.rows) == await whole(log)


@told
async def test_an_empty_commit_takes_a_place(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        base = await put(one, row("a", "1"))
        tip = await accepted(two, chain(base, []))
        assert tip == await one.tip()
        assert await one.read(base) == LogDelta(tip, ())


@told
async def test_the_order_of_rows_inside_a_commit_decides(node: Node) -> None:
    async with nodes(node, 1) as (log,):
        base = await put(log, row("a", "1"), row("a", "2"), row("b", "1"), row("b", None))
        assert await whole(log) == {("subject", '["a"]'): "2"}
        await put(log, row("a", None), row("a", "3"))
        assert (await log.read(base)).rows == (row("a", "3"),)


# ----------------------------------------------------------------------------------------------------- many writers


@told
async def test_of_many_appends_on_one_parent_one_wins(node: Node) -> None:
    async with nodes(node, 6) as logs:
        tip = START
        for number in range(8):
            appends = [chain(tip, [row("who", str(place)), row(f"by{place}", str(number))]) for place in range(6)]
            fates = await asyncio.gather(*(log.append(append) for log, append in zip(logs, appends, strict=True)))
            assert sorted(fates, key=str) == [AppendResult.ACCEPTED, *[AppendResult.CONFLICT] * 5]
            winner = fates.index(AppendResult.ACCEPTED)
            for log in logs:
                delta = await log.read(tip)
                assert delta.tip == appends[winner].position
                assert set(delta.rows) == {row("who", str(winner)), row(f"by{winner}", str(number))}
            tip = appends[winner].position


@told
async def test_of_many_appends_of_one_node_on_one_parent_one_wins(node: Node) -> None:
    async with nodes(node, 1) as (log,):
        appends = [chain(START, [row("who", str(place))]) for place in range(6)]
        fates = await asyncio.gather(*map(log.append, appends))
        assert sorted(fates, key=str) == [AppendResult.ACCEPTED, *[AppendResult.CONFLICT] * 5]
        assert await log.tip() == appends[fates.index(AppendResult.ACCEPTED)].position


@told
async def test_nothing_is_lost_among_writers_who_try_again(node: Node) -> None:
    async with nodes(node, 4) as logs:

        async def write(place: int, log: Log) -> list[Position]:
            return [await put(log, row(f"{place}-{number}", "1"), row("last", str(place))) for number in range(12)]

        places = [place for some in await asyncio.gather(*map(write, range(4), logs)) for place in some]
        assert len({place.identity for place in places}) == 1
        there, tip = await whole(logs[0]), await logs[3].tip()
        assert len([table for table, _ in there if table == "subject"]) == 49
        taken = {place.sequence for place in places}
        assert len(taken) == 48
        if logs[0].lockable or logs[0].single_writer:
            assert taken == set(range(1, 49))
            assert tip == max(places, key=lambda place: place.sequence)
        else:  # a log that folds names each fold in an append of its own
            assert taken <= set(range(1, tip.sequence + 1))


@told
async def test_the_tip_never_goes_back(node: Node) -> None:
    async with nodes(node, 3) as (one, two, three):
        done = asyncio.Event()
        seen: list[int] = []

        async def look() -> None:
            while not done.is_set():
                for log in (two, one, three):
                    tip = await log.tip()
                    seen.append(tip.sequence)
                    seen.append((await log.read(tip)).tip.sequence)
                await asyncio.sleep(0.01)

        looker = asyncio.create_task(look())
        for number in range(30):
            place = await put((one, three)[number % 2], row("a", str(number)))
            assert (await two.tip()).sequence >= place.sequence
        done.set()
        await looker
        assert seen == sorted(seen)


# ------------------------------------------------------------------------------------------------ giving up, closing


@pytest.mark.parametrize("steps", [0, 1, 2, 4, 8])
@told
async def test_an_append_that_is_given_up_is_there_or_not_and_never_half(node: Node, steps: int) -> None:
    async with nodes(node, 2) as (one, two):
        tip = await put(one, row("a", "0"))
        for number in range(4):
            append = chain(tip, [row("a", f"{number}")], [row(f"b{number}", "1")])
            flight = asyncio.create_task(one.append(append))
            for _ in range(steps):
                await asyncio.sleep(0.0002 * number)
            flight.cancel()
            await asyncio.wait([flight])
            settling = chain(tip, [row("settled", f"{number}")])
            fate = await one.append(settling)
            tip = append.position if fate is AppendResult.CONFLICT else settling.position
            for log in (one, two):
                assert await log.tip() == tip
                assert (("subject", f'["b{number}"]') in await whole(log)) == (fate is AppendResult.CONFLICT)


@told
async def test_a_look_that_is_given_up_disturbs_nobody(node: Node) -> None:
    async with nodes(node, 1) as (log,):
        tip = await put(log, row("a", "0"))
        for number in range(10):
            looks = [asyncio.create_task(log.tip()), asyncio.create_task(log.read(START))]
            await asyncio.sleep(0.0001 * number)
            for look in looks:
                look.cancel()
            await asyncio.wait(looks)
            assert (await log.read(START)).tip == tip
            tip = await put(log, row("a", str(number)))


@told
async def test_closing_finishes_what_is_in_flight(node: Node) -> None:
    log = await node()
    first = chain(START, [row("a", "1")])
    flight = asyncio.create_task(log.append(first))
    await asyncio.sleep(0)
    await log.close()
    assert await flight is AppendResult.ACCEPTED
    async with nodes(node, 1) as (again,):
        assert await again.tip() == first.position


@told
async def test_what_was_accepted_outlives_all_nodes(node: Node) -> None:
    tip = START
    for number in range(5):
        async with nodes(node, 1) as (log,):
            assert await log.tip() == tip
            tip = await put(log, row(f"k{number}", "1"))
    async with nodes(node, 2) as (one, two):
        assert await one.tip() == await two.tip() == tip
        assert len(await whole(two)) == 5


def test_a_log_that_was_closed_keeps_no_thread_and_no_file_open(node: Node) -> None:
    """Though somebody still holds it: what a process may have of them is soon used up."""
    held: list[Log] = []

    async def use() -> None:
        async with nodes(node, 1) as (log,):
            held.append(log)
            tip = await put(log, row("a", str(len(held))))
            given_up = asyncio.create_task(log.append(chain(tip, [row("b", str(len(held)))])))
            await asyncio.sleep(0.001 * len(held))
            given_up.cancel()
            await whole(log)

    asyncio.run(use())  # the first may load what stays for good
    before = count_steady()
    for _ in range(3):
        asyncio.run(use())
    wait_until_given_back(before)
