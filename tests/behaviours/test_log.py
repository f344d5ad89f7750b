"""What every log does, whatever it is made of (design, sections 1 and 4)."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.behaviours.logs import BACKENDS, KEPT, Node, State, attempt, chain, nodes, played, put, row, told
from treaty.core.commit import START, Append, Commit, Position, make_append
from treaty.core.limits import CHAIN_BYTES, CHAIN_COMMITS
from treaty.core.rows import Encoded
from treaty.core.tables import DictTables
from treaty.log.log import Delta, Fate, Log


@pytest.fixture(params=BACKENDS)
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Node:
    """A log that nobody has used, on each backend in turn."""
    return BACKENDS[request.param](tmp_path)


async def accepted(log: Log, append: Append) -> Position:
    assert await log.append(append) is Fate.ACCEPTED
    return append.position


async def whole(log: Log) -> State:
    """The live state, as who starts now reads it."""
    delta = await log.read(START)
    assert all(one.value is not None for one in delta.rows)
    return played(delta.rows)


# ------------------------------------------------------------------------------------------------------- appending


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
    return make_append(replace(tip, sequence=1), attempt(), (Commit(2, (row("b", "2"),)),))


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
            assert await log.append(wrong(tip, first)) is Fate.CONFLICT
        for log in logs:
            assert await log.tip() == tip
            assert (await log.read(tip)) == Delta(tip, ())
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
        assert await one.read(base) == Delta(tip, ())


@told
async def test_the_order_of_rows_inside_a_commit_decides(node: Node) -> None:
    async with nodes(node, 1) as (log,):
        base = await put(log, row("a", "1"), row("a", "2"), row("b", "1"), row("b", None))
        assert await whole(log) == {("subject", '["a"]'): "2"}
        await put(log, row("a", None), row("a", "3"))
        assert (await log.read(base)).rows == (row("a", "3"),)


# --------------------------------------------------------------------------------------------------------- reading


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
        assert slow.digest == fast.digest == started.digest
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
        assert await log.read(Position(b"o" * 16, 3, b"o" * 32)) == Delta(START, (), reload=True)


@told
async def test_what_lies_before_the_horizon_is_read_anew_and_what_lies_after_is_not(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        states: list[tuple[Position, State]] = [(START, {})]
        for number in range(5 * KEPT):
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
        assert all(reloads[:KEPT])
        assert reloads == sorted(reloads, reverse=True)


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
        Encoded("somebody's", '["x",1,null]', '{"v":77,"what":[1,{"deep":null}]}'),
        Encoded("schema", '[".",1]', '{"v":2,"guid":"not ours"}'),
        Encoded("subject", '["ключ","🦆"]', '{"text":"Grüße 👩‍🚀 \\u0000 \u2028"}'),
        Encoded("subject", '["half \ud83d"]', '"\udc00 a half character"'),
        Encoded("subject", '["quote\\"d","\\\\"]', '""'),
        Encoded("", "[]", "null"),
        Encoded("Subject", '["case"]', "1"),
        Encoded("subject", '["CASE"]', "2"),
        Encoded("subject", '["case"]', "3"),
        Encoded("subject", '["case "]', "4"),
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
        assert await one.read(tip) == Delta(end, (large,))
        assert len(await whole(two)) == CHAIN_COMMITS + 1


# --------------------------------------------------------------------------------------------------------- waiting


@told
async def test_who_waits_hears_of_an_append(node: Node) -> None:
    async with nodes(node, 2) as logs:
        tip = await put(logs[0], row("a", "1"))
        for waits in logs:
            for writes in logs:
                assert (await waits.read(tip)).tip == tip
                waiter = asyncio.create_task(_news(waits, tip))
                await asyncio.sleep(0)
                tip = await put(writes, row("a", str(tip.sequence)))
                assert await waiter == tip


async def _news(log: Log, place: Position) -> Position:
    """Wait as a follower does, until there is something."""
    while True:
        await log.wait(place, 60)
        if (await log.tip()) != place:
            return await log.tip()


@told
async def test_who_comes_late_does_not_wait(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        before = await put(one, row("a", "1"))
        await two.tip()
        await put(one, row("a", "2"))
        assert await _news(two, before) == await one.tip()
        await two.wait(before, 3_600)
        await two.wait(START, 3_600)


@told
async def test_many_wait_and_all_hear(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        tip = await put(one, row("a", "1"))
        waiters = [asyncio.create_task(_news(log, tip)) for log in (one, two) for _ in range(5)]
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
async def test_waiting_can_be_given_up(node: Node) -> None:
    async with nodes(node, 1) as (log,):
        tip = await put(log, row("a", "1"))
        for pause in (0, 0.001, 0.07):
            waiter = asyncio.create_task(log.wait(tip, 3_600))
            await asyncio.sleep(pause)
            waiter.cancel()
            await asyncio.wait([waiter])
        await put(log, row("a", "2"))


# ----------------------------------------------------------------------------------------------------- many writers


@told
async def test_of_many_appends_on_one_parent_one_wins(node: Node) -> None:
    async with nodes(node, 6) as logs:
        tip = START
        for number in range(8):
            appends = [chain(tip, [row("who", str(place)), row(f"by{place}", str(number))]) for place in range(6)]
            fates = await asyncio.gather(*(log.append(append) for log, append in zip(logs, appends, strict=True)))
            assert sorted(fates, key=str) == [Fate.ACCEPTED, *[Fate.CONFLICT] * 5]
            winner = fates.index(Fate.ACCEPTED)
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
        assert sorted(fates, key=str) == [Fate.ACCEPTED, *[Fate.CONFLICT] * 5]
        assert await log.tip() == appends[fates.index(Fate.ACCEPTED)].position


@told
async def test_nothing_is_lost_among_writers_who_try_again(node: Node) -> None:
    async with nodes(node, 4) as logs:

        async def write(place: int, log: Log) -> list[Position]:
            return [await put(log, row(f"{place}-{number}", "1"), row("last", str(place))) for number in range(12)]

        places = [place for some in await asyncio.gather(*map(write, range(4), logs)) for place in some]
        assert sorted(place.sequence for place in places) == [*range(1, 49)]
        assert len({place.identity for place in places}) == 1
        assert len(await whole(logs[0])) == 49
        assert await logs[3].tip() == max(places, key=lambda place: place.sequence)


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
                await asyncio.sleep(0)

        looker = asyncio.create_task(look())
        for number in range(30):
            place = await put((one, three)[number % 2], row("a", str(number)))
            assert (await two.tip()).sequence >= place.sequence
        done.set()
        await looker
        assert seen == sorted(seen)


# --------------------------------------------------------------------------------------------------------- holding


@told
async def test_who_holds_the_log_keeps_all_others_out(node: Node) -> None:
    async with nodes(node, 3) as (one, two, three):
        assert all(log.exclusive for log in (one, two, three))
        base = await put(one, row("a", "1"))
        held = asyncio.Event()

        async def other(log: Log) -> Fate:
            await held.wait()
            return await log.append(chain(base, [row("b", "2")]))

        others = [asyncio.create_task(other(log)) for log in (one, two)]
        async with one.hold():
            held.set()
            finished, _ = await asyncio.wait(others, timeout=0.1)
            assert not finished
            assert await three.tip() == await one.tip() == base
            assert (await one.read(START)).tip == (await two.read(START)).tip == base
            tip = await accepted(one, chain(base, [row("mine", "1")]))
        assert await asyncio.gather(*others) == [Fate.CONFLICT, Fate.CONFLICT]
        assert await three.tip() == tip
        assert await whole(two) == {("subject", '["a"]'): "1", ("subject", '["mine"]'): "1"}


@told
async def test_a_child_of_who_holds_the_log_may_write(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        async with one.hold():
            place = await asyncio.create_task(put(one, row("a", "1")))
            assert (await one.read(START)).tip == place
        await put(two, row("b", "1"))
        await put(one, row("c", "1"))


@told
async def test_holders_take_turns(node: Node) -> None:
    async with nodes(node, 3) as logs:

        async def count(log: Log) -> None:
            for _ in range(5):
                async with log.hold():
                    delta = await log.read(START)
                    number = int(played(delta.rows).get(("subject", '["count"]'), "0"))
                    await asyncio.sleep(0)
                    await accepted(log, chain(delta.tip, [row("count", str(number + 1))]))

        await asyncio.gather(*map(count, logs))
        assert await whole(logs[0]) == {("subject", '["count"]'): "15"}


@told
async def test_a_hold_ends_with_an_exception(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        for log in (one, two):
            with pytest.raises(LookupError):
                async with log.hold():
                    raise LookupError
        await put(two, row("a", "1"))
        await put(one, row("a", "2"))


@told
async def test_a_hold_that_wrote_nothing_leaves_nothing(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        base = await put(one, row("a", "1"))
        async with one.hold():
            pass
        async with one.hold():
            assert await one.append(chain(START, [row("b", "1")])) is Fate.CONFLICT
        assert await two.tip() == base
        await put(two, row("c", "1"))


@pytest.mark.parametrize("steps", range(6))
@told
async def test_a_hold_ends_with_its_task(node: Node, steps: int) -> None:
    async with nodes(node, 2) as (one, two):
        base = await put(one, row("a", "1"))

        async def keep() -> None:
            async with one.hold():
                await asyncio.Event().wait()

        for again in range(3):
            holder = asyncio.create_task(keep())
            for _ in range(steps):
                await asyncio.sleep(0.0005 * again)
            holder.cancel()
            await asyncio.wait([holder])
            assert holder.cancelled()
        assert await two.tip() == base
        await put(two, row("a", "2"))
        await put(one, row("a", "3"))


@told
async def test_who_gives_up_waiting_for_a_hold_leaves_it_to_the_next(node: Node) -> None:
    async with nodes(node, 3) as (one, two, three):

        async def write(log: Log) -> Position:
            async with log.hold():
                return await accepted(log, chain(await log.tip(), [row("a", "2")]))

        async with one.hold():
            waiters = [asyncio.create_task(write(log)) for log in (two, three, one)]
            await asyncio.sleep(0.02)
            waiters[0].cancel()
            waiters[2].cancel()
            await asyncio.sleep(0.02)
        assert await waiters[1] == await one.tip()
        await asyncio.wait(waiters)
        assert waiters[0].cancelled()
        assert waiters[2].cancelled()
        await put(two, row("a", "3"))
        await put(one, row("a", "4"))


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
            tip = append.position if fate is Fate.CONFLICT else settling.position
            for log in (one, two):
                assert await log.tip() == tip
                assert (("subject", f'["b{number}"]') in await whole(log)) == (fate is Fate.CONFLICT)


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
    assert await flight is Fate.ACCEPTED
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
