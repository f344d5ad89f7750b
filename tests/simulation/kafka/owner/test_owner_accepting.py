"""`treaty log repair --accept-state` on a topic in which rows lie that belong to no append."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import pytest

from tests.behaviours.logs.backends import KEPT, chain, put, row, told, whole
from tests.behaviours.nodes.lives import living, post, virtual
from tests.simulation.clock import Jobs
from tests.simulation.kafka.owner.partition import Entry
from tests.simulation.kafka.owner.store import OwnerStore
from tests.simulation.model import Weather
from tests.simulation.runs.store import Door, Ground
from treaty.core.messages.settings import GetMode, Scope
from treaty.core.refusals import OutcomeUnknown, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.state.commit import START, Commit, as_root, make_append, roots_of
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.values import Mode
from treaty.log.kafka.single_writer.records import END_KEY, make_transaction
from treaty.log.log import Log
from treaty.log.maintenance.repair import accept_state, check_state, find_orphan_rows
from treaty.node.node import Node

WAS = {("subject", '["a"]'): "1", ("subject", '["b"]'): "1"}


class Place:
    """A topic, and nodes on it: who appends owns it."""

    def __init__(self) -> None:
        self.store = OwnerStore(Ground(Weather(latency=0.0001), random.Random(1), Jobs(), KEPT))
        self.store.quiet(0)
        self.store.rolling = self.store.sweeping = 0.0
        self.partition = self.store.partition
        self.lives = 0

    def node(self) -> Log:
        self.lives += 1
        life = self.lives
        return self.store.open(
            Door("node", life, random.Random(life), step=lambda _: None, sends=lambda _: self.store.elect("node", life))
        )

    def stray(self, key: bytes, value: bytes | None) -> None:
        """A record outside transactions."""
        self.partition.entries.append(Entry(self.partition.end, key, value, None))
        self.partition.end += 1

    async def half(self, log: Log) -> None:
        """The first two records of an append, which a request to commit has committed that came late."""
        append = chain(await log.tip(), [row("a", "2"), row("c", "2"), row("d", "2")])
        for key, value in make_transaction(append)[:2]:
            assert self.partition.write(0, self.store.coordinator.epoch, key, value)
        self.partition.mark(0, self.store.coordinator.epoch, commit=True)

    def compact(self) -> None:
        self.partition.roll()
        sweep = self.partition.sweep(len(self.partition.segments), 0.0)
        for segment in range(len(self.partition.segments)):
            self.partition.clean(sweep, segment)


async def strange_key(place: Place, log: Log) -> None:
    place.stray(b"order-17", b"paid")


async def own_key(place: Place, log: Log) -> None:
    place.stray(b'["subject",["a"]]', b"7")


async def tombstone(place: Place, log: Log) -> None:
    place.stray(b'["subject",["b"]]', None)


async def half(place: Place, log: Log) -> None:
    await place.half(log)


Harm = Callable[[Place, Log], Awaitable[None]]
HARMS: Mapping[str, tuple[Harm, dict[tuple[str, str], str]]] = {
    "a record with a strange key": (strange_key, {("?record", '["6f726465722d3137"]'): "paid"}),
    "a row of somebody else": (own_key, {("subject", '["a"]'): "7"}),
    "a row that somebody took away": (tombstone, {("subject", '["b"]'): "null"}),
    "half a transaction": (half, {("subject", '["a"]'): "2", ("subject", '["c"]'): "2"}),
}
"""What is done, and what has to be in quarantine afterwards."""


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("behind", [True, False], ids=["behind the last mark", "before the last mark"])
def test_what_belongs_to_no_append_is_moved_aside_and_what_it_replaced_is_put_back(harm: str, *, behind: bool) -> None:
    @told
    async def story() -> None:
        place = Place()
        log, tool = place.node(), place.node()
        await put(log, row("a", "1"), row("b", "1"))
        assert await find_orphan_rows(log) == ()
        do, aside = HARMS[harm]
        await do(place, log)
        right = dict(WAS)
        if not behind:
            await put(log, row("e", "1"))
            right["subject", '["e"]'] = "1"
        delta = await log.read(START)
        assert (as_root(roots_of(delta.rows)) == delta.tip.root) is behind, (
            "nobody shows what lies behind the last mark"
        )
        found, tip = await accept_state(tool, time=9)
        assert {(one.row.table, one.row.key): one.row.value or "null" for one in found.orphan_rows} == aside
        assert not found.fits
        for one in (log, tool, place.node()):
            delta = await one.read(START)
            assert delta.tip == tip
            assert check_state(delta, None, await find_orphan_rows(one)).fits
            state = await whole(one)
            kept = {key: state.pop(key) for key in [*state] if key[0] == "quarantine"}
            assert state == right
            assert {tuple(json.loads(key)): json.loads(text)["text"] for (_, key), text in kept.items()} == aside
        assert await put(log, row("f", "1")) == await tool.tip()
        for one in (log, tool):
            await one.close()

    story()


def test_half_a_transaction_that_was_compacted_is_accepted_as_it_is() -> None:
    @told
    async def story() -> None:
        place = Place()
        log = place.node()
        await put(log, row("a", "1"), row("b", "1"))
        await place.half(log)
        await put(log, row("e", "1"))
        place.compact()
        tool = place.node()
        found, _ = await accept_state(tool, time=9)
        assert found.root != found.position.root
        assert found.orphan_rows == ()
        delta = await place.node().read(START)
        assert check_state(delta, None).fits
        assert {one.key: one.value for one in delta.rows} == {
            '["a"]': "2", '["b"]': "1", '["c"]': "2", '["e"]': "1"
        }  # fmt: skip

    story()


def test_a_state_of_which_a_row_is_gone_is_accepted_as_it_is() -> None:
    @told
    async def story() -> None:
        place = Place()
        log = place.node()
        await put(log, row("a", "1"), row("b", "1"))
        entries = place.partition.entries
        place.partition.entries = [one for one in entries if one.key != b'["subject",["a"]]']
        tool = place.node()
        found, _ = await accept_state(tool, time=9)
        assert not found.fits
        assert await whole(place.node()) == {("subject", '["b"]'): "1"}
        assert check_state(await place.node().read(START), None).fits

    story()


def test_marks_alone_are_no_state() -> None:
    """What was written last was lost with its mark: the rows before that come to the root of the mark that is left."""

    @told
    async def story() -> None:
        place = Place()
        log = place.node()
        await put(log, row("a", "1"), row("b", "1"))
        await put(log, row("c", "1"))
        last = [one for one in place.partition.entries if one.key == END_KEY][-1]
        place.partition.entries = [replace(one, key=b"?") if one is last else one for one in place.partition.entries]
        tool = place.node()
        found, _ = await accept_state(tool, time=9)
        assert found.root == found.position.root
        assert sorted(one.row.key for one in found.orphan_rows) == ['["3f"]', '["c"]']
        state = await whole(place.node())
        assert {key: value for key, value in state.items() if key[0] != "quarantine"} == WAS

    story()


HALF = encode_row(Row("mode", ("subject", ".", "half"), Mode("READONLY")))
"""A row that nodes can read."""


async def shown(node: Node) -> str | None:
    """The mode of a subject of which half a transaction speaks."""
    return (await node.ask(GetMode(Scope(".", "half"), resolve=True), CallOptions(consistency="eventual"))).answer.mode


def test_nodes_show_nothing_of_half_a_transaction() -> None:
    """They are read-only with both roots from the next mark on, and go on when the state was accepted."""

    @virtual
    async def story() -> None:
        place = Place()
        async with living(place.node(), 1) as one, living(place.node(), 2) as other:
            place.store.elect("node", 1)
            await one.ask(post("s"))
            append = make_append(place.store.tip, b"h" * 16, (Commit(2, (HALF, row("x", "1"))),), {})
            for key, value in make_transaction(append)[:1]:
                assert place.partition.write(0, place.store.coordinator.epoch, key, value)
            place.partition.mark(0, place.store.coordinator.epoch, commit=True)
            assert await shown(one) == await shown(other) == "READWRITE"
            with pytest.raises(OutcomeUnknown):
                await one.ask(post("t"))  # its mark comes behind the half
            for node in (one, other):
                with pytest.raises(Unavailable, match=r"read-only: .*come to the state root"):
                    await node.ask(post("u"))
                assert await shown(node) == "READWRITE"
                status = node.status()
                assert status.root_found
                assert status.root_stated not in {"", status.root_found}
            found, _ = await accept_state(place.node(), time=9)
            assert [one.row for one in found.orphan_rows] == [HALF]
            place.store.elect("node", 2)
            await asyncio.sleep(5)
            await other.ask(post("u"))
            await one.ask(GetMode(Scope(".", "half"), resolve=True))
            for node in (one, other):
                assert await shown(node) == "READWRITE"
                assert (node.status().root_found, node.status().root_stated) == ("", "")

    story()
