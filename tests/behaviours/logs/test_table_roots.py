"""What a SQL log keeps beside its rows: the root of each append, and what each table adds to the last one."""

import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import Node, accepted, attempt, chain, nodes, put, row, told
from tests.behaviours.logs.hands import SQL, Hand
from treaty.core.state.commit import START, Append, Commit, Position, as_root, make_append, roots_of
from treaty.core.state.rows import EncodedRow
from treaty.core.state.tables import DictTables
from treaty.log.capabilities import TableRoots
from treaty.log.log import AppendResult, Log

TABLES = ("subject", "version", "config", "log_origin", "somebody's \ud83d own", "")


@pytest.fixture(params=[pytest.param(one, marks=pytest.mark.slow) if one == "postgres" else one for one in SQL])
def sql(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Node, Hand]:
    return SQL[request.param](tmp_path)


async def stored(log: Log) -> tuple[Position, dict[str, int]]:
    assert isinstance(log, TableRoots)
    tip, roots = await log.table_roots()
    return tip, dict(roots)


def empty(base: Position) -> Append:
    """An append that proves something and repeats the root of its base."""
    return make_append(base, attempt(), (Commit(base.sequence + 1, ()),), None)


def test_table_roots_are_those_of_the_rows_whoever_writes(sql: tuple[Node, Hand]) -> None:
    chance = random.Random(3)

    def some(keys: int) -> Iterable[EncodedRow]:
        for _ in range(chance.randrange(4)):
            value = chance.choice([None, f'{{"n":{chance.random()}}}', "no JSON \ud83d \x00"])
            yield row(f"k{chance.randrange(keys)}", value, chance.choice(TABLES))

    @told
    async def story() -> None:
        async with nodes(sql[0], 2) as logs:
            assert await stored(logs[0]) == (START, {})
            gone = 0
            for number in range(120):
                log, tip = chance.choice(logs), await logs[0].tip()
                if number in {40, 41, 80}:  # everything goes; the second time there is nothing
                    rows = (await log.read(START)).rows
                    await accepted(log, chain(tip, [replace(one, value=None) for one in rows]))
                    assert (await stored(log))[1] == {}
                elif number % 7 == 3 and tip != START:
                    await accepted(log, empty(tip))
                elif number % 9 == 5:
                    async with log.lock():
                        await put(log, *some(1))
                else:
                    await accepted(log, chain(tip, *(tuple(some(1)) for _ in range(chance.randrange(1, 4)))))
                for each in logs:
                    delta, (place, roots) = await each.read(START), await stored(each)
                    assert (place, roots) == (delta.tip, roots_of(delta.rows))
                    assert place.root == delta.tip.root == as_root(roots)
                gone += len(roots) < len(TABLES) - 1
            assert gone

    story()


def test_a_place_is_known_with_its_root_alone(sql: tuple[Node, Hand]) -> None:
    @told
    async def story() -> None:
        async with nodes(sql[0], 2) as (one, two):
            before = await put(one, row("a", "1"))
            tip = await put(one, row("b", "1"))
            for log in (one, two):
                for place in (before, tip):
                    assert not (await log.read(place)).reload
                    other = await log.read(replace(place, root=bytes(31) + b"x"))
                    assert (other.reload, len(other.rows), other.tip.root) == (True, 2, tip.root)

    story()


def test_an_append_that_loses_leaves_no_roots(sql: tuple[Node, Hand]) -> None:
    @told
    async def story() -> None:
        async with nodes(sql[0], 2) as (one, two):
            tip = await put(one, row("a", "1"))
            late = chain(tip, [row("a", "2"), row("late", "1", "config")])
            won = await put(two, row("a", "3"))
            before = await stored(one)
            assert await one.append(late) is AppendResult.CONFLICT
            assert await stored(one) == await stored(two) == before
            assert before[0] == won
            await put(one, row("b", "1"))
            delta = await two.read(START)
            assert (await stored(two))[1] == roots_of(delta.rows)

    story()


@pytest.mark.parametrize("compressed", [False, True])
def test_texts_are_given_back_byte_for_byte_and_come_to_the_root(sql: tuple[Node, Hand], *, compressed: bool) -> None:
    """Not canonical, of another hand, unreadable: what stands in the log counts, and nothing else."""
    long = '"' + "long enough to be compressed " * 20
    rows = [
        row("spaces", '{ "v" : 2,\t"b":1, "a":1 }', "schema"),
        row("members", '{"v":1,"deep":{"nobody\'s":[1.0,1e2,1E+2,-0]},"a":1,"a":2}', "schema"),
        row("newer", '{"v":77}', "schema"),
        row("half", '"\ud83d"', "schema"),
        row("nothing in a text", "a\x00b\x00", "schema"),
        row("nothing in a key \x00", "1", "schema"),
        row("nothing in a key \x00\x00", "2", "schema"),
        row("no JSON", "{" * 300, "schema"),
        row("empty", "", "schema"),
        *(row(f"{number}", f"{long}\\u00e9 {number}\ud800\x00\r\n \u2028", "schema") for number in range(5)),
        row("x", "1", "\x00"),
    ]

    @told
    async def story() -> None:
        async with nodes(sql[0], 2) as (one, two):
            if compressed:
                await put(one, *(row(f"k{number}", f'{long} {number}"', "schema") for number in range(2_500)))
                await one.compact()
            before = await two.tip()
            place = await put(one, *rows)
            assert set((await two.read(before)).rows) == set(rows)
            await one.compact()
            delta = await two.read(START)
            assert set(rows) <= set(delta.rows)
            assert as_root(roots_of(delta.rows)) == delta.tip.root == place.root
            tables = DictTables()
            tables.load(delta.rows, delta.tip)
            assert as_root(tables.roots) == place.root

    story()
