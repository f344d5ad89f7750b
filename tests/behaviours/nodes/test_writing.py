"""A node that writes: chains, deadlines, full queues, limits, and logs that can't be trusted any more."""

import asyncio
from collections import Counter
from dataclasses import asdict, replace
from typing import Any

import msgspec
import pytest

from tests.behaviours.nodes.lives import FAIR, desk, living, post, virtual, way, world
from tests.simulation.disk import Disk
from tests.simulation.model import Weather
from treaty.core import outcomes
from treaty.core.command import Command, Decision, OpenQuestions
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.request import LATEST
from treaty.core.messages.versions import DeleteSubject, GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Conflicting, Incompatible, Invalid, OutcomeUnknown, Refusal, TooLarge, Unavailable
from treaty.core.registry import CallOptions, Reply
from treaty.core.schema_engine import Answer, ParseSchema, Question, SchemaEngine
from treaty.core.state.commit import START, Append, Commit, make_append, roots_after, roots_of
from treaty.core.state.rows import EncodedRow, Row, encode_row
from treaty.core.state.state_tables import OUTCOME, OutcomeKey
from treaty.core.state.values import Outcome
from treaty.core.state.view import View
from treaty.log.log import AppendResult
from treaty.log.maintenance.restore import append_rows
from treaty.node import batch, queue, queued_command, writer
from treaty.node.node import Node


@virtual
async def test_commands_that_come_together_share_appends() -> None:
    async with living(way(Disk(9))) as node:
        replies = await asyncio.gather(*(node.ask(post(f"s{number}")) for number in range(500)))
        assert node.counts.commits == 500
        assert node.counts.appends <= 4
        assert len({reply.token.sequence for reply in replies}) == node.counts.appends


@virtual
async def test_equal_posts_at_all_nodes_give_one_id_and_one_version() -> None:
    disk = Disk(9)
    async with living(way(disk, seed=1), 1) as a, living(way(disk, seed=2), 2) as b, living(way(disk, seed=3), 3) as c:
        replies = await asyncio.gather(*(node.ask(post("s")) for _ in range(50) for node in (a, b, c)))
    told = Counter((one.answer.version.schema_id, one.answer.version.number, one.answer.created) for one in replies)
    assert told == {(1, 1, True): 1, (1, 1, False): 149}


@virtual
async def test_of_incompatible_posts_at_all_nodes_one_wins() -> None:
    disk = Disk(9)
    async with living(way(disk, seed=1), 1) as a, living(way(disk, seed=2), 2) as b, living(way(disk, seed=3), 3) as c:
        posts = [node.ask(post("s", f'["f{place}"]')) for place, node in enumerate([a, b, c] * 8)]
        replies = await asyncio.gather(*posts, return_exceptions=True)
    assert [isinstance(one, Incompatible) for one in replies].count(False) == 1


@virtual
async def test_a_command_that_is_repeated_gets_its_first_answer() -> None:
    disk = Disk(9)
    async with living(way(disk, seed=1), 1) as one, living(way(disk, seed=2), 2) as two:
        first = await one.ask(post("s"), CallOptions(command_id="mine"))
        again = await two.ask(post("s"), CallOptions(command_id="mine"))
        assert again.answer == first.answer
        assert again.answer.created
        assert (await two.ask(GetOutcome("mine"))).answer.sequence == first.token.sequence
        assert disk.tip.sequence == 1


@virtual
async def test_another_request_under_a_used_id_is_refused() -> None:
    async with living(way(Disk(9))) as node:
        await node.ask(post("s"), CallOptions(command_id="mine"))
        for other in (post("t"), post("s", '["b?"]'), DeleteSubject(subject_of("s"))):
            with pytest.raises(Invalid) as refused:
                await node.ask(other, CallOptions(command_id="mine"))
            assert (refused.value.reason.rule, refused.value.reason.path) == ("COMMAND_ID_USED", "Treaty-Command")
        assert (await node.ask(post("s"), CallOptions(command_id="mine"))).answer.created


@virtual
async def test_an_outcome_of_a_newer_version_refuses_its_command_and_no_other_one() -> None:
    disk = Disk(9)
    log = way(disk)
    of_newer = Outcome(1, "Subscribed", (("answer", "{}"),))
    theirs = [encode_row(Row("outcome", ("", "theirs"), of_newer))]
    await append_rows(log, START, theirs, roots_of(theirs), 0)
    async with living(way(disk, seed=1)) as node:
        await node.ask(ListSubjects())
        asked = [
            node.ask(post(f"s{number}"), CallOptions(command_id=name, timeout=5))
            for number, name in enumerate(["own-0", "own-1", "own-2", "theirs", *(f"own-{n}" for n in range(4, 8))])
        ]
        replies = await asyncio.gather(*asked, return_exceptions=True)
        assert node.counts.appends == 1, "they came in one chain"
    assert [type(one) for one in replies] == [Reply] * 3 + [Conflicting] + [Reply] * 4
    assert "was done at sequence 1" in str(replies[3])
    assert "Subscribed" in str(replies[3])


