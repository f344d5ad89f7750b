"""A node holds what it reads against the state root of the log: nobody is answered from rows that somebody changed."""

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from tests.behaviours.nodes.lives import (
    FAIR,
    Deaf,
    change_over,
    desk,
    file_of,
    lagging,
    living,
    post,
    virtual,
    way,
    world,
)
from tests.simulation.disk import Disk
from tests.simulation.model import LogModel, Weather
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.request import LATEST
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Unavailable
from treaty.core.registry import CallOptions
from treaty.core.state.commit import START, Position
from treaty.core.state.rows import EncodedRow
from treaty.core.state.tables import DictTables
from treaty.log.log import LogDelta, LogUnavailableError
from treaty.log.maintenance.repair import accept_state
from treaty.node.follower import WRONG_SECONDS
from treaty.node.node import Node
from treaty.node.segment.layered import LayeredTables

FROM_MEMORY = CallOptions("eventual")


def flip(disk: Disk, table: str = "subject") -> tuple[tuple[str, str], tuple[int, EncodedRow]]:
    """Change the newest row of a table by hand; return what it was."""
    place, (sequence, row) = max(
        ((place, kept) for place, kept in disk.rows.items() if place[0] == table), key=lambda one: one[1][0]
    )
    assert row.value is not None
    disk.rows[place] = sequence, replace(row, value=row.value.replace('"v"', '"origin":"nobody","v"'))
    return place, (sequence, row)


class Flipping(LogModel):
    """A way to a log on which a bit of the next row that is read flips, as often as it is told."""

    times = 0

    async def read(self, after: Position) -> LogDelta:
        delta = await super().read(after)
        if not self.times or not delta.rows:
            return delta
        self.times -= 1
        first, *others = delta.rows
        return replace(delta, rows=(replace(first, value=f"{first.value} "), *others))


@virtual
async def test_a_row_that_changes_on_its_way_is_read_again() -> None:
    disk = Disk(9)
    flipping = Flipping(disk, Weather(FAIR), random.Random(7))
    async with living(way(disk)) as writer, living(flipping, seed=7) as node:
        await writer.ask(post("s"))
        await node.ask(ListSubjects())
        for number in range(3):
            flipping.times = 1
            await writer.ask(post(f"s{number}"))
            assert f"s{number}" in (await node.ask(ListSubjects())).answer.names
            assert node.counts.wrong_roots == number + 1
        assert node.status().state_root == writer.status().state_root == disk.tip.root.hex()
        assert (node.halted, node.status().root_found) == ("", "")


@virtual
async def test_a_row_of_an_own_append_that_changes_on_its_way_back_is_read_again() -> None:
    disk = Disk(9)
    flipping = Flipping(disk, Weather(FAIR), random.Random(7))
    async with living(flipping, seed=7) as node:
        for number in range(3):
            flipping.times = 1
            await node.ask(post(f"s{number}"))
            assert node.counts.wrong_roots == number + 1
            assert node.status().state_root == disk.tip.root.hex()
        assert (await node.ask(ListSubjects())).answer.names == ("s0", "s1", "s2")


class Erring(DictTables):
    """Tables that come to another root after an own append, as often as they are told."""

    times = 0

    def advance_own(self, *given: Any) -> bool:
        done = super().advance_own(*given)
        if not self.times:
            return done
        self.times -= 1
        return False


class Away(LogModel):
    """A way to a log that is away when everything is read, as often as it is told; it notes what the tables had then."""

    def __init__(self, disk: Disk, tables: DictTables) -> None:
        super().__init__(disk, Weather(FAIR), random.Random(7), rows=False)
        self.tables, self.times, self.seen = tables, 0, list[Position]()

    async def read(self, after: Position) -> LogDelta:
        if after == START and self.times:
            self.times -= 1
            self.seen.append(self.tables.position)
            raise LogUnavailableError("the log is away")
        return await super().read(after)


@virtual
async def test_who_errs_about_an_own_append_answers_nobody_until_all_is_read_again() -> None:
    tables = Erring()
    log = Away(Disk(9), tables)
    node = Node(log, desk(), world(), tables)
    await node.start()
    await node.ask(post("first"))
    tables.times = log.times = 1
    await node.ask(post("second"))
    assert (tables.times, log.times, log.seen) == (0, 0, [START])
    assert (await node.ask(ListSubjects(), FROM_MEMORY)).answer.names == ("first", "second")
    assert (node.counts.wrong_roots, node.halted) == (1, "")
    await node.close()


@pytest.mark.parametrize("kind", [DictTables, LayeredTables])
@virtual
async def test_who_starts_on_a_row_that_was_changed_answers_nothing_and_says_why(
    kind: type[DictTables | LayeredTables],
) -> None:
    disk = Disk(9)
    async with living(way(disk)) as writer:
        await writer.ask(post("s"))
        flip(disk)
        node = Node(
            way(disk, seed=3), desk(), world(3), LayeredTables(small=0) if kind is LayeredTables else DictTables()
        )
        await node.start()
        for request in (ListSubjects(), GetSchema(1)):
            with pytest.raises(Unavailable, match="state root"):
                await node.ask(request, FROM_MEMORY)
        with pytest.raises(Unavailable, match=r"read-only.*repair --accept-state"):
            await node.ask(post("t"))
        status = node.status()
        assert status.root_stated == disk.tip.root.hex()
        assert len(status.root_found) == 64
        assert status.root_found != status.root_stated
        assert status.root_found in status.read_only
        assert disk.tip.sequence == 1, "nothing was written"
        await node.close()


