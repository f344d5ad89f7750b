"""Requirements of KLIP-18 on nodes, by their numbers: statements at several nodes, one of which owns the log."""

import asyncio
import contextlib

import pytest

from tests.behaviours.nodes.crowns import realm, written
from tests.behaviours.nodes.lives import FAIR, living, virtual, way
from tests.simulation.disk import Disk
from tests.simulation.model import Weather
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.refusals import OutcomeUnknown, Refusal, RegistryError, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.state.commit import Commit, make_append, roots_after
from treaty.core.state.rows import EncodedRow, UnreadableRowError
from treaty.log.log import AppendResult
from treaty.metastore.metastore import AsyncMetastore
from treaty.node.node import Node
from treaty.wire.peer.errors import encode_error

CREATE = "CREATE STREAM {0} (v INT) WITH (CONNECTOR = 'delta', PATH = '{0}')"
SHORT = CallOptions(timeout=3)


async def run(node: Node, sql: str, call: CallOptions = CallOptions(timeout=60)) -> str:  # noqa: B008 (a frozen value)
    return (await AsyncMetastore(node, call).run(sql))[-1].message


async def names(node: Node) -> list[str]:
    return [one.name for one in (await node.ask(m.ListSources())).answer.sources]


@virtual
async def test_r9_r10_any_node_takes_a_statement_and_the_one_owner_writes_it() -> None:
    async with realm("abc") as it:
        for name, node in it.nodes.items():
            assert await run(node, CREATE.format(f"of_{name}")) == f"Stream of_{name} created"
        assert it.crown.appends == ["a", "a", "a"]
        assert [node.counts.handed for node in it.nodes.values()] == [0, 1, 1]
        for node in it.nodes.values():
            assert await names(node) == ["of_a", "of_b", "of_c"]


@virtual
async def test_r11_a_refusal_is_the_same_at_the_owner_and_at_another_node() -> None:
    async with realm("abc") as it:
        await run(it.nodes["b"], CREATE.format("s"))
        told = []
        for node in it.nodes.values():
            with pytest.raises(Refusal) as refused:
                await run(node, CREATE.format("S"))
            told.append(encode_error(refused.value))
        assert told[0] == told[1] == told[2]


@virtual
async def test_r12_a_short_time_without_an_owner_is_waited_for() -> None:
    async with realm("ab", holder="") as it:
        asked = asyncio.create_task(run(it.nodes["b"], CREATE.format("s")))
        await asyncio.sleep(5)
        assert not asked.done()
        it.crown.holder = "a"
        assert await asked == "Stream s created"


@virtual
async def test_r12_a_long_time_without_an_owner_fails_a_statement_and_writes_nothing() -> None:
    async with realm("ab", holder="") as it:
        with pytest.raises(Unavailable, match=r"the owner of the log is unknown; .* has no effect"):
            await run(it.nodes["b"], CREATE.format("s"), SHORT)
        assert written(it) == 0
        it.crown.holder = "a"
        assert await names(it.nodes["b"]) == []


@virtual
async def test_r13_a_node_that_owns_the_log_no_more_names_the_new_owner() -> None:
    async with realm("abc", holder="c") as it:
        it.crown.believed = {"b": "a"}  # of old
        assert await run(it.nodes["b"], CREATE.format("s")) == "Stream s created"
        assert (it.nodes["a"].counts.taken, it.nodes["c"].counts.taken) == (1, 1)
        assert it.crown.appends == ["c"], "one write, by the owner"


@virtual
async def test_r13_nodes_that_each_believe_in_the_next_one_come_to_an_end() -> None:
    async with realm("abcd", holder="d") as it:
        it.crown.believed = {"a": "b", "b": "c", "c": "a"}
        it.net.latency = 0.001
        with pytest.raises(Unavailable):
            await run(it.nodes["a"], CREATE.format("s"), CallOptions(timeout=10))
        assert written(it) == 0


@virtual
async def test_r15_r16_a_change_of_a_deposed_owner_is_never_seen() -> None:
    """As a fenced producer does it: the append fails, is not seen, and the statement is decided again by the new owner."""
    async with realm("ab") as it:
        await run(it.nodes["a"], CREATE.format("first"))
        it.crown.believed = {"a": "a"}  # it does not know that b is the owner
        it.crown.holder = "b"
        asked = asyncio.create_task(run(it.nodes["a"], CREATE.format("s")))
        await asyncio.sleep(1)
        assert await names(it.nodes["b"]) == ["first"]
        assert await run(it.nodes["b"], CREATE.format("S")) == "Stream S created"
        it.crown.believed = {}
        with pytest.raises(Refusal, match="There is a stream S already"):
            await asked
        assert it.crown.appends == ["a", "b"]
        assert await names(it.nodes["a"]) == ["first", "S"]


