"""Commands that travel to another node in one batch: each of them ends for itself, whatever becomes of the others."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.behaviours.nodes.crowns import Realm, realm, written
from tests.behaviours.nodes.lives import post, virtual
from treaty.core.messages.listings import ListSubjects
from treaty.core.refusals import Incompatible, InvalidSchema, OutcomeUnknown, Unavailable
from treaty.core.registry import CallOptions, Reply
from treaty.node import peer_batches
from treaty.node.node import Node
from treaty.wire.peer.message import FailedReply, ForwardedCommand, ForwardReply


def name_of(handed: ForwardedCommand) -> str:
    """The subject that a command is about."""
    return str(handed.command.request.subject.name)  # all that are handed over here have one


def in_turn(node: Node) -> Callable[[Node, ForwardedCommand], Awaitable[ForwardReply]]:
    """At one node commands are decided second by second, as the numbers in their names say."""

    async def taking(at: Node, handed: ForwardedCommand) -> ForwardReply:
        if at is node:
            await asyncio.sleep(int(name_of(handed)[1:]))
        return await at.take(handed)

    return taking


def together(it: Realm, name: str, count: int, timeout: float = 30.0) -> list[asyncio.Task[Reply[Any]]]:
    """Ask a node for many things at one time."""
    call = CallOptions(timeout=timeout)
    return [asyncio.create_task(it.nodes[name].ask(post(f"s{place}"), call)) for place in range(count)]


@virtual
async def test_what_waits_together_travels_together() -> None:
    async with realm("ab") as it:
        await asyncio.gather(*together(it, "b", 100))
        assert it.net.count["handed"] == 100
        assert it.net.count["batches"] == 1
        assert len(it.crown.appends) <= 3


@virtual
async def test_who_comes_while_a_batch_is_on_its_way_waits_for_company_and_not_for_its_end() -> None:
    async with realm("ab") as it:
        it.weather["a"].latency = 5.0
        first = asyncio.create_task(it.nodes["b"].ask(post("first"), CallOptions(timeout=60)))
        await asyncio.sleep(1)
        others = together(it, "b", 50, timeout=60.0)
        await asyncio.sleep(1)
        assert not first.done()
        assert it.net.count["batches"] == 2
        assert it.nodes["a"].counts.taken == 51
        assert all(one.answer.created for one in await asyncio.gather(first, *others))


@virtual
async def test_a_batch_is_bounded_in_commands_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_batches, "PEER_BATCH", 10)
    monkeypatch.setattr(peer_batches, "PEER_BATCH_BYTES", 3_000)
    async with realm("ab") as it:
        await asyncio.gather(*together(it, "b", 30))
        assert it.net.count["batches"] >= 3
        it.net.count.clear()
        large = [it.nodes["b"].ask(post(f"t{place}", f'["{"x" * 2_000}"]')) for place in range(4)]
        await asyncio.gather(*large)
        assert it.net.count["batches"] == 4


@virtual
async def test_requests_that_hang_are_bounded_and_who_never_left_has_left_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(peer_batches, "PEER_REQUESTS", 1)
    async with realm("ab") as it:
        it.weather["a"].latency = 1_000.0
        first = asyncio.create_task(it.nodes["b"].ask(post("first"), CallOptions(timeout=20)))
        await asyncio.sleep(1)
        others = together(it, "b", 5, timeout=5.0)
        told = await asyncio.gather(*others, return_exceptions=True)
        assert {type(one) for one in told} == {Unavailable}
        assert "has no effect" in str(told[0])
        assert it.net.count["batches"] == 1
        with pytest.raises(OutcomeUnknown):
            await first


@virtual
async def test_a_no_to_one_of_a_batch_says_nothing_of_the_others() -> None:
    async with realm("ab") as it:
        await it.nodes["a"].ask(post("taken"))
        await it.nodes["b"].ask(ListSubjects())
        mixed = [post("taken", '["b"]'), post("new"), post("broken", "no schema"), post("newer")]
        told = await asyncio.gather(*(it.nodes["b"].ask(one) for one in mixed), return_exceptions=True)
        assert [type(one) for one in told] == [Incompatible, Reply, InvalidSchema, Reply]
        assert it.net.count["batches"] == 1
        assert written(it) == 3


@virtual
async def test_one_that_takes_long_holds_up_no_other_of_its_batch() -> None:
    async with realm("ab") as it:
        node, slow = it.nodes["a"], asyncio.Event()
        take = node.take

        async def taking(handed: ForwardedCommand) -> ForwardReply:
            if name_of(handed) == "slow":
                await slow.wait()
            return await take(handed)

        it.net.within = lambda _, handed: taking(handed)
        late = asyncio.create_task(it.nodes["b"].ask(post("slow"), CallOptions(timeout=60)))
        others = together(it, "b", 5)
        assert all(one.answer.created for one in await asyncio.gather(*others))
        assert it.net.count["batches"] == 1
        assert not late.done()
        slow.set()
        assert (await late).answer.created


@virtual
async def test_a_fault_in_one_of_a_batch_is_its_own() -> None:
    async with realm("ab") as it:
        node = it.nodes["a"]

        async def taking(_: Node, handed: ForwardedCommand) -> ForwardReply:
            if name_of(handed) == "s3":
                raise RuntimeError("a fault at the door")
            return FailedReply("KeyError") if name_of(handed) == "s1" else await node.take(handed)

        it.net.within = taking
        told = await asyncio.gather(*together(it, "b", 5, timeout=5.0), return_exceptions=True)
        assert [type(one) for one in told] == [Reply, RuntimeError, Reply, OutcomeUnknown, Reply]


@virtual
async def test_the_lost_answer_of_a_batch_is_found_in_the_log_command_by_command() -> None:
    async with realm("ab") as it:
        it.net.deaf = 1.0
        replies = await asyncio.gather(*together(it, "b", 40))
        assert all(one.answer.created for one in replies)
        assert written(it) == 40
        assert it.net.count["answers lost"] == 1
        assert it.nodes["b"].counts.lost == 40


@virtual
async def test_half_of_the_answers_of_a_batch_are_lost() -> None:
    async with realm("ab") as it:
        it.net.within = in_turn(it.nodes["a"])
        asked = together(it, "b", 10, timeout=60.0)
        await asyncio.sleep(5)
        it.net.deaf = 1.0
        replies = await asyncio.gather(*asked)
        assert all(one.answer.created for one in replies)
        assert written(it) == 10
        assert it.nodes["b"].counts.lost >= 4


@virtual
async def test_an_owner_is_deposed_with_half_a_batch() -> None:
    async with realm("abc") as it:
        it.net.within = in_turn(it.nodes["a"])
        asked = together(it, "b", 20, timeout=60.0)
        await asyncio.sleep(9.5)
        assert 5 <= sum(one.done() for one in asked) <= 15
        it.crown.holder = "c"
        assert all(one.answer.created for one in await asyncio.gather(*asked))
        assert written(it) == 20
        assert it.crown.appends[0] == "a"
        assert it.crown.appends[-1] == "c"
        assert asyncio.get_running_loop().time() < 15


@virtual
async def test_a_request_that_arrives_again_while_it_is_decided_waits_for_the_same_answer() -> None:
    async with realm("ab") as it:
        it.weather["a"].latency = 20.0
        it.net.twice = 1.0
        assert (await it.nodes["b"].ask(post("s"), CallOptions(timeout=600))).answer.created
        await asyncio.sleep(60)
        assert it.nodes["a"].counts.taken == 2
        assert it.nodes["a"].counts.repeated == 0
        assert written(it) == 1


@virtual
async def test_who_was_told_that_nothing_was_left_does_not_leave_afterwards() -> None:
    async with realm("ab") as it:
        it.net.latency = 5.0
        first = asyncio.create_task(it.nodes["b"].ask(post("first"), CallOptions(timeout=60)))
        await asyncio.sleep(1)
        with pytest.raises(Unavailable, match="has no effect"):
            await it.nodes["b"].ask(post("second"), CallOptions(timeout=peer_batches.GATHER_SECONDS / 2))
        assert (await first).answer.created
        await asyncio.sleep(60)
        assert (written(it), it.net.count["handed"]) == (1, 1)
