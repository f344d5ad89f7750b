"""Commands handed to the last winner of a log that nobody owns, after conflicts, and what happens where it fails."""

import asyncio

import pytest

from tests.behaviours.nodes.crowns import commits, realm, written
from tests.behaviours.nodes.lives import post, virtual
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import subject_of
from treaty.core.refusals import Incompatible, SubjectNotFound
from treaty.core.registry import CallOptions
from treaty.node import forwarder


@virtual
async def test_after_two_conflicts_in_a_row_the_last_winner_decides() -> None:
    async with realm("ab", owned=False, holder="") as it:
        await it.nodes["a"].ask(post("s"))
        it.crown.refuse = 2
        assert (await it.nodes["b"].ask(post("t"))).answer.created
        assert it.crown.appends == ["a", "a"]
        assert it.nodes["b"].counts.conflicts == 2
        assert it.nodes["b"].counts.handed == 1
        await asyncio.sleep(forwarder.YIELD_SECONDS)
        await it.nodes["b"].ask(post("u"))
        assert it.crown.appends == ["a", "a", "b"]


@virtual
async def test_a_winner_that_does_not_win_any_more_is_not_asked() -> None:
    async with realm("abc", owned=False, holder="") as it:
        await it.nodes["a"].ask(post("s"))
        it.crown.refuse = 2
        await it.nodes["b"].ask(post("t"))
        it.crown.believed = {"b": "b"}  # its own append was the last one
        await it.nodes["b"].ask(post("u"))
        assert it.crown.appends == ["a", "a", "b"]


@pytest.mark.parametrize("failure", ["dead", "deaf", "lost"])
@virtual
async def test_where_the_winner_fails_the_command_is_decided_here_and_once(failure: str) -> None:
    async with realm("ab", owned=False, holder="") as it:
        await it.nodes["a"].ask(post("s"))
        match failure:
            case "dead":
                it.cut("a")
            case "deaf":
                it.net.deaf = 1.0
            case _:
                it.net.lost = 1.0
        it.crown.refuse = 2
        assert (await it.nodes["b"].ask(post("t"))).answer.created
        assert sorted((await it.nodes["a"].ask(ListSubjects())).answer.names) == ["s", "t"]
        assert written(it) == 2
        assert it.crown.appends == (["a", "a"] if failure == "deaf" else ["a", "b"])


@virtual
async def test_a_winner_that_was_not_heard_is_asked_again_after_a_rest() -> None:
    async with realm("ab", owned=False, holder="") as it:
        await it.nodes["a"].ask(post("s"))
        it.cut("a")
        it.crown.refuse = 2
        await it.nodes["b"].ask(post("t"))
        it.net.nodes["a"] = it.nodes["a"]
        for rest, decides in ((forwarder.YIELD_SECONDS, "b"), (forwarder.REST_SECONDS, "a")):
            await asyncio.sleep(rest)
            it.crown.believed, it.crown.refuse = {"b": "a"}, 2
            await it.nodes["b"].ask(post(f"after {rest} seconds"))
            assert it.crown.appends[-1] == decides


@virtual
async def test_what_writes_nothing_is_answered_too_where_the_winner_was_not_heard() -> None:
    async with realm("ab", owned=False, holder="") as it:
        await it.nodes["a"].ask(post("s"))
        it.net.deaf = 1.0
        for request, refusal in ((post("s", '["b"]'), Incompatible), (DeleteSubject(subject_of("u")), SubjectNotFound)):
            it.crown.refuse = 2
            it.nodes["b"]._writer._conflicts = 2
            with pytest.raises(refusal):
                await it.nodes["b"].ask(request, CallOptions(timeout=10))
            await asyncio.sleep(10)
        it.nodes["b"]._writer._conflicts = 2
        assert not (await it.nodes["b"].ask(post("s"), CallOptions(timeout=10))).answer.created
        with pytest.raises(SubjectNotFound):
            await it.nodes["b"].ask(DeleteSubject(subject_of("u")))


@virtual
async def test_three_nodes_that_contend_come_to_an_end_and_all_is_done_once() -> None:
    async with realm("abc", owned=False, holder="") as it:
        it.net.latency = 0.003
        it.net.deaf = it.net.lost = it.net.twice = 0.1
        posts = [
            node.ask(post(f"s{place}-{name}"), CallOptions(timeout=120))
            for place in range(100)
            for name, node in it.nodes.items()
        ]
        replies = await asyncio.gather(*posts)
        assert all(one.answer.created for one in replies)
        assert sum(1 for one in commits(it) if one.command_id) == 300
        assert sum(node.counts.handed for node in it.nodes.values())