@pytest.mark.parametrize("fate", ["landed", "gone"])
@virtual
async def test_r18_a_commit_of_unknown_fate_is_told_as_the_log_has_it(fate: str) -> None:
    async with realm("ab") as it:
        await run(it.nodes["a"], CREATE.format("first"))
        it.crown.open = fate
        call = CallOptions(timeout=30, command_id="mine")
        asked = asyncio.create_task(run(it.nodes["a"], CREATE.format("s"), call))
        await asyncio.sleep(1)
        it.crown.holder = "b"
        assert await asked == "Stream s created"
        assert await names(it.nodes["b"]) == ["first", "s"]
        assert (await it.nodes["b"].ask(GetOutcome("mine"))).answer.sequence == 2
        assert written(it) == 2, "once, whatever became of the first attempt"


@virtual
async def test_r18_what_can_not_be_settled_in_time_is_told_as_unknown() -> None:
    weather = Weather(FAIR)
    async with living(way(Disk(9), weather)) as node:
        assert await names(node) == []
        weather.unknown = 1.0
        with pytest.raises(OutcomeUnknown) as refused:
            await run(node, CREATE.format("s"), CallOptions(command_id="mine", timeout=FAIR * 8))
        weather.calm()
        await run(node, CREATE.format("t"))
        there = await names(node)
        known = "s" in there
        with contextlib.suppress(RegistryError):
            assert (await node.ask(GetOutcome("mine"))).answer.sequence == 1
        assert (refused.value.command_id, known) == ("mine", True)


@virtual
async def test_r19_what_could_not_be_committed_changes_nothing_that_is_shown() -> None:
    weather = Weather(FAIR)
    async with living(way(Disk(9), weather)) as node:
        await run(node, f"{CREATE.format('s')}; CREATE TYPE t AS INT")
        before = [(await node.ask(one)).answer for one in (m.ListSources(), m.ListTypes(), m.ListDropped())]
        weather.full = True
        for sql in ("DROP STREAM s", CREATE.format("u"), "DROP TYPE t", "ALTER STREAM s RENAME TO r"):
            with pytest.raises((Unavailable, OutcomeUnknown)):
                await run(node, sql, SHORT)
            now = [(await node.ask(one)).answer for one in (m.ListSources(), m.ListTypes(), m.ListDropped())]
            assert now == before
        weather.full = False
        await asyncio.sleep(600)
        assert await run(node, "DROP STREAM s") == "s dropped"


@virtual
async def test_r36_a_node_that_reaches_no_other_one_has_the_same_rows() -> None:
    async with realm("abc") as it:
        it.cut("c")
        for number in range(5):
            await run(it.nodes["b"], CREATE.format(f"s{number}"))
        await run(it.nodes["a"], "DROP STREAM s3")
        for node in it.nodes.values():
            await node.follower.catch_up()
        roots = [dict(node.follower.tables.roots) for node in it.nodes.values()]
        assert roots[0] == roots[1] == roots[2]
        assert await names(it.nodes["c"]) == ["s0", "s1", "s2", "s4"]


@virtual
async def test_r40_a_row_of_a_newer_version_is_named_and_leaves_what_it_can_not_belong_to() -> None:
    disk = Disk(9)
    async with living(way(disk)) as node:
        await run(node, f"CREATE TYPE t AS INT; {CREATE.format('s')}")
        strange = Commit(3, (EncodedRow("source", '["later"]', '{"v":99}'),))
        append = make_append(disk.tip, b"a" * 16, (strange,), roots_after(node.follower.tables, strange.rows))
        assert disk.take(append) is AppendResult.ACCEPTED
        assert [one.name for one in (await node.ask(m.ListTypes())).answer.types] == ["t"]
        for whole in (m.ListSources(), m.DescribeSource("s")):  # which sources there are, and who reads s, is not known
            with pytest.raises(UnreadableRowError, match=r"the row \['later'\] of table 'source' can't be read here"):
                await node.ask(whole)
        with pytest.raises(
            Unavailable, match=r"read-only: 1 rows .*the first in table 'source': row format 99.*upgrade"
        ):
            await run(node, CREATE.format("t"))