@virtual
async def test_who_meets_a_changed_row_goes_on_from_its_last_right_state_and_writes_nothing() -> None:
    disk = Disk(9)
    async with living(way(disk)) as writer, lagging(disk) as (node, _):
        schema_id = (await writer.ask(post("s"))).answer.version.schema_id
        await node.ask(ListSubjects())
        token = (await writer.ask(post("later"))).token
        flip(disk)
        for request in (ListSubjects(), GetVersion(subject_of("later"), LATEST)):
            with pytest.raises(Unavailable, match="state root"):
                await node.ask(request)
        with pytest.raises(Unavailable, match="state root"):
            await node.ask(GetSchema(1), CallOptions("eventual", after=token))
        reply = await node.ask(GetSchema(schema_id), FROM_MEMORY)
        assert reply.token.sequence == 1, "it says of which state it speaks"
        with pytest.raises(Unavailable, match="read-only"):
            await node.ask(post("t"))
        assert (await writer.ask(ListSubjects())).answer.names == ("later", "s"), "who has read the row knows better"


@virtual
async def test_an_accepted_state_is_followed_without_a_new_start() -> None:
    disk = Disk(9)
    async with living(way(disk)) as writer, lagging(disk) as (node, _):
        await writer.ask(post("s"))
        flip(disk)
        with pytest.raises(Unavailable, match="state root"):
            await node.ask(ListSubjects())
        await accept_state(way(disk, seed=9), time=1)
        assert (await node.ask(ListSubjects())).answer.names == ("s",)
        assert (node.halted, node.status().root_found) == ("", "")
        assert (await node.ask(post("t"))).token.sequence == disk.tip.sequence
        assert (await writer.ask(ListSubjects())).answer.names == ("s", "t"), "all nodes agree again"
        assert writer.status().state_root == node.status().state_root == disk.tip.root.hex()


@virtual
async def test_rows_that_are_put_back_are_read_again_after_a_while() -> None:
    disk = Disk(9)
    async with living(way(disk)) as writer, lagging(disk) as (node, _):
        await writer.ask(post("s"))
        place, kept = flip(disk)
        for _ in range(9):
            with pytest.raises(Unavailable, match="state root"):
                await node.ask(ListSubjects())
        assert node.counts.wrong_roots == 1, "as long as nothing new comes the rows are not read again and again"
        disk.rows[place] = kept
        await asyncio.sleep(WRONG_SECONDS)
        assert (await node.ask(ListSubjects())).answer.names == ("s",)
        assert node.halted == ""


@pytest.mark.parametrize("read", [0, 1])
@virtual
async def test_a_log_put_back_to_where_the_tables_stand_is_believed_at_once(read: int) -> None:
    disk = Disk(9)
    async with living(way(disk)) as writer, lagging(disk) as (node, _):
        if read:
            await writer.ask(post("s"))
            await node.ask(ListSubjects())
        before = disk.tip
        await writer.ask(post("later"))
        flip(disk)
        with pytest.raises(Unavailable, match="state root"):
            await node.ask(ListSubjects())
        disk.put_back(before)
        assert (await node.ask(ListSubjects())).answer.names == ("s",)[:read]
        assert (node.halted, node.status().root_found) == ("", "")
        assert (await node.ask(post("t"))).token.sequence == disk.tip.sequence == read + 1


@virtual
async def test_a_state_file_with_a_changed_row_in_its_sums_is_dropped_and_the_rows_are_read() -> None:
    disk = Disk(9)
    async with living(way(disk)) as writer:
        await writer.ask(post("s"))
        segment, place = file_of(disk)
        segment.roots = {**segment.roots, "subject": segment.roots["subject"] ^ 1}
        tables = LayeredTables(small=0)
        tables.stand_on(segment, place)
        node = Node(Deaf(disk, Weather(FAIR), random.Random(5)), desk(), world(5), tables)
        await node.start()
        answer = (await node.ask(post("t"), CallOptions(timeout=60))).answer
        assert answer.version.schema_id == 1
        assert node.counts.wrong_roots == 1
        assert node.status().state_root == disk.tip.root.hex(), "what it wrote states the root of the rows"
        assert node.halted == ""
        await node.close()


@virtual
async def test_a_file_of_another_root_is_left_by_a_change_over() -> None:
    disk = Disk(9)
    async with living(way(disk)) as writer, lagging(disk) as (node, tables):
        await writer.ask(post("s"))
        segment, place = file_of(disk)
        assert not await change_over(node, tables, (segment, replace(place, root=b"r" * 32)))
        segment.roots = {**segment.roots, "schema": 7}
        before = node.follower.position
        assert not await change_over(node, tables, (segment, place))
        assert node.counts.wrong_roots == 1
        assert (node.follower.position, node.follower.proven, node.counts.reloads) == (before, True, 0), (
            "it keeps what it had"
        )
        await node.ask(ListSubjects())
        assert (await node.ask(GetSchema(1), FROM_MEMORY)).token.sequence == 1
        assert node.status().state_root == disk.tip.root.hex()