@virtual
async def test_a_fault_while_an_outcome_is_recalled_is_told_to_its_command_alone() -> None:
    """Three commands in an append that landed and whose answer was lost; the second one's outcome can't be read."""
    disk, weather = Disk(9), Weather(FAIR)
    log = way(disk, weather)
    async with living(log) as node:
        await node.ask(post("first"))
        decide = node._writer._decide

        def failing(view: View, command: Command[Any], engine: SchemaEngine) -> Decision[Any] | Refusal | OpenQuestions:
            if command.command_id == "bad" and view.get(OUTCOME, OutcomeKey("", "bad")) is not None:
                raise KeyError("a fault")
            return decide(view, command, engine)

        node._writer._decide = failing

        async def lands_untold(append: Append) -> AppendResult:
            await asyncio.sleep(FAIR)
            assert disk.take(append) is AppendResult.ACCEPTED
            return AppendResult.UNKNOWN

        log.append = lands_untold  # type: ignore[method-assign]
        asked = [node.ask(post(name), CallOptions(command_id=name, timeout=5)) for name in ("good", "bad", "fine")]
        good, bad, fine = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(bad, KeyError)
        assert isinstance(good, Reply)
        assert isinstance(fine, Reply)
        assert (good.answer.version.subject, fine.answer.version.subject) == ("good", "fine")


@virtual
async def test_a_command_that_cannot_be_sent_in_time_has_left_nothing() -> None:
    disk, weather = Disk(9), Weather(FAIR)
    async with living(way(disk, weather)) as node:
        await node.ask(ListSubjects())
        weather.unavailable = 1.0
        with pytest.raises(Unavailable):
            await node.ask(post("s"), CallOptions(timeout=1.0))
        weather.calm()
        assert (await node.ask(post("t"))).token.sequence == 1
        assert (await node.ask(ListSubjects())).answer.names == ("t",)
        assert node.status().trouble == ""


@virtual
async def test_what_was_sent_and_not_settled_in_time_is_unknown_and_told_later() -> None:
    disk, weather = Disk(9), Weather(FAIR)
    async with living(way(disk, weather)) as node:
        await node.ask(ListSubjects())
        weather.unknown = 1.0
        asked = asyncio.create_task(node.ask(post("s"), CallOptions(command_id="mine", timeout=FAIR * 2)))
        with pytest.raises(OutcomeUnknown) as open_:
            await asked
        assert open_.value.command_id == "mine"
        weather.calm()
        await node.ask(post("t"))  # goes only after the open one is settled
        assert (await node.ask(GetOutcome("mine"))).answer.sequence == 1


@virtual
async def test_what_is_no_longer_remembered_is_unknown_and_never_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "OUTCOMES", 5)
    monkeypatch.setattr(queued_command, "OUTCOMES", 5)
    disk, weather = Disk(99), Weather(FAIR)
    async with living(way(disk, weather), 1) as one, living(way(disk, seed=2), 2) as two:
        await one.ask(ListSubjects())
        weather.unknown = 1.0
        asked = asyncio.create_task(one.ask(post("s"), CallOptions(command_id="mine", timeout=1_000)))
        for _ in range(10_000):
            await asyncio.sleep(FAIR / 100 if not one.counts.unknown else 0)
        weather.unavailable = 1.0  # its fate is open, and nothing more is heard
        for number in range(8):
            await two.ask(post(f"t{number}"))
        weather.calm()
        with pytest.raises(OutcomeUnknown):
            await asked
        assert disk.tip.sequence in {8, 9}


@virtual
async def test_an_answer_that_is_always_lost_ends_in_one_commit() -> None:
    disk, weather = Disk(9), Weather(FAIR, unknown=0.9)
    async with living(way(disk, weather)) as node:
        for number in range(20):
            await node.ask(post(f"s{number}"), CallOptions(timeout=1_000))
        assert disk.tip.sequence == 20
        assert node.counts.unknown > 10


