"""`consistency=strict` on nodes that another one passes barriers for: the owner of the log, or who won last."""

import asyncio

import pytest

from tests.behaviours.nodes.crowns import commits, realm, written
from tests.behaviours.nodes.lives import post, virtual
from tests.behaviours.nodes.test_strict import MANY, VERSIONS, read
from treaty.core.refusals import Unavailable
from treaty.core.registry import CallOptions


@virtual
async def test_the_owner_of_a_log_serves_the_strict_readers_of_other_nodes() -> None:
    async with realm() as it:
        await it.nodes["b"].ask(post("s"))
        before, sent = written(it), it.net.count["handed"]
        assert await asyncio.gather(*(read(it.nodes["b"]) for _ in range(MANY))) == [1] * MANY
        assert (written(it) - before, it.net.count["handed"] - sent) == (1, 1)
        assert set(it.crown.appends) == {"a"}
        assert commits(it)[-1].rows == ()
        assert await read(it.nodes["a"]) == 1


@virtual
async def test_a_node_that_reads_slowly_shows_the_place_that_the_owner_named() -> None:
    async with realm() as it:
        await it.nodes["b"].ask(post("s"))
        it.weather["b"].latency = 5.0
        await it.nodes["a"].ask(post("s", '["a","b?"]'))
        assert (await it.nodes["b"].ask(VERSIONS, CallOptions("eventual"))).answer.numbers == (1,), "it lags"
        assert await read(it.nodes["b"], CallOptions("strict", timeout=300)) == 2


@virtual
async def test_a_strict_read_goes_to_the_new_owner_where_the_old_one_is_gone() -> None:
    async with realm("abc") as it:
        await it.nodes["b"].ask(post("s"))
        it.crown.holder = "c"
        it.crown.believed["b"] = "a"  # who says who owns it now
        await it.nodes["c"].ask(post("s", '["a","b?"]'))
        strict = asyncio.create_task(read(it.nodes["b"]))
        await asyncio.sleep(1)
        assert not strict.done()
        it.crown.believed.clear()
        assert await strict == 2
        it.cut("c")
        late = asyncio.create_task(read(it.nodes["b"]))
        await asyncio.sleep(1)
        assert not late.done()
        it.crown.holder = "b"
        assert await late == 2


@virtual
async def test_where_no_owner_can_be_asked_a_strict_read_is_refused_and_says_why() -> None:
    async with realm("a") as it:
        await it.nodes["a"].ask(post("s"))
        alone = await it.start("z", transport=False)
        with pytest.raises(Unavailable, match="owned by another node"):
            await read(alone)
        it.crown.holder = ""
        with pytest.raises(Unavailable):
            await read(it.nodes["a"], CallOptions("strict", timeout=1.0))
        it.crown.holder = "a"
        assert await read(it.nodes["a"]) == 1


@virtual
async def test_who_loses_to_others_lets_the_last_winner_pass_the_barrier() -> None:
    async with realm(owned=False) as it:
        await it.nodes["a"].ask(post("s"))
        it.crown.refuse = 2
        before = len(it.crown.appends)
        assert await read(it.nodes["b"]) == 1
        assert it.crown.appends[before:] == ["a"]


@virtual
async def test_a_barrier_whose_place_was_never_read_is_no_look() -> None:
    """The owner has passed it, but this node is cut off from the log until its reader has gone."""
    async with realm() as it:
        await it.nodes["b"].ask(post("s"))
        await it.nodes["b"].follower.catch_up()
        it.weather["b"].unavailable = 1.0
        await it.nodes["a"].ask(post("s", '["a","b?"]'))
        before, place = it.nodes["b"].follower.done, it.nodes["b"].follower.position
        with pytest.raises(Unavailable):
            await read(it.nodes["b"], CallOptions("strict", timeout=5.0))
        await asyncio.sleep(5)
        assert commits(it)[-1].rows == (), "the owner has passed it"
        assert it.nodes["b"].follower.position == place
        assert it.nodes["b"].follower.done == before
        it.weather["b"].calm()
        assert await read(it.nodes["b"]) == 2


@virtual
async def test_a_barrier_passed_in_another_history_proves_nothing() -> None:
    """The log is put back while the owner passes the barrier, and the owner hears of it first."""
    async with realm() as it:
        await it.nodes["b"].ask(post("s"))
        place = it.disk.tip
        await it.nodes["a"].ask(post("s", '["a","b?"]'))
        await it.nodes["b"].follower.catch_up()
        it.weather["b"].latency = 0.5
        passed = asyncio.Event()
        it.disk.landed = lambda _: passed.set()
        strict = asyncio.create_task(read(it.nodes["b"], CallOptions("strict", timeout=300)))
        await passed.wait()
        it.disk.put_back(place)
        assert await strict == 1
        assert commits(it)[-1].rows == ()
