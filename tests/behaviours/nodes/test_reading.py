"""A node that is asked: who shares a look, what a token proves, what is answered from memory."""

import asyncio
from typing import Any

import pytest

from tests.behaviours.nodes.lives import FAIR, lagging, living, post, virtual, way
from tests.simulation.disk import Disk
from tests.simulation.model import Weather
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetSchema
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import DeleteSubject, GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Invalid, NotFound, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.state.commit import PositionToken
from treaty.node.node import TOKEN_SECONDS


@virtual
async def test_all_who_wait_at_one_time_share_one_look() -> None:
    async with living(way(Disk(9))) as node:
        await node.ask(ListSubjects())
        before = node.counts.looks
        await asyncio.gather(*(node.ask(ListSubjects()) for _ in range(200)))
        assert 1 <= node.counts.looks - before <= 2


@virtual
async def test_a_look_that_is_on_its_way_is_not_joined() -> None:
    disk = Disk(9)
    async with living(way(disk, seed=1)) as slow, living(way(disk, seed=2), seed=2) as other:
        await slow.ask(ListSubjects())
        for number in range(30):
            early = asyncio.create_task(slow.ask(ListSubjects()))
            await asyncio.sleep(0.005)
            await other.ask(post(f"s{number}"))
            reply = await slow.ask(ListSubjects())
            assert f"s{number}" in reply.answer.names
            await early


@virtual
async def test_a_token_from_one_node_is_good_at_another() -> None:
    disk = Disk(9)
    async with living(way(disk, seed=1)) as one, living(way(disk, seed=2), seed=2) as two:
        for number in range(20):
            wrote = await one.ask(post(f"s{number}"))
            read = await two.ask(ListSubjects(), CallOptions("eventual", after=wrote.token))
            assert f"s{number}" in read.answer.names
            assert read.token.sequence >= wrote.token.sequence


@virtual
async def test_a_token_beyond_the_tip_is_an_error_and_no_hang() -> None:
    loop = asyncio.get_running_loop()
    async with living(way(Disk(9))) as node:
        token = (await node.ask(post("s"))).token
        begun = loop.time()
        with pytest.raises(Unavailable, match="the token says sequence 2, the log ends at 1"):
            await node.ask(ListSubjects(), CallOptions(after=PositionToken(token.identity, 2, token.digest)))
        assert loop.time() - begun < TOKEN_SECONDS * 2


@virtual
async def test_a_token_of_another_history_is_refused() -> None:
    async with living(way(Disk(9))) as node:
        token = (await node.ask(post("s"))).token
        for wrong in (PositionToken("00" * 16, 1, token.digest), PositionToken(token.identity, 1, "00" * 32)):
            with pytest.raises(Invalid) as refused:
                await node.ask(ListSubjects(), CallOptions(after=wrong))
            assert refused.value.reason.rule == "TOKEN"
            assert refused.value.reason.allowed
        assert (await node.ask(ListSubjects(), CallOptions(after=PositionToken("", 0, "00" * 32)))).answer.names == (
            "s",
        )


@virtual
async def test_what_never_changes_is_answered_from_memory() -> None:
    async with living(way(Disk(9))) as node:
        version = (await node.ask(post("s"))).answer.version
        schema_id, guid = version.schema_id, version.guid
        before = node.counts.looks
        for _ in range(10):
            await node.ask(GetSchema(schema_id))
            await node.ask(GetGuid(guid))
            await node.ask(GetVersion(subject_of("s"), 1), CallOptions("eventual"))
            await node.ask(ListSubjects(), CallOptions("eventual"))
        assert node.counts.looks <= before + 1  # the tail's own
        await node.ask(GetSchema(schema_id), CallOptions("latest"))
        assert node.counts.looks > before


@virtual
async def test_a_version_by_number_is_as_new_as_the_log() -> None:
    """Its subject may become an alias, and its number be given anew once it is removed for good."""
    disk, subject = Disk(30), subject_of("s")
    async with living(way(disk)) as writer, lagging(disk) as (node, _):
        await writer.ask(post("s"))
        await writer.ask(post("other", '["b"]'))
        assert (await node.ask(GetVersion(subject, 1))).answer.text == '["a"]'
        await writer.ask(SetConfig(Scope(".", "s"), Config(alias="other")))
        assert (await node.ask(GetVersion(subject, 1), CallOptions("eventual"))).answer.text == '["a"]', "it lags"
        assert (await node.ask(GetVersion(subject, 1))).answer.text == '["b"]'
        await writer.ask(SetConfig(Scope(".", "s"), Config(alias="")))
        for permanent in (False, True):
            await writer.ask(DeleteSubject(subject, permanent))
        await writer.ask(post("s", '["c"]'))
        assert (await node.ask(GetVersion(subject, 1))).answer.text == '["c"]'