@virtual
async def test_a_full_queue_sends_away_and_says_when_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "QUEUE", 10)
    async with living(way(Disk(9))) as node:
        came = await asyncio.gather(*(node.ask(post(f"s{number}")) for number in range(15)), return_exceptions=True)
        away = [one for one in came if isinstance(one, Unavailable)]
        assert len(away) == 5
        assert all(one.retry_after > 0 and "QUEUE" in str(one) for one in away)
        assert node.counts.unavailable == 5


@virtual
async def test_a_commit_that_can_never_fit_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "COMMIT_BYTES", 3_000)
    async with living(way(Disk(9))) as node:
        large = post("large", "[" + ",".join(f'"f{number}"' for number in range(600)) + "]")
        replies = await asyncio.gather(
            node.ask(post("a")), node.ask(large), node.ask(post("b")), return_exceptions=True
        )
        assert [type(one) is TooLarge for one in replies] == [False, True, False]
        assert (await node.ask(ListSubjects())).answer.names == ("a", "b")


@virtual
async def test_a_chain_stays_below_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "CHAIN_BYTES", 3_000)
    disk = Disk(99)
    async with living(way(disk)) as node:
        await asyncio.gather(*(node.ask(post(f"s{number}")) for number in range(40)))
    assert len(disk.appends) > 4
    assert all(len(one.body) < 6_000 for one in disk.appends)


@virtual
async def test_questions_for_a_pool_do_not_stop_the_others() -> None:
    async with living(way(Disk(9)), inline_bytes=100) as node:
        large = post("large", "[" + ",".join(f'"f{number}"' for number in range(100)) + "]")
        first = asyncio.create_task(node.ask(large))
        await asyncio.gather(*(node.ask(post(f"s{number}")) for number in range(20)))
        assert (await first).answer.version.number == 1
        assert node.counts.parked >= 1


@virtual
async def test_rows_of_a_newer_version_make_the_node_read_only() -> None:
    disk = Disk(9)
    async with living(way(disk)) as node:
        await node.ask(post("s"))
        strange = Commit(2, (EncodedRow("dreams", '["x"]', '{"v":1}'), EncodedRow("subject", '[".","t"]', '{"v":9}')))
        roots = roots_after(node.follower.tables, strange.rows)
        assert disk.take(make_append(disk.tip, b"a" * 16, (strange,), roots)) is AppendResult.ACCEPTED
        assert (await node.ask(ListSubjects())).answer.names == ("s",)
        for _ in range(2):
            with pytest.raises(Unavailable, match=r"read-only: 2 rows.*'dreams'.*upgrade") as refused:
                await node.ask(post("u"))
            assert refused.value.retry_after > 1
        status = node.status()
        assert "upgrade" in status.read_only
        assert len(status.quarantine) == 2
        mended = Commit(3, (EncodedRow("dreams", '["x"]', None), EncodedRow("subject", '[".","t"]', None)))
        roots = roots_after(node.follower.tables, mended.rows)
        assert disk.take(make_append(disk.tip, b"b" * 16, (mended,), roots)) is AppendResult.ACCEPTED
        await node.ask(ListSubjects())
        assert (await node.ask(post("u"))).token.sequence == 4


@virtual
async def test_a_damaged_log_stops_writing_and_says_why() -> None:
    disk, weather = Disk(9), Weather(FAIR)
    async with living(way(disk, weather)) as node:
        schema_id = (await node.ask(post("s"))).answer.version.schema_id
        weather.damage = "a page is torn; restore the file"
        with pytest.raises(Unavailable, match="a page is torn"):
            await node.ask(ListSubjects())
        with pytest.raises(Unavailable, match="a page is torn"):
            await node.ask(post("t"), CallOptions(timeout=5))
        assert node.status().read_only == "the log is damaged: a page is torn; restore the file"
        assert schema_id == 1
        assert (await node.ask(ListSubjects(), CallOptions("eventual"))).answer.names == ("s",)


@virtual
async def test_who_listens_hears_of_a_change_before_it_is_answered() -> None:
    async with living(way(Disk(9))) as node:
        heard: list[int] = []
        node.on_change(lambda: heard.append(node.follower.position.sequence))
        for number in range(1, 4):
            await node.ask(post(f"s{number}"))
            assert heard[-1] == number


