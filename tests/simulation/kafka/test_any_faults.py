"""What Kafka must not do, done to a log of `writers=any`: it is noticed, said, and never taken for something else."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping

import pytest

from tests.behaviours.logs.backends import accepted, attempt, chain, put, row, whole
from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from treaty.core.state.commit import START, Append, Position
from treaty.log.kafka.multi_writer import tailer
from treaty.log.kafka.multi_writer.log import MultiWriterLog
from treaty.log.log import LogDamagedError, NewerLogFormatError

SECONDS = 20


def node(partition: Partition) -> tuple[MultiWriterLog, LinkModel]:
    link = LinkModel(partition, Storm(), random.Random(1))
    return MultiWriterLog(link, attempt=attempt), link


async def filled(partition: Partition, appends: int) -> tuple[MultiWriterLog, list[Append]]:
    """A node that has written and read some appends."""
    log, _ = node(partition)
    sent = [chain(START, [row("a", "1")])]
    for number in range(2, appends + 1):
        sent.append(chain(sent[-1].position, [row("a", str(number))]))
    for one in sent:
        await accepted(log, one)
    return log, sent


def of_format(number: int, append: Append) -> bytes:
    """The same append in another format, which may look like anything behind its prefix."""
    envelope = append.envelope
    return envelope[:4] + number.to_bytes(2, "big") + envelope[6:-1]


async def shows(log: MultiWriterLog, place: Position) -> None:
    """Return when a node that follows has come to a place."""
    while await log.tip() != place:  # noqa: ASYNC110 - asking again is what a follower does
        await asyncio.sleep(0.01)


async def newer(partition: Partition) -> None:
    log, sent = await filled(partition, 3)
    partition.append(of_format(2, chain(sent[-1].position, [row("a", "4")])))
    with pytest.raises(NewerLogFormatError, match=r"format 2.*nothing is lost, upgrade this node") as told:
        await log.tip()
    assert told.value.reason.startswith("the log is of a newer version of Treaty"), "nothing is damaged"
    with pytest.raises(NewerLogFormatError, match="upgrade"):
        await node(partition)[0].read(START)


async def strange(partition: Partition) -> None:
    log, sent = await filled(partition, 3)
    partition.append(b"an order", None)
    partition.append(None, None)
    await shows(log, await put(log, row("b", "1")))
    assert log.foreign_records == 2
    other, _ = node(partition)
    await other.read(START)
    assert (await other.tip()).sequence == sent[-1].last + 1
    assert other.foreign_records == 2


async def truncated(partition: Partition) -> None:
    log, _ = await filled(partition, 5)
    before = await log.tip()
    partition.lose(3)
    other, _ = node(partition)
    for number in range(3):
        tip = await put(other, row("b", str(number)))
    await shows(log, tip)
    delta = await log.read(before)
    assert (delta.tip, delta.reload) == (tip, True)
    assert await whole(log) == await whole(other) == {("subject", '["a"]'): "3", ("subject", '["b"]'): "2"}


async def forked(partition: Partition) -> None:
    _, sent = await filled(partition, 5)
    partition.lose(3)
    other, _ = node(partition)
    for number in range(4):
        await put(other, row("b", str(number)))
    partition.append(chain(sent[-1].position, [row("a", "6")]).envelope)
    with pytest.raises(LogDamagedError, match=r"two histories.*restore it into a new topic"):
        await other.tip()
    with pytest.raises(LogDamagedError, match="two histories"):
        await node(partition)[0].tip()


async def front(partition: Partition) -> None:
    _, sent = await filled(partition, 3)
    partition.delete_records(3)
    partition.append(sent[0].envelope)  # the birth of the log comes again
    with pytest.raises(LogDamagedError, match=r"the front of the log is missing.*offset 3"):
        await node(partition)[0].tip()


async def again(partition: Partition) -> None:
    log, _ = node(partition)
    link = log._client
    assert isinstance(link, LinkModel)
    before = await put(log, row("a", "1"))
    partition.make_again()
    with pytest.raises(LogDamagedError, match="made again"):
        await log.tip()
    await log.close()

    log, _ = await filled(partition, 5)  # and where the way there does not notice
    before = await log.tip()
    partition.make_again()
    link = log._client
    assert isinstance(link, LinkModel)
    link._topic = partition.topic
    other, _ = node(partition)
    tip = await put(other, row("b", "1"))
    while (await log.read(before)).tip.identity != tip.identity:  # noqa: ASYNC110 - asking again is what a follower does
        await asyncio.sleep(0.01)
    assert (await log.read(before)).reload


STORIES: Mapping[str, Callable[[Partition], Awaitable[None]]] = {
    "newer": newer, "truncated": truncated, "forked": forked, "front": front, "again": again, "strange": strange,
}  # fmt: skip


def tell(name: str) -> None:
    async def story() -> None:
        async with asyncio.timeout(SECONDS):
            await STORIES[name](Partition())

    asyncio.run(story())


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RETRY_SECONDS", "DAMAGED_RETRY_SECONDS"):
        monkeypatch.setattr(tailer, name, 0.01)


@pytest.mark.parametrize("name", STORIES)
def test_a_fault_is_noticed(name: str) -> None:
    tell(name)
