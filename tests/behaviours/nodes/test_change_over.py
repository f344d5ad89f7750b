"""A node that changes over to a newer state file: all who keep answers or places hear of it."""

import pytest

from tests.behaviours.nodes.lives import change_over, file_of, lagging, living, post, virtual, way
from tests.simulation.disk import Disk
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Invalid
from treaty.core.registry import CallOptions
from treaty.core.state.commit import PositionToken

FROM_MEMORY = "eventual"


@pytest.mark.parametrize("later", [0, 2], ids=["a file at the tip", "a file before the tip"])
@pytest.mark.parametrize("missed", [0, 1], ids=["a node at the tip", "a node that lags"])
@virtual
async def test_whoever_keeps_answers_is_called_at_every_change_over(later: int, missed: int) -> None:
    disk = Disk(9)
    async with living(way(disk)) as writer:
        await writer.ask(post("s"))
        async with lagging(disk) as (node, tables):
            heard: list[int] = []
            node.on_change(lambda: heard.append(node.follower.position.sequence))
            if missed:
                await writer.ask(DeleteVersion(subject_of("s"), 1))
            file = file_of(disk)
            for number in range(later):
                await writer.ask(post(f"later{number}"))
            assert await change_over(node, tables, file)
            assert (node.follower.position, heard) == (disk.tip, [disk.tip.sequence])
            assert node.follower.remembers(disk.tip.sequence) == disk.tip.digest


@virtual
async def test_a_token_of_another_history_is_refused_at_the_place_of_a_change_over() -> None:
    disk = Disk(9)
    async with living(way(disk)) as writer, lagging(disk) as (node, tables):
        token = (await writer.ask(post("s"))).token
        assert await change_over(node, tables, file_of(disk))
        foreign = PositionToken(token.identity, token.sequence, "00" * 32)
        with pytest.raises(Invalid):
            await node.ask(GetSchema(1), CallOptions(FROM_MEMORY, after=foreign))
        assert (await node.ask(GetSchema(1), CallOptions(FROM_MEMORY, after=token))).token == token


@virtual
async def test_places_of_a_lost_history_are_forgotten_at_a_change_over() -> None:
    """The log was put back under a node that did not see it, and a state file of the new history lies there."""
    disk = Disk(9)
    async with living(way(disk)) as writer:
        kept = (await writer.ask(post("s"))).token
        place = disk.tip
        lost = (await writer.ask(post("lost"))).token
        async with lagging(disk) as (node, tables):
            disk.put_back(place)
            await writer.ask(post("new"))
            token = (await writer.ask(post("newer"))).token
            within = PositionToken(token.identity, lost.sequence, disk.appends[1].digest.hex())
            assert within != lost
            assert await change_over(node, tables, file_of(disk))
            for good in (kept, within, token):
                assert (await node.ask(GetSchema(1), CallOptions(FROM_MEMORY, after=good))).token == token