@virtual
async def test_a_caller_who_goes_away_leaves_the_others_in_peace() -> None:
    disk = Disk(9)
    async with living(way(disk)) as node:
        tasks = [asyncio.create_task(node.ask(post(f"s{number}"))) for number in range(10)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert sum(not isinstance(one, BaseException) for one in done) == 5
        assert (await node.ask(post("last"))).answer.created


@virtual
async def test_writers_who_keep_losing_hold_the_log() -> None:
    disk = Disk(9)

    async def write(node: Node, who: str) -> None:
        for number in range(15):
            await node.ask(post("s", f'["{who}{number}?"]'), CallOptions(timeout=FAIR * 100))

    async with living(way(disk, seed=1), 1) as a, living(way(disk, seed=2), 2) as b, living(way(disk, seed=3), 3) as c:
        await asyncio.gather(write(a, "a"), write(b, "b"), write(c, "c"))
        assert a.counts.held + b.counts.held + c.counts.held > 0
    assert disk.tip.sequence == 45


@virtual
async def test_no_text_is_read_while_the_log_is_held() -> None:
    disk, read = Disk(9), Counter[bool]()

    async def write(node: Node, who: str) -> None:
        held = node._log._lock_owner  # type: ignore[attr-defined]  # it is a model
        answer = node._schemas.answer

        def counted(question: Question) -> Answer:
            read[held.is_current_task] += isinstance(question, ParseSchema)
            return answer(question)

        node._schemas.answer = counted
        for number in range(30):
            await node.ask(post(f"{who}{number}", f'["{who}{number}"]'))

    async with living(way(disk, seed=1), 1) as a, living(way(disk, seed=2), 2) as b:
        await asyncio.gather(*(write(node, f"{place}{name}") for place, node in enumerate((a, b)) for name in "xyz"))
        assert a.counts.held + b.counts.held > 30
    assert read[True] == 0
    assert read[False] >= 180


@virtual
async def test_while_others_write_the_log_is_held_from_the_first_and_no_longer() -> None:
    disk = Disk(9)

    async def write(node: Node, who: str, count: int) -> None:
        for number in range(count):
            await node.ask(post(f"{who}{number}"))

    async with living(way(disk, seed=1), 1) as a, living(way(disk, seed=2), 2) as b, living(way(disk, seed=3), 3) as c:
        some = (a, b, c)
        await asyncio.gather(
            *(write(node, f"{place}-{name}-", 20) for place, node in enumerate(some) for name in "xyz")
        )
        appends, conflicts = sum(one.counts.appends for one in some), sum(one.counts.conflicts for one in some)
        assert conflicts * 5 < appends, (conflicts, appends)
        held = a.counts.held
        await write(a, "alone", 40)
        assert a.counts.held - held <= writer.ALONE + 1


@virtual
async def test_clocks_that_are_years_apart_change_no_order() -> None:
    disk = Disk(9)
    async with living(way(disk, seed=1), 1) as now, living(way(disk, seed=2), 2) as past:
        past._environment = replace(past._environment, wall=lambda: 1)
        fields = ['["a"]', '["a", "b?"]', '["a", "b?", "c?"]']
        told = [await node.ask(post("s", text)) for node, text in zip((now, past, now), fields, strict=True)]
        assert [one.answer.version.number for one in told] == [1, 2, 3]
        for node in (now, past):
            latest = await node.ask(GetVersion(subject_of("s"), LATEST))
            assert latest.answer.number == 3
            again = await node.ask(post("s", fields[1]))
            assert (again.answer.created, again.answer.version.number) == (False, 2)


@virtual
async def test_closing_tells_everybody_who_waits() -> None:
    loop, disk, weather = asyncio.get_running_loop(), Disk(9), Weather(FAIR)
    node = Node(way(disk, weather), desk(), world())
    await node.start()
    await node.ask(ListSubjects())
    weather.unknown = 1.0
    sent = asyncio.create_task(node.ask(post("s")))
    for _ in range(10_000):
        await asyncio.sleep(FAIR / 100 if not node.counts.unknown else 0)
    weather.unavailable = 1.0
    waiting = asyncio.create_task(node.ask(post("t")))
    await asyncio.sleep(FAIR)
    weather.calm()
    begun = loop.time()
    await node.close()
    told = await asyncio.gather(sent, waiting, return_exceptions=True)
    assert [type(one) for one in told] == [OutcomeUnknown, Unavailable]
    assert loop.time() - begun < 1
    assert node.status().queue == 0


@virtual
async def test_the_status_can_be_sent_as_json() -> None:
    async with living(way(Disk(9))) as node:
        await node.ask(post("s"))
        told = msgspec.json.decode(msgspec.json.encode(node.status()))
        assert told["sequence"] == 1
        assert len(told["identity"]) == 32
        assert told["counts"]["commits"] == 1
        assert told == msgspec.json.decode(msgspec.json.encode(asdict(node.status())))