@virtual
async def test_while_the_log_is_away_versions_by_number_are_not_known_and_schemas_by_id_and_guid_are() -> None:
    disk, weather = Disk(9), Weather(FAIR)
    async with living(way(disk, weather)) as node:
        version = (await node.ask(post("s"))).answer.version
        weather.unavailable = 1.0
        asked = GetVersion(subject_of("s"), 1)
        for consistency in ("", "latest", "strict"):
            with pytest.raises(Unavailable, match="the log is unreachable"):
                await node.ask(asked, CallOptions(consistency))
        assert (await node.ask(asked, CallOptions("eventual"))).answer == version
        assert (await node.ask(GetSchema(version.schema_id))).answer.text == version.text
        assert (await node.ask(GetGuid(version.guid))).answer.text == version.text
        with pytest.raises(Unavailable):
            await node.ask(GetSchema(99))


@virtual
async def test_not_found_is_only_said_after_a_look() -> None:
    disk = Disk(9)
    async with living(way(disk, seed=1)) as one, living(way(disk, seed=2), seed=2) as two:
        await two.ask(ListSubjects())
        for number in range(20):
            made = (await one.ask(post(f"s{number}", f'["f{number}"]'))).answer.version
            assert (await two.ask(GetSchema(made.schema_id))).answer.guid == made.guid
        with pytest.raises(NotFound):
            await two.ask(GetSchema(99))


@virtual
async def test_a_consistency_that_does_not_exist_is_refused() -> None:
    async with living(way(Disk(9))) as node:
        with pytest.raises(Invalid, match="'often' is no consistency"):
            await node.ask(ListSubjects(), CallOptions("often"))


@virtual
async def test_a_query_does_not_outlast_its_time() -> None:
    loop = asyncio.get_running_loop()
    async with living(way(Disk(9))) as node:
        with pytest.raises(Unavailable, match="no answer within"):
            await node.ask(ListSubjects(), CallOptions(timeout=0.001))
        assert loop.time() < 0.01


@virtual
async def test_an_old_follower_reads_everything_anew() -> None:
    disk = Disk(remembered=2)
    async with living(way(disk, seed=1)) as one:
        for number in range(5):
            await one.ask(post(f"s{number}"))
        async with living(way(disk, seed=2), seed=2) as two:
            assert len((await two.ask(ListSubjects())).answer.names) == 5
            assert two.counts.reloads == 1
            assert two.status().state_root == one.status().state_root


@virtual
async def test_another_history_in_the_logs_place_is_taken_over_as_a_whole() -> None:
    lost, restored = Disk(9), Disk(9)
    async with living(way(lost)) as old, living(way(restored, seed=2), seed=2) as new:
        await old.ask(post("gone"))
        for name in ("kept", "more"):
            await new.ask(post(name))
        log = way(lost, seed=3)
        async with living(log, seed=3) as node:
            assert (await node.ask(ListSubjects())).answer.names == ("gone",)
            log.turn_to(restored)
            assert (await node.ask(ListSubjects())).answer.names == ("kept", "more")
            assert node.status().identity == new.status().identity
            assert (await node.ask(post("third"))).token.sequence == 3


@virtual
@pytest.mark.parametrize("request_", [ListSubjects(), GetSchema(7)])
async def test_a_token_of_a_history_that_a_look_replaces_is_refused(request_: Request[Any]) -> None:
    """A list looks at once; an id that is not there only before it says so."""
    lost, restored = Disk(9), Disk(9)
    async with living(way(lost)) as old, living(way(restored, seed=2), seed=2) as new:
        await old.ask(post("gone"))
        await new.ask(post("kept"))
        log = way(lost, seed=3)
        async with living(log, seed=3) as node:
            token = (await node.ask(ListSubjects())).token
            log.turn_to(restored)
            with pytest.raises(Invalid, match="another log"):
                await node.ask(request_, CallOptions(after=token))


@virtual
@pytest.mark.parametrize("ahead", [0, 1, 3])
async def test_a_log_that_was_put_back_gives_tokens_of_what_came_after(ahead: int) -> None:
    """A node remembers ends of appends that its log has lost. It reads what came instead in one go: less, as much, or more."""
    disk = Disk(99)
    async with living(way(disk)) as writer, lagging(disk) as (node, _):
        for number in range(4):
            await writer.ask(post(f"s{number}"))
            await node.ask(ListSubjects())
        disk.put_back(disk.appends[0].position)
        async with living(way(disk, seed=3), seed=3) as other:
            tokens = [(await other.ask(post(f"t{number}"))).token for number in range(3 + ahead)]
            assert "t0" in (await node.ask(ListSubjects())).answer.names
            for token in tokens:
                await node.ask(ListSubjects(), CallOptions(after=token))
