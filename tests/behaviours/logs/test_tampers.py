"""A SQL log that somebody changes by hand: who reads it can tell, and which table it was."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import Node, nodes, told
from tests.behaviours.logs.hands import SQL, Hand
from tests.behaviours.logs.tampers import ROOTS, ROWS, TABLE_ROOTS, TIP_ROOT, Tamper
from tests.behaviours.nodes.lives import living, post
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.refusals import OutcomeUnknown, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.state.commit import START, as_root, roots_of
from treaty.log.capabilities import TableRoots
from treaty.log.log import Log
from treaty.log.maintenance.repair import accept_state, check_state, find_unreadable_rows, quarantine_rows
from treaty.log.state_roots import differing_tables, read_with_table_roots
from treaty.node.node import Node as Member


@pytest.fixture(params=[pytest.param(one, marks=pytest.mark.slow) if one == "postgres" else one for one in SQL])
def sql(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Node, Hand]:
    return SQL[request.param](tmp_path)


@asynccontextmanager
async def filled(node: Node) -> AsyncIterator[Log]:
    """A log with rows of some tables, which a node has written and that is gone."""
    async with nodes(node, 1) as (log,):
        async with living(await node()) as writer:
            for number in range(1, 4):
                await writer.ask(post(f"s{number}", f'["a{number}"]'))
                await writer.ask(SetConfig(Scope(".", f"s{number}"), Config(level="BACKWARD")))
        yield log


async def looked(log: Log) -> tuple[bool, tuple[str, ...]]:
    """Whether rows and root of a log agree, and the tables whose root does not fit their rows."""
    assert isinstance(log, TableRoots)
    delta, (tip, stored) = await log.read(START), await log.table_roots()
    assert tip == delta.tip
    found = roots_of(delta.rows)
    return as_root(found) == delta.tip.root, differing_tables(stored, found)


@pytest.mark.parametrize("tamper", (ROWS | ROOTS | TABLE_ROOTS).values(), ids=[*ROWS, *ROOTS, *TABLE_ROOTS])
def test_what_was_changed_by_hand_is_seen_and_its_table_named(
    sql: tuple[Node, Hand], tamper: Tamper, caplog: pytest.LogCaptureFixture
) -> None:
    @told
    async def story() -> None:
        async with filled(sql[0]) as log:
            assert await looked(log) == (True, ())
            assert not caplog.records
            await tamper.by(sql[1])
            agrees, tables = await looked(log)
            assert agrees == (tamper in TABLE_ROOTS.values())
            assert set(tables) == tamper.tables
            warned = [one.getMessage() for one in caplog.records if one.name == "treaty.log"]
            assert bool(warned) == (tamper not in ROWS.values())
            for one in warned:
                assert all(table in one for table in tables)
                assert bool(tables) == ("do not fit the rows" in one)

    with caplog.at_level(logging.WARNING):
        story()


async def refuses(node: Member, log: Log) -> None:
    """A node that shows what the log states and what its rows come to, writes nothing, and proves nothing."""
    delta = await log.read(START)
    for request in (ListSubjects(), post("late", '["late"]')):
        with pytest.raises(Unavailable, match="treaty log repair --accept-state"):
            await node.ask(request)
    status = node.status()
    assert (status.root_stated, status.root_found) == (delta.tip.root.hex(), as_root(roots_of(delta.rows)).hex())
    assert "treaty log verify" in status.read_only
    assert status.counts.wrong_roots


async def mended(node: Member, log: Log) -> None:
    """It goes on by itself when the state was accepted, and what nobody can read was moved aside."""
    before = set((await log.read(START)).rows)
    found, _ = await accept_state(log, time=7)
    assert not found.fits
    assert set((await log.read(START)).rows) == before, "rows are accepted as they are"
    moved, _ = await quarantine_rows(log, time=8, newer=True)
    assert len(moved) == len(find_unreadable_rows(before))
    await node.ask(ListSubjects())
    await node.ask(post("late", '["late"]'))
    assert (node.status().root_stated, node.status().root_found, node.status().read_only) == ("", "", "")


@pytest.mark.parametrize("tamper", (ROWS | ROOTS).values(), ids=[*ROWS, *ROOTS])
def test_a_node_that_starts_on_changed_rows_writes_nothing_until_they_are_accepted(
    sql: tuple[Node, Hand], tamper: Tamper
) -> None:
    @told
    async def story() -> None:
        async with filled(sql[0]) as log:
            await tamper.by(sql[1])
            async with living(await sql[0](), seed=9) as node:
                before = set((await log.read(START)).rows)
                await refuses(node, log)
                assert len(find_unreadable_rows(before)) == tamper.unreadable
                await mended(node, log)
                assert await looked(log) == (True, ())

    story()


FOLLOWED = {name: one for name, one in ROWS.items() if one.followed}


@pytest.mark.parametrize("tamper", FOLLOWED.values(), ids=FOLLOWED)
def test_a_node_that_is_given_a_changed_row_with_later_ones_keeps_what_it_had(
    sql: tuple[Node, Hand], tamper: Tamper
) -> None:
    @told
    async def story() -> None:
        async with (
            filled(sql[0]) as log,
            living(await sql[0](), seed=8) as writer,
            living(await sql[0](), seed=9) as node,
        ):
            await writer.ask(post("early"))
            before = await node.ask(ListSubjects())
            await tamper.by(sql[1])
            await tamper.seen(sql[1])
            with suppress(OutcomeUnknown):  # it may read the changed row itself, with its own append
                await writer.ask(post("next", '["next"]'), CallOptions(timeout=5))
            await refuses(node, log)
            assert (await node.ask(ListSubjects(), CallOptions("eventual"))).answer == before.answer
            await mended(node, log)

    story()


@pytest.mark.parametrize("tamper", ROOTS.values(), ids=ROOTS)
def test_a_node_that_has_read_everything_notices_the_root_of_its_place(sql: tuple[Node, Hand], tamper: Tamper) -> None:
    @told
    async def story() -> None:
        async with filled(sql[0]) as log, living(await sql[0](), seed=9) as node:
            before = await node.ask(ListSubjects())
            await tamper.by(sql[1])
            await refuses(node, log)
            assert (await node.ask(ListSubjects(), CallOptions("eventual"))).answer == before.answer
            await mended(node, log)

    story()


def test_a_node_at_an_append_whose_root_was_changed_reads_everything_anew(sql: tuple[Node, Hand]) -> None:
    @told
    async def story() -> None:
        async with filled(sql[0]), living(await sql[0](), seed=8) as writer, living(await sql[0](), seed=9) as node:
            await writer.ask(post("early"))
            await node.ask(ListSubjects())
            before = node.counts.reloads
            await TIP_ROOT.by(sql[1])
            await writer.ask(post("next", '["next"]'))
            assert "next" in (await node.ask(ListSubjects())).answer.names
            seen = node.counts.reloads, node.status().root_stated
            assert seen == (before + 1, ""), "it may have met the changed root before; that ends with the next append"

    story()


@pytest.mark.parametrize("tamper", TABLE_ROOTS.values(), ids=TABLE_ROOTS)
def test_a_changed_table_root_stops_nobody_and_is_written_anew(sql: tuple[Node, Hand], tamper: Tamper) -> None:
    @told
    async def story() -> None:
        async with filled(sql[0]) as log:
            await tamper.by(sql[1])
            assert not (await accept_state(log, time=7))[0].fits
            assert await looked(log) == (True, ())
            assert await accept_state(log, time=7) == (check_state(*await read_with_table_roots(log)), await log.tip())
            await tamper.by(sql[1])
            async with living(await sql[0](), seed=9) as node:
                await node.ask(post("late", '["late"]'))
            assert await looked(log) == (True, ())

    story()
