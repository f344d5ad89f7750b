"""Commands handed from node to node: to the owner, to the last winner, while both move, die, stall and are not heard."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.behaviours.nodes.crowns import realm, written
from tests.behaviours.nodes.lives import FAIR, living, post, virtual, way
from tests.behaviours.nodes.test_loop_turns import LARGE, noting_work
from tests.simulation.disk import Disk
from treaty.core.access.rights import Access, AccessRule, Permission
from treaty.core.command import Command
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.policy import ForcedRegistration
from treaty.core.refusals import Forbidden, Incompatible, OutcomeUnknown, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft
from treaty.node import forwarder
from treaty.node.node import Node
from treaty.node.queued_command import QueuedCommand
from treaty.wire.peer.message import DecidedReply, ForwardedCommand, RefusedReply, SequenceExceededReply

EVENTUAL = CallOptions(consistency="eventual")


# ------------------------------------------------------------------------------------------------- the owner decides


@virtual
async def test_every_node_writes_and_the_owner_decides() -> None:
    async with realm("abc") as it:
        for name, node in it.nodes.items():
            reply = await node.ask(post(f"of-{name}"))
            assert reply.answer.created
            found = await node.ask(GetVersion(subject_of(f"of-{name}"), 1), EVENTUAL)  # one's own writes, on that node
            assert found.token.sequence >= reply.token.sequence
        assert it.crown.appends == ["a", "a", "a"]
        assert [node.counts.handed for node in it.nodes.values()] == [0, 1, 1]
        assert it.nodes["a"].counts.taken == 2


@virtual
async def test_a_refusal_is_the_same_whoever_was_asked() -> None:
    async with realm("abc") as it:
        await it.nodes["b"].ask(post("s"))
        told = []
        for node in it.nodes.values():
            with pytest.raises(Incompatible) as refused:
                await node.ask(post("s", '["b"]'))
            told.append((refused.value.reason, refused.value.findings))
        assert told[0] == told[1] == told[2]
        assert told[0][1]
        assert [node.counts.refused for node in it.nodes.values()] == [3, 1, 1]


@virtual
async def test_many_commands_at_all_nodes_are_each_done_once() -> None:
    async with realm("abc") as it:
        it.net.latency = 0.03
        posts = [node.ask(post(f"s{place % 40}")) for place, node in enumerate([*it.nodes.values()] * 40)]
        replies = await asyncio.gather(*posts)
        assert sum(one.answer.created for one in replies) == 40
        assert written(it) == 40


@virtual
async def test_who_asks_and_what_they_may_travels_along() -> None:
    async with realm() as it:
        forced = Register(subject_of("mine"), Draft('["a"]', "TOY"), force=ForceReason("user:ada", "why"))

        def ada(*may: Permission) -> CallOptions:
            return CallOptions(
                principal="user:ada", access=Access((AccessRule(("user:ada",), frozenset(may), ("mine",)),))
            )

        with pytest.raises(Forbidden, match="user:ada is not allowed to do this: it needs the permission config"):
            await it.nodes["b"].ask(forced, ada("read", "register", "create"))
        await it.nodes["b"].ask(forced, ada("read", "register", "create", "config"))
        found = (await it.nodes["a"].ask(GetVersion(subject_of("mine"), 1))).answer
        assert found.forced == ForcedRegistration("user:ada", "why")
        assert it.nodes["b"].counts.handed == 2


@virtual
async def test_while_nobody_owns_the_log_commands_wait_and_then_are_done() -> None:
    async with realm("ab", holder="") as it:
        asked = asyncio.create_task(it.nodes["b"].ask(post("s"), CallOptions(timeout=30)))
        await asyncio.sleep(5)
        assert not asked.done()
        it.crown.holder = "a"
        assert (await asked).answer.created


@virtual
async def test_an_owner_that_stays_unknown_is_a_clear_no_and_nothing_is_written() -> None:
    async with realm("ab", holder="") as it:
        with pytest.raises(Unavailable, match=r"the owner of the log is unknown; .* has no effect"):
            await it.nodes["b"].ask(post("s"), CallOptions(timeout=3))
        assert written(it) == 0
        assert (await it.nodes["b"].ask(ListSubjects())).answer.names == ()


@virtual
async def test_a_node_without_a_way_to_the_owner_says_so_at_once() -> None:
    async with realm("a") as it:
        alone = await it.start("b", transport=False)
        with pytest.raises(Unavailable, match=r"owned by another node \(a\), and this one has no way to it"):
            await alone.ask(post("s"), CallOptions(timeout=30))
        it.crown.holder = "b"
        assert (await alone.ask(post("s"))).answer.created


@virtual
async def test_ownership_moves_in_the_middle_of_commands() -> None:
    async with realm("abc") as it:
        it.net.latency = 0.02
        asked = []
        for round_ in range(30):
            asked += [
                asyncio.create_task(node.ask(post(f"s{round_}-{name}"), CallOptions(timeout=60)))
                for name, node in it.nodes.items()
            ]
            await asyncio.sleep(0.05)
            it.crown.holder = "abc"[round_ % 3]
            it.crown.believed = {"abc"[(round_ + 1) % 3]: "abc"[(round_ + 2) % 3]} if round_ % 2 else {}
        it.crown.believed = {}
        assert all(one.answer.created for one in await asyncio.gather(*asked))
        assert written(it) == 90
        assert set(it.crown.appends) == {"a", "b", "c"}


@virtual
async def test_who_is_not_the_owner_any_more_names_the_new_one() -> None:
    async with realm("abc", holder="c") as it:
        it.crown.believed = {"b": "a"}  # of old
        await it.nodes["b"].ask(post("s"))
        assert it.nodes["a"].counts.taken == it.nodes["c"].counts.taken == 1
        assert it.crown.appends == ["c"]


@virtual
async def test_nodes_that_each_believe_in_the_next_one_do_not_send_a_command_round_for_ever() -> None:
    async with realm("abcd", holder="d") as it:
        it.crown.believed = {"a": "b", "b": "c", "c": "a"}
        it.net.latency = 0.001  # what is on its way at its deadline is not known
        with pytest.raises(Unavailable):
            await it.nodes["a"].ask(post("s"), CallOptions(timeout=10))
        assert it.net.count["handed"] <= (forwarder.HOPS + 1) * 14
        assert written(it) == 0


# ------------------------------------------------------------------------------------------------- nodes that fail


@virtual
async def test_a_dead_owner_is_waited_for_and_left_behind_when_another_comes() -> None:
    async with realm("abc") as it:
        it.cut("a")
        asked = asyncio.create_task(it.nodes["b"].ask(post("s"), CallOptions(timeout=30)))
        await asyncio.sleep(5)
        it.crown.holder = "c"
        assert (await asked).answer.created
        assert it.crown.appends == ["c"]


@virtual
async def test_a_dead_owner_that_nobody_follows_is_a_clear_no() -> None:
    async with realm("ab") as it:
        it.cut("a")
        with pytest.raises(
            Unavailable, match="a does not answer; the command was not written in time, and has no effect"
        ):
            await it.nodes["b"].ask(post("s"), CallOptions(timeout=5))


@virtual
async def test_an_owner_that_hangs_leaves_the_outcome_open() -> None:
    async with realm("ab") as it:
        it.weather["a"].latency = 1000.0  # its log, and with it everything it decides
        with pytest.raises(OutcomeUnknown) as unknown:
            await it.nodes["b"].ask(post("s"), CallOptions(timeout=5, command_id="mine"))
        assert unknown.value.command_id == "mine"


@virtual
async def test_an_owner_that_hangs_is_left_behind_when_another_comes_and_its_late_decision_never_is() -> None:
    async with realm("abc") as it:
        it.net.latency = 2.0
        asked = asyncio.create_task(it.nodes["b"].ask(post("s"), CallOptions(timeout=60)))
        await asyncio.sleep(1)
        it.crown.holder = "c"
        assert (await asked).answer.created
        await asyncio.sleep(60)
        assert written(it) == 1
        assert it.crown.appends == ["c"]


@virtual
async def test_an_owner_that_took_a_command_and_hangs_is_left_as_soon_as_there_is_another() -> None:
    async with realm("abc") as it:
        it.weather["a"].latency = 1000.0
        asked = asyncio.create_task(it.nodes["b"].ask(post("s"), CallOptions(timeout=600)))
        await asyncio.sleep(1)
        assert it.nodes["a"].counts.taken == 1
        it.crown.holder = "c"
        assert (await asked).answer.created
        assert asyncio.get_running_loop().time() < 5


@virtual
async def test_a_lost_answer_is_found_in_the_log_and_the_command_is_done_once() -> None:
    async with realm("ab") as it:
        it.net.deaf = 1.0
        reply = await it.nodes["b"].ask(post("s"))
        assert reply.answer.created
        assert it.nodes["b"].counts.lost >= 1
        assert written(it) == 1
        assert it.net.count["handed"] == 1


@virtual
async def test_the_lost_answer_of_a_large_command_is_found_on_a_thread() -> None:
    """It was taken for answered, and waited until its time ended."""
    async with realm("ab") as it:
        await it.nodes["b"].ask(post("first"))
        steps: list[str] = []
        forwarding = it.nodes["b"]._forwarder
        assert forwarding._batcher is not None
        forwarding._run_large = forwarding._batcher._run_large = noting_work(steps).run_large
        it.net.deaf = 1.0
        reply = await it.nodes["b"].ask(post("s", LARGE))
        assert reply.answer.created
        assert steps == ["large", "large"]  # it is encoded for the other node, and compared with its outcome
        assert it.net.count["handed"] == 2


@virtual
async def test_a_command_that_ends_while_a_large_one_is_compared_takes_no_other_along() -> None:
    async with realm("ab") as it:
        node, loop = it.nodes["b"], asyncio.get_running_loop()
        await node.ask(post("first"))
        requeue, lost = node._queue.requeue_last, list[QueuedCommand]()

        async def work_for_a_second(work: Callable[[], Any]) -> Any:
            made = work()
            await asyncio.sleep(1)
            return made

        def requeue_together(command: QueuedCommand) -> None:
            lost.append(command)
            if len(lost) == 3:  # as when a connection breaks; the large one is first
                it.net.deaf = 0.0
                for one in sorted(lost, key=lambda one: one.command.request != post("large", LARGE)):
                    requeue(one)

        node._forwarder._run_large, node._queue.requeue_last = work_for_a_second, requeue_together  # type: ignore[method-assign]
        it.net.deaf, began = 1.0, loop.time()
        asked = {
            name: asyncio.create_task(node.ask(post(name, text), CallOptions(timeout=seconds)))
            for name, text, seconds in (("large", LARGE, 20), ("short", '["a"]', 0.8), ("later", '["a"]', 20))
        }
        with pytest.raises(OutcomeUnknown):
            await asked["short"]
        assert (await asked["large"]).answer.created
        assert (await asked["later"]).answer.created
        assert loop.time() < began + 5


@virtual
async def test_a_refusal_whose_word_is_lost_is_open_until_the_log_is_past_it() -> None:
    async with realm("ab") as it:
        await it.nodes["a"].ask(post("s"))
        it.net.deaf = 1.0
        with pytest.raises(OutcomeUnknown):  # it may be decided again, when the subject is gone
            await it.nodes["b"].ask(post("s", '["b"]'), CallOptions(timeout=5))
        it.net.deaf = 0.5
        with pytest.raises(Incompatible):
            await it.nodes["b"].ask(post("s", '["b"]'), CallOptions(timeout=60))
        assert written(it) > forwarder.HANDED_WITHIN  # type: ignore[attr-defined]  # passed with empty commits


@virtual
async def test_a_command_that_arrives_twice_is_done_once() -> None:
    async with realm("abc") as it:
        it.net.twice = 1.0
        await asyncio.gather(*(it.nodes[name].ask(post(f"s{name}{place}")) for name in "bc" for place in range(20)))
        await asyncio.sleep(10)
        assert it.net.count["handed"] == 40
        assert it.net.count["batches"] == it.net.count["arrived twice"] == 2
        assert written(it) == 40


@virtual
async def test_what_is_too_late_for_its_last_sequence_is_not_decided() -> None:
    async with realm("ab") as it:
        owner = it.nodes["a"]
        command = Command(post("t"), "mine", 7)
        for place in range(3):
            await owner.ask(post(f"s{place}"))
        assert await owner.take(ForwardedCommand(command, 5.0, last=3)) == SequenceExceededReply()
        assert written(it) == 3
        told = await owner.take(ForwardedCommand(command, 5.0, last=4))
        assert isinstance(told, DecidedReply)
        assert told.reply.token.sequence == 4


@virtual
async def test_servers_without_rights_take_turns_with_the_questions_of_their_commands() -> None:
    """They shared one turn: the command of one server waited for all that others had forwarded before."""
    done: list[str] = []

    async def forward(node: Node, sender: str, number: int) -> None:
        command = Command(post(f"{sender}{number}", f'["{sender}{number}"]'), f"{sender}{number}", 7)
        reply = await node.take(ForwardedCommand(command, 60.0, last=1_000, sender=sender))
        assert isinstance(reply, DecidedReply)
        done.append(f"{sender}{number}")

    async with living(way(Disk(9)), inline_bytes=1) as owner:
        await owner.ask(post("first"))
        others = [asyncio.create_task(forward(owner, "b", number)) for number in range(10)]
        await asyncio.sleep(FAIR * 1.5)
        await forward(owner, "c", 0)
        first = len(done)
        await asyncio.gather(*others)
        assert first < 10, "it came after all commands of the other server"


@virtual
async def test_a_no_counts_only_where_no_third_node_can_decide_the_command_any_more() -> None:
    async with realm("ab") as it:
        owner = it.nodes["a"]
        await owner.ask(post("t", '["other"]'))
        command = Command(post("t"), "mine", 7)
        told = await owner.take(ForwardedCommand(command, 5.0, last=100, elsewhere=40))
        assert isinstance(told, RefusedReply)
        assert isinstance(told.error, Incompatible)
        assert written(it) == 40
        assert told.token.sequence >= 40


@virtual
async def test_a_node_of_another_log_is_found_out() -> None:
    async with realm("ab") as it, realm("ab") as other:
        await it.nodes["a"].ask(post("s"))
        await other.nodes["a"].ask(post("s"))
        await it.nodes["b"].ask(ListSubjects())
        it.net.nodes["a"] = other.nodes["a"]
        with pytest.raises(Unavailable, match="has another log, or another history of it"):
            await it.nodes["b"].ask(post("t"), CallOptions(timeout=5))
        assert written(other) == 1


@pytest.mark.parametrize("fate", ["landed", "gone"])
@virtual
async def test_a_deposed_owner_that_reaches_nobody_tells_what_the_log_tells(fate: str) -> None:
    async with realm("b", holder="a") as it:
        alone = await it.start("a", transport=False)
        it.crown.open = fate
        asked = asyncio.create_task(alone.ask(post("s"), CallOptions(timeout=20)))
        await asyncio.sleep(5)
        it.crown.holder = "b"
        if fate == "landed":
            assert (await asked).answer.created
        else:
            with pytest.raises(OutcomeUnknown):
                await asked
        assert written(it) == (fate == "landed")


@pytest.mark.parametrize("fate", ["landed", "gone"])
@virtual
async def test_a_deposed_owner_has_its_open_append_settled_by_the_next_one(fate: str) -> None:
    async with realm("ab") as it:
        it.crown.open = fate
        asked = asyncio.create_task(it.nodes["a"].ask(post("s"), CallOptions(timeout=20)))
        await asyncio.sleep(5)
        it.crown.holder = "b"
        assert (await asked).answer.created
        assert written(it) == 1


@virtual
async def test_that_one_node_can_not_say_now_says_nothing_of_what_another_may_do() -> None:
    async with realm("abc") as it:
        it.net.deaf = 1.0
        it.weather["a"].latency = 1000.0
        asked = asyncio.create_task(it.nodes["b"].ask(post("s"), CallOptions(timeout=8)))
        await asyncio.sleep(1)
        it.crown.holder, it.net.deaf = "c", 0.0
        it.nodes["c"].follower.damage = "c is broken"
        with pytest.raises(OutcomeUnknown):
            await asked
